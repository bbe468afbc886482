/**
 * The plain suite with its transform at the lengths that take long. Repeats parts of suite.test.ts and
 * naive.test.ts in test/sp800-22, where the transform runs on other lengths.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as sts from '#sp800-22';
import { aesStream } from '../../sp800-22/differential.ts';
import { assertNumPyPeaks, NUMPY_LENGTHS } from '../../sp800-22/numpy-peaks.ts';
import { assertFails, STRUCTURED_BITS } from '../../sp800-22/structured.ts';

for (const [name, generate] of Object.entries(STRUCTURED_BITS)) {
  test(`the suite fails ${name} without a NaN, all tests together`, () => {
    for (const n of [1_000_000, 1_048_575]) assertFails(sts.runSuite(generate(n)));
  });
}

test('the spectral test applies at each length from which another test applies', () => {
  const bits = sts.unpackBits(aesStream(2, 125_000));
  const parameters = sts.resolveParameters(2 ** 20);
  for (const minimum of new Set(sts.TEST_NAMES.map((name) => sts.minimumBits(name, parameters)))) {
    for (const n of [minimum - 1, minimum]) {
      const [outcome] = sts
        .runSuite(bits.subarray(0, n))
        .tests.filter(({ name }) => name === 'dft');
      assert.equal(outcome?.applicable, n >= 1000, `${n} bits`);
    }
  }
});

for (const n of NUMPY_LENGTHS) {
  test(`dft counts the same peaks as NumPy's transform of ${n} bits`, () => assertNumPyPeaks(n));
}
