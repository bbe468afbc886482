/** A priority queue from which any item can be removed. */

/** Items in the order of numbers. Each step takes a time that grows with the logarithm of their number. */
export class Heap<Item extends object> {
  readonly #rank: (item: Item) => number;
  /** A binary heap: no item ranks before the one at (index − 1) / 2. */
  readonly #items: Item[] = [];
  readonly #places = new Map<Item, number>();

  /** `rank` must not change while an item is here. */
  constructor(rank: (item: Item) => number) {
    this.#rank = rank;
  }

  get size(): number {
    return this.#items.length;
  }

  /** The item with the lowest rank. */
  get first(): Item | undefined {
    return this.#items[0];
  }

  /** Returns all items by rank. */
  inOrder(): Item[] {
    return [...this.#items].sort((a, b) => this.#rank(a) - this.#rank(b));
  }

  add(item: Item): void {
    this.#items.push(item);
    this.#rise(item, this.#items.length - 1);
  }

  /** Removes an item. Returns false if it is not here. */
  delete(item: Item): boolean {
    const place = this.#places.get(item);
    if (place === undefined) return false;
    this.#places.delete(item);
    const last = this.#items.pop() as Item;
    if (last === item) return true;
    this.#sink(last, place);
    this.#rise(last, this.#places.get(last) as number);
    return true;
  }

  #rise(item: Item, from: number): void {
    let place = from;
    while (place > 0) {
      const above = (place - 1) >> 1;
      const other = this.#items[above] as Item;
      if (this.#rank(other) <= this.#rank(item)) break;
      this.#put(other, place);
      place = above;
    }
    this.#put(item, place);
  }

  #sink(item: Item, from: number): void {
    let place = from;
    for (let below = 2 * place + 1; below < this.#items.length; below = 2 * place + 1) {
      const [left, right] = [this.#items[below] as Item, this.#items[below + 1]];
      const isRight = right !== undefined && this.#rank(right) < this.#rank(left);
      const lower = isRight ? right : left;
      if (this.#rank(item) <= this.#rank(lower)) break;
      this.#put(lower, place);
      place = isRight ? below + 1 : below;
    }
    this.#put(item, place);
  }

  #put(item: Item, place: number): void {
    this.#items[place] = item;
    this.#places.set(item, place);
  }
}
