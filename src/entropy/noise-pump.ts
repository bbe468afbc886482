/**
 * Pumps a noise source into its pool: raw samples → health tests → conditioning → draws.
 *
 * Nothing reaches the pool before the startup tests pass (SP 800-90B §4.3), and nothing from a
 * batch that failed a health test. A source can fail in three ways:
 * - It does not deliver. The pump retries without limit, with back-off, and runs the startup tests
 *   when the source is back.
 * - A health test fails at the intermittent level. The pump drops the samples and runs the startup
 *   tests again; three such failures within 100 batches count as permanent.
 * - A health test fails at the permanent level, or the samples of a draw repeat. The source latches
 *   until the process is restarted, and the pool is emptied.
 */

import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { NoiseTests, type NoiseVerdict, START_UP_SAMPLES } from '#sp800-90b/health';
import { wipe } from '../bytes.ts';
import { MINUTE_MS } from '../clock.ts';
import { condition } from './conditioning.ts';
import { RepeatedDrawTest } from './health/repeated-draw.ts';
import { type NoiseBatch, NoiseFailure, type NoiseReader } from './noise.ts';
import type { PoolFiller } from './pool.ts';
import type { SourceState } from './source.ts';

export const SOURCE_EVENTS = ['delivering', 'failing', 'intermittent', 'latched'] as const;

/** An event for the operator's log. It MUST NOT hold samples or credentials. */
export interface SourceEvent {
  readonly kind: (typeof SOURCE_EVENTS)[number];
  readonly detail: string;
}

/** Returns the event of a source that has latched, with what an operator can do. */
export function latchedEvent(reason: string): SourceEvent {
  return {
    kind: 'latched',
    detail: `${reason}; it delivers nothing until the process is restarted`,
  };
}

/**
 * For an honest source the probability of three intermittent failures in 100 batches is below
 * 10^-8, even with batches of 32,768 samples.
 */
const INTERMITTENT_LIMIT = 3;
const INTERMITTENT_WINDOW_BATCHES = 100;

const FIRST_BACK_OFF_MS = 250;
const LAST_BACK_OFF_MS = MINUTE_MS;

/** Longest wait for a taker, so that the pump always notices that it was closed. */
const IDLE_MS = 1_000;

/**
 * Time after which a read counts as late. The state becomes `failing`, because a job may queue for
 * hours and a caller that finds the pool empty should not wait for it.
 */
const LATE_MS = 10_000;

/** A random part of this is added to each wait, so that servers do not retry in step. */
const SPREAD_MS = 250;

export class NoisePump {
  readonly #reader: NoiseReader;
  readonly #filler: PoolFiller;
  readonly #onEvent: (event: SourceEvent) => void;
  readonly #tests: NoiseTests;
  readonly #repeats = new RepeatedDrawTest();
  readonly #ending = new AbortController();
  #started = false;
  #batches = 0;
  /** Numbers of the batches that failed at the intermittent level, within the window. */
  #intermittent: readonly number[] = [];
  #failuresInRow = 0;
  /** Before the first delivery the pool is empty, so a failure leaves the state at `starting`. */
  #stateOfFailure: SourceState = 'starting';
  #stopped: Promise<void> | null = null;

  constructor(reader: NoiseReader, filler: PoolFiller, onEvent: (event: SourceEvent) => void) {
    this.#reader = reader;
    this.#filler = filler;
    this.#onEvent = onEvent;
    this.#tests = new NoiseTests(reader);
  }

  /** Begins pumping. A second call has no effect. */
  start(): void {
    this.#stopped ??= this.#run();
  }

  /** Ends pumping, releases the reader and empties the pool. */
  async close(): Promise<void> {
    this.#ending.abort();
    await this.#stopped;
    await this.#reader.close();
    this.#filler.end('closed');
    this.#tests.reset();
  }

