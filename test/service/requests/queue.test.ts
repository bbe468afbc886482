import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, it, type TestContext } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { KeyQueue } from '../../../src/service/requests/queue.ts';
import type {
  KeyBatch,
  KeyBatchReply,
  KeyTask,
  KeyTaskResult,
  PackedBatch,
} from '../../../src/service/threads/messages.ts';
import { packReply, unpackBatch } from '../../../src/service/threads/packed-batches.ts';
import { packRows, rowCount } from '../../../src/service/threads/packed-rows.ts';
import { order, plainRow } from '../../support/servers/fakes.ts';

const task: KeyTask = { kind: 'authenticate', keyHashes: [], nowMs: 0 };
const generate: KeyTask = {
  kind: 'generate',
  requester: { accountId: 'a', apiKeyId: 'k', atMs: 0 },
  order: order(),
  idempotency: null,
};
const failure = { accountId: 'a', atMs: 0, counts: { streams: 0, streamsPassed: 0 } };
const status = { reseeds: 0, sources: [] };
const turn = () => new Promise((resolve) => setImmediate(resolve));

class FakeWorker extends EventEmitter {
  readonly batches: KeyBatch[] = [];

  postMessage(batch: PackedBatch): void {
    this.batches.push(unpackBatch(batch));
  }

  answer(batch: KeyBatch, failuresRecorded = true): void {
    const results = batch.tasks.map((): KeyTaskResult => ({ kind: 'probed' }));
    this.#reply({ id: batch.id, results, failuresRecorded, awaitsVerdict: false });
  }

  /** Answers the batches sent. Tasks of these kinds come back without a key. */
  answerAll(awaitsVerdict: boolean, ...unmade: KeyTask['kind'][]): void {
    for (const { id, tasks } of this.batches.splice(0)) {
      const results = tasks.map(
        ({ kind }): KeyTaskResult => ({
          kind: unmade.includes(kind) ? 'evidence_pending' : 'probed',
        }),
      );
      this.#reply({ id, results, failuresRecorded: true, awaitsVerdict });
    }
  }

  /** Answers the batches sent. Tasks of these kinds come back because their account is locked. */
  answerLocked(again: KeyTask | null, ...kinds: KeyTask['kind'][]): void {
    for (const { id, tasks } of this.batches.splice(0)) {
      const results = tasks.map(
        ({ kind }): KeyTaskResult =>
          kinds.includes(kind) ? { kind: 'account_locked', again } : { kind: 'probed' },
      );
      this.#reply({ id, results, failuresRecorded: true, awaitsVerdict: false });
    }
  }

  #reply(reply: Omit<KeyBatchReply, 'commit' | 'status'>): void {
    this.emit('message', packReply({ ...reply, commit: null, status }));
  }
}

/** Records settled tasks in order. */
function outcomesOf(queue: KeyQueue) {
  const outcomes: string[] = [];
  const submit = (one: KeyTask, abandoned?: () => boolean) => {
    queue.submit(one, abandoned).then(
      ({ kind }) => outcomes.push(kind),
      ({ code, details }) => outcomes.push(`${code}: ${details.reason}`),
    );
  };
  return { outcomes, submit };
}

/** Stops the clock until `pass` is called. */
function stopClock(test: TestContext) {
  let nowMs = 1_000_000;
  test.mock.method(process.hrtime, 'bigint', () => BigInt(nowMs) * 1_000_000n);
  test.mock.timers.enable({ apis: ['setTimeout'] });
  return (ms: number) => {
    nowMs += ms;
    test.mock.timers.tick(ms);
  };
}

function makeQueue() {
  const worker = new FakeWorker();
  return { worker, queue: new KeyQueue(worker as unknown as Worker, () => {}) };
}

