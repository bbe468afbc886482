/** Compares erfc and igamc with 50-digit figures of mpmath. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { erfc, igamc } from '#sp800-22';
import { normalTail } from '../../packages/sp800-22/src/special-functions.ts';

const fixtures: { igamc: [number, number, string][]; erfc: [number, string][] } = JSON.parse(
  readFileSync(new URL('../vectors/sp800-22/special-functions.json', import.meta.url), 'utf8'),
);

const RELATIVE_BOUND = 1e-13;

const FAR_BOUND = 3e-13;

function assertRelative(
  actual: number,
  expected: number,
  name: string,
  bound = RELATIVE_BOUND,
): void {
  const error = Math.abs(actual / expected - 1);
  assert.ok(error < bound, `${name} = ${actual}, expected ${expected}, error ${error}`);
}

const regimes: readonly [string, (a: number, x: number, q: number) => boolean][] = [
  ['a below 20, where it is a finite sum', (a) => a < 20],
  ['a from 20 to 4096', (a) => a >= 20 && a <= 4096],
  ['a from 8192 to 2^18 (block frequency of 2^26 bits)', (a) => a >= 8192],
  ['x within one standard deviation of a', (a, x) => Math.abs(x - a) <= Math.sqrt(a)],
  ['x on both sides of the switch at a + 1', (a, x) => Math.abs(x - a - 1) < 0.001],
  ['results near 1', (_a, _x, q) => q > 0.99],
  ['tails from 1e-10 to 1e-100', (_a, _x, q) => q <= 1e-10 && q >= 1e-100],
  ['tails from 1e-100 to 1e-300', (_a, _x, q) => q < 1e-100],
];

for (const [regime, contains] of regimes) {
  test(`igamc is within 1e-13 relative: ${regime}`, () => {
    const rows = fixtures.igamc.filter(([a, x, q]) => contains(a, x, Number(q)));
    assert.ok(rows.length >= 10, `only ${rows.length} fixtures`);
    for (const [a, x, q] of rows) assertRelative(igamc(a, x), Number(q), `igamc(${a}, ${x})`);
  });
}

test('erfc is within 1e-13 relative from −5 to 26, where it is 1e-296', () => {
  assert.ok(fixtures.erfc.length > 200);
  for (const [x, y] of fixtures.erfc) assertRelative(erfc(x), Number(y), `erfc(${x})`);
});

test('igamc equals its closed forms: e^−x for a = 1, erfc(√x) for a = 1/2', () => {
  for (const x of [1e-6, 0.1, 0.9, 1, 1.1, 3.7, 20, 26]) {
    assertRelative(igamc(1, x * x), Math.exp(-x * x), `igamc(1, ${x * x})`);
    assertRelative(igamc(0.5, x * x), erfc(x), `igamc(0.5, ${x * x})`);
  }
});

test('the normal tail has its textbook quantiles', () => {
  assert.equal(normalTail(0), 0.5);
  assertRelative(normalTail(1.959963984540054), 0.025, 'normalTail');
});

test('igamc and erfc are 0, never NaN, if the tail is smaller than any double', () => {
  assert.equal(erfc(28), 0);
  assert.equal(erfc(Infinity), 0);
  assert.equal(erfc(-Infinity), 2);
  assert.equal(erfc(0), 1);
  assert.equal(igamc(2.5, 0), 1);
  for (const a of [0.5, 1, 3, 19.5, 20, 4096, 262144]) {
    for (const x of [1e4 * (a + 1), 1e12, 1e300, Number.MAX_VALUE, Infinity]) {
      assert.equal(igamc(a, x), 0, `igamc(${a}, ${x})`);
    }
    assert.equal(igamc(a, Number.MIN_VALUE), 1);
  }
});

test('igamc stays within [0, 1] and falls with x', () => {
  const a = fc.integer({ min: 1, max: 6e5 }).map((degrees) => degrees / 2);
  const ratio = fc.double({ min: 0, max: 4, noNaN: true });
  fc.assert(
    fc.property(a, ratio, ratio, (shape, r1, r2) => {
      const [low, high] = [Math.min(r1, r2) * shape, Math.max(r1, r2) * shape];
      const [q1, q2] = [igamc(shape, low), igamc(shape, high)];
      assert.ok(q1 >= 0 && q1 <= 1 && q2 >= 0 && q2 <= 1, `${q1}, ${q2}`);
      assert.ok(q2 <= q1 * (1 + RELATIVE_BOUND), `igamc(${shape}, ${high}) > igamc(…, ${low})`);
    }),
  );
});

test('igamc does not exceed 1 as a finite sum of rounded terms', () => {
  for (let degrees = 1; degrees <= 40; degrees++) {
    for (let x = 1e-9; x < degrees; x *= 1.3) {
      const q = igamc(degrees / 2, x);
      assert.ok(q >= 0 && q <= 1, `igamc(${degrees / 2}, ${x}) = ${q}`);
    }
  }
});

test('igamc keeps its digits far in the tail at large a, against 40-digit figures', () => {
  const figures: readonly [a: number, x: number, q: string][] = [
    [7193, 10791.436475760727, '2.3813502243949634541e-298'],
    [6085, 9434.037363022206, '2.0347226270993841259e-298'],
    [3000, 5363.918559202512, '2.5786113311931546573e-272'],
    [500, 1500.25, '1.3909922445306731829e-198'],
    [100, 600.5, '2.437923584866927513e-142'],
    [25, 300.125, '2.2697390297280904981e-95'],
  ];
  for (const [a, x, q] of figures) {
    assertRelative(igamc(a, x), Number(q), `igamc(${a}, ${x})`, FAR_BOUND);
  }
});

test('igamc obeys Q(a + 1, x) = Q(a, x) + x^a e^−x / Γ(a + 1) across both methods', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 40 }),
      fc.double({ min: 0.1, max: 80, noNaN: true }),
      (a, x) => {
        let term = Math.exp(-x);
        for (let k = 1; k <= a; k++) term *= x / k;
        const next = igamc(a + 1, x);
        assert.ok(Math.abs(next - igamc(a, x) - term) <= 1e-13 * next, `a = ${a}, x = ${x}`);
      },
    ),
  );
});

test('igamc refuses a ≤ 0, a that is not a multiple of 1/2, x < 0 and NaN; erfc refuses NaN', () => {
  assert.throws(() => erfc(NaN), RangeError);
  for (const [a, x] of [
    [0, 1],
    [-1, 1],
    [2.7, 1],
    [1, -1e-9],
    [NaN, 1],
    [1, NaN],
    [Infinity, 1],
  ]) {
    assert.throws(() => igamc(a, x), RangeError);
  }
});
