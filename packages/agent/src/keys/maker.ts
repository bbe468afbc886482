/** Has keys made: ahead, so that each pool lasts for some seconds, and at once for a master that waits. */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { BATCH, type KeyBoxes, type KeySize } from '../source/key-boxes.ts';
import { Demand } from './demand.ts';
import type { KeyEvents } from './events.ts';
import type { Intake } from './intake.ts';
import { Patience } from './patience.ts';
import type { Removals } from './removals.ts';
import type { Route } from './route.ts';
import type { Entry, Stock } from './stock.ts';

/** Between looks at a pool. */
const PAUSE_MS = 500;

/** After a start, for copies of an earlier life. */
const START_MS = 10_000;

/** A pool is refilled once this part of it is left. */
const LOW = 0.75;

export interface PoolOptions {
  /** Size of the keys that are kept ready. */
  readonly size: KeySize;
  /** For how many seconds of the observed demand. */
  readonly seconds: number;
  readonly least: number;
  readonly most: number;
  readonly lifeMs: number;
}

interface MakerOptions {
  readonly boxes: KeyBoxes;
  readonly stock: Stock;
  readonly intake: Intake;
  readonly removals: Removals;
  readonly pools: PoolOptions;
  readonly clock: Clock;
  readonly events: KeyEvents;
}

export class Maker {
  readonly #given: MakerOptions;
  readonly #demand = new Map<Route, Demand>();
  /** Keys that are being made for each pool. */
  readonly #underway = new Map<Route, number>();

  constructor(given: MakerOptions) {
    this.#given = given;
  }

  /** Counts keys that a master took. */
  used(route: Route, keys: number): void {
    this.#demandOf(route).count(keys, this.#given.clock.nowMs());
  }

  perSecond(route: Route): number {
    return this.#demandOf(route).perSecond(this.#given.clock.nowMs());
  }

  /** Keeps a pool filled. */
  async fill(route: Route, signal: AbortSignal): Promise<void> {
    const { clock, pools } = this.#given;
    const patience = new Patience(clock);
    await this.#found(signal);
    while (!signal.aborted) {
      const count = this.#missing(route);
      if (count === 0) await clock.sleep(PAUSE_MS, signal);
      else if (await this.#tryMake(route, pools.size, count, signal)) patience.succeeded();
      else await patience.failed(signal);
    }
  }

  /** Waits for what is in the box already: it fills pools without new keys. */
  async #found(signal: AbortSignal): Promise<void> {
    const { clock, intake } = this.#given;
    const endMs = clock.nowMs() + START_MS;
    while (
      !signal.aborted &&
      clock.nowMs() < endMs &&
      !(intake.isComplete && intake.backlog === 0)
    ) {
      await clock.sleep(PAUSE_MS, signal);
    }
  }

  #missing(route: Route): number {
    const { stock, pools, clock } = this.#given;
    const { seconds, least, most } = pools;
    const wanted = Math.min(most, Math.max(least, Math.ceil(this.perSecond(route) * seconds)));
    const there = stock.ready(route, clock.nowMs()) + (this.#underway.get(route) ?? 0);
    return there > wanted * LOW ? 0 : Math.min(BATCH, wanted - there);
  }

  async #tryMake(
    route: Route,
    size: KeySize,
    count: number,
    signal: AbortSignal,
  ): Promise<boolean> {
    try {
      // Without any, the log or the receipts are late: the keys follow in the box.
      return (await this.make(route, size, count, signal)).length > 0;
    } catch {
      return false;
    }
  }

  /**
   * Has keys made, at most `BATCH`. Resolves with those that came with the answer: of a pooled kind they are in their pool,
   * others belong to the caller. Rejects as the service does.
   */
  async make(route: Route, size: KeySize, count: number, signal: AbortSignal): Promise<Entry[]> {
    const { intake, events } = this.#given;
    const ids = Array.from({ length: count }, () => randomUUID());
    const isPooled = this.#given.stock.isPooled(route, size);
    intake.making(ids);
    this.#count(route, isPooled ? count : 0);
    try {
      return await this.#order(route, size, ids, isPooled, signal);
    } catch (error) {
      if (!signal.aborted) events.sourceFailed('make', error);
      throw error;
    } finally {
      this.#count(route, isPooled ? -count : 0);
      intake.made(ids);
    }
  }

  async #order(
    route: Route,
    size: KeySize,
    ids: readonly string[],
    isPooled: boolean,
    signal: AbortSignal,
  ): Promise<Entry[]> {
    const { boxes, stock, removals, pools, clock, events } = this.#given;
    const { parties, context } = route;
    const startMs = clock.nowMs();
    const order = { ids, size, parties, context, lifeMs: pools.lifeMs };
    const copies = await boxes.make(order, signal);
    events.sourceServed('make');
    events.made(copies.length, clock.nowMs() - startMs);
    return copies.flatMap((copy) => {
      const adoption = stock.adopt(copy, !isPooled, clock.nowMs());
      if (adoption.kind === 'kept') return [adoption.entry];
      removals.add([copy.id]);
      if (adoption.kind === 'refused') events.copyRefused(copy.id, adoption.reason);
      return [];
    });
  }

  #count(route: Route, keys: number): void {
    this.#underway.set(route, (this.#underway.get(route) ?? 0) + keys);
  }

  #demandOf(route: Route): Demand {
    const demand = this.#demand.get(route) ?? new Demand();
    this.#demand.set(route, demand);
    return demand;
  }
}
