import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { creditOfKey, creditOfSeed, type KeyPart } from '../../src/entropy/credits.ts';
import type { SourceName } from '../../src/entropy/index.ts';

/** Name and credit of each draw; `shared` marks a device that the kernel may also read. */
type Draws = readonly (readonly [SourceName, number, 'shared'?])[];

const SEPARATE: readonly SourceName[] = ['device', 'ibm-quantum', 'qrng'];

/** Returns the credit of one reseed with these draws. */
function seed(draws: Draws) {
  return creditOfSeed(
    draws.map(([name, creditBits, shared]) => {
      return { name, creditBits, isSeparate: SEPARATE.includes(name) && !shared };
    }),
  );
}

/** Returns the credit of a key whose reseeds all have these draws; 384 bits have two halves. */
function key(level: 128 | 256 | 384, draws: Draws): number {
  const credit = seed(draws);
  const part = (lengthBits: number): KeyPart => ({ lengthBits, credit });
  return creditOfKey(level === 384 ? [part(192), part(192)] : [part(level)]);
}

const OS = ['os', 256] as const;
const WINDOWS = ['os', 0] as const;
const JITTER = ['jitter', 192] as const;
const DEVICE = ['device', 192] as const;
const HWRNG = ['device', 192, 'shared'] as const;
const QRNG = ['qrng', 192] as const;
const IBM = ['ibm-quantum', 192] as const;

describe('the credit of one reseed', () => {
  it('adds separate sources and takes the larger of those that share noise', () => {
    const sums: [Draws, number][] = [
      [[OS], 256],
      [[WINDOWS], 0],
      [[OS, JITTER], 256],
      [[WINDOWS, JITTER], 192],
      [[OS, ['jitter', 300]], 300],
      [[OS, ['quantum-simulator', 300]], 300],
      [[OS, DEVICE], 448],
      [[OS, HWRNG], 256],
      [[WINDOWS, HWRNG], 192],
      [[JITTER, HWRNG], 192],
      [[HWRNG, QRNG], 384],
      [[OS, QRNG], 448],
      [[OS, IBM], 448],
      [[JITTER, DEVICE], 384],
      [[JITTER, QRNG], 384],
      [[JITTER, IBM], 384],
      [[DEVICE, QRNG], 384],
      [[QRNG, IBM], 384],
      [[OS, JITTER, DEVICE, QRNG], 640],
      [[OS, ['ibm-quantum', 0]], 256],
    ];
    for (const [draws, bits] of sums) {
      const { osBits, sharedBits, separateBits } = seed(draws);
      assert.equal(Math.max(osBits, sharedBits) + separateBits, bits, draws.join(' + '));
    }
  });
});

describe('the credit of a key', () => {
  it('is at most its length', () => {
    assert.equal(key(128, [OS, DEVICE]), 128);
    assert.equal(key(256, [OS, DEVICE, QRNG]), 256);
    assert.equal(key(384, [OS, DEVICE, QRNG]), 384);
  });

  it('counts the operating system once, however many reseeds precede the key', () => {
    assert.equal(key(384, [OS]), 256);
    assert.equal(key(384, [OS, ['device', 32]]), 320);
    assert.equal(key(384, [OS, ['device', 64]]), 384);
  });

  it('counts timing noise or the operating system for the whole key, never both', () => {
    assert.equal(key(384, [OS, ['jitter', 100]]), 256);
    assert.equal(key(384, [OS, ['jitter', 150]]), 300, 'jitter alone, twice');
    assert.equal(key(384, [OS, JITTER]), 384, 'jitter alone, twice');
    assert.equal(key(384, [OS, ['device', 64, 'shared']]), 256, 'nothing added');
    const halves = [seed([OS]), seed([OS, JITTER])];
    const parts = halves.map((credit) => ({ lengthBits: 192, credit }));
    assert.equal(creditOfKey(parts), 256, 'not 192 of the one and 192 of the other');
  });

  it('is zero on Windows without a credited source', () => {
    for (const level of [128, 256, 384] as const) assert.equal(key(level, [WINDOWS]), 0);
    assert.equal(key(256, [WINDOWS, DEVICE]), 192);
    assert.equal(key(384, [WINDOWS, DEVICE]), 384);
  });
});
