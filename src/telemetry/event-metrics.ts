/**
 * Metrics of events, counted and timed as they happen. To add one, define it and count it here.
 * Metrics of state are in `scrape-metrics.ts`.
 */
import { Counter, Histogram, type Registry } from '@prometheus-io/client';
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
import { type KeyObserver, QUEUE_NAMES, type QueueName } from '../service/index.ts';
import type { MetricTexts } from './definition.ts';
import { METHODS } from './methods.ts';

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

/** Bounds in seconds, from a single plain key on an idle server to the longest time that a request may take. */
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
/** Numbers of keys, up to the largest batch that a request may ask for. */
const BATCH_REQUEST_BUCKETS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];

/** One metric for each kind of event. */
export const EVENT_METRICS = {
  requests: {
    type: 'histogram',
    name: 'phm_http_request_duration_seconds',
    help: 'Time from the headers of a request to the end of its answer',
    meaning:
      'Headers to end of answer; `status` is a class such as `2xx`. `own_share` is `yes` on 503 to a caller that fills its [own share](#service-levels) of a queue, and absent on all other answers',
    // `own_share` only on refusals of a caller that fills its own share of a queue: series that hardly any server has.
    labelNames: ['method', 'route', 'status', 'own_share'],
    buckets: REQUEST_BUCKETS,
  },
  plainKeys: {
    type: 'histogram',
    name: 'phm_plain_key_duration_seconds',
    help: 'Time of a request whose answer is one plain key, without validation and without a receipt',
    buckets: REQUEST_BUCKETS,
  },
  problems: {
    type: 'counter',
    name: 'phm_problems_total',
    help: 'Problem answers, by code',
    meaning: 'Problem answers, by [code](errors.md)',
    labelNames: ['code'],
  },
  keys: {
    type: 'counter',
    name: 'phm_keys_generated_total',
    help: 'Keys recorded and released',
    labelNames: ['security_level', 'source', 'modulation', 'validated'],
  },
  sealedKeys: {
    type: 'counter',
    name: 'phm_keys_sealed_total',
    help: 'Sealed keys released, one for each recipient of a key, by suite',
    meaning: '[Sealed keys](sealing.md) released, one for each recipient of a key',
    labelNames: ['suite'],
  },
  batchRequests: {
    type: 'histogram',
    name: 'phm_batch_request_keys',
    help: 'Keys of a batch that a request asked for and got',
    meaning: 'Keys of the [batches](api.md#batches) that requests got',
    buckets: BATCH_REQUEST_BUCKETS,
  },
  replays: {
    type: 'counter',
    name: 'phm_idempotent_replays_total',
    help: 'Requests whose Idempotency-Key had an answer, so that they made no key',
    meaning: '[Retries](api.md#safe-retry) that made no second key',
  },
  validations: {
    type: 'counter',
    name: 'phm_validations_total',
    help: 'Validated keys, by verdict',
    meaning:
      '`valid`, `malformed`, `not_random` (failed an exact test), `not_recognised`, `unconfirmed` ([retired version](operations.md#the-master-secret-leaked)), `deactivated`, `compromised` ([states of keys](ledger.md#states-of-keys))',
    labelNames: ['verdict'],
  },
  streams: {
    type: 'counter',
    name: 'phm_streams_judged_total',
    help: 'Streams judged by the statistical suite',
    meaning: 'Streams of validated keys: `passed`, `failed`',
    labelNames: ['result'],
  },
  refusals: {
    type: 'counter',
    name: 'phm_queue_refusals_total',
    help: 'Requests answered "overloaded" because a queue, or the own share of an account or address, was full',
    meaning:
      '`overloaded`: the queue is full (`no`), or the [share](#service-levels) of this caller (`yes`)',
    labelNames: ['queue', 'own_share'],
  },
  waits: {
    type: 'histogram',
    name: 'phm_queue_wait_seconds',
    help: 'Time that work waited in a queue before a worker started it',
    meaning: 'Time in `keys` or `suite` before a worker began',
    labelNames: ['queue'],
    buckets: WAIT_BUCKETS,
  },
  batches: {
    type: 'histogram',
    name: 'phm_batch_tasks',
    help: 'Tasks sent to the key worker together',
    buckets: BATCH_BUCKETS,
  },
  commits: {
    type: 'histogram',
    name: 'phm_commit_duration_seconds',
    help: 'Duration of a ledger transaction, measured in the key worker',
    meaning: 'Ledger transactions, `ok` or `failed`, measured in the key worker',
    labelNames: ['result'],
    buckets: COMMIT_BUCKETS,
  },
  suiteJobs: {
    type: 'histogram',
    name: 'phm_suite_job_duration_seconds',
    help: 'Time of a suite worker for one job: a key, or some keys of a batch',
    buckets: SUITE_BUCKETS,
  },
  plainEvidence: {
    type: 'counter',
    name: 'phm_plain_generator_judgements_total',
    help: 'Samples of the generator of plain keys judged by the whole suite',
    meaning: 'Samples of the generator of plain keys: `passed`, `failed`',
    labelNames: ['result'],
  },
  sourceEvents: {
    type: 'counter',
    name: 'phm_entropy_source_events_total',
    help: 'Changes of state of sources that are read in the background',
    meaning: '`entropy source: …` log lines',
    labelNames: ['source', 'kind'],
  },
  upkeepFailures: {
    type: 'counter',
    name: 'phm_ledger_upkeep_failures_total',
    help: 'Failures of the daily upkeep of the ledger',
  },
  damageFound: {
    type: 'counter',
    name: 'phm_ledger_damage_found_total',
    help: 'Checks by the running server that found its SQLite database damaged',
    meaning: 'Checks by the running server that found [damage](incidents.md#a-damaged-database)',
  },
  addressRefusals: {
    type: 'counter',
    name: 'phm_address_refusals_total',
    help: 'Requests without a valid API key answered 429 because of their address',
    meaning: '429 for [an address](api.md#limits) without a valid API key',
  },
  handshakeFailures: {
    type: 'counter',
    name: 'phm_tls_handshake_failures_total',
    help: 'Failed TLS handshakes, by reason',
    meaning:
      'Failed TLS handshakes, by [reason](incidents.md#tls-handshakes-that-fail), and `incomplete`',
    labelNames: ['reason'],
  },
  logLinesLeftOut: {
    type: 'counter',
    name: 'phm_log_lines_left_out_total',
    help: 'Log lines counted instead of written: of requests without a valid API key, and of failed handshakes',
    meaning: 'Log lines [counted instead of written](#logs)',
  },
} as const satisfies Record<string, EventMetric>;

