/** Metrics of state, read at each scrape: queues, generators, sources, the ledger. */
import type { Registry } from '@prometheus-io/client';
import { SECOND_MS } from '../clock.ts';
import { SOURCE_STATES, type SourceStatus } from '../entropy/index.ts';
import { LATCH_TESTS } from '../keys/index.ts';
import { type ClockReading, isUrgent } from '../ledger/index.ts';
import type { LogStatus, Readiness, ServiceLoad } from '../service/index.ts';
import { addDefinitions, type Definition, one, type Sample } from './definition.ts';
import { logMetrics } from './log-metrics.ts';
import { type Resources, resourceMetrics } from './resource-metrics.ts';

/** Readers of the server's state. Each is called at every scrape. */
export interface ServerState {
  readonly load: () => ServiceLoad;
  readonly readiness: () => Readiness;
  /** State of the transparency log. */
  readonly log: () => LogStatus;
  /** Null before the first reading. */
  readonly clock: () => ClockReading | null;
  /** Hosts in the address of PostgreSQL, and the one in use. */
  readonly databaseHosts: readonly string[];
  readonly databaseHost: () => string | null;
  /** Days that ledger rows are kept; null for ever. */
  readonly retentionDays: number | null;
  readonly isDraining: () => boolean;
  readonly connections: () => ConnectionCounts;
  /** Log lines that could not be written. */
  readonly lostLogLines: () => number;
  readonly resources: Resources;
}

/** Connections of the listener. `answered`, `dropped` and `displaced` count since startup. */
export interface ConnectionCounts {
  readonly max: number;
  readonly active: number;
  readonly idle: number;
  readonly waiting: number;
  readonly answered: number;
  readonly dropped: number;
  readonly displaced: number;
}

/** Returns no series while the value is unknown. */
const optional = <T>(known: T | null, valueIn: (known: T) => number | boolean) =>
  known === null ? [] : one(valueIn(known));

/** Registers the metrics. */
export function addScrapeMetrics(registry: Registry, state: ServerState): void {
  addDefinitions(registry, scrapeMetrics(state));
}

export function scrapeMetrics(state: ServerState): Definition[] {
  const { load, readiness, clock, isDraining, connections, lostLogLines } = state;
  return [
    {
      type: 'gauge',
      name: 'phm_ready',
      help: '1 while /readyz answers 200',
      meaning: '1 while `/readyz` answers 200',
      read: () => one(readiness().ready && !isDraining()),
    },
    {
      type: 'gauge',
      name: 'phm_draining',
      panel: false,
      help: '1 while the server is shutting down',
      read: () => one(isDraining()),
    },
    {
      type: 'gauge',
      name: 'phm_ledger_up',
      help: '1 while the ledger can be read and written',
      read: () => one(readiness().ledger),
    },
    {
      type: 'gauge',
      name: 'phm_ledger_foreign',
      help: '1 while the address of the database leads to another ledger than the one that this server started with',
      meaning:
        '1 while the address of the database leads to [another ledger](ledger.md#one-ledger)',
      read: () => one(!readiness().ownLedger),
    },
    {
      type: 'gauge',
      name: 'phm_database_host',
      panel: false,
      help: '1 for the host of PostgreSQL in use, 0 for the others of its address. With SQLite it has no series',
      meaning:
        '1 for the host of [PostgreSQL](ledger.md#several-hosts) in use, 0 for the others of its address; changes within two seconds. Absent with SQLite',
      labelNames: ['host'],
      read: () => {
        const used = state.databaseHost();
        return [...new Set(state.databaseHosts)].map((host) => [{ host }, Number(host === used)]);
      },
    },
    {
      type: 'gauge',
      name: 'phm_clock_skew_seconds',
      help: "Seconds that this machine's clock is ahead of the database's clock (SQLite, while in doubt: of the newest row)",
      meaning:
        "Server clock ahead of the database's; SQLite: 0, or the distance while in doubt. Absent until compared",
      read: () => optional(clock(), ({ skewMs }) => skewMs / SECOND_MS),
    },
    {
      type: 'gauge',
      name: 'phm_clock_believed',
      help: "0 while this machine's clock is in doubt. With SQLite and no retention, 1 if it is only ahead of the newest row",
      meaning:
        '0 while the clock is in [doubt](incidents.md#a-wrong-clock); on SQLite without retention only if it is behind. Absent until compared',
      read: () => optional(clock(), (reading) => !isUrgent(reading, state.retentionDays)),
    },
    {
      type: 'gauge',
      name: 'phm_master_secret_complete',
      help: '0 if another server generates keys under a version of the master secret that is missing here',
      read: () => one(readiness().secret !== 'incomplete'),
    },
    {
      type: 'gauge',
      name: 'phm_master_secret_retired',
      help: '1 while the current version of the master secret is retired',
      read: () => one(readiness().secret === 'retired'),
    },
    {
      type: 'gauge',
      name: 'phm_entropy_ready',
      panel: false,
      help: '1 while the required sources deliver and the generators are in service',
      meaning: 'Check `entropy` of `/readyz`',
      read: () => one(readiness().entropy),
    },
    ...resourceMetrics(state.resources),
    ...logMetrics(state.log),
    ...connectionMetrics(connections),
    ...loadMetrics(load),
    ...latchMetrics(load, readiness),
    ...sourceMetrics(() => readiness().sources),
    {
      type: 'counter',
      name: 'phm_log_lines_lost_total',
      help: 'Log lines that could not be written',
      read: () => one(lostLogLines()),
    },
  ];
}

