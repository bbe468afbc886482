/** Figures of the agent in the text format of Prometheus (version 0.0.4), and the log of what they count. */
import { stackFrames } from '../../../platform/src/terminal/index.ts';
import type { Clock } from '../clock.ts';
import type { KeyEvents } from '../keys/events.ts';
import type { Keeper } from '../keys/keeper.ts';
import type { ListenerEvents } from '../listeners/listener.ts';
import { type Log, reasonOf } from './log.ts';

/** Name without the prefix, kind, and meaning. */
const COUNTERS = {
  keys_handed_out_total: 'keys that systems got, by their role',
  keys_made_total: 'keys that the service made for this agent',
  source_failures_total: 'calls of the service that failed, by call',
  copies_refused_total: 'copies in the box that are not what the configuration allows',
  journal_failures_total: 'groups of records that the disk did not take',
  answers_total: 'answers to systems, by HTTP status',
  defects_total: 'requests that failed by a defect of the agent',
} as const;

type Counter = keyof typeof COUNTERS;

const GAUGES = {
  pool_keys: 'keys ready for a pair',
  pool_seconds: 'seconds that the ready keys of a pair last at its present demand',
  keys_held: 'keys in memory',
  copies_to_fetch: 'copies in the box that are to be fetched',
  copies_to_remove: 'copies that are read, and still in the box',
  journal_keys: 'keys that the journal remembers',
  service_answer_timestamp_seconds: 'time of the last answer of the service',
} as const;

type Gauge = keyof typeof GAUGES;

const PREFIX = 'phm_agent_';

export class Metrics implements KeyEvents, ListenerEvents {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #counts = new Map<Counter, Map<string, number>>();
  #servedMs = 0;

  constructor(log: Log, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
    this.#add('keys_made_total', 0);
    this.#add('copies_refused_total', 0);
    this.#add('journal_failures_total', 0);
    this.#add('defects_total', 0);
    for (const role of ['master', 'slave']) this.#add('keys_handed_out_total', 0, { role });
  }

  handedOut(role: 'master' | 'slave', keys: number): void {
    this.#add('keys_handed_out_total', keys, { role });
  }

  made(keys: number): void {
    this.#add('keys_made_total', keys);
  }

  sourceFailed(call: string, error: unknown): void {
    this.#add('source_failures_total', 1, { call });
    const reason = reasonOf(error);
    this.#log.sometimes('warn', 'a call of the service failed', `${call} ${reason}`, {
      call,
      reason,
    });
  }

  sourceServed(): void {
    this.#servedMs = this.#clock.nowMs();
  }

  copyRefused(id: string, reason: string): void {
    this.#add('copies_refused_total', 1);
    this.#log.sometimes('error', 'a copy in the box was refused', reason, { id, reason });
  }

  journalFailed(error: unknown): void {
    this.#add('journal_failures_total', 1);
    const reason = reasonOf(error);
    this.#log.sometimes('error', 'no key goes out: the journal failed', reason, { reason });
  }

  answered(status: number): void {
    this.#add('answers_total', 1, { status: `${status}` });
  }

  failed(error: unknown): void {
    this.#add('defects_total', 1);
    // Name and places, and never the message, which may quote a request.
    const defect = error instanceof Error ? error : new Error();
    const [place = ''] = stackFrames(defect);
    const { name } = defect;
    this.#log.say('error', 'a request failed by a defect', { name, place: place.trim() });
  }

  /** Returns the page of all figures. */
  text(keeper: Keeper): string {
    const counters = Object.entries(COUNTERS).flatMap(([name, help]) => [
      ...heading(name, 'counter', help),
      ...[...(this.#counts.get(name as Counter) ?? [])].map(
        ([labels, value]) => `${PREFIX}${name}${labels} ${value}`,
      ),
    ]);
    const gauges = Object.entries(GAUGES).flatMap(([name, help]) => [
      ...heading(name, 'gauge', help),
      ...this.#gauges(name as Gauge, keeper),
    ]);
    return `${[...counters, ...gauges].join('\n')}\n`;
  }

  #gauges(name: Gauge, keeper: Keeper): string[] {
    if (name === 'pool_keys' || name === 'pool_seconds') return poolLines(name, keeper);
    const { held, toFetch, toRemove, journal } = keeper.counts;
    const value = {
      keys_held: held,
      copies_to_fetch: toFetch,
      copies_to_remove: toRemove,
      journal_keys: journal,
      service_answer_timestamp_seconds: this.#servedMs / 1000,
    }[name];
    return [`${PREFIX}${name} ${value}`];
  }

  #add(name: Counter, by: number, labels: Readonly<Record<string, string>> = {}): void {
    const counts = this.#counts.get(name) ?? new Map<string, number>();
    const key = labelText(labels);
    this.#counts.set(name, counts.set(key, (counts.get(key) ?? 0) + by));
  }
}

function poolLines(name: 'pool_keys' | 'pool_seconds', keeper: Keeper): string[] {
  return keeper.pairs().flatMap(({ route, ready, seconds }) => {
    const value = name === 'pool_keys' ? ready : seconds;
    const labels = labelText({ master: route.master.name, slave: route.slaves[0]?.name ?? '' });
    return value === null ? [] : [`${PREFIX}${name}${labels} ${value}`];
  });
}

function heading(name: string, kind: string, help: string): string[] {
  return [`# HELP ${PREFIX}${name} ${help}`, `# TYPE ${PREFIX}${name} ${kind}`];
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return parts.length === 0 ? '' : `{${parts.join(',')}}`;
}

const escaped = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
