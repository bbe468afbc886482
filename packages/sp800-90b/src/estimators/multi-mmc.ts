/** The multi Markov model with counting prediction estimate (MultiMMC): SP 800-90B §6.3.9. */
import { type NotApplicable, notApplicable } from './_estimate.ts';
import { type PredictionEstimate, PredictionTally, predictionEstimate } from './_prediction.ts';
import { extendHash, PrefixDictionary } from './_prefix-dictionary.ts';

/** Step 1: D, the longest prefix. */
const MAX_DEPTH = 16;

/** Step 1: number of (prefix, symbol) pairs kept for each prefix length. */
const MAX_ENTRIES = 100_000;

/** Only the standard's worked example sets `maxDepth`. */
export function multiMmcEstimate(
  symbols: Uint8Array,
  alphabetSize: number,
  maxDepth: number = MAX_DEPTH,
): PredictionEstimate | NotApplicable {
  const predictions = symbols.length - 2;
  if (predictions < 2) return notApplicable('needs at least 4 samples');
  const tally =
    alphabetSize <= 2 ? predictBits(symbols, maxDepth) : predictSymbols(symbols, maxDepth);
  return predictionEstimate(tally, predictions, alphabetSize);
}

/**
 * Steps 4 to 6 in one pass, as in NIST's program: the models of all depths predict a sample and
 * then count it. If a prefix is not held, longer ones are not looked up, because they cannot be
 * held either.
 */
function predictSymbols(symbols: Uint8Array, maxDepth: number): PredictionTally {
  const models = Array.from({ length: maxDepth }, (_, d) => new PrefixDictionary(symbols, d + 1));
  const tally = new PredictionTally();
  const scores = new Int32Array(maxDepth);
  let winner = 0;
  for (let i = 1; i < symbols.length; i++) {
    const symbol = symbols[i];
    const lastWinner = winner;
    let hash = 0;
    let isHeld = true;
    let isCorrect: boolean | null = null;
    for (let d = 0; d < Math.min(maxDepth, i); d++) {
      const model = models[d];
      hash = extendHash(hash, symbols[i - d - 1]);
      let prefix: number = isHeld ? model.find(i, hash) : -1;
      isHeld = prefix >= 0;
      const mayAdd = model.pairs < MAX_ENTRIES;
      if (isHeld) {
        const hits = model.bestSymbol(prefix) === symbol;
        if (hits && ++scores[d] >= scores[winner]) winner = d;
        if (d === lastWinner) isCorrect = hits;
      } else if (mayAdd) prefix = model.add(i, hash);
      if (prefix >= 0) model.count(prefix, symbol, mayAdd);
    }
    // As in NIST's program: if the winner has no prediction, a run continues.
    if (isCorrect !== null) tally.add(isCorrect);
  }
  return tally;
}

/**
 * Does the same for symbols 0 and 1, with a table instead of the dictionaries. The count of a pair
 * is at 2·prefix + symbol. A one before the first bit distinguishes prefixes of different lengths.
 */
function predictBits(bits: Uint8Array, maxDepth: number): PredictionTally {
  const counts = new Int32Array(2 ** (maxDepth + 2));
  const pairs = new Int32Array(maxDepth);
  const tally = new PredictionTally();
  const scores = new Int32Array(maxDepth);
  let winner = 0;
  for (let i = 1; i < bits.length; i++) {
    const bit = bits[i];
    const lastWinner = winner;
    const depths = Math.min(maxDepth, i);
    let prefix = 0;
    let isHeld = true;
    let isCorrect: boolean | null = null;
    for (let d = 0; d < depths; d++) {
      prefix |= bits[i - d - 1] << d;
      const at = 2 * (prefix | (2 << d));
      const zeros = counts[at];
      const ones = counts[at + 1];
      isHeld = isHeld && (zeros | ones) !== 0;
      if (isHeld) {
        const hits = (ones >= zeros ? 1 : 0) === bit;
        if (hits && ++scores[d] >= scores[winner]) winner = d;
        if (d === lastWinner) isCorrect = hits;
      }
      if (isHeld && counts[at + bit] !== 0) counts[at + bit]++;
      else if (pairs[d] < MAX_ENTRIES) {
        counts[at + bit] = 1;
        pairs[d]++;
      }
    }
    if (isCorrect !== null) tally.add(isCorrect);
  }
  return tally;
}
