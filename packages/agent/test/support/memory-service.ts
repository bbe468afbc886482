/**
 * A key service in memory, with the faults that a real one has: outages, lost answers, answers that come twice, late
 * receipts, and copies that come back after a failover.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Clock } from '../../src/clock.ts';
import {
  type CopyState,
  type DeliveryState,
  type Fetched,
  type KeyBoxes,
  type KeyOrigin,
  type Listing,
  type MakeOrder,
  type OpenedCopy,
  type Party,
  SourceError,
} from '../../src/source/key-boxes.ts';

/** How often each fault happens, from 0 to 1. */
interface Faults {
  /** The call does nothing and fails. */
  refuse: number;
  /** The call does everything, and its answer is lost. */
  lose: number;
  /** The keys are in the boxes for a second, and then the answer that has them is lost. */
  loseMade: number;
  /** The receipt is not there yet. */
  delay: number;
  /** A listing names a copy that is gone. */
  repeat: number;
  /** A removed copy comes back. */
  revive: number;
  /** Longest time of a call in ms. */
  slowMs: number;
}

const NO_FAULTS: Faults = {
  refuse: 0,
  lose: 0,
  loseMade: 0,
  delay: 0,
  repeat: 0,
  revive: 0,
  slowMs: 0,
};

interface Stored {
  readonly id: string;
  readonly sequence: number;
  readonly key: Uint8Array;
  readonly thumbprints: readonly string[];
  readonly context: string | null;
  readonly expiresAtMs: number;
  readonly origins: readonly KeyOrigin[];
}

/** Copies of one page of a listing. */
const PAGE = 20;
const WAIT_MS = 5_000;
const POLL_MS = 200;

/** The place of a listing that has gone through all copies. */
const WAITING = 'waiting';

export class MemoryService {
  readonly faults: Faults = { ...NO_FAULTS };
  isDown = false;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #boxes = new Map<string, Map<string, Stored>>();
  /** The recipients of each key. */
  readonly #parties = new Map<string, readonly Party[]>();
  /** Copies that were sent, as `<thumbprint> <id>`. */
  readonly #sent = new Set<string>();
  #sequence = 0;

  readonly #name: string;

  constructor(clock: Clock, random: () => number = Math.random, name = 'keys.example/log') {
    this.#clock = clock;
    this.#random = random;
    this.#name = name;
  }

  heal(): void {
    this.isDown = false;
    Object.assign(this.faults, NO_FAULTS);
  }

  /** How many keys were made. */
  get made(): number {
    return this.#parties.size;
  }

