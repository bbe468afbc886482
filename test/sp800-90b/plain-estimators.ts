/**
 * The counting parts of SP 800-90B §6.3.5 to §6.3.10, literally as in the text and only for small
 * inputs.
 */

/**
 * For W from 1 to the longest repeated tuple: the occurrences of the most common tuple, and the
 * pairs of equal ones.
 */
export function plainTuples(symbols: Uint8Array): [number, number][] {
  const result: [number, number][] = [];
  for (let w = 1; w < symbols.length; w++) {
    const counts = new Map<string, number>();
    for (let i = 0; i + w <= symbols.length; i++) {
      const tuple = symbols.subarray(i, i + w).join();
      counts.set(tuple, (counts.get(tuple) ?? 0) + 1);
    }
    const most = Math.max(...counts.values());
    if (most < 2) break;
    result.push([most, [...counts.values()].reduce((sum, c) => sum + (c * (c - 1)) / 2, 0)]);
  }
  return result;
}

/** Returns the correct predictions, and one more than their longest run. `null` changes neither. */
function tally(outcomes: readonly (boolean | null)[]): [number, number] {
  const made = outcomes.filter((outcome) => outcome !== null);
  const runs = made
    .map((outcome) => (outcome ? '1' : '0'))
    .join('')
    .split('0');
  const longest = Math.max(...runs.map((run) => run.length));
  return [made.filter(Boolean).length, longest + 1];
}

/** Steps of §6.3.7 and §6.3.8: the predictor with the most correct predictions is used. */
function withScoreboard(
  symbols: Uint8Array,
  first: number,
  predictors: readonly ((i: number) => number | undefined)[],
): [number, number] {
  const scores = predictors.map(() => 0);
  let winner = 0;
  const outcomes: boolean[] = [];
  for (let i = first; i < symbols.length; i++) {
    const predictions = predictors.map((predict) => predict(i));
    outcomes.push(predictions[winner] === symbols[i]);
    for (const [j, prediction] of predictions.entries()) {
      if (prediction === symbols[i] && ++scores[j] >= scores[winner]) winner = j;
    }
  }
  return tally(outcomes);
}

export function plainMultiMcw(symbols: Uint8Array): [number, number] {
  const predictors = [3, 5, 7, 9].map((size) => (i: number) => {
    if (i < size) return undefined;
    const window = [...symbols.subarray(i - size, i)];
    const occurrences = (symbol: number): number => window.filter((s) => s === symbol).length;
    return window.reduce((best, s) => (occurrences(s) >= occurrences(best) ? s : best));
  });
  return withScoreboard(symbols, 3, predictors);
}

export function plainLag(symbols: Uint8Array): [number, number] {
  const predictors = Array.from({ length: 8 }, (_, d) => (i: number) => symbols[i - d - 1]);
  return withScoreboard(symbols, 1, predictors);
}

/** Counts of the symbols that followed a prefix. */
type Followers = Map<number, number>;

function favourite(followers: Followers): [symbol: number, count: number] {
  return [...followers].reduce((best, entry) =>
    entry[1] > best[1] || (entry[1] === best[1] && entry[0] > best[0]) ? entry : best,
  );
}

function learn(dictionary: Map<string, Followers>, prefix: string, symbol: number): void {
  const followers = dictionary.get(prefix) ?? new Map();
  followers.set(symbol, (followers.get(symbol) ?? 0) + 1);
  dictionary.set(prefix, followers);
}

export function plainMultiMmc(symbols: Uint8Array): [number, number] {
  const dictionary = new Map<string, Followers>();
  const scores = [0, 0, 0, 0];
  let winner = 0;
  const outcomes: (boolean | null)[] = [];
  learn(dictionary, `${symbols[0]}`, symbols[1]);
  for (let i = 2; i < symbols.length; i++) {
    const lastWinner = winner;
    for (let d = 1; d <= Math.min(4, i); d++) {
      const prefix = symbols.subarray(i - d, i).join();
      const followers = dictionary.get(prefix);
      const isRight = followers ? favourite(followers)[0] === symbols[i] : null;
      if (isRight && ++scores[d - 1] >= scores[winner]) winner = d - 1;
      if (d - 1 === lastWinner) outcomes.push(isRight);
      learn(dictionary, prefix, symbols[i]);
    }
  }
  return tally(outcomes);
}

export function plainLz78y(symbols: Uint8Array): [number, number] {
  const dictionary = new Map<string, Followers>();
  const outcomes: boolean[] = [];
  for (let i = 4; i < symbols.length; i++) {
    const prefixes = [4, 3, 2, 1].map((length) => symbols.subarray(i - length, i).join());
    const favourites = prefixes.flatMap((prefix) => {
      const followers = dictionary.get(prefix);
      return followers ? [favourite(followers)] : [];
    });
    const best = favourites.reduce((a, b) => (b[1] > a[1] ? b : a), [-1, 0]);
    if (i > 4) outcomes.push(best[0] === symbols[i]);
    for (const prefix of prefixes) learn(dictionary, prefix, symbols[i]);
  }
  return tally(outcomes);
}
