/** Metrics count events, with label values from tables in the code, on a separate listener. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect, createServer } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { pino } from 'pino';
import { ERRORS } from '../../src/errors.ts';
import { Connections } from '../../src/http/connections.ts';
import { absentLog, StartingService } from '../../src/service/index.ts';
import { MetricsServer, openMetrics, type ServiceMetrics } from '../../src/telemetry/index.ts';
import {
  makeDashboardFolder,
  removeDashboardFolder,
} from '../support/browsers/dashboard-folder.ts';
import { SimulatedTime } from '../support/run/simulated-time.ts';
import { buildTestApp, standInService } from '../support/servers/app.ts';
import { order } from '../support/servers/fakes.ts';
import {
  DEMO_KEY,
  DEMO_PROFESSIONAL_KEY,
  makeDataDir,
  removeDataDir,
  runPhm,
  Server,
} from '../support/servers/server.ts';

const ORDER = order({ securityLevel: 384, withEvidence: true });

const NO_RESOURCES = {
  clock: { nowMs: () => 1_500 },
  certificateEndMs: null,
  folders: [],
  databaseBytes: async () => null,
};

/** The metrics of Node, with their types: alerts, dashboards and queries of operators use them. */
const NODE_METRICS = {
  process_cpu_user_seconds_total: 'counter',
  process_cpu_system_seconds_total: 'counter',
  process_cpu_seconds_total: 'counter',
  process_start_time_seconds: 'gauge',
  process_resident_memory_bytes: 'gauge',
  process_virtual_memory_bytes: 'gauge',
  process_heap_bytes: 'gauge',
  process_open_fds: 'gauge',
  process_max_fds: 'gauge',
  nodejs_eventloop_lag_seconds: 'gauge',
  nodejs_eventloop_lag_min_seconds: 'gauge',
  nodejs_eventloop_lag_max_seconds: 'gauge',
  nodejs_eventloop_lag_mean_seconds: 'gauge',
  nodejs_eventloop_lag_stddev_seconds: 'gauge',
  nodejs_eventloop_lag_p50_seconds: 'gauge',
  nodejs_eventloop_lag_p90_seconds: 'gauge',
  nodejs_eventloop_lag_p99_seconds: 'gauge',
  nodejs_active_resources: 'gauge',
  nodejs_active_handles: 'gauge',
  nodejs_active_requests: 'gauge',
  nodejs_heap_size_total_bytes: 'gauge',
  nodejs_heap_size_used_bytes: 'gauge',
  nodejs_external_memory_bytes: 'gauge',
  nodejs_heap_space_size_total_bytes: 'gauge',
  nodejs_heap_space_size_used_bytes: 'gauge',
  nodejs_heap_space_size_available_bytes: 'gauge',
  nodejs_version_info: 'gauge',
  nodejs_gc_duration_seconds: 'histogram',
};

/** Returns the value of one series, named with its labels as on the page. */
function sampleOf(page: string, series: string): number {
  const line = page.split('\n').find((one) => one.startsWith(`${series} `));
  assert.ok(line, `no ${series}`);
  return Number(line.split(' ').at(-1));
}

/** Changes the last digit of a key: the result is as random, but the service never generated it. */
function otherKey(key: string): string {
  return key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
}

