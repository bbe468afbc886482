/** The driver: the tests that apply, the results of structured sequences, and its contract. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import * as sts from '#sp800-22';
import { aesCtr } from '../support/lab/aes-stream.ts';
import { assertFails, assertPValuesInRange, STRUCTURED_BITS } from './structured.ts';

/** Returns the AES-256-CTR stream of one key: sound bits, the same in every run. */
function soundBits(n: number, seed = 0): Uint8Array {
  return sts.unpackBits(aesCtr(Buffer.alloc(32, seed), Math.ceil(n / 8)), n);
}

const reasons = (report: sts.SuiteReport): Record<string, string> =>
  Object.fromEntries(report.tests.flatMap((t) => (t.applicable ? [] : [[t.name, t.reason]])));

/** The plain transform takes most of the time if n is not a power of two; test/slow/lab/suite.test.ts runs it then. */
const WITHOUT_DFT = sts.TEST_NAMES.filter((name) => name !== 'dft');

/** A seed whose walk has 1,103 cycles within 10^6 bits, and one whose walk has 180. */
const MANY_CYCLES = 2;
const FEW_CYCLES = 7;

/** Sound bits on which all tests apply, and their report. */
const SOUND = soundBits(2 ** 20, MANY_CYCLES);
const SOUND_REPORT = sts.runSuite(SOUND);

/** The shortest sequence of each test, and its p-values on 2^20 bits, in the order of the NIST program. */
const EXPECTED: Readonly<Record<sts.TestName, readonly [minimumBits: number, pValues: number]>> = {
  frequency: [100, 1],
  block_frequency: [100, 2],
  cumulative_sums: [100, 2],
  runs: [100, 1],
  longest_run: [128, 1],
  rank: [38_912, 1],
  dft: [1000, 1],
  non_overlapping_template: [409_664, 148],
  overlapping_template: [1_000_000, 1],
  universal: [387_840, 1],
  approximate_entropy: [65_536, 1],
  random_excursions: [1_000_000, 8],
  random_excursions_variant: [1_000_000, 18],
  serial: [524_288, 2],
  linear_complexity: [1_000_000, 1],
};

const EXPECTED_ROWS = Object.entries(EXPECTED).map(([name, [, pValues]]) => [name, pValues]);

test('runs all tests, with all their p-values, on 2^20 bits', () => {
  const report = SOUND_REPORT;
  assert.deepEqual(reasons(report), {});
  assert.equal(report.bits, 2 ** 20);
  assert.equal(report.totalTests, EXPECTED_ROWS.length);
  assert.deepEqual(
    report.tests.map((t) => [t.name, t.applicable ? t.pValues.length : 0]),
    EXPECTED_ROWS,
  );
});

test('names the tests in the order of the NIST program', () => {
  const report = sts.runSuite(soundBits(100));
  assert.deepEqual(
    report.tests.map(({ name }) => name),
    Object.keys(EXPECTED),
  );
});

test('runs only the requested tests, in its own order, with the same results as the whole suite', () => {
  const bits = soundBits(10_000);
  const whole = sts.runSuite(bits);
  const part = sts.runSuite(bits, { only: ['runs', 'rank', 'frequency', 'runs'] });
  const expected = whole.tests.filter(({ name }) => ['frequency', 'runs', 'rank'].includes(name));
  assert.deepEqual(part.tests, expected);
  assert.deepEqual([part.totalTests, part.bits], [2, 10_000]);
  const unknown = ['entropy' as sts.TestName];
  assert.throws(() => sts.runSuite(bits, { only: unknown }), {
    name: 'RangeError',
    message: /^"only" expected names from frequency, .*, linear_complexity, got entropy$/,
  });
});

