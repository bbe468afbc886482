/**
 * Prometheus metrics of one server. Events are counted as they happen; state (queues, sources, the ledger) is read
 * at each scrape.
 *
 * Label values come only from tables in the code, never from clients: no account, API key, key ID or address. All
 * series named by a table exist from startup, at zero.
 */
import { collectDefaultMetrics, Gauge, Registry } from '@prometheus-io/client';
import type { SourceName } from '../entropy/index.ts';
import { PROJECT_VERSION } from '../process/version.ts';
import type { MetricTexts } from './definition.ts';
import { CountedEvents } from './event-metrics.ts';
import { addScrapeMetrics, type ServerState } from './scrape-metrics.ts';

/** Gauges that are always 1: their labels hold the information. */
export const INFO_METRICS = {
  build: {
    name: 'phm_build_info',
    help: 'The release and what it runs on',
    meaning: '1; the labels name the release and its Node',
    labelNames: ['version', 'node'],
  },
  ledger: {
    name: 'phm_ledger_info',
    help: 'Where the ledger is',
    meaning: '1; the label says where the ledger is: `sqlite` or `postgresql`',
    labelNames: ['backend'],
  },
} as const satisfies Record<string, MetricTexts>;

/** Metrics of the library that break the naming rules: gauges that end in `_total`, names that end in their type. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
  'nodejs_eventloop_utilization_histogram',
  'nodejs_eventloop_utilization_summary',
];

/** The longest interval of a timer, 25 days: the library would read the utilization ten times a second, for no page. */
const LONGEST_INTERVAL_MS = 2 ** 31 - 1;

export interface MetricsOptions {
  /** Sources that a request may name. */
  readonly sources: readonly SourceName[];
  readonly ledgerBackend: 'sqlite' | 'postgresql';
}

export class ServiceMetrics {
  readonly #registry = new Registry();
  readonly events: CountedEvents;

  constructor({ sources, ledgerBackend }: MetricsOptions) {
    collectDefaultMetrics({
      register: this.#registry,
      eventLoopUtilizationTimeout: LONGEST_INTERVAL_MS,
    });
    for (const name of MISNAMED) this.#registry.removeSingleMetric(name);
    this.events = new CountedEvents(this.#registry, sources);
    this.#addInfo(INFO_METRICS.build, { version: PROJECT_VERSION, node: process.version });
    this.#addInfo(INFO_METRICS.ledger, { backend: ledgerBackend });
  }

  /** The media type of `expose`. */
  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Returns all metrics in Prometheus' text format. */
  expose(): Promise<string> {
    return this.#registry.metrics();
  }

  /** Adds the metrics of state. Call it once, when the service runs. */
  watch(state: ServerState): void {
    addScrapeMetrics(this.#registry, state);
  }

  /** Adds a constant 1 whose labels hold the information. */
  #addInfo({ name, help, labelNames = [] }: MetricTexts, labels: Record<string, string>): void {
    new Gauge({ registers: [this.#registry], name, help, labelNames }).set(labels, 1);
  }
}
