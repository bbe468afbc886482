/**
 * Suite workers that start while the service already serves: they join tested, or end the process.
 * `test/slow/service/joining-workers.test.ts` has real ones.
 */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { AppError } from '../../../src/errors.ts';
import { type EvidenceWarning, failedVerdict, Latch } from '../../../src/keys/latch.ts';
import { JOIN_LIMIT_MS, JoiningWorkers } from '../../../src/service/suite/joining-workers.ts';
import { SuitePool } from '../../../src/service/suite/pool.ts';
import type { WorkerReady } from '../../../src/service/threads/messages.ts';
import { type ReadyWorker, whenUp } from '../../../src/service/threads/ready-worker.ts';
import type { WaitingThread } from '../../../src/service/threads/waiting-threads.ts';
import { order, verdict } from '../../support/servers/fakes.ts';

const STATUS = { reseeds: 7, sources: [] };
const LIMIT_MS = 2_000;

/** A suite worker that starts, ends on request, and records its messages. */
class FakeWorker extends EventEmitter {
  threadId = 1;
  isHung = false;
  isTerminated = false;
  readonly messages: unknown[] = [];

  postMessage(message: unknown): void {
    this.messages.push(message);
    if (message === 'close' && !this.isHung) this.#exit(0);
  }

  async terminate(): Promise<void> {
    this.isTerminated = true;
    this.#exit(1);
  }

  ready(warnings: readonly EvidenceWarning[] = []): void {
    this.emit('message', { kind: 'ready', status: STATUS, warnings } satisfies WorkerReady);
  }

  unable(message: string): void {
    this.emit('message', { kind: 'unable', message, mayPass: false } satisfies WorkerReady);
    this.#exit(0);
  }

  die(): void {
    this.#exit(1);
  }

  get asWorker(): Worker {
    return this as unknown as Worker;
  }

  #exit(code: number): void {
    this.threadId = -1;
    this.emit('exit', code);
  }
}

/** A pool with one worker, and a further one that starts. */
function startJoining() {
  const latch = Latch.forThreads(2);
  const pool = new SuitePool(latch, {
    onEvidenceWarning: (warning) => assert.fail(JSON.stringify(warning)),
    onUnvouchedKeys: () => assert.fail('unvouched keys'),
  });
  const [first, further] = [new FakeWorker(), new FakeWorker()];
  pool.add(first.asWorker, STATUS);
  const joined: ReadyWorker[] = [];
  const fatal: Error[] = [];
  const lost: number[] = [];
  const joining = new JoiningWorkers({
    onJoined: (ready) => {
      joined.push(ready);
      pool.add(ready.worker, ready.status);
    },
    onLost: (waitedMs) => lost.push(waitedMs),
    onFatal: (error) => fatal.push(error),
  });
  const data: unknown[] = [];
  const start = (sent: unknown) => {
    data.push(sent);
    return whenUp<WorkerReady>(further.asWorker);
  };
  const thread = { worker: further.asWorker, start } as unknown as WaitingThread<WorkerReady>;
  const added = joining.add(thread, 'data');
  const submit = () => {
    const requester = { accountId: 'a', apiKeyId: 'k', atMs: 0 };
    const work = {
      requester,
      order: order(),
      recipients: [],
      delivery: null,
      count: 1,
      isBatch: false,
    };
    return pool.submit(work, () => false);
  };
  return { latch, pool, first, further, joining, added, joined, lost, fatal, data, submit };
}