type EventMetric = MetricTexts &
  (
    | { readonly type: 'counter' }
    | { readonly type: 'histogram'; readonly buckets: readonly number[] }
  );

type LabelsOf<Row> = Row extends { labelNames: readonly (infer Label extends string)[] }
  ? Label
  : never;

type MetricOf<Row> = Row extends { type: 'histogram' }
  ? Histogram<LabelsOf<Row>>
  : Counter<LabelsOf<Row>>;

type EventMetrics = {
  readonly [Event in keyof typeof EVENT_METRICS]: MetricOf<(typeof EVENT_METRICS)[Event]>;
};

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

/** Counts and times events. The series of all labels that a table names exist from the start, at zero. */
export class CountedEvents implements KeyObserver {
  readonly #events: EventMetrics;

  constructor(registry: Registry, sources: readonly SourceName[]) {
    this.#events = defineEventMetrics(registry);
    this.#startAtZero(sources);
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

/** Registers the metrics of events. */
function defineEventMetrics(registry: Registry): EventMetrics {
  const metrics = Object.entries<EventMetric>(EVENT_METRICS).map(([event, row]) => {
    const { name, help, labelNames = [] } = row;
    const common = { registers: [registry], name, help, labelNames };
    const metric =
      row.type === 'counter'
        ? new Counter(common)
        : new Histogram({ ...common, buckets: [...row.buckets] });
    return [event, metric];
  });
  return Object.fromEntries(metrics) as EventMetrics;
}
