/** What an end does with its system: it installs the agreed key of each epoch, has it confirmed, or takes the old one back. */
import type { Clock } from '../clock.ts';
import { JournalError } from '../store/journal.ts';
import type { Copies } from './copies.ts';
import type { PskEvents } from './events.ts';
import { type CurrentKey, type EpochKey, type PskRecord, withPlan } from './record.ts';
import type { Timetable } from './timetable.ts';

/** Between attempts, and looks at the clock, which may have been set. */
const PAUSE_MS = 5_000;

/** The system that uses the key. */
export interface Installer {
  /** Resolves once the system has the key. Rejects with `InstallError`; then nobody knows which one it has. Wipes nothing of `key`. */
  install(key: Uint8Array, id: string): Promise<void>;
}

/** The system did not take a key. The message has no secret. */
export class InstallError extends Error {
  override readonly name = 'InstallError';
}

/** Asks whether the system works with its present key. */
export type Confirm = (signal: AbortSignal) => Promise<boolean>;

interface SwitcherOptions {
  readonly record: PskRecord;
  readonly copies: Copies;
  readonly timetable: Timetable;
  readonly installer: Installer;
  readonly confirm: Confirm | null;
  /** True once the keys were fetched that this end had at its start: those that are missing then are gone. */
  readonly isFetched: () => boolean;
  readonly clock: Clock;
  readonly events: PskEvents;
}

export class Switcher {
  readonly #given: SwitcherOptions;
  /** The key that the system is known to have; null after a start, and after a failure. */
  #installed: string | null = null;
  /** A key that cannot be installed again, of which the log was told. */
  #lost: string | null = null;
  #lastStayed = 0;

  constructor(given: SwitcherOptions) {
    this.#given = given;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, timetable, events } = this.#given;
    this.#lastStayed = timetable.epochAt(clock.nowMs());
    while (!signal.aborted) {
      try {
        while (!signal.aborted && (await this.#step(signal))) {
          // There may be more to do at once.
        }
      } catch (error) {
        if (!(error instanceof JournalError)) throw error;
        events.journalFailed(error);
      }
      const nowMs = clock.nowMs();
      const nextMs = timetable.startOf(timetable.epochAt(nowMs) + 1) - nowMs;
      await clock.sleep(Math.min(PAUSE_MS, nextMs), signal);
    }
  }

  /** Resolves with true if something has changed. */
  async #step(signal: AbortSignal): Promise<boolean> {
    const { record } = this.#given;
    const { current } = record.state;
    if (current !== null && !current.isConfirmed) return this.#settle(current, signal);
    const next = this.#due();
    if (next !== null) return this.#begin(next);
    // After a restart, and after an old key was taken back.
    if (current !== null && this.#installed !== current.id) await this.#install(current);
    return false;
  }

  /** Returns the key that is to be used now. */
  #due(): EpochKey | null {
    const { record, copies, timetable, clock, events } = this.#given;
    const nowMs = clock.nowMs();
    const epoch = timetable.epochAt(nowMs);
    const { current, plans } = record.state;
    const plan = plans.get(epoch);
    const isNew = epoch > (current?.epoch ?? 0) && plan?.stage !== 'failed';
    const isOpen = nowMs < timetable.switchedBy(epoch);
    if (!isNew) return null;
    if (isOpen && plan?.stage === 'agreed' && copies.has(plan.id)) return { epoch, id: plan.id };
    if (!isOpen && epoch > this.#lastStayed) {
      this.#lastStayed = epoch;
      events.stayed(epoch);
    }
    return null;
  }

  async #begin(next: EpochKey): Promise<boolean> {
    const { record } = this.#given;
    await record.update((state) => {
      const { current, plans } = state;
      if (plans.get(next.epoch)?.id !== next.id) return state;
      const previous = current && { epoch: current.epoch, id: current.id };
      return { ...state, current: { ...next, isConfirmed: false }, previous };
    });
    return record.state.current?.id === next.id;
  }

  /** Brings a new key to its end: it is confirmed, or taken back. Resolves with true then. */
  async #settle(current: CurrentKey, signal: AbortSignal): Promise<boolean> {
    const { copies, timetable, clock, confirm, isFetched } = this.#given;
    if (this.#installed !== current.id && !(await this.#install(current))) {
      const isOver = copies.has(current.id)
        ? clock.nowMs() >= timetable.switchedBy(current.epoch)
        : isFetched();
      return isOver && this.#takeBack(current);
    }
    if (confirm === null || (await confirm(signal))) return this.#confirmed(current);
    // A command that was ended on SIGTERM says nothing.
    if (signal.aborted || clock.nowMs() < timetable.confirmedBy(current.epoch)) return false;
    return this.#takeBack(current);
  }

  /** Resolves with false if the system did not take the key. */
  async #install({ epoch, id }: EpochKey): Promise<boolean> {
    const { copies, installer, events, isFetched } = this.#given;
    const bytes = copies.bytesOf(id);
    if (bytes === null) {
      if (isFetched() && this.#lost !== id) events.installFailed(epoch, 'its copy is gone');
      if (isFetched()) this.#lost = id;
      return false;
    }
    this.#installed = null;
    try {
      await installer.install(bytes, id);
    } catch (error) {
      if (!(error instanceof InstallError)) throw error;
      events.installFailed(epoch, error.message);
      return false;
    } finally {
      bytes.fill(0);
    }
    this.#installed = id;
    events.installed(epoch, id);
    return true;
  }

  async #confirmed({ epoch, id }: CurrentKey): Promise<boolean> {
    const { record, events } = this.#given;
    await record.update((state) => ({
      ...state,
      current: { epoch, id, isConfirmed: true },
      previous: null,
    }));
    events.confirmed(epoch, id);
    return true;
  }

  async #takeBack({ epoch, id }: CurrentKey): Promise<boolean> {
    const { record, events } = this.#given;
    const { previous } = record.state;
    await record.update((state) => ({
      current: previous && { ...previous, isConfirmed: true },
      previous: null,
      plans: withPlan(state.plans, epoch, { id, stage: 'failed', tries: 1 }),
    }));
    this.#installed = null;
    events.takenBack(epoch, previous !== null);
    return true;
  }
}
