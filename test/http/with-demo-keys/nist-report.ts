/** `include: ["nist_report"]` on a real listening server. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { before, describe, it } from 'node:test';
import { grade } from '#sp800-22';
import type { NistReportBody } from '../../../src/http/wire/nist-report.ts';
import { EVIDENCE_TESTS, evidenceLabels } from '../../../src/keys/evidence-suite.ts';
import { formatKeyId } from '../../../src/keys/key-id.ts';
import type { Answer } from '../../support/servers/server.ts';
import { dataDir, server } from '../../support/servers/shared-server.ts';
import { answersOf, NamedBodies } from '../../support/texts/document.ts';

// Seven samples, because two in five have too few cycles; each test uses those that it needs.
const answers: Answer[] = [];

const FULL = { security_level: 256, enable_nist_validation: true, include: ['nist_report'] };
const UNMODULATED = { ...FULL, modulation_type: 'none' };
const QUANTUM = { ...FULL, security_level: 384, entropy_source: 'quantum-simulator' };

const reportOf = ({ status, body }: Answer): NistReportBody => {
  assert.equal(status, 200, JSON.stringify(body));
  return body.nist_report;
};

/** The test-level p-value (docs/statistical-tests.md): 1 − (1 − p_min)^m. */
const corrected = (pValues: readonly number[]) =>
  -Math.expm1(pValues.length * Math.log1p(-Math.min(...pValues)));

