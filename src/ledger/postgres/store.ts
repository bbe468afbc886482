/** The store for several servers: one PostgreSQL database. */
import type pg from 'pg';
import { concatBytes } from '../../bytes.ts';
import { type Clock, HOUR_MS, MINUTE_MS } from '../../clock.ts';
import { SetupError } from '../../errors.ts';
import type { Commitment } from '../../proof/index.ts';
import { type ClockReading, DEFAULT_MAX_SKEW_MS } from '../clock-check.ts';
import { type Candidate, rowMadeMs } from '../commitments.ts';
import type {
  CopyOrder,
  CopyPage,
  CopyQuery,
  DeliveryQuery,
  DeliveryRecord,
  DeliveryRefusal,
  TakenCopy,
  WaitingQuery,
  WithdrawnDeliveries,
} from '../deliveries.ts';
import type { LedgerIdentity } from '../identity.ts';
import { toKeyEvidence } from '../key-evidence.ts';
import type {
  AuditedRevocation,
  KeyPage,
  KeyQuery,
  KeyRecord,
  KeyState,
  KeyStateRecord,
  RevocationOutcome,
} from '../key-records.ts';
import {
  type Migration,
  newerSchemaWarning,
  newestVersion,
  readMigrations,
  type SchemaChange,
} from '../migrations.ts';
import type { Quotas } from '../quota-decision.ts';
import { RECORDED_KEY_COLUMNS, type RecordedKey, toRecordedKey } from '../recorded-key.ts';
import { splitPeriod } from '../rollup.ts';
import { type SumsRow, seriesSource, toSeries } from '../series.ts';
import type {
  AccountActivity,
  AnswerQuery,
  CommitOutcome,
  FailedRequest,
  KeyEvidence,
  LedgerStore,
  MeteredRequest,
  PeriodSums,
  ProbeOrder,
  PruneOrder,
  PruneReport,
  SeriesQuery,
  StoredAnswer,
  WithdrawnAnswer,
} from '../store.ts';
import { unavailable } from '../unavailable.ts';
import { completeAccountIndex } from './account-index.ts';
import { KNOWN_ANSWERS, WITHDRAWN_ANSWER } from './answers.ts';
import { CANDIDATES } from './candidates.ts';
import { databaseNowMs, readClockByDatabase } from './clock.ts';
import { MAINTENANCE_LIMITS, PostgresConnection, toBuffer } from './connection.ts';
import { PostgresDeliveries } from './deliveries.ts';
import { DisturbanceGuard, droppedRow } from './disturbances.ts';
import type { HostOptions } from './hosts.ts';
import { PostgresKeyRecords } from './key-records.ts';
import { PostgresLogStore } from './log-store.ts';
import {
  makeMonthsAhead,
  prunePostgres,
  removeExpiredAnswers,
  removeUnusedWriters,
} from './maintenance.ts';
import { expireCopies } from './old-rows.ts';
import { FSYNC_WARNING, losesCommits, migrate, requireSchema, requireServer } from './schema.ts';
import type { TimelineMemory } from './seen-timeline.ts';
import type { Limits } from './site.ts';
import { PostgresWriter } from './writer.ts';

interface PostgresStoreOptions extends HostOptions {
  /** `postgres://user:password@host:port/database`. The password never leaves this module. */
  readonly url: string;
  /** Monthly quota by plan name; null is unlimited. */
  readonly quotas: Quotas;
  /** Limit of the skew between a server's clock and the database's, 60 s by default. */
  readonly maxClockSkewMs?: number;
  /** Time limits of work, those of requests by default. */
  readonly limits?: Limits;
  /** The migrations that the schema must consist of; by default all that this program knows. */
  readonly migrations?: readonly Migration[];
}

/**
 * Connects. Throws `SetupError` if the database cannot be used or this program cannot work with its schema.
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<LedgerStore> {
  const { url, limits, warn = () => {}, migrations = readMigrations('postgres') } = options;
  const prepare = async (client: pg.ClientBase) => {
    await requireServer(client);
    const newer = await requireSchema(client, migrations);
    if (newer !== null) warn(newerSchemaWarning(newer, migrations));
    if (await losesCommits(client)) warn(FSYNC_WARNING);
  };
  const guard = new DisturbanceGuard();
  const connection = await PostgresConnection.open(url, prepare, limits, { ...options, guard });
  return new PostgresStore(connection, options, newestVersion(migrations));
}

/** Migrates the schema. Throws `SetupError` if that fails. */
export async function migratePostgres(
  url: string,
  migrations: readonly Migration[] = readMigrations('postgres'),
  memory: TimelineMemory = {},
): Promise<SchemaChange> {
  let change: SchemaChange | undefined;
  const connection = await PostgresConnection.open(
    url,
    async (client) => {
      await requireServer(client);
      change = await migrate(client, migrations);
    },
    MAINTENANCE_LIMITS,
    memory,
  );
  try {
    await makeMonthsAhead(connection, await databaseNowMs(connection));
  } finally {
    await connection.close();
  }
  return change as SchemaChange;
}

