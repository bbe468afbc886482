/**
 * Timing noise of the processor: the time that a constant amount of work takes, measured
 * repeatedly.
 *
 * A sample is the low 8 bits of the time, in steps of the clock, that a walk through memory took.
 * The addresses of the walk depend on the data read, and its memory is larger than a first-level
 * cache. So caches, pipelines, interrupts and neighbours all affect the time.
 */
import { setImmediate } from 'node:timers/promises';
import { wipe } from '../../bytes.ts';
import { type NoiseBatch, NoiseFailure, type NoiseReader } from '../noise.ts';

/** 2,048 samples of 1/8 bit hold 256 bits: 192 of credit and 64 of headroom. */
const BATCH_SAMPLES = 2048;
const MIN_ENTROPY_PER_SAMPLE = 1 / 8;

/** 1 MiB: more than the first-level cache of any processor, and about the size of a second-level one. */
const MEMORY_WORDS = 2 ** 18;
/** Words read and written between two clock readings. `docs/jitter-assessment.md` has measurements. */
const STEPS_PER_SAMPLE = 64;

/** Number of times measured to find the step of the clock. */
const STEP_SAMPLES = 1024;

/** Longest lag of a predictor, in samples. */
const MAX_LAG = 16;

interface JitterOptions {
  /** Returns nanoseconds from any zero. It MUST NOT run backwards. */
  readonly clock?: () => bigint;
}

/** Opens the source. It does not throw; `read` reports problems of the clock. */
export function openJitter({ clock = process.hrtime.bigint }: JitterOptions = {}): NoiseReader {
  return new JitterReader(clock);
}

class JitterReader implements NoiseReader {
  readonly bitsPerSample = 8;
  readonly minEntropyPerSample = MIN_ENTROPY_PER_SAMPLE;
  readonly bytesPerDraw = BATCH_SAMPLES;
  readonly #walk: TimedWalk;
  // 0 until measured.
  #stepNs = 0;
  #closed = false;

  constructor(clock: () => bigint) {
    this.#walk = new TimedWalk(clock);
  }

  async read(signal: AbortSignal): Promise<NoiseBatch> {
    // A batch occupies its thread for a millisecond or two, so other tasks run between batches.
    await setImmediate(undefined, { signal });
    if (this.#closed) throw new NoiseFailure('The jitter source is closed.');
    if (this.#stepNs === 0) this.#stepNs = measureStep(this.#walk);
    return { samples: takeSamples(this.#walk, this.#stepNs), jobId: null };
  }

  test(samples: Uint8Array): string | null {
    return findPredictor(samples);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#walk.wipe();
  }
}

/** The timed work and its clock. */
class TimedWalk {
  readonly #clock: () => bigint;
  readonly #memory = new Uint32Array(MEMORY_WORDS);
  #state = 1;

  constructor(clock: () => bigint) {
    this.#clock = clock;
  }

  /**
   * Fills `timesNs` with the times of successive walks. Each continues where the last one ended.
   */
  time(timesNs: Float64Array): void {
    let before = this.#clock();
    for (let i = 0; i < timesNs.length; i++) {
      this.#run();
      const now = this.#clock();
      const ns = Number(now - before);
      if (ns < 0) throw new NoiseFailure('The clock of the jitter source ran backwards.');
      before = now;
      timesNs[i] = ns;
      // The next addresses also depend on the earlier times.
      this.#state ^= ns;
    }
  }

  wipe(): void {
    wipe(this.#memory);
    this.#state = 0;
  }

  #run(): void {
    const memory = this.#memory;
    let state = this.#state;
    for (let step = 0; step < STEPS_PER_SAMPLE; step++) {
      const address = (state >>> 7) % MEMORY_WORDS;
      // Multiplying by 2^32 divided by the golden ratio spreads the value over the word.
      state = (Math.imul(state ^ memory[address], 0x9e37_79b1) + 0x7f4a_7c15) | 0;
      state ^= state >>> 15;
      memory[address] = state;
    }
    this.#state = state;
  }
}

/** Returns the step of the clock in nanoseconds, of which all times are multiples. */
function measureStep(walk: TimedWalk): number {
  const timesNs = new Float64Array(STEP_SAMPLES);
  try {
    walk.time(timesNs);
    const step = timesNs.reduce(greatestCommonDivisor, 0);
    if (step > 0) return step;
    throw new NoiseFailure(
      `The clock of the jitter source stood still over ${STEP_SAMPLES} samples: it is stuck or too coarse.`,
    );
  } finally {
    wipe(timesNs);
  }
}

function greatestCommonDivisor(a: number, b: number): number {
  while (b !== 0) [a, b] = [b, a % b];
  return a;
}

function takeSamples(walk: TimedWalk, stepNs: number): Uint8Array {
  const timesNs = new Float64Array(BATCH_SAMPLES);
  const samples = new Uint8Array(BATCH_SAMPLES);
  try {
    walk.time(timesNs);
    for (let i = 0; i < BATCH_SAMPLES; i++) samples[i] = Math.floor(timesNs[i] / stepNs) & 0xff;
    return samples;
  } finally {
    wipe(timesNs);
  }
}

/**
 * The developer-defined test of this source (§4.5). At H = 1/8 the tests of §4.4 detect neither a
 * coarse clock nor one that ticks in a pattern. So no predictor may be right about more than half
 * of a batch, as it would be at 1 bit per sample, eight times the claim.
 */
function findPredictor(samples: Uint8Array): string | null {
  for (let lag = 1; lag <= MAX_LAG; lag++) {
    if (isOftenRight(countRepeats(samples, lag), samples)) {
      return `its clock is too coarse or too regular: samples repeat those ${lag} before`;
    }
  }
  return isOftenRight(countOnLine(samples), samples)
    ? 'its clock is too regular: samples lie on a line with the two before'
    : null;
}

function isOftenRight(right: number, { length }: Uint8Array): boolean {
  return 2 * right > length;
}

function countRepeats(samples: Uint8Array, lag: number): number {
  let right = 0;
  for (let i = lag; i < samples.length; i++) if (samples[i] === samples[i - lag]) right++;
  return right;
}

function countOnLine(samples: Uint8Array): number {
  let right = 0;
  for (let i = 2; i < samples.length; i++) {
    if (samples[i] === ((2 * samples[i - 1] - samples[i - 2]) & 0xff)) right++;
  }
  return right;
}