describe('the metrics of a server', () => {
  const dataDir = makeDataDir();
  let server: Server;
  before(async () => {
    server = await Server.start(dataDir, { PHM_METRICS_PORT: '0' });
  });
  after(async () => {
    await server?.stop();
    removeDataDir(dataDir);
  });

  it('have their address in the log', async () => {
    assert.match(server.metricsAddress ?? '', /^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
    await server.logged(`"metrics":"${server.metricsAddress}"`);
  });

  it('include those of Node, and no others of the library', async () => {
    const types = [...(await server.scrape()).matchAll(/^# TYPE (?!phm_)(\S+) (\S+)$/gm)];
    assert.deepEqual(Object.fromEntries(types.map(([, name, type]) => [name, type])), NODE_METRICS);
  });

  it('count keys, verdicts, problems, batches and commits', async () => {
    const { body: plain } = await server.generate({ security_level: 256 }, DEMO_PROFESSIONAL_KEY);
    const order = { security_level: 128, enable_nist_validation: true };
    const { body: validated } = await server.generate(order, DEMO_PROFESSIONAL_KEY);
    await server.validate({ key: plain.key }, DEMO_PROFESSIONAL_KEY);
    await server.validate({ key: 'no key' }, DEMO_PROFESSIONAL_KEY);
    await server.validate({ key: '00'.repeat(32) }, DEMO_PROFESSIONAL_KEY);
    await server.validate({ key: otherKey(plain.key) }, DEMO_PROFESSIONAL_KEY);
    await server.generate({ security_level: 1 }, DEMO_PROFESSIONAL_KEY);
    await server.request('/hidden/path?query', { method: 'DELETE' });
    await server.generate({ security_level: 128 }, DEMO_KEY.replace('Key', 'Kez'));
    const page = await server.scrape();
    const keys = (level: number, is: boolean) =>
      `phm_keys_generated_total{security_level="${level}",source="os",modulation="phase",validated="${is}"}`;
    for (const [series, value] of [
      [keys(256, false), 1],
      [keys(128, true), 1],
      [keys(384, false), 0],
      ['phm_validations_total{verdict="valid"}', 1],
      ['phm_validations_total{verdict="malformed"}', 1],
      ['phm_validations_total{verdict="not_random"}', 1],
      ['phm_validations_total{verdict="not_recognised"}', 1],
      ['phm_streams_judged_total{result="passed"}', 1],
      ['phm_problems_total{code="invalid_request"}', 1],
      ['phm_problems_total{code="not_found"}', 1],
      ['phm_problems_total{code="invalid_api_key"}', 1],
      ['phm_problems_total{code="internal_error"}', 0],
      // The plain key, without the validated one.
      ['phm_plain_key_duration_seconds_count', 1],
      ['phm_suite_job_duration_seconds_count', 1],
      ['phm_queue_wait_seconds_count{queue="suite"}', 1],
      ['phm_queue_waiting{queue="keys"}', 0],
      ['phm_ready', 1],
      ['phm_ledger_up', 1],
      ['phm_draining', 0],
      ['phm_generator_latches_total', 0],
      ['phm_entropy_source_state{source="os",state="delivering"}', 1],
      ['phm_entropy_source_state{source="os",state="latched"}', 0],
      ['phm_ledger_info{backend="sqlite"}', 1],
    ] as const) {
      assert.equal(sampleOf(page, series), value, series);
    }
    const count = 'phm_http_request_duration_seconds_count';
    const route = '/api/v2/validate';
    assert.equal(sampleOf(page, `${count}{method="POST",route="${route}",status="2xx"}`), 4);
    assert.equal(sampleOf(page, `${count}{method="DELETE",route="unknown",status="4xx"}`), 1);
    // A key and its validation take one commit each, or fewer if requests shared a batch.
    assert.ok(sampleOf(page, 'phm_commit_duration_seconds_count{result="ok"}') >= 1);
    assert.ok(sampleOf(page, 'phm_batch_tasks_sum') >= 7);
    assert.ok(sampleOf(page, 'phm_drbg_reseeds_total') >= 4);
    for (const secret of [
      plain.key,
      plain.key_id,
      validated.key_id,
      DEMO_KEY,
      DEMO_PROFESSIONAL_KEY,
      'acct',
      'demo',
      'hidden',
    ]) {
      assert.ok(!page.includes(secret), 'the page names what belongs to a client');
    }
  });

  it('are one page for GET and HEAD only', async () => {
    const page = server.metricsAddress ?? '';
    const head = await fetch(page, { method: 'HEAD' });
    assert.equal(head.status, 200);
    assert.match(head.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
    const post = await fetch(page, { method: 'POST' });
    assert.deepEqual([post.status, post.headers.get('allow')], [405, 'GET, HEAD']);
    const root = await fetch(new URL('/', page));
    assert.equal(root.status, 404);
    assert.match(await root.text(), /\/metrics/);
    const { status } = await server.request('/metrics');
    assert.equal(status, 404, 'the service has no such page');
  });

  it('are not shown to a page whose name was pointed to this machine', async () => {
    const port = Number(new URL(server.metricsAddress ?? '').port);
    const status = (host: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const asked = request({ host: '127.0.0.1', port, path: '/metrics', headers: { host } });
        asked.on('response', (answer) => resolve(answer.resume().statusCode)).on('error', reject);
        asked.end();
      });
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`, 'LOCALHOST']) {
      assert.equal(await status(host), 200, host);
    }
    for (const host of ['evil.example', `evil.example:${port}`, 'localhost.evil.example', 'a b']) {
      assert.equal(await status(host), 421, host);
    }
  });

  it('stop with the server', async () => {
    assert.equal(await server.stop(), 0);
    await assert.rejects(server.scrape());
  });
});

describe('a metrics port in use', () => {
  it('stops the startup and says what to change', async () => {
    const dataDir = makeDataDir();
    const blocker = createServer().listen(0, '127.0.0.1');
    await new Promise((listening) => blocker.once('listening', listening));
    const { port } = blocker.address() as { port: number };
    try {
      const { code, stdout, stderr } = await runPhm(['serve', '--json'], dataDir, {
        PHM_PORT: '0',
        PHM_METRICS_PORT: String(port),
      });
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(stderr, /cannot listen for metrics .*EADDRINUSE.*another PHM_METRICS_PORT/);
    } finally {
      blocker.close();
      removeDataDir(dataDir);
    }
  });
});

describe('the metrics in this process', () => {
  const open = () => openMetrics({ sources: ['os', 'qrng'], ledgerBackend: 'postgresql' });
  /** Sums up all series of a metric. */
  const totalOf = async (metrics: ServiceMetrics, name: string) =>
    (await metrics.expose())
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
      .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);

  it('start at zero for every code, verdict, queue and source', async () => {
    const page = await (await open()).expose();
    for (const code of Object.keys(ERRORS)) {
      assert.equal(sampleOf(page, `phm_problems_total{code="${code}"}`), 0);
    }
    assert.equal(sampleOf(page, 'phm_queue_refusals_total{queue="lookups",own_share="no"}'), 0);
    const event = 'phm_entropy_source_events_total{source="qrng",kind="intermittent"}';
    assert.equal(sampleOf(page, event), 0);
  });

  it('distinguish a retired version of the master secret from a missing one', async () => {
    for (const [secret, complete, retired] of [
      ['ok', 1, 0],
      ['incomplete', 0, 0],
      ['retired', 1, 1],
    ] as const) {
      const metrics = await open();
      const ready = secret === 'ok';
      metrics.watch({
        load: () => ({ queues: [], generators: 1, reseeds: 0 }),
        readiness: () => ({
          ready,
          entropy: true,
          generator: 'ok',
          latched: null,
          ledger: true,
          ownLedger: true,
          secret,
          log: 'ok',
          sources: [],
        }),
        log: absentLog('off').status,
        clock: () => ({ against: 'database', skewMs: -1_500, doubt: null }),
        databaseHosts: ['db1:5432', '[::1]:5433'],
        databaseHost: () => '[::1]:5433',
        retentionDays: null,
        isDraining: () => false,
        connections: () => new Connections({ max: 1 }).counts,
        lostLogLines: () => 0,
        resources: NO_RESOURCES,
      });
      const page = await metrics.expose();
      assert.equal(sampleOf(page, 'phm_master_secret_complete'), complete, secret);
      assert.equal(sampleOf(page, 'phm_master_secret_retired'), retired, secret);
      assert.equal(sampleOf(page, 'phm_ledger_up'), 1, secret);
      assert.equal(sampleOf(page, 'phm_database_host{host="db1:5432"}'), 0);
      assert.equal(sampleOf(page, 'phm_database_host{host="[::1]:5433"}'), 1);
      assert.equal(sampleOf(page, 'phm_clock_skew_seconds'), -1.5);
      assert.equal(sampleOf(page, 'phm_clock_believed'), 1);
    }
  });

  it('omit the clock until it was compared with the ledger', async () => {
    const metrics = await open();
    const starting = new StartingService();
    metrics.watch({
      load: starting.load,
      readiness: starting.checkReadiness,
      log: () => starting.log.status(),
      clock: starting.clockReading,
      databaseHosts: [],
      databaseHost: starting.databaseHost,
      retentionDays: null,
      isDraining: () => false,
      connections: () => new Connections({ max: 1 }).counts,
      lostLogLines: () => 0,
      resources: NO_RESOURCES,
    });
    const page = await metrics.expose();
    assert.equal(sampleOf(page, 'phm_ready'), 0);
    assert.doesNotMatch(page, /^phm_clock_(?:skew|believed)/m);
    assert.equal(sampleOf(page, 'phm_log_stopped'), 0);
    assert.equal(sampleOf(page, 'phm_log_delayed'), 0);
    assert.equal(sampleOf(page, 'phm_log_halted{cause="forked"}'), 0);
    assert.doesNotMatch(page, /^phm_log_(?:pending|set_aside_total) /m);
    assert.equal(sampleOf(page, 'phm_log_state{state="starting"}'), 1);
    assert.equal(sampleOf(page, 'phm_clock_timestamp_seconds'), 1.5);
    assert.doesNotMatch(page, /^phm_(?:tls_certificate|database_size|disk)_/m);
  });

  it('convert milliseconds to seconds', async () => {
    const metrics = await open();
    metrics.events.committed(1_500, false);
    metrics.events.suiteJobDone(250, { streams: 2, streamsPassed: 1 });
    metrics.events.waited('keys', 125);
    const failed = { method: 'POST', route: '/x', status: 503, ms: 2_000, isPlainKey: false };
    metrics.events.answered({ ...failed, ownShare: false });
    const page = await metrics.expose();
    assert.equal(sampleOf(page, 'phm_commit_duration_seconds_sum{result="failed"}'), 1.5);
    assert.equal(sampleOf(page, 'phm_suite_job_duration_seconds_sum'), 0.25);
    assert.equal(sampleOf(page, 'phm_queue_wait_seconds_sum{queue="keys"}'), 0.125);
    assert.equal(sampleOf(page, 'phm_streams_judged_total{result="failed"}'), 1);
    const series = 'phm_http_request_duration_seconds_sum{method="POST",route="/x",status="5xx"}';
    assert.equal(sampleOf(page, series), 2);
  });

  it('count refusals and the events of sources', async () => {
    const metrics = await open();
    metrics.events.refused('suite', false);
    metrics.events.keyGenerated(ORDER);
    metrics.events.upkeepFailed();
    metrics.events.sourceEvent('qrng', { kind: 'latched', detail: 'secret detail' });
    assert.equal(await totalOf(metrics, 'phm_queue_refusals_total'), 1);
    assert.equal(await totalOf(metrics, 'phm_keys_generated_total'), 1);
    assert.equal(await totalOf(metrics, 'phm_ledger_upkeep_failures_total'), 1);
    assert.equal(await totalOf(metrics, 'phm_entropy_source_events_total'), 1);
    assert.ok(!(await metrics.expose()).includes('secret'));
  });

  it('tell a caller that fills its own share from a failure of the service', async () => {
    const metrics = await open();
    const refused = { method: 'POST', route: '/x', status: 503, ms: 1, isPlainKey: false };
    metrics.events.refused('suite', true);
    metrics.events.answered({ ...refused, ownShare: true });
    metrics.events.answered({ ...refused, ownShare: false });
    const page = await metrics.expose();
    const refusals = 'phm_queue_refusals_total{queue="suite",own_share=';
    assert.equal(sampleOf(page, `${refusals}"yes"}`), 1);
    assert.equal(sampleOf(page, `${refusals}"no"}`), 0);
    const count = 'phm_http_request_duration_seconds_count{method="POST",route="/x",status="5xx"';
    assert.equal(sampleOf(page, `${count},own_share="yes"}`), 1);
    assert.equal(sampleOf(page, `${count}}`), 1);
  });

  it('count sealed keys by suite, the keys of batches, and replays', async () => {
    const metrics = await open();
    metrics.events.keySealed('ML-KEM-1024');
    metrics.events.batch(1_000);
    metrics.events.batch(3);
    metrics.events.replayed();
    const page = await metrics.expose();
    for (const [series, value] of [
      ['phm_keys_sealed_total{suite="ML-KEM-1024"}', 1],
      ['phm_keys_sealed_total{suite="MLKEM768-X25519"}', 0],
      ['phm_batch_request_keys_sum', 1_003],
      ['phm_batch_request_keys_bucket{le="5"}', 1],
      ['phm_batch_request_keys_bucket{le="1000"}', 2],
      ['phm_idempotent_replays_total', 1],
    ] as const) {
      assert.equal(sampleOf(page, series), value, series);
    }
  });

  it('have one label for unknown routes and one for unknown methods', async () => {
    const metrics = await open();
    const lines: string[] = [];
    const logger = pino({ base: null }, { write: (line) => lines.push(line) });
    const app = await buildTestApp({ service: standInService('research'), metrics, logger });
    const before = (await metrics.expose()).split('\n').length;
    for (let i = 0; i < 40; i++) await app.inject({ url: `/path-${i}?query=${i}` });
    for (const method of ['PROPFIND', 'MKCOL', 'LOCK'] as const) {
      await app.inject({ url: '/livez', method });
    }
    for (const url of ['/%zz', '/%ff']) await app.inject({ url });
    await app.close();
    assert.equal(lines.filter((line) => line.includes('"msg":"request"')).length, 45);
    assert.doesNotMatch(lines.join(''), /path-|query|%zz/);
    const page = await metrics.expose();
    assert.ok(page.split('\n').length - before < 60);
    assert.doesNotMatch(page, /path-|query|PROPFIND/);
    const count = 'phm_http_request_duration_seconds_count';
    assert.equal(sampleOf(page, `${count}{method="GET",route="unknown",status="4xx"}`), 40);
    assert.equal(sampleOf(page, `${count}{method="other",route="unknown",status="4xx"}`), 3);
    assert.equal(sampleOf(page, 'phm_problems_total{code="malformed_request"}'), 2);
  });

  it('have one route per folder of files, apart from the API, beneath any base path', async () => {
    const metrics = await open();
    const dashboardFolder = makeDashboardFolder();
    const basePath = '/docs';
    const service = standInService('research');
    const app = await buildTestApp({ service, metrics, dashboardFolder, basePath });
    const before = await metrics.expose();
    const files = ['/docs/assets/index-1a2b3c4d.js', '/docs/docs/', '/docs/docs/assets/docs.css'];
    for (const url of files) {
      assert.equal((await app.inject({ url })).statusCode, 200, url);
    }
    await app.close();
    removeDashboardFolder(dashboardFolder);
    const page = await metrics.expose();
    const count = (method: string, route: string) =>
      `phm_http_request_duration_seconds_count{method="${method}",route="${route}",status="2xx"}`;
    assert.equal(sampleOf(before, count('POST', '/docs/api/v2/generate')), 0);
    assert.equal(sampleOf(page, count('GET', '/docs/assets/*')), 1);
    assert.equal(sampleOf(page, count('GET', '/docs/docs/*')), 2);
    assert.doesNotMatch(page, /index-1a2b3c4d|docs\.css/);
  });

  it('do not occupy the main thread, however often they are scraped', async (t) => {
    const time = new SimulatedTime(t);
    const begun: number[] = [];
    let requests = 0;
    const warned = t.mock.fn();
    process.on('warning', warned);
    t.after(() => process.off('warning', warned));
    const page = {
      // Each request reads it before it waits for the page.
      get contentType() {
        requests += 1;
        return 'text/plain';
      },
      expose: async () => {
        begun.push(time.nowMs);
        time.pass(20);
        return 'page';
      },
    };
    const server = await MetricsServer.start(page, {
      host: '127.0.0.1',
      port: 0,
      onFailure: assert.fail,
    });
    t.after(() => server.close());
    const scrape = async () => (await fetch(server.address)).text();
    assert.equal(await time.settle(scrape()), 'page');
    const [first = 0] = begun;
    const pages = Promise.all([scrape(), scrape(), scrape(), scrape()]);
    while (requests < 5) await turn();
    await time.advance(first + 199 - time.nowMs);
    assert.deepEqual(begun, [first], 'a page takes more than its share');
    await time.advance(1);
    assert.deepEqual(begun, [first, first + 200]);
    assert.deepEqual(await pages, Array(4).fill('page'));
    assert.equal(warned.mock.callCount(), 0, 'of a timer, for one');
  });

  it('reach a scraper even if other clients request them without reading', async ({ signal }) => {
    const page = { contentType: 'text/plain', expose: async () => 'x'.repeat(2 ** 24) };
    const options = { host: '127.0.0.1', port: 0, onFailure: assert.fail, idleMs: 500 };
    const server = await MetricsServer.start(page, options);
    const { host, port } = new URL(server.address);
    const silent = Array.from({ length: 16 }, () => connect(Number(port), '127.0.0.1').pause());
    try {
      for (const socket of silent) {
        socket.on('error', () => {});
        socket.write(`GET /metrics HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      }
      await Promise.all(silent.map((socket) => once(socket, 'connect')));
      const status = () =>
        fetch(server.address).then(
          async (answer) => ((await answer.text()) ? answer.status : 0),
          () => 0,
        );
      while (!signal.aborted && (await status()) !== 200) await delay(50);
    } finally {
      for (const socket of silent) socket.destroy();
      await server.close();
    }
  });

  it('can fail without an effect on the service', async () => {
    const failures: string[] = [];
    const page = { contentType: 'text/plain', expose: () => Promise.reject(new Error('broken')) };
    const onFailure = ({ message }: Error) => failures.push(message);
    const server = await MetricsServer.start(page, { host: '::1', port: 0, onFailure });
    assert.match(server.address, /^http:\/\/\[::1\]:\d+\/metrics$/);
    await assert.rejects(fetch(server.address));
    assert.equal((await fetch(new URL('/', server.address))).status, 404);
    await server.close();
    assert.deepEqual(failures, ['broken']);
  });
});
