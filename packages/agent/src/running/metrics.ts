/** Figures of an agent that serves systems, and the log of what they count. */
import { stackFrames } from '../../../platform/src/terminal/index.ts';
import type { Clock } from '../clock.ts';
import type { KeyEvents } from '../keys/events.ts';
import type { Keeper } from '../keys/keeper.ts';
import type { ListenerEvents } from '../listeners/listener.ts';
import { labelText } from './figures.ts';
import type { Log } from './log.ts';
import { SourceMetrics } from './source-metrics.ts';

/** Name without the prefix, kind, and meaning. */
const COUNTERS = {
  keys_handed_out_total: 'keys that systems got, by their role',
  keys_made_total: 'keys that the service made for this agent',
  source_failures_total: 'calls of the service that failed, by call',
  copies_refused_total: 'copies in the box that are not what the configuration allows',
  journal_failures_total: 'groups of records that the disk did not take',
  answers_total: 'answers to systems, by HTTP status',
  defects_total: 'requests that failed by a defect of the agent',
  handshakes_failed_total: 'connections that did not show who calls',
} as const;

const GAUGES = {
  pool_keys: 'keys ready for a pair',
  pool_seconds: 'seconds that the ready keys of a pair last at its present demand',
  keys_held: 'keys in memory',
  copies_to_fetch: 'copies in the box that are to be fetched',
  copies_to_remove: 'copies that are read, and still in the box',
  journal_keys: 'keys that the journal remembers',
} as const;

type Gauge = keyof typeof GAUGES;

export class Metrics
  extends SourceMetrics<keyof typeof COUNTERS, Gauge>
  implements KeyEvents, ListenerEvents
{
  constructor(log: Log, clock: Clock) {
    super(log, clock, COUNTERS, GAUGES, 'no key goes out: the journal failed');
    this.figures.count('keys_made_total', 0);
    this.figures.count('defects_total', 0);
    this.figures.count('handshakes_failed_total', 0);
    for (const role of ['master', 'slave']) {
      this.figures.count('keys_handed_out_total', 0, { role });
    }
  }

  handedOut(role: 'master' | 'slave', keys: number): void {
    this.figures.count('keys_handed_out_total', keys, { role });
  }

  made(keys: number): void {
    this.figures.count('keys_made_total', keys);
  }

  answered(status: number): void {
    this.figures.count('answers_total', 1, { status: `${status}` });
  }

  failed(error: unknown): void {
    this.figures.count('defects_total', 1);
    // Name and places, and never the message, which may quote a request.
    const defect = error instanceof Error ? error : new Error();
    const [place = ''] = stackFrames(defect);
    const { name } = defect;
    this.log.say('error', 'a request failed by a defect', { name, place: place.trim() });
  }

  handshakeFailed(address: string, reason: string): void {
    this.figures.count('handshakes_failed_total', 1);
    this.log.sometimes('warn', 'a TLS handshake failed', address, { address, reason });
  }

  /** Returns the page of all figures. */
  text(keeper: Keeper): string {
    return this.page((name) => this.#gauges(name, keeper));
  }

  #gauges(name: Gauge, keeper: Keeper): string[] {
    if (name === 'pool_keys' || name === 'pool_seconds') return poolLines(name, keeper);
    const { held, toFetch, toRemove, journal } = keeper.counts;
    const value = {
      keys_held: held,
      copies_to_fetch: toFetch,
      copies_to_remove: toRemove,
      journal_keys: journal,
    }[name];
    return [` ${value}`];
  }
}

function poolLines(name: 'pool_keys' | 'pool_seconds', keeper: Keeper): string[] {
  return keeper.pairs().flatMap(({ route, ready, seconds }) => {
    const value = name === 'pool_keys' ? ready : seconds;
    const labels = labelText({ master: route.master.name, slave: route.slaves[0]?.name ?? '' });
    return value === null ? [] : [`${labels} ${value}`];
  });
}
