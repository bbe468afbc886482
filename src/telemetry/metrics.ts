/**
 * The metrics of one server, for Prometheus. What happens is counted as it happens; what is (queues,
 * sources, the ledger) is read when somebody scrapes.
 *
 * Labels come from tables of the code alone: never an account, an API key, a key id, an address or
 * anything else of a client. Series that a table names exist from the start, at zero.
 */

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
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
import { type KeyObserver, QUEUE_NAMES, type QueueName } from '../service/index.ts';
import { PROJECT_VERSION } from '../version.ts';
import { METHODS } from './methods.ts';
import { addStateMetrics, type ServerState } from './state.ts';

/** Seconds: from a plain key without company to the longest a request may take. */
const REQUEST_BUCKETS = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
];
const COMMIT_BUCKETS = [
  0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5,
];
const SUITE_BUCKETS = [0.001, 0.0025, 0.005, 0.0075, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];
const WAIT_BUCKETS = [
  0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
];
const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

const STATUS_CLASSES = ['2xx', '4xx', '5xx'];

/** Why TLS handshakes fail. */
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

/** The library's own metrics that break the naming rules: gauges that end in `_total`. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/** A request that was answered. `route` is a route's template; undefined when there is none. */
export interface AnsweredRequest {
  readonly method: string;
  readonly route: string | undefined;
  readonly status: number;
  readonly ms: number;
}

export interface MetricsOptions {
  /** Sources that a request may name. */
  readonly sources: readonly SourceName[];
  readonly ledgerBackend: 'sqlite' | 'postgresql';
}

export class ServiceMetrics implements KeyObserver {
  readonly #registry = new Registry();
  readonly #requests: Histogram<'method' | 'route' | 'status'>;
  readonly #problems: Counter<'code'>;
  readonly #keys: Counter<'security_level' | 'source' | 'modulation' | 'validated'>;
  readonly #validations: Counter<'verdict'>;
  readonly #streams: Counter<'result'>;
  readonly #refusals: Counter<'queue'>;
  readonly #waits: Histogram<'queue'>;
  readonly #batches: Histogram;
  readonly #commits: Histogram<'result'>;
  readonly #suiteJobs: Histogram;
  readonly #plainEvidence: Counter<'result'>;
  readonly #sourceEvents: Counter<'source' | 'kind'>;
  readonly #upkeepFailures: Counter;
  readonly #damageFound: Counter;
  readonly #addressRefusals: Counter;
  readonly #handshakeFailures: Counter<'reason'>;
  readonly #logLinesLeftOut: Counter;

