/**
 * The boxes of two services as one. A key is there once both services have made theirs, and never of one alone: then no single service
 * knows it, nor whoever operates it.
 */
import type { Clock } from '../clock.ts';
import { combine, mismatchOf } from './combined-key.ts';
import { Halves } from './halves.ts';
import {
  BATCH,
  type CopyState,
  type DeliveryState,
  type Fetched,
  type KeyBoxes,
  type Listing,
  type MakeOrder,
  type OpenedCopy,
  SourceError,
} from './key-boxes.ts';

interface NamedBoxes {
  /** For messages. */
  readonly name: string;
  readonly boxes: KeyBoxes;
}

type Pair<T> = readonly [T, T];

/** The first or the second service. */
type Which = 0 | 1;

const WHICH: Pair<Which> = [0, 1];

/** Where the listing of one service goes on. */
interface Place {
  readonly cursor: string | null;
  readonly isEnd: boolean;
}

const START: Place = { cursor: null, isEnd: false };

/** While halves wait in a box, its list does not. */
const PAUSE_MS = 2_000;

export class TwoServices implements KeyBoxes {
  readonly #services: Pair<NamedBoxes>;
  readonly #clock: Clock;
  readonly #halves: Pair<Halves>;
  /** The service that failed last to make keys. It is asked first: then the other makes none in vain. */
  #doubtful: Which = 0;

  constructor(services: Pair<NamedBoxes>, clock: Clock) {
    this.#services = services;
    this.#clock = clock;
    this.#halves = [new Halves(clock), new Halves(clock)];
  }

  async make(order: MakeOrder, signal: AbortSignal): Promise<readonly OpenedCopy[]> {
    const first = this.#doubtful;
    const ones = await this.#makeAt(first, order, signal);
    try {
      const others = await this.#makeAt(other(first), order, signal);
      try {
        return joinedKeys(ones, others);
      } finally {
        others.forEach(wipe);
      }
    } catch (error) {
      // What the first has made stays without its other half, unless only the answer was lost.
      this.#halves[first].add(order.ids);
      throw error;
    } finally {
      ones.forEach(wipe);
    }
  }

