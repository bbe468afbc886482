/** Clients in threads and processes: each has its own, and none is copied from one to another. */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { MessageChannel, Worker } from 'node:worker_threads';
import { type GeneratedKey, PhmClient } from '../../sdk/src/index.ts';
import { answers, ScriptedServer } from '../support/clients/scripted-server.ts';
import { API_KEY, another, GENERATED } from './support.ts';

const CALLS = 8;

/** Generates keys with a label of its own, in a thread or in a process. */
const PROGRAM = `
import { parentPort, workerData } from 'node:worker_threads';
import { PhmClient } from ${JSON.stringify(new URL('../../sdk/src/index.ts', import.meta.url).href)};
const [baseUrl, apiKey, name] = workerData ?? process.argv.slice(2);
const phm = new PhmClient({ baseUrl, apiKey });
const call = () => phm.generate({ security_level: 256, labels: { name } });
const keys = await Promise.all(Array.from({ length: ${CALLS} }, call));
const made = keys.map(({ key_id, labels }) => [key_id, labels.name]);
if (parentPort) parentPort.postMessage(made);
else process.send(made, () => process.disconnect());
`;

describe('a client', () => {
  it('cannot be copied to another thread, and the error says why', () => {
    const phm = new PhmClient({ baseUrl: 'http://keys.invalid', apiKey: API_KEY });
    const { port1 } = new MessageChannel();
    for (const copy of [
      () => structuredClone(phm),
      () => structuredClone({ deep: [phm] }),
      () => port1.postMessage(phm),
      () => new Worker('', { eval: true, workerData: phm }),
    ]) {
      assert.throws(copy, { name: 'DataCloneError', message: /one thread: make one in each/ });
    }
    port1.close();
    assert.equal(inspect(phm), 'PhmClient { http://keys.invalid }');
    assert.equal(JSON.stringify(phm), '{}');
  });

  it('of each thread and process gets its own keys', async () => {
    const server = await ScriptedServer.start((response) => {
      const asked = server.received.find(
        ({ headers }) => headers['x-request-id'] === response.req.headers['x-request-id'],
      );
      const { labels } = JSON.parse(asked?.body ?? '');
      answers({ ...another(GENERATED as GeneratedKey), labels })(response);
    });
    const folder = mkdtempSync(join(tmpdir(), 'threads-'));
    try {
      const file = join(folder, 'program.mjs');
      writeFileSync(file, PROGRAM);
      const given = (name: string) => [server.address, API_KEY, name];
      const runs = ['a', 'b', 'c', 'd'].map(async (name, i) => {
        const run = i < 2 ? new Worker(file, { workerData: given(name) }) : fork(file, given(name));
        const [made] = (await once(run, 'message')) as [[string, string][]];
        assert.deepEqual(
          made.map(([, label]) => label),
          Array(CALLS).fill(name),
        );
        return made.map(([id]) => id);
      });
      const ids = (await Promise.all(runs)).flat();
      assert.equal(new Set(ids).size, 4 * CALLS);
    } finally {
      rmSync(folder, { recursive: true });
      await server.stop();
    }
  });
});
