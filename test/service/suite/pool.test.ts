import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, it } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { instantNow, systemClock } from '../../../src/clock.ts';
import { AppError } from '../../../src/errors.ts';
import type { SampleVerdict } from '../../../src/keys/evidence-suite.ts';
import { Latch } from '../../../src/keys/latch.ts';
import { SuiteLateness } from '../../../src/service/suite/limit.ts';
import type {
  SuiteJob,
  SuiteReply,
  SuiteWorkerMessage,
} from '../../../src/service/suite/messages.ts';
import { SuitePool } from '../../../src/service/suite/pool.ts';
import type { KeyWork } from '../../../src/service/suite/work.ts';
import { toFailure } from '../../../src/service/threads/failures.ts';
import { packKeys, unpackKeys } from '../../../src/service/threads/packed-keys.ts';
import { packRows, rowCount } from '../../../src/service/threads/packed-rows.ts';
import { order, plainKey, plainRow, STAGED, sampleVerdict } from '../../support/servers/fakes.ts';

const STATUS = { reseeds: 0, sources: [] };
const HALF_OF_THE_QUEUE = 128;
const present = () => false;

/** The evidence of a worker whose last sample passed. */
const evidence = (failures = 0) => ({
  goodAt: instantNow(systemClock),
  isFailed: false,
  failures,
});

/** Records messages, and finishes jobs on command. */
class FakeWorker extends EventEmitter {
  readonly messages: unknown[] = [];
  readonly jobs: SuiteJob[] = [];
  /** The jobs of the message in progress. */
  running: readonly SuiteJob[] = [];

  postMessage(message: unknown): void {
    this.messages.push(message);
    if (typeof message === 'object' && message !== null && 'jobs' in message) {
      assert.ok(!this.isBusy, 'it has no other jobs');
      this.running = message.jobs as readonly SuiteJob[];
      this.jobs.push(...this.running);
    }
  }

  /** Completes the jobs in progress, each with the changes at its place, and returns their keys. */
  finish(...changes: Partial<SuiteReply>[]): Uint8Array[] {
    assert.ok(this.isBusy, 'a job is in progress');
    const made = this.running.map((job, i) => madeBy(job, changes[i]));
    this.running = [];
    const replies = made.map(({ reply }) => reply as unknown as SuiteReply);
    this.emit('message', { replies } satisfies SuiteWorkerMessage);
    return made.flatMap(({ keys }) => unpackKeys(keys).map(({ key }) => key));
  }

  get isBusy(): boolean {
    return this.running.length > 0;
  }

  settled(): unknown[] {
    return this.messages.filter((one) => typeof one === 'object' && one && 'settled' in one);
  }
}

function madeBy(job: SuiteJob, changes: Partial<SuiteReply> = {}) {
  const keys = packKeys(
    Array.from({ length: job.count }, () => plainKey({ keyId: `job ${job.id}` })),
  );
  return {
    keys,
    reply: {
      jobId: job.id,
      result: {
        kind: 'made',
        rows: packRows(Array.from({ length: job.count }, plainRow)),
        keys,
        sealed: [],
      },
      counts: { streams: job.count, streamsPassed: job.count },
      samples: [],
      evidence: evidence(),
      ms: job.count * (job.order.withEvidence ? 8 : 0.05),
      status: STATUS,
      ...changes,
    },
  };
}

const isWiped = (key: Uint8Array) => key.every((byte) => byte === 0);

function keyWork(accountId: string, changes: Partial<KeyWork> = {}): KeyWork {
  const requester = { accountId, apiKeyId: 'k', atMs: 0 };
  const withEvidence = order({ withEvidence: true });
  const work = { order: withEvidence, recipients: [], delivery: null, count: 1, isBatch: false };
  return { requester, ...work, ...changes };
}

