/** Worker threads end on request, by force, or have already ended. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Worker } from 'node:worker_threads';
import {
  endThread,
  hasEnded,
  startThread,
} from '../../../packages/platform/src/threads/worker-thread.ts';

/** Starts a thread that runs `body`, and waits until it reports that it is ready. */
async function threadOf(body: string): Promise<Worker> {
  const module = `
    import { parentPort, workerData } from 'node:worker_threads';
    ${body}
    parentPort.postMessage({ workerData, environment: Object.keys(process.env) });`;
  const url = new URL(`data:text/javascript,${encodeURIComponent(module)}`);
  const worker = startThread(url, { workerData: 7 });
  const [up] = await once(worker, 'message');
  assert.equal(up.workerData, 7);
  assert.ok(up.environment.every((name: string) => name === 'NODE_COMPILE_CACHE'));
  return worker;
}

describe('a worker thread', () => {
  it('exits by itself on request, after its work in progress', async () => {
    const worker = await threadOf(`
      parentPort.once('message', (message) => setImmediate(() => {
        parentPort.postMessage('ended by ' + message);
        parentPort.close();
      }));`);
    const last = once(worker, 'message');
    await endThread(worker);
    assert.deepEqual(await last, ['ended by close']);
    assert.ok(hasEnded(worker));
  });

  it('starts in a process whose working directory was removed, also if its name is taken again', () => {
    const folder = mkdtempSync(join(tmpdir(), 'phm-cwd-'));
    const module = new URL(
      '../../../packages/platform/src/threads/worker-thread.ts',
      import.meta.url,
    ).href;
    const program = `
      import { mkdirSync, rmdirSync } from 'node:fs';
      import { startThread } from '${module}';
      const folder = process.cwd();
      for (const again of [false, true]) {
        rmdirSync(folder);
        if (again) mkdirSync(folder);
        const url = new URL('data:text/javascript,');
        const worker = startThread(url);
        worker.on('error', ({ code }) => console.log(code));
        await new Promise((ended) => worker.on('exit', ended));
        if (again) break;
        mkdirSync(folder);
        process.chdir(folder);
      }`;
    const args = ['--input-type=module', '-e', program];
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
    rmSync(folder, { recursive: true, force: true });
    assert.deepEqual([stdout, stderr], ['', '']);
  });

  it('is terminated if it takes too long', async () => {
    const worker = await threadOf(`parentPort.on('message', () => {});`);
    assert.equal(hasEnded(worker), false);
    await endThread(worker, 1);
    assert.ok(hasEnded(worker));
  });

  it('also counts as ended if it fails before it exits', async () => {
    const worker = await threadOf(`
      parentPort.once('message', () => { throw new Error('broken'); });`);
    const failed = once(worker, 'error');
    await endThread(worker);
    const [error] = await failed;
    assert.match(error.message, /broken/);
  });

  it('needs no wait if it has already ended', async () => {
    const worker = startThread(new URL('data:text/javascript,'));
    await once(worker, 'exit');
    await endThread(worker);
  });

  it('gets the compile cache that its program enables after it has loaded this module', () => {
    const folder = mkdtempSync(join(tmpdir(), 'phm-cache-'));
    const program = `
      import { childEnvironment } from ${JSON.stringify(import.meta.resolve('../../../packages/platform/src/threads/index.ts'))};
      import { enableCompileCache } from 'node:module';
      const before = childEnvironment();
      enableCompileCache(${JSON.stringify(folder)});
      console.log(JSON.stringify([before, childEnvironment()]));`;
    const args = ['--input-type=module', '--eval', program];
    const { stdout, stderr } = spawnSync(process.execPath, args, { env: {}, encoding: 'utf8' });
    rmSync(folder, { recursive: true });
    assert.equal(stderr, '');
    assert.deepEqual(JSON.parse(stdout), [{}, { NODE_COMPILE_CACHE: folder }]);
  });
});
