/** The tests of long streams, which are not part of SP 800-22. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { judgeLongStreams, runLongStream, THOROUGH_TESTS } from '#sp800-22';
import { binomialLower, binomialUpper } from '../../../packages/sp800-22/src/binomial.ts';
import { BerlekampMassey } from '../../../packages/sp800-22/src/tests/linear-complexity.ts';
import {
  birthdaySpacings,
  poissonUpper,
  repeatedSpacings,
} from '../../../packages/sp800-22/src/thorough/birthday-spacings.ts';
import { complexityTail, signSumBound } from '../../../packages/sp800-22/src/thorough/bounds.ts';
import { linearComplexityOf } from '../../../packages/sp800-22/src/thorough/plane-complexity.ts';
import { planeOf } from '../../../packages/sp800-22/src/thorough/planes.ts';
import { tapParity } from '../../../packages/sp800-22/src/thorough/tap-parity.ts';
import { transform, windowParity } from '../../../packages/sp800-22/src/thorough/window-parity.ts';
import { wordGaps } from '../../../packages/sp800-22/src/thorough/word-gaps.ts';
import { aesStream } from '../../sp800-22/differential.ts';

const bitsOf = (fewest: number, most: number) =>
  fc
    .array(fc.nat(1), { minLength: fewest, maxLength: most, size: 'max' })
    .map((bits) => Uint8Array.from(bits));

/** Returns the bits of a plane, by its definition. */
function naivePlane(bytes: Uint8Array, width: number, place: number): number[] {
  const bits = [...bytes].flatMap((byte) => [...byte.toString(2).padStart(8, '0')].map(Number));
  return bits.filter((_, i) => i % width === place).slice(0, Math.floor(bits.length / width));
}

const near = (actual: number, expected: number): void =>
  assert.ok(Math.abs(actual / expected - 1) < 1e-9, `${actual}, expected ${expected}`);

const parityOf = (x: number): number =>
  [...x.toString(2)].filter((digit) => digit === '1').length % 2;

describe('the bound of a sum of signs', () => {
  it('is never below the exact tail', () => {
    for (const n of [1, 2, 3, 10, 64, 333]) {
      for (let ones = 0; ones <= n; ones++) {
        const sum = Math.abs(2 * ones - n);
        const most = (n + sum) / 2;
        const exact = Math.min(1, binomialUpper(most, n, 0.5) + binomialLower(n - most, n, 0.5));
        assert.ok(signSumBound(sum, n) >= Math.min(exact, 1) * (1 - 1e-12), `${sum} of ${n}`);
      }
    }
  });
});

describe('window_parity', () => {
  it('transforms counts by the definition of Walsh', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1000), { minLength: 16, maxLength: 16 }), (given) => {
        const counts = Int32Array.from(given);
        transform(counts);
        for (let mask = 0; mask < 16; mask++) {
          const sum = given.reduce((sum, c, w) => sum + (parityOf(w & mask) === 1 ? -c : c), 0);
          assert.equal(counts[mask], sum);
        }
      }),
    );
  });

  it('has the largest sum of the definition, in the stream and in planes', () => {
    for (const width of [0, 8, 16]) {
      const bytes = aesStream(20 + width, 64 * Math.max(1, width / 8));
      const { statistics } = windowParity(bytes, [width]);
      const stream =
        width === 0 ? naivePlane(bytes, 1, 0) : naivePlane(bytes, width, Number(statistics.place));
      const found = sumOf(stream, Number(statistics.mask));
      const n = stream.length - 15;
      assert.ok(Math.abs(found - Number(statistics.z) * Math.sqrt(n)) < 1e-9);
      if (width !== 0) continue;
      for (let mask = 1; mask < 2 ** 16; mask += 2 * 37) {
        assert.ok(Math.abs(sumOf(stream, mask)) <= Math.abs(found));
      }
    }
  });

  it('names the plane and the bits of a relation', () => {
    // The third bit of each 16-bit word is the sum of those two and five words earlier.
    const bytes = aesStream(21, 2 ** 14);
    for (let i = 10; i < bytes.length; i += 2) {
      bytes[i] = (bytes[i] & 0xdf) | ((bytes[i - 4] ^ bytes[i - 10]) & 0x20);
    }
    const { pValues, statistics } = windowParity(bytes.subarray(0, 400));
    assert.deepEqual([statistics.width, statistics.place, statistics.mask], [16, 2, 0b100101]);
    // 185 windows agree, in one of 121 streams with 2^15 sums each.
    near(Number(statistics.z), Math.sqrt(185));
    near(pValues[0], 121 * 2 ** 15 * 2 * Math.exp(-185 / 2));
  });
});

