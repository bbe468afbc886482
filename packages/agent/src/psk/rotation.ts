/** One end of a link: what it agrees on, and what it does with it. */
import type { Clock } from '../clock.ts';
import type { KeyBoxes } from '../source/key-boxes.ts';
import { Copies } from './copies.ts';
import type { PskEvents } from './events.ts';
import { Exchange } from './exchange.ts';
import type { Link } from './link.ts';
import type { EpochKey, PskRecord } from './record.ts';
import { type Confirm, type Installer, Switcher } from './switcher.ts';
import { Timetable } from './timetable.ts';

interface RotationOptions {
  readonly link: Link;
  readonly intervalMs: number;
  readonly boxes: KeyBoxes;
  readonly record: PskRecord;
  readonly installer: Installer;
  readonly confirm: Confirm | null;
  readonly clock: Clock;
  readonly events: PskEvents;
}

export class Rotation {
  readonly #record: PskRecord;
  readonly #copies: Copies;
  readonly #timetable: Timetable;
  readonly #clock: Clock;
  readonly #exchange: Exchange;
  readonly #switcher: Switcher;
  #end: AbortSignal | null = null;

  constructor(given: RotationOptions) {
    const { link, record, installer, confirm, clock, events } = given;
    const timetable = new Timetable(given.intervalMs, confirm !== null);
    const isEnding = (): boolean => this.#end?.aborted ?? false;
    const copies = new Copies({ ...given, timetable, isEnding });
    const shared = { copies, record, timetable, clock, events };
    const exchange = new Exchange({ ...shared, link });
    const isFetched = (): boolean => exchange.isComplete;
    this.#exchange = exchange;
    this.#switcher = new Switcher({ ...shared, installer, confirm, isFetched });
    [this.#record, this.#copies, this.#timetable, this.#clock] = [record, copies, timetable, clock];
  }

  /** Works until the signal aborts; then all keys in memory are wiped. The system keeps the key that it has. */
  async run(signal: AbortSignal): Promise<void> {
    this.#end = signal;
    await Promise.all([this.#exchange.run(signal), this.#switcher.run(signal)]);
    await this.#record.settled();
    this.#copies.clear();
  }

  /** True once the service has served a whole turn. */
  get isComplete(): boolean {
    return this.#exchange.isComplete;
  }

  /** The confirmed key; null if there is none, or if a new one is not confirmed yet. */
  get confirmed(): EpochKey | null {
    const { current } = this.#record.state;
    return current?.isConfirmed ? current : null;
  }

  /** The present epoch by the clock of this end. */
  get epoch(): number {
    return this.#timetable.epochAt(this.#clock.nowMs());
  }

  /** Number of coming epochs whose keys are agreed and at hand. */
  get ahead(): number {
    return [...this.#record.state.plans].filter(
      ([epoch, { id, stage }]) => epoch > this.epoch && stage === 'agreed' && this.#copies.has(id),
    ).length;
  }
}
