import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { PValueReport, TestName } from '#sp800-22';
import { evidenceLabels } from '../../src/keys/evidence-suite.ts';
import {
  packPValues,
  STREAM_TESTS,
  type StreamPValues,
  unpackPValues,
} from '../../src/keys/p-values.ts';

/** Returns reports with these p-values, in order; tests named in `absent` did not apply. */
function reportsOf(pValues: readonly number[], absent: readonly string[] = []): StreamPValues {
  let next = 0;
  const reportOn = (tests: readonly TestName[]): PValueReport => ({
    tests: tests.map((name) =>
      absent.includes(name)
        ? { name, applicable: false }
        : {
            name,
            applicable: true,
            pValues: evidenceLabels(name).map(() => pValues[next++ % pValues.length] ?? 0),
          },
    ),
  });
  return {
    carrier: reportOn(STREAM_TESTS.carrier),
    modulated: reportOn(STREAM_TESTS.modulated),
  };
}

const flat = ({ carrier, modulated }: StreamPValues) =>
  [...carrier.tests, ...modulated.tests].flatMap((test) => (test.applicable ? test.pValues : []));

const neighbours = (p: number) => [p - 2 ** -53, p, p + 2 ** -53];
const EDGES = [0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

/** Returns the class of ten and the side of the significance level. */
const placeOf = (p: number) => EDGES.filter((edge) => p >= edge).length;

describe('the p-values of a sample as bytes', () => {
  it('fill 768 bytes in a buffer of their own', () => {
    const bytes = packPValues(reportsOf([0.5]));
    assert.deepEqual([bytes.length, bytes.buffer.byteLength], [768, 768]);
    assert.throws(() => unpackPValues(bytes.subarray(4)), RangeError);
  });

  it('keep each p-value to nine decimals within its class', () => {
    const pValue = fc.oneof(
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.constantFrom(0, 1, 1e-9, 5e-324),
    );
    fc.assert(
      fc.property(fc.array(pValue, { minLength: 192, maxLength: 192 }), (pValues) => {
        const kept = flat(unpackPValues(packPValues(reportsOf(pValues))));
        assert.equal(kept.length, 192);
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

  it('stay in their class at its edges', () => {
    for (const edge of EDGES.flatMap(neighbours)) {
      const [kept = Number.NaN] = flat(unpackPValues(packPValues(reportsOf([edge]))));
      assert.deepEqual(placeOf(kept), placeOf(edge), `${edge} became ${kept}`);
    }
    for (const edge of EDGES) {
      assert.deepEqual(flat(unpackPValues(packPValues(reportsOf([edge]))))[0], edge);
    }
  });

  it('are rounded down where nine more decimals would round them up', () => {
    const below = 0.540000015 - 2 ** -53;
    assert.equal(flat(unpackPValues(packPValues(reportsOf([below]))))[0], 0.540000014);
  });

  it('distinguish a test that did not apply from a p-value of zero', () => {
    const absent = ['random_excursions', 'random_excursions_variant'];
    const { carrier, modulated } = unpackPValues(packPValues(reportsOf([0], absent)));
    for (const test of [...carrier.tests, ...modulated.tests]) {
      assert.equal(test.applicable, !absent.includes(test.name));
      if (test.applicable) assert.ok(test.pValues.every((p) => p === 0));
    }
  });

  it('distinguish the streams, and mark one that was not tested', () => {
    const { carrier, modulated } = reportsOf([0.25]);
    const half = unpackPValues(packPValues({ carrier, modulated: reportsOf([0.5]).modulated }));
    assert.ok(half.carrier.tests.every((test) => test.applicable && test.pValues[0] === 0.25));
    assert.ok(half.modulated.tests.every((test) => test.applicable && test.pValues[0] === 0.5));
    const alone = unpackPValues(packPValues({ carrier, modulated: { tests: [] } }));
    assert.deepEqual(
      alone.modulated.tests.map(({ name, applicable }) => [name, applicable]),
      modulated.tests.map(({ name }) => [name, false]),
    );
  });

  it('match the number of p-values of the suite; any other number is rejected', () => {
    const { carrier, modulated } = reportsOf([0.5]);
    const two = { name: 'frequency', applicable: true, pValues: [0.5, 0.6] } as const;
    for (const reports of [
      { carrier: { tests: [two, ...carrier.tests.slice(1)] }, modulated },
      { carrier, modulated: { tests: [two] } },
    ]) {
      assert.throws(() => packPValues(reports), RangeError);
    }
  });
});
