/** Runs the kernels and the plain suite on one sequence and compares every count and p-value. */
import assert from 'node:assert/strict';
import {
  runPackedSuite,
  runSuite,
  type SuiteOptions,
  type SuiteReport,
  type TestOutcome,
  unpackBits,
} from '#sp800-22';
import { aesCtr } from '../support/lab/aes-stream.ts';

const P_VALUE_BOUND = 1e-9;

/** Largest relative difference of the sums of logarithms, which both suites round term by term. */
const SUM_BOUND = 1e-11;

/** Returns `lengthBytes` bytes of AES-256-CTR, which no test can distinguish from random ones. */
export function aesStream(seed: number, lengthBytes: number): Buffer {
  const key = Buffer.alloc(32);
  key.writeUInt32BE(seed);
  return aesCtr(key, lengthBytes);
}

/** Asserts that kernels and plain suite agree on the `n` bits after `offsetBits`. */
export function assertAgree(
  name: string,
  bytes: Uint8Array,
  n: number,
  { offsetBits = 0, ...options }: SuiteOptions & { offsetBits?: number } = {},
): void {
  const before = Buffer.from(bytes);
  const fast = runPackedSuite(bytes, { bits: n, offsetBits, ...options });
  const plain = runSuite(unpackBits(bytes, n, offsetBits), options);
  assert.ok(before.equals(bytes), `${name}: the input was changed`);
  assertReportsAgree(fast, plain, `${name}, ${n} bits from bit ${offsetBits}`);
}

/** Asserts that the reports of the kernels and the plain suite are equal. */
export function assertReportsAgree(fast: SuiteReport, plain: SuiteReport, title: string): void {
  assert.equal(fast.bits, plain.bits, title);
  assert.equal(fast.tests.length, plain.tests.length, title);
  assert.equal(fast.testsPassed, plain.testsPassed, title);
  for (const [i, expected] of plain.tests.entries()) {
    assertOutcome(fast.tests[i], expected, `${title}, ${expected.name}`);
  }
}

function assertOutcome(actual: TestOutcome, expected: TestOutcome, title: string): void {
  if (!actual.applicable || !expected.applicable || expected.name !== 'universal') {
    // Counts, statistics and p-values to the last bit.
    assert.deepEqual(actual, expected, title);
    return;
  }
  const { sum, f_n, ...rest } = actual.statistics;
  const { sum: expectedSum, f_n: expectedMean, ...expectedRest } = expected.statistics;
  assert.deepEqual(rest, expectedRest, title);
  assertNear(Number(sum), Number(expectedSum), SUM_BOUND * Number(expectedSum), title);
  assertNear(Number(f_n), Number(expectedMean), SUM_BOUND * Number(expectedMean), title);
  assertNear(actual.pValues[0], expected.pValues[0], P_VALUE_BOUND, title);
}

function assertNear(actual: number, expected: number, bound: number, title: string): void {
  assert.ok(Math.abs(actual - expected) <= bound, `${title}: ${actual}, expected ${expected}`);
}

/** Structured sequences: counters overflow, walks drift away and blocks are alike. */
export const STRUCTURED: Readonly<Record<string, (lengthBytes: number) => Uint8Array>> = {
  'all zeros': (length) => Buffer.alloc(length),
  'all ones': (length) => Buffer.alloc(length, 0xff),
  alternating: (length) => Buffer.alloc(length, 0xaa),
  'alternating, the other way': (length) => Buffer.alloc(length, 0x55),
  'one in a period of three': (length) => Buffer.alloc(length, Buffer.from('924924', 'hex')),
  'one in a period of 125 bytes': (length) =>
    Buffer.alloc(length, Buffer.concat([Buffer.of(0x80), Buffer.alloc(124)])),
  // The template 000000001, more often than a byte can count.
  'one in a period of nine': (length) => Uint8Array.from({ length }, (_, i) => 0x80 >> (i % 9)),
  'bytes that count up': (length) => Uint8Array.from({ length }, (_, i) => i),
  'blocks of zeros and of ones': (length) =>
    Uint8Array.from({ length }, (_, i) => ((i >>> 10) & 1 ? 0xff : 0)),
  'one block repeated': (length) => Buffer.alloc(length, aesStream(7, 4096)),
  'three quarters zeros': (length) =>
    aesStream(8, length).map((byte, i) => byte & aesStreamByte(9, length, i)),
  'a few ones': (length) => Uint8Array.from({ length }, (_, i) => (i % 4099 === 17 ? 4 : 0)),
  'ones, then random': (length) =>
    Buffer.concat([Buffer.alloc(length >>> 2, 0xff), aesStream(10, length - (length >>> 2))]),
};

let cachedStream: { seed: number; bytes: Buffer } | undefined;

function aesStreamByte(seed: number, length: number, i: number): number {
  if (cachedStream?.seed !== seed || cachedStream.bytes.length !== length) {
    cachedStream = { seed, bytes: aesStream(seed, length) };
  }
  return cachedStream.bytes[i];
}