test('labels all p-values, uniquely within each test', () => {
  const labelsOf = (name: sts.TestName) => sts.rowLabels(name, 2 ** 20);
  const labels = sts.TEST_NAMES.map((name) => [name, labelsOf(name).length]);
  assert.deepEqual(labels, EXPECTED_ROWS);
  for (const name of sts.TEST_NAMES) {
    assert.equal(new Set(labelsOf(name)).size, labelsOf(name).length);
  }
  assert.deepEqual(labelsOf('block_frequency'), ['M = 128', 'M = 16384']);
  assert.deepEqual(labelsOf('cumulative_sums'), ['forward', 'reverse']);
  const templates = labelsOf('non_overlapping_template');
  const excursions = labelsOf('random_excursions');
  assert.deepEqual([templates[0], templates[147]], ['000000001', '111111110']);
  assert.deepEqual([excursions[0], excursions[4]], ['x=-4', 'x=1']);
});

test('omits the excursions tests if there are too few cycles, and gives the reason', () => {
  const report = sts.runSuite(soundBits(2 ** 20, FEW_CYCLES));
  assert.equal(report.totalTests, EXPECTED_ROWS.length - 2);
  const { random_excursions, random_excursions_variant } = reasons(report);
  assert.match(random_excursions, /^too few cycles: J = \d+, needs at least 500$/);
  assert.equal(random_excursions_variant, random_excursions);
});

test('applies each test from its minimum length, and not one bit below it', () => {
  for (const minimum of new Set(Object.values(EXPECTED).map(([bits]) => bits))) {
    for (const n of [minimum - 1, minimum]) {
      const only = n < 50_000 ? sts.TEST_NAMES : WITHOUT_DFT;
      const report = sts.runSuite(SOUND.subarray(0, n), { only });
      assert.equal(report.tests.length, only.length);
      for (const { name, ...outcome } of report.tests) {
        if (outcome.applicable) assert.ok(n >= EXPECTED[name][0], `${name} ran on ${n} bits`);
        else if (outcome.reason.startsWith('needs')) {
          assert.ok(n < EXPECTED[name][0], `${name} did not run on ${n} bits`);
        }
      }
    }
  }
});

test('names the bits that a test needs and the bits that exist', () => {
  const { linear_complexity } = reasons(
    sts.runSuite(soundBits(999_999), { only: ['linear_complexity'] }),
  );
  assert.equal(linear_complexity, 'needs at least 1,000,000 bits, got 999,999');
});

test('applies no test to an empty sequence', () => {
  const report = sts.runSuite(new Uint8Array(0));
  assert.deepEqual([report.totalTests, report.testsPassed], [0, 0]);
});

test('passes sound streams and returns p-values within [0, 1]', () => {
  for (const report of [SOUND_REPORT, sts.runSuite(soundBits(2 ** 20, 11))]) {
    assertPValuesInRange(report);
    assert.equal(sts.gate(report).verdict, 'PASS');
    assert.ok(sts.score(report) >= 80, `score ${sts.score(report)}`);
  }
});

for (const [name, generate] of Object.entries(STRUCTURED_BITS)) {
  test(`fails ${name} without a NaN, for even and odd lengths`, () => {
    // test/slow/lab/suite.test.ts has an odd length at which all tests apply.
    for (const n of [2 ** 20, 10_007]) assertFails(sts.runSuite(generate(n)));
  });
}

test('passes a test with a corrected p-value of at least 0.01', () => {
  // n = 10,000: p = erfc(|S_n| / (100 √2)) is 0.0102 at S_n = 257 and 0.0099 at 258.
  const frequencyPasses = (ones: number): boolean | undefined => {
    const bits = Uint8Array.from({ length: 10_000 }, (_, i) => (i < ones ? 1 : 0));
    const [outcome] = sts.runSuite(bits).tests;
    return outcome.applicable ? outcome.passed : undefined;
  };
  assert.equal(frequencyPasses(5128), true);
  assert.equal(frequencyPasses(5129), false);
});

test('fails a stream with 51 % ones', () => {
  const bits = soundBits(2 ** 20);
  const mask = soundBits(2 ** 20, 99);
  for (let i = 0; i < bits.length; i++) if (i % 50 === 0) bits[i] |= mask[i] | 1;
  assert.equal(sts.gate(sts.runSuite(bits)).verdict, 'FAIL');
});