  /** Returns the IDs that a box holds. */
  idsOf(thumbprint: string): string[] {
    return [...this.#box(thumbprint).values()]
      .filter(({ expiresAtMs }) => expiresAtMs > this.#clock.nowMs())
      .map(({ id }) => id);
  }

  /** Puts a copy into a box that the agent did not order. */
  plant(thumbprint: string, copy: OpenedCopy): void {
    this.#sequence += 1;
    this.#box(thumbprint).set(copy.id, { ...copy, sequence: this.#sequence });
  }

  /** Returns the boxes as one recipient reaches them, for one life of its agent. */
  boxesFor(thumbprint: string): KeyBoxes {
    /** Made by this life: their keys came with the answer, and the list does not name them. */
    const made = new Set<string>();
    return {
      make: async (order, signal) => {
        const copies = await this.#call(signal, () => this.#make(order, thumbprint));
        for (const { id } of copies) made.add(id);
        if (!this.#happens('loseMade')) return copies;
        await this.#clock.sleep(1_000, signal);
        throw new SourceError('the answer is lost');
      },
      list: (after, signal) => this.#list(thumbprint, made, after, signal),
      fetch: (ids, signal) => this.#call(signal, () => ids.map((id) => this.#send(thumbprint, id))),
      remove: (ids, signal) =>
        this.#call(signal, () => {
          for (const id of ids) this.#remove(thumbprint, id);
        }),
      state: (id, signal) => this.#call(signal, () => this.stateOf(id)),
    };
  }

  async #call<T>(signal: AbortSignal, work: () => T): Promise<T> {
    await this.#clock.sleep(this.#random() * this.faults.slowMs, signal);
    if (signal.aborted) throw new SourceError('aborted');
    if (this.isDown || this.#happens('refuse')) throw new SourceError('out of service');
    const result = work();
    await this.#clock.sleep(this.#random() * this.faults.slowMs, signal);
    if (signal.aborted || this.#happens('lose')) throw new SourceError('the answer is lost');
    return result;
  }

  #make({ ids, size, parties, context, lifeMs }: MakeOrder, own: string): OpenedCopy[] {
    const thumbprints = parties.map(({ thumbprint }) => thumbprint);
    if (ids.some((id) => this.#parties.has(id))) throw new SourceError('an ID repeats');
    const expiresAtMs = this.#clock.nowMs() + lifeMs;
    for (const id of ids) {
      this.#parties.set(id, parties);
      const key = randomBytes(size / 8);
      const commitment = createHash('sha256').update(key).digest('base64');
      const origins = [{ service: this.#name, key_id: randomUUID(), commitment }];
      for (const one of thumbprints)
        this.plant(one, { id, key, thumbprints, context, expiresAtMs, origins });
    }
    return ids
      .map((id) => this.#fetch(own, id))
      .flatMap((one) => (one.kind === 'opened' ? [one.copy] : []));
  }

  /** Goes through all copies once, and then lists those that wait, the oldest of them. */
  async #list(
    thumbprint: string,
    made: ReadonlySet<string>,
    after: string | null,
    signal: AbortSignal,
  ): Promise<Listing> {
    if (after !== WAITING) {
      return this.#call(signal, () => this.#page(thumbprint, Number(after ?? 0)));
    }
    const endMs = this.#clock.nowMs() + WAIT_MS;
    for (;;) {
      const ids = await this.#call(signal, () => this.#waiting(thumbprint, made));
      if (ids.length > 0 || this.#clock.nowMs() >= endMs) {
        return { ids, cursor: WAITING, isEnd: true };
      }
      await this.#clock.sleep(POLL_MS, signal);
    }
  }

  #living(thumbprint: string): Stored[] {
    return [...this.#box(thumbprint).values()]
      .filter(({ expiresAtMs }) => expiresAtMs > this.#clock.nowMs())
      .sort((a, b) => a.sequence - b.sequence);
  }

  #page(thumbprint: string, after: number): Listing {
    const all = this.#living(thumbprint);
    const later = all.filter(({ sequence }) => sequence > after);
    const page = later.slice(0, PAGE);
    const isEnd = later.length <= PAGE;
    const cursor = isEnd ? WAITING : `${page.at(-1)?.sequence ?? after}`;
    return { ids: [...page.map(({ id }) => id), ...this.#repeated(all)], cursor, isEnd };
  }

  #waiting(thumbprint: string, made: ReadonlySet<string>): string[] {
    const all = this.#living(thumbprint);
    const page = all.filter(({ id }) => !this.hasSent(thumbprint, id)).slice(0, PAGE);
    const own = page.filter(({ id }) => made.has(id));
    for (const { id } of own) this.#sent.add(`${thumbprint} ${id}`);
    const ids = page.filter((one) => !own.includes(one)).map(({ id }) => id);
    return [...ids, ...this.#repeated(all)];
  }

  #repeated(all: readonly Stored[]): string[] {
    return all.filter(() => this.#happens('repeat')).map(({ id }) => id);
  }

  /** Returns the state of a key at its recipients, by their names; null if there is no such key. */
  stateOf(id: string): DeliveryState | null {
    const parties = this.#parties.get(id);
    if (parties === undefined) return null;
    return new Map(
      parties.map(({ recipient, thumbprint }) => [recipient, this.#copyState(thumbprint, id)]),
    );
  }

  /** Reports whether a copy was ever sent to its recipient. */
  hasSent(thumbprint: string, id: string): boolean {
    return this.#sent.has(`${thumbprint} ${id}`);
  }

  #copyState(thumbprint: string, id: string): CopyState {
    const stored = this.#box(thumbprint).get(id);
    if (stored === undefined || stored.expiresAtMs <= this.#clock.nowMs()) return 'gone';
    return this.hasSent(thumbprint, id) ? 'received' : 'waiting';
  }

  /** A copy counts as received from here on, whatever becomes of the answer. */
  #send(thumbprint: string, id: string): Fetched {
    const fetched = this.#fetch(thumbprint, id);
    if (fetched.kind !== 'gone') this.#sent.add(`${thumbprint} ${id}`);
    return fetched;
  }

  #fetch(thumbprint: string, id: string): Fetched {
    const stored = this.#box(thumbprint).get(id);
    if (stored === undefined || stored.expiresAtMs <= this.#clock.nowMs())
      return { kind: 'gone', id };
    if (this.#happens('delay')) return { kind: 'pending', id };
    const { key, thumbprints, context, expiresAtMs, origins } = stored;
    return {
      kind: 'opened',
      copy: { id, key: new Uint8Array(key), thumbprints, context, expiresAtMs, origins },
    };
  }

  #remove(thumbprint: string, id: string): void {
    const box = this.#box(thumbprint);
    const stored = box.get(id);
    box.delete(id);
    if (stored !== undefined && this.#happens('revive')) this.plant(thumbprint, stored);
  }

  #box(thumbprint: string): Map<string, Stored> {
    const box = this.#boxes.get(thumbprint) ?? new Map<string, Stored>();
    this.#boxes.set(thumbprint, box);
    return box;
  }

  #happens(fault: Exclude<keyof Faults, 'slowMs'>): boolean {
    return this.#random() < this.faults[fault];
  }
}
