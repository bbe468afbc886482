/** Procedures A and B against the BSI's reference program, and what each test rejects. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type ProcedureResult, procedureA, procedureABits, procedureB } from '#ais-20-31';
import { aesStream, assertProcedureA, biasedStream, REFERENCE } from './reference.ts';

describe('procedure A', () => {
  let result: ProcedureResult;
  before(() => {
    result = procedureA(aesStream(), { width: 8 });
  });

  it("gives the figures of the BSI's program for numbers of 8 bits", () => {
    assertProcedureA(result, REFERENCE.aes.a[8]);
  });

  it('has one test of all words and five of each of 257 sequences', () => {
    const [run] = result.runs;
    assert.equal(run.tests.length, 1 + 5 * 257);
    assert.equal(run.bits, procedureABits(8));
    assert.equal(result.runs.length, 1);
  });

  it('needs 8,285,728 bits for single bits', () => {
    assert.equal(procedureABits(), 65_536 * 48 + 257 * 20_000);
    const { runs, verdict } = procedureA(new Uint8Array(1_000));
    assert.deepEqual([runs[0].complete, verdict], [false, 'undecided']);
  });

  it('refuses widths that are no number of bits', () => {
    for (const width of [0, 257, 1.5, Number.NaN]) {
      assert.throws(() => procedureA(new Uint8Array(1), { width }), {
        name: 'RangeError',
        message: `"width" expected a whole number from 1 to 256, got ${width}`,
      });
    }
  });
});

describe('procedure B', () => {
  it('says which step does not end on stuck and periodic bits', () => {
    const stuck: [byte: number, reason: string][] = [
      [0x00, 'step 2 does not end, because no group of 2 bits begins with 1'],
      [0xff, 'step 2 does not end, because no group of 2 bits begins with 0'],
      [0x55, 'step 2 does not end, because no group of 2 bits begins with 1'],
    ];
    for (const [byte, reason] of stuck) {
      const { runs, verdict } = procedureB(new Uint8Array(50_000).fill(byte));
      assert.deepEqual([runs.at(-1)?.reason, verdict], [reason, 'undecided']);
    }
    const [run] = procedureB(new Uint8Array(20_000)).runs;
    assert.equal(run.reason, undefined);
  });

  for (const [name, reference, stream] of [
    ['sound bits', REFERENCE.aes.b, aesStream],
    ['biased bits', REFERENCE.biased.b, biasedStream],
  ] as const) {
    it(`gives the figures of the BSI's program for ${name}`, () => {
      const { runs, verdict } = procedureB(stream());
      const [{ tests, bits }] = runs;
      const near = (actual: unknown, expected: number) =>
        assert.ok(Math.abs(Number(actual) - expected) < 1e-9 * expected, `${actual}, ${expected}`);
      const [t6a, t6b, ...rest] = tests.map(({ statistics }) => statistics);
      near(t6a.deviation, reference.deviation);
      near(t6b.ones_after_0, reference.after_0 * 100_000);
      near(t6b.ones_after_1, reference.after_1 * 100_000);
      const chiSquared = rest.slice(0, 6).map(({ chi_squared }) => chi_squared);
      // The program reads the first bit of a start as the lowest: 01 and 10 change places.
      const [a, b, c, d] = reference.t7_three;
      for (const [i, expected] of [...reference.t7_two, a, c, b, d].entries()) {
        near(chiSquared[i], Number(expected));
      }
      near(rest[6].bits_per_byte, reference.t8);
      assert.equal(bits, reference.ends.at(-1));
      const failed = tests.filter(({ passed }) => !passed).map(({ name, on }) => `${name} ${on}`);
      assert.deepEqual(failed, name === 'sound bits' ? [] : ['T6 single bits']);
      assert.equal(verdict, name === 'sound bits' ? 'passed' : 'failed');
    });
  }

  it('is undecided if the input ends before the last test', () => {
    const { runs, verdict } = procedureB(aesStream().subarray(0, 500_000));
    assert.deepEqual([runs[0].complete, runs[0].tests.length, verdict], [false, 4, 'undecided']);
  });

  it('reports the test that constant bits fail, although other tests never get their bits', () => {
    const { runs, verdict } = procedureB(new Uint8Array(200_000).fill(0xff));
    const [{ tests, failed }] = runs;
    assert.deepEqual([tests.length, failed, verdict], [1, 1, 'undecided']);
  });
});
