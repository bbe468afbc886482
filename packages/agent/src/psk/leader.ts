/**
 * The end with the lower thumbprint: it has keys made ahead, and agrees to one for each epoch. It fetches its own copy of a key only
 * after the other end has received its copy, and after the record says that this is the key of the epoch. So it receives at most
 * one key of an epoch, and that shows the other end which one is agreed.
 */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { SourceError } from '../source/key-boxes.ts';
import type { Copies } from './copies.ts';
import type { PskEvents } from './events.ts';
import { type Plan, type PskRecord, withPlan } from './record.ts';
import { AHEAD, type Timetable } from './timetable.ts';

/** Keys that are made for an epoch at once, if copies get lost or the other end refuses them. */
const QUICK_TRIES = 5;

/** Further tries in an interval, for all epochs together: a fault that lasts costs few keys, and its end is noticed in time. */
const LATER_TRIES = 10;

export interface RoleOptions {
  readonly copies: Copies;
  readonly record: PskRecord;
  readonly timetable: Timetable;
  readonly clock: Clock;
  readonly events: PskEvents;
}

export class Leader {
  readonly #given: RoleOptions;
  #hasLooked = false;
  /** A start counts as one, so that one that comes again and again costs no keys. */
  #lastLaterMs: number;

  constructor(given: RoleOptions) {
    this.#given = given;
    this.#lastLaterMs = given.clock.nowMs();
  }

  /** Resolves with true if the other end may soon have something new. Rejects as the service and the record do. */
  async turn(signal: AbortSignal): Promise<boolean> {
    if (!this.#hasLooked) await this.#lookForEarlier(signal);
    this.#hasLooked = true;
    const { record, timetable, clock } = this.#given;
    const now = timetable.epochAt(clock.nowMs());
    const after = Math.max(now, record.state.current?.epoch ?? 0);
    let isOpen = false;
    for (let epoch = after + 1; epoch <= now + AHEAD; epoch += 1) {
      if (clock.nowMs() >= timetable.agreedBy(epoch)) continue;
      await this.#advance(epoch, signal);
      isOpen ||= record.state.plans.get(epoch)?.stage === 'proposed';
    }
    return isOpen;
  }

  /** A clock that was set back holds nothing up. */
  #mayTryLater(): boolean {
    const { timetable, clock } = this.#given;
    const sinceMs = clock.nowMs() - this.#lastLaterMs;
    return sinceMs < 0 || sinceMs >= timetable.intervalMs / LATER_TRIES;
  }

  async #advance(epoch: number, signal: AbortSignal): Promise<void> {
    const { record, copies, timetable, clock } = this.#given;
    const plan = record.state.plans.get(epoch);
    if (plan === undefined) return this.#propose(epoch, 1, signal);
    if (plan.stage !== 'proposed') return;
    const states = await copies.states(plan.id, signal);
    if (states === null) return this.#make(epoch, plan.id, signal);
    if (states.own === 'gone' || states.peer === 'gone') {
      copies.drop(plan.id);
      const isLater = plan.tries >= QUICK_TRIES;
      if (isLater && !this.#mayTryLater()) return;
      if (isLater) this.#lastLaterMs = clock.nowMs();
      return this.#propose(epoch, plan.tries + 1, signal);
    }
    if (states.peer !== 'received' || clock.nowMs() >= timetable.agreedBy(epoch)) return;
    await this.#agree(epoch, plan);
    await copies.fetch([plan.id], signal);
  }

  async #propose(epoch: number, tries: number, signal: AbortSignal): Promise<void> {
    const plan: Plan = { id: randomUUID(), stage: 'proposed', tries };
    await this.#plan(epoch, plan);
    await this.#make(epoch, plan.id, signal);
  }

  /** Of a call that fails, nobody knows whether the key exists: the next turn asks for its states. */
  async #make(epoch: number, id: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#given.copies.make({ epoch, id }, signal);
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
    }
  }

  async #agree(epoch: number, plan: Plan): Promise<void> {
    await this.#plan(epoch, { ...plan, stage: 'agreed' });
    this.#given.events.agreed(epoch, plan.id);
  }

  #plan(epoch: number, plan: Plan): Promise<void> {
    return this.#given.record.update((state) => ({
      ...state,
      plans: withPlan(state.plans, epoch, plan),
    }));
  }

  /** If the record was lost, what this end has received shows what an earlier life has agreed to. */
  async #lookForEarlier(signal: AbortSignal): Promise<void> {
    const { copies, record } = this.#given;
    const known = new Set([...record.state.plans.values()].map(({ id }) => id));
    for (const id of (await copies.list(signal)).filter((one) => !known.has(one))) {
      const states = await copies.states(id, signal);
      if (states?.own !== 'received' || states.peer !== 'received') continue;
      for (const one of await copies.fetch([id], signal)) {
        if (one.kind === 'held') await this.#restore(one.key.epoch, id);
      }
    }
  }

  async #restore(epoch: number, id: string): Promise<void> {
    const { record, copies } = this.#given;
    const stage = record.state.plans.get(epoch)?.stage ?? 'proposed';
    if (stage === 'proposed') await this.#agree(epoch, { id, stage, tries: 1 });
    else copies.drop(id);
  }
}