/** A row with the fingerprint at this position, from 1. */
type AskedRow = Candidate & { readonly position: number };

/** Selects rows by key ID. Exported for its tests, which read its plan. */
export const RECORDED_KEYS = `
  SELECT position, found.*
  FROM unnest($1::bytea[]) WITH ORDINALITY AS asked (key_id, position)
  CROSS JOIN LATERAL (
    SELECT ${RECORDED_KEY_COLUMNS}
    FROM ledger LEFT JOIN accounts ON accounts.account_id = ledger.account_id
    WHERE ledger.key_id = asked.key_id LIMIT 1) AS found`;

class PostgresStore extends PostgresLogStore implements LedgerStore {
  readonly #options: PostgresStoreOptions;
  readonly #maxClockSkewMs: number;
  readonly #writer: PostgresWriter;
  readonly #records: PostgresKeyRecords;
  readonly #deliveries: PostgresDeliveries;

  /** `schema` is the newest version that this program knows. */
  constructor(connection: PostgresConnection, options: PostgresStoreOptions, schema: number) {
    const { quotas, maxClockSkewMs = DEFAULT_MAX_SKEW_MS } = options;
    super(connection, quotas);
    this.#options = options;
    this.#maxClockSkewMs = maxClockSkewMs;
    this.#writer = new PostgresWriter(connection, quotas, schema);
    this.#records = new PostgresKeyRecords(connection);
    this.#deliveries = new PostgresDeliveries(connection);
  }

  get host(): string | null {
    return this.connection.host;
  }

  identity(): Promise<LedgerIdentity> {
    return this.connection.guarded(() => this.connection.ledger());
  }

  commit(
    requests: readonly MeteredRequest[],
    failures: readonly FailedRequest[],
  ): Promise<CommitOutcome[]> {
    return this.#writer.commit(requests, failures);
  }

