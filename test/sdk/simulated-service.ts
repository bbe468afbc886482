/** A service with a rate limit, and its clients, in virtual time, so that minutes of pacing take milliseconds. */
import { setImmediate } from 'node:timers/promises';
import { PhmTimeoutError } from '../../sdk/src/errors.ts';
import type { Limit } from '../../sdk/src/limits.ts';
import type { Clock, Turns } from '../../sdk/src/turns.ts';
import { type RateLimit, RateLimiter } from '../../src/accounts/index.ts';

interface Event {
  readonly atMs: number;
  readonly work: () => void;
}

export class VirtualClock implements Clock {
  #nowMs = 0;
  readonly #events = new Set<Event>();

  nowMs(): number {
    return this.#nowMs;
  }

  after(ms: number, work: () => void): () => void {
    const event = { atMs: this.#nowMs + ms, work };
    this.#events.add(event);
    return () => this.#events.delete(event);
  }

  /** Pending timers. */
  get pending(): number {
    return this.#events.size;
  }

  /** Runs until `promise` settles. */
  async run<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    promise.then(
      () => {
        settled = true;
      },
      () => {
        settled = true;
      },
    );
    for (;;) {
      await setImmediate();
      if (settled) return promise;
      if (!this.advance())
        throw new Error('no timer is set, and the promise is pending: nothing can end it');
    }
  }

  /** Moves on to the next timer and runs it. Returns false if there is none. */
  advance(): boolean {
    const [next] = [...this.#events].sort((a, b) => a.atMs - b.atMs);
    if (!next) return false;
    this.#events.delete(next);
    this.#nowMs = Math.max(this.#nowMs, next.atMs);
    next.work();
    return true;
  }
}

export interface Answered {
  readonly startedMs: number;
  readonly endedMs: number;
  readonly refusals: number;
}

export interface ServiceOptions {
  readonly limit: RateLimit;
  /** False if a proxy removes the rate-limit headers from the responses. */
  readonly headers: boolean;
  /** Milliseconds of the path to the service, and of the work and the path back. */
  readonly latencyMs: () => { there: number; back: number };
}

/** One API key's bucket, and clients that share it. */
export class SimulatedService {
  readonly clock: VirtualClock = new VirtualClock();
  readonly #limiter = new RateLimiter();
  readonly #options: ServiceOptions;
  requests = 0;

  constructor(options: ServiceOptions) {
    this.#options = options;
  }

  /** Makes a call of a client as the transport does. */
  async call(turns: Turns, timeoutMs: number, signal?: AbortSignal, places = 1): Promise<Answered> {
    const { clock } = this;
    const startedMs = clock.nowMs();
    const deadlineMs = startedMs + timeoutMs;
    const ticket = turns.ticket();
    const tooLate = (ahead: number) =>
      new PhmTimeoutError(`${ahead} calls ahead`, {
        timeoutMs,
        requestId: null,
        outcomeUnknown: false,
      });
    for (let refusals = 0; ; refusals += 1) {
      await turns.take({ ticket, places, deadlineMs, signal, tooLate });
      if (await this.#exchange(turns, places))
        return { startedMs, endedMs: clock.nowMs(), refusals };
    }
  }

  async #exchange(turns: Turns, places: number): Promise<boolean> {
    const { clock } = this;
    const { limit, headers, latencyMs } = this.#options;
    const { there, back } = latencyMs();
    const sentAtMs = clock.nowMs();
    await this.#pass(there);
    this.requests += 1;
    const first = this.#limiter.take('key', limit, clock.nowMs());
    const total = Math.min(places, limit.burst);
    const decision = first.allowed
      ? this.#limiter.takeRest('key', limit, clock.nowMs(), total)
      : first;
    await this.#pass(back);
    const { allowed, remaining, resetSeconds, retryAfterSeconds } = decision;
    const windowSeconds = Math.ceil(limit.burst / limit.ratePerSecond);
    const rate: Limit = { limit: decision.limit, remaining, resetSeconds, windowSeconds };
    turns.answered({ ok: allowed, rate: headers ? rate : null }, sentAtMs);
    if (!allowed) turns.refused(retryAfterSeconds, sentAtMs);
    turns.ended();
    return allowed;
  }

  #pass(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.clock.after(ms, resolve);
    });
  }
}