  constructor({ sources, ledgerBackend }: MetricsOptions) {
    const registers = [this.#registry];
    collectDefaultMetrics({ register: this.#registry });
    for (const name of MISNAMED) this.#registry.removeSingleMetric(name);
    this.#requests = new Histogram({
      registers,
      name: 'phm_http_request_duration_seconds',
      help: 'Time from the first byte of a request to the end of its answer',
      labelNames: ['method', 'route', 'status'],
      buckets: REQUEST_BUCKETS,
    });
    this.#problems = new Counter({
      registers,
      name: 'phm_problems_total',
      help: 'Answers that were a problem, by its code',
      labelNames: ['code'],
    });
    this.#keys = new Counter({
      registers,
      name: 'phm_keys_generated_total',
      help: 'Keys that were recorded and released',
      labelNames: ['security_level', 'source', 'modulation', 'validated'],
    });
    this.#validations = new Counter({
      registers,
      name: 'phm_validations_total',
      help: 'Keys that were validated, by the verdict',
      labelNames: ['verdict'],
    });
    this.#streams = new Counter({
      registers,
      name: 'phm_streams_judged_total',
      help: 'Streams that the statistical suite judged',
      labelNames: ['result'],
    });
    this.#refusals = new Counter({
      registers,
      name: 'phm_queue_refusals_total',
      help: 'Requests that were answered "overloaded" because a queue, or their account\'s share of it, was full',
      labelNames: ['queue'],
    });
    this.#waits = new Histogram({
      registers,
      name: 'phm_queue_wait_seconds',
      help: 'Time that work stood in a queue before a worker got it',
      labelNames: ['queue'],
      buckets: WAIT_BUCKETS,
    });
    this.#batches = new Histogram({
      registers,
      name: 'phm_batch_tasks',
      help: 'Tasks that went to the key worker together',
      buckets: BATCH_BUCKETS,
    });
    this.#commits = new Histogram({
      registers,
      name: 'phm_commit_duration_seconds',
      help: 'Time of a transaction of the ledger, as the key worker measures it',
      labelNames: ['result'],
      buckets: COMMIT_BUCKETS,
    });
    this.#suiteJobs = new Histogram({
      registers,
      name: 'phm_suite_job_duration_seconds',
      help: 'Time of a suite worker for one validated key: seed, sample, 15 tests, key, proof',
      buckets: SUITE_BUCKETS,
    });
    this.#plainEvidence = new Counter({
      registers,
      name: 'phm_plain_generator_judgements_total',
      help: 'Samples of the generator of plain keys that the whole suite judged',
      labelNames: ['result'],
    });
    this.#sourceEvents = new Counter({
      registers,
      name: 'phm_entropy_source_events_total',
      help: 'What happened to sources that are read in the background',
      labelNames: ['source', 'kind'],
    });
    this.#upkeepFailures = new Counter({
      registers,
      name: 'phm_ledger_upkeep_failures_total',
      help: 'Failures of the daily upkeep of the ledger',
    });
    this.#damageFound = new Counter({
      registers,
      name: 'phm_ledger_damage_found_total',
      help: 'Checks of a running server that found its SQLite database damaged',
    });
    this.#addressRefusals = new Counter({
      registers,
      name: 'phm_address_refusals_total',
      help: 'Requests without a valid API key that were answered 429 because of their address',
    });
    this.#handshakeFailures = new Counter({
      registers,
      name: 'phm_tls_handshake_failures_total',
      help: 'TLS handshakes that failed, by the reason',
      labelNames: ['reason'],
    });
    this.#logLinesLeftOut = new Counter({
      registers,
      name: 'phm_log_lines_left_out_total',
      help: 'Log lines of requests without a valid API key, and of failed handshakes, that were counted instead of written',
    });
    this.#addInfo('phm_build_info', 'The release and what it runs on', {
      version: PROJECT_VERSION,
      node: process.version,
    });
    this.#addInfo('phm_ledger_info', 'Where the ledger is', { backend: ledgerBackend });
    this.#startAtZero(sources);
  }

  /** The media type of `expose`. */
  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Every metric, in Prometheus' text format. */
  expose(): Promise<string> {
    return this.#registry.metrics();
  }

  /** Adds what is read at a scrape. To be called once, when the service runs. */
  watch(state: ServerState): void {
    addStateMetrics(this.#registry, state);
  }

  /** Has a route's series exist before its first request. */
  routeAdded(method: string, route: string): void {
    for (const status of STATUS_CLASSES) this.#requests.zero({ method, route, status });
  }

  answered({ method, route = 'unknown', status, ms }: AnsweredRequest): void {
    this.#requests.observe(
      {
        method: METHODS.includes(method) ? method : 'other',
        route,
        status: `${Math.floor(status / 100)}xx`,
      },
      ms / SECOND_MS,
    );
  }

  problem(code: ErrorCode): void {
    this.#problems.inc({ code });
  }

  sourceEvent(source: SourceName, { kind }: SourceEvent): void {
    this.#sourceEvents.inc({ source, kind });
  }

  addressLimited(): void {
    this.#addressRefusals.inc();
  }

  handshakeFailed(reason: HandshakeFailure): void {
    this.#handshakeFailures.inc({ reason });
  }

  logLineLeftOut(): void {
    this.#logLinesLeftOut.inc();
  }

  upkeepFailed(): void {
    this.#upkeepFailures.inc();
  }

  /** A check has found the database damaged. */
  damageFound(): void {
    this.#damageFound.inc();
  }

  keyGenerated({ securityLevel, source, modulation, withEvidence }: KeyOrder): void {
    this.#keys.inc({
      security_level: securityLevel,
      source,
      modulation,
      validated: String(withEvidence),
    });
  }

  keyValidated(verdict: ValidationVerdict): void {
    this.#validations.inc({ verdict: validationWord(verdict) });
  }

  refused(queue: QueueName): void {
    this.#refusals.inc({ queue });
  }

  waited(queue: QueueName, ms: number): void {
    this.#waits.observe({ queue }, ms / SECOND_MS);
  }

  batchSent(tasks: number): void {
    this.#batches.observe(tasks);
  }

  committed(ms: number, succeeded: boolean): void {
    this.#commits.observe({ result: succeeded ? 'ok' : 'failed' }, ms / SECOND_MS);
  }

  suiteJobDone(ms: number, { streams, streamsPassed }: StreamCounts): void {
    this.#suiteJobs.observe(ms / SECOND_MS);
    this.#streams.inc({ result: 'passed' }, streamsPassed);
    this.#streams.inc({ result: 'failed' }, streams - streamsPassed);
  }

  plainEvidenceGathered(passed: boolean): void {
    this.#plainEvidence.inc({ result: passed ? 'passed' : 'failed' });
  }

  /** A constant whose labels tell something. */
  #addInfo(name: string, help: string, labels: Record<string, string>): void {
    const labelNames = Object.keys(labels);
    new Gauge({ registers: [this.#registry], name, help, labelNames }).set(labels, 1);
  }

  /** A rate from the first event on needs the series before it. */
  #startAtZero(sources: readonly SourceName[]): void {
    for (const code of Object.keys(ERRORS)) this.#problems.inc({ code }, 0);
    for (const reason of HANDSHAKE_FAILURES) this.#handshakeFailures.inc({ reason }, 0);
    for (const verdict of VALIDATION_WORDS) this.#validations.inc({ verdict }, 0);
    for (const queue of QUEUE_NAMES) this.#refusals.inc({ queue }, 0);
    for (const queue of ['keys', 'suite']) this.#waits.zero({ queue });
    for (const result of ['ok', 'failed']) this.#commits.zero({ result });
    for (const result of ['passed', 'failed']) {
      this.#streams.inc({ result }, 0);
      this.#plainEvidence.inc({ result }, 0);
    }
    for (const source of sources) {
      for (const kind of SOURCE_EVENTS) this.#sourceEvents.inc({ source, kind }, 0);
      for (const security_level of SECURITY_LEVELS)
        for (const modulation of MODULATION_TYPES)
          for (const validated of ['true', 'false'])
            this.#keys.inc({ security_level, source, modulation, validated }, 0);
    }
  }
}
