/**
 * Computes when the next request may be sent, from given times and without timers.
 *
 * The service keeps a bucket of tokens for each API key, and the headers of each response describe it. This class keeps a
 * copy of that bucket. The copy errs on the low side: it sends later than the service would allow, and other clients
 * with the same API key lower it further. A refusal (429) empties it and pauses all requests.
 */
import type { Limit } from './limits.ts';

/** Most requests in progress before a response states the limit. The smallest plan's bucket holds 20. */
const FIRST_REQUESTS = 10;

/** Most requests in progress at any time: each takes a connection. */
const MOST_REQUESTS = 256;

/** Requests sent this far apart may arrive together; the copy keeps that many tokens in reserve. */
const JITTER_MS = 100;

/** First guess of the rate if refusals have no headers. Refusals halve it, and successful responses raise it. */
const FIRST_GUESS_PER_MS = 10 / 1000;
const LEAST_GUESS_PER_MS = 0.25 / 1000;
const RAISE = 1.02;

const FIRST_BACKOFF_MS = 250;
const LONGEST_BACKOFF_MS = 8_000;

/** Longest pause after a refusal. The next request then asks the service itself. */
const LONGEST_PAUSE_MS = 30_000;

/** Longest time between two requests that a service may state, in seconds. Limits of longer times are mistakes. */
const LONGEST_GAP_SECONDS = 3_600;

interface Bucket {
  readonly perMs: number;
  readonly burst: number;
  /** True if the service stated these figures. */
  readonly stated: boolean;
}

export class Pace {
  readonly #random: () => number;
  #bucket: Bucket | null = null;
  /** True if the service responds and states no limit. */
  #unlimited = false;
  /** Tokens at `#atMs`, which is in the future during a pause. */
  #tokens = 0;
  #atMs = 0;
  #inFlight = 0;
  #sentAtMs = Number.NEGATIVE_INFINITY;
  #refusals = 0;
  #refusedAtMs = Number.NEGATIVE_INFINITY;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;

  /** `random` returns numbers from 0 to 1, like `Math.random`. */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** Tokens that the full bucket holds; null if it is not known. */
  get burst(): number | null {
    return this.#bucket?.burst ?? null;
  }

  /** Requests per second that the service stated; null if it stated none. */
  get statedPerSecond(): number | null {
    return this.#bucket?.stated ? this.#bucket.perMs * 1000 : null;
  }