const plainBatch = (count: number) => ({ count, isBatch: true, order: order() });
const RECIPIENT = { suite: 'MLKEM768-X25519', publicKey: Buffer.alloc(1_216) } as const;
const validatedBatch = (count: number) => ({ count, isBatch: true });

function makePool(workers = 1) {
  const all = Array.from({ length: workers }, () => new FakeWorker());
  const latch = Latch.forThreads(2);
  const unvouched: (readonly string[])[] = [];
  const late: boolean[] = [];
  const lateness = new SuiteLateness((isLate) => late.push(isLate));
  const pool = new SuitePool(
    latch,
    {
      onEvidenceWarning: (warning) => assert.fail(JSON.stringify(warning)),
      onUnvouchedKeys: (keyIds) => unvouched.push(keyIds),
    },
    lateness,
  );
  for (const worker of all) pool.add(worker as unknown as Worker, STATUS);
  const submit = (
    account: string,
    changes: Partial<KeyWork> = {},
    abandoned: () => boolean = present,
  ) => pool.submit(keyWork(account, changes), abandoned);
  const [worker = new FakeWorker()] = all;
  return { worker, workers: all, submit, pool, latch, unvouched, late };
}

const isCode = (code: string) => (error: unknown) =>
  error instanceof AppError && error.code === code;

