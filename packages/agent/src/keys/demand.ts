/** How fast a pair uses keys: what its pool is sized by. */

const SECONDS = 60;

/** Also counted alone, so that a burst is seen before a minute has passed. */
const RECENT = 10;

export class Demand {
  /** Keys of each of the last seconds, by second modulo `SECONDS`. */
  readonly #counts = new Array<number>(SECONDS).fill(0);
  #second = 0;

  count(keys: number, nowMs: number): void {
    this.#moveTo(nowMs);
    this.#counts[this.#second % SECONDS] = this.#at(this.#second) + keys;
  }

  /** Returns keys per second: of the last minute, or of the last ten seconds if that is more. */
  perSecond(nowMs: number): number {
    this.#moveTo(nowMs);
    return Math.max(this.#sum(RECENT) / RECENT, this.#sum(SECONDS) / SECONDS);
  }

  /** A clock that was set back changes nothing until it is there again. */
  #moveTo(nowMs: number): void {
    const second = Math.floor(nowMs / 1000);
    const steps = Math.min(SECONDS, second - this.#second);
    for (let i = 0; i < steps; i += 1) this.#counts[(second - i) % SECONDS] = 0;
    if (second > this.#second) this.#second = second;
  }

  #sum(seconds: number): number {
    let sum = 0;
    for (let i = 0; i < seconds; i += 1) sum += this.#at(this.#second - i);
    return sum;
  }

  #at(second: number): number {
    return this.#counts[((second % SECONDS) + SECONDS) % SECONDS] ?? 0;
  }
}