describe('a suite worker that starts beside a ready service', () => {
  it('gets no work before it is ready, and waiting work then', async () => {
    const { pool, first, further, added, joined, data, submit } = startJoining();
    submit();
    submit();
    pool.probe();
    await nextTurn();
    assert.deepEqual([first.messages.length, further.messages.length], [1, 0]);
    assert.deepEqual([pool.statuses().length, pool.load.waiting], [1, 1]);
    const { capacity } = pool.load;
    further.ready();
    await added;
    assert.deepEqual(data, ['data']);
    assert.deepEqual(joined, [{ worker: further, status: STATUS, warnings: [] }]);
    assert.equal(further.messages.length, 1);
    assert.deepEqual(pool.statuses(), [STATUS, STATUS]);
    assert.deepEqual(pool.load, { waiting: 0, capacity: 2 * capacity });
  });

  it('reports failed verdicts of its startup when it joins', async () => {
    const { further, added, joined } = startJoining();
    const judged = failedVerdict(verdict(false), 'streams of suite workers between keys');
    const failed = { failedVerdict: judged };
    further.ready([failed]);
    await added;
    assert.deepEqual(joined[0]?.warnings, [failed]);
  });

  it('ends the process once if it cannot start, and joins no pool', async () => {
    for (const [fail, message] of [
      [(one: FakeWorker) => one.unable('self-test failed: drbg'), 'self-test failed: drbg'],
      [(one: FakeWorker) => one.die(), 'a worker exited with code 1 before it was ready'],
      [(one: FakeWorker) => one.emit('error', new Error('staged')), 'staged'],
    ] as const) {
      const { further, added, joined, fatal, pool } = startJoining();
      fail(further);
      await added;
      assert.deepEqual([fatal.map((error) => error.message), joined], [[message], []]);
      assert.equal(pool.statuses().length, 1);
    }
  });

  it('is ended if it has not joined in two minutes, and the service goes on without it', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { further, joining, added, joined, lost, fatal, pool } = startJoining();
    further.isHung = true;
    t.mock.timers.tick(JOIN_LIMIT_MS - 1);
    assert.equal(further.isTerminated, false);
    t.mock.timers.tick(1);
    await added;
    assert.deepEqual([further.isTerminated, lost, joined, fatal], [true, [120_000], [], []]);
    assert.equal(pool.statuses().length, 1);
    await joining.close(LIMIT_MS);
    assert.deepEqual(further.messages, []);
  });

  it('is not ended later if it has joined, cannot start, or closes with the service', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    for (const settle of [
      (one: FakeWorker) => one.ready(),
      (one: FakeWorker) => one.unable('staged'),
      (_: FakeWorker, joining: JoiningWorkers) => joining.close(LIMIT_MS),
    ]) {
      const { further, joining, added, lost } = startJoining();
      await settle(further, joining);
      await added;
      t.mock.timers.tick(JOIN_LIMIT_MS);
      assert.deepEqual([further.isTerminated, lost], [false, []]);
    }
  });

  it('ends with the service while it starts, and is no failure', async () => {
    const { further, joining, added, joined, fatal } = startJoining();
    await joining.close(LIMIT_MS);
    await added;
    assert.deepEqual(further.messages, ['close']);
    assert.deepEqual([joined, fatal, further.isTerminated], [[], [], false]);
  });

  it('is terminated if it does not end with the service', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { further, joining, added, fatal } = startJoining();
    further.isHung = true;
    const closed = joining.close(LIMIT_MS);
    t.mock.timers.tick(LIMIT_MS - 1);
    assert.equal(further.isTerminated, false);
    t.mock.timers.tick(1);
    await closed;
    await added;
    assert.deepEqual([further.isTerminated, fatal], [true, []]);
  });

  it('does not join a service that closes, even if it is ready first', async () => {
    const { further, joining, added, joined } = startJoining();
    further.isHung = true;
    const closed = joining.close(LIMIT_MS);
    further.ready();
    await added;
    further.die();
    await closed;
    assert.deepEqual(joined, []);
  });

  it('is ended no second time once it has joined', async () => {
    const { further, joining, added } = startJoining();
    further.ready();
    await added;
    await joining.close(LIMIT_MS);
    assert.deepEqual(further.messages, []);
  });

  it('gets no work if the process latches while it starts', async () => {
    const { latch, pool, further, added, fatal, submit } = startJoining();
    submit();
    const waiting = submit();
    latch.set({ cause: 'gate', test: 'rank', detail: 'staged' });
    await assert.rejects(waiting.outcome, isUnavailable);
    further.ready();
    await added;
    assert.deepEqual([further.messages, fatal], [[], []]);
    assert.equal(pool.load.capacity, 0);
    assert.throws(submit, isUnavailable);
  });
});

const isUnavailable = (error: unknown) =>
  error instanceof AppError && error.code === 'entropy_unavailable';