describe('suite pool', () => {
  it('gives a worker one job at a time', async () => {
    const { worker, submit } = makePool();
    const [first, second] = [submit('a'), submit('a')];
    assert.equal(worker.jobs.length, 1);
    worker.finish();
    await first.outcome;
    assert.equal(worker.jobs.length, 2);
    worker.finish();
    await second.outcome;
  });

  it('refuses a key after ten seconds of waiting', async (test) => {
    test.mock.timers.enable({ apis: ['setTimeout'] });
    const { worker, submit, pool } = makePool();
    submit('a', plainBatch(1));
    const refused = assert.rejects(submit('a').outcome, isCode('entropy_unavailable'));
    test.mock.timers.tick(9_999);
    assert.equal(pool.load.waiting, 1);
    test.mock.timers.tick(1);
    await refused;
    assert.equal(pool.load.waiting, 0);
    assert.equal(worker.jobs.length, 1);
  });

  it('refuses a key whose worker hangs, is late meanwhile, and wipes a late answer', async (test) => {
    test.mock.timers.enable({ apis: ['setTimeout'] });
    const { worker, submit, late } = makePool();
    const hung = assert.rejects(submit('a').outcome, isCode('entropy_unavailable'));
    test.mock.timers.tick(9_999);
    assert.deepEqual(late, []);
    test.mock.timers.tick(1);
    await hung;
    assert.deepEqual(late, [true]);
    const later = submit('b');
    assert.ok(worker.finish().every(isWiped));
    assert.deepEqual(late, [true, false]);
    worker.finish();
    assert.equal((await later.outcome).kind, 'made');
    test.mock.timers.tick(60_000);
    assert.deepEqual(late, [true, false], 'an idle worker is not late');
  });

  it('is late until all workers have answered, also with a job of a batch or a sample', async (test) => {
    test.mock.timers.enable({ apis: ['setTimeout'] });
    const { workers, submit, pool, late } = makePool(2);
    submit('a', plainBatch(1));
    void pool.judge(new Uint8Array(8));
    test.mock.timers.tick(10_000);
    assert.deepEqual(late, [true]);
    workers[0]?.finish();
    assert.deepEqual(late, [true]);
    workers[1]?.emit('message', sampleVerdict(true) satisfies SampleVerdict);
    assert.deepEqual(late, [true, false]);
  });

  it('limits an account to half of the places and leaves the rest to others', () => {
    const { submit } = makePool();
    for (let i = 0; i < 1 + HALF_OF_THE_QUEUE; i++) submit('a');
    assert.throws(() => submit('a'), isCode('overloaded'));
    for (let i = 0; i < HALF_OF_THE_QUEUE; i++) submit('b');
    assert.throws(() => submit('c'), isCode('overloaded'));
  });

  it('has four times as many places for sealed keys without validation', () => {
    const { submit, pool } = makePool();
    const sealed = { order: order(), recipients: [RECIPIENT] };
    for (let i = 0; i < 1 + 4 * HALF_OF_THE_QUEUE; i++) submit('a', sealed);
    assert.throws(() => submit('a', sealed), isCode('overloaded'));
    assert.deepEqual(pool.load, { waiting: HALF_OF_THE_QUEUE, capacity: 2 * HALF_OF_THE_QUEUE });
    for (let i = 0; i < HALF_OF_THE_QUEUE - 1; i++) submit('b');
    for (let i = 0; i < 4; i++) submit('b', sealed);
    assert.throws(() => submit('c', sealed), isCode('overloaded'));
  });

  it('begins no job of a client that has gone, wherever it waits', async () => {
    const { worker, submit } = makePool();
    submit('a');
    const gone = () => true;
    const left = [submit('a', {}, gone), submit('a', {}, gone)];
    const stays = submit('b');
    const late = submit('a', {}, gone);
    worker.finish();
    worker.finish();
    await stays.outcome;
    for (const one of [...left, late]) await assert.rejects(one.outcome, isCode('request_timeout'));
    assert.equal(worker.jobs.length, 2);
  });

  it('frees the places of clients that have gone', async () => {
    const { worker, submit } = makePool();
    submit('a');
    let gone = false;
    const left = Array.from({ length: HALF_OF_THE_QUEUE }, () => submit('a', {}, () => gone));
    assert.throws(() => submit('a'), isCode('overloaded'));
    gone = true;
    const stays = submit('a');
    for (const one of left) await assert.rejects(one.outcome, isCode('request_timeout'));
    worker.finish();
    worker.finish();
    await stays.outcome;
    assert.equal(worker.jobs.length, 2, 'a job that no client waits for was begun');
  });

  it('judges a sample before the waiting jobs, however full the queue is', async () => {
    const { worker, submit, pool } = makePool();
    const first = submit('a');
    for (let i = 0; i < HALF_OF_THE_QUEUE; i++) submit('a');
    submit('a', validatedBatch(10));
    const sample = new Uint8Array(8);
    const judged = pool.judge(sample);
    assert.equal(pool.load.waiting, HALF_OF_THE_QUEUE, 'it takes no place of a job');
    worker.finish();
    await first.outcome;
    assert.deepEqual(worker.messages.at(-1), { sample });
    worker.emit('message', sampleVerdict(false) satisfies SampleVerdict);
    assert.deepEqual(await judged, sampleVerdict(false));
    assert.equal(worker.jobs.length, 2, 'then the jobs continue');
  });

  it('judges a sample even after the process latched', async () => {
    const { worker, pool, latch } = makePool();
    latch.set(STAGED);
    const judged = pool.judge(new Uint8Array(8));
    worker.emit('message', sampleVerdict(true) satisfies SampleVerdict);
    assert.equal((await judged).gate.verdict, 'PASS');
  });

  it('refuses waiting and later jobs after any thread has latched', async () => {
    const { worker, submit, pool, latch } = makePool();
    const first = submit('a');
    const second = submit('a');
    const batch = submit('a', validatedBatch(10));
    new Latch(latch.memory).set(STAGED);
    await assert.rejects(second.outcome, isCode('entropy_unavailable'));
    await assert.rejects(batch.outcome, isCode('entropy_unavailable'));
    assert.throws(() => submit('a'), isCode('entropy_unavailable'));
    assert.deepEqual(pool.load, { waiting: 0, capacity: 0 });
    assert.deepEqual(pool.batchLoad, { waiting: 0, capacity: 0 });
    worker.finish();
    await first.outcome;
    assert.equal(worker.jobs.length, 1);
  });

  it('asks the workers for keys in doubt after a latch, behind all that was settled', async () => {
    const { worker, submit, latch, unvouched } = makePool();
    const work = submit('a', plainBatch(3));
    worker.finish();
    await work.outcome;
    work.recorded();
    latch.set(STAGED);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(worker.messages.slice(1), [{ settled: 1, recorded: true }, 'unvouched']);
    worker.emit('message', { unvouchedKeys: [], lastGoodMs: 1 });
    worker.emit('message', { unvouchedKeys: ['phm_1'], lastGoodMs: 1 });
    assert.deepEqual(unvouched, [['phm_1']], 'a worker without such keys is not reported');
  });

  it('does not start a job whose client has gone', async () => {
    const { worker, submit } = makePool();
    submit('a');
    const left = submit('a', {}, () => worker.jobs.length > 0);
    worker.finish();
    await assert.rejects(left.outcome, isCode('request_timeout'));
    assert.equal(worker.jobs.length, 1);
  });
});

