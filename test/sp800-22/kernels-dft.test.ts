/** Compares the transform of the kernels with the plain one: equal N_1, or the sequence is left to the plain one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Constants } from '#sp800-22';
import '../../packages/sp800-22/src/node.ts';
import { DftKernel } from '../../packages/sp800-22/src/kernels/dft.ts';
import { type KernelModule, loadKernels } from '../../packages/sp800-22/src/kernels/module.ts';
import { thresholdSquared } from '../../packages/sp800-22/src/tests/dft.ts';
import { measurePeaks } from '../../packages/sp800-22/src/tests/peaks.ts';
import { aesStream } from './differential.ts';
import { packBits, randomBits, SPECTRA, sumsBesideThreshold, withSums } from './spectra.ts';

const LENGTHS = [2 ** 20, 1_000_000] as const;

/** This engine runs both. */
const BUILDS = ['simd', 'relaxed-simd'] as const;
const MODULES = BUILDS.map((build) => ({ build, module: loadKernels(build) }));

/** Returns N_1 from each build, and the number of bins computed again. */
function count(bits: Uint8Array, constants: Constants): { N_1?: number; listed: number }[] {
  const n = bits.length;
  const bytes = packBits(bits);
  return MODULES.map(({ module }) => {
    const kernel = kernelFor(module, n);
    module.load(bytes, n, 0);
    try {
      const N_1 = kernel.countBelow(thresholdSquared(n, constants));
      const [listed] = module.u32('PEAKS', 1, 12);
      return N_1 === undefined ? { listed } : { N_1, listed };
    } finally {
      module.wipe(n);
    }
  });
}

const kernels = new Map<KernelModule, DftKernel>();

/** Returns the kernel for `n`. It is kept until another length replaces its tables. */
function kernelFor(module: KernelModule, n: number): DftKernel {
  const known = kernels.get(module);
  if (known?.n === n) return known;
  const kernel = new DftKernel(module, n);
  kernels.set(module, kernel);
  return kernel;
}

const expectations = new Map<string, number>();

/** Returns N_1 from the plain transform, computed once per sequence. */
function plainCount(name: string, bits: Uint8Array, constants: Constants): number {
  const key = `${name}, ${bits.length} bits, ${constants}`;
  const N_1 =
    expectations.get(key) ?? measurePeaks(bits, thresholdSquared(bits.length, constants)).below;
  expectations.set(key, N_1);
  return N_1;
}

/** Asserts that no build gives a different N_1 from the plain transform. Returns true if all give one. */
function assertExact(name: string, bits: Uint8Array, constants: Constants = 'exact'): boolean {
  const counts = count(bits, constants).map(({ N_1 }) => N_1);
  if (counts.every((N_1) => N_1 === undefined)) return false;
  const expected = plainCount(name, bits, constants);
  for (const [i, N_1] of counts.entries()) {
    if (N_1 !== undefined) {
      assert.equal(N_1, expected, `${name}, ${bits.length} bits, ${constants}, ${BUILDS[i]}`);
    }
  }
  return counts.every((N_1) => N_1 !== undefined);
}

test('a current engine runs both builds of the transform', () => {});

// The sequences of reference.test.ts also have 10^6 bits.
for (const [n, constants] of [
  [2 ** 20, 'exact'],
  [2 ** 20, 'nist'],
  [1_000_000, 'exact'],
] as const) {
  test(`N_1 of ${n} random bits with ${constants} constants is exact (SP 800-22 §2.6.4)`, () => {
    assert.ok(assertExact('seed 0', randomBits(0, n), constants));
  });
}

test('N_1 is exact if bins in the band are recomputed', () => {
  const seeds = [3, 4, 5, 6];
  const listing = seeds.filter((seed) => count(randomBits(seed, 2 ** 20), 'exact')[0].listed > 0);
  assert.ok(listing.length > 0);
  for (const seed of listing) assert.ok(assertExact(`seed ${seed}`, randomBits(seed, 2 ** 20)));
});

