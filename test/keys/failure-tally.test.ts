/** Failures of the gate that are far apart still count: the third one within about 1,000 verdicts latches. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { FailureTally } from '../../src/keys/failure-tally.ts';
import { generateKey } from '../../src/keys/generate.ts';
import { entropyUnavailable, Generator } from '../../src/keys/generator.ts';
import { type EvidenceWarning, Latch } from '../../src/keys/latch.ts';
import { screenLiveCarrier } from '../../src/keys/self-test.ts';
import { SUITE_SELF_TEST } from '../../src/keys/suite-self-test.ts';
import { SampleSuite } from '../../src/service/threads/sample-suite.ts';
import {
  fakeSource,
  keyring,
  order,
  parts,
  RecordingDrbg,
  SAMPLE_RESEEDS,
  SEGMENT_BYTES,
  sampleVerdict,
} from '../support/servers/fakes.ts';

const TALLY = new URL('../../src/keys/failure-tally.ts', import.meta.url).href;

const STREAMS = 'streams of validated keys';

/** Counts failures with the given number of passes between them. Returns the result of each failure. */
function failWith(tally: FailureTally, passesBetween: readonly number[]): boolean[] {
  const results = [tally.count(false)];
  for (const passes of passesBetween) {
    for (let i = 0; i < passes; i++) assert.equal(tally.count(true), false);
    results.push(tally.count(false));
  }
  return results;
}

function judge(generator: Generator, passed: boolean, times = 1): void {
  for (let i = 0; i < times; i++) generator.judged(sampleVerdict(passed), STREAMS);
}

describe('the failure tally', () => {
  it('is full at the third failure within about 1,000 verdicts', () => {
    assert.deepEqual(failWith(new FailureTally(), [0, 0]), [false, false, true]);
    assert.deepEqual(failWith(new FailureTally(), [999, 0]), [false, false, true]);
    assert.deepEqual(failWith(new FailureTally(), [500, 499]), [false, false, true]);
    assert.deepEqual(failWith(new FailureTally(), [500, 500]), [false, false, false]);
  });

  it('earns no credit from earlier passes', () => {
    const tally = new FailureTally();
    for (let i = 0; i < 5_000; i++) tally.count(true);
    assert.deepEqual(failWith(tally, [10, 10]), [false, false, true]);
  });

  it('loses no verdict of four threads that count at the same time', async () => {
    const word = new Int32Array(new SharedArrayBuffer(4));
    word[0] = 100_000;
    const code = `
      import { workerData } from 'node:worker_threads';
      const { FailureTally } = await import(workerData.module);
      const tally = new FailureTally(workerData.word);
      for (let i = 0; i < 20_000; i++) tally.count(i % 1_000 !== 0);`;
    const url = new URL(`data:text/javascript,${encodeURIComponent(code)}`);
    const workerData = { module: TALLY, word };
    const threads = Array.from({ length: 4 }, () => new Worker(url, { workerData }));
    await Promise.all(threads.map((thread) => once(thread, 'exit')));
    assert.equal(word[0], 100_000 + 4 * (20 * 1_000 - 19_980));
  });
});

describe('the failures of an unreliable generator', () => {
  it('latch the process, together with failures of other threads', () => {
    const latch = Latch.forThreads(3);
    const failed: EvidenceWarning[] = [];
    const onWarning = (one: EvidenceWarning) => failed.push(one);
    const generators = Array.from(
      { length: 3 },
      () => new Generator(parts({ latch: new Latch(latch.memory), onWarning })),
    );
    for (const generator of generators) {
      assert.equal(latch.read(), null);
      judge(generator, true, 10);
      judge(generator, false);
    }
    assert.deepEqual(latch.read(), {
      cause: 'gate',
      test: 'rank',
      detail: `third failure within about 1,000 verdicts of the gate: ${STREAMS}, before modulation`,
    });
    const told = { failedVerdict: { judged: STREAMS, p: 0, test: 'rank', stream: 'carrier' } };
    assert.deepEqual(failed, [told, told, told]);
  });

  it('still count after other generators pass', () => {
    const latch = Latch.forThreads(2);
    const [broken, sound] = [new Generator(parts({ latch })), new Generator(parts({ latch }))];
    for (const expected of [null, null, 'gate']) {
      judge(sound, true, 3_000);
      judge(broken, true, 100);
      judge(broken, false);
      assert.equal(latch.read()?.cause ?? null, expected);
    }
  });

  it('count from its startup streams on', () => {
    let broken = true;
    const drbg = new RecordingDrbg((output) => {
      if (!broken || output.length !== SEGMENT_BYTES) return;
      broken = false;
      output.fill(0x55);
    });
    const generator = new Generator(parts({ drbg }));
    screenLiveCarrier(generator);
    const causes = [1, 2].map(() => {
      judge(generator, false);
      return generator.latched?.cause ?? null;
    });
    assert.deepEqual(causes, [null, 'gate']);
  });

  it('still count if no second stream can be drawn', () => {
    const os = fakeSource('os', 256);
    let draws = 0;
    const draw = () => {
      draws += 1;
      // After those of one stream.
      if (draws % (SAMPLE_RESEEDS + 1) === 0) throw entropyUnavailable('staged');
      return { bytes: Buffer.alloc(48, draws), creditBits: 256, jobId: null, isSeparate: false };
    };
    const drbg = new RecordingDrbg((output) => {
      if (output.length > 64) output.fill(0x55);
    });
    const generator = new Generator(parts({ os: { ...os, draw }, drbg }));
    const wish = order({ withEvidence: true });
    const causes = [1, 2, 3].map(() => {
      const tally = { streams: 0, streamsPassed: 0 };
      assert.throws(() => generateKey(generator, keyring, wish, tally), {
        code: 'entropy_unavailable',
      });
      assert.deepEqual(tally, { streams: 1, streamsPassed: 0 });
      return generator.latched?.cause ?? null;
    });
    assert.deepEqual(causes, [null, null, 'gate']);
    assert.match(generator.latched?.detail ?? '', /third failure within about 1,000 verdicts/);
  });
});

describe('a suite that computes wrong results', () => {
  it('latches before it judges the eighth sample', () => {
    const generator = new Generator(parts({}));
    let tests = 0;
    const suite = new SampleSuite(generator, () => {
      tests += 1;
      return { name: SUITE_SELF_TEST, passed: tests === 1 };
    });
    const sample = () => new Uint8Array(new RecordingDrbg().generate(1_024));
    for (let i = 1; i < 16; i++) suite.judge({ sample: sample() });
    assert.deepEqual([tests, generator.latched], [1, null]);
    suite.judge({ sample: sample() });
    const { cause, test } = generator.latched ?? assert.fail();
    assert.deepEqual([cause, test], ['self_test', SUITE_SELF_TEST]);
  });
});
