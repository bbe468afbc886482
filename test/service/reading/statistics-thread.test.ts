/** The thread of the statistics worker: it starts for a query, ends after a rest, and may be unable to start. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, it, type TestContext } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { StatisticsThread } from '../../../src/service/reading/statistics-thread.ts';
import type {
  StatisticsMessage,
  StatisticsResult,
  StatisticsTask,
} from '../../../src/service/threads/statistics-messages.ts';

const REST_MS = 300_000;
const TASK: StatisticsTask = { kind: 'size' };
const ANSWER: StatisticsResult = { kind: 'size', bytes: 1 };

/** A worker that answers and exits on command. */
class FakeWorker extends EventEmitter {
  threadId = 1;
  isClosing = false;
  readonly asked: number[] = [];

  postMessage(message: StatisticsMessage): void {
    if (message === 'close') this.isClosing = true;
    else this.asked.push(message.id);
  }

  async terminate(): Promise<void> {
    this.exit(1);
  }

  answer(): void {
    this.emit('message', { id: this.asked.shift(), result: ANSWER });
  }

  exit(code: number): void {
    this.threadId = -1;
    this.emit('exit', code);
  }
}

/** Returns a thread with its workers so far, and the fatal errors. */
function setUp(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const workers: FakeWorker[] = [];
  const fatal: string[] = [];
  const thread = new StatisticsThread({
    start: () => {
      const worker = new FakeWorker();
      workers.push(worker);
      return worker as unknown as Worker;
    },
    onFatal: ({ name }) => fatal.push(name),
  });
  const newest = () => workers.at(-1) ?? assert.fail('no worker');
  return { thread, workers, newest, fatal };
}

const reasonOf = async (asked: Promise<StatisticsResult>) => {
  const result = await asked;
  assert.ok(result.kind === 'failed');
  assert.equal(result.failure.code, 'ledger_unavailable');
  return result.failure.reason;
};

