/** The scan for a piece of another source: exact counts, the same with and without kernels, and what it finds. */
import assert from 'node:assert/strict';
import { createCipheriv } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { runPackedSuite, runSuite, type Scan, unpackBits } from '#sp800-22';
import {
  judgeScan,
  MEASURES,
  scanBits,
  windowsByLength,
} from '../../../packages/sp800-22/src/source-rule/scan.ts';

function soundBytes(length: number, key = 1): Buffer {
  return createCipheriv('aes-256-ctr', Buffer.alloc(32, key), Buffer.alloc(16)).update(
    Buffer.alloc(length),
  );
}

function scanOf(bytes: Uint8Array, bits = 8 * bytes.length, offsetBits = 0): Scan {
  const { scan } = runPackedSuite(bytes, { bits, offsetBits, only: [], scan: true });
  assert.ok(scan);
  return scan;
}

test('a sequence is cut into windows of 256 bits and powers of two times as many, longer ones half over the other', () => {
  assert.deepEqual(windowsByLength(255), []);
  assert.deepEqual(windowsByLength(256), [1]);
  assert.deepEqual(windowsByLength(512), [2, 1]);
  assert.deepEqual(windowsByLength(1023), [3, 2]);
  assert.deepEqual(windowsByLength(1024), [4, 3, 1]);
  assert.deepEqual(windowsByLength(2 ** 20).slice(-2), [3, 1]);
});

test('kernels and readable code give the same scan: lengths, offsets, dead, periodic and mixed sequences', () => {
  const contents = fc.constantFrom<(bytes: Buffer) => Buffer>(
    (bytes) => bytes,
    (bytes) => bytes.fill(0),
    (bytes) => bytes.fill('ab', bytes.length >> 1),
    (bytes) => Buffer.concat([Buffer.from('header of text '.repeat(3)), bytes]),
  );
  const cases = fc.tuple(fc.integer({ min: 256, max: 40_000 }), fc.nat(7), fc.nat(255), contents);
  fc.assert(
    fc.property(cases, ([bits, offsetBits, key, content]) => {
      const bytes = content(soundBytes(Math.ceil((bits + offsetBits) / 8), key));
      const { scan } = runSuite(unpackBits(bytes, bits, offsetBits), { only: [], scan: true });
      assert.deepEqual(scanOf(bytes, bits, offsetBits), scan);
    }),
    { numRuns: 60, seed: 20_261_129 },
  );
});

test('a dead window is 2 of 2^256 sequences: with one window and 16 measures, p = 16 · 2^-255', () => {
  const scan = scanOf(new Uint8Array(32));
  assert.ok(Math.abs(scan.p / 2 ** -251 - 1) < 1e-12, `p = ${scan.p}`);
  assert.deepEqual(scan.piece, { measure: 'ones', from: 0, bits: 256, count: 0, trials: 256 });
  assert.equal(scan.compared, 16);
});

const PIECES: Readonly<Record<string, (length: number) => Buffer>> = {
  text: (length) => Buffer.alloc(length, 'Model TRNG-7, firmware 1.2.3, 2026-11-29; '),
  zeros: (length) => Buffer.alloc(length),
  'hexadecimal digits': (length) =>
    Buffer.from(soundBytes(length).toString('hex')).subarray(0, length),
  base64: (length) => Buffer.from(soundBytes(length).toString('base64')).subarray(0, length),
  'a record of 16 bytes, repeated': (length) => Buffer.alloc(length, soundBytes(16, 9)),
};

for (const [name, make] of Object.entries(PIECES)) {
  for (const length of [64, 512]) {
    test(`${length} bytes of ${name} in 2^20 bits are found, with their place`, () => {
      const bytes = soundBytes(131_072, 2);
      bytes.set(make(length), 40_000);
      const { p, piece } = scanOf(bytes);
      assert.ok(p < 1e-6, `p = ${p}`);
      const [from, to] = [8 * 40_000, 8 * (40_000 + length)];
      assert.ok(piece.from < to && piece.from + piece.bits > from, JSON.stringify(piece));
    });
  }
}

test('of 4,000 sound sequences of 2,048 bits no more than a share of x has p ≤ x', () => {
  const stream = soundBytes(4_000 * 256, 3);
  const values = Array.from(
    { length: 4_000 },
    (_, i) => scanOf(stream.subarray(256 * i, 256 * (i + 1))).p,
  );
  for (const x of [0.3, 0.1, 0.03, 0.01]) {
    const count = values.filter((p) => p <= x).length;
    const sigma = Math.sqrt(4_000 * x * (1 - x));
    assert.ok(count <= 4_000 * x + 3 * sigma, `${count} of 4,000 have p <= ${x}`);
  }
  // The windows depend on each other, but not so much that nothing would be small.
  assert.ok(values.filter((p) => p <= 0.3).length > 4_000 * 0.05);
});

test('the totals count the whole windows of a sequence: all ones in every byte, and none unlike its neighbour', () => {
  const bits = new Uint8Array(600).fill(1);
  const { totals, bits: counted } = scanBits(bits);
  assert.equal(counted, 512);
  const byName = Object.fromEntries(MEASURES.map(({ name }, i) => [name, totals[i]]));
  assert.equal(byName.ones, 512);
  assert.equal(byName['ones in bit 1 of each byte'], 64);
  // Zeros are taken to stand before the sequence.
  assert.equal(byName['bits unlike the bit 1 place earlier'], 1);
  assert.equal(byName['bits unlike the bit 128 places earlier'], 128);
});

test('a sequence shorter than a window has no scan', () => {
  assert.equal(judgeScan(255, scanBits(new Uint8Array(255))), undefined);
  assert.equal(runPackedSuite(new Uint8Array(31), { only: [], scan: true }).scan, undefined);
  assert.equal(runPackedSuite(new Uint8Array(32), { only: [] }).scan, undefined);
});

test('the readable code zeroes its running sums, whose differences are the bits', (t) => {
  const made: Uint32Array[] = [];
  const Original = globalThis.Uint32Array;
  globalThis.Uint32Array = new Proxy(Original, {
    construct(target, args) {
      const array = Reflect.construct(target, args) as Uint32Array;
      made.push(array);
      return array;
    },
  });
  t.after(() => {
    globalThis.Uint32Array = Original;
  });
  scanBits(new Uint8Array(512).fill(1));
  assert.equal(made.length, MEASURES.length);
  assert.ok(made.every((sums) => sums.length === 513 && sums.every((sum) => sum === 0)));
});
