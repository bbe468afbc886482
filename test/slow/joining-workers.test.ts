/** A suite worker that starts beside a ready server and is broken. `test/service/joining-workers.test.ts` has the rest. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { secondSuiteWorker } from '../support/second-suite-worker.ts';
import { makeDataDir, removeDataDir, Server } from '../support/server.ts';

async function startBroken(t: TestContext, broken: 'known' | 'sample'): Promise<Server> {
  const dataDir = makeDataDir();
  const server = await Server.start(dataDir, secondSuiteWorker(broken));
  t.after(async () => {
    await server.stop();
    removeDataDir(dataDir);
  });
  return server;
}

describe('a server whose second suite worker is broken', { timeout: 120_000 }, () => {
  it('exits with code 1 and a clear message if it cannot start', async (t) => {
    const server = await startBroken(t, 'known');
    await server.logged('"reason":"self-test failed: ');
    assert.equal(await server.stop('SIGCONT'), 1);
    assert.doesNotMatch(server.log, /unexpected/);
  });

  it('latches if its generator fails the screening', async (t) => {
    const server = await startBroken(t, 'sample');
    await server.logged('"key generation has stopped"');
    const { status, body } = await server.request('/readyz');
    assert.deepEqual([status, body.checks.generator, body.latch.cause], [503, 'latched', 'gate']);
    for (const enable_nist_validation of [false, true]) {
      const answer = await server.generate({ security_level: 256, enable_nist_validation });
      assert.deepEqual([answer.status, answer.body.code], [503, 'entropy_unavailable']);
    }
    await server.logged('"statistical gate: failed"');
    const failed = server.log.match(/"judged":"streams of suite workers between keys"/g);
    assert.equal(failed?.length, 2);
    assert.equal(await server.stop(), 0);
  });
});
