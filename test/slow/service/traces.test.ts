/** Traces reach a collector and continue the caller's trace. A failing collector delays no request. 5 s. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { openTracing, parseTraceparent, type Tracing } from '../../../src/telemetry/index.ts';
import { nameFailure } from '../../../src/telemetry/otel.ts';
import { readTracing } from '../../../src/telemetry/tracing-settings.ts';
import { until } from '../../support/run/until.ts';
import { buildTestApp, standInService } from '../../support/servers/app.ts';
import { attributesOf, type CollectedSpan, Collector } from '../../support/servers/collector.ts';
import { DEMO_KEY, makeDataDir, removeDataDir, Server } from '../../support/servers/server.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const SAMPLED = `00-${TRACE}-${PARENT}-01`;

const SECRET = 'collector-credential-7f3a';

const logLines = (server: Server) =>
  server.log
    .split('\n')
    // Text after the last line end may be an incomplete line.
    .slice(0, -1)
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));

/** A hook that writes the addresses of all loaded modules to a file. */
const noteModules = (file: string) => {
  const hook = pathToFileURL(
    resolve(import.meta.dirname, '../../support/servers/loaded-modules.ts'),
  );
  hook.searchParams.set('to', file);
  return { NODE_OPTIONS: `--import=${hook.href}` };
};

