/** Compares the kernels with the plain suite: equal counts on every kind of sequence, and no trace left. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  KERNEL_MAXIMUM_BITS,
  kernelBuild,
  runPackedSuite,
  runSuite,
  TEST_NAMES,
  unpackBits,
} from '#sp800-22';
import { KernelCounts } from '../../packages/sp800-22/src/kernels/counts.ts';
import { loadKernels } from '../../packages/sp800-22/src/kernels/module.ts';
import { SuiteKernels } from '../../packages/sp800-22/src/kernels/suite.ts';
import { aesStream, assertAgree, STRUCTURED } from './differential.ts';

const BUILDS = ['simd', 'relaxed-simd'] as const;

/**
 * All tests but the transform, which takes most of the plain suite's time, above all if n is not a power of two. The
 * kernels have one for 2^20 and 10^6 bits (kernels-dft.test.ts) and leave other lengths to the plain one.
 */
const WITHOUT_DFT = TEST_NAMES.filter((name) => name !== 'dft');

test('a current engine runs the kernels', () => {
  assert.ok(BUILDS.some((build) => build === kernelBuild()));
});

// reference.test.ts compares the sequences of Appendix B, test/campaigns/kernels.test.ts more of these.
test('the kernels agree with the plain suite on random sequences of 2^20 and 10^6 bits', () => {
  assertAgree('seed 1', aesStream(1, 2 ** 17), 2 ** 20);
  assertAgree('seed 2', aesStream(2, 125_000), 1_000_000);
});

// test/campaigns/kernels.test.ts does this on 2^20 and 1,000,003 bits of all.
for (const [name, make] of Object.entries(STRUCTURED)) {
  test(`the kernels agree with the plain suite on ${name}`, () => {
    assertAgree(name, make(20_000), 159_999, { only: WITHOUT_DFT });
    assertAgree(name, make(2_000), 15_999);
  });
}

/** Lengths at which a block, a word, a matrix or a test begins or ends. */
const SEAMS = [
  100, 104, 127, 128, 129, 255, 256, 257, 999, 1000, 1031, 1032, 6271, 6272, 6279, 38_911, 38_912,
  39_935, 39_936, 65_535, 65_536, 65_539, 409_663, 409_664, 409_665, 409_671, 387_839, 387_840,
  387_845, 524_287, 524_288, 524_289, 524_291, 749_999, 750_000, 904_959, 904_960, 904_966, 999_999,
];

test('the kernels agree at every seam and one bit beside it, from any bit offset', () => {
  for (const [i, n] of SEAMS.entries()) {
    const only = n < 50_000 ? TEST_NAMES : WITHOUT_DFT;
    assertAgree('seam', aesStream(n, (n >>> 3) + 2), n, { offsetBits: i % 8, only });
  }
});

test('the kernels agree at seams where all tests apply', () => {
  for (const n of [1_048_580, 1_000_000, 1_000_001, 1_000_499, 1_000_500, 1_048_575]) {
    const options = { offsetBits: n % 8, only: WITHOUT_DFT };
    assertAgree('seam', aesStream(n, (n >>> 3) + 2), n, options);
  }
});

test('the kernels agree on short sequences of any length and bias', () => {
  const biasedByte = fc
    .tuple(fc.nat(255), fc.nat(255), fc.nat(2))
    .map(([a, b, kind]) => [a, a & b, a | b][kind]);
  fc.assert(
    fc.property(
      fc.array(biasedByte, { minLength: 13, maxLength: 400, size: 'max' }),
      fc.nat(7),
      fc.nat(7),
      (bytes, offsetBits, less) => {
        const n = bytes.length * 8 - offsetBits - less;
        assertAgree('short', Uint8Array.from(bytes), Math.max(n, 0), { offsetBits });
      },
    ),
    { numRuns: 300 },
  );
});

test('an empty sequence gives a report in which no test applies', () => {
  const report = runPackedSuite(new Uint8Array(0));
  assert.deepEqual(report, runSuite(new Uint8Array(0)));
});

test('both builds give the same report', () => {
  const bytes = aesStream(11, 2 ** 17);
  const expected = runPackedSuite(bytes);
  for (const build of BUILDS) {
    const kernels = new SuiteKernels(loadKernels(build));
    assert.deepEqual(kernels.run({ bytes, n: 2 ** 20, offsetBits: 0 }, {}), expected, build);
  }
});