/** Returns Σ (−1)^(parity of window & mask) over all windows of 16 bits, the newest bit the lowest. */
function sumOf(stream: readonly number[], mask: number): number {
  let sum = 0;
  for (let i = 15; i < stream.length; i++) {
    const window = Number.parseInt(stream.slice(i - 15, i + 1).join(''), 2);
    sum += parityOf(window & mask) === 1 ? -1 : 1;
  }
  return sum;
}

describe('tap_parity', () => {
  it('has the largest sum of the definition', () => {
    const [lags, terms] = [20, 64];
    for (const seed of [1, 2, 3]) {
      const bytes = aesStream(30 + seed, 96);
      const { pValues, statistics } = tapParity(bytes, lags, terms);
      let largest = 0;
      for (const [first, second] of [
        [7, 7],
        [0, 1],
      ]) {
        const [a, b] = [naivePlane(bytes, 8, first), naivePlane(bytes, 8, second)];
        const bits = first === second ? a : a.map((bit, i) => bit ^ b[i]);
        for (let far = 2; far <= lags; far++) {
          for (let near = 1; near < far; near++) {
            let sum = 0;
            for (let i = 0; i < terms; i++) {
              sum += bits[i] ^ bits[i + far - near] ^ bits[i + far] ? -1 : 1;
            }
            largest = Math.max(largest, Math.abs(sum));
          }
        }
      }
      assert.equal(statistics.streams, 2);
      assert.ok(Math.abs(Number(statistics.z) - largest / 8) < 1e-12);
      assert.equal(pValues[0], Math.min(1, 2 * 190 * signSumBound(largest, terms)));
    }
  });

  it('names the lags of an additive generator', () => {
    const words = new Uint32Array(4096);
    new Uint8Array(words.buffer).set(aesStream(33, 4 * 55));
    for (let i = 55; i < words.length; i++) words[i] = words[i - 24] + words[i - 55];
    const { pValues, statistics } = tapParity(new Uint8Array(words.buffer));
    assert.deepEqual([statistics.near, statistics.far, statistics.width], [24, 55, 32]);
    // All 1,024 sums of the lowest bit agree, in one of two streams for each byte of each width.
    const streams = Number(statistics.streams);
    assert.equal(streams, 2 * (1 + 2 + 4 + 8));
    near(pValues[0], streams * ((640 * 639) / 2) * 2 * Math.exp(-1024 / 2));
  });
});

describe('plane_complexity', () => {
  it('equals the algorithm of the suite', () => {
    fc.assert(
      fc.property(bitsOf(1, 700), fc.nat(80), (bits, period) => {
        // Half of the cases repeat themselves.
        const tested = period < 40 ? bits.map((_, i) => bits[i % (period + 1)] ?? 0) : bits;
        const expected = new BerlekampMassey(tested.length).complexity(tested, 0);
        assert.equal(linearComplexityOf(tested), expected);
      }),
      { numRuns: 500 },
    );
  });

  it('has the exact law of the complexity of all sequences of 12 bits', () => {
    const n = 12;
    const counts = new Array(n + 1).fill(0);
    for (let x = 0; x < 2 ** n; x++) {
      counts[linearComplexityOf(Uint8Array.from({ length: n }, (_, i) => (x >>> i) & 1))]++;
    }
    let below = 0;
    for (let L = 0; L <= n; L++) {
      below += counts[L];
      const exact = below / 2 ** n;
      assert.ok(
        2 * L > n ? complexityTail(L, n) === 1 : Math.abs(complexityTail(L, n) - exact) < 1e-15,
      );
    }
  });

  it('finds a register in one plane of the words', () => {
    // x^23 + x^18 + 1 in the lowest bit of words of 32 bits.
    const bytes = aesStream(40, 2 ** 12);
    const register = Array.from({ length: 1024 }, () => 1);
    for (let i = 23; i < 1024; i++) register[i] = register[i - 23] ^ register[i - 5];
    for (let i = 0; i < 1024; i++) bytes[4 * i + 3] = (bytes[4 * i + 3] & 254) | register[i];
    const { pValues, statistics } = THOROUGH_TESTS.plane_complexity.run(bytes);
    assert.deepEqual([statistics.width, statistics.place, statistics.L], [32, 31, 23]);
    // 1,024 bits of complexity 23, in one of 7 planes.
    near(pValues[0], (7 * (2 ** (2 * 23 + 1 - 1024) + 2 ** -1024)) / 3);
  });
});