describe('nist_report', () => {
  before(async () => {
    for (const body of [FULL, QUANTUM, FULL, QUANTUM, FULL, QUANTUM, UNMODULATED]) {
      answers.push(await server.generate(body));
    }
  });

  it('is the last field, after the summary of the evidence', () => {
    for (const { body } of answers) {
      assert.deepEqual(Object.keys(body).slice(-4), [
        'nist_validation',
        'nist_score',
        'nist_grade',
        'nist_report',
      ]);
    }
  });

  it('contains n, the constants, the levels and all 15 tests', () => {
    for (const report of answers.map(reportOf)) {
      assert.equal(report.bits, 2 ** 20);
      assert.equal(report.constants, 'exact');
      assert.deepEqual([report.alpha, report.gate.alpha], [0.01, 1e-6]);
      assert.deepEqual(
        report.tests.map(({ name }) => name),
        [...EVIDENCE_TESTS],
      );
    }
  });

  it('contains the suite’s 188 p-values on the carrier, each with a unique name', () => {
    const excursions = ['random_excursions', 'random_excursions_variant'];
    for (const report of answers.map(reportOf)) {
      const names: string[] = [];
      for (const { name, stream, applicable, reason, labels, p_values } of report.tests) {
        assert.equal(stream, 'carrier');
        assert.ok(
          applicable || (excursions.includes(name) && reason?.startsWith('too few cycles')),
        );
        assert.deepEqual(labels, applicable ? evidenceLabels(name) : []);
        assert.equal(p_values.length, labels.length);
        assert.ok(p_values.every((p) => p >= 0 && p <= 1));
        names.push(...labels.map((label) => `${name} ${label}`));
      }
      assert.equal(new Set(names).size, names.length);
      assert.equal(names.length, report.total_tests === 15 ? 188 : 162);
    }
  });

  it('contains four tests on the modulated stream, and none without modulation', () => {
    const unmodulated = reportOf(answers.at(-1) as Answer);
    assert.deepEqual(unmodulated.modulation_tests, []);
    for (const report of answers.slice(0, -1).map(reportOf)) {
      assert.deepEqual(
        report.modulation_tests.map(({ name, stream, applicable }) => [name, stream, applicable]),
        ['frequency', 'block_frequency', 'runs', 'longest_run'].map((name) => [
          name,
          'modulated',
          true,
        ]),
      );
      // All four, because the p-value of one is the same on two sequences once in a thousand times.
      const [onCarrier, onModulated] = [report.tests, report.modulation_tests].map((tests) =>
        tests.slice(0, 4).map(({ name, p_values }) => [name, p_values]),
      );
      assert.notDeepEqual(onModulated, onCarrier);
    }
  });

  it('adds up to the verdict of the answer', () => {
    for (const answer of answers) {
      const { tests, modulation_tests, tests_passed, total_tests, alpha, gate } = reportOf(answer);
      const applied = tests.filter(({ applicable }) => applicable);
      for (const { name, p_values, corrected_p, passed } of applied) {
        assert.equal(corrected_p, corrected(p_values), name);
        assert.equal(passed, corrected(p_values) >= alpha, name);
      }
      assert.equal(total_tests, applied.length);
      assert.equal(tests_passed, applied.filter(({ passed }) => passed).length);
      // The excursions tests, and runs without its prerequisite, do not enter the gate.
      const entered = [...applied, ...modulation_tests].filter(
        ({ name, statistics }) =>
          !name.startsWith('random_excursions') && statistics.prerequisite_met !== false,
      );
      const smallest = Math.min(...entered.map(({ p_values }) => corrected(p_values)));
      assert.equal(gate.p_value, Math.min(1, entered.length * smallest));
      assert.equal(gate.tests, entered.length);
      const { stream, name } = gate.weakest;
      const weakest = entered.find((test) => test.stream === stream && test.name === name);
      assert.equal(weakest?.corrected_p, smallest);
      assert.equal(gate.verdict, 'PASS');
      // A second stream if the first failed, as a few sound streams in a million do.
      assert.ok([1, 2].includes(gate.streams_judged));
      const score = Math.round((100 * tests_passed) / total_tests);
      const { nist_validation: summary, nist_score, nist_grade } = answer.body;
      assert.deepEqual([summary.tests_passed, summary.total_tests], [tests_passed, total_tests]);
      assert.equal(summary.certification_status, gate.verdict);
      assert.deepEqual([nist_score, nist_grade], [score, grade(score)]);
    }
  });

  it('contains the parameters of each test and the constants behind its p-value', () => {
    const { tests } = reportOf(answers[0] as Answer);
    const of = (name: string) => tests.find((test) => test.name === name)?.parameters ?? {};
    assert.deepEqual(of('block_frequency'), { M: 128, N: 8192 });
    assert.deepEqual(of('non_overlapping_template'), { m: 9, M: 131_072, N: 8 });
    assert.deepEqual([of('serial'), of('approximate_entropy')], [{ m: 16 }, { m: 10 }]);
    assert.deepEqual([of('universal').L, of('universal').Q], [7, 1280]);
    assert.deepEqual([of('linear_complexity').M, of('rank').M, of('rank').Q], [500, 32, 32]);
    assert.equal((of('longest_run').pi as number[])[0], 0.08663231107995278);
  });

  it('covers one sample only: no two answers share a report', () => {
    const all = answers.map((answer) => JSON.stringify(reportOf(answer).tests));
    assert.equal(new Set(all).size, answers.length);
  });

  it('contains neither the key nor any part of the sample', () => {
    for (const answer of answers) {
      const text = JSON.stringify(reportOf(answer));
      assert.ok(!text.includes(answer.body.key));
      // The longest list has the counts of 148 templates in 8 blocks; the sample has 131,072 bytes.
      assert.ok(text.length < 24_576, `${text.length} characters`);
      for (const { statistics } of reportOf(answer).tests) {
        for (const figure of Object.values(statistics)) {
          assert.ok(!Array.isArray(figure) || figure.length <= 148 * 8);
        }
      }
    }
  });

  it('is omitted unless the request includes it', async () => {
    for (const include of [undefined, [], ['hash_proof']]) {
      const { status, body } = await server.generate({ ...FULL, include });
      assert.deepEqual([status, body.nist_report], [200, undefined]);
    }
    const twice = await server.generate({ ...FULL, include: ['nist_report', 'nist_report'] });
    assert.equal(reportOf(twice).bits, 2 ** 20);
  });

  it('is rejected without validation, with the fix in the message', async () => {
    for (const enable_nist_validation of [undefined, false]) {
      for (const entropy_source of ['os', 'quantum-simulator']) {
        const include = ['hash_proof', 'nist_report'];
        const request = { security_level: 256, enable_nist_validation, entropy_source, include };
        const { status, body } = await server.generate(request);
        assert.deepEqual([status, body.code], [400, 'invalid_request']);
        assert.deepEqual(body.errors, [
          {
            pointer: '#/include/1',
            message: 'is nist_report, which needs "enable_nist_validation": true',
          },
        ]);
      }
    }
  });

  it('is suggested to a caller who misspells its name', async () => {
    const { body } = await server.generate({ ...FULL, include: ['nist-report'] });
    assert.deepEqual(body.errors, [
      {
        pointer: '#/include/0',
        message: 'must be one of hash_proof, nist_report, receipt; got the string "nist-report"',
      },
    ]);
  });

  it('is not stored: the ledger holds the summary of the same verdict', () => {
    const database = new DatabaseSync(join(dataDir, 'phm.db'), { readOnly: true });
    const rows = database
      .prepare('SELECT key_id, gate_p, tests_passed, total_tests FROM ledger')
      .all();
    database.close();
    const summaries = new Map(
      rows.map(({ key_id, gate_p, tests_passed, total_tests }) => [
        formatKeyId(key_id as Uint8Array),
        [gate_p, tests_passed, total_tests],
      ]),
    );
    for (const answer of answers) {
      const { gate, tests_passed, total_tests } = reportOf(answer);
      const told = [gate.p_value, tests_passed, total_tests];
      assert.deepEqual(summaries.get(answer.body.key_id), told);
    }
  });

  it('matches its schema in the OpenAPI document, whose examples are valid', async () => {
    const document = (await server.request('/api/v2/openapi.json')).body;
    const assertAnswer = answersOf(document);
    for (const { body } of answers) assertAnswer('generate', 200, body);
    const [first] = answers as [Answer];
    const lacking = { ...first.body, nist_report: { ...reportOf(first), tests: [] } };
    assert.throws(() => assertAnswer('generate', 200, lacking), /nist_report\/tests/);
    const { examples } = document.components.schemas.NistTest;
    assert.equal(examples.length, 2);
    const bodies = new NamedBodies(document);
    const schema = { $ref: '#/components/schemas/NistTest' };
    for (const example of examples) bodies.assert(schema, example, example.name);
  });
});