  /** Most requests are no retries. One read finds that out, so that they do not delay commits on their connection. */
  async findAnswers(queries: readonly AnswerQuery[]): Promise<(StoredAnswer | null)[]> {
    if (queries.length === 0) return [];
    const accounts = queries.map(({ accountId }) => accountId);
    const keys = queries.map(({ key }) => key);
    const rows = await this.connection.all(KNOWN_ANSWERS, accounts, keys);
    const known = rows.map(({ place }) => Number(place) - 1);
    const answers: (StoredAnswer | null)[] = queries.map(() => null);
    if (known.length === 0) return answers;
    const found = await this.#writer.confirmedAnswers(
      known.map((at) => queries[at] as AnswerQuery),
    );
    found.forEach((answer, i) => {
      answers[known[i] as number] = answer;
    });
    return answers;
  }

  async withdrawAnswer({ accountId, key, keyIds }: WithdrawnAnswer): Promise<boolean> {
    const values = [accountId, key, concatBytes(...keyIds)];
    const isRemoved = await this.connection.changes(`DELETE ${WITHDRAWN_ANSWER}`, ...values);
    if (isRemoved) return true;
    const kept = await this.connection.get(`SELECT ${WITHDRAWN_ANSWER}`, ...values);
    if (kept) throw droppedRow('idempotency');
    return false;
  }

  probe(order: ProbeOrder): Promise<boolean> {
    return this.#writer.probe(order);
  }

  async findKeys(keyIds: readonly Uint8Array[]): Promise<(RecordedKey | null)[]> {
    const rows = await this.connection.all(RECORDED_KEYS, keyIds.map(toBuffer));
    const found = new Map(rows.map((row) => [row.position, toRecordedKey(row)]));
    return keyIds.map((_, i) => found.get(i + 1) ?? null);
  }

  async findCommitments(commitments: readonly Commitment[]): Promise<(number | null)[]> {
    if (commitments.length === 0) return [];
    const fingerprints = commitments.map(({ fingerprint }) => String(fingerprint));
    const rows = await this.connection.all(CANDIDATES, fingerprints);
    const candidates = Map.groupBy(rows as unknown as AskedRow[], ({ position }) => position);
    return commitments.map((one, i) => rowMadeMs(one, candidates.get(i + 1) ?? []));
  }

  listKeys(query: KeyQuery): Promise<KeyPage> {
    return this.#records.list(query);
  }

  findKeyRecord(accountId: string, keyId: Uint8Array): Promise<KeyRecord | null> {
    return this.#records.find(accountId, keyId);
  }

  revokeKeys(revocations: readonly AuditedRevocation[]): Promise<RevocationOutcome[]> {
    return this.#records.revoke(revocations);
  }

  findStates(commitments: readonly Commitment[]): Promise<(KeyState | null)[]> {
    return this.#records.findStates(commitments);
  }

  findKeyStates(keyIds: readonly Uint8Array[]): Promise<(KeyStateRecord | null)[]> {
    return this.#records.findKeyStates(keyIds);
  }

  pageKeyStates(after: Uint8Array | null, limit: number): Promise<KeyStateRecord[]> {
    return this.#records.pageKeyStates(after, limit);
  }

  findDeliveryRefusal(query: DeliveryQuery): Promise<DeliveryRefusal | null> {
    return this.#deliveries.findRefusal(query);
  }

  listCopies(query: CopyQuery): Promise<CopyPage> {
    return this.#deliveries.list(query);
  }

  takeCopies(orders: readonly CopyOrder[]): Promise<(TakenCopy | null)[][]> {
    return this.#deliveries.take(orders);
  }

  findDelivery(accountId: string, deliveryId: Uint8Array): Promise<DeliveryRecord | null> {
    return this.#deliveries.find(accountId, deliveryId);
  }

  haveWaiting(boxes: readonly WaitingQuery[]): Promise<boolean[]> {
    return this.#deliveries.haveWaiting(boxes);
  }

  withdrawDeliveries(withdrawn: WithdrawnDeliveries): Promise<void> {
    return this.#deliveries.withdraw(withdrawn);
  }

  async activity(accountId: string, sinceMs: number): Promise<AccountActivity> {
    const { firstMinute, firstHour } = splitPeriod(sinceMs);
    const sums = await this.connection.get(
      `SELECT coalesce(sum(keys), 0)::bigint AS keys,
         coalesce(sum(latency_us), 0)::bigint AS "latencyUs",
         coalesce(sum(streams), 0)::bigint AS streams,
         coalesce(sum(streams_passed), 0)::bigint AS "streamsPassed",
         coalesce(sum(metered), 0)::bigint AS metered,
         coalesce(sum(failures), 0)::bigint AS failures,
         (SELECT count(*) FROM api_keys WHERE account_id = $1 AND revoked_ms IS NULL)
           AS "activeApiKeys"
       FROM (
         SELECT keys, latency_us, streams, streams_passed, metered, failures
         FROM rollup_hour WHERE account_id = $1 AND period >= $2
         UNION ALL
         SELECT keys, latency_us, streams, streams_passed, metered, failures
         FROM rollup_minute WHERE account_id = $1 AND period >= $3 AND period < $4) AS sums`,
      accountId,
      firstHour,
      firstMinute,
      (firstHour * HOUR_MS) / MINUTE_MS,
    );
    return sums as unknown as AccountActivity;
  }

  /** Needs the right to connect to the database, or `pg_read_all_stats`. */
  async sizeBytes(): Promise<number> {
    const row = await this.connection.get('SELECT pg_database_size(current_database()) AS bytes');
    return Number(row?.bytes);
  }

  async series(query: SeriesQuery): Promise<PeriodSums[]> {
    const { table, first, end } = seriesSource(query);
    const rows = await this.connection.all(
      `SELECT period, keys, latency_us AS "latencyUs", streams, streams_passed AS "streamsPassed",
         metered, failures, latency_counts AS "latencyCounts"
       FROM ${table} WHERE account_id = $1 AND period >= $2 AND period < $3`,
      query.accountId,
      first,
      end,
    );
    return toSeries(query, rows as unknown as SumsRow[]);
  }

  async keyEvidence(accountId: string, limit: number): Promise<KeyEvidence[]> {
    const rows = await this.connection.all(
      `SELECT key_id AS "keyId", evidence_definition AS definition, p_values AS "pValues"
       FROM validated_keys WHERE account_id = $1 ORDER BY key_id DESC LIMIT $2`,
      accountId,
      limit,
    );
    return toKeyEvidence(rows);
  }

  readClock(clock: Clock): Promise<ClockReading> {
    return readClockByDatabase(this.connection, clock, this.#maxClockSkewMs);
  }

  async acceptClock(): Promise<void> {}

  /** Uses only the database's clock. A wrong clock would create months that nothing needs. */
  async maintain(): Promise<void> {
    await makeMonthsAhead(this.connection, await databaseNowMs(this.connection));
    await removeUnusedWriters(this.connection);
    await removeExpiredAnswers(this.connection);
    await expireCopies(this.connection);
  }

  prune(order: PruneOrder): Promise<PruneReport> {
    return this.#maintained((connection) => prunePostgres(connection, order, this.#maxClockSkewMs));
  }

  completeIndexes(signal?: AbortSignal): Promise<void> {
    return this.#maintained((connection) => completeAccountIndex(connection, signal));
  }

  /** Works on a connection of its own, whose statements may run long but wait only briefly for locks. */
  async #maintained<T>(work: (connection: PostgresConnection) => Promise<T>): Promise<T> {
    const connection = await this.#openMaintained();
    try {
      return await work(connection);
    } catch (error) {
      throw error instanceof SetupError ? error : unavailable(error);
    } finally {
      await connection.close();
    }
  }

  /** It leads to the same ledger. */
  async #openMaintained(): Promise<PostgresConnection> {
    const { url, ...options } = this.#options;
    const ledger = await this.identity();
    const guard = new DisturbanceGuard();
    const all = { ...options, ledger, guard };
    return PostgresConnection.open(url, undefined, MAINTENANCE_LIMITS, all);
  }

  override async close(): Promise<void> {
    await this.#writer.close();
    await super.close();
  }
}
