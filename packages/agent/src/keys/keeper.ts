/**
 * Hands out keys: to masters from pools, to slaves by ID. No system gets a key twice, in the same role: a key leaves only
 * once the journal has its record on disk. Whoever loses the answer gets an error when asking again.
 */
import type { Clock } from '../clock.ts';
import { BATCH, type KeyBoxes, type KeySize } from '../source/key-boxes.ts';
import type { Journal } from '../store/journal.ts';
import type { KeyEvents } from './events.ts';
import { Intake } from './intake.ts';
import { Maker, type PoolOptions } from './maker.ts';
import { within } from './patience.ts';
import { Removals } from './removals.ts';
import { hasSystems, isPair, type Route, type System } from './route.ts';
import { type Entry, type HandedKey, masterReader, Stock, slaveReader } from './stock.ts';

/** Common clients wait 10 seconds for an answer. */
const WAIT_MS = 8_000;

/** Requests for which keys are made at the same time. */
const MOST_WAITING = 16;

/** A master gets no key that lives shorter, so that its slaves have this time to fetch it. */
export const LEAST_LIFE_MS = 600_000;

/** Between looks for expired keys. */
const EXPIRY_MS = 5_000;

export type RefusalCode =
  /** This system may not have such keys. */
  | 'not-allowed'
  /** One of the keys is not here, or this system has had it. */
  | 'not-found'
  /** The service, its receipts or the journal do not allow an answer now. */
  | 'unavailable';

export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: RefusalCode;

  constructor(code: RefusalCode, options?: ErrorOptions) {
    super(code, options);
    this.code = code;
  }
}

interface KeeperOptions {
  /** Thumbprint of the own recipient. */
  readonly own: string;
  readonly routes: readonly Route[];
  readonly pools: PoolOptions;
  readonly boxes: KeyBoxes;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly events: KeyEvents;
}

/** What can be had from a pair's pool. */
interface PairState {
  readonly route: Route;
  readonly ready: number;
  /** How long the pool lasts at the observed demand, with an unreachable service; null without demand. */
  readonly seconds: number | null;
}

export class Keeper {
  readonly #routes: readonly Route[];
  readonly #pools: PoolOptions;
  readonly #journal: Journal;
  readonly #clock: Clock;
  readonly #events: KeyEvents;
  readonly #stock: Stock;
  readonly #removals: Removals;
  readonly #intake: Intake;
  readonly #maker: Maker;
  #waiting = 0;
  #signal: AbortSignal = new AbortController().signal;

  constructor(given: KeeperOptions) {
    const { own, routes, pools, boxes, journal, clock, events } = given;
    this.#routes = routes;
    this.#pools = pools;
    this.#journal = journal;
    this.#clock = clock;
    this.#events = events;
    const { size } = pools;
    const stock = new Stock({ own, routes, journal, size, leastLifeMs: LEAST_LIFE_MS });
    const removals = new Removals(boxes, clock, events);
    const intake = new Intake({ boxes, stock, journal, removals, clock, events });
    this.#maker = new Maker({ boxes, stock, intake, removals, pools, clock, events });
    [this.#stock, this.#removals, this.#intake] = [stock, removals, intake];
  }

  /** Works until the signal aborts; then all keys in memory are wiped. */
  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    const filled = this.#routes.filter((route) => this.#stock.isPooled(route, this.#pools.size));
    await Promise.all([
      this.#intake.list(signal),
      this.#intake.fetch(signal),
      this.#removals.run(signal),
      this.#expire(signal),
      ...filled.map((route) => this.#maker.fill(route, signal)),
    ]);
    await this.#journal.settled();
    this.#stock.clear();
  }

  /** Counts of what it holds. */
  get counts(): {
    readonly held: number;
    readonly toFetch: number;
    readonly toRemove: number;
    readonly journal: number;
  } {
    return {
      held: this.#stock.size,
      toFetch: this.#intake.backlog,
      toRemove: this.#removals.size,
      journal: this.#journal.size,
    };
  }

  /** True once the box was listed to its end. */
  get isComplete(): boolean {
    return this.#intake.isComplete;
  }

  /** Returns the state of each pool. */
  pairs(): PairState[] {
    return this.#routes
      .filter((route) => this.#stock.isPooled(route, this.#pools.size))
      .map((route) => this.#stateOf(route));
  }

  /** Returns the state of the pool of a local master and a slave. Throws `Refusal`. */
  pair(master: string, slave: string): PairState {
    return this.#stateOf(this.#routeOf(master, [slave]));
  }

  /** Returns the systems with which a local system may share keys of two, in either role. Throws `Refusal` if there are none. */
  partners(name: string): string[] {
    const found = this.#routes.filter(isPair).flatMap(({ master, slaves }) => {
      const pair = [master, ...slaves];
      return pair.filter((_, i) => pair.some((own, k) => k !== i && this.#isLocal(own, name)));
    });
    if (found.length === 0) throw new Refusal('not-allowed');
    return [...new Set(found.map((one) => one.name))].sort();
  }

  /** Returns the number of further slaves that may share a key of this master and slave. */
  mostFurther(master: string, slave: string): number {
    const sizes = this.#routes
      .filter(
        (route) => route.master.name === master && route.slaves.some(({ name }) => name === slave),
      )
      .map(({ slaves }) => slaves.length - 1);
    return Math.max(0, ...sizes);
  }

  #stateOf(route: Route): PairState {
    const ready = this.#stock.ready(route, this.#clock.nowMs());
    const rate = this.#maker.perSecond(route);
    return { route, ready, seconds: rate === 0 ? null : ready / rate };
  }

  /** Resolves with new keys for a local master. All of its slaves can then read them. Rejects with `Refusal`. */
  async take(
    master: string,
    slaves: readonly string[],
    count: number,
    size: KeySize,
  ): Promise<HandedKey[]> {
    const route = this.#routeOf(master, slaves);
    const isPooled = this.#stock.isPooled(route, size);
    const entries = isPooled
      ? await this.#fromPool(route, count)
      : await this.#toOrder(route, count, size);
    this.#maker.used(route, isPooled ? count : 0);
    const keys = await this.#handOut(entries, masterReader(master));
    this.#events.handedOut('master', keys.length);
    return keys;
  }

  #routeOf(master: string, slaves: readonly string[]): Route {
    const route = this.#routes.find((one) => hasSystems(one, master, slaves));
    if (route === undefined || !this.#stock.isLocal(route.master)) throw new Refusal('not-allowed');
    return route;
  }

  async #fromPool(route: Route, count: number): Promise<Entry[]> {
    // Others may take what this call has had made.
    for (let i = 0; i < 3; i += 1) {
      const nowMs = this.#clock.nowMs();
      const entries = this.#stock.takeReady(route, count, nowMs);
      if (entries !== null) return entries;
      const missing = count - this.#stock.ready(route, nowMs);
      await this.#makeNow(route, missing, this.#pools.size);
    }
    throw new Refusal('unavailable');
  }

  async #toOrder(route: Route, count: number, size: KeySize): Promise<Entry[]> {
    const entries = await this.#makeNow(route, count, size);
    if (entries.length === count) return entries;
    for (const entry of entries) this.#stock.drop(entry);
    this.#removals.add(entries.map(({ id }) => id));
    throw new Refusal('unavailable');
  }

