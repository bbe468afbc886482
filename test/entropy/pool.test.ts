import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it, type TestContext } from 'node:test';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { allocatePool, type Pool, PooledSource, PoolFiller } from '../../src/entropy/pool.ts';
import { AppError } from '../../src/errors.ts';

const DRAWS = 4;

function makePool(creditBitsPerDraw = 192): { pool: Pool; filler: PoolFiller } {
  const memory = allocatePool(DRAWS);
  const filler = new PoolFiller(memory);
  filler.setState('delivering');
  const isSeparate = true;
  return { pool: { name: 'jitter', kind: 'noise', creditBitsPerDraw, isSeparate, memory }, filler };
}

// Words of the header in the module's layout.
const TAIL = 1;
const STATE = 2;

/**
 * Runs the work of another thread right after each load of a word, which real threads do once in
 * many runs.
 */
function afterLoadsOf(t: TestContext, word: number, work: () => void): void {
  const { load } = Atomics;
  let working = false;
  t.mock.method(Atomics, 'load', (words: Int32Array, index: number) => {
    const value = load(words, index);
    if (index === word && !working) {
      working = true;
      work();
      working = false;
    }
    return value;
  });
}

const numbered = (n: number) => Buffer.alloc(32, n);

/** Returns the bytes of the slots without the header, which holds counters. */
const slotBytes = ({ memory }: Pool) => new Uint8Array(memory, 32);

const unavailable = (words: RegExp, seconds: number) => (error: unknown) =>
  error instanceof AppError &&
  error.code === 'entropy_unavailable' &&
  words.test(error.details.detail ?? '') &&
  error.details.retryAfterSeconds === seconds;

