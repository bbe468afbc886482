/** `scripts/inspect-threads.ts`: a developer can stop in each thread of a server. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { it } from 'node:test';
import { environment, MAIN, makeDataDir, removeDataDir } from '../../support/servers/server.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const NAMED = /^(.+): npx node inspect 127\.0\.0\.1:(\d+)$/gm;
/** The statistics worker starts for its first query. */
const THREADS = ['main thread', 'phm-keys', 'phm-log', 'phm-suite'];

it('names the inspector of each thread, and each answers for its own', async () => {
  const dataDir = makeDataDir();
  const child = spawn(
    process.execPath,
    ['--inspect-port=0', `--import=${join(ROOT, 'scripts/inspect-threads.ts')}`, MAIN, 'serve'],
    { env: environment(dataDir, { PHM_PORT: '0' }), stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const closed = once(child, 'close');
  try {
    let log = '';
    const named = () => [...log.matchAll(NAMED)];
    for await (const chunk of child.stderr) {
      log += chunk;
      if (named().length === THREADS.length) break;
    }
    assert.deepEqual(
      named()
        .map(([, name]) => name)
        .sort(),
      THREADS,
      log,
    );
    for (const [, name, port] of named()) {
      const answer = await fetch(`http://127.0.0.1:${port}/json/list`);
      const [target] = (await answer.json()) as { webSocketDebuggerUrl: string }[];
      assert.equal(await threadName(target.webSocketDebuggerUrl), name);
    }
  } finally {
    child.kill('SIGKILL');
    await closed;
    removeDataDir(dataDir);
  }
});

/** Asks the thread behind an inspector for its name. */
async function threadName(url: string): Promise<string> {
  const socket = new WebSocket(url);
  await once(socket, 'open');
  const expression = "process.getBuiltinModule('worker_threads').threadName || 'main thread'";
  const request = { id: 1, method: 'Runtime.evaluate', params: { expression } };
  socket.send(JSON.stringify(request));
  const [{ data }] = await once(socket, 'message');
  socket.close();
  return JSON.parse(data).result.result.value;
}
