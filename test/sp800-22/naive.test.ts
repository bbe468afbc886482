/** Compares every count of `packages/sp800-22` with the naive oracle, and long spectra with NumPy. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import * as sts from '#sp800-22';
import { fourierTransform } from '../../packages/sp800-22/src/tests/fourier.ts';
import { BerlekampMassey } from '../../packages/sp800-22/src/tests/linear-complexity.ts';
import {
  countPatterns,
  shortenPatterns,
} from '../../packages/sp800-22/src/tests/pattern-counts.ts';
import * as naive from './naive.ts';
import { assertNumPyPeaks } from './numpy-peaks.ts';

/** Generates sequences of `minimum` to `maximum` bits: fair, biased and periodic ones. */
function bitSequences(minimum: number, maximum: number): fc.Arbitrary<Uint8Array> {
  const size = { minLength: minimum, maxLength: maximum, size: 'max' as const };
  const fair = fc.array(fc.integer({ min: 0, max: 1 }), size);
  const biased = fc.array(fc.integer({ min: 0, max: 7 }), size);
  const period = fc.array(fc.integer({ min: 0, max: 1 }), { minLength: 1, maxLength: 9 });
  const length = fc.integer({ min: minimum, max: maximum });
  return fc.oneof(
    fair.map((bits) => Uint8Array.from(bits)),
    biased.map((values) => Uint8Array.from(values, (value) => (value === 0 ? 0 : 1))),
    fc
      .tuple(period, length)
      .map(([bits, n]) => Uint8Array.from({ length: n }, (_, i) => bits[i % bits.length])),
  );
}

const text = (bits: Uint8Array): string => bits.join('');

test('dft counts the same peaks as the sums of the definition, for even and odd lengths', () => {
  fc.assert(
    fc.property(bitSequences(2, 200), (bits) => {
      const { N_1, T } = sts.dft(bits).statistics;
      assert.equal(N_1, naive.countPeaksBelow(bits, Number(T)));
    }),
  );
});

// The other lengths of the file take long; test/slow/lab/suite.test.ts has them.
for (const n of [1000, 1009, 4096, 99_999, 2 ** 17, 1_000_000]) {
  test(`dft counts the same peaks as NumPy's transform of ${n} bits`, () => assertNumPyPeaks(n));
}

test('the Fourier transform of 1 to 70 points equals the definition', () => {
  for (let N = 1; N <= 70; N++) {
    const z = Array.from({ length: N }, (_, j) => [Math.sin(j * j + 1), Math.cos(3 * j * j + 2)]);
    const re = Float64Array.from(z, ([real]) => real);
    const im = Float64Array.from(z, ([, imaginary]) => imaginary);
    const Z = fourierTransform(re, im, N);
    for (let k = 0; k < N; k++) {
      let [real, imaginary] = [0, 0];
      for (let j = 0; j < N; j++) {
        const angle = (-2 * Math.PI * ((j * k) % N)) / N;
        real += z[j][0] * Math.cos(angle) - z[j][1] * Math.sin(angle);
        imaginary += z[j][0] * Math.sin(angle) + z[j][1] * Math.cos(angle);
      }
      assert.ok(Math.hypot(Z.re[k] - real, Z.im[k] - imaginary) < 1e-12 * N, `N = ${N}, k = ${k}`);
    }
  }
});

test('the Fourier transform of 2^17 and 99,999 points keeps 13 digits of a pure tone', () => {
  for (const N of [2 ** 17, 99_999]) {
    const tone = 12_345;
    const angles = Array.from({ length: N }, (_, j) => (2 * Math.PI * ((j * tone) % N)) / N);
    const Z = fourierTransform(
      Float64Array.from(angles, Math.cos),
      Float64Array.from(angles, Math.sin),
      N,
    );
    for (let k = 0; k < N; k++) {
      const error = Math.hypot(Z.re[k] - (k === tone ? N : 0), Z.im[k]);
      assert.ok(error < 1e-13 * N, `N = ${N}, k = ${k}: error ${error}`);
    }
  }
});

