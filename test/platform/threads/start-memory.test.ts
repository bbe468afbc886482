/** A thread gives back what its start took, and a limit of new objects is the thread's own. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { newThread } from '../../../packages/platform/src/threads/worker-thread.ts';

const MODULE = new URL('../../../packages/platform/src/threads/start-memory.ts', import.meta.url)
  .href;

/** Runs `body` in a thread of its own, and returns what it reports. */
async function inThread(body: string, youngMiB?: number): Promise<Record<string, unknown>> {
  const module = `
    import { parentPort, resourceLimits } from 'node:worker_threads';
    import { releaseStartMemory } from '${MODULE}';
    ${body}`;
  const url = new URL(`data:text/javascript,${encodeURIComponent(module)}`);
  const worker = newThread(url, { youngMiB });
  // A thread can end in the turn in which its message arrives.
  const [[report]] = await Promise.all([once(worker, 'message'), once(worker, 'exit')]);
  return report;
}

describe('the memory that a thread took to start', () => {
  it('is given back', async () => {
    const report = await inThread(`
      const heap = () => process.memoryUsage().heapTotal / 2 ** 20;
      let start = Array.from({ length: 400_000 }, (_, i) => ({ i }));
      const full = heap();
      start = null;
      await releaseStartMemory();
      parentPort.postMessage({ full, after: heap() });`);
    assert.ok(Number(report.full) > 20, `${report.full} MiB before`);
    assert.ok(Number(report.after) < Number(report.full) / 2, `${report.after} MiB after`);
  });
});

describe('threads that end their start at the same time', () => {
  it('all give back', async () => {
    const threads = Array.from({ length: 6 }, () =>
      inThread(`
        await releaseStartMemory();
        parentPort.postMessage({ hasFlag: typeof gc });`),
    );
    for (const { hasFlag } of await Promise.all(threads)) assert.equal(hasFlag, 'undefined');
  });
});

describe('the limit for new objects', () => {
  it('holds for its thread', async () => {
    const body = 'parentPort.postMessage({ limit: resourceLimits.maxYoungGenerationSizeMb });';
    assert.equal((await inThread(body, 6)).limit, 6);
    assert.ok(Number((await inThread(body)).limit) > 6);
  });
});
