import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { extractVonNeumann } from '../../src/entropy/sources/von-neumann.ts';

/** The extractor in von Neumann's words, on strings. */
function extractedBits(input: string): string {
  const pairs = input.match(/../g) ?? [];
  return pairs.map((pair) => ({ '01': '0', '10': '1' })[pair] ?? '').join('');
}

const toSamples = (input: string) => Uint8Array.from(input, Number);
const toBits = (bytes: Uint8Array) =>
  Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('');

describe("von Neumann's extractor", () => {
  it('gives 0 for 01, 1 for 10 and nothing for 00 and 11', () => {
    assert.deepEqual([...extractVonNeumann(toSamples('01'.repeat(8)))], [0x00]);
    assert.deepEqual([...extractVonNeumann(toSamples('10'.repeat(8)))], [0xff]);
    assert.deepEqual([...extractVonNeumann(toSamples('0011'.repeat(40)))], []);
    assert.deepEqual([...extractVonNeumann(toSamples('1001'.repeat(4)))], [0b1010_1010]);
    assert.deepEqual(
      [...extractVonNeumann(toSamples(`00${'10'.repeat(3)}11${'01'.repeat(5)}`))],
      [0b1110_0000],
    );
  });

  it('drops a sample without a partner and bits that do not fill a byte', () => {
    assert.deepEqual([...extractVonNeumann(new Uint8Array(0))], []);
    assert.deepEqual([...extractVonNeumann(toSamples('1'))], []);
    assert.deepEqual([...extractVonNeumann(toSamples('10'.repeat(7)))], []);
    assert.deepEqual([...extractVonNeumann(toSamples(`${'10'.repeat(8)}1`))], [0xff]);
    assert.deepEqual([...extractVonNeumann(toSamples('10'.repeat(15)))], [0xff]);
  });

  it('agrees with its definition on any input', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 1 }), { maxLength: 400 }), (bits) => {
        const expected = extractedBits(bits.join(''));
        const whole = expected.slice(0, expected.length - (expected.length % 8));
        assert.equal(toBits(extractVonNeumann(Uint8Array.from(bits))), whole);
      }),
    );
  });

  it('is unbiased for every bias: outputs have equally many inputs of each weight', () => {
    // All 2^20 inputs of ten pairs. Inputs of k ones have probability p^k (1-p)^(20-k), so equal
    // counts for each k make the outputs equally probable for every p.
    const counts = new Map<number, Uint32Array>();
    const samples = new Uint8Array(20);
    for (let input = 0; input < 2 ** 20; input++) {
      let ones = 0;
      for (let i = 0; i < 20; i++) {
        samples[i] = (input >>> i) & 1;
        ones += samples[i];
      }
      const [byte] = extractVonNeumann(samples);
      if (byte === undefined) continue;
      const row = counts.get(ones) ?? new Uint32Array(256);
      row[byte] += 1;
      counts.set(ones, row);
    }
    // Eight unequal pairs hold eight ones; the other two pairs hold zero to four.
    assert.deepEqual(
      [...counts.keys()].sort((a, b) => a - b),
      [8, 9, 10, 11, 12],
    );
    for (const row of counts.values()) assert.equal(new Set(row).size, 1);
  });

  it('leaves its input for the caller to wipe, and returns its own memory', () => {
    const samples = toSamples('10'.repeat(8));
    const extracted = extractVonNeumann(samples);
    assert.deepEqual(samples, toSamples('10'.repeat(8)));
    assert.equal(extracted.buffer.byteLength, extracted.length);
  });

  it('rejects samples of more than one bit', () => {
    assert.throws(() => extractVonNeumann(Uint8Array.of(0, 2)), RangeError);
  });
});
