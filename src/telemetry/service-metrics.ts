/**
 * Prometheus metrics of one server. Events are counted as they happen; state (queues, sources, the ledger) is read
 * at each scrape.
 *
 * Label values come only from tables in the code, never from clients: no account, API key, key ID or address. All
 * series named by a table exist from startup, at zero.
 */
import { collectDefaultMetrics, Gauge, Registry } from '@prometheus-io/client';
import { SEAL_SUITES, type SealSuiteName } from '#sealing';
import { SECOND_MS } from '../clock.ts';
import { SOURCE_EVENTS, type SourceEvent, type SourceName } from '../entropy/index.ts';
import { ERRORS, type ErrorCode } from '../errors.ts';
import {
  type KeyOrder,
  SECURITY_LEVELS,
  VALIDATION_WORDS,
  type ValidationVerdict,
  validationWord,
} from '../keys/index.ts';
import type { StreamCounts } from '../ledger/index.ts';
import { MODULATION_TYPES } from '../modulation/index.ts';
import { PROJECT_VERSION } from '../process/version.ts';
import { type KeyObserver, QUEUE_NAMES, type QueueName } from '../service/index.ts';
import type { MetricTexts } from './definition.ts';
import { defineEventMetrics, type EventMetrics } from './event-metrics.ts';
import { METHODS } from './methods.ts';
import { addScrapeMetrics, type ServerState } from './scrape-metrics.ts';

const STATUS_CLASSES = ['2xx', '4xx', '5xx'];

/** Reasons of failed TLS handshakes. */
const HANDSHAKE_FAILURES = [
  'no_shared_group',
  'no_shared_cipher',
  'old_version',
  'cleartext',
  'refused_by_client',
  'incomplete',
  'other',
] as const;
export type HandshakeFailure = (typeof HANDSHAKE_FAILURES)[number];

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

/** An answered request. `route` is the route's template, undefined for an unknown route. */
interface AnsweredRequest {
  readonly method: string;
  readonly route: string | undefined;
  readonly status: number;
  readonly ms: number;
  /** True if the caller was refused because it fills its own share of a queue. */
  readonly ownShare: boolean;
  /** True if the answer is one plain key, without validation and without a receipt. */
  readonly isPlainKey: boolean;
}

export interface MetricsOptions {
  /** Sources that a request may name. */
  readonly sources: readonly SourceName[];
  readonly ledgerBackend: 'sqlite' | 'postgresql';
}

export class ServiceMetrics implements KeyObserver {
  readonly #registry = new Registry();
  readonly #events: EventMetrics;

  constructor({ sources, ledgerBackend }: MetricsOptions) {
    collectDefaultMetrics({
      register: this.#registry,
      eventLoopUtilizationTimeout: LONGEST_INTERVAL_MS,
    });
    for (const name of MISNAMED) this.#registry.removeSingleMetric(name);
    this.#events = defineEventMetrics(this.#registry);
    this.#addInfo(INFO_METRICS.build, { version: PROJECT_VERSION, node: process.version });
    this.#addInfo(INFO_METRICS.ledger, { backend: ledgerBackend });
    this.#startAtZero(sources);
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

  /** Creates the series of a route before its first request. */
  routeAdded(method: string, route: string): void {
    for (const status of STATUS_CLASSES) this.#events.requests.zero({ method, route, status });
  }

  answered(request: AnsweredRequest): void {
    const { method, route = 'unknown', status, ms, ownShare, isPlainKey } = request;
    if (isPlainKey) this.#events.plainKeys.observe(ms / SECOND_MS);
    this.#events.requests.observe(
      {
        method: METHODS.includes(method) ? method : 'other',
        route,
        status: `${Math.floor(status / 100)}xx`,
        ...(ownShare && { own_share: 'yes' }),
      },
      ms / SECOND_MS,
    );
  }

  problem(code: ErrorCode): void {
    this.#events.problems.inc({ code });
  }

  sourceEvent(source: SourceName, { kind }: SourceEvent): void {
    this.#events.sourceEvents.inc({ source, kind });
  }

