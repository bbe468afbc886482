/**
 * A suite that does not judge a sample of the generator of plain keys: waits are bounded, and readiness reports
 * it.
 */
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { slowSuite } from '../support/faults/slow-suite.ts';
import { until } from '../support/run/until.ts';
import { DEMO_KEY, makeDataDir, removeDataDir, Server } from '../support/servers/server.ts';

const PLAIN = { security_level: 256 };

/** Starts a server whose suite hangs while the file exists. */
async function start(t: TestContext) {
  const dataDir = makeDataDir();
  const file = join(dataDir, 'hung');
  const server = await Server.start(dataDir, { ...slowSuite(file), PHM_METRICS_PORT: '0' });
  t.after(async () => {
    await server.stop('SIGKILL');
    removeDataDir(dataDir);
  });
  return { server, file };
}

/** Starts a server whose plain keys wait for a verdict that never comes. */
async function startHung(t: TestContext) {
  const { server, file } = await start(t);
  const { body } = await server.generate(PLAIN);
  const judged = 'phm_plain_generator_judgements_total{result="passed"} 2\n';
  await until('the sample after the key is judged', async () =>
    (await server.scrape()).includes(judged),
  );
  writeFileSync(file, '');
  // The next sample is drawn after one key, and due again after another.
  for (let i = 0; i < 2; i++) assert.equal((await server.generate(PLAIN)).status, 200);
  return { server, file, key: body.key as string };
}

/** Waits until a server works on this many requests. */
const underway = (server: Server, requests: number) =>
  until(`${requests} requests have arrived`, async () =>
    (await server.scrape()).includes(`phm_http_connections{state="active"} ${requests}\n`),
  );

describe('a hung suite', () => {
  it('stops new keys and readiness until it answers', async (t) => {
    const { server, file, key } = await startHung(t);
    const held = [PLAIN, { ...PLAIN, enable_nist_validation: true }].map((order) =>
      server.generate(order),
    );
    await underway(server, held.length);
    assert.equal((await server.validate({ key })).body.valid, true);
    for (const { status, body, headers } of await Promise.all(held)) {
      assert.deepEqual([status, body.code], [503, 'entropy_unavailable']);
      assert.equal(headers.get('retry-after'), '5');
    }
    await server.logged('the suite does not answer');
    const ready = await server.request('/readyz');
    assert.equal(ready.status, 503);
    assert.equal(ready.body.checks.generator, 'unjudged');
    assert.equal(ready.body.checks.ledger, 'ok');
    assert.equal((await server.metrics()).status, 200);
    rmSync(file);
    await server.logged('the suite answers again');
    assert.equal((await server.request('/readyz')).status, 200);
    assert.equal((await server.generate(PLAIN)).status, 200);
    assert.equal(await server.stop(), 0);
  });

  it('ends a request whose job hangs, and frees its Idempotency-Key', async (t) => {
    const { server, file } = await start(t);
    writeFileSync(file, '');
    const generate = () =>
      server.request('/api/v2/generate', {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          'X-API-Key': DEMO_KEY,
          'Idempotency-Key': 'hung',
        },
        body: JSON.stringify({ ...PLAIN, enable_nist_validation: true }),
      });
    const { status, body } = await generate();
    assert.deepEqual([status, body.code], [503, 'entropy_unavailable']);
    const ready = await server.request('/readyz');
    assert.deepEqual([ready.status, ready.body.checks.generator], [503, 'unjudged']);
    rmSync(file);
    await server.logged('the suite answers again');
    assert.equal((await server.request('/readyz')).status, 200);
    assert.equal((await generate()).status, 200);
    assert.equal(await server.stop(), 0);
  });

  it('does not prevent shutdown, and the log reports the keys without a verdict', async (t) => {
    const { server } = await startHung(t);
    const held = server.generate(PLAIN);
    await underway(server, 1);
    const stopped = server.stop();
    assert.equal((await held).body.code, 'entropy_unavailable');
    assert.equal(await stopped, 0);
    assert.match(server.log, /"reason":"the suite does not answer","msg":"the last plain keys/);
  });
});