describe('the thread of the statistics worker', () => {
  it('starts for the first query, once for all', async (t) => {
    const { thread, workers, newest } = setUp(t);
    assert.equal(workers.length, 0);
    const asked = [thread.ask(TASK), thread.ask(TASK)];
    assert.equal(workers.length, 1);
    newest().answer();
    newest().answer();
    assert.deepEqual(await Promise.all(asked), [ANSWER, ANSWER]);
  });

  it('ends five minutes after its last answer, and starts again for a later query', async (t) => {
    const { thread, workers, newest, fatal } = setUp(t);
    const ask = async () => {
      const asked = thread.ask(TASK);
      newest().answer();
      await asked;
    };
    await ask();
    t.mock.timers.tick(REST_MS - 1);
    await ask();
    t.mock.timers.tick(REST_MS - 1);
    assert.ok(!newest().isClosing, 'a query begins the rest anew');
    const slow = thread.ask(TASK);
    t.mock.timers.tick(1);
    assert.ok(!newest().isClosing, 'it does not rest during a query');
    newest().answer();
    assert.deepEqual(await slow, ANSWER);
    t.mock.timers.tick(REST_MS);
    assert.ok(newest().isClosing);
    // The first may still be closing the ledger.
    await ask();
    workers[0]?.emit('message', { id: 99, result: ANSWER });
    workers[0]?.exit(0);
    t.mock.timers.tick(REST_MS - 1);
    const last = thread.ask(TASK);
    t.mock.timers.tick(1);
    assert.ok(!newest().isClosing, 'the first has no rest any more');
    newest().answer();
    assert.deepEqual(await last, ANSWER);
    assert.equal(workers.length, 2);
    assert.deepEqual(fatal, []);
  });

  it('is ended by force if it does not end by itself', async (t) => {
    const { thread, newest, fatal } = setUp(t);
    const asked = thread.ask(TASK);
    newest().answer();
    await asked;
    t.mock.timers.tick(REST_MS);
    t.mock.timers.tick(2_000);
    assert.deepEqual([newest().threadId, fatal], [-1, []]);
  });

  it('does not rest before a late query has its answer', async (t) => {
    const { thread, newest } = setUp(t);
    const ended = t.mock.fn();
    const asked = thread.ask(TASK, ended);
    t.mock.timers.tick(30_000);
    assert.match(await reasonOf(asked), /has not answered for 30 s/);
    t.mock.timers.tick(REST_MS);
    assert.deepEqual([newest().isClosing, ended.mock.callCount()], [false, 0]);
    newest().answer();
    assert.equal(ended.mock.callCount(), 1);
    t.mock.timers.tick(REST_MS);
    assert.ok(newest().isClosing);
  });

  it('fails the queries of a minute if it cannot start, and then starts again', async (t) => {
    const { thread, workers, newest, fatal } = setUp(t);
    const ended = t.mock.fn();
    const fails = async (fail: (worker: FakeWorker) => void, reason: RegExp) => {
      const asked = thread.ask(TASK, ended);
      const { length } = workers;
      fail(newest());
      assert.match(await reasonOf(asked), reason);
      t.mock.timers.tick(59_999);
      assert.match(await reasonOf(thread.ask(TASK, ended)), reason);
      assert.equal(workers.length, length);
      t.mock.timers.tick(1);
    };
    await fails((worker) => {
      worker.emit('error', Object.assign(new Error('/a/path'), { code: 'ERR_MODULE_NOT_FOUND' }));
      worker.exit(1);
    }, /cannot start: ERR_MODULE_NOT_FOUND$/);
    await fails((worker) => worker.exit(7), /cannot start: WorkerExit \(code 7\)$/);
    await fails((worker) => {
      worker.emit('message', { kind: 'unable', message: 'other files', mayPass: false });
      worker.exit(0);
    }, /cannot start: other files$/);
    assert.equal(ended.mock.callCount(), 6);
    const asked = thread.ask(TASK);
    newest().answer();
    assert.deepEqual([await asked, workers.length, fatal], [ANSWER, 4, []]);
  });

  it('fails a query if the system gives no thread', async () => {
    const start = () => {
      throw Object.assign(new Error(), { code: 'ERR_WORKER_INIT_FAILED' });
    };
    const thread = new StatisticsThread({ start, onFatal: assert.fail });
    assert.match(await reasonOf(thread.ask(TASK)), /cannot start: ERR_WORKER_INIT_FAILED$/);
  });

  it('is fatal when it dies after an answer', async (t) => {
    const { thread, newest, fatal } = setUp(t);
    const first = thread.ask(TASK);
    newest().answer();
    await first;
    const asked = thread.ask(TASK);
    newest().exit(1);
    assert.match(await reasonOf(asked), /has died$/);
    assert.deepEqual(fatal, ['WorkerExit (code 1)']);
  });

  it('harms nothing when it fails at its end', async (t) => {
    const { thread, workers, newest, fatal } = setUp(t);
    const first = thread.ask(TASK);
    newest().answer();
    await first;
    t.mock.timers.tick(REST_MS);
    const asked = thread.ask(TASK);
    workers[0]?.emit('error', new TypeError());
    workers[0]?.exit(1);
    newest().answer();
    assert.deepEqual([await asked, fatal], [ANSWER, []]);
  });

  it('ends with the service after its queries, and answers no later one', async (t) => {
    const { thread, workers, newest, fatal } = setUp(t);
    const answered = thread.ask(TASK);
    const lost = thread.ask(TASK);
    const end = thread.end(1_000);
    assert.match(await reasonOf(thread.ask(TASK)), /has ended$/);
    newest().answer();
    assert.deepEqual(await answered, ANSWER);
    assert.ok(newest().isClosing);
    newest().exit(0);
    await end;
    assert.match(await reasonOf(lost), /has ended$/);
    t.mock.timers.tick(REST_MS);
    assert.deepEqual([workers.length, fatal], [1, []]);
  });

  it('that rests is waited for by the service', async (t) => {
    const { thread, newest } = setUp(t);
    const asked = thread.ask(TASK);
    newest().answer();
    await asked;
    t.mock.timers.tick(REST_MS);
    const ended = t.mock.fn();
    const end = thread.end(1_000).then(ended);
    await new Promise(setImmediate);
    assert.equal(ended.mock.callCount(), 0);
    newest().exit(0);
    await end;
  });

  it('ends with the service if it never ran', async (t) => {
    const { thread, workers } = setUp(t);
    await thread.end(1);
    assert.equal(workers.length, 0);
  });
});
