/** The lag prediction estimate: SP 800-90B §6.3.8. */
import { type NotApplicable, notApplicable } from './_estimate.ts';
import { type PredictionEstimate, PredictionTally, predictionEstimate } from './_prediction.ts';

/** Step 1: D, the longest lag, a power of two. */
const MAX_LAG = 128;

const RING_MASK = MAX_LAG - 1;

/** Only the standard's worked example sets `maxLag`. */
export function lagEstimate(
  symbols: Uint8Array,
  alphabetSize: number,
  maxLag: number = MAX_LAG,
): PredictionEstimate | NotApplicable {
  if (symbols.length < 3) return notApplicable('needs at least 3 samples');
  const scores = new Int32Array(maxLag + 1);
  // The lags that predict a symbol are the distances to its earlier occurrences. Walking back
  // through these occurrences visits the lags in rising order, as in step 3d, and no others.
  const lastSeen = new Int32Array(alphabetSize).fill(-1 - maxLag);
  const seenBefore = new Int32Array(MAX_LAG);
  const tally = new PredictionTally();
  let winner = 1;
  lastSeen[symbols[0]] = 0;
  seenBefore[0] = -1 - maxLag;
  for (let i = 1; i < symbols.length; i++) {
    const symbol = symbols[i];
    // Steps 3b and 3c, with the winner of the earlier predictions.
    tally.add(symbols[i - winner] === symbol);
    let best = scores[winner];
    const oldest = i - maxLag;
    for (let at = lastSeen[symbol]; at >= oldest; at = seenBefore[at & RING_MASK]) {
      const score = ++scores[i - at];
      if (score >= best) {
        best = score;
        winner = i - at;
      }
    }
    seenBefore[i & RING_MASK] = lastSeen[symbol];
    lastSeen[symbol] = i;
  }
  return predictionEstimate(tally, symbols.length - 1, alphabetSize);
}
