/** Series and randomness of a server, compared with the responses for the same keys. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { erfc } from '#sp800-22';
import { EVIDENCE_TESTS, evidenceLabels } from '../../../src/keys/evidence-suite.ts';
import { LATENCY_ERROR } from '../../../src/ledger/latency.ts';
import { assertCountsOwnRequests } from '../../support/clients/own-requests.ts';
import { sqliteIn } from '../../support/clients/unknown-keys.ts';
import { type Account, addAccounts } from '../../support/ledgers/books.ts';
import type { Answer } from '../../support/servers/server.ts';
import { dataDir, server } from '../../support/servers/shared-server.ts';
import { type AssertAnswer, answersOf } from '../../support/texts/document.ts';

const KEYS = 70;
const PLAIN = 30;
const FULL = { security_level: 256, enable_nist_validation: true, include: ['nist_report'] };

const MODULATION_TESTS = ['frequency', 'block_frequency', 'runs', 'longest_run'] as const;

interface Row {
  readonly stream: string;
  readonly test: string;
  readonly label: string;
  readonly samples: number;
  readonly histogram: readonly number[];
  readonly uniformity_p: number | null;
  readonly passed: number;
  readonly proportion: number | null;
  readonly proportion_min: number | null;
  readonly proportion_max: number | null;
  readonly verdict: 'pass' | 'fail' | null;
  readonly p_values?: readonly (number | null)[];
}

/** Returns Q(9/2, x) by its closed form, igamc in SP 800-22. */
function upperGamma(x: number): number {
  let sum = 0;
  let term = Math.sqrt(x / Math.PI) * 2;
  for (let k = 1; k <= 4; k++) {
    sum += term;
    term *= x / (k + 0.5);
  }
  return erfc(Math.sqrt(x)) + Math.exp(-x) * sum;
}

/** Returns P(X ≤ k) for n trials with probability 0.01. */
function binomial(k: number, n: number): number {
  let sum = 0;
  let term = 0.99 ** n;
  for (let i = 0; i <= k; i++) {
    sum += term;
    term *= ((n - i) / (i + 1)) * (0.01 / 0.99);
  }
  return sum;
}

/** Computes the expected rows from the reports alone. */
function expectedRows(answers: readonly Answer[]): Row[] {
  const judged = [
    ...EVIDENCE_TESTS.map((test) => ({ stream: 'carrier', list: 'tests', test })),
    ...MODULATION_TESTS.map((test) => ({ stream: 'modulated', list: 'modulation_tests', test })),
  ];
  const rows = judged.flatMap(({ stream, list, test }) =>
    evidenceLabels(test).map((label, i) => {
      const pValues = answers.map(({ body }) => {
        const reported = body.nist_report[list].find(({ name }: { name: string }) => name === test);
        return reported?.applicable ? (reported.p_values[i] as number) : null;
      });
      const told = pValues.filter((p) => p !== null);
      const edges = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
      const least = (edge: number) => told.filter((p) => p >= edge).length;
      const histogram = edges.map((edge, at) => least(edge) - (at < 9 ? least(edges[at + 1]) : 0));
      return {
        stream,
        test,
        label,
        samples: told.length,
        histogram,
        passed: least(0.01),
        p_values: pValues.map((p) => p && Math.floor(p * 1e9) / 1e9),
      };
    }),
  );
  const checks = 2 * rows.filter(({ samples }) => samples >= 55).length;
  return rows.map((row) => {
    const { samples: m, passed, histogram } = row;
    if (m < 55) {
      const nothing = { proportion: null, proportion_min: null, proportion_max: null };
      return { ...row, ...nothing, uniformity_p: null, verdict: null };
    }
    const chi2 = histogram.reduce((sum, F) => sum + (F - m / 10) ** 2 / (m / 10), 0);
    const uniformity_p = upperGamma(chi2 / 2);
    const width = 3 * Math.sqrt((0.01 * 0.99) / m);
    const failed = m - passed;
    const tail = Math.min(binomial(failed, m), failed === 0 ? 1 : 1 - binomial(failed - 1, m));
    const sound = Math.min(2 * tail, uniformity_p) >= 0.01 / checks;
    return {
      ...row,
      uniformity_p,
      proportion: passed / m,
      proportion_min: 0.99 - width,
      proportion_max: Math.min(1, 0.99 + width),
      verdict: sound ? 'pass' : 'fail',
    };
  });
}

