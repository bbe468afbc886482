/** Measurements of the queues: refusals, waits, batches, commits, stages. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, it } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { type EvidenceWarning, failedVerdict, Latch } from '../../src/keys/latch.ts';
import { ApiKeyLookups } from '../../src/service/access/api-key-lookups.ts';
import type { KeyObserver, Stage } from '../../src/service/observer.ts';
import { Statistics } from '../../src/service/reading/statistics.ts';
import { KeyQueue } from '../../src/service/requests/queue.ts';
import { SuitePool } from '../../src/service/suite/pool.ts';
import type { KeyTask, PackedBatch } from '../../src/service/threads/messages.ts';
import { packReply } from '../../src/service/threads/packed-batches.ts';
import { order, verdict } from '../support/servers/fakes.ts';

const TASK: KeyTask = { kind: 'authenticate', keyHashes: [], nowMs: 0 };
const WORK = {
  requester: { accountId: 'a', apiKeyId: 'k', atMs: 0 },
  order: order({ withEvidence: true }),
  recipients: [],
  delivery: null,
  count: 1,
  isBatch: false,
};
const STATUS = { reseeds: 0, sources: [] };
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Records the names of all calls and what was told, without times in a queue. */
class Notes {
  readonly told: unknown[] = [];
  readonly observer = new Proxy({} as KeyObserver, {
    get:
      (_, name) =>
      (...given: unknown[]) =>
        this.told.push([name, ...(name === 'waited' ? [given[0], Number(given[1]) >= 0] : given)]),
  });
}

class FakeWorker extends EventEmitter {
  readonly messages: unknown[] = [];

  postMessage(message: unknown): void {
    this.messages.push(message);
  }

  get asWorker(): Worker {
    return this as unknown as Worker;
  }
}

/** Records the stages, and checks that none ends before it begins. */
function stageNotes() {
  const stages: Stage[] = [];
  const onStage = (stage: Stage, startMs: number, endMs: number) => {
    assert.ok(startMs <= endMs, stage);
    stages.push(stage);
  };
  return { stages, onStage };
}

describe('the key queue’s reports', () => {
  it('cover waits, batches and commits, and the stages of each request', async () => {
    const notes = new Notes();
    const worker = new FakeWorker();
    const queue = new KeyQueue(worker.asWorker, () => {}, notes.observer);
    const { stages, onStage } = stageNotes();
    const answers = [queue.submit(TASK, undefined, onStage), queue.submit(TASK)];
    assert.deepEqual(queue.load, { waiting: 2, capacity: 8_192 });
    await turn();
    const { id } = worker.messages[0] as PackedBatch;
    const commit = { startMs: 5, endMs: 7, failure: 'staged', keys: 0 };
    const results = [{ kind: 'probed' }, { kind: 'probed' }] as const;
    const rest = { failuresRecorded: true, status: STATUS, awaitsVerdict: false };
    worker.emit('message', packReply({ id, results, commit, ...rest }));
    await Promise.all(answers);
    assert.deepEqual(notes.told, [
      ['batchSent', 2],
      ['waited', 'keys', true],
      ['waited', 'keys', true],
      ['committed', 2, false],
    ]);
    assert.deepEqual(stages, ['keys.wait', 'keys.batch', 'ledger.commit']);
  });

  it('cover refusals', async () => {
    const notes = new Notes();
    const queue = new KeyQueue(new FakeWorker().asWorker, () => {}, notes.observer);
    for (let i = 0; i < 8_192; i++) void queue.submit(TASK);
    await assert.rejects(queue.submit(TASK));
    assert.deepEqual(notes.told, [['refused', 'keys', false]]);
  });
});

/** Returns a pool that reports to `notes`. */
function poolOf(notes: Notes, ...workers: FakeWorker[]): SuitePool {
  const events = {
    onEvidenceWarning: () => {},
    onUnvouchedKeys: () => {},
    observer: notes.observer,
  };
  const pool = new SuitePool(Latch.forThreads(1), events);
  for (const worker of workers) pool.add(worker.asWorker, STATUS);
  return pool;
}

