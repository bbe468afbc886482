/** The counts of NumPy's transform on SHAKE128("phm"), by length. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as sts from '#sp800-22';

interface Peaks {
  readonly n: number;
  readonly N_1: number;
}

const PEAKS: readonly Peaks[] = JSON.parse(
  readFileSync(new URL('../vectors/sp800-22/peaks.json', import.meta.url), 'utf8'),
);

/** Lengths with figures. */
export const NUMPY_LENGTHS: readonly number[] = PEAKS.map(({ n }) => n);

/** Asserts that the plain transform of `n` bits gives the same count. */
export function assertNumPyPeaks(n: number): void {
  const expected = PEAKS.find((peaks) => peaks.n === n);
  assert.ok(expected, `no figure for ${n} bits`);
  const bytes = createHash('shake128', { outputLength: Math.ceil(n / 8) })
    .update('phm')
    .digest();
  const { statistics } = sts.dft(sts.unpackBits(bytes, n));
  assert.deepEqual([statistics.N_1, statistics.N_0], [expected.N_1, (0.95 * n) / 2]);
}
