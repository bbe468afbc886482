/** Real suite workers that start beside a ready service, sound or broken. `test/service/suite/joining-workers.test.ts` has the rest. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { Worker } from 'node:worker_threads';
import { wipeKey } from '../../../src/keys/key-receipt.ts';
import type { Principal } from '../../../src/ledger/index.ts';
import type { KeyService } from '../../../src/service/index.ts';
import { secondSuiteWorker } from '../../support/faults/second-suite-worker.ts';
import { until } from '../../support/run/until.ts';
import { keyRequest, PRESENT } from '../../support/servers/fakes.ts';
import { startKeyService } from '../../support/servers/key-service.ts';
import { makeDataDir, removeDataDir, Server } from '../../support/servers/server.ts';

async function startBroken(t: TestContext, broken: 'known' | 'sample'): Promise<Server> {
  const dataDir = makeDataDir();
  const server = await Server.start(dataDir, secondSuiteWorker(broken));
  t.after(async () => {
    await server.stop();
    removeDataDir(dataDir);
  });
  return server;
}

describe('a server whose second suite worker is broken', () => {
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
    // A line for each of the two streams, which the main thread may write after it has answered.
    const failed = () =>
      server.log.match(/"judged":"streams of suite workers between keys"/g) ?? [];
    await until('both failures are logged', () => failed().length >= 2);
    assert.equal(await server.stop(), 0);
    assert.equal(failed().length, 2);
  });
});

describe('a key service with two suite workers', () => {
  it('is ready with the first, and spreads work once the second has joined', async (t) => {
    const { service, principal } = await startTwo(t);
    assert.equal(service.checkReadiness().ready, true);
    const places = () => service.load().queues.find(({ name }) => name === 'suite')?.capacity ?? 0;
    // Beside the key worker. On a slow machine the second may have joined by now.
    const joined = () => service.load().generators - 1;
    assert.ok(joined() >= 1);
    const ofOne = places() / joined();
    await generateOne(service, principal);
    await until('the second worker joins', () => joined() === 2);
    assert.equal(places(), 2 * ofOne);
    await generateOne(service, principal);
    await service.close();
  });

  it('ends all threads if it is closed while the second starts', async (t) => {
    const { service } = await startTwo(t);
    const exited = t.mock.method(Worker.prototype, 'emit');
    await service.close();
    const exits = exited.mock.calls.filter(({ arguments: [event] }) => event === 'exit');
    assert.equal(exits.length, 3, 'the key worker and two suite workers');
  });
});

/** Starts a service. The caller closes it. */
function startTwo(t: TestContext): ReturnType<typeof startKeyService> {
  const dataDir = makeDataDir();
  t.after(() => removeDataDir(dataDir));
  return startKeyService(dataDir, { suiteWorkers: 2 });
}

async function generateOne(service: KeyService, principal: Principal): Promise<void> {
  const request = keyRequest({ withEvidence: true }, {});
  const outcome = await service.generate(principal, request, PRESENT);
  assert.ok(outcome.kind === 'generated');
  for (const key of outcome.keys) wipeKey(key);
}
