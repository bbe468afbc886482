/** The keys in memory: for masters ready to be handed out, and for slaves opened ahead. They are never written to disk. */

import { KEY_SIZES, type KeySize, type OpenedCopy } from '../source/key-boxes.ts';
import type { Handed, Journal } from '../store/journal.ts';
import { isPair, type Route, type System } from './route.ts';

export interface Entry {
  readonly id: string;
  readonly route: Route;
  readonly size: KeySize;
  readonly key: Uint8Array;
  readonly expiresAtMs: number;
  /** Local systems that have not read it, as the journal names them. */
  readonly unread: Set<string>;
}

/** A key on its way to a system. The receiver wipes the bytes. */
export interface HandedKey extends Handed {
  readonly key: Uint8Array;
}

/** What became of a copy. `done`: no local system is to read it, so it can be removed. */
type Adoption =
  | { readonly kind: 'kept'; readonly entry: Entry }
  | { readonly kind: 'done' }
  | { readonly kind: 'refused'; readonly reason: string };

interface StockOptions {
  /** Thumbprint of the own recipient. */
  readonly own: string;
  readonly routes: readonly Route[];
  readonly journal: Journal;
  /** Size of the keys that are kept ready. */
  readonly size: KeySize;
  /** A master gets no key that lives shorter, so that its slaves have this time to fetch it. */
  readonly leastLifeMs: number;
}

export const masterReader = (name: string): string => `master ${name}`;
export const slaveReader = (name: string): string => `slave ${name}`;

export class Stock {
  readonly #own: string;
  readonly #journal: Journal;
  readonly #size: KeySize;
  readonly #leastLifeMs: number;
  readonly #routes: ReadonlyMap<string, Route>;
  readonly #entries = new Map<string, Entry>();
  /** Entries that no master has read. */
  readonly #pools = new Map<Route, Set<Entry>>();

  constructor({ own, routes, journal, size, leastLifeMs }: StockOptions) {
    this.#own = own;
    this.#journal = journal;
    this.#size = size;
    this.#leastLifeMs = leastLifeMs;
    this.#routes = new Map(routes.map((route) => [route.context, route]));
    for (const route of routes) this.#pools.set(route, new Set());
  }

  get size(): number {
    return this.#entries.size;
  }

  get(id: string): Entry | undefined {
    return this.#entries.get(id);
  }

  isLocal({ agent }: System): boolean {
    return agent.thumbprint === this.#own;
  }

  /** Reports whether keys of this kind are kept ready. */
  isPooled(route: Route, size: KeySize): boolean {
    return isPair(route) && size === this.#size && this.isLocal(route.master);
  }

  /** Takes over a copy, whose bytes it keeps or wipes. `isOrdered`: a master waits for this key. */
  adopt(copy: OpenedCopy, isOrdered: boolean, nowMs: number): Adoption {
    const known = this.#entries.get(copy.id);
    const made: Adoption = known
      ? { kind: 'kept', entry: known }
      : this.#examine(copy, isOrdered, nowMs);
    if (made.kind !== 'kept' || known !== undefined) copy.key.fill(0);
    else this.#keep(made.entry, isOrdered);
    return made;
  }

  #examine(copy: OpenedCopy, isOrdered: boolean, nowMs: number): Adoption {
    const { id, key, thumbprints, context, expiresAtMs } = copy;
    const route = context === null ? undefined : this.#routes.get(context);
    if (route === undefined) return refused('its context is of no route in the configuration');
    if (!isSame(thumbprints, route))
      return refused('it is sealed to other recipients than those of its route');
    const size = KEY_SIZES.find((one) => one === key.length * 8);
    if (size === undefined) return refused(`it has ${key.length} bytes`);
    const unread = new Set(this.#readersOf(route).filter((one) => !this.#journal.has(id, one)));
    // The ID of a key that no master got is known to nobody.
    const isLost =
      unread.has(masterReader(route.master.name)) && !isOrdered && !this.isPooled(route, size);
    if (unread.size === 0 || isLost || expiresAtMs <= nowMs) return { kind: 'done' };
    return { kind: 'kept', entry: { id, route, size, key, expiresAtMs, unread } };
  }

  #keep(entry: Entry, isOrdered: boolean): void {
    this.#entries.set(entry.id, entry);
    if (!isOrdered && entry.unread.has(masterReader(entry.route.master.name))) {
      this.#pools.get(entry.route)?.add(entry);
    }
  }

  #readersOf({ master, slaves }: Route): string[] {
    const local = slaves
      .filter((slave) => this.isLocal(slave))
      .map(({ name }) => slaveReader(name));
    return this.isLocal(master) ? [masterReader(master.name), ...local] : local;
  }

  /** Returns the number of keys that a master can get at once. */
  ready(route: Route, nowMs: number): number {
    let count = 0;
    for (const entry of this.#pools.get(route) ?? []) if (this.#livesOn(entry, nowMs)) count += 1;
    return count;
  }

  /** Takes keys out of a pool, oldest first; null if it has too few. They are the caller's from now on. */
  takeReady(route: Route, count: number, nowMs: number): Entry[] | null {
    const pool = this.#pools.get(route) ?? new Set();
    const living = [...pool].filter((entry) => this.#livesOn(entry, nowMs));
    if (living.length < count) return null;
    // What a restart has found is older than what was made since.
    const oldest = living.sort((a, b) => a.expiresAtMs - b.expiresAtMs).slice(0, count);
    for (const entry of oldest) pool.delete(entry);
    return oldest;
  }

  /** Marks a key as read. Its bytes go to the reader, or a copy of them if another local system is to read it too. */
  hand(entry: Entry, reader: string): HandedKey {
    entry.unread.delete(reader);
    const isLast = entry.unread.size === 0;
    if (isLast) this.#entries.delete(entry.id);
    const { id, key, expiresAtMs } = entry;
    return { id, reader, isLast, expiresAtMs, key: isLast ? key : new Uint8Array(key) };
  }

  drop(entry: Entry): void {
    this.#entries.delete(entry.id);
    this.#pools.get(entry.route)?.delete(entry);
    entry.key.fill(0);
  }

  /** Wipes keys that nobody can get any more. Returns their IDs. */
  expire(nowMs: number): string[] {
    const pooled = [...this.#pools.values()].flatMap((pool) => [...pool]);
    const old = pooled.filter((entry) => !this.#livesOn(entry, nowMs));
    const dead = [...this.#entries.values()].filter(({ expiresAtMs }) => expiresAtMs <= nowMs);
    const gone = new Set([...old, ...dead]);
    for (const entry of gone) this.drop(entry);
    return [...gone].map(({ id }) => id);
  }

  /** Wipes everything. */
  clear(): void {
    for (const entry of [...this.#entries.values()]) this.drop(entry);
  }

  #livesOn({ expiresAtMs }: Entry, nowMs: number): boolean {
    return expiresAtMs - nowMs >= this.#leastLifeMs;
  }
}

const refused = (reason: string): Adoption => ({ kind: 'refused', reason });

/** A further recipient would know the key; a missing one could not read it. */
function isSame(thumbprints: readonly string[], { parties }: Route): boolean {
  const wanted = new Set(parties.map(({ thumbprint }) => thumbprint));
  return thumbprints.length === wanted.size && thumbprints.every((one) => wanted.has(one));
}