describe('word_gaps', () => {
  it('has the counts of the definition, and an exact bound of their tail', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(5), { minLength: 3, maxLength: 60 }), (values) => {
        const bytes = Uint8Array.from(values.flatMap((value) => [value, 7]));
        const gaps = values.flatMap((value, i) => {
          const before = values.lastIndexOf(value, i - 1);
          return i > 0 && before >= 0 ? [i - before] : [];
        });
        const { pValues, statistics } = wordGaps(bytes);
        const n = values.length;
        const count = Math.max(0, ...gaps.map((gap) => gaps.filter((g) => g === gap).length));
        assert.equal(statistics.count, count);
        if (count > 0) assert.equal(gaps.filter((g) => g === statistics.gap).length, count);
        // 1 − P(X < count), by the terms of the binomial law.
        let [term, below] = [(1 - 2 ** -16) ** n, 0];
        for (let k = 0; k < count; k++) {
          below += term;
          term *= ((n - k) / (k + 1)) * (2 ** -16 / (1 - 2 ** -16));
        }
        const expected = Math.min(1, (n - 1) * (1 - below));
        assert.ok(Math.abs(pValues[0] - expected) < 1e-12);
      }),
    );
  });

  it('names the gap of a weak copy', () => {
    const bytes = aesStream(45, 2 ** 18);
    // One word of 64 is a copy of the one 70,001 words earlier.
    for (let at = 2 * 70_001; at < bytes.length; at += 128) {
      bytes.copyWithin(at, at - 2 * 70_001, at - 2 * 70_000);
    }
    const { pValues, statistics } = wordGaps(bytes);
    assert.equal(statistics.gap, 70_001);
    assert.ok(pValues[0] < 1e-100);
  });
});

describe('birthday_spacings', () => {
  it('has the tail of Poisson', () => {
    for (const [k, lambda] of [
      [0, 3],
      [3, 2],
      [40, 10],
      [520, 512],
      [700, 512],
    ]) {
      // Σ from k on, by the recurrence of the terms.
      let term = Math.exp(-lambda);
      let sum = 0;
      for (let i = 0; i < k + 400; i++) {
        if (i >= k) sum += term;
        term *= lambda / (i + 1);
      }
      assert.ok(Math.abs(poissonUpper(k, lambda) / sum - 1) < 1e-9, `${k}, ${lambda}`);
    }
    assert.ok(Math.abs(poissonUpper(3, 2) - 0.3233235838169366) < 1e-14);
  });

  it('counts repeated spacings', () => {
    // Sorted 1, 4, 7, 9, 20, 22: spacings 3, 3, 2, 11, 2.
    assert.equal(repeatedSpacings(Uint32Array.of(9, 1, 22, 4, 20, 7)), 2);
    assert.equal(repeatedSpacings(Float64Array.of(5, 5, 5, 5)), 2);
  });

  it('fails a congruential generator and a stream that repeats itself', () => {
    const words = new Uint32Array(2 ** 17);
    let x = 1;
    for (let i = 0; i < words.length; i++) {
      x = Math.imul(x, 1664525) + 1013904223;
      words[i] = x;
    }
    assert.ok(birthdaySpacings(new Uint8Array(words.buffer)).pValues[0] < 1e-100);
    const part = aesStream(50, 2 ** 16);
    const twice = new Uint8Array(2 ** 17);
    twice.set(part);
    twice.set(part, part.length);
    assert.ok(birthdaySpacings(twice).pValues[0] < 1e-100);
  });
});

