/**
 * The boxes of two services as one. A key is there once both services have made theirs, and never of one alone: then no single service
 * knows it, nor whoever operates it.
 */
import type { Clock } from '../clock.ts';
import { combine, mismatchOf } from './combined-key.ts';
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

/** Where the listing of one service goes on. */
interface Place {
  readonly cursor: string | null;
  readonly isEnd: boolean;
}

const START: Place = { cursor: null, isEnd: false };

/** A key that only one service has made after this time stays without its other half: requests do not take so long. */
const HALF_MS = 600_000;

/** While halves wait in a box, its list does not. */
const PAUSE_MS = 2_000;

export class TwoServices implements KeyBoxes {
  readonly #services: Pair<NamedBoxes>;
  readonly #clock: Clock;
  /** What each service alone has listed, and when first. */
  readonly #halves: Pair<Map<string, number>> = [new Map(), new Map()];

  constructor(services: Pair<NamedBoxes>, clock: Clock) {
    this.#services = services;
    this.#clock = clock;
  }

  async make(order: MakeOrder, signal: AbortSignal): Promise<readonly OpenedCopy[]> {
    const made = await this.#both(
      (boxes) => boxes.make(order, signal),
      (copies) => copies.forEach(wipe),
    );
    const others = new Map(made[1].map((copy) => [copy.id, copy]));
    const keys = made[0].flatMap((one) => {
      const other = others.get(one.id);
      // What does not match shows itself in the box.
      return other === undefined || mismatchOf(one, other) !== null ? [] : [combine(one, other)];
    });
    made.flat().forEach(wipe);
    return keys;
  }

  async list(after: string | null, signal: AbortSignal): Promise<Listing> {
    const places: Pair<Place> = after === null ? [START, START] : JSON.parse(after);
    const listings = await this.#listFrom(places, signal);
    const next = listings.map((one, i) => one ?? places[i]) as unknown as Pair<Listing | Place>;
    const found = [0, 1].flatMap((i) => this.#note(i as 0 | 1, listings[i]?.ids ?? []));
    const late = await this.#settle(signal);
    const isEnd = next.every((one) => one.isEnd);
    if (isEnd && found.length + late.length === 0 && this.#halfCount > 0) {
      await this.#clock.sleep(PAUSE_MS, signal);
    }
    const cursor = JSON.stringify(next.map((one) => ({ cursor: one.cursor, isEnd: one.isEnd })));
    return { ids: [...found, ...late], cursor, isEnd };
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
  #note(i: 0 | 1, ids: readonly string[]): string[] {
    const [own, others] = [this.#halves[i], this.#halves[i === 0 ? 1 : 0]];
    const nowMs = this.#clock.nowMs();
    return ids.filter((id) => {
      if (others.delete(id)) return true;
      if (!own.has(id)) own.set(id, nowMs);
      return false;
    });
  }

  get #halfCount(): number {
    return this.#halves[0].size + this.#halves[1].size;
  }

  /** Looks again at old halves. Removes those that lack the other half, and returns the others. */
  async #settle(signal: AbortSignal): Promise<string[]> {
    const oldMs = this.#clock.nowMs() - HALF_MS;
    const whole: string[] = [];
    for (const [i, halves] of this.#halves.entries()) {
      const old = [...halves].filter(([, sinceMs]) => sinceMs <= oldMs).map(([id]) => id);
      const some = old.slice(0, BATCH);
      if (some.length === 0) continue;
      const fetched = await this.#fetchOf(i === 0 ? 1 : 0, some, signal);
      const dead = some.filter((_, k) => fetched[k]?.kind === 'gone');
      if (dead.length > 0) await this.#removeOf(i as 0 | 1, dead, signal);
      whole.push(...some.filter((id) => !dead.includes(id)));
      for (const id of some) halves.delete(id);
      for (const one of fetched) wipeFetched(one);
    }
    return whole;
  }

  async fetch(ids: readonly string[], signal: AbortSignal): Promise<readonly Fetched[]> {
    const [ones, others] = await this.#both(
      (boxes) => boxes.fetch(ids, signal),
      (fetched) => fetched.forEach(wipeFetched),
    );
    return ids.map((id, i) => joined(id, ones[i], others[i]));
  }

  async remove(ids: readonly string[], signal: AbortSignal): Promise<void> {
    await this.#both(
      (boxes) => boxes.remove(ids, signal),
      () => {},
    );
  }

  async state(id: string, signal: AbortSignal): Promise<DeliveryState | null> {
    const [one, other] = await this.#both(
      (boxes) => boxes.state(id, signal),
      () => {},
    );
    if (one === null || other === null) return null;
    return new Map([...one].map(([name, state]) => [name, weaker(state, other.get(name))]));
  }

  #fetchOf(i: 0 | 1, ids: readonly string[], signal: AbortSignal): Promise<readonly Fetched[]> {
    return this.#named(i, (boxes) => boxes.fetch(ids, signal));
  }

  #removeOf(i: 0 | 1, ids: readonly string[], signal: AbortSignal): Promise<void> {
    return this.#named(i, (boxes) => boxes.remove(ids, signal));
  }

  /** Calls both at the same time. If one fails, `drop` gets the result of the other, and this rejects. */
  async #both<T>(
    call: (boxes: KeyBoxes, i: 0 | 1) => Promise<T>,
    drop: (result: T) => void,
  ): Promise<Pair<T>> {
    const results = await Promise.allSettled([
      this.#named(0, (boxes) => call(boxes, 0)),
      this.#named(1, (boxes) => call(boxes, 1)),
    ]);
    const [one, other] = results;
    if (one.status === 'fulfilled' && other.status === 'fulfilled') return [one.value, other.value];
    for (const result of results) if (result.status === 'fulfilled') drop(result.value);
    throw one.status === 'rejected' ? one.reason : (other as PromiseRejectedResult).reason;
  }

  async #named<T>(i: 0 | 1, call: (boxes: KeyBoxes) => Promise<T>): Promise<T> {
    const { name, boxes } = this.#services[i];
    try {
      return await call(boxes);
    } catch (cause) {
      if (!(cause instanceof SourceError)) throw cause;
      throw new SourceError(`${name}: ${cause.message}`, { cause });
    }
  }
}

/** Returns what is to be had of a key, and wipes the keys of the services. */
function joined(id: string, one: Fetched | undefined, other: Fetched | undefined): Fetched {
  const both = [one, other];
  try {
    if (both.some((half) => half === undefined || half.kind === 'gone')) {
      return { kind: 'gone', id };
    }
    const refused = both.find((half) => half?.kind === 'refused');
    if (refused !== undefined) return refused;
    if (one?.kind !== 'opened' || other?.kind !== 'opened') return { kind: 'pending', id };
    const mismatch = mismatchOf(one.copy, other.copy);
    return mismatch === null
      ? { kind: 'opened', copy: combine(one.copy, other.copy) }
      : { kind: 'refused', id, reason: mismatch };
  } finally {
    for (const half of both) if (half !== undefined) wipeFetched(half);
  }
}

/** A copy is received once both services have sent theirs, and gone with either. */
function weaker(one: CopyState, other: CopyState = 'gone'): CopyState {
  if (one === 'gone' || other === 'gone') return 'gone';
  return one === 'received' ? other : one;
}

function wipe({ key }: OpenedCopy): void {
  key.fill(0);
}

function wipeFetched(one: Fetched): void {
  if (one.kind === 'opened') wipe(one.copy);
}