function connectionMetrics(counts: () => ConnectionCounts): Definition[] {
  return [
    {
      type: 'gauge',
      name: 'phm_http_connections',
      help: 'Open connections: active and idle ones have a place, waiting ones have none',
      meaning:
        '[Connections](operations.md#connections): `active`, `idle`, `waiting` without a place',
      labelNames: ['state'],
      read: () => {
        const { active, idle, waiting } = counts();
        return Object.entries({ active, idle, waiting }).map(([state, n]) => [{ state }, n]);
      },
    },
    {
      type: 'gauge',
      name: 'phm_http_connections_max',
      help: 'Places for connections: PHM_MAX_CONNECTIONS, or fewer if the limit of open files is too low',
      meaning:
        'Places for connections: [`PHM_MAX_CONNECTIONS`](operations.md#connections), or fewer if the limit of open files is too low',
      read: () => one(counts().max),
    },
    {
      type: 'counter',
      name: 'phm_http_connections_refused_total',
      help: 'Connections without a place: answered with 503, or dropped before their first request',
      meaning:
        'Connections without a place: `answered` with 503, or `dropped` before their first request',
      labelNames: ['how'],
      read: () => {
        const { answered, dropped } = counts();
        return Object.entries({ answered, dropped }).map(([how, n]) => [{ how }, n]);
      },
    },
    {
      type: 'counter',
      name: 'phm_http_connections_displaced_total',
      help: 'Idle connections closed to give their place to another one',
      read: () => one(counts().displaced),
    },
  ];
}

function loadMetrics(load: () => ServiceLoad): Definition[] {
  return [
    {
      type: 'gauge',
      name: 'phm_queue_waiting',
      help: 'Work waiting in a queue',
      meaning:
        'Work in `keys`, `suite` (single keys; four sealed ones without validation count as one), `batches` (in jobs of 5 ms), `lookups` (unknown API keys), `activity`, `statistics`, `long_polls` ([lists that wait](deliveries.md#lists-that-wait)), `log`',
      labelNames: ['queue'],
      read: () => load().queues.map(({ name, waiting }) => [{ queue: name }, waiting]),
    },
    {
      type: 'gauge',
      name: 'phm_queue_capacity',
      help: 'Work that a queue accepts before requests are answered "overloaded"',
      meaning:
        'Work that a queue accepts before requests get `overloaded`; 0 for `suite` and `batches` when latched',
      labelNames: ['queue'],
      read: () => load().queues.map(({ name, capacity }) => [{ queue: name }, capacity]),
    },
    {
      type: 'gauge',
      name: 'phm_generators',
      help: 'Random bit generators: one in the key worker, one in each suite worker',
      meaning: 'Key worker plus suite workers that have passed their self-tests',
      read: () => one(load().generators),
    },
    {
      type: 'counter',
      name: 'phm_drbg_reseeds_total',
      help: 'Reseeds of all generators',
      read: () => one(load().reseeds),
    },
  ];
}

/** The latch stops all generators of the process at once and names the test that found the defect. */
function latchMetrics(
  load: ServerState['load'],
  readiness: ServerState['readiness'],
): Definition[] {
  return [
    {
      type: 'gauge',
      name: 'phm_generator_latched',
      help: '1 for the test that stopped key generation in this process, 0 for the others',
      labelNames: ['cause', 'test'],
      read: () => {
        const { latched } = readiness();
        const names = Object.entries(LATCH_TESTS).flatMap(([cause, tests]) =>
          tests.map((test): Sample => [{ cause, test }, 0]),
        );
        return latched
          ? [...names, [{ cause: latched.cause, test: latched.test }, 1] as const]
          : names;
      },
    },
    {
      type: 'counter',
      name: 'phm_generator_latches_total',
      help: 'Latched generators: none or all',
      read: () => one(readiness().latched ? load().generators : 0),
    },
  ];
}

function sourceMetrics(sources: () => readonly SourceStatus[]): Definition[] {
  const pools = () =>
    sources().flatMap(({ name, pool }) => (pool ? [{ source: name as string, ...pool }] : []));
  return [
    {
      type: 'gauge',
      name: 'phm_entropy_source_healthy',
      panel: false,
      help: '1 while a source can serve requests',
      meaning: 'Check `entropy:<source>` of `/readyz`',
      labelNames: ['source'],
      read: () => sources().map(({ name, healthy }) => [{ source: name }, Number(healthy)]),
    },
    {
      type: 'gauge',
      name: 'phm_entropy_source_state',
      help: '1 for the current state of a source, 0 for the others',
      meaning: '1 for `starting`, `delivering`, `failing`, `latched` or `closed`',
      labelNames: ['source', 'state'],
      read: () =>
        sources().flatMap((source) =>
          SOURCE_STATES.map(
            (state): Sample => [{ source: source.name, state }, Number(source.state === state)],
          ),
        ),
    },
    {
      type: 'counter',
      name: 'phm_entropy_source_draws_total',
      help: 'Draws that generators took from a source',
      labelNames: ['source'],
      read: () => sources().map(({ name, draws }) => [{ source: name }, draws]),
    },
    {
      type: 'counter',
      name: 'phm_entropy_source_failures_total',
      help: 'Failed reads and health tests of a source',
      labelNames: ['source'],
      read: () => sources().map(({ name, failures }) => [{ source: name }, failures]),
    },
    {
      type: 'gauge',
      name: 'phm_entropy_pool_draws',
      help: 'Draws waiting in the pool of a source',
      meaning: 'Draws in the pool of a background source; absent for others',
      labelNames: ['source'],
      read: () => pools().map(({ source, waiting }) => [{ source }, waiting]),
    },
    {
      type: 'gauge',
      name: 'phm_entropy_pool_capacity',
      help: "Capacity of a source's pool, in draws",
      labelNames: ['source'],
      read: () => pools().map(({ source, capacity }) => [{ source }, capacity]),
    },
  ];
}