  async #makeNow(route: Route, count: number, size: KeySize): Promise<Entry[]> {
    if (this.#waiting >= MOST_WAITING) throw new Refusal('unavailable');
    this.#waiting += 1;
    const sizes = batches(count);
    try {
      const made = await within(this.#clock, WAIT_MS, this.#signal, (signal) =>
        Promise.allSettled(sizes.map((one) => this.#maker.make(route, size, one, signal))),
      );
      return made.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    } finally {
      this.#waiting -= 1;
    }
  }

  /** Resolves with keys for a local slave, in the order of the IDs, or with none of them. Rejects with `Refusal`. */
  async read(slave: string, master: string, ids: readonly string[]): Promise<HandedKey[]> {
    const isTheirs = ({ route }: Pick<Entry, 'route'>): boolean =>
      route.master.name === master && route.slaves.some((one) => this.#isLocal(one, slave));
    if (!this.#routes.some((route) => isTheirs({ route }))) throw new Refusal('not-allowed');
    const reader = slaveReader(slave);
    await this.#fetchMissing(
      ids.filter((id) => !this.#stock.get(id) && !this.#journal.has(id, reader)),
    );
    const found = ids.map((id) => this.#stock.get(id));
    const entries = found.filter((one) => one !== undefined);
    if (!entries.every(isTheirs)) throw new Refusal('not-allowed');
    const nowMs = this.#clock.nowMs();
    const isReadable = ({ unread, expiresAtMs }: Entry) =>
      unread.has(reader) && expiresAtMs > nowMs;
    if (new Set(entries).size < ids.length || !entries.every(isReadable))
      throw new Refusal('not-found');
    const keys = await this.#handOut(entries, reader);
    this.#events.handedOut('slave', keys.length);
    return keys;
  }

  #isLocal(system: System, name: string): boolean {
    return system.name === name && this.#stock.isLocal(system);
  }

  /** The master may ask its slave to fetch a key before this agent has heard of it. */
  async #fetchMissing(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    try {
      const isPending = await within(this.#clock, WAIT_MS, this.#signal, (signal) =>
        this.#intake.fetchNow(ids, signal),
      );
      if (isPending) throw new Refusal('unavailable');
    } catch (cause) {
      if (cause instanceof Refusal) throw cause;
      this.#events.sourceFailed('fetch', cause);
      throw new Refusal('unavailable', { cause });
    }
  }

  /** From the first line on, nobody else can get these keys. */
  async #handOut(entries: readonly Entry[], reader: string): Promise<HandedKey[]> {
    const keys = entries.map((entry) => this.#stock.hand(entry, reader));
    try {
      await this.#journal.record(
        keys.map(({ id, isLast, expiresAtMs }) => ({ id, reader, isLast, expiresAtMs })),
      );
    } catch (cause) {
      for (const { key } of keys) key.fill(0);
      this.#events.journalFailed(cause);
      throw new Refusal('unavailable', { cause });
    } finally {
      this.#removals.add(keys.filter(({ isLast }) => isLast).map(({ id }) => id));
    }
    return keys;
  }

  async #expire(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const nowMs = this.#clock.nowMs();
      this.#removals.add(this.#stock.expire(nowMs));
      this.#journal.prune(nowMs, (id) => this.#removals.has(id));
      await this.#clock.sleep(EXPIRY_MS, signal);
    }
  }
}

/** Returns the sizes of as few batches as there can be. */
function batches(count: number): number[] {
  const whole = Math.floor(count / BATCH);
  const rest = count % BATCH;
  return [...new Array<number>(whole).fill(BATCH), ...(rest > 0 ? [rest] : [])];
}
