/** Compares the transform of the kernels with the plain one: all special spectra, many random sequences. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import '../../packages/sp800-22/src/node.ts';
import { DftKernel } from '../../packages/sp800-22/src/kernels/dft.ts';
import { loadKernels } from '../../packages/sp800-22/src/kernels/module.ts';
import { thresholdSquared } from '../../packages/sp800-22/src/tests/dft.ts';
import { measurePeaks } from '../../packages/sp800-22/src/tests/peaks.ts';
import {
  packBits,
  randomBits,
  SPECTRA,
  sumsBesideThreshold,
  withSums,
} from '../sp800-22/spectra.ts';
import { sized } from '../support/run/campaign.ts';

/** This engine runs both. */
const BUILDS = ['simd', 'relaxed-simd'] as const;

/** Spectra with peaks like a random sequence: none is left to the plain transform. */
const SOUND_SPECTRA = ['Legendre, prime below n', 'four equal quarters', 'equal in steps of n/16'];

/** Random sequences of each length. */
const SEEDS = sized({ sample: 4, full: 40 });

for (const n of [2 ** 20, 1_000_000]) {
  const kernels = BUILDS.map((build) => {
    const module = loadKernels(build);
    return { module, kernel: new DftKernel(module, n) };
  });

  /** Returns the number of builds that gave N_1, after checking that each is right. */
  const countExact = (name: string, bits: Uint8Array): number => {
    const bytes = packBits(bits);
    let exact = 0;
    for (const constants of ['exact', 'nist'] as const) {
      const T2 = thresholdSquared(n, constants);
      let expected: number | undefined;
      for (const { module, kernel } of kernels) {
        module.load(bytes, n, 0);
        const N_1 = kernel.countBelow(T2);
        module.wipe(n);
        if (N_1 === undefined) continue;
        expected ??= measurePeaks(bits, T2).below;
        assert.equal(N_1, expected, `${name}, ${n} bits, ${constants}`);
        exact++;
      }
    }
    return exact;
  };

  for (const [name, spectrum] of Object.entries(SPECTRA)) {
    test(`N_1 of ${n} bits is exact or left to the plain transform: ${name}`, () => {
      const exact = countExact(name, spectrum(n));
      if (SOUND_SPECTRA.includes(name)) assert.equal(exact, 2 * kernels.length);
    });
  }

  test(`bins 0 and n/2 of ${n} bits on both sides of T: only bin 0 is counted`, () => {
    const T = Math.sqrt(thresholdSquared(n, 'exact'));
    for (const [S, alternating] of sumsBesideThreshold(T)) {
      const bits = withSums(randomBits(11, n), S, alternating);
      assert.equal(countExact(`S ${S}, alternating ${alternating}`, bits), 2 * kernels.length);
    }
  });

  test(`N_1 of ${SEEDS} random sequences of ${n} bits is exact`, () => {
    for (let seed = 1000; seed < 1000 + SEEDS; seed++) {
      assert.equal(countExact(`seed ${seed}`, randomBits(seed, n)), 2 * kernels.length);
    }
  });
}