  /** Returns the tokens that a request takes: its places, but no more than the bucket holds. */
  cost(places: number): number {
    return Math.min(places, this.#bucket?.burst ?? 1);
  }

  /**
   * Returns the milliseconds from `nowMs` until a request of so many places may be sent, after others that take `ahead`
   * tokens. Null: not until another request has ended.
   */
  waitMs(nowMs: number, ahead: number, places = 1): number | null {
    if (this.#inFlight >= MOST_REQUESTS) return null;
    return this.#tokenWaitMs(nowMs, ahead, places);
  }

  #tokenWaitMs(nowMs: number, ahead: number, places: number): number | null {
    const pauseMs = this.pauseMs(nowMs);
    if (this.#bucket === null) {
      if (this.#unlimited || this.#inFlight + ahead < FIRST_REQUESTS) return pauseMs;
      return null;
    }
    const { perMs, burst } = this.#bucket;
    // A request that takes the whole bucket leaves no reserve.
    const needed = Math.min(burst, this.cost(places) + reserve(this.#bucket));
    const lacking = ahead + needed - this.#tokensAt(nowMs + pauseMs);
    const waitMs = pauseMs + Math.max(0, lacking / perMs);
    if (ahead > 0) return waitMs;
    // Whatever the headers say, one request asks the service itself after a while: they may be wrong.
    return Math.min(waitMs, Math.max(pauseMs, this.#sentAtMs + LONGEST_PAUSE_MS - nowMs));
  }

  /** Returns a lower bound of the wait in milliseconds; only the current pause while the rate is a guess. */
  leastWaitMs(nowMs: number, ahead: number, places = 1): number {
    const certain = this.#bucket?.stated ? this.#tokenWaitMs(nowMs, ahead, places) : null;
    return certain ?? this.pauseMs(nowMs);
  }

  /** Returns the rest of the pause after a refusal, in milliseconds. */
  pauseMs(nowMs: number): number {
    return Math.max(0, this.#pausedUntilMs - nowMs);
  }

  /** Takes the tokens of a request that is sent. */
  sent(nowMs: number, places = 1): void {
    this.#inFlight += 1;
    this.#sentAtMs = nowMs;
    if (!this.#bucket) return;
    this.#settle(nowMs, Math.max(0, this.#tokensAt(nowMs) - this.cost(places)));
  }

  /** Notes that a request has ended, successfully or not. */
  ended(): void {
    this.#inFlight -= 1;
  }

  /** Updates the copy from the headers of a response; `rate` is null if they state no limit. */
  answered(
    { ok, rate }: { ok: boolean; rate: Limit | null },
    { sentAtMs, nowMs }: { sentAtMs: number; nowMs: number },
  ): void {
    if (rate !== null && isCredible(rate)) {
      this.#follow(rate, sentAtMs, nowMs);
    } else if (ok && (this.#bucket === null || this.#bucket.stated)) {
      this.#bucket = null;
      this.#unlimited = true;
    }
    if (!ok) return;
    this.#refusals = 0;
    this.#raiseGuess(nowMs);
  }

  /** Notes that a rate limit refused a request, with the seconds of `Retry-After` or null. */
  refused(
    retryAfterSeconds: number | null,
    { sentAtMs, nowMs }: { sentAtMs: number; nowMs: number },
  ): void {
    let pauseMs = (retryAfterSeconds ?? 0) * 1000;
    // Requests sent before the first refusal arrived only repeat it.
    if (sentAtMs > this.#refusedAtMs) {
      const backoffMs = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** this.#refusals);
      this.#refusals += 1;
      this.#refusedAtMs = nowMs;
      pauseMs += this.#random() * backoffMs;
      this.#lowerGuess();
    }
    const until = nowMs + Math.min(LONGEST_PAUSE_MS, pauseMs);
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, until);
    // Tokens that arrive during the pause are left to others with the same API key; one request may follow it.
    if (this.#bucket) this.#settle(this.#pausedUntilMs, 1 + reserve(this.#bucket));
  }

  #tokensAt(nowMs: number): number {
    if (this.#bucket === null) return 0;
    const { perMs, burst } = this.#bucket;
    return Math.min(burst, this.#tokens + perMs * Math.max(0, nowMs - this.#atMs));
  }

  #settle(atMs: number, tokens: number): void {
    this.#tokens = tokens;
    this.#atMs = Math.max(this.#atMs, atMs);
  }

  #follow(rate: Limit, sentAtMs: number, nowMs: number): void {
    const { limit: burst, windowSeconds, remaining } = rate;
    const known = this.#bucket?.stated === true;
    const tokens = this.#tokensAt(nowMs);
    this.#bucket = { perMs: burst / windowSeconds / 1000, burst, stated: true };
    if (nowMs < this.#pausedUntilMs) return;
    if (!known) {
      this.#settle(nowMs, Math.max(0, Math.min(burst - this.#inFlight, remaining)));
      return;
    }
    // `remaining` is the rest, rounded down, when the request arrived, which was not before it was sent.
    const floor = remaining + this.#bucket.perMs * (nowMs - sentAtMs);
    this.#settle(nowMs, Math.min(burst, tokens >= floor + 1 ? floor : tokens));
  }

  #lowerGuess(): void {
    if (this.#bucket?.stated) return;
    const perMs = this.#bucket
      ? Math.max(LEAST_GUESS_PER_MS, this.#bucket.perMs / 2)
      : FIRST_GUESS_PER_MS;
    this.#bucket = { perMs, burst: 1, stated: false };
  }

  #raiseGuess(nowMs: number): void {
    if (this.#bucket === null || this.#bucket.stated) return;
    const tokens = this.#tokensAt(nowMs);
    this.#bucket = { ...this.#bucket, perMs: this.#bucket.perMs * RAISE };
    if (nowMs >= this.#atMs) this.#settle(nowMs, tokens);
  }
}

/** Reports whether a service can mean this limit. A limit that it cannot mean counts as none. */
function isCredible({ limit, remaining, windowSeconds }: Limit): boolean {
  return (
    [limit, remaining, windowSeconds].every(Number.isSafeInteger) &&
    limit > 0 &&
    remaining >= 0 &&
    windowSeconds > 0 &&
    windowSeconds <= LONGEST_GAP_SECONDS * limit
  );
}

/** Tokens in reserve for requests that arrive closer together than they were sent. */
function reserve({ perMs, burst }: Bucket): number {
  return Math.min(Math.max(1, perMs * JITTER_MS), (burst - 1) / 2);
}