test('a run restores the memory of the kernels to its first state', () => {
  const module = loadKernels('simd');
  const kernels = new SuiteKernels(module);
  const memory = () => Buffer.from(module.exports.memory.buffer.slice(0));
  const random = aesStream(12, 2 ** 17);
  // The first run of a length may set up tables.
  kernels.run({ bytes: random, n: 2 ** 20, offsetBits: 0 }, {});
  const clean = memory();
  const ingested = random.subarray(0, 64).map((byte) => reversed(byte));
  assert.equal(clean.indexOf(ingested), -1, 'the sequence is still there');
  module.load(random, 2 ** 20, 0);
  assert.notEqual(memory().indexOf(ingested), -1, 'the sequence was never there');
  module.wipe(2 ** 20);
  for (const bytes of [aesStream(13, 2 ** 17), Buffer.alloc(2 ** 17, 0xff)]) {
    for (const n of [2 ** 20, 1_000_003, 65_536]) {
      const options = n === 2 ** 20 ? { lags: true, scan: true } : { only: WITHOUT_DFT };
      kernels.run({ bytes, n, offsetBits: 0 }, options);
      assert.ok(memory().equals(clean), `${n} bits left a trace`);
    }
    // Each test alone, because some use less memory and less of it is wiped.
    for (const name of WITHOUT_DFT) {
      kernels.run({ bytes, n: 2 ** 20, offsetBits: 0 }, { only: [name], lags: true });
      assert.ok(memory().equals(clean), `${name} left a trace`);
    }
  }
});

function reversed(byte: number): number {
  let result = 0;
  for (let bit = 0; bit < 8; bit++) result |= ((byte >>> bit) & 1) << (7 - bit);
  return result;
}

test('a test that throws leaves no trace', () => {
  const module = loadKernels('simd');
  const kernels = new SuiteKernels(module);
  const before = Buffer.from(module.exports.memory.buffer.slice(0));
  const parameters = { serialM: 0 };
  assert.throws(
    () => kernels.run({ bytes: aesStream(14, 200), n: 1600, offsetBits: 0 }, { parameters }),
    RangeError,
  );
  assert.ok(Buffer.from(module.exports.memory.buffer).equals(before));
});

test('runPackedSuite refuses anything but bytes, and missing bits', () => {
  assert.throws(() => runPackedSuite('0101' as unknown as Uint8Array), {
    name: 'TypeError',
    message: '"bytes" expected Uint8Array, got string',
  });
  assert.throws(() => runPackedSuite(new Uint8Array(1), { bits: 9 }), {
    name: 'RangeError',
    message: '"bits" expected an integer from 0 to 8, got 9',
  });
  assert.throws(() => runPackedSuite(new Uint8Array(1), { bits: 8, offsetBits: 1 }), RangeError);
  assert.throws(() => runPackedSuite(new Uint8Array(1), { offsetBits: 9 }), RangeError);
  assert.throws(() => runPackedSuite(new Uint8Array(1), { offsetBits: -1 }), RangeError);
});

test('the kernels test the right bits beyond the first 2^32', () => {
  const sample = aesStream(15, 200);
  // Untouched memory costs nothing.
  const bytes = new Uint8Array(2 ** 29 + sample.length);
  bytes.set(sample, 2 ** 29 - 10);
  const options = { bits: 1500, offsetBits: 2 ** 32 - 80 };
  assert.deepEqual(runPackedSuite(bytes, options), runPackedSuite(sample, { bits: 1500 }));
  assert.deepEqual(unpackBits(bytes, 1500, 2 ** 32 - 80), unpackBits(sample, 1500));
});

test('a run sets up the tables of the transform only if the test runs', () => {
  const module = loadKernels('simd');
  const before = Buffer.from(module.exports.memory.buffer.slice(0));
  const sequence = { bytes: aesStream(16, 2 ** 17), n: 2 ** 20, offsetBits: 0 };
  new SuiteKernels(module).run(sequence, { only: WITHOUT_DFT });
  assert.ok(Buffer.from(module.exports.memory.buffer).equals(before));
});

test('a kernel that runs again restarts its counts', () => {
  const module = loadKernels('simd');
  const sequence = { bytes: aesStream(17, 2 ** 17), n: 2 ** 20, offsetBits: 0 };
  module.load(sequence.bytes, sequence.n, 0);
  const counts = new KernelCounts(module, sequence, () => undefined);
  const count = () => [
    counts.ranks(),
    counts.overlaps(),
    counts.longestRuns(10_000, 10, 16),
    counts.complexities(500),
    counts.complexities(1003),
    counts.windows(5, 1000, 10),
    Array.from(counts.templates()),
  ];
  const first = count();
  assert.deepEqual(count(), first);
});

test('the plain suite handles sequences beyond the kernels’ maximum', () => {
  const bytes = Buffer.alloc(KERNEL_MAXIMUM_BITS / 8 + 1, 0xa5);
  const { tests, bits } = runPackedSuite(bytes, { only: ['frequency'] });
  assert.equal(bits, KERNEL_MAXIMUM_BITS + 8);
  // As many ones as zeros, as in the first hundred bytes.
  const balanced = runSuite(unpackBits(bytes, 800), { only: ['frequency'] });
  assert.deepEqual(tests, balanced.tests);
});