  addressLimited(): void {
    this.#events.addressRefusals.inc();
  }

  handshakeFailed(reason: HandshakeFailure): void {
    this.#events.handshakeFailures.inc({ reason });
  }

  logLineLeftOut(): void {
    this.#events.logLinesLeftOut.inc();
  }

  upkeepFailed(): void {
    this.#events.upkeepFailures.inc();
  }

  /** Counts a check that found the database damaged. */
  damageFound(): void {
    this.#events.damageFound.inc();
  }

  keyGenerated({ securityLevel, source, modulation, withEvidence }: KeyOrder): void {
    this.#events.keys.inc({
      security_level: securityLevel,
      source,
      modulation,
      validated: String(withEvidence),
    });
  }

  /** Counts a key that `keyGenerated` counts too. */
  keySealed(suite: SealSuiteName): void {
    this.#events.sealedKeys.inc({ suite });
  }

  /** Counts a batch of `keys` keys, each of which `keyGenerated` counts. */
  batch(keys: number): void {
    this.#events.batchRequests.observe(keys);
  }

  replayed(): void {
    this.#events.replays.inc();
  }

  keyValidated(verdict: ValidationVerdict): void {
    this.#events.validations.inc({ verdict: validationWord(verdict) });
  }

  refused(queue: QueueName, ownShare: boolean): void {
    this.#events.refusals.inc({ queue, own_share: ownShare ? 'yes' : 'no' });
  }

  waited(queue: QueueName, ms: number): void {
    this.#events.waits.observe({ queue }, ms / SECOND_MS);
  }

  batchSent(tasks: number): void {
    this.#events.batches.observe(tasks);
  }

  committed(ms: number, succeeded: boolean): void {
    this.#events.commits.observe({ result: succeeded ? 'ok' : 'failed' }, ms / SECOND_MS);
  }

  suiteJobDone(ms: number, { streams, streamsPassed }: StreamCounts): void {
    this.#events.suiteJobs.observe(ms / SECOND_MS);
    this.#events.streams.inc({ result: 'passed' }, streamsPassed);
    this.#events.streams.inc({ result: 'failed' }, streams - streamsPassed);
  }

  plainEvidenceGathered(passed: boolean): void {
    this.#events.plainEvidence.inc({ result: passed ? 'passed' : 'failed' });
  }

  /** Adds a constant 1 whose labels hold the information. */
  #addInfo({ name, help, labelNames = [] }: MetricTexts, labels: Record<string, string>): void {
    new Gauge({ registers: [this.#registry], name, help, labelNames }).set(labels, 1);
  }

  /** Creates series at zero, so that `rate()` sees their first event. */
  #startAtZero(sources: readonly SourceName[]): void {
    for (const code of Object.keys(ERRORS)) this.#events.problems.inc({ code }, 0);
    for (const reason of HANDSHAKE_FAILURES) this.#events.handshakeFailures.inc({ reason }, 0);
    for (const verdict of VALIDATION_WORDS) this.#events.validations.inc({ verdict }, 0);
    for (const { name: suite } of SEAL_SUITES) this.#events.sealedKeys.inc({ suite }, 0);
    for (const queue of QUEUE_NAMES) {
      for (const own_share of ['yes', 'no']) this.#events.refusals.inc({ queue, own_share }, 0);
    }
    for (const queue of ['keys', 'suite']) this.#events.waits.zero({ queue });
    for (const result of ['ok', 'failed']) this.#events.commits.zero({ result });
    for (const result of ['passed', 'failed']) {
      this.#events.streams.inc({ result }, 0);
      this.#events.plainEvidence.inc({ result }, 0);
    }
    for (const source of sources) {
      for (const kind of SOURCE_EVENTS) this.#events.sourceEvents.inc({ source, kind }, 0);
      for (const security_level of SECURITY_LEVELS)
        for (const modulation of MODULATION_TYPES)
          for (const validated of ['true', 'false'])
            this.#events.keys.inc({ security_level, source, modulation, validated }, 0);
    }
  }
}
