/**
 * Rate limits by the generic cell rate algorithm (GCRA, ITU-T I.371): one number per key and no timers.
 *
 * The number is the theoretical arrival time: when the bucket will be full again. A request conforms while
 * that time is at most `burst` emission intervals ahead of now.
 */
export interface RateLimit {
  readonly ratePerSecond: number;
  readonly burst: number;
}

export interface RateDecision {
  readonly allowed: boolean;
  readonly limit: number;
  /** Requests that are allowed at once after this one. */
  readonly remaining: number;
  /** Seconds until the bucket is full again. */
  readonly resetSeconds: number;
  /** Seconds until the next request is allowed, or the refused one is; 0 if it is allowed at once. */
  readonly retryAfterSeconds: number;
}

/** Number of tracked keys at which the limiter first drops full buckets. A full bucket equals no bucket. */
const FIRST_SWEEP = 10_000;

export class RateLimiter {
  readonly #fullAtMs = new Map<string, number>();
  readonly #maxKeys: number;
  #sweepAt = FIRST_SWEEP;

  /** Beyond `maxKeys`, the limiter forgets the key that it saw first. */
  constructor(maxKeys: number = Number.POSITIVE_INFINITY) {
    this.#maxKeys = maxKeys;
  }

  /** Takes one request for `key` at `nowMs`, a time that does not run backwards for long. */
  take(key: string, limit: RateLimit, nowMs: number): RateDecision {
    return this.#take(key, limit, nowMs, 0, 1);
  }

  /**
   * Takes the rest of a batch's tokens: `take` has taken one, and the batch takes `total` (1 to `burst`). A refusal gives
   * that one back, and its wait is for `total` tokens.
   */
  takeRest(key: string, limit: RateLimit, nowMs: number, total: number): RateDecision {
    return this.#take(key, limit, nowMs, 1, total);
  }

  #take(
    key: string,
    { ratePerSecond, burst }: RateLimit,
    nowMs: number,
    held: number,
    total: number,
  ): RateDecision {
    const intervalMs = 1000 / ratePerSecond;
    const before = (this.#fullAtMs.get(key) ?? 0) - held * intervalMs;
    const fullAt = Math.max(before, nowMs);
    const allowed = fullAt - nowMs <= (burst - total) * intervalMs + 1e-6;
    const next = allowed ? fullAt + total * intervalMs : fullAt;
    if (allowed || held > 0) this.#store(key, next, nowMs);
    const remaining = Math.max(0, Math.floor(burst - (next - nowMs) / intervalMs + 1e-6));
    const wanted = allowed ? 1 : total;
    const waitMs = next - nowMs - (burst - wanted) * intervalMs;
    return {
      allowed,
      limit: burst,
      remaining,
      resetSeconds: Math.ceil((next - nowMs) / 1000),
      retryAfterSeconds: remaining >= wanted ? 0 : Math.max(1, Math.ceil(waitMs / 1000)),
    };
  }

  #store(key: string, fullAtMs: number, nowMs: number): void {
    if (this.#fullAtMs.size >= this.#sweepAt) {
      for (const [other, at] of this.#fullAtMs) if (at <= nowMs) this.#fullAtMs.delete(other);
      this.#sweepAt = Math.max(FIRST_SWEEP, 2 * this.#fullAtMs.size);
    }
    const [oldest] = this.#fullAtMs.size >= this.#maxKeys ? this.#fullAtMs.keys() : [];
    if (oldest !== undefined && !this.#fullAtMs.has(key)) this.#fullAtMs.delete(oldest);
    this.#fullAtMs.set(key, fullAtMs);
  }
}
