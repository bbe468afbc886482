/** The digest of the evidence in a statement can be computed from the report that the client got, and nothing else. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { toNistReport } from '../../src/http/wire/nist-report.ts';
import { EVIDENCE_TESTS, evidenceLabels } from '../../src/keys/evidence-suite.ts';
import { generateKey } from '../../src/keys/generate.ts';
import type { KeyOrder } from '../../src/keys/order.ts';
import { packPValues } from '../../src/keys/p-values.ts';
import { evidenceDigest } from '../../src/keys/statement.ts';
import { fakeGenerator, keyring, order, RecordingDrbg } from '../support/servers/fakes.ts';

interface Report {
  evidence_definition: number;
  gate: { p_value: number; verdict: string };
  tests: ReportedTest[];
  modulation_tests: ReportedTest[];
}

interface ReportedTest {
  name: string;
  applicable: boolean;
  p_values: number[];
}

/** P-values of the tests that have several, as `evidenceDigest` documents them. */
const SEVERAL: Record<string, number> = {
  cumulative_sums: 2,
  serial: 2,
  non_overlapping_template: 148,
  random_excursions: 8,
  random_excursions_variant: 18,
};

/** Computes the digest by the recipe of `evidenceDigest`, with nothing of src/. */
function digestOfReport(json: string): string {
  const report: Report = JSON.parse(json);
  const quick = ['frequency', 'block_frequency', 'runs', 'longest_run'].map((name) =>
    report.modulation_tests.find((test) => test.name === name),
  );
  const words = [
    ...report.tests.flatMap((test) => wordsOf(test.name, test)),
    ...quick.flatMap((test) => wordsOf('', test)),
  ];
  const packed = Buffer.concat(
    words.map((word) => {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32LE(word);
      return bytes;
    }),
  );
  assert.equal(packed.length, 768);
  const { p_value, verdict } = report.gate;
  const text =
    `{"definition":${report.evidence_definition},"gate_p_value":${JSON.stringify(p_value)},` +
    `"p_values":"${packed.toString('base64')}","verdict":"${verdict}"}`;
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

function wordsOf(name: string, test: ReportedTest | undefined): number[] {
  if (!test?.applicable) return new Array(SEVERAL[name] ?? 1).fill(0xffff_ffff);
  return test.p_values.map((p) => {
    const units = Math.floor(p * 1e9);
    return units / 1e9 > p ? units - 1 : units;
  });
}

function generate(changes: Partial<KeyOrder>, drbg = new RecordingDrbg()) {
  const wish = order({ withEvidence: true, report: true, ...changes });
  const tally = { streams: 0, streamsPassed: 0 };
  const { report, evidence } = generateKey(fakeGenerator(drbg), keyring, wish, tally);
  assert.ok(report && evidence);
  return { report, evidence };
}

describe('the digest of the evidence', () => {
  it('follows from a nist_report alone', () => {
    for (const modulation of ['phase', 'none'] as const) {
      let inapplicable = 0;
      // Other bits, so other streams; the excursions tests do not apply to four in ten.
      for (let mask = 0; mask < 4 || (inapplicable === 0 && mask < 30); mask++) {
        const drbg = new RecordingDrbg((output, reseeds) => {
          for (let i = 0; i < output.length; i += 1 + mask) output[i] ^= mask * reseeds;
        });
        const { report, evidence } = generate({ modulation }, drbg);
        const told = toNistReport(report);
        assert.equal(digestOfReport(JSON.stringify(told)), evidenceDigest(evidence));
        inapplicable += told.tests.filter(({ applicable }) => !applicable).length;
      }
      assert.ok(inapplicable > 0, 'a report has a test that does not apply');
    }
  });

  it('changes if a p-value, the verdict or the definition in the report changes', () => {
    const { report, evidence } = generate({});
    const told = toNistReport(report);
    const [first, ...rest] = told.tests;
    assert.ok(first);
    const other = { ...first, p_values: first.p_values.map((p) => p / 2) };
    for (const altered of [
      { ...told, tests: [other, ...rest] },
      { ...told, gate: { ...told.gate, p_value: told.gate.p_value / 2 } },
      { ...told, gate: { ...told.gate, verdict: 'FAIL' } },
      { ...told, evidence_definition: told.evidence_definition + 1 },
    ]) {
      assert.notEqual(digestOfReport(JSON.stringify(altered)), evidenceDigest(evidence));
    }
  });

  it('rests on the documented numbers of p-values', () => {
    assert.deepEqual(
      Object.fromEntries(EVIDENCE_TESTS.map((name) => [name, evidenceLabels(name).length])),
      Object.fromEntries(EVIDENCE_TESTS.map((name) => [name, SEVERAL[name] ?? 1])),
    );
    const none = { carrier: { tests: [] }, modulated: { tests: [] } };
    assert.equal(packPValues(none).length, 768);
  });
});