describe('key queue', () => {
  const sizes = ({ batches }: FakeWorker) => batches.map(({ tasks }) => tasks.length);
  const submitAll = (queue: KeyQueue, count: number) =>
    Array.from({ length: count }, () => queue.submit(task));

  it('collects waiting tasks into one batch while two batches are in progress', async () => {
    const { worker, queue } = makeQueue();
    const answers = submitAll(queue, 1);
    await turn();
    answers.push(...submitAll(queue, 2));
    await turn();
    answers.push(...submitAll(queue, 1));
    await turn();
    answers.push(...submitAll(queue, 2));
    await turn();
    assert.deepEqual(sizes(worker), [1, 2]);
    for (const batch of [...worker.batches]) worker.answer(batch);
    assert.deepEqual(sizes(worker), [1, 2, 3]);
    worker.answer(worker.batches[2] as KeyBatch);
    assert.equal((await Promise.all(answers)).length, 6);
  });

  it('sends no second batch of less than half of the open tasks', async () => {
    const { worker, queue } = makeQueue();
    const answers = submitAll(queue, 6);
    await turn();
    answers.push(...submitAll(queue, 4));
    await turn();
    assert.deepEqual(sizes(worker), [6]);
    answers.push(...submitAll(queue, 1));
    await turn();
    assert.deepEqual(sizes(worker), [6, 5]);
    answers.push(...submitAll(queue, 1));
    for (const batch of worker.batches.splice(0)) worker.answer(batch);
    assert.deepEqual(sizes(worker), [1], 'nothing is in progress');
    for (const batch of worker.batches) worker.answer(batch);
    await Promise.all(answers);
  });

  it('takes half of the open tasks, so that both threads have work', async () => {
    const { worker, queue } = makeQueue();
    const answers = submitAll(queue, 64);
    await turn();
    assert.deepEqual(sizes(worker), [32, 32]);
    answers.push(...submitAll(queue, 30));
    worker.answer(worker.batches[0] as KeyBatch);
    assert.deepEqual(sizes(worker), [32, 32]);
    answers.push(...submitAll(queue, 10));
    await turn();
    assert.deepEqual(sizes(worker), [32, 32, 36]);
    for (const batch of worker.batches.slice(1)) worker.answer(batch);
    assert.deepEqual(sizes(worker), [32, 32, 36, 4], 'few tasks are not split');
    worker.answer(worker.batches[3] as KeyBatch);
    assert.equal((await Promise.all(answers)).length, 104);
  });

  it('sends the next batch before the tasks of the last one are answered', async () => {
    const { worker, queue } = makeQueue();
    const [first] = submitAll(queue, 1);
    await turn();
    const second = submitAll(queue, 1);
    await turn();
    const third = submitAll(queue, 1);
    let sent = 0;
    const answered = first?.then(() => {
      sent = worker.batches.length;
    });
    worker.answer(worker.batches[0] as KeyBatch);
    await answered;
    assert.equal(sent, 3);
    for (const batch of worker.batches.slice(1)) worker.answer(batch);
    await Promise.all([...second, ...third]);
  });

  it('answers overloaded when it is full', async () => {
    const { worker, queue } = makeQueue();
    let refused = 0;
    for (let i = 0; i < 20_000; i++) {
      queue.submit(task).catch((error) => {
        assert.equal(error.code, 'overloaded');
        refused += 1;
      });
    }
    await turn();
    assert.equal(refused, 20_000 - 8_192);
    await turn();
    assert.deepEqual(
      worker.batches.map(({ tasks }) => tasks.length),
      [1_024, 1_024],
    );
  });

  it('sends unrecorded failures again', async () => {
    const { worker, queue } = makeQueue();
    queue.recordFailure(failure);
    void queue.submit(task);
    await turn();
    assert.equal(worker.batches[0]?.failures.length, 1);
    worker.answer(worker.batches[0] as KeyBatch, false);
    void queue.submit(task);
    await turn();
    assert.equal(worker.batches[1]?.failures.length, 1);
    worker.answer(worker.batches[1] as KeyBatch, true);
    void queue.submit(task);
    await turn();
    assert.equal(worker.batches[2]?.failures.length, 0);
  });

  it('flushes waiting and pending failures, and sends nothing without any', async () => {
    const { worker, queue } = makeQueue();
    await queue.flushFailures();
    assert.equal(worker.batches.length, 0);
    queue.recordFailure(failure);
    let flushed = 0;
    const flush = () => queue.flushFailures().then(() => flushed++);
    const first = flush();
    await turn();
    assert.equal(worker.batches[0]?.failures.length, 1);
    const second = flush();
    await turn();
    assert.equal(flushed, 0, 'the batch with the failure is not answered yet');
    for (const batch of worker.batches) worker.answer(batch);
    await Promise.all([first, second]);
    await queue.flushFailures();
    assert.equal(worker.batches.length, 2);
  });

  it('tries failures once at the end, and no later batch has those that were refused', async () => {
    for (const isRecorded of [true, false]) {
      const { worker, queue } = makeQueue();
      queue.recordFailure(failure);
      const ended = queue.endFailures(true);
      await turn();
      worker.answer(worker.batches[0] as KeyBatch, isRecorded);
      assert.equal(await ended, isRecorded);
      void queue.submit(task);
      await turn();
      assert.deepEqual(
        worker.batches.map(({ failures }) => failures.length),
        [1, 0],
      );
    }
  });

  it('drops failures at the end if they may not be written', async () => {
    const { worker, queue } = makeQueue();
    void queue.submit(task);
    queue.recordFailure(failure);
    await turn();
    assert.equal(await queue.endFailures(false), false);
    worker.answer(worker.batches[0] as KeyBatch, false);
    void queue.submit(task);
    await turn();
    assert.deepEqual(
      worker.batches.map(({ failures }) => failures.length),
      [1, 0],
    );
    assert.equal(await queue.endFailures(true), true);
  });
});

