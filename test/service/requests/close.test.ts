/** A key service ends, whatever the ledger does. */
import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { AppError } from '../../../src/errors.ts';
import { KeyQueue } from '../../../src/service/requests/queue.ts';
import { startKeyService } from '../../support/servers/key-service.ts';
import { makeDataDir, removeDataDir } from '../../support/servers/server.ts';

const dataDir = makeDataDir();
after(() => removeDataDir(dataDir));

it('a service ends its threads even if the ledger hangs and failures are not counted', async (t) => {
  const { service, principal } = await startKeyService(dataDir);
  const { accountId } = principal;
  await service.series({ accountId, startMs: 0, stepMinutes: 1, steps: 1 });
  const late = () => Promise.reject(new AppError('ledger_unavailable'));
  t.mock.method(KeyQueue.prototype, 'flushFailures', late);
  const exited = t.mock.method(Worker.prototype, 'emit');
  await service.close();
  const exits = exited.mock.calls.filter(({ arguments: [event] }) => event === 'exit');
  assert.equal(exits.length, 3, 'the key worker, a suite worker and the statistics worker');
});
