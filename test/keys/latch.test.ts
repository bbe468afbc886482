/** One word stops every thread and names its cause. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { Worker } from 'node:worker_threads';
import { Generator } from '../../src/keys/generator.ts';
import {
  type Defect,
  describeDefect,
  gateDefect,
  Latch,
  tallyDefect,
} from '../../src/keys/latch.ts';
import { screenLiveCarrier } from '../../src/keys/self-test.ts';
import { parts, RecordingDrbg, STAGED } from '../support/servers/fakes.ts';

const LATCH = new URL('../../src/keys/latch.ts', import.meta.url).href;

/** Sets the latch in several other threads at once: each waits until all are ready. */
async function setElsewhere(latch: Latch, ...defects: Defect[]): Promise<void> {
  const code = `
    import { workerData } from 'node:worker_threads';
    const { Latch } = await import(workerData.module);
    const latch = new Latch(workerData.memory);
    const missing = new Int32Array(workerData.barrier);
    Atomics.sub(missing, 0, 1);
    while (Atomics.load(missing, 0) > 0);
    latch.set(workerData.defect);`;
  const url = new URL(`data:text/javascript,${encodeURIComponent(code)}`);
  const barrier = new SharedArrayBuffer(4);
  new Int32Array(barrier)[0] = defects.length;
  const exits = defects.map((defect) => {
    const workerData = { module: LATCH, memory: latch.memory, barrier, defect };
    return once(new Worker(url, { workerData }), 'exit');
  });
  await Promise.all(exits);
}

describe('the latch', () => {
  it('allows service until it is set', () => {
    assert.equal(Latch.forThreads(1).read(), null);
  });

  it('reports its cause and test to every thread', async () => {
    const latch = Latch.forThreads(2);
    const told = latch.whenSet();
    await setElsewhere(latch, STAGED);
    assert.deepEqual(await told, STAGED);
    assert.deepEqual(latch.read(), STAGED);
    assert.equal(describeDefect(STAGED), 'gate, rank: staged');
  });

  it('names the stream that failed the gate, except for samples never modulated', () => {
    const failed = (report: number) =>
      ({ p: 0, verdict: 'FAIL', tests: 17, weakest: { report, test: 'runs' } }) as const;
    const [plain, tested] = [
      'samples of the generator of plain keys',
      'streams of validated keys',
    ] as const;
    assert.equal(gateDefect(failed(0), plain).detail, `two ${plain} in a row failed the gate`);
    assert.match(gateDefect(failed(0), tested).detail, /, the second one before modulation$/);
    assert.match(tallyDefect(failed(0), plain).detail, /: samples of .* plain keys$/);
    assert.match(tallyDefect(failed(1), tested).detail, /: streams .*, after modulation$/);
  });

  it('keeps the first reason', () => {
    const latch = Latch.forThreads(2);
    latch.set(STAGED);
    latch.set({ cause: 'screen', test: 'min_entropy', detail: 'later' });
    assert.deepEqual(latch.read(), STAGED);
  });

  it('limits the length of the text, whatever its characters', () => {
    for (const character of ['x', '\u0000', '\u20ac']) {
      const latch = Latch.forThreads(1);
      const long = character.repeat(10_000);
      latch.set({ cause: 'self_test', test: long, detail: long });
      const { test, detail } = latch.read() ?? assert.fail();
      assert.deepEqual([test, detail], [character.repeat(64), character.repeat(200)]);
    }
  });

  it('has room for the reasons of all threads that set it at the same time', async () => {
    const threads = 4;
    const latch = Latch.forThreads(threads);
    const defects = Array.from({ length: threads }, (_, i) => ({ ...STAGED, detail: `of ${i}` }));
    await setElsewhere(latch, ...defects);
    const first = latch.read() ?? assert.fail();
    assert.ok(defects.some((defect) => isDeepStrictEqual(defect, first)));
  });

  it('does not interrupt the start of a thread when another one latches', () => {
    const latch = Latch.forThreads(2);
    const drbg = new RecordingDrbg(() => latch.set(STAGED));
    const generator = new Generator(parts({ drbg, latch: new Latch(latch.memory) }));
    generator.takeScreen();
    screenLiveCarrier(generator);
    assert.deepEqual(generator.latched, STAGED);
    assert.equal(drbg.requests.length, 1);
    assert.throws(() => generator.requestSample(32, 'os'), { code: 'entropy_unavailable' });
  });

  it('stops an idle generator, which refuses its next request', async () => {
    const latch = Latch.forThreads(2);
    const drbg = new RecordingDrbg();
    const generator = new Generator(parts({ drbg, latch: new Latch(latch.memory) }));
    latch.set(STAGED);
    assert.throws(() => generator.request(1), { code: 'entropy_unavailable' });
    assert.throws(() => generator.reseed('os'), { code: 'entropy_unavailable' });
    assert.deepEqual(drbg.requests, []);
    const idle = new RecordingDrbg();
    const other = new Generator(parts({ drbg: idle, latch }));
    assert.deepEqual(other.latched, STAGED);
    await latch.whenSet();
    assert.ok(idle.destroyed);
  });
});
