/** Steps, lengths and rates of `GET /api/v2/metrics/series`, with a clock that the test sets. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { newApiKey } from '../../../src/accounts/index.ts';
import type { PeriodSums, SeriesQuery } from '../../../src/ledger/index.ts';
import { buildTestApp, standInService } from '../../support/servers/app.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const QUIET: PeriodSums = {
  keys: 0,
  latencyUs: 0,
  streams: 0,
  streamsPassed: 0,
  metered: 0,
  failures: 0,
  latencies: [],
};

describe('the series of an account', () => {
  let app: FastifyInstance;
  let nowMs = Date.UTC(2026, 10, 21, 12, 34, 56, 789);
  let asked: SeriesQuery;
  let sums: PeriodSums = QUIET;

  before(async () => {
    const series = async (query: SeriesQuery) => {
      asked = query;
      return Array.from({ length: query.steps }, () => sums);
    };
    app = await buildTestApp({
      service: standInService('research', { series }),
      clock: { nowMs: () => nowMs },
      rateLimits: false,
    });
  });
  after(() => app.close());

  async function ask(query: string) {
    const headers = { 'x-api-key': newApiKey('live'), host: 'localhost' };
    const answer = await app.inject({
      method: 'GET',
      url: `/api/v2/metrics/series${query}`,
      headers,
    });
    return { status: answer.statusCode, body: answer.json() };
  }

  it('has steps at multiples of UTC that cover the whole period', async () => {
    const expected = [
      ['', 5, '2026-11-20T12:30', '2026-11-21T12:30', 289],
      ['?hours=1', 1, '2026-11-21T11:34', '2026-11-21T12:34', 61],
      ['?hours=1&step=15', 15, '2026-11-21T11:30', '2026-11-21T12:30', 5],
      ['?hours=1&step=60', 60, '2026-11-21T11:00', '2026-11-21T12:00', 2],
      ['?hours=1&step=360', 360, '2026-11-21T06:00', '2026-11-21T12:00', 2],
      ['?hours=13&step=1440', 1_440, '2026-11-20T00:00', '2026-11-21T00:00', 2],
      ['?hours=8760&step=360', 360, '2025-11-21T12:00', '2026-11-21T12:00', 1_461],
    ] as const;
    for (const [query, step, start, last, count] of expected) {
      const { status, body } = await ask(query);
      assert.equal(status, 200, query);
      const { step_minutes, points, ...period } = body.series;
      assert.deepEqual([step_minutes, points.length], [step, count], query);
      assert.equal(period.start, `${start}:00.000+00:00`, query);
      assert.equal(period.end, '2026-11-21T12:34:56.789+00:00');
      assert.equal(points[0].start, period.start);
      assert.equal(points.at(-1).start, `${last}:00.000+00:00`, query);
      assert.deepEqual(asked, {
        accountId: 'acct',
        startMs: Date.parse(period.start),
        stepMinutes: step,
        steps: count,
      });
    }
  });

  it('chooses the smallest step with at most 300 points, and allows at most 1,500', async () => {
    const steps = [1, 5, 15, 60, 360, 1_440];
    for (const hours of [1, 4, 5, 24, 25, 74, 75, 299, 300, 1_794, 1_795, 7_176, 7_177, 8_760]) {
      // The same at any time of day.
      for (const offset of [0, 1, HOUR_MS - 1, 13 * HOUR_MS]) {
        nowMs = Date.UTC(2026, 10, 21) + offset;
        const { series } = (await ask(`?hours=${hours}`)).body;
        const before = steps[steps.indexOf(series.step_minutes) - 1];
        assert.ok(series.points.length <= 300 || series.step_minutes === 1_440, `${hours}`);
        if (before) assert.ok((hours * 60) / before + 1 > 300, `${hours}: ${series.step_minutes}`);
        for (const step of steps) {
          const { status, body } = await ask(`?hours=${hours}&step=${step}`);
          const most = (one: number) => Math.ceil((hours * 60) / one) + 1;
          assert.equal(status, most(step) <= 1_500 ? 200 : 400, `${hours} ${step}`);
          if (status === 200) continue;
          const fits = steps.find((one) => most(one) <= 1_500);
          assert.deepEqual(body.errors, [
            {
              pointer: '?step',
              message: `must be at least ${fits} for ${hours} hours, because a response has at most 1500 steps; got ${step}`,
            },
          ]);
        }
      }
    }
  });

  it('divides by the length of each step, and for the last by the elapsed time', async () => {
    sums = { ...QUIET, keys: 300, latencyUs: 300_000, metered: 310, latencies: [300] };
    const rates = async (atMs: number, query: string) => {
      nowMs = Date.UTC(2026, 10, 21, 12) + atMs;
      const { points } = (await ask(query)).body.series;
      const perSecond = points.map((point: { keys_per_second: number }) => point.keys_per_second);
      return [perSecond[0], perSecond.at(-1)];
    };
    assert.deepEqual(await rates(0, '?hours=1&step=5'), [1, 300]);
    assert.deepEqual(await rates(500, '?hours=1&step=5'), [1, 300]);
    assert.deepEqual(await rates(30_000, '?hours=1&step=5'), [1, 10]);
    assert.deepEqual(await rates(5 * MINUTE_MS - 1, '?hours=1&step=1'), [5, 300_000 / 59_999]);
  });

  it('contains null where there is no divisor or a latency is unknown', async () => {
    const first = async () => (await ask('?hours=1')).body.series.points[0];
    sums = QUIET;
    const quiet = await first();
    assert.deepEqual(
      [quiet.keys, quiet.requests, quiet.streams, quiet.failures, quiet.keys_per_second],
      [0, 0, 0, 0, 0],
    );
    assert.deepEqual(
      [quiet.latency_ms, quiet.nist_compliance_rate, quiet.error_rate],
      [null, null, null],
    );
    sums = { ...QUIET, keys: 3, latencyUs: 4_000, latencies: null, failures: 1, streams: 4 };
    const busy = await first();
    assert.deepEqual(busy.latency_ms, { mean: 1.333, p50: null, p90: null, p99: null });
    assert.deepEqual([busy.nist_compliance_rate, busy.error_rate], [0, 0.25]);
    sums = { ...QUIET, failures: 2, streams: 4, streamsPassed: 1 };
    const failing = await first();
    assert.deepEqual(
      [failing.latency_ms, failing.nist_compliance_rate, failing.error_rate],
      [null, 0.25, 1],
    );
  });

  it('rejects an invalid parameter with a message that names the fix', async () => {
    nowMs = Date.UTC(2026, 10, 21, 12);
    const digits = ['', '0', '-1', '1.5', '1e3', '+1', '%201', '0x10', '01', '9'.repeat(20), '٣'];
    const wrong: [string, string][] = [
      ...digits.map((text): [string, string] => ['hours', `hours=${text}`]),
      ['hours', 'hours=8761'],
      ['hours', 'hours=1&hours=1'],
      ...digits.map((text): [string, string] => ['step', `step=${text}`]),
      ['step', 'step=2'],
      ['step', 'step=1441'],
      ['step', 'step=5&step=5'],
    ];
    for (const [name, query] of wrong) {
      const { status, body } = await ask(`?${query}`);
      assert.deepEqual([status, body.code], [400, 'invalid_request'], query);
      assert.equal(body.errors[0].pointer, `?${name}`, query);
      assert.match(body.errors[0].message, /in decimal digits, given once/);
    }
    for (const query of ['?other=1', '?step=60', '?hours=8760']) {
      assert.equal((await ask(query)).status, 200, query);
    }
  });

  it('counts against the rate limit of the API key, as metrics does', async () => {
    const series = async ({ steps }: SeriesQuery) => Array.from({ length: steps }, () => QUIET);
    const randomness = async () => ({ keys: 0, firstMs: null, lastMs: null, rows: [] });
    const limited = await buildTestApp({
      service: standInService('research', { series, randomness }),
    });
    const headers = { 'x-api-key': newApiKey('live'), host: 'localhost' };
    const statuses: number[] = [];
    for (let i = 0; i < 60; i++) {
      const url = `/api/v2/metrics/${i % 2 ? 'series?hours=1' : 'randomness'}`;
      const { statusCode, headers: told } = await limited.inject({ method: 'GET', url, headers });
      statuses.push(statusCode);
      assert.equal(told['x-ratelimit-limit'], '20');
      assert.equal(told['cache-control'], 'no-store');
    }
    assert.deepEqual(new Set(statuses), new Set([200, 429]));
    await limited.close();
  });
});
