/** The copies of a link's keys: fetched, examined, held in memory as long as they are needed, and wiped. */
import type { Clock } from '../clock.ts';
import {
  BATCH,
  type CopyState,
  type DeliveryState,
  type Fetched,
  type KeyBoxes,
  type Listing,
  type OpenedCopy,
} from '../source/key-boxes.ts';
import type { PskEvents } from './events.ts';
import type { Link } from './link.ts';
import type { EpochKey } from './record.ts';
import type { Timetable } from './timetable.ts';

/** Bytes of a key: WireGuard takes no other. */
const KEY_BYTES = 32;

/** Epochs around now whose keys are recognised: copies of older ones have expired. */
const BEFORE = 10;
const AFTER = 6;

/** What came of fetching a copy. `foreign`: its context is none of this link. `unfit`: it is of this link, or sealed to no known use, and of no use. */
type Outcome =
  | { readonly kind: 'held'; readonly key: EpochKey }
  | { readonly kind: 'gone' | 'pending' | 'foreign' | 'unfit'; readonly id: string };

interface CopiesOptions {
  readonly link: Link;
  readonly timetable: Timetable;
  readonly boxes: KeyBoxes;
  readonly clock: Clock;
  readonly events: PskEvents;
  /** True once this end stops: calls that fail then are no news. */
  readonly isEnding: () => boolean;
}

interface Held extends EpochKey {
  readonly bytes: Uint8Array;
}

export class Copies {
  readonly #link: Link;
  readonly #timetable: Timetable;
  readonly #boxes: KeyBoxes;
  readonly #clock: Clock;
  readonly #events: PskEvents;
  readonly #isEnding: () => boolean;
  readonly #held = new Map<string, Held>();
  readonly #toRemove = new Set<string>();

  constructor({ link, timetable, boxes, clock, events, isEnding }: CopiesOptions) {
    this.#link = link;
    this.#timetable = timetable;
    this.#boxes = boxes;
    this.#clock = clock;
    this.#events = events;
    this.#isEnding = isEnding;
  }

  has(id: string): boolean {
    return this.#held.has(id);
  }

  /** The keys in memory. */
  get held(): EpochKey[] {
    return [...this.#held.values()].map(({ epoch, id }) => ({ epoch, id }));
  }

  /** Returns a copy of a key's bytes, which the caller wipes; null if the key is not in memory. */
  bytesOf(id: string): Uint8Array | null {
    const held = this.#held.get(id);
    return held === undefined ? null : new Uint8Array(held.bytes);
  }

  /** Wipes a key, and removes its copy from the box soon. */
  drop(id: string): void {
    this.#toRemove.add(id);
    this.#held.get(id)?.bytes.fill(0);
    this.#held.delete(id);
  }

  /** Wipes everything. */
  clear(): void {
    for (const { bytes } of this.#held.values()) bytes.fill(0);
    this.#held.clear();
  }

  /** Has a key of an epoch made. Its copies stay in the boxes: what the answer holds is wiped. */
  async make({ epoch, id }: EpochKey, signal: AbortSignal): Promise<void> {
    const { own, peer } = this.#link;
    const order = {
      ids: [id],
      size: 256,
      parties: [own, peer],
      context: this.#link.contextOf(epoch),
      lifeMs: this.#timetable.lifeMs,
    } as const;
    const made = await this.#observed('make', () => this.#boxes.make(order, signal));
    for (const { key } of made) key.fill(0);
  }

  /** Lists all that the own box holds. */
  async list(signal: AbortSignal): Promise<string[]> {
    const ids: string[] = [];
    let cursor: string | null = null;
    let isEnd = false;
    while (!isEnd) {
      const from: string | null = cursor;
      const listing: Listing = await this.#observed('list', () => this.#boxes.list(from, signal));
      ids.push(...listing.ids);
      ({ cursor, isEnd } = listing);
    }
    return [...new Set(ids)].filter((id) => !this.#toRemove.has(id));
  }

  /** Resolves with the states at this end and at the other; null if there is no such key. */
  async states(
    id: string,
    signal: AbortSignal,
  ): Promise<{ readonly own: CopyState; readonly peer: CopyState } | null> {
    const states = await this.#observed('state', () => this.#boxes.state(id, signal));
    if (states === null) return null;
    const { own, peer } = this.#link;
    return { own: stateAt(states, own.recipient), peer: stateAt(states, peer.recipient) };
  }

  /** Fetches copies of the own box, which count as received from then on. Keys that fit are held. */
  async fetch(ids: readonly string[], signal: AbortSignal): Promise<Outcome[]> {
    const outcomes: Outcome[] = [];
    for (let i = 0; i < ids.length; i += BATCH) {
      const some = ids.slice(i, i + BATCH);
      const fetched = await this.#observed('fetch', () => this.#boxes.fetch(some, signal));
      outcomes.push(...fetched.map((one) => this.#outcomeOf(one)));
    }
    return outcomes;
  }

  #outcomeOf(fetched: Fetched): Outcome {
    if (fetched.kind === 'opened') return this.#examine(fetched.copy);
    const { kind, id } = fetched;
    if (kind !== 'refused') return { kind, id };
    this.#events.copyRefused(id, fetched.reason);
    return { kind: 'unfit', id };
  }

  #examine(copy: OpenedCopy): Outcome {
    const { id, key } = copy;
    const epoch = this.#epochOf(copy.context);
    const problem = epoch === null ? 'its context is of no epoch of this link' : this.#flaw(copy);
    if (problem !== null || epoch === null) {
      key.fill(0);
      this.#events.copyRefused(id, problem ?? '');
      return { kind: epoch === null ? 'foreign' : 'unfit', id };
    }
    if (this.#held.has(id)) key.fill(0);
    else this.#held.set(id, { epoch, id, bytes: key });
    return { kind: 'held', key: { epoch, id } };
  }

  #epochOf(context: string | null): number | null {
    const now = this.#timetable.epochAt(this.#clock.nowMs());
    for (let epoch = now - BEFORE; epoch <= now + AFTER; epoch += 1) {
      if (this.#link.contextOf(epoch) === context) return epoch;
    }
    return null;
  }

  /** A further recipient would know the key; a missing one could not read it. */
  #flaw({ key, thumbprints }: OpenedCopy): string | null {
    const { own, peer } = this.#link;
    const isOurs = [own, peer].every(({ thumbprint }) => thumbprints.includes(thumbprint));
    if (!isOurs || thumbprints.length !== 2) {
      return 'it is sealed to other recipients than the two ends';
    }
    return key.length === KEY_BYTES ? null : `it has ${key.length} bytes`;
  }

  /** Removes from the box what was dropped. */
  async removeDropped(signal: AbortSignal): Promise<void> {
    const ids = [...this.#toRemove].slice(0, BATCH);
    if (ids.length === 0) return;
    await this.#observed('remove', () => this.#boxes.remove(ids, signal));
    for (const id of ids) this.#toRemove.delete(id);
  }

  async #observed<T>(
    call: Parameters<PskEvents['sourceFailed']>[0],
    work: () => Promise<T>,
  ): Promise<T> {
    try {
      const result = await work();
      this.#events.sourceServed(call);
      return result;
    } catch (error) {
      if (!this.#isEnding()) this.#events.sourceFailed(call, error);
      throw error;
    }
  }
}

const stateAt = (states: DeliveryState, recipient: string): CopyState =>
  states.get(recipient) ?? 'gone';
