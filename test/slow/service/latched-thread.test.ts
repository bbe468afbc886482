/**
 * A defect in one thread of a real server stops key generation in all threads, and nothing else. `test/slow/service/latch.test.ts`
 * has defects of the thread that generates plain keys.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { brokenOutput } from '../../support/faults/broken-output.ts';
import { makeDataDir, removeDataDir, Server } from '../../support/servers/server.ts';

const WITH_EVIDENCE = {
  security_level: 256,
  enable_nist_validation: true,
  modulation_type: 'none',
};
/** Log lines of every latch, in any order. */
const LOGGED = ['"key generation has stopped"', '"plain keys released since'];

describe('a server whose suite worker proves defective', () => {
  const dataDir = makeDataDir();
  const file = join(dataDir, 'broken');
  let server: Server;
  let key: string;
  let keyId: string;
  before(async () => {
    server = await Server.start(dataDir, {
      PHM_METRICS_PORT: '0',
      ...brokenOutput('phm-suite', file),
    });
    ({ key, key_id: keyId } = (await server.generate({ security_level: 256 })).body);
    writeFileSync(file, '');
    const { status, body } = await server.generate(WITH_EVIDENCE);
    assert.deepEqual([status, body.code], [503, 'entropy_unavailable']);
    await server.logged(...LOGGED);
  });
  after(async () => {
    await server?.stop();
    removeDataDir(dataDir);
  });

  it('generates no more plain keys and no more validated keys', async () => {
    for (const order of [{ security_level: 128 }, WITH_EVIDENCE]) {
      const { status, body, headers } = await server.generate(order);
      assert.deepEqual([status, body.code], [503, 'entropy_unavailable']);
      assert.equal(headers.get('retry-after'), '5');
    }
  });

  it('still validates keys and stays live', async () => {
    const { status, body } = await server.validate({ key });
    assert.deepEqual([status, body.valid], [200, true]);
    assert.equal((await server.request('/livez')).status, 200);
  });

  it('names the cause and the test in /readyz, the metrics and once in the log', async () => {
    const { status, body } = await server.request('/readyz');
    assert.deepEqual([status, body.checks.generator, body.latch.cause], [503, 'latched', 'gate']);
    const { test } = body.latch;
    const page = await server.scrape();
    const latched = page.match(/^phm_generator_latched\{.*\} 1$/gm);
    assert.deepEqual(latched, [`phm_generator_latched{cause="gate",test="${test}"} 1`]);
    assert.match(page, /^phm_generator_latches_total 2$/m);
    const lines = server.log.split('\n').filter((line) => line.includes('generation has stopped"'));
    assert.equal(lines.length, 1);
    const { cause, test: logged, detail } = JSON.parse(lines[0]);
    assert.deepEqual([cause, logged], ['gate', test]);
    assert.match(detail, /two streams/);
  });

  it('logs each failure of the gate with the weakest test and its stream', () => {
    const lines = server.log
      .split('\n')
      .filter((line) => line.includes('"statistical gate: failed"'));
    assert.equal(lines.length, 2);
    for (const line of lines) {
      const { level, judged, p, stream, test } = JSON.parse(line);
      assert.deepEqual([level, judged, stream], [40, 'streams of validated keys', 'carrier']);
      assert.ok(p < 1e-6 && typeof test === 'string');
    }
  });

  it('logs the plain keys released since startup as suspect', () => {
    const line = server.log.split('\n').find((one) => one.includes('"plain keys released'));
    const { part, parts, keyIds } = JSON.parse(line ?? '{}');
    assert.deepEqual([part, parts, keyIds], [1, 1, [keyId]]);
  });
});