/** Sequences that are not random but have peaks like a random sequence. */
const SOUND_SPECTRA = [
  'Rudin and Shapiro',
  'an m-sequence of degree 20',
  'Legendre, prime above n',
  'Legendre, prime below n',
  'a chirp',
  'two equal halves',
  'a half and its complement',
  'a palindrome',
  'bytes twice',
  'equal in steps of n/16',
  'ones of probability 0.497',
  'random and a tone of 0.005',
];

/** Sequences with peaks above the limit. */
const REGULAR = [
  'all zeros',
  'all ones',
  'alternating',
  'a single one',
  'Thue and Morse',
  'eight equal parts',
  'period 16384',
  'period 15625',
  'ones of probability 0.49',
  'random and a tone of 0.009',
];

for (const name of SOUND_SPECTRA) {
  test(`N_1 is exact on ${name}`, () => {
    assert.ok(assertExact(name, SPECTRA[name](2 ** 20)));
  });
}

// test/campaigns/kernels-dft.test.ts has more of this length.
test('N_1 is exact on 10^6 bits of four equal quarters', () => {
  assert.ok(assertExact('four equal quarters', SPECTRA['four equal quarters'](1_000_000)));
});

test('sequences with a peak above 64n go to the plain transform', () => {
  for (const n of LENGTHS) {
    for (const name of REGULAR) {
      for (const { N_1 } of count(SPECTRA[name](n), 'exact')) assert.equal(N_1, undefined, name);
    }
  }
});

// test/campaigns/kernels-dft.test.ts does this on 10^6 bits.
test('with bins 0 and n/2 on both sides of T, only the first is counted', () => {
  const T = Math.sqrt(thresholdSquared(2 ** 20, 'exact'));
  for (const [S, alternating] of sumsBesideThreshold(T)) {
    const bits = withSums(randomBits(11, 2 ** 20), S, alternating);
    assert.ok(assertExact(`S ${S}, alternating ${alternating}`, bits));
  }
});

test('a module handles another length after its tables are set up for it', () => {
  for (const n of [LENGTHS[0], LENGTHS[1], LENGTHS[0]]) {
    assert.ok(assertExact('seed 0', randomBits(0, n)));
  }
});

test('a bin in double precision equals the sum of §2.6.4 step 2', () => {
  for (const n of LENGTHS) {
    const bits = randomBits(13, n);
    for (const k of [0, 1, 12_345, n / 2 - 1, n / 2]) {
      let re = 0;
      let im = 0;
      for (let i = 0; i < n; i++) {
        const angle = (-2 * Math.PI * ((i * k) % n)) / n;
        re += (2 * bits[i] - 1) * Math.cos(angle);
        im += (2 * bits[i] - 1) * Math.sin(angle);
      }
      for (const { module } of MODULES) {
        const kernel = kernelFor(module, n);
        module.load(packBits(bits), n, 0);
        const squared = kernel.binSquared(k);
        module.wipe(n);
        assert.ok(Math.abs(squared - (re * re + im * im)) < 1e-4, `bin ${k} of ${n}: ${squared}`);
      }
    }
  }
});

test('a count leaves zeros in scratch memory and the tables unchanged', () => {
  for (const n of LENGTHS) {
    for (const build of BUILDS) {
      const module = loadKernels(build);
      const kernel = new DftKernel(module, n);
      const before = Buffer.from(module.exports.memory.buffer.slice(0));
      module.load(aesStream(14, n / 8), n, 0);
      assert.ok(kernel.countBelow(thresholdSquared(n, 'exact')));
      kernel.binSquared(1);
      module.wipe(n);
      assert.ok(before.equals(Buffer.from(module.exports.memory.buffer)), `${build}, ${n} bits`);
    }
  }
});

test('the transform supports only 2^20 and 10^6 bits', () => {
  assert.ok(DftKernel.supports(2 ** 20));
  assert.ok(DftKernel.supports(1_000_000));
  assert.ok(!DftKernel.supports(2 ** 19));
  assert.throws(() => new DftKernel(MODULES[0].module, 2 ** 19), RangeError);
});
