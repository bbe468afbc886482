import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { packPValues, unpackPValues } from '../../src/keys/p-values.ts';
import { P_VALUE_LABELS, type PValueReport, TEST_NAMES } from '../../src/sts/index.ts';

/** A report with these p-values, one after the other; tests named in `absent` did not apply. */
function reportOf(pValues: readonly number[], absent: readonly string[] = []): PValueReport {
  let next = 0;
  return {
    tests: TEST_NAMES.map((name) =>
      absent.includes(name)
        ? { name, applicable: false }
        : {
            name,
            applicable: true,
            pValues: P_VALUE_LABELS[name].map(() => pValues[next++ % pValues.length] ?? 0),
          },
    ),
  };
}

const flat = ({ tests }: PValueReport) =>
  tests.flatMap((test) => (test.applicable ? test.pValues : []));

const neighbours = (p: number) => [p - 2 ** -53, p, p + 2 ** -53];
const EDGES = [0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

/** The class of ten, and the side of the significance level. */
const placeOf = (p: number) => EDGES.filter((edge) => p >= edge).length;

describe('p-values of a sample as bytes', () => {
  it('are 752, in a buffer of their own', () => {
    const bytes = packPValues(reportOf([0.5]));
    assert.deepEqual([bytes.length, bytes.buffer.byteLength], [752, 752]);
    assert.throws(() => unpackPValues(bytes.subarray(4)), RangeError);
  });

  it('keep each p-value to nine decimals, within its class', () => {
    const pValue = fc.oneof(
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.constantFrom(0, 1, 1e-9, 5e-324),
    );
    fc.assert(
      fc.property(fc.array(pValue, { minLength: 188, maxLength: 188 }), (pValues) => {
        const kept = flat(unpackPValues(packPValues(reportOf(pValues))));
        assert.equal(kept.length, 188);
        for (const [i, p] of pValues.entries()) {
          const value = kept[i] ?? Number.NaN;
          assert.ok(value <= p && p - value < 1.000001e-9, `${p} became ${value}`);
          assert.deepEqual(placeOf(value), placeOf(p));
          assert.ok(`${value}`.length <= 11 || value < 1e-6, `${value}`);
        }
      }),
      { numRuns: 30 },
    );
  });

  it('do not leave a class by its edge', () => {
    for (const edge of EDGES.flatMap(neighbours)) {
      const [kept = Number.NaN] = flat(unpackPValues(packPValues(reportOf([edge]))));
      assert.deepEqual(placeOf(kept), placeOf(edge), `${edge} became ${kept}`);
    }
    for (const edge of EDGES) {
      assert.deepEqual(flat(unpackPValues(packPValues(reportOf([edge]))))[0], edge);
    }
  });

  it('are rounded down where nine decimals more would round them up', () => {
    const below = 0.540000015 - 2 ** -53;
    assert.equal(flat(unpackPValues(packPValues(reportOf([below]))))[0], 0.540000014);
  });

  it('tell what did not apply from a p-value of zero', () => {
    const absent = ['random_excursions', 'random_excursions_variant'];
    const report = unpackPValues(packPValues(reportOf([0], absent)));
    for (const test of report.tests) {
      assert.equal(test.applicable, !absent.includes(test.name));
      if (test.applicable) assert.ok(test.pValues.every((p) => p === 0));
    }
  });

  it('are the suite’s own: another number of them is refused', () => {
    const { tests } = reportOf([0.5]);
    const two = { name: 'frequency', applicable: true, pValues: [0.5, 0.6] } as const;
    assert.throws(() => packPValues({ tests: [two, ...tests.slice(1)] }), RangeError);
  });
});
