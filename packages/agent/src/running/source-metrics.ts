/** Figures of what every agent does with the service, its box and its journal, and the log of what they count. */
import type { Clock } from '../clock.ts';
import type { SourceEvents } from '../keys/events.ts';
import { Figures } from './figures.ts';
import { kindOf, type Log, reasonOf } from './log.ts';

/** What a counter or gauge means, by its name without the prefix. */
type Texts<Name extends string> = Readonly<Record<Name, string>>;

type SourceCounter = 'source_failures_total' | 'copies_refused_total' | 'journal_failures_total';

const SERVED = {
  service_answer_timestamp_seconds: 'time of the last answer of the service',
} as const;

export class SourceMetrics<Counter extends string, Gauge extends string> implements SourceEvents {
  protected readonly log: Log;
  protected readonly figures: Figures<Counter | SourceCounter, Gauge | keyof typeof SERVED>;
  readonly #clock: Clock;
  readonly #consequence: string;
  #servedMs = 0;

  /** `consequence`: what a journal that fails prevents. */
  constructor(
    log: Log,
    clock: Clock,
    counters: Texts<Counter | SourceCounter>,
    gauges: Texts<Gauge>,
    consequence: string,
  ) {
    this.log = log;
    this.#clock = clock;
    this.figures = new Figures(counters, { ...gauges, ...SERVED });
    this.#consequence = consequence;
    for (const name of ['copies_refused_total', 'journal_failures_total'] as const) {
      this.figures.count(name, 0);
    }
  }

  sourceFailed(call: string, error: unknown): void {
    this.figures.count('source_failures_total', 1, { call });
    const reason = reasonOf(error);
    const fields = { call, reason };
    this.log.sometimes('warn', 'a call of the service failed', `${call} ${kindOf(reason)}`, fields);
  }

  sourceServed(): void {
    this.#servedMs = this.#clock.nowMs();
  }

  copyRefused(id: string, reason: string): void {
    this.figures.count('copies_refused_total', 1);
    // Reasons that differ by the ID of a request are one line a minute.
    this.log.sometimes('error', 'a copy in the box was refused', kindOf(reason), { id, reason });
  }

  journalFailed(error: unknown): void {
    this.figures.count('journal_failures_total', 1);
    const reason = reasonOf(error);
    this.log.sometimes('error', this.#consequence, reason, { reason });
  }

  /** Returns the page of all figures. `valuesOf` returns the values of the agent's own gauges. */
  protected page(valuesOf: (name: Gauge) => readonly string[]): string {
    const served = ` ${this.#servedMs / 1000}`;
    return this.figures.text((name) => (name in SERVED ? [served] : valuesOf(name as Gauge)));
  }
}
