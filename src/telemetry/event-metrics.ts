/**
 * Metrics of events, counted and timed as they happen. To add one, define it here and count it in `ServiceMetrics`.
 * Metrics of state are in `scrape-metrics.ts`.
 */
import { Counter, Histogram, type Registry } from '@prometheus-io/client';

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

/** Registers one metric for each kind of event. */
export function defineEventMetrics(registry: Registry) {
  const registers = [registry];
  return {
    requests: new Histogram({
      registers,
      name: 'phm_http_request_duration_seconds',
      help: 'Time from the headers of a request to the end of its answer',
      // `own_share` only on refusals of a caller that fills its own share of a queue: series that hardly any server has.
      labelNames: ['method', 'route', 'status', 'own_share'],
      buckets: REQUEST_BUCKETS,
    }),
    plainKeys: new Histogram({
      registers,
      name: 'phm_plain_key_duration_seconds',
      help: 'Time of a request whose answer is one plain key, without validation and without a receipt',
      buckets: REQUEST_BUCKETS,
    }),
    problems: new Counter({
      registers,
      name: 'phm_problems_total',
      help: 'Problem answers, by code',
      labelNames: ['code'],
    }),
    keys: new Counter({
      registers,
      name: 'phm_keys_generated_total',
      help: 'Keys recorded and released',
      labelNames: ['security_level', 'source', 'modulation', 'validated'],
    }),
    sealedKeys: new Counter({
      registers,
      name: 'phm_keys_sealed_total',
      help: 'Keys recorded and released that were sealed to a recipient, by suite',
      labelNames: ['suite'],
    }),
    batchRequests: new Histogram({
      registers,
      name: 'phm_batch_request_keys',
      help: 'Keys of a batch that a request asked for and got',
      buckets: BATCH_REQUEST_BUCKETS,
    }),
    replays: new Counter({
      registers,
      name: 'phm_idempotent_replays_total',
      help: 'Requests whose Idempotency-Key had an answer, so that they made no key',
    }),
    validations: new Counter({
      registers,
      name: 'phm_validations_total',
      help: 'Validated keys, by verdict',
      labelNames: ['verdict'],
    }),
    streams: new Counter({
      registers,
      name: 'phm_streams_judged_total',
      help: 'Streams judged by the statistical suite',
      labelNames: ['result'],
    }),
    refusals: new Counter({
      registers,
      name: 'phm_queue_refusals_total',
      help: 'Requests answered "overloaded" because a queue, or the own share of an account or address, was full',
      labelNames: ['queue', 'own_share'],
    }),
    waits: new Histogram({
      registers,
      name: 'phm_queue_wait_seconds',
      help: 'Time that work waited in a queue before a worker started it',
      labelNames: ['queue'],
      buckets: WAIT_BUCKETS,
    }),
    batches: new Histogram({
      registers,
      name: 'phm_batch_tasks',
      help: 'Tasks sent to the key worker together',
      buckets: BATCH_BUCKETS,
    }),
    commits: new Histogram({
      registers,
      name: 'phm_commit_duration_seconds',
      help: 'Duration of a ledger transaction, measured in the key worker',
      labelNames: ['result'],
      buckets: COMMIT_BUCKETS,
    }),
    suiteJobs: new Histogram({
      registers,
      name: 'phm_suite_job_duration_seconds',
      help: 'Time of a suite worker for one job: a key, or some keys of a batch',
      buckets: SUITE_BUCKETS,
    }),
    plainEvidence: new Counter({
      registers,
      name: 'phm_plain_generator_judgements_total',
      help: 'Samples of the generator of plain keys judged by the whole suite',
      labelNames: ['result'],
    }),
    sourceEvents: new Counter({
      registers,
      name: 'phm_entropy_source_events_total',
      help: 'Changes of state of sources that are read in the background',
      labelNames: ['source', 'kind'],
    }),
    upkeepFailures: new Counter({
      registers,
      name: 'phm_ledger_upkeep_failures_total',
      help: 'Failures of the daily upkeep of the ledger',
    }),
    damageFound: new Counter({
      registers,
      name: 'phm_ledger_damage_found_total',
      help: 'Checks by the running server that found its SQLite database damaged',
    }),
    addressRefusals: new Counter({
      registers,
      name: 'phm_address_refusals_total',
      help: 'Requests without a valid API key answered 429 because of their address',
    }),
    handshakeFailures: new Counter({
      registers,
      name: 'phm_tls_handshake_failures_total',
      help: 'Failed TLS handshakes, by reason',
      labelNames: ['reason'],
    }),
    logLinesLeftOut: new Counter({
      registers,
      name: 'phm_log_lines_left_out_total',
      help: 'Log lines counted instead of written: of requests without a valid API key, and of failed handshakes',
    }),
  };
}

export type EventMetrics = ReturnType<typeof defineEventMetrics>;