function assertSameRows(actual: readonly Row[], expected: readonly Row[]): void {
  assert.equal(actual.length, expected.length);
  const close = (a: number | null, b: number | null) =>
    a === b || (a !== null && b !== null && Math.abs(a - b) < 1e-9);
  for (const [i, row] of expected.entries()) {
    const { uniformity_p, proportion_min, proportion_max, ...exact } = row;
    const found = actual[i] as Row;
    const { uniformity_p: p, proportion_min: low, proportion_max: high, ...others } = found;
    assert.deepEqual(others, exact);
    for (const pair of [
      [p, uniformity_p],
      [low, proportion_min],
      [high, proportion_max],
    ] as const) {
      assert.ok(close(...pair), `${row.test} ${row.label}: ${pair}`);
    }
  }
}

describe('the statistics of an account', () => {
  /** The account, another one, and one without keys. */
  let accounts: [Account, Account, Account];
  let assertAnswer: AssertAnswer;
  const answers: Answer[] = [];
  const plain: Answer[] = [];

  const get = (query: string, { apiKey } = accounts[0]) => server.metrics(query, apiKey);

  before(async () => {
    const plans = ['professional', 'research', 'research'];
    accounts = (await addAccounts(sqliteIn(dataDir), plans)) as typeof accounts;
    const [{ apiKey }, other] = accounts;
    for (let i = 0; i < KEYS; i++) {
      const answer = await server.generate(FULL, apiKey);
      assert.equal(answer.status, 200);
      answers.push(answer);
      // Plain keys and keys of another account do not count.
      if (i % 10 === 0) await server.generate(FULL, other.apiKey);
      if (i >= PLAIN) continue;
      plain.push(await server.generate({ security_level: 128 }, apiKey));
    }
    await server.validate({ key: 'x' }, apiKey);
    assertAnswer = answersOf((await server.request('/api/v2/openapi.json')).body);
  });

  it('contain the same p-values as the reports of the keys', async () => {
    const { status, headers, body } = await get('/randomness?include=p_values');
    assert.equal(status, 200);
    assert.equal(headers.get('content-type'), 'application/json; charset=utf-8');
    assert.equal(headers.get('cache-control'), 'no-store');
    assertAnswer('randomness', 200, body);
    const { randomness } = body;
    assert.deepEqual([randomness.keys, randomness.significance_level], [KEYS, 0.01]);
    assert.equal(randomness.rows.length, 192);
    assertSameRows(randomness.rows, expectedRows(answers));
    const times = [answers[0], answers.at(-1)].map((one) => Date.parse(one?.body.timestamp));
    for (const [i, told] of [randomness.first, randomness.last].entries()) {
      assert.ok(Math.abs(Date.parse(told) - (times[i] ?? 0)) < 60_000, told);
    }
    assert.ok(Date.parse(randomness.first) < Date.parse(randomness.last));
  });

  it('cover the requested number of latest keys', async () => {
    for (const keys of [1, 54, 55, 69]) {
      const { body } = await get(`/randomness?keys=${keys}&include=p_values`);
      assertAnswer('randomness', 200, body);
      assert.equal(body.randomness.keys, keys);
      assertSameRows(body.randomness.rows, expectedRows(answers.slice(-keys)));
    }
    const { body } = await get('/randomness?keys=1000', accounts[1]);
    assert.equal(body.randomness.keys, KEYS / 10);
    assert.ok(body.randomness.rows.every((row: Row) => row.verdict === null && !row.p_values));
  });

  it('have steps that add up to the metrics of the same period', async () => {
    // A few sound streams in a million fail the gate; then another one is judged.
    const streams = answers.reduce(
      (all, { body }) => all + body.nist_report.gate.streams_judged,
      0,
    );
    for (const hours of [1, 24, 8_760]) {
      const { series } = (await get(`/series?hours=${hours}`)).body;
      const { performance, usage } = (await get(`?hours=${hours}`)).body.metrics;
      const sum = (name: string) =>
        series.points.reduce((total: number, point: Record<string, number>) => {
          return total + (point[name] ?? Number.NaN);
        }, 0);
      assert.equal(sum('keys'), KEYS + PLAIN);
      assert.equal(sum('keys'), performance.total_keys_generated);
      assert.equal(sum('requests'), usage.total_usage);
      assert.deepEqual([sum('streams'), sum('failures')], [streams, 0]);
      assertAnswer('metricsSeries', 200, { success: true, series, timestamp: series.end });
    }
  });

  it('contain the latencies reported in the answers', async (t) => {
    const { series } = (await get('/series?hours=1&step=1440')).body;
    const all = [...answers, ...plain].map(({ body }) => body.latency_ms as number);
    const sorted = all.toSorted((a, b) => a - b);
    const points = series.points.filter(({ keys }: { keys: number }) => keys > 0);
    if (points.length > 1) return t.skip('a day of UTC has ended meanwhile: there are two steps');
    const [{ latency_ms }] = points;
    const mean = all.reduce((sum, ms) => sum + ms, 0) / all.length;
    assert.ok(Math.abs(latency_ms.mean - mean) < 0.001, `${latency_ms.mean}, not ${mean}`);
    for (const share of [50, 90, 99]) {
      const exact = sorted[Math.ceil((share * sorted.length) / 100) - 1] ?? 0;
      const ratio = latency_ms[`p${share}`] / exact;
      assert.ok(Math.max(ratio, 1 / ratio) < 1 + LATENCY_ERROR + 0.01, `p${share}: ${ratio}`);
    }
  });

  it('are not metered', async () => {
    const used = async () => (await get('')).body.metrics.usage.total_usage;
    const before = await used();
    const { headers } = await get('/series');
    await get('/randomness');
    assert.equal(await used(), before);
    assert.match(headers.get('ratelimit') ?? '', /"quota";r=99899;/);
  });

  it('follow metrics that include every request answered before', async () => {
    await assertCountsOwnRequests([server], accounts[1].apiKey);
  });

  it('contain no values for an account without keys', async () => {
    const idle = accounts[2];
    const { body } = await get('/randomness?include=p_values', idle);
    assertAnswer('randomness', 200, body);
    const { rows, ...rest } = body.randomness;
    assert.deepEqual(rest, { keys: 0, first: null, last: null, significance_level: 0.01 });
    assert.ok(rows.every(({ samples, p_values }: Row) => samples === 0 && p_values?.length === 0));
    const { series } = (await get('/series?hours=8760', idle)).body;
    assert.ok(
      series.points.every(({ latency_ms }: { latency_ms: unknown }) => latency_ms === null),
    );
  });

  it('reject invalid parameters with the fix, and requests without an API key', async () => {
    for (const [pointer, query] of [
      ...['', '0', '1001', '01', '1.5', '-1', '٣', '1&keys=1'].map((text) => [
        '?keys',
        `keys=${text}`,
      ]),
      ...['', 'p', 'P_VALUES', 'p_values,p_values', 'p_values&include=p_values'].map((text) => [
        '?include',
        `include=${text}`,
      ]),
    ]) {
      const { status, body } = await get(`/randomness?${query}`);
      assert.deepEqual([status, body.code], [400, 'invalid_request'], query);
      assert.deepEqual([body.errors.length, body.errors[0].pointer], [1, pointer]);
      assert.match(body.errors[0].message, /given once; got /);
    }
    for (const path of ['series', 'randomness']) {
      const { status, body } = await server.request(`/api/v2/metrics/${path}`);
      assert.deepEqual([status, body.code], [401, 'missing_api_key']);
      const posted = await server.post(`/api/v2/metrics/${path}`, {});
      assert.deepEqual([posted.status, posted.headers.get('allow')], [405, 'GET, HEAD']);
    }
    assert.equal((await get('/randomness?other=1')).status, 200);
  });
});
