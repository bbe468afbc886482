/** The elementary functions against those of this engine, which may differ in the last digit. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { it } from 'node:test';
import {
  decimalExponent,
  exp,
  exp2,
  expm1,
  log,
  log1p,
  log2,
  power,
  powerOfTen,
} from '../../packages/sp800-22/src/elementary.ts';

const PAIRS = [
  { name: 'exp2', portable: exp2, engine: (x: number) => 2 ** x },
  { name: 'exp', portable: exp, engine: Math.exp },
  { name: 'expm1', portable: expm1, engine: Math.expm1 },
  { name: 'log', portable: log, engine: Math.log },
  { name: 'log1p', portable: log1p, engine: Math.log1p },
  { name: 'log2', portable: log2, engine: Math.log2 },
];

/** Files that raise integers to integers, which every engine does exactly. */
const INTEGER_POWERS = new Set(['sp800-22/kernels/dft-tables.ts']);

/** One unit in the last place, with room for the other engine's error. */
const TOLERANCE = 2 ** -51;

const ENDS = [0, -0, 1, -1, Number.NaN, Infinity, -Infinity];

const arguments_ = Array.from({ length: 4000 }, (_, i) => (i - 2000) / 2.9).flatMap((x) => [
  x,
  x / 1000,
  1 + x / 1e12,
  2 ** x,
  -(2 ** -Math.abs(x)),
]);

for (const { name, portable, engine } of PAIRS) {
  it(`${name} has the values of the engine within a unit of the last place`, () => {
    for (const x of ENDS) assert.ok(Object.is(portable(x), engine(x)), `${name}(${x})`);
    for (const x of arguments_) {
      const [ours, theirs] = [portable(x), engine(x)];
      const isNear = Math.abs(ours - theirs) <= Math.abs(theirs) * TOLERANCE + Number.MIN_VALUE;
      assert.ok(Object.is(ours, theirs) || isNear, `${name}(${x}) = ${ours}, expected ${theirs}`);
    }
  });
}

it('power has about the values of the engine', () => {
  for (const [x, y] of [
    [0.01, 1e-6],
    [0.25, 20],
    [1 - 1e-9, 1e6],
    [123_456, -3 / 7],
  ]) {
    assert.ok(Math.abs(power(x, y) / x ** y - 1) < 1e-14, `${x}^${y} = ${power(x, y)}`);
  }
});

it('decimalExponent and powerOfTen are exact at powers of ten', () => {
  for (let k = -300; k <= 300; k++) {
    const x = powerOfTen(k);
    assert.equal(x, Number(`1e${k}`));
    assert.equal(decimalExponent(x), k);
    assert.equal(decimalExponent(x * (1 - 2 ** -53)), k - 1);
    assert.equal(decimalExponent(x * 9.99), k);
  }
});

/** Sines are only in transforms, whose results are counts. The health tests do not write reports. */
it('no report depends on functions that differ between engines', () => {
  for (const name of ['sp800-22', 'sp800-90b', 'ais-20-31']) {
    const folder = new URL(`../../packages/${name}/src/`, import.meta.url);
    for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      if (!file.endsWith('.ts') || file.startsWith('health/')) continue;
      const code = readFileSync(new URL(file, folder), 'utf8').replace(
        /\/\*.*?\*\/|\/\/.*$/gms,
        '',
      );
      const calls = code.match(
        /\bMath\.(exp|expm1|log|log1p|log2|log10|pow|a?tanh?|sinh|cosh|cbrt|hypot)\b/g,
      );
      assert.deepEqual(calls, null, `${name}: ${file}`);
      const powers = code.match(/(?<!\b2) \*\* |\*\* -?\(?[\d.]*\w* \//g);
      if (!INTEGER_POWERS.has(`${name}/${file}`))
        assert.deepEqual(powers, null, `${name}: ${file}`);
    }
  }
});
