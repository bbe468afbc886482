/**
 * The store for several servers: one PostgreSQL database, each batch one statement.
 *
 * `commit_batch_4` (in the eighth migration) locks the accounts of a batch in order, decides and writes,
 * so a batch costs one round trip and no lock is held while anything crosses the network.
 *
 * A lost answer leaves it open whether a batch was committed. Each store is a writer with a row of its
 * own that holds the number of its latest batch, moved in the batch's transaction. To resolve a batch
 * is to move that number without it: either it has moved already, then the batch is committed and the
 * row says what was decided; or it moves now, and the batch can never be committed any more, even if
 * it is still on its way to the server. A batch that is found committed is answered only when the
 * commit of that question was confirmed, by the synchronous standbys too.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Clock, HOUR_MS, MINUTE_MS, monotonicMs } from '../../clock.ts';
import { SetupError } from '../../errors.ts';
import { type ClockReading, DEFAULT_MAX_SKEW_MS } from '../clock-check.ts';
import { type Candidate, MAX_CANDIDATES, rowMadeMs } from '../commitments.ts';
import { toKeyEvidence } from '../key-evidence.ts';
import { latencyBucket } from '../latency.ts';
import {
  type Migration,
  newerSchemaWarning,
  readMigrations,
  type SchemaChange,
} from '../migrations.ts';
import { splitPeriod } from '../rollup.ts';
import { type SumsRow, seriesSource, toSeries } from '../series.ts';
import type {
  AccountMetrics,
  CommitmentQuery,
  CommitOutcome,
  FailedRequest,
  KeyEvidence,
  LedgerStore,
  MeteredRequest,
  PeriodSums,
  ProbeOrder,
  PruneOrder,
  PruneReport,
  RecordedKey,
  SeriesQuery,
} from '../store.ts';
import { unavailable } from '../unavailable.ts';
import { PostgresAccountStore } from './accounts.ts';
import { databaseNowMs, readClockByDatabase } from './clock.ts';
import {
  isConflict,
  isRefusal,
  isUnknownWriter,
  MAINTENANCE_LIMITS,
  NotSentError,
  PostgresConnection,
  toBuffer,
} from './connection.ts';
import { makeMonthsAhead, prunePostgres, removeUnusedWriters } from './maintenance.ts';
import { losesCommits, migrate, requireSchema, requireServer } from './schema.ts';

export interface PostgresStoreOptions {
  /** `postgres://user:password@host:port/database`; the password never leaves this module. */
  readonly url: string;
  /** Monthly quota by plan name; null is unlimited. */
  readonly quotas: Readonly<Record<string, number | null>>;
  /** How far a clock may be from the database's; left out: 60 s. */
  readonly maxClockSkewMs?: number;
  /** Told what an operator should know of the server. */
  readonly warn?: (message: string) => void;
  /** What the schema must be made of; left out: all that this program knows. */
  readonly migrations?: readonly Migration[];
}

const FSYNC_WARNING =
  'the PostgreSQL server runs with fsync off: a crash of its machine loses keys that were answered';

/** Connects. Throws `SetupError` when the database cannot be used, or this program cannot work with its schema. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<LedgerStore> {
  const { url, warn = () => {}, migrations = readMigrations('postgres') } = options;
  const connection = await PostgresConnection.open(url, async (client) => {
    await requireServer(client);
    const newer = await requireSchema(client, migrations);
    if (newer !== null) warn(newerSchemaWarning(newer, migrations));
    if (await losesCommits(client)) warn(FSYNC_WARNING);
  });
  return new PostgresStore(connection, options);
}

/** Brings the schema up to date. Throws `SetupError` when that cannot be done. */
export async function migratePostgres(
  url: string,
  migrations: readonly Migration[] = readMigrations('postgres'),
): Promise<SchemaChange> {
  let change: SchemaChange | undefined;
  const connection = await PostgresConnection.open(
    url,
    async (client) => {
      await requireServer(client);
      change = await migrate(client, migrations);
    },
    MAINTENANCE_LIMITS,
  );
  try {
    // Of the database's clock, as `ledger_clock_ms` has it, which earlier schemas lack.
    const now = await connection.get(
      'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS ms',
    );
    await makeMonthsAhead(connection, Number(now?.ms));
  } finally {
    await connection.close();
  }
  return change as SchemaChange;
}

