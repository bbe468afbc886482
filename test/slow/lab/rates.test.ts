/** How often a sound generator fails each edition: the figures of docs/ais-31.md, computed. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { igamc } from '../../../packages/sp800-22/src/special-functions.ts';
import { halfBinomialLower } from '../../ais-20-31/reference.ts';
import { readPage } from '../../support/texts/markdown.ts';

/** P(a run of at least `length` successes in n fair trials): a(n) = a(n − 1) − 2^−(length + 1) a(n − length − 1) has none. */
function runRate(length: number, n: number): number {
  const none = new Float64Array(n + 1).fill(1, 0, length);
  none[length] = 1 - 2 ** -length;
  const step = 2 ** -(length + 1);
  for (let i = length + 1; i <= n; i++) none[i] = none[i - 1] - step * none[i - length - 1];
  return 1 - none[n];
}

/**
 * P(the number of runs of ones of a length in 20,000 fair bits is not within the bounds). `orLonger` counts longer runs too.
 */
function runCountRate(length: number, least: number, most: number, orLonger: boolean): number {
  const isCounted = (run: number) => (orLonger ? run >= length : run === length);
  // at[run][count]: a run of so many ones is open, `length + 1` standing for longer, and `count` runs are counted.
  const empty = () => Array.from({ length: length + 2 }, () => new Float64Array(most + 2));
  let [at, next] = [empty(), empty()];
  at[0][0] = 1;
  for (let bit = 0; bit < 20_000; bit++) {
    for (const row of next) row.fill(0);
    // A counted run takes `length` ones and a zero.
    const highest = Math.min(most + 1, Math.ceil(bit / (length + 1)));
    for (let run = 0; run <= length + 1; run++) {
      const more = isCounted(run) ? 1 : 0;
      const longer = next[Math.min(run + 1, length + 1)];
      for (let count = 0; count <= highest; count++) {
        const half = at[run][count] / 2;
        next[0][Math.min(count + more, most + 1)] += half;
        longer[count] += half;
      }
    }
    [at, next] = [next, at];
  }
  const outside = at.map((row, run) => {
    const more = isCounted(run) ? 1 : 0;
    return row.filter((_, count) => count + more < least || count + more > most);
  });
  return outside.reduce((sum, row) => sum + row.reduce((total, p) => total + p, 0), 0);
}

/** The 20,000 bits of T1, and the 5,000 comparisons of T5, which are independent for each shift. */
const MONOBIT = 2 * halfBinomialLower(9_654, 20_000);
const AUTOCORRELATION = 2 * halfBinomialLower(2_326, 5_000);
/** T2, by the χ² law with 15 degrees of freedom. */
const POKER = 1 - igamc(7.5, 1.03 / 2) + igamc(7.5, 57.4 / 2);
/** T3 of version 2.0: a bound, the sum over the twelve counts. */
const RUNS = [
  [1, 2_267, 2_733],
  [2, 1_079, 1_421],
  [3, 502, 748],
  [4, 223, 402],
  [5, 90, 223],
  [6, 90, 223],
] as const;
/** T4: each bit equals the one before it with probability 1/2. */
const LONG_RUN = runRate(33, 19_999);
/** T0: pairs of 65,536 words of 48 bits. */
const DISJOINTNESS = (65_536 * 65_535) / 2 / 2 ** 48;
/** T7: the χ² law with one degree of freedom. */
const HOMOGENEITY = igamc(0.5, 15.13 / 2);

const PAGE = readPage('docs/ais-31.md').text;
const near = (actual: number, expected: number) =>
  assert.ok(Math.abs(actual / expected - 1) < 0.01, `${actual}, ${expected}`);

describe('false alarms of T_irn', () => {
  // A predictor is right with probability 1/2 each time, whatever it predicts: sound bits do not depend on the past.
  const multiMmc = runRate(26, 999_998);
  const lz78y = runRate(26, 999_983);

  it('are runs of 26 correct predictions: each predictor has one in a trial of 135', () => {
    near(1 / multiMmc, 134.7);
    near(1 / lz78y, 134.7);
    assert.ok(MONOBIT + POKER < 3e-6, `${MONOBIT}, ${POKER}`);
  });

  it('fail one trial in 68, and two in a row once in 4,600', () => {
    const trial = 1 - (1 - multiMmc) * (1 - lz78y) * (1 - MONOBIT) * (1 - POKER);
    near(1 / trial, 67.6);
    near(1 / trial ** 2, 4_570);
    assert.match(PAGE, /T_irn \| one trial in 68 \| once in 4,600/);
  });
});

describe('false alarms of the procedures of version 2.0', () => {
  /**
   * P(failed): two failures in the first run, or one there and another in the repetition, if tests fail independently and
   * `expected` fail in a run.
   */
  const failed = (expected: number) => 1.5 * expected ** 2;

  it('are one of 1,286 tests in 630 runs of A, and a failed procedure once in 270,000', () => {
    const counts = RUNS.map(
      ([length, least, most]) => 2 * runCountRate(length, least, most, length === 6),
    );
    const runs = counts.reduce((sum, rate) => sum + rate);
    const expected = DISJOINTNESS + 257 * (MONOBIT + POKER + runs + LONG_RUN + AUTOCORRELATION);
    near(1 / expected, 633);
    near(1 / failed(expected), 267_000);
    assert.match(PAGE, /procedure A \| one run in 630 \| once in 270,000/);
  });

  it('are one of the six T7 in 1,660 runs of B, and a failed procedure once in 1.8 million', () => {
    // T6 and T8 are out of reach: 0.025 is 15 standard deviations of the share of ones.
    const expected = 6 * HOMOGENEITY;
    near(1 / expected, 1_661);
    near(1 / failed(expected), 1.84e6);
    assert.match(PAGE, /procedure B \| one run in 1,660 \| once in 1\.8 million/);
  });
});
