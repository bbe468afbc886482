import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, describe, it } from 'node:test';
import { NoiseFailure } from '../../src/entropy/noise.ts';
import { NoisePump, type SourceEvent } from '../../src/entropy/noise-pump.ts';
import { allocatePool, PooledSource, PoolFiller } from '../../src/entropy/pool.ts';
import { AppError } from '../../src/errors.ts';
import { goodSamples, type Script, ScriptedReader } from './scripted-reader.ts';

const DRAWS = 16;

const pumps: NoisePump[] = [];
const closePumps = () => Promise.all(pumps.splice(0).map((one) => one.close()));

function pump(script: Script, options?: ConstructorParameters<typeof ScriptedReader>[1]) {
  const reader = new ScriptedReader(script, options);
  const memory = allocatePool(DRAWS);
  const filler = new PoolFiller(memory);
  const source = new PooledSource({
    name: 'device',
    kind: 'noise',
    creditBitsPerDraw: 192,
    isSeparate: true,
    memory,
  });
  const events: SourceEvent[] = [];
  const noisePump = new NoisePump(reader, filler, (event) => events.push(event));
  pumps.push(noisePump);
  noisePump.start();
  return { reader, filler, source, events, pump: noisePump, memory };
}

/** Resolves once `condition` holds. Only the time limit of the test ends it otherwise. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1));
}

const kinds = (events: readonly SourceEvent[]) => events.map(({ kind }) => kind);

const stuckFrom = (first: number) => (i: number) =>
  i < first ? goodSamples(i) : Buffer.alloc(1024, 7);

/**
 * Puts one run of `length` equal symbols into good samples: H = 4, so 9 is intermittent and 16
 * permanent.
 */
function withRun(index: number, length: number): Buffer {
  const samples = goodSamples(index);
  samples.fill(3, 100, 100 + length);
  return samples;
}

