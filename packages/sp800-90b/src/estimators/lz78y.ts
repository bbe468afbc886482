/** The LZ78Y prediction estimate: SP 800-90B §6.3.10. */
import { type NotApplicable, notApplicable } from './_estimate.ts';
import { type PredictionEstimate, PredictionTally, predictionEstimate } from './_prediction.ts';
import { extendHash, PrefixDictionary } from './_prefix-dictionary.ts';

/** Step 1: B, the longest prefix. */
const MAX_PREFIX = 16;

/** Step 1: number of prefixes in the dictionary, over all lengths. */
const MAX_DICTIONARY_SIZE = 65_536;

/** Only the standard's worked example sets `maxPrefix`. */
export function lz78yEstimate(
  symbols: Uint8Array,
  alphabetSize: number,
  maxPrefix: number = MAX_PREFIX,
): PredictionEstimate | NotApplicable {
  const predictions = symbols.length - maxPrefix - 1;
  if (predictions < 2) return notApplicable(`needs at least ${maxPrefix + 3} samples`);
  const tally =
    alphabetSize <= 2 ? predictBits(symbols, maxPrefix) : predictSymbols(symbols, maxPrefix);
  return predictionEstimate(tally, predictions, alphabetSize);
}

/** Step 3: predicts by the prefix with the greatest count, or the longest of several. */
function predictSymbols(symbols: Uint8Array, maxPrefix: number): PredictionTally {
  const dictionaries = Array.from(
    { length: maxPrefix + 1 },
    (_, length) => new PrefixDictionary(symbols, length),
  );
  const hashes = new Int32Array(maxPrefix + 1);
  const tally = new PredictionTally();
  let size = 0;
  for (let i = maxPrefix; i < symbols.length; i++) {
    for (let j = 1; j <= maxPrefix; j++) hashes[j] = extendHash(hashes[j - 1], symbols[i - j]);
    let prediction = -1;
    let maxCount = 0;
    for (let j = maxPrefix; j >= 1; j--) {
      const dictionary = dictionaries[j];
      let prefix = dictionary.find(i, hashes[j]);
      if (prefix < 0 && size < MAX_DICTIONARY_SIZE) {
        prefix = dictionary.add(i, hashes[j]);
        size++;
      } else if (prefix >= 0 && dictionary.bestCount(prefix) > maxCount) {
        maxCount = dictionary.bestCount(prefix);
        prediction = dictionary.bestSymbol(prefix);
      }
      if (prefix >= 0) dictionary.count(prefix, symbols[i], true);
    }
    // The first sample only fills the dictionary.
    if (i > maxPrefix) tally.add(prediction === symbols[i]);
  }
  return tally;
}

/**
 * Does the same for symbols 0 and 1, with a table instead of the dictionaries. The count of a pair
 * is at 2·prefix + symbol. A one before the first bit distinguishes prefixes of different lengths.
 */
function predictBits(bits: Uint8Array, maxPrefix: number): PredictionTally {
  const counts = new Int32Array(2 ** (maxPrefix + 2));
  const tally = new PredictionTally();
  let window = 0;
  let size = 0;
  for (let i = 0; i < maxPrefix; i++) window = 2 * window + bits[i];
  for (let i = maxPrefix; i < bits.length; i++) {
    const bit = bits[i];
    let prediction = -1;
    let maxCount = 0;
    for (let one = 1 << maxPrefix; one > 1; one >>= 1) {
      const at = 2 * ((window & (one - 1)) | one);
      const zeros = counts[at];
      const ones = counts[at + 1];
      const count = Math.max(zeros, ones);
      if (count > maxCount) {
        maxCount = count;
        prediction = ones >= zeros ? 1 : 0;
      }
      if (count > 0) counts[at + bit]++;
      else if (size < MAX_DICTIONARY_SIZE) {
        counts[at + bit]++;
        size++;
      }
    }
    window = ((window << 1) | bit) & ((1 << maxPrefix) - 1);
    // The first sample only fills the dictionary.
    if (i > maxPrefix) tally.add(prediction === bit);
  }
  return tally;
}
