/** The queue of a client's requests under the rate limit: first come, first served. */
import { onAbort } from './abort.ts';
import type { PhmError } from './errors.ts';
import { Heap } from './heap.ts';
import type { Limit } from './limits.ts';
import { Pace } from './pace.ts';

/** Time and timers, which tests replace. */
export interface Clock {
  /** Milliseconds that never go backwards. */
  nowMs(): number;
  /** Calls `work` after `ms`; the result cancels it. */
  after(ms: number, work: () => void): () => void;
}

const realClock: Clock = {
  nowMs: () => performance.now(),
  after: (ms, work) => {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  },
};

/** A call that waits for a turn. */
interface Asking {
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
  /** Tokens that it takes, when they were last counted. */
  cost: number;
  readonly go: () => void;
  readonly fail: (reason: unknown) => void;
}

/** The queue looks at every call when so many events have happened, as a part of the number of calls. */
const EVENTS_PER_CALL = 1 / 4;

export class Turns {
  readonly #clock: Clock;
  readonly #pace: Pace;
  readonly #line = new Heap<Waiter>(({ ticket }) => ticket);
  readonly #deadlines = new Heap<Waiter>(({ deadlineMs }) => deadlineMs);
  #tickets = 0;
  /** Ticket of the last call that came for the first time. */
  #last = 0;
  /** Tokens of all that wait. They are counted for a bucket that holds `#burst`. */
  #queued = 0;
  #burst: number | null = null;
  /** Events since the queue last looked at every call. */
  #events = 0;
  #wasStated = false;
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
   * or with `tooLate` when it is known that the turn cannot come before the deadline, and at the deadline at the latest.
   */
  take(asking: Asking): Promise<void> {
    return new Promise((resolve, reject) => {
      const { signal } = asking;
      const leave = onAbort(signal, () => {
        this.#remove(waiter);
        reject(signal?.reason);
        this.#advance();
      });
      const waiter: Waiter = {
        ...asking,
        cost: this.#pace.cost(asking.places),
        go: () => {
          leave();
          resolve();
        },
        fail: (reason) => {
          leave();
          reject(reason);
        },
      };
      this.#add(waiter);
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

  #add(waiter: Waiter): void {
    this.#line.add(waiter);
    this.#deadlines.add(waiter);
    // A call that asks again stands somewhere before the last one.
    const isLast = waiter.ticket > this.#last;
    this.#last = Math.max(this.#last, waiter.ticket);
    const before = isLast && this.#burst === this.#pace.burst ? this.#queued : 0;
    const place = this.#line.size - 1;
    this.#queued += waiter.cost;
    const isLate = !this.#isInTime(waiter, before);
    if (isLate) this.#drop(waiter, place);
    this.#advance();
  }

  #remove(waiter: Waiter): void {
    if (!this.#line.delete(waiter)) return;
    this.#deadlines.delete(waiter);
    this.#queued -= waiter.cost;
  }

  #drop(waiter: Waiter, ahead: number): void {
    this.#remove(waiter);
    waiter.fail(waiter.tooLate(ahead, this.#pace.statedPerSecond));
  }

  /** Reports whether a call may get its turn in time, after others that take `ahead` tokens. */
  #isInTime({ places, deadlineMs }: Waiter, ahead: number): boolean {
    const nowMs = this.#clock.nowMs();
    return nowMs + this.#pace.leastWaitMs(nowMs, ahead, places) < deadlineMs;
  }

  /** Starts the calls whose turn has come, fails those whose turn cannot come in time, and sets the timer. */
  #advance(): void {
    const nowMs = this.#clock.nowMs();
    this.#events += 1;
    for (let next = this.#line.first; next !== undefined; next = this.#line.first) {
      if (this.#pace.waitMs(nowMs, 0, next.places) !== 0) break;
      this.#pace.sent(nowMs, next.places);
      this.#remove(next);
      next.go();
    }
    const isStated = this.#pace.statedPerSecond !== null;
    const isNews = isStated && !this.#wasStated;
    this.#wasStated = isStated;
    if (isNews || this.#events >= this.#line.size * EVENTS_PER_CALL) this.#dropLate();
    this.#dropExpired(nowMs);
    this.#setTimer(nowMs);
  }

  /** Fails every call whose turn cannot come in time. It takes as long as the queue is, so it is not done at each event. */
  #dropLate(): void {
    this.#events = 0;
    this.#burst = this.#pace.burst;
    let [kept, ahead] = [0, 0];
    for (const waiter of this.#line.inOrder()) {
      if (this.#isInTime(waiter, ahead)) {
        this.#queued -= waiter.cost;
        waiter.cost = this.#pace.cost(waiter.places);
        this.#queued += waiter.cost;
        ahead += waiter.cost;
        kept += 1;
      } else this.#drop(waiter, kept);
    }
  }

  /** Fails the calls whose deadline comes before the end of the pause. */
  #dropExpired(nowMs: number): void {
    const soonestMs = nowMs + this.#pace.pauseMs(nowMs);
    for (let next = this.#deadlines.first; next !== undefined; next = this.#deadlines.first) {
      if (soonestMs < next.deadlineMs) return;
      this.#drop(next, this.#line.size - 1);
    }
  }

  #setTimer(nowMs: number): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const { first } = this.#line;
    if (first === undefined) return;
    const turnMs = this.#pace.waitMs(nowMs, 0, first.places) ?? Number.POSITIVE_INFINITY;
    const { deadlineMs = Number.POSITIVE_INFINITY } = this.#deadlines.first ?? {};
    const ms = Math.max(1, Math.ceil(Math.min(turnMs, deadlineMs - nowMs)));
    this.#cancelTimer = this.#clock.after(ms, () => this.#advance());
  }
}
