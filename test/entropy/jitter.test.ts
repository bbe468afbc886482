import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NoiseTests } from '#sp800-90b';
import { NoiseFailure } from '../../src/entropy/noise.ts';
import { openJitter } from '../../src/entropy/sources/jitter.ts';
import { aesCtr } from '../support/lab/aes-stream.ts';

const { signal } = new AbortController();

/** Readings for finding the step of the clock: one before 1,024 walks and one after each. */
const STEP_READINGS = 1025;
const BATCH_READINGS = 2049;

/** Returns a clock whose reading i is delta(i) after the previous one. */
function clockOf(delta: (reading: number) => number): () => bigint {
  let reading = 0;
  let now = 1_000_000_000;
  return () => {
    now += delta(reading++);
    return BigInt(now);
  };
}

/** Walks of 700…955 ns, equally likely, on a clock that shows multiples of `stepNs`. */
function soundClock(stepNs = 1): () => bigint {
  const noise = aesCtr(Buffer.alloc(32, 1), 100_000);
  const exact = clockOf((reading) => 700 + noise[reading % noise.length]);
  return () => (exact() / BigInt(stepNs)) * BigInt(stepNs);
}

async function failureOf(clock: () => bigint): Promise<string> {
  const reader = openJitter({ clock });
  let message = '';
  await assert.rejects(reader.read(signal), (error) => {
    assert.ok(error instanceof NoiseFailure);
    message = error.message;
    return true;
  });
  return message;
}

/** Returns the finding of the source's own test in batch number `batch`, counted from 1. */
async function findingOf(clock: () => bigint, batch = 1): Promise<string> {
  const reader = openJitter({ clock });
  for (let i = 1; i < batch; i++)
    assert.equal(reader.test?.((await reader.read(signal)).samples), null);
  return reader.test?.((await reader.read(signal)).samples) ?? 'nothing';
}

describe('timing noise of the processor', () => {
  it('arrives in fresh batches of 2,048 bytes that pass the health tests', async () => {
    const reader = openJitter();
    const tests = new NoiseTests(reader);
    for (let batch = 0; batch < 4; batch++) {
      const { samples, jobId } = await reader.read(signal);
      assert.equal(samples.length, 2048);
      assert.equal(samples.buffer.byteLength, 2048, 'memory of its own');
      assert.equal(jobId, null);
      assert.deepEqual(tests.check(samples), { level: 'passed' });
      assert.equal(reader.test?.(samples), null);
    }
    await reader.close();
  });

  it('claims 1/8 bit per sample: 256 bits per draw', () => {
    const { bitsPerSample, minEntropyPerSample, bytesPerDraw } = openJitter();
    assert.deepEqual([bitsPerSample, minEntropyPerSample, bytesPerDraw], [8, 1 / 8, 2048]);
  });

  it('refuses reads after close', async () => {
    const reader = openJitter();
    await reader.close();
    await assert.rejects(reader.read(signal), /^NoiseFailure: The jitter source is closed\.$/);
  });

  it('stops on request', async () => {
    await assert.rejects(openJitter().read(AbortSignal.abort()), { name: 'AbortError' });
  });
});

describe('clock samples', () => {
  it('are the low 8 bits of the times in steps of the clock', async () => {
    // Multiples of 4 ns: 1 … 300 steps in an order without a pattern, in two streams. One of them
    // gives the times of the first batch.
    const noise = aesCtr(Buffer.alloc(32, 2), 2 * 4096);
    const steps = (reading: number) => 1 + (noise.readUInt16LE(2 * (reading % 4096)) % 300);
    const { samples } = await openJitter({ clock: clockOf((r) => 4 * steps(r)) }).read(signal);
    const expected = Uint8Array.from({ length: 2048 }, (_, i) => steps(STEP_READINGS + 1 + i));
    assert.deepEqual(samples, expected);
  });

  it('are sound if the clock is sound', async () => {
    for (const stepNs of [1, 10, 41]) {
      const reader = openJitter({ clock: soundClock(stepNs) });
      const { samples } = await reader.read(signal);
      assert.deepEqual(new NoiseTests(reader).check(samples), { level: 'passed' });
    }
  });
});

describe('a faulty clock', () => {
  it('is detected before the first batch if it is stuck', async () => {
    assert.match(await failureOf(clockOf(() => 0)), /stood still over 1024 samples/);
  });

  it('is detected in the first batch of equal times if it gets stuck', async () => {
    const noise = soundClock();
    const last = STEP_READINGS + BATCH_READINGS;
    let reading = 0;
    let now = 0n;
    const clock = () => {
      if (reading++ < last) now = noise();
      return now;
    };
    assert.match(await findingOf(clock, 2), /samples repeat those 1 before/);
  });

  it('is detected at the sample where it runs backwards', async () => {
    const message = 'The clock of the jitter source ran backwards.';
    assert.equal(await failureOf(clockOf((reading) => (reading === 500 ? -1 : 1000))), message);
    const noise = aesCtr(Buffer.alloc(32, 3), 4096);
    const late = STEP_READINGS + 1000;
    const clock = clockOf((reading) => (reading === late ? -1 : 700 + noise[reading % 4096]));
    assert.equal(await failureOf(clock), message);
  });

  it('is detected in the first batch at the latest if it is too coarse', async () => {
    for (const stepNs of [1_000, 15_625, 100_000]) {
      const clock = soundClock(stepNs);
      const found = await findingOf(clock).catch((error: Error) => error.message);
      assert.match(found, /too coarse/);
    }
    // 16 ms: the 1,024 walks end before the clock moves.
    assert.match(await failureOf(soundClock(16_000_000)), /stood still/);
  });

  it('is detected in the first batch if it ticks evenly or in a pattern', async () => {
    for (let period = 1; period <= 16; period++) {
      const clock = clockOf((reading) => 700 + 7 * ((reading * reading) % period));
      assert.match(await findingOf(clock), /too regular: samples repeat/);
    }
    const alternating = clockOf((reading) => (reading % 2 === 0 ? 701 : 760));
    assert.match(await findingOf(alternating), /samples repeat those 2 before/);
  });

  it('is detected in the first batch if it slows down evenly', async () => {
    const finding = await findingOf(clockOf((reading) => 700 + reading));
    assert.match(finding, /samples lie on a line with the two before/);
  });

  it('is detected by the end of the next batch if it fails in the middle of one', async () => {
    const noise = aesCtr(Buffer.alloc(32, 4), 8192);
    const onset = STEP_READINGS + 1500;
    const clock = clockOf((reading) =>
      reading < onset ? 700 + noise[reading] : reading % 2 === 0 ? 701 : 760,
    );
    assert.match(await findingOf(clock, 2), /samples repeat those 2 before/);
  });

  it('may recover', async () => {
    const noise = aesCtr(Buffer.alloc(32, 5), 8192);
    const reader = openJitter({
      clock: clockOf((reading) => (reading < STEP_READINGS ? 0 : 700 + noise[reading % 8192])),
    });
    await assert.rejects(reader.read(signal), NoiseFailure);
    assert.equal((await reader.read(signal)).samples.length, 2048);
  });
});
