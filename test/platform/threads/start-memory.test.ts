/** A thread gives back what its start took, and a limit of new objects is the thread's own. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { newThread } from '../../../packages/platform/src/threads/worker-thread.ts';

const MODULE = new URL('../../../packages/platform/src/threads/start-memory.ts', import.meta.url)
  .href;

const WAITING = afterStart('await sleep(20);', 3000);
const WORKING = afterStart(
  'for (const end = Date.now() + 20; Date.now() < end; ); await soon();',
  30,
);

/** Fills the heap of a thread, and lets go of it. The thread then does `turn` until the heap is half as large, at most `turns` times. */
function afterStart(turn: string, turns: number): string {
  return `
  import { setImmediate as soon, setTimeout as sleep } from 'node:timers/promises';
  const heap = () => process.memoryUsage().heapTotal / 2 ** 20;
  let start = Array.from({ length: 400_000 }, (_, i) => ({ i }));
  const full = heap();
  start = null;
  releaseStartMemory(50);
  for (let i = 0; i < ${turns} && heap() > full / 2; i += 1) { ${turn} }
  parentPort.postMessage({ full, after: heap(), hasFlag: typeof gc });`;
}

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

const isHalved = ({ full, after }: Record<string, unknown>) => Number(after) < Number(full) / 2;

describe('the memory that a thread took to start', () => {
  it('is given back while the thread waits', async () => {
    const report = await inThread(WAITING);
    assert.ok(Number(report.full) > 20, `${report.full} MiB before`);
    assert.ok(isHalved(report), `${report.after} MiB after`);
  });

  it('is not, while the thread works', async () => {
    const report = await inThread(WORKING);
    assert.ok(!isHalved(report), `${report.after} of ${report.full} MiB`);
  });
});

describe('threads that end their start at the same time', () => {
  it('all give back, without a flag of V8', async () => {
    for (const report of await Promise.all(Array.from({ length: 6 }, () => inThread(WAITING)))) {
      assert.ok(isHalved(report), `${report.after} of ${report.full} MiB`);
      assert.equal(report.hasFlag, 'undefined');
    }
  });
});

describe('the limit for new objects', () => {
  it('holds for its thread', async () => {
    const body = 'parentPort.postMessage({ limit: resourceLimits.maxYoungGenerationSizeMb });';
    assert.equal((await inThread(body, 6)).limit, 6);
    assert.ok(Number((await inThread(body)).limit) > 6);
  });
});