describe('birthday_spacings of halves', () => {
  /** Marsaglia's multiply-with-carry generator of 16 bits, from whose two kinds MWC1616 is made. */
  function* mwc(): Generator<number> {
    for (let x = 1; ; x = 36969 * (x & 0xffff) + (x >>> 16)) yield x & 0xffff;
  }

  for (const [half, offset] of [
    [1, 0],
    [2, 2],
  ] as const) {
    for (const littleEndian of [true, false]) {
      it(`find a generator in half ${half} of each word, ${littleEndian ? 'lowest' : 'highest'} byte first`, () => {
        const bytes = new Uint8Array(aesStream(70, 2 ** 20));
        const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
        const numbers = mwc();
        for (let at = offset; at < bytes.length; at += 4) {
          view.setUint16(at, numbers.next().value as number, littleEndian);
        }
        const { pValues, statistics } = birthdaySpacings(bytes);
        assert.ok(pValues[0] < 1e-20, `${pValues[0]}`);
        assert.deepEqual([statistics.bits, statistics.half], [32, half]);
      });
    }
  }

  it('passes sound ones, whose counts are Poisson', () => {
    const { pValues, statistics } = birthdaySpacings(aesStream(71, 2 ** 20));
    assert.ok(pValues[0] > 1e-3);
    assert.ok([2 ** 6, 2 ** 5, 2 ** 51 / 2 ** 55].includes(statistics.expected as number));
  });
});

describe('planes', () => {
  it('are the bits at one place of each word', () => {
    const bytes = aesStream(60, 48);
    for (const width of [8, 16, 32, 64]) {
      for (let place = 0; place < width; place++) {
        const expected = naivePlane(bytes, width, place);
        assert.deepEqual([...planeOf(bytes, { width, place }, expected.length)], expected);
      }
    }
  });
});

describe('a long stream', () => {
  it('has one p-value of each test, and names the tests that long streams alone get', () => {
    const { bits, results } = runLongStream(aesStream(70, 2 ** 17));
    assert.equal(bits, 2 ** 20);
    assert.ok(results.every(({ p }) => p > 1e-5 && p <= 1));
    assert.equal(new Set(results.map(({ name }) => name)).size, results.length);
    const own = results.filter(({ name }) => name in THOROUGH_TESTS);
    assert.deepEqual(
      own.map(({ name }) => name),
      Object.keys(THOROUGH_TESTS),
    );
    assert.ok(own.every(({ statistics }) => statistics));
  });

  it('has 2^20 to 2^26 bits', () => {
    assert.throws(() => runLongStream(new Uint8Array(2 ** 17 - 1)), RangeError);
    assert.throws(() => runLongStream(new Uint8Array(2 ** 23 + 1)), RangeError);
  });

  it('fails its source if the smallest p-value, times their number, is below 0.001', () => {
    const stream = (...ps: number[]) => ({
      bits: 2 ** 20,
      results: ps.map((p, i) => ({ name: (['frequency', 'runs'] as const)[i], p })),
    });
    const passed = judgeLongStreams([stream(0.4, 0.3), stream(0.00026, 0.9)]);
    assert.deepEqual([passed.p, passed.passed, passed.pValues], [4 * 0.00026, true, 4]);
    const failed = judgeLongStreams([stream(0.4, 0.3), stream(0.00024, 0.9)]);
    assert.equal(failed.passed, false);
    assert.deepEqual(
      failed.tests.map(({ name, stream, passed }) => [name, stream, passed]),
      [
        ['frequency', 2, false],
        ['runs', 1, true],
      ],
    );
    assert.equal(judgeLongStreams([]).passed, true);
  });
});
