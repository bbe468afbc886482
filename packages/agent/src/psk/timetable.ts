/**
 * When an end does what. Time is cut into epochs of one interval, by the clock of each end: clocks may differ by a minute, so each
 * limit here leaves at least 100 seconds for the other end.
 *
 * ```text
 *        agreedBy     start        switchedBy    confirmedBy             start of the next epoch
 *  … ──────┼────────────┼──────────────┼──────────────┼──────────────────────┼── …
 *              one part      one part       one part
 * ```
 */

/** WireGuard reads its pre-shared key only at a handshake, each two to three minutes: so no shorter interval. */
export const LEAST_INTERVAL_MS = 300_000;
export const MOST_INTERVAL_MS = 86_400_000;

/** Keys are made so many epochs before their own. */
export const AHEAD = 3;

const MOST_PART_MS = 600_000;

/** The service keeps copies for seven days at most. */
const MOST_LIFE_MS = 7 * 86_400_000;

export class Timetable {
  readonly intervalMs: number;
  readonly #partMs: number;
  readonly #hasConfirm: boolean;

  constructor(intervalMs: number, hasConfirm: boolean) {
    this.intervalMs = intervalMs;
    this.#partMs = Math.min(MOST_PART_MS, intervalMs / 3);
    this.#hasConfirm = hasConfirm;
  }

  /** How long copies are kept: from three epochs ahead until the next key is confirmed, and as long again for outages. */
  get lifeMs(): number {
    return Math.min(MOST_LIFE_MS, 8 * this.intervalMs);
  }

  epochAt(nowMs: number): number {
    return Math.floor(nowMs / this.intervalMs);
  }

  startOf(epoch: number): number {
    return epoch * this.intervalMs;
  }

  /** The leader agrees to no key of the epoch from then on: the follower has the time of a part to notice that it did. */
  agreedBy(epoch: number): number {
    return this.startOf(epoch) - this.#partMs;
  }

  /**
   * An end begins to use the key of the epoch before that, or not at all. With a confirmation, the other end may have taken its
   * old key back later. Without one, late is better than never.
   */
  switchedBy(epoch: number): number {
    const start = this.startOf(epoch);
    return start + (this.#hasConfirm ? this.#partMs : this.intervalMs - this.#partMs);
  }

  /** A key that is not confirmed then is taken back. */
  confirmedBy(epoch: number): number {
    return this.startOf(epoch) + 2 * this.#partMs;
  }
}
