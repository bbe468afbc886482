/** Sequences with a structure that the suite must find, and assertions on their reports. */
import assert from 'node:assert/strict';
import * as sts from '#sp800-22';

/** Returns the bits of the integers 0, 1, 2, …, 16 bits each. */
const counter = (n: number): Uint8Array =>
  Uint8Array.from({ length: n }, (_, i) => ((i >>> 4) >>> (15 - (i & 15))) & 1);

/** Functions that return `n` bits, one per element. */
export const STRUCTURED_BITS: Readonly<Record<string, (n: number) => Uint8Array>> = {
  'all zeros': (n) => new Uint8Array(n),
  'all ones': (n) => new Uint8Array(n).fill(1),
  alternating: (n) => Uint8Array.from({ length: n }, (_, i) => i & 1),
  'period 7 (a maximal-length register)': (n) =>
    Uint8Array.from({ length: n }, (_, i) => Number('0010111'[i % 7])),
  'one half zeros, one half ones': (n) =>
    Uint8Array.from({ length: n }, (_, i) => (2 * i < n ? 0 : 1)),
  'a 16-bit counter': counter,
  'a single one': (n) => Uint8Array.from({ length: n }, (_, i) => (i === n >>> 1 ? 1 : 0)),
};

/** Asserts that each p-value is within [0, 1], and that each statistic is a number. */
export function assertPValuesInRange(report: sts.SuiteReport): void {
  for (const outcome of report.tests) {
    if (!outcome.applicable) continue;
    assert.ok(outcome.pValues.length > 0);
    for (const p of outcome.pValues) assert.ok(p >= 0 && p <= 1, `${outcome.name}: ${p}`);
    for (const figure of Object.values(outcome.statistics).flat()) {
      assert.ok(
        typeof figure === 'boolean' || Number.isFinite(figure),
        `${outcome.name}: ${figure}`,
      );
    }
  }
}

/** Asserts that the sequence fails, with valid p-values. */
export function assertFails(report: sts.SuiteReport): void {
  assertPValuesInRange(report);
  const verdict = sts.gate(report);
  assert.equal(verdict.verdict, 'FAIL');
  assert.equal(sts.complianceLevel(report, verdict), 'NON_COMPLIANT');
}