  async #makeAt(i: Which, order: MakeOrder, signal: AbortSignal): Promise<readonly OpenedCopy[]> {
    try {
      return await this.#named(i, (boxes) => boxes.make(order, signal));
    } catch (error) {
      this.#doubtful = i;
      throw error;
    }
  }

  async list(after: string | null, signal: AbortSignal): Promise<Listing> {
    const late = await this.#settle(signal);
    const places: Pair<Place> = after === null ? [START, START] : JSON.parse(after);
    const listings = await this.#listFrom(places, signal);
    const found = WHICH.flatMap((i) => this.#note(i, listings[i]?.ids ?? []));
    const next = WHICH.map((i) => listings[i] ?? places[i]);
    const isEnd = next.every((one) => one.isEnd);
    if (isEnd) await this.#setAside(signal);
    const hasHalves = this.#halves.some(({ size }) => size > 0);
    if (isEnd && hasHalves && found.length + late.length === 0) {
      await this.#clock.sleep(PAUSE_MS, signal);
    }
    const cursor = JSON.stringify(next.map((one) => ({ cursor: one.cursor, isEnd: one.isEnd })));
    return { ids: [...late, ...found], cursor, isEnd };
  }

  /** A service that is at its end waits for new copies: not while the other still lists old ones. */
  #listFrom(places: Pair<Place>, signal: AbortSignal): Promise<Pair<Listing | null>> {
    const isOneOpen = places[0].isEnd !== places[1].isEnd;
    return this.#both(
      async (boxes, i) =>
        isOneOpen && places[i].isEnd ? null : boxes.list(places[i].cursor, signal),
      () => {},
    );
  }

  /** Returns those of the IDs that the other service has listed too. */
  #note(i: Which, ids: readonly string[]): string[] {
    const whole = ids.filter((id) => this.#halves[other(i)].delete(id));
    this.#halves[i].add(ids.filter((id) => !whole.includes(id)));
    return whole;
  }

  /** Fetches new halves, so that they wait no more: a service lists what waits, a page at a time. */
  async #setAside(signal: AbortSignal): Promise<void> {
    for (const i of WHICH) {
      const fresh = this.#halves[i].takeFresh(BATCH);
      if (fresh.length > 0) (await this.#fetchOf(i, fresh, signal)).forEach(wipeFetched);
    }
  }

  /** Looks again at old halves. Removes those that lack the other half, and returns the others. */
  async #settle(signal: AbortSignal): Promise<string[]> {
    const whole: string[] = [];
    for (const i of WHICH) {
      const old = this.#halves[i].old(BATCH);
      if (old.length === 0) continue;
      const fetched = await this.#fetchOf(other(i), old, signal);
      fetched.forEach(wipeFetched);
      const dead = old.filter((_, k) => fetched[k]?.kind === 'gone');
      if (dead.length > 0) await this.#removeOf(i, dead, signal);
      whole.push(...old.filter((id) => !dead.includes(id)));
      for (const id of old) this.#halves[i].delete(id);
    }
    return whole;
  }

  async fetch(ids: readonly string[], signal: AbortSignal): Promise<readonly Fetched[]> {
    const [ones, others] = await this.#both(
      (boxes) => boxes.fetch(ids, signal),
      (fetched) => fetched.forEach(wipeFetched),
    );
    this.#halves[0].add(ids.filter((_, k) => isHalf(ones[k], others[k])));
    this.#halves[1].add(ids.filter((_, k) => isHalf(others[k], ones[k])));
    return ids.map((id, k) => joined(id, ones[k], others[k]));
  }

  async remove(ids: readonly string[], signal: AbortSignal): Promise<void> {
    await this.#both(
      (boxes) => boxes.remove(ids, signal),
      () => {},
    );
  }

  async state(id: string, signal: AbortSignal): Promise<DeliveryState | null> {
    const [one, two] = await this.#both(
      (boxes) => boxes.state(id, signal),
      () => {},
    );
    const names = [...(one ?? two ?? [])].map(([name]) => name);
    if (names.length === 0) return null;
    // A half keeps its ID, so a key that has only one is gone: no other can be made under that ID.
    return new Map(names.map((name) => [name, weaker(one?.get(name), two?.get(name))]));
  }

  #fetchOf(i: Which, ids: readonly string[], signal: AbortSignal): Promise<readonly Fetched[]> {
    return this.#named(i, (boxes) => boxes.fetch(ids, signal));
  }

  #removeOf(i: Which, ids: readonly string[], signal: AbortSignal): Promise<void> {
    return this.#named(i, (boxes) => boxes.remove(ids, signal));
  }

  /** Calls both at the same time. If one fails, `drop` gets the result of the other, and this rejects. */
  async #both<T>(
    call: (boxes: KeyBoxes, i: Which) => Promise<T>,
    drop: (result: T) => void,
  ): Promise<Pair<T>> {
    const results = await Promise.allSettled([
      this.#named(0, (boxes) => call(boxes, 0)),
      this.#named(1, (boxes) => call(boxes, 1)),
    ]);
    const [one, two] = results;
    if (one.status === 'fulfilled' && two.status === 'fulfilled') return [one.value, two.value];
    for (const result of results) if (result.status === 'fulfilled') drop(result.value);
    throw one.status === 'rejected' ? one.reason : (two as PromiseRejectedResult).reason;
  }

  async #named<T>(i: Which, call: (boxes: KeyBoxes) => Promise<T>): Promise<T> {
    const { name, boxes } = this.#services[i];
    try {
      return await call(boxes);
    } catch (cause) {
      if (!(cause instanceof SourceError)) throw cause;
      throw new SourceError(`${name}: ${cause.message}`, { cause });
    }
  }
}

const other = (i: Which): Which => (i === 0 ? 1 : 0);

/** Returns the keys of both services that belong together. What does not match shows itself in the box. */
function joinedKeys(ones: readonly OpenedCopy[], others: readonly OpenedCopy[]): OpenedCopy[] {
  const byId = new Map(others.map((copy) => [copy.id, copy]));
  return ones.flatMap((one) => {
    const found = byId.get(one.id);
    return found === undefined || mismatchOf(one, found) !== null ? [] : [combine(one, found)];
  });
}

/** Reports whether a key is there at one service and not at the other. */
function isHalf(one: Fetched | undefined, two: Fetched | undefined): boolean {
  return one?.kind === 'opened' && two?.kind === 'gone';
}

/** Returns what is to be had of a key, and wipes the keys of the services. */
function joined(id: string, one: Fetched | undefined, two: Fetched | undefined): Fetched {
  const both = [one, two];
  try {
    if (both.some((half) => half === undefined || half.kind === 'gone')) {
      return { kind: 'gone', id };
    }
    const refused = both.find((half) => half?.kind === 'refused');
    if (refused !== undefined) return refused;
    if (one?.kind !== 'opened' || two?.kind !== 'opened') return { kind: 'pending', id };
    const mismatch = mismatchOf(one.copy, two.copy);
    return mismatch === null
      ? { kind: 'opened', copy: combine(one.copy, two.copy) }
      : { kind: 'refused', id, reason: mismatch };
  } finally {
    for (const half of both) if (half !== undefined) wipeFetched(half);
  }
}

/** A copy is received once both services have sent theirs, and gone with either. */
function weaker(one: CopyState = 'gone', other: CopyState = 'gone'): CopyState {
  if (one === 'gone' || other === 'gone') return 'gone';
  return one === 'received' ? other : one;
}

function wipe({ key }: OpenedCopy): void {
  key.fill(0);
}

function wipeFetched(one: Fetched): void {
  if (one.kind === 'opened') wipe(one.copy);
}