test('reports Runs without its prerequisite as p = 0, prerequisiteMet = false, not passed', () => {
  const bits = soundBits(10_000);
  bits.fill(1, 0, 2000);
  const outcome = sts.runSuite(bits).tests.find(({ name }) => name === 'runs');
  assert.ok(outcome?.applicable);
  assert.deepEqual([outcome.pValues, outcome.prerequisiteMet, outcome.passed], [[0], false, false]);
});

test('meets the prerequisite of Runs only at |π − 1/2| below 2/√n (§2.3.4)', () => {
  // n = 400: τ = 0.1, reached by 240 ones.
  const withOnes = (ones: number): Uint8Array =>
    Uint8Array.from({ length: 400 }, (_, i) => (i < ones ? 1 : 0));
  assert.equal(sts.runs(withOnes(239)).statistics.prerequisite_met, true);
  assert.equal(sts.runs(withOnes(240)).statistics.prerequisite_met, false);
  assert.equal(sts.runs(withOnes(160)).statistics.prerequisite_met, false);
});

test('changes p-values with the constants of the NIST program in exactly three tests', () => {
  const nist = sts.runSuite(SOUND, { constants: 'nist' });
  assert.deepEqual([SOUND_REPORT.constants, nist.constants], ['exact', 'nist']);
  const changed = SOUND_REPORT.tests.filter((outcome, i) => {
    const other = nist.tests[i];
    return outcome.applicable && other.applicable && outcome.pValues[0] !== other.pValues[0];
  });
  assert.deepEqual(
    changed.map(({ name }) => name),
    ['longest_run', 'overlapping_template', 'linear_complexity'],
  );
});

test('neither changes nor keeps its input', () => {
  const bits = soundBits(2 ** 17);
  const copy = bits.slice();
  const report = sts.runSuite(bits);
  assert.deepEqual(bits, copy);
  const before = JSON.stringify(report);
  bits.fill(0);
  assert.equal(JSON.stringify(report), before);
});

test('returns plain JSON', () => {
  assert.deepEqual(JSON.parse(JSON.stringify(SOUND_REPORT)), SOUND_REPORT);
});

test('refuses anything but an array of 0 and 1', () => {
  assert.throws(() => sts.runSuite('0101' as unknown as Uint8Array), {
    name: 'TypeError',
    message: '"bits" expected Uint8Array of 0 and 1, got string',
  });
  assert.throws(() => sts.runSuite(Uint8Array.of(0, 1, 2)), {
    name: 'TypeError',
    message: '"bits" expected Uint8Array of 0 and 1, got 2 at index 2',
  });
  const constants = 'approximate' as 'exact';
  assert.throws(() => sts.runSuite(new Uint8Array(8), { constants }), RangeError);
});

test('single tests refuse parameters outside their range', () => {
  const bits = soundBits(4096);
  const refused: readonly (() => unknown)[] = [
    () => sts.frequency(new Uint8Array(0)),
    () => sts.blockFrequency(bits, { M: 0 }),
    () => sts.blockFrequency(bits, { M: 5000 }),
    () => sts.longestRun(bits, { M: 9 }),
    () => sts.longestRun(bits.subarray(0, 127)),
    () => sts.rank(bits, { M: 33 }),
    () => sts.dft(bits.subarray(0, 1)),
    () => sts.nonOverlappingTemplate(bits, { m: 3, templates: ['0011'] }),
    () => sts.nonOverlappingTemplate(bits, { m: 3, templates: ['0x1'] }),
    () => sts.aperiodicTemplates(22),
    () => sts.overlappingTemplate(bits, { m: 8, M: 1032 }),
    () => sts.universal(bits.subarray(0, 3845)),
    () => sts.universal(bits, { L: 17 }),
    () => sts.approximateEntropy(bits, { m: 0 }),
    () => sts.serial(bits, { m: 1.5 }),
    () => sts.linearComplexity(bits, { M: 3 }),
  ];
  for (const call of refused) assert.throws(call, RangeError, call.toString());
});