const ROW = plainRow();

/** A task that records a batch request of so many keys. */
const record = (rows: number): KeyTask => ({
  kind: 'record',
  requester: { accountId: 'a', apiKeyId: 'k', atMs: 0 },
  rows: [packRows(new Array(rows).fill(ROW))],
  counts: { streams: 0, streamsPassed: 0 },
  idempotency: null,
});

describe('key queue with batch requests', () => {
  const sizes = ({ batches }: FakeWorker) => batches.map(({ tasks }) => tasks.length);
  const rowsOf = ({ tasks }: KeyBatch) =>
    tasks.map((one) => (one.kind === 'record' ? rowCount(one.rows) : 1));

  it('sends as many rows of them as of single requests, which they do not delay', async () => {
    const { worker, queue } = makeQueue();
    const large = record(1_000);
    const small = record(24);
    for (let i = 0; i < 3; i++) {
      void queue.submit(large);
      for (let j = 0; j < 1_000; j++) void queue.submit(task);
      void queue.submit(small);
    }
    await turn();
    // Each answer lets the queue send the next batch, which is answered too.
    for (const batch of worker.batches) worker.answer(batch);
    await turn();
    const rows = worker.batches.map(rowsOf);
    assert.deepEqual(
      rows.map((ones) => ones.filter((one) => one > 1)),
      [[1_000, 24], [1_000, 24], [1_000, 24], [], []],
      'in order',
    );
    assert.deepEqual(
      rows.map((ones) => ones.filter((one) => one === 1).length),
      [1_024, 1_024, 477, 238, 237],
    );
  });

  it('counts each copy that a request fetches as a row', async () => {
    const { worker, queue } = makeQueue();
    const deliveryIds = new Array(100).fill(new Uint8Array(16));
    const box = { accountId: 'a', recipient: 'paris', action: 'fetch', nowMs: 0 } as const;
    const fetch: KeyTask = { kind: 'take_copies', order: { ...box, deliveryIds } };
    for (let i = 0; i < 25; i++) void queue.submit(fetch);
    void queue.submit(record(2));
    await turn();
    for (const batch of worker.batches) worker.answer(batch);
    await turn();
    assert.deepEqual(sizes(worker), [10, 10, 6], 'one transaction has at most 1,024 rows of them');
    for (let i = 0; i < 327; i++) void queue.submit(fetch);
    await assert.rejects(queue.submit(fetch), { code: 'overloaded' });
  });

  it('bounds their waiting rows, and keeps room for single requests', async () => {
    const { queue } = makeQueue();
    const large = record(1_000);
    for (let i = 0; i < 32; i++) void queue.submit(large);
    await assert.rejects(queue.submit(large), { code: 'overloaded' });
    void queue.submit(record(700));
    for (let i = 0; i < 1_000; i++) void queue.submit(task);
    assert.deepEqual(queue.load, { waiting: 1_033, capacity: 8_192 });
  });
});