/** Attempts at a batch that loses against those of other servers. */
const MAX_ATTEMPTS = 5;

/** How long a batch of unknown outcome is asked after, how long an attempt at that may take, and how often. */
const RESOLVE_LIMIT_MS = 10_000;
const ATTEMPT_LIMIT_MS = 8_000;
const RESOLVE_PAUSE_MS = 100;

/** What `commit_batch_4` decided: usage before the batch, and which keys were repeated. */
interface Decision {
  readonly counters: readonly {
    readonly accountId: string;
    readonly month: number;
    readonly used: number;
    readonly quota: number | null;
  }[];
  /** Positions in the batch. */
  readonly repeated: readonly number[];
  readonly committed: number;
  /** Accounts whose rows others lock: their failed requests were left out. */
  readonly deferred: readonly string[];
}

/** Failed requests of locked accounts that are kept for later batches. */
const MAX_DEFERRED = 10_000;

/** A row with the fingerprint in this place, from 1. */
type AskedRow = Candidate & { readonly position: number };

/** Rows with each of the key ids. Exported for its tests, which look at its plan. */
export const RECORDED_KEYS = `
  SELECT position, found.*
  FROM unnest($1::bytea[]) WITH ORDINALITY AS asked (key_id, position)
  CROSS JOIN LATERAL (
    SELECT ledger.account_id AS "accountId", accounts.name AS "accountName",
      ledger.api_key_id AS "apiKeyId", ledger.created_ms AS "createdMs",
      ledger.security_level AS "securityLevel", ledger.modulation AS modulation,
      ledger.gate_p IS NOT NULL AS "hasEvidence"
    FROM ledger LEFT JOIN accounts ON accounts.account_id = ledger.account_id
    WHERE ledger.key_id = asked.key_id LIMIT 1) AS found`;

/** Rows with each of the fingerprints, which lead the index. Exported for its tests, which look at its plan. */
export const CANDIDATES = `
  SELECT position, found.key_id AS "keyId", found.commitment, found.secret_version AS version
  FROM unnest($1::bigint[]) WITH ORDINALITY AS asked (fingerprint, position)
  CROSS JOIN LATERAL (
    SELECT key_id, commitment, secret_version FROM ledger
    WHERE ledger.fingerprint = asked.fingerprint LIMIT ${MAX_CANDIDATES}) AS found`;

class PostgresStore extends PostgresAccountStore implements LedgerStore {
  readonly #url: string;
  readonly #maxClockSkewMs: number;
  readonly #writerId: string = randomUUID();
  #registered = false;
  #turn = 0;
  /** Failed requests that no batch could record yet, because others lock the rows of their accounts. */
  #deferred: readonly FailedRequest[] = [];
  /** Ends when the commits before have: a writer has one batch under way. */
  #idle: Promise<unknown> = Promise.resolve();

  constructor(
    connection: PostgresConnection,
    { url, quotas, maxClockSkewMs = DEFAULT_MAX_SKEW_MS }: PostgresStoreOptions,
  ) {
    super(connection, quotas);
    this.#url = url;
    this.#maxClockSkewMs = maxClockSkewMs;
  }

  commit(
    requests: readonly MeteredRequest[],
    failures: readonly FailedRequest[],
  ): Promise<CommitOutcome[]> {
    const outcomes = this.#idle.then(async () => {
      const failed = [...this.#deferred, ...failures];
      const batch = [
        [...new Set(requests.map(({ accountId }) => accountId))],
        JSON.stringify(requests.map(requestColumns)),
        JSON.stringify(failed.map(failureColumns)),
        JSON.stringify(this.quotas),
      ];
      const decision = await this.connection.guarded(() => this.#commitBatch(batch));
      const locked = new Set(decision.deferred);
      this.#deferred = failed.filter(({ accountId }) => locked.has(accountId)).slice(-MAX_DEFERRED);
      return outcomesOf(requests, decision);
    });
    this.#idle = outcomes.catch(() => {});
    return outcomes;
  }

