/** The test of long streams on the balance of blocks, which is not part of SP 800-22. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { balanceBound, blockBalance } from '../../packages/sp800-22/src/thorough/block-balance.ts';
import { aesStream } from './differential.ts';

describe('block_balance', () => {
  /** Returns the probabilities of the values of Σ S² / M for `N` sums of `M` fair signs, in order. */
  function lawOf(N: number, M: number): [x: number, probability: number][] {
    const one = new Map<number, number>();
    let probability = 2 ** -M;
    for (let ones = 0; ones <= M; ones++) {
      const square = (2 * ones - M) ** 2;
      one.set(square, (one.get(square) ?? 0) + probability);
      probability *= (M - ones) / (ones + 1);
    }
    let all = new Map([[0, 1]]);
    for (let i = 0; i < N; i++) {
      const next = new Map<number, number>();
      for (const [a, p] of all) {
        for (const [b, q] of one) next.set(a + b, (next.get(a + b) ?? 0) + p * q);
      }
      all = next;
    }
    return [...all].map(([x, p]): [number, number] => [x / M, p]).sort(([a], [b]) => a - b);
  }

  for (const [N, M] of [
    [1, 256],
    [2, 256],
    [3, 64],
    [8, 16],
    [12, 32],
  ] as const) {
    it(`bounds both tails of ${N} blocks of ${M} signs, by counting all cases`, () => {
      const law = lawOf(N, M);
      let below = 0;
      for (const [x, probability] of law) {
        below += probability;
        if (x < N) assert.ok(below <= balanceBound(x, N, M), `${x}: ${below}`);
        else assert.ok(1 - below + probability <= balanceBound(x, N, M) + 1e-12, `${x}`);
      }
      assert.ok(Math.abs(below - 1) < 1e-9);
    });
  }

  it('counts the ones of blocks in each plane', () => {
    const bytes = aesStream(80, 2 ** 14);
    const { statistics } = blockBalance(bytes);
    const { width, place, block, blocks, chi2 } = statistics as Record<string, number>;
    const bits = [...bytes].flatMap((byte) => [...byte.toString(2).padStart(8, '0')].map(Number));
    const plane = width === 0 ? bits : bits.filter((_, i) => i % width === place);
    let expected = 0;
    for (let i = 0; i < blocks; i++) {
      const ones = plane.slice(i * block, (i + 1) * block).reduce((sum, bit) => sum + bit, 0);
      expected += (2 * ones - block) ** 2 / block;
    }
    assert.equal(chi2, expected);
  });

  it('fails the low bits of a congruential generator in another order, which are too even', () => {
    // Bays and Durham (1976), with the generator of the example of ISO C.
    let x = 12345;
    const next = (): number => {
      x = (Math.imul(x, 1103515245) + 12345) & 0x7fffffff;
      return x;
    };
    const table = Array.from({ length: 64 }, next);
    const bytes = Uint8Array.from({ length: 2 ** 20 }, () => {
      const place = (next() >>> 25) & 63;
      const value = table[place];
      table[place] = next();
      return value >>> 16;
    });
    const { pValues, statistics } = blockBalance(bytes);
    assert.ok(pValues[0] < 1e-10, `${pValues[0]}`);
    assert.deepEqual([statistics.width, statistics.place], [8, 7]);
    assert.ok(Number(statistics.chi2) < 1);
  });

  it('fails a bit whose share of ones drifts to and fro', () => {
    const bytes = new Uint8Array(aesStream(81, 2 ** 20));
    const noise = aesStream(82, 2 ** 20);
    // Bit 3 of each byte, 52 % ones in one half of a period and 48 % in the other.
    for (let i = 0; i < bytes.length; i++) {
      if (noise[i] < 10) bytes[i] = i & 0x8000 ? bytes[i] | 16 : bytes[i] & ~16;
    }
    const { pValues, statistics } = blockBalance(bytes);
    assert.ok(pValues[0] < 1e-10, `${pValues[0]}`);
    assert.deepEqual([statistics.width, statistics.place], [8, 3]);
  });

  it('passes sound streams', () => {
    for (let seed = 83; seed < 93; seed++) {
      assert.ok(blockBalance(aesStream(seed, 2 ** 17)).pValues[0] > 1e-3);
    }
  });
});