describe('key queue while the ledger hangs', () => {
  it('refuses tasks after they have waited ten seconds, in order of arrival', async (test) => {
    const pass = stopClock(test);
    const { queue } = makeQueue();
    const codes: string[] = [];
    const submit = (name: string) =>
      queue.submit(task).catch(({ code, details }) => {
        codes.push(`${name} ${code} ${details.retryAfterSeconds}`);
      });
    for (let i = 0; i < 2; i++) {
      void submit('sent');
      await turn();
    }
    void submit('first');
    pass(6_000);
    void submit('second');
    pass(4_000);
    await turn();
    assert.deepEqual(codes, ['first ledger_unavailable 5']);
    pass(6_000);
    await turn();
    assert.deepEqual(codes, ['first ledger_unavailable 5', 'second ledger_unavailable 5']);
  });

  it('does not send a task whose client has gone', async () => {
    const { worker, queue } = makeQueue();
    const outcomes = Promise.allSettled(
      [true, false, true].map((abandoned) => queue.submit(task, () => abandoned)),
    );
    await turn();
    worker.answer(worker.batches[0] as KeyBatch);
    assert.deepEqual(
      (await outcomes).map((one) => (one.status === 'fulfilled' ? 'answered' : one.reason.code)),
      ['request_timeout', 'answered', 'request_timeout'],
    );
  });

  it('keeps a bounded number of failures, however long the ledger hangs', async () => {
    const { worker, queue } = makeQueue();
    for (let round = 0; round < 20; round++) {
      for (let i = 0; i < 10_000; i++) queue.recordFailure(failure);
      void queue.submit(task);
      await turn();
      if (round % 2 === 1) {
        for (const batch of worker.batches.splice(0)) worker.answer(batch, false);
      }
    }
    void queue.submit(task);
    await turn();
    assert.equal(worker.batches[0]?.failures.length, 10_000);
  });
});