// Several tests wait for a second, for the next attempt or for an idle pool.
describe('the noise pump', { concurrency: true }, () => {
  after(closePumps);

  it('fills the pool with SHA-256 of tested samples, then rests', async () => {
    const { source, filler, reader, events } = pump(goodSamples);
    await until(() => filler.waiting === DRAWS);
    const first = goodSamples(0).subarray(0, 64);
    assert.deepEqual(source.draw().bytes, createHash('sha256').update(first).digest());
    const second = goodSamples(0).subarray(64, 128);
    assert.deepEqual(source.draw().bytes, createHash('sha256').update(second).digest());
    assert.equal(source.status().healthy, true);
    assert.deepEqual(kinds(events), ['delivering']);
    assert.equal(reader.reads, 1);
  });

  it('refills after half of the pool is taken, not before', async () => {
    const { source, filler, reader } = pump(goodSamples);
    await until(() => filler.waiting === DRAWS);
    for (let i = 0; i < DRAWS / 2 - 1; i++) source.draw();
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(reader.reads, 1);
    source.draw();
    await until(() => filler.waiting === DRAWS);
    assert.equal(reader.reads, 2);
  });

  it('passes on the job of each draw', async () => {
    const { source, filler } = pump(goodSamples, { jobId: 'job-1' });
    await until(() => filler.waiting === DRAWS);
    assert.equal(source.draw().jobId, 'job-1');
  });

  it('wipes every batch that it receives', async () => {
    const { filler, reader, pump: noisePump } = pump((i) => (i < 3 ? goodSamples(i, 512) : 'wait'));
    await until(() => filler.waiting > 0);
    await noisePump.close();
    assert.ok(reader.batches.length >= 2);
    assert.ok(reader.batches.every((samples) => samples.every((byte) => byte === 0)));
  });

  it('delivers nothing before 1,024 samples pass the startup tests (§4.3)', async () => {
    const { source, reader } = pump((i) => (i < 3 ? goodSamples(i, 256) : 'wait'));
    await until(() => reader.reads === 4);
    assert.throws(() => source.draw(), AppError);
    assert.match(source.status().detail ?? '', /startup tests/);
  });

  it('uses no sample of a source that is stuck from the start', async () => {
    const { source, events, reader } = pump(stuckFrom(0));
    await until(() => events.length > 0);
    assert.equal(events[0].kind, 'latched');
    assert.match(events[0].detail, /repetition count test failed/);
    assert.throws(() => source.draw(), AppError);
    assert.match(source.status().detail ?? '', /permanently/);
    assert.equal(reader.reads, 1);
  });

  it('withdraws the waiting draws if the source gets stuck later', async () => {
    const { source, filler, events, memory } = pump(stuckFrom(1));
    await until(() => filler.waiting === DRAWS);
    for (let i = 0; i < DRAWS / 2; i++) source.draw();
    await until(() => events.some(({ kind }) => kind === 'latched'));
    assert.throws(() => source.draw(), AppError);
    assert.ok(new Uint8Array(memory, 32).every((byte) => byte === 0));
  });

  it('latches on a bias that the claimed entropy does not allow', async () => {
    // Half of all samples are one symbol: 1 bit of min-entropy instead of the claimed 4.
    const biased = (i: number) => goodSamples(i).map((byte) => (byte & 1 ? byte : 0));
    const { source, events } = pump(biased);
    await until(() => events.some(({ kind }) => kind === 'latched'));
    assert.match(events.at(-1)?.detail ?? '', /adaptive proportion test failed/);
    assert.throws(() => source.draw(), AppError);
  });

  it('latches if a block repeats, however good it looks', async () => {
    const { source, events } = pump((i) => goodSamples(i % 5, 256));
    while (kinds(events).at(-1) !== 'latched') {
      try {
        source.draw();
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    }
    assert.match(
      events.at(-1)?.detail ?? '',
      /^it delivered the samples of a draw twice; .+ restarted$/,
    );
    assert.throws(() => source.draw(), AppError);
  });

  it('latches if two draws of one batch use the same samples', async () => {
    const block = goodSamples(0, 64);
    const twice = Buffer.concat([goodSamples(1, 960), block, goodSamples(2, 960), block]);
    const { source, events } = pump(() => twice, { bytesPerDraw: 64 });
    while (kinds(events).at(-1) !== 'latched') {
      try {
        source.draw();
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    }
    assert.match(events.at(-1)?.detail ?? '', /the samples of a draw twice/);
    assert.throws(() => source.draw(), AppError);
  });

  it("counts a failure of the source's own test as intermittent (§4.5)", async () => {
    const { events, reader } = pump(goodSamples, { finding: 'too regular' });
    await until(() => kinds(events).includes('latched'));
    assert.deepEqual(kinds(events), ['intermittent', 'intermittent', 'latched']);
    assert.equal(events[0].detail, 'too regular');
    assert.equal(reader.reads, 3);
  });

  it('restarts its tests after a failure, so that a run does not continue across it', async () => {
    // H = 4: a run of 9 fails. Eight before the failure and eight after it are two runs.
    const ending = goodSamples(0);
    ending.fill(3, 1024 - 8);
    const beginning = goodSamples(2);
    beginning.fill(3, 0, 8);
    const script = [ending, new NoiseFailure('the device is gone'), beginning];
    const { filler, events, source } = pump((i) => script[i] ?? 'wait');
    await until(() => filler.waiting === DRAWS);
    for (let i = 0; i < DRAWS; i++) source.draw();
    await until(() => filler.waiting === DRAWS);
    assert.deepEqual(kinds(events), ['delivering', 'failing', 'delivering']);
  });

  it('drops a batch that fails at the intermittent level, and restarts its tests', async () => {
    const { filler, events, source } = pump((i) => (i === 0 ? withRun(0, 9) : goodSamples(i)));
    await until(() => filler.waiting === DRAWS);
    assert.deepEqual(kinds(events), ['intermittent', 'delivering']);
    const expected = createHash('sha256').update(goodSamples(1).subarray(0, 64)).digest();
    assert.deepEqual(source.draw().bytes, expected);
    assert.equal(source.status().failures, 1);
  });

  it('latches at the third intermittent failure within 100 batches', async () => {
    const { events, reader } = pump((i) => withRun(i, 9));
    await until(() => kinds(events).includes('latched'));
    assert.deepEqual(kinds(events), ['intermittent', 'intermittent', 'latched']);
    assert.equal(reader.reads, 3);
  });

  it('forgets intermittent failures after 100 batches', async () => {
    const { events, source, reader } = pump((i) => (i % 60 === 0 ? withRun(i, 9) : goodSamples(i)));
    while (reader.reads < 300) {
      try {
        source.draw();
      } catch {
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    assert.ok(!kinds(events).includes('latched'));
  });

  it('retries after a failure and recovers', async () => {
    const { filler, events, source } = pump((i) =>
      i === 0 ? new NoiseFailure('the device is gone') : goodSamples(i),
    );
    await until(() => filler.waiting === DRAWS);
    assert.deepEqual(kinds(events), ['failing', 'delivering']);
    assert.equal(events[0].detail, 'the device is gone');
    assert.equal(source.status().failures, 1);
    assert.equal(source.status().healthy, true);
  });

  it('repeats the startup tests after the source returns, because it may be another one', async () => {
    const { filler, source, reader } = pump((i) => {
      if (i === 1) return new NoiseFailure('the device is gone');
      return i < 5 ? goodSamples(i, i === 0 ? 1024 : 256) : 'wait';
    });
    await until(() => filler.waiting === DRAWS);
    for (let i = 0; i < DRAWS; i++) source.draw();
    // 768 samples after the failure are not enough.
    await until(() => reader.reads === 6);
    assert.equal(filler.waiting, 0);
    assert.equal(source.status().healthy, false);
  });

  it('keeps the pool through an intermittent failure and a failed read', async () => {
    const { filler, events, source } = pump((i) => {
      if (i === 1) return withRun(1, 9);
      return i === 0 ? goodSamples(0) : new NoiseFailure('the device is gone');
    });
    await until(() => filler.waiting === DRAWS);
    for (let i = 0; i < DRAWS / 2; i++) source.draw();
    await until(() => kinds(events).includes('failing'));
    assert.equal(source.status().healthy, true);
    assert.equal(source.draw().creditBits, 192);
  });

  it('reports the retry time that the source requested', async () => {
    const limited = new NoiseFailure('rate limited', { retryAfterMs: 90_000 });
    const { events, source } = pump(() => limited);
    await until(() => events.length > 0);
    assert.throws(
      () => source.draw(),
      (error) => error instanceof AppError && error.details.retryAfterSeconds === 90,
    );
  });

  it('delivers the remaining draws after the source has vanished', async () => {
    const { filler, events, source } = pump((i) =>
      i === 0 ? goodSamples(0) : new NoiseFailure('the device is gone'),
    );
    await until(() => filler.waiting === DRAWS);
    for (let i = 0; i < DRAWS / 2; i++) source.draw();
    await until(() => kinds(events).includes('failing'));
    assert.equal(source.status().healthy, true);
    for (let i = 0; i < DRAWS / 2; i++) source.draw();
    assert.throws(() => source.draw(), AppError);
    assert.equal(source.status().healthy, false);
  });

  it('backs off from batches that never fill a draw', async () => {
    const { events } = pump((i) => goodSamples(i), { bytesPerDraw: 2_048 });
    await until(() => events.length > 0);
    assert.deepEqual(events[0], { kind: 'failing', detail: 'a batch did not fill one draw' });
  });

  it('latches on an unexpected error and does not quote its message', async () => {
    const { events, source } = pump(() => new TypeError('bytes: aabbcc'));
    await until(() => events.length > 0);
    assert.deepEqual(kinds(events), ['latched']);
    assert.match(events[0].detail, /^an unexpected TypeError; .+ restarted$/);
    assert.ok(!events[0].detail.includes('aabbcc'));
    assert.throws(() => source.draw(), AppError);
  });

  it('latches on a symbol that is wider than declared', async () => {
    const reader = new ScriptedReader(goodSamples);
    Object.defineProperty(reader, 'bitsPerSample', { value: 4 });
    const events: SourceEvent[] = [];
    const one = new NoisePump(reader, new PoolFiller(allocatePool(DRAWS)), (e) => events.push(e));
    pumps.push(one);
    one.start();
    await until(() => events.length > 0);
    assert.deepEqual(kinds(events), ['latched']);
  });

  it('stops at once if closed while the source is slow, and empties the pool', async () => {
    const {
      filler,
      source,
      reader,
      pump: noisePump,
      memory,
    } = pump((i) => (i === 0 ? goodSamples(0) : 'wait'));
    await until(() => filler.waiting === DRAWS);
    for (let i = 0; i < DRAWS / 2; i++) source.draw();
    await until(() => reader.reads === 2);
    await noisePump.close();
    assert.equal(reader.closed, true);
    assert.throws(() => source.draw(), AppError);
    assert.ok(new Uint8Array(memory, 32).every((byte) => byte === 0));
  });

  it('stops at once if closed during a back-off', async () => {
    const { events, pump: noisePump } = pump(
      () => new NoiseFailure('later', { retryAfterMs: 3_600_000 }),
    );
    await until(() => events.length > 0);
    await noisePump.close();
    assert.deepEqual(kinds(events), ['failing']);
  });
});

// Runs alone, because it moves the clock of the process: no timer of another pump may be set.
describe('the pump of a silent source', () => {
  after(closePumps);

  it('is unhealthy after its pool is empty and no sample arrived for 10 seconds', async (t) => {
    const { source, filler, reader, events } = pump((i) => (i ? 'wait' : goodSamples(0)));
    await until(() => filler.waiting === DRAWS);
    // With a loop of immediates the pump would not notice that draws were taken.
    const { setTimeout: pause } = globalThis;
    t.mock.timers.enable({ apis: ['setTimeout'] });
    for (let i = 0; i < DRAWS / 2; i++) source.draw();
    while (reader.reads < 2) await new Promise((resolve) => pause(resolve, 1));
    t.mock.timers.tick(9_999);
    assert.equal(source.status().healthy, true);
    t.mock.timers.tick(1);
    // Each of the eight remaining draws is as good as before.
    for (let i = 0; i < DRAWS / 2; i++) {
      assert.equal(source.status().healthy, true);
      source.draw();
    }
    assert.equal(source.status().healthy, false);
    assert.throws(
      () => source.draw(),
      (error) => error instanceof AppError && error.details.retryAfterSeconds === 10,
    );
    assert.deepEqual(kinds(events), ['delivering']);
  });
});