const shortSequence = fc
  .array(fc.integer({ min: 0, max: 1 }), { minLength: 1000, maxLength: 3000, size: 'max' })
  .map((bits) => Uint8Array.from(bits));

const complement = (bits: Uint8Array): Uint8Array => bits.map((bit) => 1 - bit);

test('complementing the bits keeps the p-values that treat 0 and 1 alike', () => {
  fc.assert(
    fc.property(shortSequence, (bits) => {
      const flipped = complement(bits);
      for (const run of [sts.frequency, sts.blockFrequency, sts.cumulativeSums, sts.runs]) {
        assert.deepEqual(run(flipped).pValues, run(bits).pValues, run.name);
      }
      const [serial, flippedSerial] = [bits, flipped].map((b) => sts.serial(b, { m: 5 }).pValues);
      assert.deepEqual(flippedSerial, serial);
      const N_1 = [bits, flipped].map((b) => sts.dft(b).statistics.N_1);
      assert.equal(N_1[0], N_1[1]);
    }),
  );
});

test('complementing the bits mirrors the states of the excursions tests', () => {
  fc.assert(
    fc.property(shortSequence, (bits) => {
      for (const run of [sts.randomExcursions, sts.randomExcursionsVariant]) {
        assert.deepEqual(run(complement(bits)).pValues, run(bits).pValues.toReversed(), run.name);
      }
    }),
  );
});

test('reversing the bits exchanges the two cumulative sums and keeps runs and spectrum', () => {
  fc.assert(
    fc.property(shortSequence, (bits) => {
      const reversed = bits.toReversed();
      const [forward, backward] = sts.cumulativeSums(bits).pValues;
      assert.deepEqual(sts.cumulativeSums(reversed).pValues, [backward, forward]);
      assert.deepEqual(sts.runs(reversed), sts.runs(bits));
      assert.equal(sts.dft(reversed).statistics.N_1, sts.dft(bits).statistics.N_1);
    }),
  );
});

test('rotating the bits keeps the tests on a ring', () => {
  fc.assert(
    fc.property(shortSequence, fc.integer({ min: 1, max: 999 }), (bits, shift) => {
      const rotated = Uint8Array.of(...bits.subarray(shift), ...bits.subarray(0, shift));
      assert.deepEqual(sts.serial(rotated, { m: 4 }), sts.serial(bits, { m: 4 }));
      const parameters = { m: 3 };
      assert.deepEqual(
        sts.approximateEntropy(rotated, parameters),
        sts.approximateEntropy(bits, parameters),
      );
    }),
  );
});

test('permuting whole blocks keeps block frequency, longest run and rank', () => {
  fc.assert(
    fc.property(shortSequence, (bits) => {
      const whole = bits.subarray(0, bits.length - (bits.length % 128));
      const half = 128 * Math.floor(whole.length / 256);
      const swapped = Uint8Array.of(...whole.subarray(half), ...whole.subarray(0, half));
      assert.deepEqual(sts.blockFrequency(swapped), sts.blockFrequency(whole));
      assert.deepEqual(sts.longestRun(swapped, { M: 8 }), sts.longestRun(whole, { M: 8 }));
      assert.deepEqual(sts.rank(swapped, { M: 8 }), sts.rank(whole, { M: 8 }));
    }),
  );
});

test('the approximate entropy statistic equals 2n (ln 2 − ApEn) of §2.12.4 (6)', () => {
  fc.assert(
    fc.property(shortSequence, fc.integer({ min: 1, max: 6 }), (bits, m) => {
      const { apen, chi2 } = sts.approximateEntropy(bits, { m }).statistics;
      const printed = 2 * bits.length * (Math.LN2 - Number(apen));
      assert.ok(Math.abs(Number(chi2) - printed) < 1e-8, `${chi2}, expected ${printed}`);
    }),
  );
});