describe('key queue while plain keys wait for a verdict', () => {
  it('answers other tasks, and sends the plain keys again after the verdict', async () => {
    const { worker, queue } = makeQueue();
    const { outcomes, submit } = outcomesOf(queue);
    submit(generate);
    submit(task);
    await turn();
    worker.answerAll(true, 'generate');
    for (let i = 0; i < 3; i++) {
      submit(task);
      await turn();
      assert.deepEqual(worker.batches.at(-1)?.tasks, [task]);
      worker.answerAll(true);
    }
    await turn();
    assert.deepEqual(outcomes, new Array(4).fill('probed'));
    assert.equal(queue.load.waiting, 1);
    submit(task);
    worker.emit('message', { verdictNoted: true });
    await turn();
    assert.deepEqual(worker.batches.at(-1)?.tasks, [generate, task], 'it came first');
    worker.answerAll(false);
    await turn();
    assert.deepEqual([outcomes.length, queue.load.waiting], [6, 0]);
  });

  it('sends plain keys again at once if no verdict is pending', async () => {
    const { worker, queue } = makeQueue();
    const { outcomes, submit } = outcomesOf(queue);
    submit(generate);
    await turn();
    worker.answerAll(false, 'generate');
    await turn();
    assert.equal(worker.batches.length, 1);
    worker.answerAll(false);
    await turn();
    assert.deepEqual(outcomes, ['probed']);
  });

  it('refuses plain keys after ten seconds with the suite as the reason, not the ledger', async (test) => {
    const pass = stopClock(test);
    const { worker, queue } = makeQueue();
    const { outcomes, submit } = outcomesOf(queue);
    submit(generate);
    await turn();
    worker.answerAll(true, 'generate');
    pass(9_999);
    await turn();
    assert.deepEqual(outcomes, []);
    pass(1);
    await turn();
    assert.deepEqual(outcomes, ['entropy_unavailable: the suite does not answer']);
    worker.emit('message', { verdictNoted: true });
    await turn();
    assert.equal(worker.batches.length, 0);
  });

  it('drops plain keys after their clients have gone', async () => {
    const { worker, queue } = makeQueue();
    const { outcomes, submit } = outcomesOf(queue);
    let gone = false;
    submit(generate, () => gone);
    await turn();
    worker.answerAll(true, 'generate');
    gone = true;
    worker.emit('message', { verdictNoted: true });
    await turn();
    assert.deepEqual([worker.batches.length, outcomes.length], [0, 1]);
  });

  it('reserves half of its places for other tasks', async () => {
    const { worker, queue } = makeQueue();
    const { outcomes, submit } = outcomesOf(queue);
    for (let i = 0; i < 8_192; i++) submit(generate);
    for (let i = 0; i < 8; i++) {
      await turn();
      worker.answerAll(true, 'generate');
    }
    await turn();
    assert.deepEqual(new Set(outcomes), new Set(['overloaded: undefined']));
    assert.deepEqual([outcomes.length, queue.load.waiting], [4_096, 4_096]);
    submit(task);
    await turn();
    worker.answerAll(true);
    await turn();
    assert.equal(outcomes.at(-1), 'probed');
  });
});

describe('key queue while an account is locked', () => {
  it('answers other tasks, and sends those of the account again after a pause', async (test) => {
    const pass = stopClock(test);
    const { worker, queue } = makeQueue();
    const { outcomes, submit } = outcomesOf(queue);
    submit(generate);
    submit(task);
    await turn();
    worker.answerLocked(null, 'generate');
    await turn();
    assert.deepEqual([outcomes, queue.load.waiting], [['probed'], 1]);
    pass(199);
    await turn();
    assert.equal(worker.batches.length, 0);
    submit(task);
    pass(1);
    await turn();
    assert.deepEqual(worker.batches.at(-1)?.tasks, [generate, task], 'it came first');
    worker.answerAll(false);
    await turn();
    assert.deepEqual(outcomes, ['probed', 'probed', 'probed']);
  });

  it('sends what the worker returned in the place of a task', async (test) => {
    const pass = stopClock(test);
    const { worker, queue } = makeQueue();
    const { outcomes, submit } = outcomesOf(queue);
    submit(generate);
    await turn();
    worker.answerLocked(task, 'generate');
    pass(200);
    await turn();
    assert.deepEqual(worker.batches.at(-1)?.tasks, [task]);
    worker.answerAll(false);
    await turn();
    assert.deepEqual(outcomes, ['probed']);
  });

  it('refuses them after four seconds, and more than 256 at once', async (test) => {
    const pass = stopClock(test);
    const { worker, queue } = makeQueue();
    const { outcomes, submit } = outcomesOf(queue);
    const words = 'ledger_unavailable: another session locks a row of the account';
    for (let i = 0; i < 257; i++) submit(generate);
    await turn();
    while (worker.batches.length > 0) worker.answerLocked(null, 'generate');
    await turn();
    assert.deepEqual([outcomes, queue.load.waiting], [[words], 256]);
    for (let ms = 200; ms <= 4_000; ms += 200) {
      assert.equal(outcomes.length, 1);
      pass(200);
      await turn();
      while (worker.batches.length > 0) worker.answerLocked(null, 'generate');
      await turn();
    }
    assert.deepEqual([new Set(outcomes), outcomes.length], [new Set([words]), 257]);
    assert.equal(queue.load.waiting, 0);
  });
});