  async #commitBatch(batch: readonly unknown[]): Promise<Decision> {
    if (!this.#registered) await this.#register();
    const turn = ++this.#turn;
    for (let attempt = 1; ; attempt++) {
      try {
        const { rows } = await this.connection.commit(
          'SELECT commit_batch_4($1, $2, $3, $4, $5, $6) AS decision',
          [this.#writerId, turn, ...batch],
        );
        return rows[0]?.decision as Decision;
      } catch (error) {
        if (isConflict(error) && attempt < MAX_ATTEMPTS) continue;
        if (isUnknownWriter(error) && attempt < MAX_ATTEMPTS) {
          await this.#register();
          continue;
        }
        if (isRefusal(error) || error instanceof NotSentError) throw error;
        return await this.#resolve(turn, error);
      }
    }
  }

  /** A probe takes a turn like a batch. Its outcome is never asked after: it leaves nothing. */
  probe({ accountIds, room }: ProbeOrder): Promise<boolean> {
    const probed = this.#idle.then(() =>
      this.connection.guarded(() => this.#probe([accountIds, room])),
    );
    this.#idle = probed.catch(() => {});
    return probed;
  }

  async #probe(order: readonly unknown[]): Promise<boolean> {
    if (!this.#registered) await this.#register();
    const turn = ++this.#turn;
    for (let attempt = 1; ; attempt++) {
      try {
        const { rows } = await this.connection.commit(
          'SELECT probe_commit($1, $2, $3, $4) AS locked',
          [this.#writerId, turn, ...order],
        );
        return rows[0]?.locked === true;
      } catch (error) {
        if (attempt === MAX_ATTEMPTS) throw error;
        if (isUnknownWriter(error)) await this.#register();
        else if (!isConflict(error)) throw error;
      }
    }
  }

  /**
   * Adds this store's row among the writers, before its first batch, or again when maintenance took it
   * for one of a server that is gone. The command line, which commits nothing, has none.
   */
  async #register(): Promise<void> {
    await this.connection.commit(
      'INSERT INTO writers (writer_id, turn) VALUES ($1, $2) ON CONFLICT (writer_id) DO NOTHING',
      [this.#writerId, Math.max(0, this.#turn - 1)],
    );
    this.#registered = true;
  }

  /**
   * Finds out what became of a batch, on a new connection: the one that failed is given up. While the batch is
   * still being committed, its row is locked and the question waits.
   */
  async #resolve(turn: number, cause: unknown): Promise<Decision> {
    const deadline = monotonicMs() + RESOLVE_LIMIT_MS;
    for (let leftMs = RESOLVE_LIMIT_MS; leftMs > 0; leftMs = deadline - monotonicMs()) {
      const decision = await this.#giveUpOrConfirm(turn, leftMs).catch(() => undefined);
      if (decision) return decision;
      if (decision === null) break;
      await delay(RESOLVE_PAUSE_MS);
    }
    throw cause;
  }

  /**
   * The decision of a committed batch; null for one that is not, and never will be.
   *
   * That a batch can be seen proves no more than that it is on this server's disk: the wait for the standbys may
   * have been cut short. Writing its row again is a later commit on the same server. Standbys get the log in order,
   * so those that confirm this commit have the batch. A read would prove nothing, nor would another statement after
   * this one, which may reach another server.
   */
  async #giveUpOrConfirm(turn: number, leftMs: number): Promise<Decision | null> {
    const { rows } = await this.connection.commit(
      `UPDATE writers SET turn = $2, decision = CASE WHEN turn = $2 THEN decision END
       WHERE writer_id = $1 AND turn <= $2 RETURNING decision`,
      [this.#writerId, turn],
      Math.min(ATTEMPT_LIMIT_MS, leftMs),
    );
    return (rows[0]?.decision as Decision | undefined) ?? null;
  }

  async findKeys(keyIds: readonly Uint8Array[]): Promise<(RecordedKey | null)[]> {
    const rows = await this.connection.all(RECORDED_KEYS, keyIds.map(toBuffer));
    const found = new Map(
      rows.map(({ position, ...key }) => [position, key as unknown as RecordedKey]),
    );
    return keyIds.map((_, i) => found.get(i + 1) ?? null);
  }

  async findCommitments(queries: readonly CommitmentQuery[]): Promise<(number | null)[]> {
    if (queries.length === 0) return [];
    const fingerprints = queries.map(({ fingerprint }) => String(fingerprint));
    const rows = await this.connection.all(CANDIDATES, fingerprints);
    const candidates = Map.groupBy(rows as unknown as AskedRow[], ({ position }) => position);
    return queries.map((query, i) => rowMadeMs(query, candidates.get(i + 1) ?? []));
  }

  async metrics(accountId: string, sinceMs: number): Promise<AccountMetrics> {
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
    return sums as unknown as AccountMetrics;
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

  /** By the database's clock alone: one that is wrong would make months for which there is no use. */
  async maintain(): Promise<void> {
    await makeMonthsAhead(this.connection, await databaseNowMs(this.connection));
    await removeUnusedWriters(this.connection);
  }

  /** On a connection of its own, whose statements may take long and wait for locks only shortly. */
  async prune(order: PruneOrder): Promise<PruneReport> {
    const connection = await PostgresConnection.open(this.#url, undefined, MAINTENANCE_LIMITS);
    try {
      return await prunePostgres(connection, order, this.#maxClockSkewMs);
    } catch (error) {
      throw error instanceof SetupError ? error : unavailable(error);
    } finally {
      await connection.close();
    }
  }

  override async close(): Promise<void> {
    if (this.#deferred.length > 0) await this.commit([], []).catch(() => {});
    await this.#idle;
    if (this.#turn > 0) {
      const gone = 'DELETE FROM writers WHERE writer_id = $1';
      await this.connection.run(gone, [this.#writerId]).catch(() => {});
    }
    await super.close();
  }
}

/** Turns what was decided into an outcome a request, by the rule of `commit_batch_4`. */
function outcomesOf(requests: readonly MeteredRequest[], decision: Decision): CommitOutcome[] {
  const repeated = new Set(decision.repeated);
  const counters = new Map(
    decision.counters.map((counter) => [
      counter.accountId,
      { month: counter.month, used: Number(counter.used), quota: counter.quota },
    ]),
  );
  let committed = 0;
  const outcomes = requests.map(({ accountId }, position): CommitOutcome => {
    const counter = counters.get(accountId);
    if (!counter) throw new Error('the database left an account of the batch out');
    const { month, quota } = counter;
    if (quota !== null && counter.used >= quota) {
      return { kind: 'quota_exceeded', usage: { month, used: counter.used, quota } };
    }
    if (repeated.has(position)) return { kind: 'repeated_key' };
    counter.used += 1;
    committed += 1;
    return { kind: 'committed', usage: { month, used: counter.used, quota } };
  });
  if (committed !== decision.committed) throw new Error('the database decided otherwise');
  return outcomes;
}

/** A request as `commit_batch_4` reads it. */
function requestColumns(request: MeteredRequest, position: number): Record<string, unknown> {
  const { accountId, apiKeyId, atMs, key } = request;
  const metered = { position, account_id: accountId, api_key_id: apiKeyId, at_ms: atMs };
  if (!key) return { ...metered, streams: 0, streams_passed: 0 };
  const { row, counts } = key;
  return {
    ...metered,
    streams: counts.streams,
    streams_passed: counts.streamsPassed,
    key_id: bytea(row.keyId),
    fingerprint: String(row.fingerprint),
    commitment: bytea(row.commitment),
    secret_version: row.secretVersion,
    security_level: row.securityLevel,
    modulation: row.modulation,
    source: row.source,
    created_ms: row.createdMs,
    latency_us: row.latencyUs,
    latency_bucket: latencyBucket(row.latencyUs),
    entropy_bits: row.entropyBits,
    entropy_job_id: row.entropyJobId,
    gate_p: row.evidence?.gateP ?? null,
    tests_passed: row.evidence?.testsPassed ?? null,
    total_tests: row.evidence?.totalTests ?? null,
    p_values: row.evidence && bytea(row.evidence.pValues),
    evidence_definition: row.evidence?.definition ?? null,
  };
}

function failureColumns({ accountId, atMs, counts }: FailedRequest): Record<string, unknown> {
  return {
    account_id: accountId,
    at_ms: atMs,
    streams: counts.streams,
    streams_passed: counts.streamsPassed,
  };
}

/** The hexadecimal input form of a bytea. */
function bytea(bytes: Uint8Array): string {
  return `\\x${toBuffer(bytes).toString('hex')}`;
}