test('Berlekamp–Massey finds the register that solves the linear equations', () => {
  fc.assert(
    fc.property(bitSequences(1, 80), (bits) => {
      const L = new BerlekampMassey(bits.length).complexity(bits, 0);
      assert.equal(L, naive.shortestRegister(bits));
    }),
  );
});

test('Berlekamp–Massey restarts with each block', () => {
  const measure = new BerlekampMassey(96);
  fc.assert(
    fc.property(bitSequences(192, 192), (bits) => {
      const fresh = new BerlekampMassey(96).complexity(bits.slice(96), 0);
      measure.complexity(bits, 0);
      assert.equal(measure.complexity(bits, 96), fresh);
    }),
  );
});

test('pattern counts equal those of the string closed to a ring, even if shorter than m', () => {
  fc.assert(
    fc.property(bitSequences(1, 60), fc.integer({ min: 1, max: 6 }), (bits, m) => {
      const expected = Array.from({ length: 2 ** m }, (_, i) =>
        naive.countOnRing(text(bits), i.toString(2).padStart(m, '0')),
      );
      assert.deepEqual([...countPatterns(bits, m)], expected);
      const longer = countPatterns(bits, m + 1);
      assert.deepEqual([...shortenPatterns(longer)], expected);
    }),
  );
});

test('non-overlapping template matches equal those of cutting the block at each match', () => {
  const template = fc.array(fc.constantFrom('0', '1'), { minLength: 2, maxLength: 6 });
  fc.assert(
    fc.property(
      bitSequences(64, 300),
      template,
      fc.integer({ min: 1, max: 8 }),
      (bits, parts, N) => {
        const pattern = parts.join('');
        const parameters = { m: pattern.length, N, templates: [pattern] };
        const { W, M } = sts.nonOverlappingTemplate(bits, parameters).statistics;
        const blocks = Array.from({ length: N }, (_, j) => {
          const block = bits.subarray(j * Number(M), (j + 1) * Number(M));
          return naive.countWithoutOverlap(text(block), pattern);
        });
        assert.deepEqual(W, blocks);
      },
    ),
  );
});

test('overlapping matches of ones fall into the classes of a search from each position', () => {
  const pi = [0.3, 0.2, 0.2, 0.1, 0.1, 0.1];
  fc.assert(
    fc.property(bitSequences(40, 200), fc.integer({ min: 1, max: 5 }), (bits, m) => {
      const M = 20;
      const { nu } = sts.overlappingTemplate(bits, { m, M, pi }).statistics;
      const expected = [0, 0, 0, 0, 0, 0];
      for (let j = 0; j < Math.floor(bits.length / M); j++) {
        const block = text(bits.subarray(j * M, (j + 1) * M));
        expected[Math.min(5, naive.countWithOverlap(block, '1'.repeat(m)))]++;
      }
      assert.deepEqual(nu, expected);
    }),
  );
});

test('longest runs fall into the classes of splitting the block at its zeros', () => {
  fc.assert(
    fc.property(bitSequences(128, 600), (bits) => {
      const expected = [0, 0, 0, 0];
      for (let i = 0; i + 8 <= bits.length; i += 8) {
        const runs = text(bits.subarray(i, i + 8)).split('0');
        const longest = Math.max(...runs.map(({ length }) => length));
        expected[Math.min(4, Math.max(1, longest)) - 1]++;
      }
      assert.deepEqual(sts.longestRun(bits).statistics.nu, expected);
    }),
  );
});

test('runs are the pieces of the string that repeat one digit', () => {
  fc.assert(
    fc.property(bitSequences(1, 200), (bits) => {
      const pieces = text(bits).match(/0+|1+/g) ?? [];
      assert.equal(sts.runs(bits).statistics.V_n, pieces.length);
    }),
  );
});

