/** The multi most common in window prediction estimate (MultiMCW): SP 800-90B §6.3.7. */
import { type NotApplicable, notApplicable } from './_estimate.ts';
import { type PredictionEstimate, PredictionTally, predictionEstimate } from './_prediction.ts';

/** Step 1. */
const WINDOWS: readonly number[] = [63, 255, 1_023, 4_095];

/** Only the standard's worked example sets `windows`, in rising order. */
export function multiMcwEstimate(
  symbols: Uint8Array,
  alphabetSize: number,
  windows: readonly number[] = WINDOWS,
): PredictionEstimate | NotApplicable {
  // The text needs only the shortest window. NIST's program and this code need the longest.
  const longest = Math.max(...windows);
  if (symbols.length <= longest) return notApplicable(`needs at least ${longest + 1} samples`);
  const predictors = windows.map((size) => new Window(symbols, alphabetSize, size));
  const scores = new Int32Array(windows.length);
  const tally = new PredictionTally();
  let winner = 0;
  for (let i = windows[0]; i < symbols.length; i++) {
    const symbol = symbols[i];
    // Steps 3b to 3d, with the winner of the earlier predictions.
    tally.add(predictors[winner].mode === symbol);
    for (let j = 0; j < predictors.length; j++) {
      const predictor = predictors[j];
      if (i < predictor.size) break;
      if (predictor.mode === symbol && ++scores[j] >= scores[winner]) winner = j;
      // Step 3a, for the next sample.
      predictor.slide(i);
    }
  }
  return predictionEstimate(tally, symbols.length - windows[0], alphabetSize);
}

/** The most common symbol of the last `size` ones, or the most recent of several. */
class Window {
  readonly size: number;
  mode = 0;
  readonly #symbols: Uint8Array;
  readonly #counts: Int32Array;
  readonly #lastSeen: Int32Array;

  constructor(symbols: Uint8Array, alphabetSize: number, size: number) {
    this.size = size;
    this.#symbols = symbols;
    this.#counts = new Int32Array(alphabetSize);
    this.#lastSeen = new Int32Array(alphabetSize);
    for (let i = 0; i < size; i++) this.#take(i);
  }

  /** Adds symbol `i` and removes the one that leaves the window. */
  slide(i: number): void {
    const dropped = this.#symbols[i - this.size];
    const dropsMode = dropped === this.mode;
    this.#counts[dropped]--;
    this.#take(i);
    if (dropsMode) this.#search();
  }

  #take(i: number): void {
    const symbol = this.#symbols[i];
    this.#lastSeen[symbol] = i;
    if (++this.#counts[symbol] >= this.#counts[this.mode]) this.mode = symbol;
  }

  #search(): void {
    const counts = this.#counts;
    const lastSeen = this.#lastSeen;
    let best = this.mode;
    for (let symbol = 0; symbol < counts.length; symbol++) {
      const lead = counts[symbol] - counts[best];
      if (lead > 0 || (lead === 0 && lastSeen[symbol] > lastSeen[best])) best = symbol;
    }
    this.mode = best;
  }
}