describe('a draw pool', () => {
  it('returns draws in order, with credit and job', () => {
    const { pool, filler } = makePool();
    const source = new PooledSource(pool);
    assert.equal(filler.put(numbered(1), 'job-a'), true);
    assert.equal(filler.put(numbered(2), null), true);
    const claim = { creditBits: 192, isSeparate: true };
    assert.deepEqual(source.draw(), { bytes: numbered(1), ...claim, jobId: 'job-a' });
    assert.deepEqual(source.draw(), { bytes: numbered(2), ...claim, jobId: null });
    assert.equal(source.status().draws, 2);
  });

  it('has a limit and refuses draws when full', () => {
    const { pool, filler } = makePool();
    for (let n = 1; n <= DRAWS; n++) assert.equal(filler.put(numbered(n), null), true);
    assert.equal(filler.waiting, DRAWS);
    assert.equal(filler.put(numbered(9), null), false);
    assert.deepEqual(new PooledSource(pool).draw().bytes, numbered(1));
    assert.equal(filler.put(numbered(9), null), true);
  });

  it('keeps nothing of a taken draw', () => {
    const { pool, filler } = makePool();
    filler.put(numbered(0xaa), 'job-b');
    assert.ok(slotBytes(pool).includes(0xaa));
    new PooledSource(pool).draw();
    assert.ok(!slotBytes(pool).includes(0xaa));
    assert.ok(!Buffer.from(slotBytes(pool)).includes('job-b'));
  });

  it('answers 503 with a retry time when empty', () => {
    const { pool, filler } = makePool();
    const source = new PooledSource(pool);
    assert.throws(() => source.draw(), unavailable(/"jitter": its pool is empty/, 1));
    filler.setState('failing', 30);
    assert.throws(() => source.draw(), unavailable(/it delivers nothing at present/, 30));
  });

  it('returns the remaining draws while the source fails', () => {
    const { pool, filler } = makePool();
    filler.put(numbered(1), null);
    filler.setState('failing', 30);
    const source = new PooledSource(pool);
    assert.equal(source.status().healthy, true);
    source.draw();
    assert.equal(source.status().healthy, false);
  });

  it('returns nothing before the startup tests, and loses nothing until then', () => {
    const { pool, filler } = makePool();
    filler.setState('starting');
    filler.put(numbered(1), 'job-a');
    const source = new PooledSource(pool);
    assert.throws(() => source.draw(), unavailable(/startup tests/, 1));
    assert.equal(source.status().healthy, false);
    filler.setState('delivering');
    assert.deepEqual(source.draw().bytes, numbered(1));
  });

  it('loses no draw while its source fails and recovers repeatedly', (t) => {
    const { pool, filler } = makePool();
    const source = new PooledSource(pool);
    let delivers = true;
    afterLoadsOf(t, STATE, () => {
      delivers = !delivers;
      filler.setState(delivers ? 'delivering' : 'failing');
    });
    for (let n = 1; n <= 2 * DRAWS; n++) {
      if (n % 2) source.status();
      filler.put(numbered(n), null);
      assert.deepEqual(source.draw().bytes, numbered(n));
    }
  });

  it('never reports a negative number of waiting draws', (t) => {
    const { pool, filler } = makePool();
    const source = new PooledSource(pool);
    afterLoadsOf(t, TAIL, () => {
      filler.put(numbered(1), null);
      source.draw();
    });
    assert.equal(source.status().pool?.waiting, 0);
  });

  it('returns nothing after a latch or close', () => {
    for (const state of ['latched', 'closed'] as const) {
      const { pool, filler } = makePool();
      filler.put(numbered(0xaa), null);
      filler.setState(state);
      const source = new PooledSource(pool);
      assert.throws(() => source.draw(), unavailable(/permanently|closed/, 1), state);
      assert.equal(source.status().healthy, false);
      assert.ok(!slotBytes(pool).includes(0xaa), 'the draw was wiped');
    }
  });

  it('returns nothing through a closed source', () => {
    const { pool, filler } = makePool();
    filler.put(numbered(1), null);
    const source = new PooledSource(pool);
    source.close();
    assert.throws(() => source.draw(), unavailable(/closed/, 1));
    assert.equal(filler.waiting, 1);
  });

  it('is wiped by drain', () => {
    const { pool, filler } = makePool();
    for (let n = 0; n < DRAWS; n++) filler.put(numbered(0xaa), 'job');
    filler.drain();
    assert.equal(filler.waiting, 0);
    assert.ok(slotBytes(pool).every((byte) => byte === 0));
  });

  it('behaves like a queue, even when its counters pass 2^31 and 2^32', () => {
    const step = fc.constantFrom('put', 'take');
    for (const start of [0, 2 ** 31 - 3, 2 ** 32 - 3]) {
      fc.assert(
        fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
          const { pool, filler } = makePool();
          new Int32Array(pool.memory, 0, 2).fill(start | 0);
          const source = new PooledSource(pool);
          const model: number[] = [];
          for (const [n, what] of steps.entries()) {
            if (what === 'put') {
              assert.equal(filler.put(numbered(n), null), model.length < DRAWS);
              if (model.length < DRAWS) model.push(n);
            } else if (model.length > 0) {
              assert.equal(source.draw().bytes[0], model.shift());
            } else {
              assert.throws(() => source.draw(), AppError);
            }
            assert.equal(filler.waiting, model.length);
          }
        }),
      );
    }
  });

  it('delivers each draw whole and once among several threads', async () => {
    const { pool, filler } = makePool();
    const TOTAL = 4_000;
    const workers = Array.from(
      { length: 3 },
      () => new Worker(new URL('./pool-taker.ts', import.meta.url), { workerData: pool }),
    );
    const taken: number[] = [];
    for (const worker of workers) worker.on('message', (n: number) => taken.push(n));
    const exits = workers.map((worker) => once(worker, 'exit'));
    for (let n = 1; n <= TOTAL; ) {
      const draw = Buffer.alloc(32);
      for (let i = 0; i < 8; i++) draw.writeUInt32BE(n, i * 4);
      if (filler.put(draw, null)) n += 1;
      else await filler.taken(100);
    }
    // A draw that is taken at the moment of the end is wiped, so all must arrive before.
    while (taken.length < TOTAL) await filler.taken(10);
    filler.setState('closed');
    await Promise.all(exits);
    assert.deepEqual(
      taken.sort((a, b) => a - b),
      Array.from({ length: TOTAL }, (_, i) => i + 1),
    );
    assert.ok(slotBytes(pool).every((byte) => byte === 0));
  });

  it('rejects impossible sizes, draws and job IDs', () => {
    for (const draws of [0, 1, 3, 2.5]) assert.throws(() => allocatePool(draws), RangeError);
    const { filler } = makePool();
    assert.throws(() => filler.put(Buffer.alloc(31), null), /"draw" expected 32 bytes, got 31/);
    for (const jobId of ['', 'a'.repeat(65), 'a b', 'ä']) {
      assert.throws(() => filler.put(numbered(1), jobId), RangeError, jobId);
    }
    assert.equal(filler.put(numbered(1), 'j'.repeat(64)), true);
  });
});
