/** No generated key and no opening leaves a trace in the log, a database file, an error, a metric or a span. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { prettyLines } from '../../../src/telemetry/log-pretty.ts';
import { Collector } from '../../support/servers/collector.ts';
import { DEMO_KEY, makeDataDir, removeDataDir, Server } from '../../support/servers/server.ts';

const dataDir = makeDataDir();
after(() => removeDataDir(dataDir));

/** Returns every form in which a key could have been written. */
function formsOf(hex: string): { name: string; bytes: Buffer }[] {
  const raw = Buffer.from(hex, 'hex');
  return [
    { name: 'raw', bytes: raw },
    { name: 'first half', bytes: raw.subarray(0, raw.length / 2) },
    { name: 'hex', bytes: Buffer.from(hex) },
    { name: 'HEX', bytes: Buffer.from(hex.toUpperCase()) },
    { name: 'base64', bytes: Buffer.from(raw.toString('base64').replace(/=+$/, '')) },
    { name: 'base64url', bytes: Buffer.from(raw.toString('base64url')) },
  ];
}

describe('the server', () => {
  it('keeps keys and openings out of logs, files, receipts, error bodies, metrics and traces', async () => {
    const collector = await Collector.start();
    after(() => collector.close());
    const server = await Server.start(dataDir, {
      PHM_RATE_LIMITS: 'off',
      PHM_LOG_LEVEL: 'trace',
      PHM_METRICS_PORT: '0',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.address,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    });
    const keys: string[] = [];
    const receipts: string[] = [];
    const errors: string[] = [];
    const keyed = { headers: { 'X-API-Key': DEMO_KEY } };
    for (const security_level of [128, 256, 384]) {
      for (const enable_nist_validation of [false, true]) {
        for (const entropy_source of ['os', 'quantum-simulator']) {
          const include = ['receipt', ...(enable_nist_validation ? ['nist_report'] : [])];
          const order = { security_level, enable_nist_validation, entropy_source, include };
          const { body } = await server.generate(order);
          keys.push(body.key, Buffer.from(body.opening, 'base64').toString('hex'));
          receipts.push(JSON.stringify(body.receipt));
          await server.validate({ key: body.key, hash_proof: body.hash_proof });
          // Requests with the key in every wrong place.
          for (const wrong of [
            await server.validate(`{"key": "${body.key}"`),
            await server.validate({ key: [body.key] }),
            await server.validate({ key: body.key, hash_proof: { a: body.key } }),
            await server.generate({ security_level: body.key }),
            await server.metrics(`?hours=${body.key}`),
            await server.request(`/api/v2/keys/${body.key}?x=1`, { method: 'DELETE' }),
            await server.metrics('', body.key),
            await server.request(`/api/v2/keys/${body.key}/receipt`, keyed),
            await server.request(`/api/v2/keys/${body.key_id}/receipt`, {
              headers: { ...keyed.headers, 'X-API-Key': body.opening },
            }),
          ]) {
            assert.ok(wrong.status >= 400 && wrong.status < 500);
            errors.push(JSON.stringify(wrong.body));
          }
        }
      }
    }
    const metrics = await server.scrape();
    await server.stop('SIGTERM');
    const pretty = server.log
      .split('\n')
      .map(prettyLines({ color: true }))
      .join('');
    const places = [
      { name: 'log', bytes: Buffer.from(server.log) },
      { name: 'log for people', bytes: Buffer.from(pretty) },
      { name: 'metrics', bytes: Buffer.from(metrics) },
      { name: 'traces', bytes: Buffer.from(collector.bodies.join('\n')) },
      { name: 'receipts', bytes: Buffer.from(receipts.join('\n')) },
      { name: 'state of the log', bytes: readFileSync(`${dataDir}.log-state`) },
      { name: 'errors', bytes: Buffer.from(errors.join('\n')) },
      ...readdirSync(dataDir).map((file) => ({
        name: file,
        bytes: readFileSync(join(dataDir, file)),
      })),
    ];
    assert.ok(server.log.includes('/api/v2/validate'), 'the log was written');
    assert.ok(metrics.includes('phm_keys_generated_total'), 'the metrics were read');
    assert.ok(collector.spans().length > keys.length, 'the spans were sent');
    assert.ok(receipts.every((receipt) => receipt !== 'null'));
    assert.ok(places.some(({ name, bytes }) => name === 'phm.db' && bytes.length > 0));
    for (const key of keys) {
      for (const form of formsOf(key)) {
        for (const place of places) {
          assert.ok(!place.bytes.includes(form.bytes), `${form.name} of a key is in ${place.name}`);
        }
      }
    }
    assert.ok(!server.log.includes(DEMO_KEY), 'an API key is in the log');
    for (const text of [metrics, ...collector.bodies]) assert.ok(!text.includes(DEMO_KEY));
  });

  it('keeps its files readable by their owner only', () => {
    for (const file of readdirSync(dataDir)) {
      assert.equal(statSync(join(dataDir, file)).mode & 0o077, 0, file);
    }
  });
});