describe('suite pool with batches', () => {
  it('spreads the keys of a batch over all workers, and returns them in order', async () => {
    const { workers, submit } = makePool(3);
    const work = submit('a', plainBatch(1_000));
    assert.deepEqual(
      workers.map(({ jobs }) => jobs.map(({ count }) => count)),
      [[100], [100], [100]],
      'about five milliseconds of work each',
    );
    for (let i = 0; i < 4; i++) {
      for (const worker of workers.toReversed()) {
        if (worker.jobs.length > i) worker.finish();
      }
    }
    const outcome = await work.outcome;
    assert.ok(outcome.kind === 'made');
    assert.deepEqual([rowCount(outcome.rows), outcome.keys.length], [1_000, 1_000]);
    const jobs = outcome.keys.map(({ keyId }) => Number(keyId.slice('job '.length)));
    assert.deepEqual(
      jobs,
      jobs.toSorted((one, other) => one - other),
    );
    assert.deepEqual(work.counts, { streams: 1_000, streamsPassed: 1_000 });
  });

  it('alternates single keys and parts of batches', () => {
    const { worker, submit } = makePool();
    submit('a', validatedBatch(5));
    for (let i = 0; i < 4; i++) submit('b');
    for (let i = 0; i < 8; i++) worker.finish();
    assert.deepEqual(worker.jobs.map(({ requester }) => requester.accountId).join(''), 'ababababa');
  });

  it('lets accounts take turns, each with its oldest batch', () => {
    const { worker, submit } = makePool();
    submit('a', validatedBatch(4));
    submit('a', { ...validatedBatch(1), order: order({ withEvidence: true, securityLevel: 384 }) });
    submit('b', validatedBatch(2));
    submit('c', validatedBatch(1));
    for (let i = 0; i < 7; i++) worker.finish();
    const jobs = worker.jobs.map(({ requester }) => requester.accountId);
    assert.equal(jobs.join(''), 'aabcabaa');
    assert.equal(worker.jobs.at(-1)?.order.securityLevel, 384);
  });

  it('does the oldest batch first if it would be late otherwise', (test) => {
    let nowMs = 0;
    test.mock.method(process.hrtime, 'bigint', () => BigInt(nowMs) * 1_000_000n);
    const { worker, submit } = makePool();
    submit('a', validatedBatch(500));
    submit('b', validatedBatch(100));
    const next = () => {
      worker.finish();
      return worker.jobs.at(-1)?.requester.accountId;
    };
    assert.deepEqual([next(), next(), next()], ['a', 'b', 'a']);
    // 497 keys of a need 8 s beside single keys, and 99 of b 1.6 s more.
    nowMs = 9_500;
    assert.deepEqual([next(), next(), next()], ['a', 'a', 'a']);
  });

  it('ends every batch that it admits in time, whatever else arrives (simulation)', async (test) => {
    let nowMs = 0;
    test.mock.method(process.hrtime, 'bigint', () => BigInt(nowMs) * 1_000_000n);
    test.mock.timers.enable({ apis: ['setTimeout'] });
    let seed = 7;
    const random = (max: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % max;
    };
    const { workers, submit, pool } = makePool(2);
    const outcomes: Promise<unknown>[] = [];
    let refused = 0;
    for (let i = 0; i < 4_000; i++) {
      // Single keys always wait, and batches of four accounts come whenever they are admitted.
      while (pool.load.waiting < 8) submit('single');
      const account = `account ${random(4)}`;
      const batch = validatedBatch(1 + random(random(4) === 0 ? 1_000 : 50));
      if (random(20) === 0) {
        const tooLarge = pool.tooLarge(keyWork(account, batch));
        try {
          const work = submit(account, { ...batch, count: tooLarge?.maxCount ?? batch.count });
          outcomes.push(work.outcome);
        } catch {
          refused += 1;
        }
      }
      nowMs += 8;
      test.mock.timers.tick(8);
      for (const worker of workers) worker.finish();
    }
    for (let i = 0; i < 3_000; i++)
      for (const worker of workers) if (worker.isBusy) worker.finish();
    assert.ok(refused > 10 && outcomes.length > 10, `${refused} refused of ${outcomes.length}`);
    const late = (await Promise.allSettled(outcomes)).filter(({ status }) => status === 'rejected');
    assert.equal(late.length, 0);
  });

  it('wipes what is made of a batch, and what comes later, when one job fails', async () => {
    const { workers, submit, pool } = makePool(2);
    const work = submit('a', plainBatch(1_000));
    const [one, other] = workers as [FakeWorker, FakeWorker];
    const made = one.finish();
    const failure = {
      code: 'entropy_unavailable',
      reason: 'staged',
      retryAfterSeconds: 5,
    } as const;
    other.finish({ result: { kind: 'failed', failure } });
    const late = one.finish();
    await assert.rejects(work.outcome, isCode('entropy_unavailable'));
    assert.ok([...made, ...late].every(isWiped));
    assert.deepEqual([pool.batchLoad.waiting, one.jobs.length, other.jobs.length], [0, 2, 1]);
    assert.deepEqual(
      one.settled().map((message) => (message as { recorded: boolean }).recorded),
      [false, false],
    );
  });

  it('wipes and drops a batch whose client has gone', async () => {
    const { worker, submit } = makePool();
    let gone = false;
    const work = submit('a', plainBatch(300), () => gone);
    const made = worker.finish();
    gone = true;
    const late = worker.finish();
    await assert.rejects(work.outcome, isCode('request_timeout'));
    assert.ok([...made, ...late].every(isWiped));
    assert.equal(worker.jobs.length, 2);
  });

  it('refuses a batch that is not done after twenty seconds, even if all of it is begun', async (test) => {
    test.mock.timers.enable({ apis: ['setTimeout'] });
    const { workers, submit } = makePool(2);
    const work = submit('a', validatedBatch(2));
    const [one, other] = workers as [FakeWorker, FakeWorker];
    const made = one.finish();
    test.mock.timers.tick(20_000);
    await assert.rejects(work.outcome, isCode('overloaded'));
    const late = other.finish();
    assert.ok([...made, ...late].every(isWiped));
  });

  it('keeps keys that are recorded, and wipes those that are not', async () => {
    const { worker, submit } = makePool();
    for (const isRecorded of [true, false]) {
      const work = submit('a', plainBatch(2));
      const keys = worker.finish();
      await work.outcome;
      if (isRecorded) work.recorded();
      work.drop();
      assert.deepEqual(keys.map(isWiped), [!isRecorded, !isRecorded]);
    }
    const settled = worker.settled().map((one) => (one as { recorded: boolean }).recorded);
    assert.deepEqual(settled, [true, false]);
  });

  it('knows whether the generators behind plain keys are still good', async () => {
    const { worker, submit } = makePool();
    const work = submit('a', plainBatch(2));
    worker.finish();
    await work.outcome;
    assert.equal(work.mayRelease(), true);
    submit('a', plainBatch(2));
    worker.finish({ evidence: { ...evidence(), isFailed: true } });
    assert.equal(work.mayRelease(), false);
  });

  it('does not release plain keys before a failed sample, although a second one passed', async () => {
    const { worker, submit } = makePool();
    const work = submit('a', plainBatch(2));
    worker.finish();
    await work.outcome;
    const later = submit('a', plainBatch(2));
    worker.finish({ samples: [false, true], evidence: evidence(1) });
    await later.outcome;
    assert.deepEqual([work.mayRelease(), later.mayRelease()], [false, true]);
  });

  it('does not release plain keys after a failed sample between two jobs, nor once they are recorded', async () => {
    const { worker, submit } = makePool();
    const work = submit('a', plainBatch(2));
    worker.finish();
    await work.outcome;
    work.recorded();
    assert.equal(work.mayRelease(), true);
    const verdicts = { samples: [false, true], evidence: evidence(1) };
    worker.emit('message', { verdicts } satisfies SuiteWorkerMessage);
    assert.equal(work.mayRelease(), false);
  });

  it('does not release plain keys whose last good sample is ten minutes old', async () => {
    const { worker, submit } = makePool();
    const work = submit('a', plainBatch(2));
    const now = instantNow(systemClock);
    const goodAt = { ...now, monotonicMs: now.monotonicMs - 600_000 };
    worker.finish({ evidence: { ...evidence(), goodAt } });
    await work.outcome;
    assert.equal(work.mayRelease(), false);
  });

  it('names the largest validated batch that can be done in time', () => {
    const { submit, pool } = makePool(2);
    const fits = (count: number, account = 'a') =>
      pool.tooLarge(keyWork(account, validatedBatch(count)));
    // Two workers, nine seconds each, eight milliseconds a key before the first measurement.
    assert.deepEqual(fits(1_000), undefined);
    submit('a', validatedBatch(1_000));
    assert.deepEqual(fits(1_000), undefined);
    submit('b', validatedBatch(600));
    const largest = { kind: 'batch_too_large', maxCount: 652, reason: 'validation' };
    assert.deepEqual(fits(1_000, 'c'), largest, 'the two keys in the workers do not wait');
    assert.deepEqual(fits(652, 'c'), undefined);
    assert.deepEqual(pool.tooLarge(keyWork('c', plainBatch(1_000))), undefined);
  });

  it('measures the time for a key', () => {
    const { worker, pool, submit } = makePool();
    for (let i = 0; i < 1_000; i++) {
      submit('a');
      worker.finish({ ms: 16 });
    }
    const tooLarge = pool.tooLarge(keyWork('a', validatedBatch(1_000)));
    assert.ok(tooLarge && Math.abs(tooLarge.maxCount - 562) < 10, `${tooLarge?.maxCount}`);
  });

  for (const [what, batch] of [
    ['plain', plainBatch(1_000)],
    ['sealed', { ...plainBatch(1_000), recipients: [RECIPIENT] }],
    ['validated', validatedBatch(500)],
  ] as const) {
    it(`admits a ${what} batch again some time after its keys took long, although none was made since`, (test) => {
      let nowMs = 0;
      test.mock.method(process.hrtime, 'bigint', () => BigInt(nowMs) * 1_000_000n);
      const { worker, pool, submit } = makePool();
      submit('a', { ...batch, count: 1 });
      // A stall of the machine, counted as that of one key.
      worker.finish({ ms: 60_000 });
      const ask = () => submit('a', batch, () => true);
      assert.equal(pool.tooLarge(keyWork('a', batch)) !== undefined, what === 'validated');
      assert.throws(ask, isCode('overloaded'));
      nowMs = 5_000;
      assert.throws(ask, isCode('overloaded'));
      nowMs = 120_000;
      assert.equal(pool.tooLarge(keyWork('a', batch)), undefined);
      ask();
    });
  }

  it('forgets no measurement of keys that are quicker than expected, nor one while keys are made', (test) => {
    let nowMs = 0;
    test.mock.method(process.hrtime, 'bigint', () => BigInt(nowMs) * 1_000_000n);
    const { worker, pool, submit } = makePool();
    const measure = (ms: number) => {
      for (let i = 0; i < 1_000; i++) {
        nowMs += ms;
        submit('a');
        worker.finish({ ms });
      }
    };
    const largest = () => pool.tooLarge(keyWork('a', validatedBatch(100_000)))?.maxCount ?? 0;
    measure(4);
    nowMs += 3_600_000;
    assert.ok(largest() > 2_200, `${largest()}`);
    measure(20);
    assert.ok(largest() < 470, `${largest()}`);
  });

  it('refuses batches beyond its capacity, and of one account beyond half of it, but no single key', () => {
    const { submit } = makePool();
    submit('a', validatedBatch(600));
    assert.throws(() => submit('a', validatedBatch(1)), isCode('overloaded'));
    submit('b', validatedBatch(520));
    assert.throws(() => submit('c', validatedBatch(100)), isCode('overloaded'));
    assert.throws(() => submit('c', plainBatch(1_000)), isCode('overloaded'));
    submit('a');
    submit('c');
  });

  it('has every worker vouch for its last plain keys', async () => {
    const { workers, pool } = makePool(2);
    const vouched = pool.vouchForLast();
    for (const [i, worker] of workers.entries()) {
      assert.deepEqual(worker.messages, ['vouch']);
      worker.emit('message', { unvouched: i === 1 ? 'staged' : null });
    }
    assert.equal(await vouched, 'staged');
  });
});

