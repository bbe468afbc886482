/** Random choices that are repeatable from a seed. */
import { seededRandom } from '../../clients/mixed-load.ts';

export class Dice {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  /** Returns a number in [0, 1). */
  roll(): number {
    return this.#random();
  }

  /** Returns an integer from `least` to `most`. */
  int(least: number, most: number): number {
    return least + Math.floor(this.#random() * (most - least + 1));
  }

  pick<T>(all: readonly T[]): T {
    return all[this.int(0, all.length - 1)] as T;
  }

  /** Returns one or more of the values. */
  some<T>(all: readonly T[]): T[] {
    const chosen = all.filter(() => this.#random() < 0.5);
    return chosen.length > 0 ? chosen : [this.pick(all)];
  }

  shuffle<T>(all: readonly T[]): T[] {
    const cards = [...all];
    for (let i = cards.length - 1; i > 0; i--) {
      const j = this.int(0, i);
      [cards[i], cards[j]] = [cards[j] as T, cards[i] as T];
    }
    return cards;
  }
}
