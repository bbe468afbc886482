import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, it } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { AppError } from '../../src/errors.ts';
import { Latch } from '../../src/keys/latch.ts';
import type { SampleVerdict, SuiteJob, SuiteReply } from '../../src/service/messages.ts';
import { SuitePool } from '../../src/service/suite-pool.ts';
import { STAGED, verdict } from '../support/fakes.ts';

const STATUS = { reseeds: 0, sources: [] };
const HALF_OF_THE_QUEUE = 128;
const present = () => false;

/** Records messages, and finishes a job on command. */
class FakeWorker extends EventEmitter {
  readonly jobs: unknown[] = [];

  postMessage(job: unknown): void {
    this.jobs.push(job);
  }

  /** Resolves the job in progress and returns its key. */
  finish(): Uint8Array {
    const key = Buffer.alloc(32, 7);
    const counts = { streams: 1, streamsPassed: 1 };
    const reply = {
      result: { kind: 'generated', generated: { key } },
      counts,
      status: STATUS,
      failedVerdicts: [],
    };
    this.emit('message', reply as unknown as SuiteReply);
    return key;
  }
}

function makePool() {
  const worker = new FakeWorker();
  const latch = Latch.forThreads(2);
  const pool = new SuitePool(latch, ({ test }) => assert.fail(test));
  pool.add(worker as unknown as Worker, STATUS);
  const submit = (account: string, abandoned: () => boolean = present) =>
    pool.submit({ order: {} } as unknown as SuiteJob, account, abandoned);
  return { worker, submit, pool, latch };
}

const isCode = (code: string) => (error: unknown) =>
  error instanceof AppError && error.code === code;

describe('suite pool', () => {
  it('gives a worker one job at a time', async () => {
    const { worker, submit } = makePool();
    const [first, second] = [submit('a'), submit('a')];
    assert.equal(worker.jobs.length, 1);
    worker.finish();
    await first;
    assert.equal(worker.jobs.length, 2);
    worker.finish();
    await second;
  });

  it('refuses a job after ten seconds of waiting and accepts a late answer from its worker', async (test) => {
    test.mock.timers.enable({ apis: ['setTimeout'] });
    const { worker, submit, pool } = makePool();
    const underWay = submit('a');
    const refused = assert.rejects(submit('a'), isCode('entropy_unavailable'));
    test.mock.timers.tick(9_999);
    assert.equal(pool.load.waiting, 1);
    test.mock.timers.tick(1);
    await refused;
    assert.equal(pool.load.waiting, 0);
    worker.finish();
    await underWay;
    assert.equal(worker.jobs.length, 1);
  });

  it('limits an account to half of the places and leaves the rest to others', async () => {
    const { submit } = makePool();
    for (let i = 0; i < 1 + HALF_OF_THE_QUEUE; i++) void submit('a');
    await assert.rejects(submit('a'), isCode('overloaded'));
    for (let i = 0; i < HALF_OF_THE_QUEUE; i++) void submit('b');
    await assert.rejects(submit('c'), isCode('overloaded'));
  });

  it('frees the places of clients that have gone', async () => {
    const { worker, submit } = makePool();
    void submit('a');
    let gone = false;
    const left = Array.from({ length: HALF_OF_THE_QUEUE }, () => submit('a', () => gone));
    await assert.rejects(submit('a'), isCode('overloaded'));
    gone = true;
    const stays = submit('a');
    for (const one of left) await assert.rejects(one, isCode('request_timeout'));
    worker.finish();
    worker.finish();
    await stays;
    assert.equal(worker.jobs.length, 2, 'a job nobody waits for was begun');
  });

  it('judges a sample before the waiting jobs, however full the queue is', async () => {
    const { worker, submit, pool } = makePool();
    const first = submit('a');
    for (let i = 0; i < HALF_OF_THE_QUEUE; i++) void submit('a');
    const sample = new Uint8Array(8);
    const judged = pool.judge(sample);
    assert.equal(pool.load.waiting, HALF_OF_THE_QUEUE, 'it takes no place of a job');
    worker.finish();
    await first;
    assert.deepEqual(worker.jobs.at(-1), { sample });
    worker.emit('message', { gate: verdict(false) } satisfies SampleVerdict);
    assert.deepEqual(await judged, verdict(false));
    assert.equal(worker.jobs.length, 3, 'then the jobs go on');
  });

  it('judges a sample even after the process latched', async () => {
    const { worker, pool, latch } = makePool();
    latch.set(STAGED);
    const judged = pool.judge(new Uint8Array(8));
    worker.emit('message', { gate: verdict(true) } satisfies SampleVerdict);
    assert.equal((await judged).verdict, 'PASS');
  });

  it('refuses waiting and later jobs after any thread has latched', async () => {
    const { worker, submit, pool, latch } = makePool();
    const first = submit('a');
    const second = submit('a');
    new Latch(latch.memory).set(STAGED);
    await assert.rejects(second, isCode('entropy_unavailable'));
    await assert.rejects(submit('a'), isCode('entropy_unavailable'));
    assert.deepEqual(pool.load, { waiting: 0, capacity: 0 });
    worker.finish();
    await first;
    assert.equal(worker.jobs.length, 1);
  });

  it('does not start a job whose client has gone', async () => {
    const { worker, submit } = makePool();
    void submit('a');
    const left = submit('a', () => worker.jobs.length > 0);
    worker.finish();
    await assert.rejects(left, isCode('request_timeout'));
    assert.equal(worker.jobs.length, 1);
  });
});