describe('the suite pool’s reports', () => {
  it('cover waits, jobs and refusals, and the stages of each request', async () => {
    const notes = new Notes();
    const failed: EvidenceWarning[] = [];
    const worker = new FakeWorker();
    const pool = new SuitePool(Latch.forThreads(1), {
      onEvidenceWarning: (warning) => failed.push(warning),
      onUnvouchedKeys: () => assert.fail('unvouched keys'),
      observer: notes.observer,
    });
    assert.equal(pool.load.capacity, 0);
    pool.add(worker.asWorker, STATUS);
    const { stages, onStage } = stageNotes();
    const { outcome } = pool.submit(WORK, () => false, onStage);
    const counts = { streams: 2, streamsPassed: 1 };
    worker.emit('message', {
      failedVerdict: failedVerdict(verdict(false), 'streams of validated keys'),
    });
    const failure = { code: 'entropy_unavailable', reason: 'staged' };
    const result = { kind: 'failed', failure };
    const reply = { jobId: 1, result, counts, samples: [true], ms: 3, status: STATUS };
    worker.emit('message', { replies: [reply] });
    await assert.rejects(outcome, { code: 'entropy_unavailable' });
    assert.deepEqual(notes.told, [
      ['waited', 'suite', true],
      ['plainEvidenceGathered', true],
      ['suiteJobDone', 3, counts],
    ]);
    assert.deepEqual(stages, ['suite.wait', 'suite.job']);
    assert.deepEqual(failed, [
      {
        failedVerdict: {
          judged: 'streams of validated keys',
          p: 0,
          test: 'rank',
          stream: 'carrier',
        },
      },
    ]);
    const half = pool.load.capacity / 2;
    for (let i = 0; i <= half; i++) pool.submit(WORK, () => false);
    assert.equal(pool.load.waiting, half);
    assert.throws(() => pool.submit(WORK, () => false), { code: 'overloaded' });
    assert.deepEqual(notes.told.at(-1), ['refused', 'suite', true]);
    const other = (accountId: string) => ({
      ...WORK,
      requester: { ...WORK.requester, accountId },
    });
    for (let i = 0; i < half; i++) pool.submit(other(`account ${i}`), () => false);
    assert.throws(() => pool.submit(other('late'), () => false), { code: 'overloaded' });
    assert.deepEqual(notes.told.at(-1), ['refused', 'suite', false]);
  });

  it('count a queue that two accounts fill as overload', () => {
    for (const queue of ['suite', 'batches']) {
      const notes = new Notes();
      const pool = poolOf(notes, new FakeWorker());
      const submit = (accountId: string) => {
        const requester = { ...WORK.requester, accountId };
        pool.submit({ ...WORK, requester, isBatch: queue === 'batches' }, () => false);
      };
      const refusalOf = (accountId: string) => {
        assert.throws(() => {
          for (let i = 0; i < 1_000; i++) submit(accountId);
        });
        return notes.told.at(-1);
      };
      assert.deepEqual(refusalOf('a'), ['refused', queue, true]);
      assert.deepEqual(refusalOf('b'), ['refused', queue, false]);
      assert.deepEqual(refusalOf('c'), ['refused', queue, false]);
      // A batch may reach a little beyond the half.
      if (queue === 'suite') assert.deepEqual(refusalOf('a'), ['refused', queue, false]);
    }
  });

  it('count a refusal without any worker as overload', () => {
    for (const isBatch of [false, true]) {
      const notes = new Notes();
      const pool = poolOf(notes);
      assert.throws(() => pool.submit({ ...WORK, isBatch }, () => false), { code: 'overloaded' });
      assert.deepEqual(notes.told, [['refused', isBatch ? 'batches' : 'suite', false]]);
    }
  });

  it('tell batches of an account that fills its share from a full queue', () => {
    const notes = new Notes();
    const pool = poolOf(notes, new FakeWorker());
    const submit = (accountId: string) => {
      const requester = { ...WORK.requester, accountId };
      pool.submit({ ...WORK, requester, count: 100, isBatch: true }, () => false);
    };
    const fill = (account: (i: number) => string) => {
      for (let i = 0; i < 1_000; i++) submit(account(i));
    };
    assert.throws(() => fill(() => 'a'), { code: 'overloaded' });
    assert.deepEqual(notes.told.splice(0).at(-1), ['refused', 'batches', true]);
    assert.throws(() => fill((i) => `account ${i}`), { code: 'overloaded' });
    assert.deepEqual(notes.told.at(-1), ['refused', 'batches', false]);
  });
});

/** Statistics whose thread answers nothing. */
function unansweredStatistics({ observer }: Notes): Statistics {
  const thread = { ask: () => new Promise<never>(() => {}), end: async () => {} };
  return new Statistics(thread, { kind: 'sqlite', path: 'unused' }, observer);
}

describe('the statistics’ reports', () => {
  it('cover refusals', async () => {
    const notes = new Notes();
    const statistics = unansweredStatistics(notes);
    const questions = {
      activity: (accountId: string) => statistics.activity({ accountId, sinceMs: 0 }),
      statistics: (accountId: string) =>
        statistics.randomness({ accountId, keys: 1, withPValues: false }),
    };
    for (const [name, ask] of Object.entries(questions)) {
      const load = () => statistics.loads.find((one) => one.name === name);
      const capacity = load()?.capacity ?? 0;
      assert.deepEqual(load(), { name, waiting: 0, capacity });
      for (let i = 0; i < capacity; i++) void ask(`account ${i}`);
      assert.deepEqual(load(), { name, waiting: capacity, capacity });
      await assert.rejects(ask('another'), { code: 'overloaded' });
      assert.deepEqual(notes.told.splice(0), [['refused', name, false]]);
    }
  });

  it('name refusals of an account that fills its share', async () => {
    const notes = new Notes();
    const statistics = unansweredStatistics(notes);
    const ask = () => statistics.randomness({ accountId: 'a', keys: 1, withPValues: false });
    for (let i = 0; i < 8; i++) void ask();
    await assert.rejects(ask(), { code: 'overloaded' });
    assert.deepEqual(notes.told, [['refused', 'statistics', true]]);
  });
});

describe('the API key lookups’ reports', () => {
  it('cover refusals', async () => {
    const notes = new Notes();
    const lookups = new ApiKeyLookups(() => new Promise(() => {}), notes.observer);
    const ask = () => lookups.unknown(Buffer.alloc(32), '192.0.2.1');
    const half = lookups.load.capacity / 2;
    // The first one is in progress and does not wait.
    for (let i = 0; i <= half; i++) void ask();
    assert.equal(lookups.load.waiting, half);
    await assert.rejects(ask());
    assert.deepEqual(notes.told.splice(0), [['refused', 'lookups', true]]);
    for (let i = 0; lookups.load.waiting < lookups.load.capacity; i++) {
      void lookups.unknown(Buffer.alloc(32), `address ${i}`);
    }
    await assert.rejects(lookups.unknown(Buffer.alloc(32), 'late'));
    assert.deepEqual(notes.told, [['refused', 'lookups', false]]);
  });
});