describe('the traces of a server', () => {
  const dataDir = makeDataDir();
  const modules = join(dataDir, 'modules');
  let collector: Collector;
  let server: Server;
  before(async () => {
    collector = await Collector.start();
    server = await Server.start(dataDir, {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.address,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=${SECRET}`,
      OTEL_BSP_SCHEDULE_DELAY: '50',
      OTEL_SERVICE_NAME: 'keys-of-a-test',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      ...noteModules(modules),
    });
  });
  after(async () => {
    await server?.stop();
    await collector?.close();
    removeDataDir(dataDir);
  });

  const generate = (traceparent: string, body: object, id: string, to = server) =>
    to.request('/api/v2/generate?secret=query', {
      method: 'POST',
      headers: {
        'X-API-Key': DEMO_KEY,
        'Content-Type': 'application/json',
        'X-Request-Id': id,
        tracestate: 'vendor=1',
        traceparent,
      },
      body: JSON.stringify(body),
    });
  const spanOf = (id: string) => {
    const span = collector.spans().find((one) => attributesOf(one)['phm.request_id'] === id);
    assert.ok(span, `no span of ${id}`);
    return span;
  };
  const childrenOf = ({ spanId }: CollectedSpan) =>
    collector.spans().filter(({ parentSpanId }) => parentSpanId === spanId);

  it('are spans of the caller’s trace, with the stages of each key', async () => {
    const plain = await generate(SAMPLED, { security_level: 256 }, 'plain');
    const validated = await generate(
      SAMPLED,
      { security_level: 128, enable_nist_validation: true },
      'validated',
    );
    await until('both spans', () => collector.spans().filter(({ kind }) => kind === 2).length >= 2);
    const span = spanOf('plain');
    assert.deepEqual([span.traceId, span.parentSpanId], [TRACE, PARENT]);
    assert.equal(span.name, 'POST /api/v2/generate');
    assert.deepEqual(attributesOf(span), {
      'http.request.method': 'POST',
      'url.scheme': 'http',
      'url.path': '/api/v2/generate',
      'http.route': '/api/v2/generate',
      'http.response.status_code': 200,
      'network.protocol.version': '1.1',
      'phm.request_id': 'plain',
      'phm.account_id': 'acct_demo_research',
      'phm.api_key_id': 'key_demo_research',
    });
    const names = (id: string) => childrenOf(spanOf(id)).map(({ name }) => name);
    assert.deepEqual(names('plain'), ['keys.wait', 'keys.batch', 'ledger.commit']);
    assert.deepEqual(names('validated'), [
      'suite.wait',
      'suite.job',
      'keys.wait',
      'keys.batch',
      'ledger.commit',
    ]);
    for (const child of childrenOf(span)) {
      const [start, end] = [child.startTimeUnixNano, child.endTimeUnixNano].map(Number);
      assert.ok(start <= end && end - start < 1e9 * 60, child.name);
      assert.ok(Math.abs(start - Number(span.startTimeUnixNano)) < 1e9 * 60, child.name);
    }
    const sent = collector.bodies.join('');
    for (const one of [plain.body.key, validated.body.key, DEMO_KEY, 'secret=query', SECRET]) {
      assert.ok(!sent.includes(one));
    }
  });

  it('have the names and headers that the variables set', () => {
    const resource = collector.resource();
    assert.equal(resource['service.name'], 'keys-of-a-test');
    assert.equal(resource['deployment.environment.name'], 'test');
    assert.match(
      String(resource['service.instance.id']),
      /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
    );
    assert.deepEqual(
      [collector.paths[0], collector.headers[0]?.authorization],
      ['/v1/traces', SECRET],
    );
  });

  it('name a problem by its code and omit an unknown address', async () => {
    await server.request('/keys/0123456789abcdef', {
      headers: { traceparent: SAMPLED, 'X-Request-Id': 'unknown' },
    });
    await until('its span', () =>
      collector.spans().some((one) => attributesOf(one)['phm.request_id'] === 'unknown'),
    );
    const span = spanOf('unknown');
    assert.equal(span.name, 'GET');
    const { 'phm.problem': problem, 'error.type': error } = attributesOf(span);
    assert.deepEqual([problem, error, span.status.code ?? 0], ['not_found', undefined, 0]);
    assert.ok(!collector.bodies.join('').includes('0123456789abcdef'));
  });

  it('follow the caller’s sampling decision and ignore a malformed one', async () => {
    await generate(`00-${TRACE}-${PARENT}-00`, { security_level: 1 }, 'unsampled');
    await generate('00-nonsense', { security_level: 1 }, 'malformed');
    await until('its span', () =>
      collector.spans().some((one) => attributesOf(one)['phm.request_id'] === 'malformed'),
    );
    assert.notEqual(spanOf('malformed').traceId, TRACE);
    assert.ok(
      !collector.spans().some((one) => attributesOf(one)['phm.request_id'] === 'unsampled'),
    );
  });

  it('have their IDs in the log', async () => {
    const ofRequest = (id: string) => logLines(server).find(({ reqId }) => reqId === id);
    await until('the line of the request', () => ofRequest('malformed') !== undefined);
    assert.equal(ofRequest('plain').trace_id, TRACE);
    assert.equal(ofRequest('malformed').trace_id, spanOf('malformed').traceId);
    assert.ok(!server.log.includes(SECRET));
  });

  it('load the SDK', () => {
    assert.ok(readFileSync(modules, 'utf8').includes('/@opentelemetry/sdk-trace/'));
  });

  it('do not block requests if the collector is gone, which is logged once and not at shutdown', async () => {
    const gone = await Collector.start();
    const late = await Server.start(join(dataDir, 'late'), {
      OTEL_EXPORTER_OTLP_ENDPOINT: gone.address,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_TIMEOUT: '1000',
      OTEL_BSP_SCHEDULE_DELAY: '50',
    });
    await gone.close();
    const failed = () => logLines(late).filter(({ msg }) => msg === 'traces cannot be exported');
    for (let i = 0; i < 3 || failed().length === 0; i++) {
      const { status } = await generate(SAMPLED, { security_level: 256 }, `late-${i}`, late);
      assert.equal(status, 200);
      await new Promise((wake) => setTimeout(wake, 100));
    }
    assert.equal(await late.stop(), 0);
    assert.equal(failed().length, 1);
    assert.equal(failed()[0].reason, 'ECONNREFUSED');
  });
});

describe('a server without OTEL_ variables', () => {
  it('loads no OpenTelemetry module but logs the trace ID of a caller', async () => {
    const dataDir = makeDataDir();
    const modules = join(dataDir, 'modules');
    const server = await Server.start(dataDir, noteModules(modules));
    try {
      await server.request('/api/v2/metrics', { headers: { traceparent: SAMPLED } });
      await server.request('/api/v2/metrics', { headers: { traceparent: `${SAMPLED}-more` } });
      await server.stop();
      const loaded = readFileSync(modules, 'utf8').split('\n');
      assert.ok(loaded.some((url) => url.endsWith('/src/telemetry/tracing.ts')));
      assert.deepEqual(
        loaded.filter((url) => /@opentelemetry|@prometheus-io/.test(url)),
        [],
      );
      const traces = logLines(server)
        .filter(({ route }) => route === '/api/v2/metrics')
        .map(({ trace_id }) => trace_id);
      assert.deepEqual(traces, [TRACE, undefined]);
    } finally {
      await server.stop();
      removeDataDir(dataDir);
    }
  });
});

describe('spans in this process', () => {
  const log = { info: () => {}, warn: () => {} };
  const env = (endpoint: string, more: Record<string, string> = {}) => ({
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    ...more,
  });

  /** The SDK reads the environment of the process itself. */
  async function open(variables: Record<string, string>): Promise<Tracing> {
    Object.assign(process.env, variables);
    try {
      const tracing = await openTracing(variables, log);
      assert.ok(tracing);
      return tracing;
    } finally {
      for (const name of Object.keys(variables)) delete process.env[name];
    }
  }

  async function askOnce(tracing: Tracing): Promise<void> {
    const app = await buildTestApp({ service: standInService('research'), tracing });
    const headers = { traceparent: SAMPLED };
    await app.inject({ url: '/livez', headers });
    await app.inject({ url: '/%zz', headers });
    await app.close();
  }

  it('are exported at shutdown if no interval has exported them', async () => {
    const collector = await Collector.start();
    const tracing = await open(env(collector.address));
    await askOnce(tracing);
    assert.deepEqual(collector.spans(), []);
    assert.equal(await tracing.close(30_000), true);
    assert.deepEqual(
      collector.spans().map(({ name }) => name),
      ['GET /livez', 'GET'],
    );
    await collector.close();
  });

  it('are errors if the server failed or the client left', async () => {
    const collector = await Collector.start();
    const tracing = await open(env(collector.address));
    const request = { method: 'GET', headers: {}, httpVersion: '1.1', socket: {} };
    for (const [status, problem] of [[503, 'overloaded'], [503], [undefined]] as const) {
      const trace = tracing.begin(request as IncomingMessage, 'id');
      trace.end({ route: '/x', status, problem });
    }
    assert.equal(await tracing.close(30_000), true);
    const seen = collector
      .spans()
      .map((span) => [span.status.code, attributesOf(span)['error.type']]);
    assert.deepEqual(seen, [
      [2, 'overloaded'],
      [2, '503'],
      [2, 'client_left'],
    ]);
    await collector.close();
  });

  it('are exported as protobuf unless JSON is requested', async () => {
    const collector = await Collector.start();
    const tracing = await open({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.address}/mine` });
    await askOnce(tracing);
    assert.equal(await tracing.close(30_000), true);
    assert.equal(collector.headers[0]?.['content-type'], 'application/x-protobuf');
    assert.deepEqual(collector.paths, ['/mine']);
    assert.ok(collector.bodies[0]?.includes('GET /livez'));
    await collector.close();
  });

  it('are not exported with always_off, whatever the caller requests', async () => {
    const collector = await Collector.start();
    const tracing = await open(env(collector.address, { OTEL_TRACES_SAMPLER: 'always_off' }));
    await askOnce(tracing);
    await tracing.close(30_000);
    assert.deepEqual(collector.bodies, []);
    await collector.close();
  });

  it('are given up at shutdown if the collector does not answer', async () => {
    const { createServer } = await import('node:net');
    const silent = createServer().listen(0, '127.0.0.1');
    await new Promise((listening) => silent.once('listening', listening));
    const { port } = silent.address() as { port: number };
    const timeout = { OTEL_EXPORTER_OTLP_TIMEOUT: '300' };
    const tracing = await open(env(`http://127.0.0.1:${port}`, timeout));
    await askOnce(tracing);
    assert.equal(await tracing.close(50), false);
    silent.close();
  });
});

