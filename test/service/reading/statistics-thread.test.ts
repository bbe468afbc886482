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

const TASK: StatisticsTask = { kind: 'size' };
const ANSWER: StatisticsResult = { kind: 'size', bytes: 1 };

/** A worker that answers on command, and ends when it is asked to. */
class FakeWorker extends EventEmitter {
  threadId = 1;
  readonly asked: number[] = [];

  postMessage(message: StatisticsMessage): void {
    if (message === 'close') this.exit(0);
    else this.asked.push(message.id);
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

  it('ends two minutes after its last answer, and starts again for a later query', async (t) => {
    const { thread, workers, newest, fatal } = setUp(t);
    const ask = async () => {
      const asked = thread.ask(TASK);
      newest().answer();
      await asked;
    };
    await ask();
    t.mock.timers.tick(119_999);
    await ask();
    t.mock.timers.tick(119_999);
    assert.equal(newest().threadId, 1, 'a query begins the rest anew');
    const slow = thread.ask(TASK);
    t.mock.timers.tick(1);
    assert.equal(newest().threadId, 1, 'it does not rest during a query');
    newest().answer();
    assert.deepEqual(await slow, ANSWER);
    t.mock.timers.tick(120_000);
    assert.equal(newest().threadId, -1);
    await ask();
    assert.deepEqual(
      workers.map(({ threadId }) => threadId),
      [-1, 1],
    );
    assert.deepEqual(fatal, []);
  });

  it('does not rest before a late query has its answer', async (t) => {
    const { thread, newest } = setUp(t);
    const ended = t.mock.fn();
    const asked = thread.ask(TASK, ended);
    t.mock.timers.tick(30_000);
    assert.match(await reasonOf(asked), /has not answered for 30 s/);
    t.mock.timers.tick(200_000);
    assert.deepEqual([newest().threadId, ended.mock.callCount()], [1, 0]);
    newest().answer();
    assert.equal(ended.mock.callCount(), 1);
    t.mock.timers.tick(120_000);
    assert.equal(newest().threadId, -1);
  });

  it('fails the queries of a thread that cannot start, and starts another for the next', async (t) => {
    const { thread, workers, newest, fatal } = setUp(t);
    const ended = t.mock.fn();
    const dies = thread.ask(TASK, ended);
    newest().emit('error', Object.assign(new Error('/a/path'), { code: 'ERR_MODULE_NOT_FOUND' }));
    newest().exit(1);
    assert.match(await reasonOf(dies), /cannot start: ERR_MODULE_NOT_FOUND$/);
    const exits = thread.ask(TASK, ended);
    newest().exit(7);
    assert.match(await reasonOf(exits), /cannot start: WorkerExit \(code 7\)$/);
    const refuses = thread.ask(TASK, ended);
    newest().emit('message', { kind: 'unable', message: 'other files', mayPass: false });
    newest().exit(0);
    assert.match(await reasonOf(refuses), /cannot start: other files$/);
    assert.equal(ended.mock.callCount(), 3);
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

  it('is fatal when it dies after an answer, also while it rests', async (t) => {
    const { thread, newest, fatal } = setUp(t);
    const first = thread.ask(TASK);
    newest().answer();
    await first;
    const asked = thread.ask(TASK);
    newest().exit(1);
    assert.match(await reasonOf(asked), /has died$/);
    assert.deepEqual(fatal, ['WorkerExit (code 1)']);
    const last = thread.ask(TASK);
    newest().answer();
    await last;
    t.mock.timers.tick(120_000);
    newest().emit('error', new TypeError());
    assert.deepEqual(fatal.slice(1), ['TypeError']);
  });

  it('ends with the service, and answers no later query', async (t) => {
    const { thread, workers, newest, fatal } = setUp(t);
    const asked = thread.ask(TASK);
    await thread.end(1);
    assert.match(await reasonOf(asked), /has ended$/);
    assert.match(await reasonOf(thread.ask(TASK)), /has ended$/);
    assert.deepEqual([newest().threadId, workers.length, fatal], [-1, 1, []]);
  });

  it('ends with the service if it never ran', async (t) => {
    const { thread, workers } = setUp(t);
    await thread.end(1);
    assert.equal(workers.length, 0);
  });
});
