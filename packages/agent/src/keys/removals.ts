/** Removes from the box what all local systems have read: in batches, again until the service has done it. */
import type { Clock } from '../clock.ts';
import { BATCH, type KeyBoxes } from '../source/key-boxes.ts';
import type { KeyEvents } from './events.ts';
import { Patience } from './patience.ts';

/** Between batches: most removals of a second travel together. */
const PAUSE_MS = 1_000;

export class Removals {
  readonly #boxes: KeyBoxes;
  readonly #clock: Clock;
  readonly #events: KeyEvents;
  readonly #ids = new Set<string>();

  constructor(boxes: KeyBoxes, clock: Clock, events: KeyEvents) {
    this.#boxes = boxes;
    this.#clock = clock;
    this.#events = events;
  }

  get size(): number {
    return this.#ids.size;
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  add(ids: Iterable<string>): void {
    for (const id of ids) this.#ids.add(id);
  }

  async run(signal: AbortSignal): Promise<void> {
    const patience = new Patience(this.#clock);
    while (!signal.aborted) {
      if (await this.#removeSome(signal)) patience.succeeded();
      else await patience.failed(signal);
      if (this.#ids.size < BATCH) await this.#clock.sleep(PAUSE_MS, signal);
    }
  }

  async #removeSome(signal: AbortSignal): Promise<boolean> {
    const ids = [...this.#ids].slice(0, BATCH);
    if (ids.length === 0) return true;
    try {
      await this.#boxes.remove(ids, signal);
    } catch (error) {
      if (!signal.aborted) this.#events.sourceFailed('remove', error);
      return false;
    }
    this.#events.sourceServed('remove');
    for (const id of ids) this.#ids.delete(id);
    return true;
  }
}