/** A single sealed key. At the first pace of 0.25 ms for each, a message may have forty. */
const sealedKey = { order: order(), recipients: [RECIPIENT] };

const countOf = (worker: FakeWorker) => worker.running.length;

describe('sealed keys of several requests', () => {
  it('go to a worker in one message, in order, while they take no longer than two jobs of a batch', async () => {
    const { worker, submit } = makePool();
    const works = Array.from({ length: 46 }, (_, i) => submit(`account ${i}`, sealedKey));
    assert.equal(countOf(worker), 1);
    worker.finish();
    assert.equal(countOf(worker), 40);
    worker.finish();
    assert.equal(countOf(worker), 5);
    worker.finish();
    assert.deepEqual(
      worker.jobs.map(({ requester }) => requester.accountId),
      works.map(({ request }) => request.requester.accountId),
    );
    for (const { outcome } of works) assert.equal((await outcome).kind, 'made');
  });

  it('leave each other worker its part', () => {
    const { workers, submit } = makePool(3);
    for (let i = 0; i < 3 + 9; i++) submit('a', sealedKey);
    const [first, second, third] = workers;
    first?.finish();
    second?.finish();
    third?.finish();
    assert.deepEqual(workers.map(countOf), [3, 2, 2]);
  });

  it('share no message with validated keys, whichever come first', () => {
    const { worker, submit } = makePool();
    const order = [sealedKey, sealedKey, sealedKey, {}, sealedKey, sealedKey, {}, {}];
    for (const changes of order) submit('a', changes);
    const counts: number[] = [];
    while (worker.isBusy) {
      counts.push(countOf(worker));
      worker.finish();
    }
    assert.deepEqual(counts, [1, 2, 1, 2, 1, 1]);
  });

  it('share the time with small batches', () => {
    const { worker, submit } = makePool();
    const oneSealedKey = { ...plainBatch(1), recipients: [RECIPIENT] };
    submit('a');
    for (let i = 0; i < 300; i++) submit('a', oneSealedKey);
    for (let i = 0; i < 500; i++) submit('b', sealedKey);
    const made = { batches: 0, singles: 0 };
    for (let i = 0; i < 200; i++) {
      worker.finish(...worker.running.map(({ count }) => ({ ms: count * 0.25 })));
      made[worker.running[0]?.requester.accountId === 'a' ? 'batches' : 'singles'] +=
        countOf(worker);
    }
    assert.ok(made.batches >= 150, JSON.stringify(made));
    assert.ok(Math.abs(made.batches - made.singles) <= 40, JSON.stringify(made));
  });

  it('take turns with the jobs of a batch', () => {
    const { worker, submit } = makePool();
    submit('a', validatedBatch(3));
    for (let i = 0; i < 50; i++) submit('a', sealedKey);
    const kinds: string[] = [];
    while (worker.isBusy) {
      kinds.push(worker.running[0]?.order.withEvidence ? 'batch' : `${countOf(worker)} sealed`);
      worker.finish();
    }
    assert.deepEqual(kinds, ['batch', '40 sealed', 'batch', 'batch', '10 sealed']);
  });

  it('leave out those of disconnected clients', async () => {
    const { worker, submit } = makePool();
    submit('a');
    submit('a', sealedKey);
    const left = submit('a', sealedKey, () => true);
    const last = submit('a', sealedKey);
    worker.finish();
    assert.equal(countOf(worker), 1);
    worker.finish();
    await assert.rejects(left.outcome, isCode('request_timeout'));
    assert.equal(countOf(worker), 1);
    worker.finish();
    assert.equal((await last.outcome).kind, 'made');
  });

  it('have each its own outcome', async () => {
    const { worker, submit } = makePool();
    submit('a');
    const works = Array.from({ length: 3 }, () => submit('a', sealedKey));
    worker.finish();
    const failure = toFailure(new AppError('entropy_unavailable', { reason: 'broken' }));
    worker.finish({}, { result: { kind: 'failed', failure } });
    const [first, second, third] = works.map(({ outcome }) => outcome);
    assert.equal((await first)?.kind, 'made');
    await assert.rejects(second as Promise<unknown>, isCode('entropy_unavailable'));
    assert.equal((await third)?.kind, 'made');
  });

  it('are not released if a sample failed between them and the end of their message', async () => {
    const { worker, submit } = makePool();
    submit('a');
    const [early, late] = [submit('a', sealedKey), submit('a', sealedKey)];
    worker.finish();
    worker.finish({}, { samples: [false, true], evidence: evidence(1) });
    assert.equal((await early.outcome).kind, 'made');
    assert.deepEqual([early.mayRelease(), late.mayRelease()], [false, true]);
  });

  it('are all refused if their worker does not answer for ten seconds, and wiped when it does', async (test) => {
    test.mock.timers.enable({ apis: ['setTimeout'] });
    const { worker, submit, late } = makePool();
    submit('a');
    const works = [submit('a', sealedKey), submit('b', sealedKey)];
    worker.finish();
    test.mock.timers.tick(10_000);
    for (const { outcome } of works) {
      await assert.rejects(outcome, isCode('entropy_unavailable'));
    }
    assert.deepEqual(late, [true]);
    assert.ok(worker.finish().every(isWiped));
    assert.deepEqual(late, [true, false]);
  });

  it('end the process if a worker answers fewer than it has, or in another order', () => {
    const { worker, submit } = makePool();
    submit('a');
    submit('a', sealedKey);
    submit('a', sealedKey);
    worker.finish();
    const made = worker.running.map((job) => madeBy(job).reply);
    assert.throws(
      () => worker.emit('message', { replies: made.toReversed() }),
      /answered the jobs 3,2 in place of 2,3/,
    );
    assert.throws(
      () => worker.emit('message', { replies: [] }),
      /answered the jobs {2}in place of 2,3/,
    );
  });
});
