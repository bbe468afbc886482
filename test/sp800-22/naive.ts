/**
 * A second, naive oracle: it computes each statistic from its definition, in a different and slower way than
 * `packages/sp800-22`. Bits are arrays of 0 and 1.
 */

type Bits = ArrayLike<number>;

/** §2.6: returns N_1, from the sums of the definition. */
export function countPeaksBelow(bits: Bits, T: number): number {
  const n = bits.length;
  let count = 0;
  for (let k = 0; k < Math.floor(n / 2); k++) {
    let re = 0;
    let im = 0;
    for (let j = 0; j < n; j++) {
      // k·j mod n keeps the angle small, and so the error of cos and sin.
      const angle = (2 * Math.PI * ((k * j) % n)) / n;
      re += (2 * bits[j] - 1) * Math.cos(angle);
      im -= (2 * bits[j] - 1) * Math.sin(angle);
    }
    if (Math.hypot(re, im) < T) count++;
  }
  return count;
}

/**
 * §2.10: returns the smallest L for which some c_1 … c_L give s_j = c_1 s_(j−1) + … + c_L s_(j−L) for all
 * j ≥ L. It solves a linear system over GF(2) for each L. Bit L of a row is its right-hand side.
 */
export function shortestRegister(bits: Bits): number {
  for (let L = 0; ; L++) {
    const rows: bigint[] = [];
    for (let j = L; j < bits.length; j++) {
      let row = BigInt(bits[j]) << BigInt(L);
      for (let i = 1; i <= L; i++) row |= BigInt(bits[j - i]) << BigInt(i - 1);
      rows.push(row);
    }
    if (isSolvable(rows, L)) return L;
  }
}

function isSolvable(rows: bigint[], unknowns: number): boolean {
  let rest = rows;
  for (let i = 0; i < unknowns; i++) {
    const bit = 1n << BigInt(i);
    const pivot = rest.find((row) => (row & bit) !== 0n);
    if (pivot === undefined) continue;
    rest = rest
      .filter((row) => row !== pivot)
      .map((row) => ((row & bit) !== 0n ? row ^ pivot : row));
  }
  return rest.every((row) => row === 0n);
}

/** Returns the sums Σ X_i X_(i+d) of X_i = ±1 for d = 1, 2, …, `lags`. */
export function autocorrelationOf(bits: Bits, lags: number): number[] {
  return Array.from({ length: lags }, (_, lag) => {
    let sum = 0;
    for (let i = 0; i + lag + 1 < bits.length; i++) sum += bits[i] === bits[i + lag + 1] ? 1 : -1;
    return sum;
  });
}

/** Counts the windows that equal `pattern`, on `text` closed to a ring. */
export function countOnRing(text: string, pattern: string): number {
  const ring = text + text.repeat(Math.ceil(pattern.length / text.length));
  let count = 0;
  for (let i = 0; i < text.length; i++) if (ring.startsWith(pattern, i)) count++;
  return count;
}

/** §2.7.4 (2): counts the matches of `pattern`; after a match the window begins behind it. */
export function countWithoutOverlap(text: string, pattern: string): number {
  return text.split(pattern).length - 1;
}

/** §2.8.4 (2): counts the matches of `pattern`, including overlapping ones. */
export function countWithOverlap(text: string, pattern: string): number {
  let count = 0;
  for (let i = text.indexOf(pattern); i !== -1; i = text.indexOf(pattern, i + 1)) count++;
  return count;
}

/** Returns the rank over GF(2), by exchanging and clearing rows. */
export function rankOf(matrix: readonly (readonly number[])[]): number {
  const rows = matrix.map((row) => [...row]);
  let rank = 0;
  for (let column = 0; column < rows[0].length; column++) {
    const pivot = rows.findIndex((row, i) => i >= rank && row[column] === 1);
    if (pivot === -1) continue;
    [rows[rank], rows[pivot]] = [rows[pivot], rows[rank]];
    for (let i = rank + 1; i < rows.length; i++) {
      if (rows[i][column] === 1) rows[i] = rows[i].map((bit, c) => bit ^ rows[rank][c]);
    }
    rank++;
  }
  return rank;
}

/** Returns the partial sums S_0 … S_n of the ±1 walk. */
export function walk(bits: Bits): number[] {
  const sums = [0];
  for (let i = 0; i < bits.length; i++) sums.push(sums[i] + 2 * bits[i] - 1);
  return sums;
}

/** §2.14.4: returns the visits of state x in each cycle, after cutting the walk, with a final zero, at its zeros. */
export function visitsPerCycle(bits: Bits, x: number): number[] {
  const sums = walk(bits);
  if (sums.at(-1) !== 0) sums.push(0);
  const visits: number[] = [];
  for (const S of sums.slice(1)) {
    if (visits.length === 0) visits.push(0);
    if (S === x) visits[visits.length - 1]++;
    if (S === 0) visits.push(0);
  }
  return visits.slice(0, -1);
}

/** §2.9.4: returns Σ log2 of the distances; searches backwards for each block. */
export function sumOfLogDistances(text: string, L: number, Q: number): number {
  const blocks: string[] = text.match(new RegExp(`.{${L}}`, 'g')) ?? [];
  let sum = 0;
  for (let i = Q; i < blocks.length; i++) {
    sum += Math.log2(i - blocks.lastIndexOf(blocks[i], i - 1));
  }
  return sum;
}
