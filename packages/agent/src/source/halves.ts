/** Keys that only one of two services is known to have made, with the times at which that was noticed. */
import type { Clock } from '../clock.ts';

/** A half after this time stays without its other half: requests for keys do not take so long. */
const OLD_MS = 600_000;

/** Twice what a box holds. Beyond, the oldest are forgotten; they end with their life. */
const MOST = 20_000;

export class Halves {
  readonly #clock: Clock;
  readonly #since = new Map<string, number>();
  readonly #fresh = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#since.size;
  }

  /** Those that are known keep their time. */
  add(ids: Iterable<string>): void {
    for (const id of ids) {
      if (this.#since.has(id)) continue;
      const [oldest] = this.#since.keys();
      if (this.#since.size >= MOST && oldest !== undefined) this.delete(oldest);
      this.#since.set(id, this.#clock.nowMs());
      this.#fresh.add(id);
    }
  }

  /** Returns false if it was not there. */
  delete(id: string): boolean {
    this.#fresh.delete(id);
    return this.#since.delete(id);
  }

  /** Returns some that were not returned before. */
  takeFresh(most: number): string[] {
    const ids = [...this.#fresh].slice(0, most);
    for (const id of ids) this.#fresh.delete(id);
    return ids;
  }

  /** Returns some that stay without their other half. */
  old(most: number): string[] {
    const bound = this.#clock.nowMs() - OLD_MS;
    return [...this.#since].flatMap(([id, since]) => (since <= bound ? [id] : [])).slice(0, most);
  }
}
