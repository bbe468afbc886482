/** The queue of a client's requests under the rate limit: first come, first served. */
import type { PhmError } from './errors.ts';
import type { Limit } from './limits.ts';
import { Pace } from './pace.ts';

/** Time and timers, which tests replace. */
export interface Clock {
  /** Milliseconds that never go backwards. */
  nowMs(): number;
  /** Calls `work` after `ms`; the result cancels it. */
  after(ms: number, work: () => void): () => void;
}

export const realClock: Clock = {
  nowMs: () => performance.now(),
  after: (ms, work) => {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  },
};

/** A call that waits for a turn. */
export interface Asking {
  /** Place in the queue, from `ticket`. A call that asks again keeps its place. */
  readonly ticket: number;
  /** Places that it takes of the rate limit. */
  readonly places: number;
  /** Time from which a turn comes too late, by the clock of the queue. */
  readonly deadlineMs: number;
  readonly signal: AbortSignal | undefined;
  /** Returns the error for a turn that cannot come in time. */
  readonly tooLate: (ahead: number, perSecond: number | null) => PhmError;
}

interface Waiter extends Asking {
  readonly go: () => void;
  readonly fail: (reason: unknown) => void;
}

export class Turns {
  readonly #clock: Clock;
  readonly #pace: Pace;
  #waiting: Waiter[] = [];
  #tickets = 0;
  #cancelTimer: (() => void) | undefined;

  constructor(clock: Clock = realClock, random: () => number = Math.random) {
    this.#clock = clock;
    this.#pace = new Pace(random);
  }

  /** Returns a place behind all earlier ones. */
  ticket(): number {
    this.#tickets += 1;
    return this.#tickets;
  }

  /**
   * Resolves when the request may be sent, and counts it as sent: `ended` MUST follow. Rejects with the signal's reason,
   * or with `tooLate` as soon as the turn cannot come before the deadline.
   */
  take(asking: Asking): Promise<void> {
    return new Promise((resolve, reject) => {
      const { signal, ticket } = asking;
      const onAbort = (): void => {
        this.#waiting = this.#waiting.filter((one) => one !== waiter);
        reject(signal?.reason);
        this.#advance();
      };
      const leave = (): void => signal?.removeEventListener('abort', onAbort);
      const waiter: Waiter = {
        ...asking,
        go: () => {
          leave();
          resolve();
        },
        fail: (reason) => {
          leave();
          reject(reason);
        },
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      const after = this.#waiting.findIndex((one) => one.ticket > ticket);
      this.#waiting.splice(after === -1 ? this.#waiting.length : after, 0, waiter);
      this.#advance();
    });
  }

  /** Updates the pace from the headers of a response. */
  answered(answer: { ok: boolean; rate: Limit | null }, sentAtMs: number): void {
    this.#pace.answered(answer, { sentAtMs, nowMs: this.#clock.nowMs() });
    this.#advance();
  }

  /** Notes that a rate limit refused the request. */
  refused(retryAfterSeconds: number | null, sentAtMs: number): void {
    this.#pace.refused(retryAfterSeconds, { sentAtMs, nowMs: this.#clock.nowMs() });
    this.#advance();
  }

  /** Notes that the request has ended, successfully or not. */
  ended(): void {
    this.#pace.ended();
    this.#advance();
  }

  /** Milliseconds for which all requests now wait after a refusal. */
  get pauseMs(): number {
    return this.#pace.pauseMs(this.#clock.nowMs());
  }

  /** Starts the calls whose turn has come, fails those whose turn cannot come in time, and sets the timer. */
  #advance(): void {
    const nowMs = this.#clock.nowMs();
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (this.#pace.waitMs(nowMs, 0, next.places) !== 0) break;
      this.#pace.sent(nowMs, next.places);
      this.#waiting.shift();
      next.go();
    }
    this.#dropLate(nowMs);
    this.#setTimer(nowMs);
  }

  #dropLate(nowMs: number): void {
    const kept: Waiter[] = [];
    let ahead = 0;
    for (const waiter of this.#waiting) {
      const { places, deadlineMs } = waiter;
      if (nowMs + this.#pace.leastWaitMs(nowMs, ahead, places) < deadlineMs) {
        kept.push(waiter);
        ahead += this.#pace.cost(places);
      } else waiter.fail(waiter.tooLate(kept.length, this.#pace.statedPerSecond));
    }
    this.#waiting = kept;
  }

  #setTimer(nowMs: number): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const [next] = this.#waiting;
    if (next === undefined) return;
    const turnMs = this.#pace.waitMs(nowMs, 0, next.places) ?? Number.POSITIVE_INFINITY;
    const wakeMs = this.#waiting.reduce(
      (soonest, { deadlineMs }) => Math.min(soonest, deadlineMs - nowMs),
      turnMs,
    );
    const ms = Math.max(1, Math.ceil(wakeMs));
    this.#cancelTimer = this.#clock.after(ms, () => this.#advance());
  }
}
