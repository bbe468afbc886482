/**
 * The end with the higher thumbprint: it fetches every copy of its box, which tells the leader that it has the key. A key is agreed
 * once the leader has received it too.
 */
import type { Copies } from './copies.ts';
import type { RoleOptions } from './leader.ts';
import { type EpochKey, withPlan } from './record.ts';

export class Follower {
  readonly #given: RoleOptions;
  /** Copies of another use: they stay in the box until they expire. */
  #foreign = new Set<string>();

  constructor(given: RoleOptions) {
    this.#given = given;
  }

  /** Resolves with true if the other end may soon have something new. Rejects as the service and the record do. */
  async turn(signal: AbortSignal): Promise<boolean> {
    const { copies } = this.#given;
    const listed = await copies.list(signal);
    this.#foreign = new Set(listed.filter((id) => this.#foreign.has(id)));
    const isNew = (id: string) => !copies.has(id) && !this.#foreign.has(id) && !this.#isPlanned(id);
    const isPending = await this.#take(copies, listed.filter(isNew), signal);
    const offered = copies.held.filter(({ id }) => !this.#isPlanned(id));
    for (const one of offered) await this.#decide(one, signal);
    return isPending || offered.some(({ id }) => copies.has(id) && !this.#isPlanned(id));
  }

  #isPlanned(id: string): boolean {
    return [...this.#given.record.state.plans.values()].some((plan) => plan.id === id);
  }

  /** Returns true if a copy cannot be had yet. */
  async #take(copies: Copies, ids: readonly string[], signal: AbortSignal): Promise<boolean> {
    const outcomes = await copies.fetch(ids, signal);
    for (const one of outcomes) {
      if (one.kind === 'foreign') this.#foreign.add(one.id);
      // The leader must not take a key for received that cannot be used here.
      if (one.kind === 'unfit') copies.drop(one.id);
    }
    return outcomes.some(({ kind }) => kind === 'pending');
  }

  async #decide({ epoch, id }: EpochKey, signal: AbortSignal): Promise<void> {
    const { copies, record, timetable, clock, events } = this.#given;
    const isOpen = (): boolean =>
      clock.nowMs() < timetable.switchedBy(epoch) && !record.state.plans.has(epoch);
    if (!isOpen()) return copies.drop(id);
    const states = await copies.states(id, signal);
    if (states?.own !== 'received' || states.peer === 'gone') return copies.drop(id);
    if (states.peer !== 'received' || !isOpen()) return;
    await record.update((state) => ({
      ...state,
      plans: withPlan(state.plans, epoch, { id, stage: 'agreed', tries: 1 }),
    }));
    events.agreed(epoch, id);
  }
}
