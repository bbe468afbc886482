import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ALPHA,
  complianceLevel,
  GATE_ALPHA,
  gate,
  grade,
  runSuite,
  type SuiteReport,
  score,
  type TestName,
  type TestOutcome,
  testLevelP,
} from '#sp800-22';

function outcome(name: TestName, pValues: number[], prerequisiteMet = true): TestOutcome {
  const passed = testLevelP(pValues) >= ALPHA;
  return { name, applicable: true, pValues, statistics: {}, passed, prerequisiteMet };
}

function report(...tests: TestOutcome[]): SuiteReport {
  const applicable = tests.filter((entry) => entry.applicable);
  const testsPassed = applicable.filter(({ passed }) => passed).length;
  const totalTests = applicable.length;
  return { bits: 1, constants: 'exact', parameters: {}, tests, testsPassed, totalTests };
}

function counts(testsPassed: number, totalTests: number): SuiteReport {
  return { bits: 1, constants: 'exact', parameters: {}, tests: [], testsPassed, totalTests };
}

const close = (actual: number, expected: number): void =>
  assert.ok(Math.abs(actual / expected - 1) < 1e-12, `${actual}, expected ${expected}`);

test('corrects the smallest of m p-values to 1 − (1 − p)^m (Šidák)', () => {
  close(testLevelP([0.25]), 0.25);
  close(testLevelP([0.9, 0.5, 0.1]), 1 - 0.9 ** 3);
  assert.equal(testLevelP([1, 1]), 1);
});

test('keeps the digits of tiny p-values, and leaves 0 at 0', () => {
  close(testLevelP([1e-300, 0.5]), 2e-300);
  close(testLevelP(new Array(148).fill(1e-20)), 148e-20);
  assert.ok(Object.is(testLevelP([0, 1]), 0));
});

test('refuses to judge a test without p-values', () => {
  assert.throws(() => testLevelP([]), RangeError);
});

test('refuses invalid p-values, so that no verdict depends on them', () => {
  for (const p of [Number.NaN, -1e-18, 1 + 2e-16]) {
    assert.throws(() => testLevelP([0.5, p]), RangeError);
  }
});

test('fails a regular sequence despite one test with a perfect p-value', () => {
  // 1,792 bits 0101… with the first flipped: χ² of block frequency is nearly 0.
  const bits = Uint8Array.from({ length: 1792 }, (_, i) => (i === 0 ? 1 : i & 1));
  const judged = runSuite(bits);
  const blocks = judged.tests.find(({ name }) => name === 'block_frequency');
  assert.ok(blocks?.applicable && blocks.passed && blocks.pValues[0] <= 1);
  assert.equal(gate(judged).verdict, 'FAIL');
});

test('multiplies the smallest test-level p by the number of tests, up to 1', () => {
  const three = report(
    outcome('frequency', [0.01]),
    outcome('serial', [0.3, 0.4]),
    outcome('rank', [0.9]),
  );
  assert.deepEqual(gate(three), {
    p: 0.03,
    verdict: 'PASS',
    tests: 3,
    weakest: { report: 0, test: 'frequency' },
  });
  assert.equal(gate(report(outcome('frequency', [0.6]), outcome('rank', [0.7]))).p, 1);
});

test('counts the tests of all reports together, and names the weakest and its report', () => {
  const first = report(outcome('rank', [0.4]), outcome('dft', [0.3]));
  const second = report(outcome('runs', [0.01]), outcome('longest_run', [0.2]));
  assert.deepEqual(gate(first, second), {
    p: 0.04,
    verdict: 'PASS',
    tests: 4,
    weakest: { report: 1, test: 'runs' },
  });
  const broken = report(outcome('runs', [1e-9]));
  for (const reports of [
    [first, broken],
    [broken, first],
  ]) {
    assert.equal(gate(...reports).verdict, 'FAIL');
  }
});

test('fails below 1e-6 and passes at it', () => {
  assert.equal(gate(report(outcome('rank', [GATE_ALPHA]))).verdict, 'PASS');
  assert.equal(gate(report(outcome('rank', [0.99e-6]))).verdict, 'FAIL');
  const two = report(outcome('rank', [0.6e-6]), outcome('dft', [0.5]));
  assert.equal(gate(two).verdict, 'PASS');
});

test('excludes both excursions tests and Runs without its prerequisite from the gate', () => {
  const sound = report(
    outcome('frequency', [0.5]),
    outcome('runs', [0], false),
    outcome('random_excursions', [0]),
    outcome('random_excursions_variant', [0]),
    { name: 'universal', applicable: false, reason: 'too short' },
  );
  const { p, tests } = gate(sound);
  assert.deepEqual([p, tests], [0.5, 1]);
  assert.equal(gate(report(outcome('runs', [0]))).verdict, 'FAIL');
});

test('never passes a report in which no test enters the gate', () => {
  assert.throws(() => gate(report()), RangeError);
  assert.throws(() => gate(report(outcome('random_excursions', [0.5]))), RangeError);
});

test('labels a report by all tests passed, some below α, or gate failed', () => {
  const pass = { verdict: 'PASS' } as const;
  assert.equal(complianceLevel(counts(15, 15), pass), 'CERTIFICATION_READY');
  assert.equal(complianceLevel(counts(14, 15), pass), 'REVIEW');
  assert.equal(complianceLevel(counts(15, 15), { verdict: 'FAIL' }), 'NON_COMPLIANT');
});

test('scores the share of passed tests in whole percent', () => {
  const scores = [counts(15, 15), counts(14, 15), counts(12, 13), counts(0, 13), counts(0, 0)];
  assert.deepEqual(scores.map(score), [100, 93, 92, 0, 0]);
});

test('grades A from 92, B from 80, C from 67, D from 50, else F', () => {
  const grades = [100, 92, 91, 80, 79, 67, 66, 50, 49, 0].map(grade);
  assert.equal(grades.join(''), 'AABBCCDDFF');
});
