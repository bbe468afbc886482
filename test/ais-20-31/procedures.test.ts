/** Procedures A and B against the BSI's reference program, and what each test rejects. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import {
  PROCEDURE_B_MINIMUM_BITS,
  type ProcedureResult,
  procedureA,
  procedureABits,
  procedureB,
} from '#ais-20-31';
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
    assert.throws(() => procedureA(new Uint8Array(1_000)), {
      name: 'RangeError',
      message: '"bytes" expected at least 8,285,728 bits, got 8,000',
    });
    assert.throws(() => procedureA(new Uint8Array(2 ** 20), { bits: 7 }), {
      name: 'RangeError',
      message: '"bits" expected at least 8,285,728 bits, got 7',
    });
  });

  it('refuses widths that are no number of bits', () => {
    for (const width of [0, 257, 1.5, Number.NaN]) {
      assert.throws(() => procedureA(new Uint8Array(1), { width }), {
        name: 'RangeError',
        message: `"width" expected an integer from 1 to 256, got ${width}`,
      });
    }
  });
});

const filled = (byte: number): Buffer => Buffer.alloc(50_000, byte);

describe('procedure B', () => {
  for (const [what, bytes, stopped, last] of [
    [
      'zeros',
      Buffer.alloc(50_000),
      '0 of 100,000 groups of 2 bits that begin with 1, in 150,000',
      0,
    ],
    ['ones', filled(0xff), '0 of 100,000 groups of 2 bits that begin with 0, in 150,000', 0],
    ['0101…', filled(0x55), '0 of 100,000 groups of 2 bits that begin with 1, in 150,000', 0],
    [
      'noise that dies in step 2',
      Buffer.concat([aesStream().subarray(0, 20_000), Buffer.alloc(380_000)]),
      '15,118 of 100,000 groups of 2 bits that begin with 1, in 1,550,000',
      0,
    ],
    [
      'noise that dies in step 4',
      Buffer.concat([aesStream().subarray(0, 600_000), Buffer.alloc(200_000)]),
      '96,316 of 100,000 groups of 4 bits that begin with 001, in 1,173,181',
      0,
    ],
    [
      '16 million zeros with a 1',
      Buffer.alloc(2_000_000).fill(0x80, 1_900_000, 1_900_001),
      '1 of 100,000 groups of 2 bits that begin with 1, in 7,950,000',
      0,
    ],
    [
      'noise with a rare 1',
      Buffer.from(Array.from({ length: 100_000 }, (_, i) => (i % 200 === 0 ? 0x80 : 0))),
      '437 of 100,000 groups of 2 bits that begin with 1, in 350,000',
      125,
    ],
  ] as const) {
    it(`says how far it came, and that more input is unlikely to help, on ${what}`, () => {
      const { runs, verdict } = procedureB(bytes);
      const { stopped: text, reason, complete } = runs[runs.length - 1];
      assert.deepEqual([verdict, complete], ['undecided', false]);
      assert.match(text ?? '', new RegExp(`^step . stopped with ${stopped} groups$`));
      assert.equal(reason, `${text} (${last} in the last 100,000): more input is unlikely to help`);
    });
  }

  it('does not say so of few groups, nor of noise that is cut off', () => {
    const [few] = procedureB(Buffer.alloc(20_000)).runs;
    assert.match(few.stopped ?? '', /with 0 of 100,000 groups .* begin with 1, in 30,000 groups$/);
    assert.equal(few.reason, undefined);
    const [short] = procedureB(aesStream().subarray(0, 500_000)).runs;
    assert.match(short.stopped ?? '', /^step 4 stopped with 71,\d{3} of 100,000 groups of 4 bits/);
    assert.equal(short.reason, undefined);
    // Without enough bits for step 5, no step is stopped halfway.
    const [last] = procedureB(aesStream().subarray(0, 700_000)).runs;
    assert.deepEqual([last.tests.length, last.stopped, last.complete], [8, undefined, false]);
  });

  it('is undecided if the input ends where a step ends, or before the first group of the next', () => {
    // Steps 1 to 3; after step 4, bits are missing for step 5.
    const ends = REFERENCE.aes.b.ends.slice(0, 3);
    for (const [i, end] of ends.entries()) {
      for (let more = 0; more < i + 2; more++) {
        const [run] = procedureB(aesStream(), { bits: end + more }).runs;
        assert.equal(
          run.stopped,
          `step ${i + 2} stopped with 0 of 100,000 groups of ${i + 2} bits that begin with ${'0'.repeat(i + 1)}, in 0 groups`,
        );
        assert.deepEqual([run.complete, run.reason, run.bits], [false, undefined, end]);
      }
    }
  });

  it('takes the start that would take longest, not the one with the fewest groups', () => {
    // Mostly zeros, and then only ones: 1 catches up, and 0 is missing.
    const stream = Buffer.alloc(80_000, 0xff);
    stream.fill(0x00, 12_500, 30_000).fill(0x55, 30_000, 31_000);
    const [run] = procedureB(stream).runs;
    assert.match(run.stopped ?? '', /begin with 0, in 270,000 groups$/);
    assert.match(run.reason ?? '', /\(0 in the last 100,000\)/);
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

  it('needs 100,000 bits for its first test', () => {
    const bytes = aesStream().subarray(0, 12_500);
    assert.equal(procedureB(bytes).runs[0].tests.length, 1);
    assert.throws(() => procedureB(bytes, { bits: PROCEDURE_B_MINIMUM_BITS - 1 }), {
      name: 'RangeError',
      message: '"bits" expected at least 100,000 bits, got 99,999',
    });
  });

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