describe('the tracing variables', () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://user:secret@collector.example' };

  it('enable traces by an endpoint or an exporter, and disable them', () => {
    for (const on of [
      endpoint,
      { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://[::1]:4318/v1/traces' },
      { OTEL_TRACES_EXPORTER: 'otlp' },
    ]) {
      assert.ok(readTracing(on).settings);
      assert.equal(readTracing({ ...on, OTEL_SDK_DISABLED: 'true' }).settings, null);
      assert.equal(readTracing({ ...on, OTEL_TRACES_EXPORTER: 'none' }).settings, null);
    }
    assert.deepEqual(readTracing({ OTEL_SERVICE_NAME: 'phm' }), { settings: null, warnings: [] });
  });

  it('have the defaults of the specification', () => {
    const { settings, warnings } = readTracing(endpoint);
    assert.deepEqual(warnings, []);
    assert.equal(settings?.protocol, 'http/protobuf');
    assert.equal(settings?.sampler, 'parentbased_always_on');
    assert.equal(settings?.honoursCaller, true);
  });

  it('cause a warning without their values if they are unusable', () => {
    for (const [wrong, keepsTracing] of [
      [{ OTEL_TRACES_EXPORTER: 'zipkin' }, false],
      [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, false],
      [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'secret' }, false],
      [{ OTEL_TRACES_SAMPLER: 'secret' }, true],
      [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '2' }, true],
      [{ OTEL_BSP_SCHEDULE_DELAY: 'secret' }, true],
    ] as const) {
      const { settings, warnings } = readTracing({ ...endpoint, ...wrong });
      assert.equal(settings !== null, keepsTracing, JSON.stringify(wrong));
      assert.equal(warnings.length, 1);
      assert.match(warnings[0] ?? '', new RegExp(`^(${Object.keys(wrong).join('|')}).*use|is no`));
      assert.ok(!warnings[0]?.includes('secret'));
    }
    const { settings } = readTracing({ ...endpoint, OTEL_PROPAGATORS: 'b3' });
    assert.equal(settings?.honoursCaller, false);
  });
});