test('ranks equal those of elimination by row exchange', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 32 }), bitSequences(2048, 2048), (M, bits) => {
      const expected = { N: 0, F_M: 0, F_M1: 0, F_less: 0 };
      for (let start = 0; start + M * M <= bits.length; start += M * M) {
        const rows = Array.from({ length: M }, (_, r) =>
          Array.from(bits.subarray(start + r * M, start + (r + 1) * M)),
        );
        const R = naive.rankOf(rows);
        expected[R === M ? 'F_M' : R === M - 1 ? 'F_M1' : 'F_less']++;
        expected.N++;
      }
      const { chi2: _, ...counts } = sts.rank(bits, { M }).statistics;
      assert.deepEqual(counts, expected);
    }),
    { numRuns: 40 },
  );
});

test('cumulative sums reach the maxima of the walk from either end', () => {
  fc.assert(
    fc.property(bitSequences(1, 300), (bits) => {
      const reach = (values: Uint8Array): number => Math.max(...naive.walk(values).map(Math.abs));
      const { z_forward, z_reverse } = sts.cumulativeSums(bits).statistics;
      assert.deepEqual([z_forward, z_reverse], [reach(bits), reach(bits.toReversed())]);
    }),
  );
});

/** Returns P(max |S_k| ≥ z) for a fair walk of n steps, from its distribution after each step. */
function reachProbability(n: number, z: number): number {
  let inside = new Float64Array(2 * z + 1);
  inside[z] = 1;
  for (let k = 0; k < n; k++) {
    const next = new Float64Array(2 * z + 1);
    for (let i = 1; i < 2 * z; i++) next[i] = (inside[i - 1] + inside[i + 1]) / 2;
    inside = next;
  }
  return 1 - inside.reduce((a, b) => a + b, 0);
}

test('cumulative sums come within 1/n of the exact distribution of the maximum', () => {
  const n = 2000;
  for (const z of [10, 20, 40, 60, 100, 150, 200]) {
    // Up to z, then back and forth.
    const bits = Uint8Array.from({ length: n }, (_, i) => (i < z || (i - z) % 2 === 1 ? 1 : 0));
    const { pValues, statistics } = sts.cumulativeSums(bits);
    assert.equal(statistics.z_forward, z);
    const exact = reachProbability(n, z);
    assert.ok(Math.abs(pValues[0] - exact) < 1 / n, `z = ${z}: ${pValues[0]}, exact ${exact}`);
  }
});

test('excursions count the visits of the walk cut at its zeros', () => {
  fc.assert(
    fc.property(bitSequences(1, 400), (bits) => {
      const { J, nu } = sts.randomExcursions(bits).statistics;
      const expected = sts.EXCURSION_STATES.flatMap((x) => {
        const visits = naive.visitsPerCycle(bits, x);
        assert.equal(visits.length, J);
        return [0, 1, 2, 3, 4]
          .map((k) => visits.filter((count) => count === k).length)
          .concat(visits.filter((count) => count >= 5).length);
      });
      assert.deepEqual(nu, expected);
      const variant = sts.randomExcursionsVariant(bits).statistics;
      const total = (x: number): number => naive.visitsPerCycle(bits, x).reduce((a, b) => a + b, 0);
      assert.deepEqual(variant, { J, xi: sts.VARIANT_STATES.map(total) });
    }),
  );
});

test('universal sums the logarithms of the distances found by a backward search', () => {
  const L = fc.integer({ min: 1, max: 4 });
  fc.assert(
    fc.property(bitSequences(100, 400), L, fc.integer({ min: 1, max: 10 }), (bits, length, Q) => {
      const { sum } = sts.universal(bits, { L: length, Q }).statistics;
      const expected = naive.sumOfLogDistances(text(bits), length, Q);
      assert.ok(Math.abs(Number(sum) - expected) < 1e-9, `${sum}, expected ${expected}`);
    }),
  );
});