  get #ended(): boolean {
    return this.#ending.signal.aborted;
  }

  /**
   * Fills the pool, then waits until half of it is taken. Returns when the pump is closed or
   * latched.
   */
  async #run(): Promise<void> {
    try {
      while (!this.#ended) {
        await this.#fill();
        while (!this.#ended && this.#filler.waiting > this.#filler.capacity / 2) {
          await this.#filler.taken(IDLE_MS);
        }
      }
    } catch (error) {
      // A reader may fail only with `NoiseFailure`. After any other error its samples cannot be
      // trusted.
      this.#latch(error instanceof Latch ? error.message : `an unexpected ${nameOf(error)}`);
    }
  }

  async #fill(): Promise<void> {
    while (!this.#ended && this.#filler.waiting < this.#filler.capacity) {
      try {
        await this.#use(await this.#gather());
      } catch (error) {
        if (this.#ended) return;
        if (!(error instanceof NoiseFailure)) throw error;
        await this.#backOff(error);
      }
    }
  }

  /** Reads one batch, or, before the startup tests, as many as they need. */
  async #gather(): Promise<NoiseBatch[]> {
    const wanted = this.#started ? 1 : START_UP_SAMPLES;
    const batches: NoiseBatch[] = [];
    try {
      for (let samples = 0; samples < wanted; ) {
        const batch = await this.#readInTime();
        batches.push(batch);
        this.#assertDraw(batch.samples);
        samples += batch.samples.length;
      }
      return batches;
    } catch (error) {
      wipeBatches(batches);
      throw error;
    }
  }

  /**
   * Reads one batch. After `LATE_MS` the read continues, but the source is healthy only while draws
   * wait in its pool.
   */
  async #readInTime(): Promise<NoiseBatch> {
    const late = setTimeout(() => {
      if (this.#started) this.#filler.setState('failing', LATE_MS / 1000);
    }, LATE_MS);
    try {
      return await this.#reader.read(this.#ending.signal);
    } finally {
      clearTimeout(late);
    }
  }

  async #use(batches: readonly NoiseBatch[]): Promise<void> {
    try {
      if (!this.#passes(batches)) return;
      for (const batch of batches) await this.#pool(batch);
    } finally {
      wipeBatches(batches);
    }
  }

  /** Tests all samples before any is used. Throws `Latch` on a permanent failure. */
  #passes(batches: readonly NoiseBatch[]): boolean {
    for (const { samples } of batches) {
      this.#batches += 1;
      const verdict = this.#tests.check(samples);
      if (verdict.level === 'permanent') throw new Latch(describe(verdict));
      const finding =
        verdict.level === 'intermittent' ? describe(verdict) : this.#reader.test?.(samples);
      if (!finding) continue;
      this.#noteIntermittent(finding);
      return false;
    }
    return true;
  }

  #noteIntermittent(failure: string): void {
    const horizon = this.#batches - INTERMITTENT_WINDOW_BATCHES;
    this.#intermittent = [...this.#intermittent.filter((n) => n > horizon), this.#batches];
    if (this.#intermittent.length >= INTERMITTENT_LIMIT) {
      throw new Latch(
        `${failure}, for the third time within ${INTERMITTENT_WINDOW_BATCHES} batches`,
      );
    }
    this.#startAnew();
    this.#filler.countFailure();
    this.#filler.setState(this.#stateOfFailure);
    this.#onEvent({ kind: 'intermittent', detail: failure });
  }

  #startAnew(): void {
    this.#started = false;
    this.#tests.reset();
  }

  #noteDelivery(): void {
    if (!this.#started) {
      this.#onEvent({ kind: 'delivering', detail: 'it passed its health tests and is delivering' });
    }
    this.#started = true;
    this.#stateOfFailure = 'failing';
    this.#failuresInRow = 0;
    this.#filler.setState('delivering');
  }

  /** Conditions whole draws and drops the rest of a batch. */
  async #pool({ samples, jobId }: NoiseBatch): Promise<void> {
    const material = this.#reader.extract?.(samples) ?? samples;
    try {
      this.#assertDraw(material);
      const { bytesPerDraw } = this.#reader;
      for (let end = bytesPerDraw; end <= material.length && !this.#ended; end += bytesPerDraw) {
        await this.#poolDraw(material.subarray(end - bytesPerDraw, end), jobId);
        // Set the state only after the first draw: a thread that reads `delivering` may take one at once.
        this.#noteDelivery();
      }
    } finally {
      wipe(material);
    }
  }

  /** Conditions and puts one draw; waits while the pool is full. */
  async #poolDraw(samples: Uint8Array, jobId: string | null): Promise<void> {
    if (this.#repeats.sees(samples)) throw new Latch('it delivered the samples of a draw twice');
    const draw = condition(samples);
    try {
      while (!this.#ended && !this.#filler.put(draw, jobId)) await this.#filler.taken(IDLE_MS);
    } finally {
      wipe(draw);
    }
  }

  /** Throws `NoiseFailure` on samples shorter than a draw, which could also repeat by chance. */
  #assertDraw(bytes: Uint8Array): void {
    if (bytes.length < this.#reader.bytesPerDraw) {
      throw new NoiseFailure('a batch did not fill one draw');
    }
  }

  async #backOff(failure: NoiseFailure): Promise<void> {
    const backOffMs = Math.min(FIRST_BACK_OFF_MS * 2 ** this.#failuresInRow, LAST_BACK_OFF_MS);
    const waitMs = Math.max(backOffMs, failure.retryAfterMs ?? 0);
    this.#failuresInRow += 1;
    // The source may come back as another device, so §4.3 requires startup tests after each start.
    this.#startAnew();
    this.#filler.countFailure();
    this.#filler.setState(this.#stateOfFailure, Math.ceil(waitMs / 1000));
    this.#onEvent({ kind: 'failing', detail: failure.message });
    const { signal } = this.#ending;
    // The wait resolves at once when the pump closes.
    await sleep(waitMs + randomInt(SPREAD_MS), undefined, { signal }).catch(() => {});
  }

  #latch(reason: string): void {
    this.#filler.end('latched');
    this.#onEvent(latchedEvent(reason));
  }
}

/** Thrown when a source fails permanently. */
class Latch extends Error {}

function describe({ test, sample }: Exclude<NoiseVerdict, { level: 'passed' }>): string {
  return `the ${test} test failed at sample ${sample}`;
}

function wipeBatches(batches: readonly NoiseBatch[]): void {
  for (const { samples } of batches) wipe(samples);
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
