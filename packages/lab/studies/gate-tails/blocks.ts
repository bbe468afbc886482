/** Exact tails of the tests that sum squares over independent blocks. */
import { criticalChiSquared } from './class-counts.ts';

/** Probabilities below this are arithmetic noise and have no weight at any level used here. */
const NOISE = 1e-17;

/**
 * §2.2: N blocks of M bits, χ² = 4 Σ d² / M with d = ones − M/2. The distribution of Σ d² comes from its
 * characteristic function, in which all but the lowest frequencies vanish.
 */
export function blockFrequencyTail(N: number, M: number): (level: number) => number {
  const squares = Array.from({ length: M + 1 }, (_, ones) => (ones - M / 2) ** 2);
  const shares = binomialLaw(M);
  const mean = (N * M) / 4;
  const period = 2 ** 17;
  const waves = wavesOf(squares, shares, N, period);
  const at = (s: number) =>
    waves.reduce((sum, { frequency, size, angle }) => {
      const turn = (2 * Math.PI * ((frequency * s) % period)) / period;
      return sum + size * Math.cos(angle - turn);
    }, 0) / period;
  return (level) => {
    const from = Math.ceil((criticalChiSquared(N, level) * M) / 4);
    let tail = 0;
    for (let s = from; s < mean + period / 2; s++) tail += at(s);
    return tail;
  };
}

interface Wave {
  readonly frequency: number;
  readonly size: number;
  readonly angle: number;
}

/** Returns the characteristic function of the sum of N values, without frequencies that vanish in the N-th power. */
function wavesOf(
  values: readonly number[],
  shares: readonly number[],
  N: number,
  period: number,
): Wave[] {
  const waves: Wave[] = [];
  for (let frequency = 0; frequency < period; frequency++) {
    let [re, im] = [0, 0];
    for (const [i, value] of values.entries()) {
      const turn = (2 * Math.PI * ((frequency * value) % period)) / period;
      re += shares[i] * Math.cos(turn);
      im += shares[i] * Math.sin(turn);
    }
    const size = Math.hypot(re, im) ** N;
    if (size > NOISE) waves.push({ frequency, size, angle: N * Math.atan2(im, re) });
  }
  return waves;
}

/** P(k ones among M fair bits). */
function binomialLaw(M: number): number[] {
  const law = [2 ** -M];
  for (let k = 1; k <= M; k++) law.push((law[k - 1] * (M - k + 1)) / k);
  return law;
}

/**
 * §2.7: one aperiodic template of m bits in `blocks` blocks of M. All such templates have the same distribution. The
 * number W of matches in M bits has the generating function
 * Σ P(W = w | M) u^w z^M = 1 / (1 − z − (u − 1)(z/2)^m).
 */
export function templateTail(blocks: number, M: number, m: number): (level: number) => number {
  const step = 0.02;
  const cells = 6_000;
  const mean = (M - m + 1) / 2 ** m;
  const variance = M * (1 / 2 ** m - (2 * m - 1) / 2 ** (2 * m));
  let law = new Float64Array(cells);
  for (const [w, p] of matchLaw(M, m).entries()) {
    const cell = Math.round((w - mean) ** 2 / variance / step);
    if (cell < cells) law[cell] += p;
  }
  for (let joined = 1; joined < blocks; joined *= 2) law = convolve(law, law);
  return (level) => {
    const from = Math.ceil(criticalChiSquared(blocks, level) / step);
    return law.slice(from).reduce((sum, p) => sum + p, 0);
  };
}

/** Returns P(W = w) for M bits, by w, from the recurrence of the generating function. */
function matchLaw(M: number, m: number): Float64Array {
  const most = Math.ceil((2 * M) / 2 ** m);
  const past = Array.from({ length: m + 1 }, () => new Float64Array(most));
  for (let length = 0; length <= M; length++) {
    const now = past[length % (m + 1)];
    if (length < m) {
      now[0] = 1;
      continue;
    }
    const last = past[(length - 1) % (m + 1)];
    const before = past[(length - m) % (m + 1)];
    now[0] = last[0] - before[0] / 2 ** m;
    for (let w = 1; w < most; w++) now[w] = last[w] + (before[w - 1] - before[w]) / 2 ** m;
  }
  return past[M % (m + 1)].map((p) => (p > NOISE ? p : 0));
}

function convolve(a: Float64Array, b: Float64Array): Float64Array<ArrayBuffer> {
  const sum = new Float64Array(a.length);
  for (const [i, p] of a.entries()) {
    if (p === 0) continue;
    for (let j = 0; i + j < sum.length; j++) sum[i + j] += p * b[j];
  }
  return sum;
}
