/**
 * Paces what an end does at the service: `leader.ts` or `follower.ts` agree on keys; this has those at hand that it needs, and
 * tidies up.
 */
import type { Clock } from '../clock.ts';
import { Patience, within } from '../keys/patience.ts';
import { SourceError } from '../source/key-boxes.ts';
import { JournalError } from '../store/journal.ts';
import { Follower } from './follower.ts';
import { Leader, type RoleOptions } from './leader.ts';
import type { Link } from './link.ts';
import type { Plan, State } from './record.ts';

/** A turn that hangs is given up. */
const TURN_MS = 60_000;

/** Between turns while the other end may have something new: soon, then twice as long each time. */
const FIRST_PAUSE_MS = 2_000;
const LEAST_PAUSE_MS = 10_000;
const MOST_PAUSE_MS = 60_000;

/** Turns of an interval while nothing happens. */
const TURNS = 30;

interface ExchangeOptions extends RoleOptions {
  readonly link: Link;
}

export class Exchange {
  readonly #given: ExchangeOptions;
  readonly #role: Leader | Follower;
  #isComplete = false;

  constructor(given: ExchangeOptions) {
    this.#given = given;
    this.#role = given.link.isLeader ? new Leader(given) : new Follower(given);
  }

  /** True once a turn has succeeded. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, timetable } = this.#given;
    const idleMs = Math.min(MOST_PAUSE_MS, Math.max(LEAST_PAUSE_MS, timetable.intervalMs / TURNS));
    const patience = new Patience(clock);
    let pauseMs = FIRST_PAUSE_MS;
    while (!signal.aborted) {
      const before = this.#given.record.state;
      const isOpen = await this.#tryTurn(clock, signal);
      if (isOpen === null) {
        await patience.failed(signal);
        continue;
      }
      patience.succeeded();
      const isChanged = this.#given.record.state !== before;
      pauseMs = isChanged ? FIRST_PAUSE_MS : Math.min(idleMs, pauseMs * 2);
      await clock.sleep(isOpen || isChanged ? pauseMs : idleMs, signal);
    }
  }

  /** Resolves with null if the turn has failed. */
  async #tryTurn(clock: Clock, signal: AbortSignal): Promise<boolean | null> {
    try {
      const isOpen = await within(clock, TURN_MS, signal, (limited) => this.#turn(limited));
      this.#isComplete = true;
      return isOpen;
    } catch (error) {
      if (error instanceof JournalError) this.#given.events.journalFailed(error);
      // An event has told of it.
      else if (!(error instanceof SourceError) && !signal.aborted) throw error;
      return null;
    }
  }

  async #turn(signal: AbortSignal): Promise<boolean> {
    await this.#tidy();
    await this.#fetchNeeded(signal);
    const isOpen = await this.#role.turn(signal);
    await this.#given.copies.removeDropped(signal);
    return isOpen;
  }

  /** Drops keys that are used no more. */
  async #tidy(): Promise<void> {
    const { record, copies } = this.#given;
    const isOver = this.#isOver.bind(this);
    const { state } = record;
    if (![...state.plans].some(([epoch, plan]) => isOver(epoch, plan, state))) return;
    const dropped: string[] = [];
    await record.update((latest) => {
      const plans = [...latest.plans].filter(([epoch, plan]) => {
        const isDropped = isOver(epoch, plan, latest);
        if (isDropped) dropped.push(plan.id);
        return !isDropped;
      });
      return { ...latest, plans: new Map(plans) };
    });
    for (const id of dropped) copies.drop(id);
  }

  #isOver(epoch: number, { id, stage }: Plan, { current, previous }: State): boolean {
    const { timetable, clock } = this.#given;
    const nowMs = clock.nowMs();
    if (id === current?.id || id === previous?.id) return false;
    if (stage === 'proposed') return nowMs >= timetable.agreedBy(epoch);
    if (stage === 'failed') return timetable.epochAt(nowMs) > epoch;
    return nowMs >= timetable.switchedBy(epoch);
  }

  /** After a restart, the keys that are in use or agreed come from the box again. */
  async #fetchNeeded(signal: AbortSignal): Promise<void> {
    const { record, copies } = this.#given;
    const needed = [...record.state.plans.values()]
      .filter(({ id, stage }) => stage === 'agreed' && !copies.has(id))
      .map(({ id }) => id);
    if (needed.length > 0) await copies.fetch(needed, signal);
  }
}