describe('the certificate files', () => {
  const here = import.meta.filename;
  const gone = join(import.meta.dirname, 'no-such-file');
  const warningsOf = (variables: Record<string, string>) =>
    readTracing({ OTEL_TRACES_EXPORTER: 'otlp', ...variables }).warnings;

  it('cause a warning without their names if they are unreadable', () => {
    for (const name of ['CERTIFICATE', 'TRACES_CERTIFICATE', 'CLIENT_KEY', 'CLIENT_CERTIFICATE']) {
      const variable = `OTEL_EXPORTER_OTLP_${name}`;
      assert.deepEqual(warningsOf({ [variable]: here }), []);
      for (const path of [gone, import.meta.dirname]) {
        assert.deepEqual(warningsOf({ [variable]: path }), [
          `${variable}: the file cannot be read; traces are sent without it`,
        ]);
      }
    }
  });

  it('are those for traces if there are two sets', () => {
    const both = (traces: string, all: string) =>
      warningsOf({
        OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE: traces,
        OTEL_EXPORTER_OTLP_CERTIFICATE: all,
      });
    assert.deepEqual(both(here, gone), []);
    assert.match(both(gone, here).join(), /^OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE: /);
  });
});

describe('a failed export', () => {
  it('is named by its code, which TLS makes long, and never by its message', () => {
    const code = 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED';
    assert.equal(nameFailure(Object.assign(new Error('secret'), { code })), code);
    assert.equal(nameFailure(Object.assign(new Error('secret'), { code: 401 })), '401');
    assert.equal(nameFailure(new TypeError('secret')), 'TypeError');
  });
});

describe('traceparent', () => {
  it('is accepted if it is well-formed, also with a later version', () => {
    const known = { traceId: TRACE, spanId: PARENT, flags: 1 };
    assert.deepEqual(parseTraceparent(SAMPLED), known);
    assert.deepEqual(parseTraceparent(`cc-${TRACE}-${PARENT}-01-what-comes`), known);
  });

  it('is ignored if it is malformed', () => {
    for (const header of [
      undefined,
      '',
      `ff-${TRACE}-${PARENT}-01`,
      `00-${'0'.repeat(32)}-${PARENT}-01`,
      `00-${TRACE}-${'0'.repeat(16)}-01`,
      `00-${TRACE.toUpperCase()}-${PARENT}-01`,
      `${SAMPLED}-more`,
      `${SAMPLED}, ${SAMPLED}`,
      `cc-${TRACE}-${PARENT}-01-${'x'.repeat(10_000)}`,
      [SAMPLED],
    ]) {
      assert.equal(parseTraceparent(header), undefined, String(header).slice(0, 80));
    }
  });
});
