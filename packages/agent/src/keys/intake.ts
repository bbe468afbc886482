/**
 * Takes copies out of the box into memory: after a start all that are there, then each new one as it comes, so that a
 * slave's key is opened before the slave asks for it.
 */
import type { Clock } from '../clock.ts';
import { BATCH, type Fetched, type KeyBoxes } from '../source/key-boxes.ts';
import type { Journal } from '../store/journal.ts';
import type { KeyEvents } from './events.ts';
import { Patience } from './patience.ts';
import type { Removals } from './removals.ts';
import type { Stock } from './stock.ts';

/** More than a box holds: then those of before have expired. */
const MOST_REFUSED = 20_000;

/** Likewise: what is forgotten during an outage is listed after it. */
const MOST_QUEUED = 20_000;

/** Between looks at what is to be fetched. */
const PAUSE_MS = 200;

interface IntakeOptions {
  readonly boxes: KeyBoxes;
  readonly stock: Stock;
  readonly journal: Journal;
  readonly removals: Removals;
  readonly clock: Clock;
  readonly events: KeyEvents;
}

export class Intake {
  readonly #boxes: KeyBoxes;
  readonly #stock: Stock;
  readonly #journal: Journal;
  readonly #removals: Removals;
  readonly #clock: Clock;
  readonly #events: KeyEvents;
  /** IDs that this agent is having made: their keys come with the answer. */
  readonly #making = new Set<string>();
  readonly #queue = new Set<string>();
  /** Copies that are not ours to use. */
  readonly #refused = new Set<string>();
  #isComplete = false;

  constructor({ boxes, stock, journal, removals, clock, events }: IntakeOptions) {
    this.#boxes = boxes;
    this.#stock = stock;
    this.#journal = journal;
    this.#removals = removals;
    this.#clock = clock;
    this.#events = events;
  }

  /** True once everything was listed that the box held at the start. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Number of copies that are to be fetched. */
  get backlog(): number {
    return this.#queue.size;
  }

  /** Leaves these copies alone until `made`. */
  making(ids: readonly string[]): void {
    for (const id of ids) this.#making.add(id);
  }

  /** The call that made these keys has ended. Those whose keys did not come with it may be in the box. */
  made(ids: readonly string[]): void {
    for (const id of ids) {
      this.#making.delete(id);
      if (!this.#stock.get(id) && !this.#isDone(id)) this.#enqueue(id);
    }
  }

  /** Lists the box, and waits for what is new. */
  async list(signal: AbortSignal): Promise<void> {
    const patience = new Patience(this.#clock);
    let cursor: string | null = null;
    while (!signal.aborted) {
      try {
        const listing = await this.#boxes.list(cursor, signal);
        patience.succeeded();
        this.#events.sourceServed('list');
        cursor = listing.cursor;
        this.#note(listing.ids);
        this.#isComplete ||= listing.isEnd;
        // What is listed and not fetched yet would be listed again at once.
        if (listing.isEnd) await this.#clock.sleep(PAUSE_MS, signal);
      } catch (error) {
        if (signal.aborted) return;
        this.#events.sourceFailed('list', error);
        await patience.failed(signal);
      }
    }
  }

  #note(ids: readonly string[]): void {
    for (const id of ids) {
      const isKnown = this.#stock.get(id) || this.#making.has(id) || this.#refused.has(id);
      if (this.#isDone(id)) this.#removals.add([id]);
      else if (!isKnown) this.#enqueue(id);
    }
  }

  #enqueue(id: string): void {
    const [oldest] = this.#queue;
    if (this.#queue.size >= MOST_QUEUED && oldest !== undefined) this.#queue.delete(oldest);
    this.#queue.add(id);
  }

  /** Fetches what is listed. */
  async fetch(signal: AbortSignal): Promise<void> {
    const patience = new Patience(this.#clock);
    while (!signal.aborted) {
      const ids = [...this.#queue].slice(0, BATCH);
      const isServed = ids.length === 0 || (await this.#fetchSome(ids, signal));
      if (isServed) patience.succeeded();
      else await patience.failed(signal);
      if (this.#queue.size < BATCH) await this.#clock.sleep(PAUSE_MS, signal);
    }
  }

  async #fetchSome(ids: readonly string[], signal: AbortSignal): Promise<boolean> {
    try {
      const isPending = await this.fetchNow(ids, signal);
      return !isPending;
    } catch (error) {
      if (!signal.aborted) this.#events.sourceFailed('fetch', error);
      return false;
    }
  }

  /** Fetches these copies. Resolves with true if one cannot be had yet. Rejects as the service does. */
  async fetchNow(ids: readonly string[], signal: AbortSignal): Promise<boolean> {
    let isPending = false;
    for (let i = 0; i < ids.length; i += BATCH) {
      const results = await this.#boxes.fetch(ids.slice(i, i + BATCH), signal);
      this.#events.sourceServed('fetch');
      for (const result of results) isPending = this.#take(result) || isPending;
    }
    return isPending;
  }

  /** Returns true for a copy that cannot be had yet. */
  #take(result: Fetched): boolean {
    if (result.kind === 'pending') {
      // At the end, behind those that can be had.
      this.#queue.delete(result.id);
      this.#queue.add(result.id);
      return true;
    }
    const id = result.kind === 'opened' ? result.copy.id : result.id;
    if (this.#making.has(id)) {
      // The call that makes it takes it over, and knows who waits for it.
      if (result.kind === 'opened') result.copy.key.fill(0);
      return false;
    }
    this.#queue.delete(id);
    if (result.kind === 'refused') this.#refuse(id, result.reason);
    if (result.kind !== 'opened') return false;
    const adoption = this.#stock.adopt(result.copy, false, this.#clock.nowMs());
    if (adoption.kind === 'done') this.#removals.add([id]);
    if (adoption.kind === 'refused') this.#refuse(id, adoption.reason);
    return false;
  }

  #refuse(id: string, reason: string): void {
    if (this.#refused.size >= MOST_REFUSED) this.#refused.clear();
    this.#refused.add(id);
    this.#events.copyRefused(id, reason);
  }

  #isDone(id: string): boolean {
    return this.#removals.has(id) || this.#journal.isDone(id);
  }
}
