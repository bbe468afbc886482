/**
 * The embedded store: one SQLite file, one writing connection, transactions group-committed.
 *
 * `BEGIN IMMEDIATE` takes the write lock first, so what a transaction reads of counters and plans
 * stays true until it commits, whatever other processes (the command line, a second server) do.
 */
import { randomBytes } from 'node:crypto';
import { type Clock, HOUR_MS, MINUTE_MS, utcMonth } from '../../clock.ts';
import type { ClockReading } from '../clock-check.ts';
import { type Candidate, MAX_CANDIDATES, rowMadeMs } from '../commitments.ts';
import { toKeyEvidence } from '../key-evidence.ts';
import { formatCounts } from '../latency.ts';
import { newerSchemaWarning, newestVersion, readMigrations } from '../migrations.ts';
import { Rollup, splitPeriod } from '../rollup.ts';
import { type SumsRow, seriesSource, toSeries } from '../series.ts';
import type {
  AccountMetrics,
  CommitmentQuery,
  CommitOutcome,
  FailedRequest,
  KeyEvidence,
  LedgerRow,
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
import { SqliteAccountStore } from './accounts.ts';
import { acceptClockInSqlite, noteClockInSqlite, readClockBySqlite } from './clock.ts';
import { SqliteConnection } from './connection.ts';
import { pruneSqlite } from './maintenance.ts';

/** How long a probe waits for another process's transaction. Batches wait behind it on the same thread. */
const PROBE_WAIT_MS = 2_000;

export interface SqliteStoreOptions {
  readonly path: string;
  /** Monthly quota by plan name; null is unlimited. */
  readonly quotas: Readonly<Record<string, number | null>>;
  /** Makes and changes nothing: neither the file, nor its schema, nor a log beside it. */
  readonly readOnly?: boolean;
  /** Told what an operator should know of the database. */
  readonly warn?: (message: string) => void;
}

/** Rows with a fingerprint. Exported for its tests, which look at its plan. */
export const CANDIDATES = `SELECT key_id AS keyId, commitment, secret_version AS version
  FROM ledger WHERE fingerprint = ? LIMIT ${MAX_CANDIDATES}`;

/** Opens the store. Throws `SetupError` when the file cannot be used. */
export function openSqliteStore({
  path,
  quotas,
  readOnly = false,
  warn = () => {},
}: SqliteStoreOptions): LedgerStore {
  const connection = new SqliteConnection(path, { readOnly });
  const version = Number(connection.get('PRAGMA user_version')?.user_version);
  const migrations = readMigrations('sqlite');
  if (version > newestVersion(migrations)) warn(newerSchemaWarning(version, migrations));
  return new SqliteStore(connection, quotas);
}

/** Exported for its tests, which put a failing connection below it. */
export class SqliteStore extends SqliteAccountStore implements LedgerStore {
  async commit(
    requests: readonly MeteredRequest[],
    failures: readonly FailedRequest[],
  ): Promise<CommitOutcome[]> {
    let outcomes: CommitOutcome[] = [];
    try {
      this.connection.begin();
      outcomes = this.#write(requests, failures);
    } catch (error) {
      this.connection.rollBack();
      throw unavailable(error);
    }
    this.#commitOrRefuse();
    return outcomes;
  }

  /**
   * What is rolled back reaches no file. So the probe asks the file system for room each time, and with `room` also
   * commits a row, which a limit on the file's size or a broken disk stops. All is one transaction, so that the probe waits
   * for the lock once. No account can be locked alone.
   */
  async probe({ room }: ProbeOrder): Promise<boolean> {
    try {
      this.connection.begin(PROBE_WAIT_MS);
      this.connection.assertRoom();
      this.connection.run('SAVEPOINT probe');
      this.#writeProbe();
      this.connection.run('ROLLBACK TO probe');
      if (!room) {
        this.connection.rollBack();
        return false;
      }
      // There and back: SQLite writes no page for a row that is set to what it holds.
      this.connection.run('UPDATE secret_checks SET registered_ms = registered_ms + 1');
      this.connection.run('UPDATE secret_checks SET registered_ms = registered_ms - 1');
    } catch (error) {
      this.connection.rollBack();
      throw unavailable(error);
    }
    this.#commitOrRefuse();
    return false;
  }

  /** Writes a key of an account of its own, like any other. */
  #writeProbe(): void {
    const request = probeRequest(Date.now());
    this.connection.run(
      'INSERT INTO accounts (account_id, name, plan, demo, created_ms) VALUES (?, ?, ?, 0, ?)',
      request.accountId,
      'probe',
      Object.keys(this.quotas)[0] ?? '',
      request.atMs,
    );
    this.#write([request], []);
  }

  /**
   * A failed COMMIT leaves it open whether the log holds the transaction. To see its rows afterwards
   * would not prove them durable: a failed sync may have left them in the page cache alone. So the
   * batch is refused whatever can be read, and its keys are never released; a fresh connection
   * recovers the log before the next batch.
   */
  #commitOrRefuse(): void {
    try {
      this.connection.commit();
    } catch (error) {
      this.connection.rollBack();
      this.connection.close();
      throw unavailable(error);
    }
  }

  /** The body of the transaction: decides each request in order, then writes the sums once. */
  #write(requests: readonly MeteredRequest[], failures: readonly FailedRequest[]): CommitOutcome[] {
    const counters = new Map<string, { accountId: string; month: number; used: number }>();
    const minutes = new Rollup(MINUTE_MS);
    const hours = new Rollup(HOUR_MS);
    const outcomes = requests.map((request): CommitOutcome => {
      const { accountId } = request;
      const month = utcMonth(request.atMs);
      const name = `${accountId}/${month}`;
      const counter = counters.get(name) ?? {
        accountId,
        month,
        used: this.used(accountId, month),
      };
      const quota = this.quota(accountId);
      if (quota !== null && counter.used >= quota) {
        return { kind: 'quota_exceeded', usage: { month, used: counter.used, quota } };
      }
      if (request.key && !this.#insertRow(request)) return { kind: 'repeated_key' };
      counter.used += 1;
      counters.set(name, counter);
      minutes.addRequest(request);
      hours.addRequest(request);
      return { kind: 'committed', usage: { month, used: counter.used, quota } };
    });
    for (const failure of failures) {
      minutes.addFailure(failure);
      hours.addFailure(failure);
    }
    for (const { accountId, month, used } of counters.values()) {
      this.connection.run(
        `INSERT INTO usage (account_id, month, used) VALUES (?, ?, ?)
         ON CONFLICT (account_id, month) DO UPDATE SET used = excluded.used`,
        accountId,
        month,
        used,
      );
    }
    this.#addRollup('rollup_minute', minutes);
    this.#addRollup('rollup_hour', hours);
    return outcomes;
  }

  /** Inserts the row unless its commitment is there already, which only a broken generator causes. */
  #insertRow({ accountId, apiKeyId, key }: MeteredRequest): boolean {
    if (!key) return true;
    const { row } = key;
    if (this.#isRepeated(row)) return false;
    this.connection.run(
      `INSERT INTO ledger (key_id, fingerprint, commitment, secret_version, account_id, api_key_id,
         security_level, modulation, source, created_ms, latency_us, entropy_bits, entropy_job_id,
         gate_p, tests_passed, total_tests, evidence_definition)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      row.keyId,
      row.fingerprint,
      row.commitment,
      row.secretVersion,
      accountId,
      apiKeyId,
      row.securityLevel,
      row.modulation,
      row.source,
      row.createdMs,
      row.latencyUs,
      row.entropyBits,
      row.entropyJobId,
      row.evidence?.gateP ?? null,
      row.evidence?.testsPassed ?? null,
      row.evidence?.totalTests ?? null,
      row.evidence?.definition ?? null,
    );
    if (row.evidence) {
      this.connection.run(
        `INSERT INTO validated_keys (account_id, key_id, p_values, evidence_definition)
         VALUES (?, ?, ?, ?)`,
        accountId,
        row.keyId,
        row.evidence.pValues,
        row.evidence.definition,
      );
    }
    return true;
  }

  #addRollup(table: 'rollup_minute' | 'rollup_hour', rollup: Rollup): void {
    for (const delta of rollup.deltas()) {
      this.connection.run(
        `INSERT INTO ${table} (account_id, period, keys, latency_us, streams, streams_passed,
           metered, failures, latency_counts)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (account_id, period) DO UPDATE SET
           keys = keys + excluded.keys, latency_us = latency_us + excluded.latency_us,
           streams = streams + excluded.streams,
           streams_passed = streams_passed + excluded.streams_passed,
           metered = metered + excluded.metered, failures = failures + excluded.failures,
           latency_counts = add_counts(latency_counts, excluded.latency_counts)`,
        delta.accountId,
        delta.period,
        delta.keys,
        delta.latencyUs,
        delta.streams,
        delta.streamsPassed,
        delta.metered,
        delta.failures,
        delta.keys === 0 ? null : formatCounts(delta.latencies),
      );
    }
  }

  async findKeys(keyIds: readonly Uint8Array[]): Promise<(RecordedKey | null)[]> {
    return this.connection.guarded(() => keyIds.map((keyId) => this.#findKey(keyId)));
  }

  async findCommitments(queries: readonly CommitmentQuery[]): Promise<(number | null)[]> {
    return this.connection.guarded(() =>
      queries.map((query) => rowMadeMs(query, this.#candidates(query))),
    );
  }

  #findKey(keyId: Uint8Array): RecordedKey | null {
    const row = this.connection.get(
      `SELECT ledger.account_id AS accountId, accounts.name AS accountName,
         ledger.api_key_id AS apiKeyId, ledger.created_ms AS createdMs,
         ledger.security_level AS securityLevel, ledger.modulation AS modulation,
         ledger.gate_p IS NOT NULL AS hasEvidence
       FROM ledger LEFT JOIN accounts ON accounts.account_id = ledger.account_id
       WHERE ledger.key_id = ?`,
      keyId,
    );
    return row ? { ...(row as unknown as RecordedKey), hasEvidence: row.hasEvidence === 1 } : null;
  }

  /** By the whole commitment, which is about to be written anyway: rows that share its fingerprint hide nothing here. */
  #isRepeated({ fingerprint, commitment, secretVersion }: LedgerRow): boolean {
    const row = this.connection.get(
      'SELECT 1 FROM ledger WHERE fingerprint = ? AND commitment = ? AND secret_version = ?',
      fingerprint,
      commitment,
      secretVersion,
    );
    return row !== undefined;
  }

  #candidates({ fingerprint }: CommitmentQuery): Candidate[] {
    const rows = this.connection.all(CANDIDATES, fingerprint);
    return rows as unknown as Candidate[];
  }

  async readClock(clock: Clock): Promise<ClockReading> {
    return readClockBySqlite(this.connection, clock);
  }

  async acceptClock(clock: Clock): Promise<void> {
    acceptClockInSqlite(this.connection, clock);
  }

  async maintain(clock: Clock): Promise<void> {
    noteClockInSqlite(this.connection, clock);
  }

  async prune(order: PruneOrder): Promise<PruneReport> {
    return pruneSqlite(this.connection, order);
  }

  async metrics(accountId: string, sinceMs: number): Promise<AccountMetrics> {
    return this.connection.guarded(() => {
      const { firstMinute, firstHour } = splitPeriod(sinceMs);
      const sums = this.connection.get(
        `SELECT coalesce(sum(keys), 0) AS keys, coalesce(sum(latency_us), 0) AS latencyUs,
           coalesce(sum(streams), 0) AS streams,
           coalesce(sum(streams_passed), 0) AS streamsPassed,
           coalesce(sum(metered), 0) AS metered, coalesce(sum(failures), 0) AS failures
         FROM (
           SELECT keys, latency_us, streams, streams_passed, metered, failures
           FROM rollup_hour WHERE account_id = ? AND period >= ?
           UNION ALL
           SELECT keys, latency_us, streams, streams_passed, metered, failures
           FROM rollup_minute WHERE account_id = ? AND period >= ? AND period < ?)`,
        accountId,
        firstHour,
        accountId,
        firstMinute,
        (firstHour * HOUR_MS) / MINUTE_MS,
      );
      const active = this.connection.get(
        'SELECT count(*) AS n FROM api_keys WHERE account_id = ? AND revoked_ms IS NULL',
        accountId,
      );
      return { ...(sums as unknown as AccountMetrics), activeApiKeys: Number(active?.n) };
    });
  }

  async series(query: SeriesQuery): Promise<PeriodSums[]> {
    const { table, first, end } = seriesSource(query);
    const rows = this.connection.guarded(() =>
      this.connection.all(
        `SELECT period, keys, latency_us AS latencyUs, streams, streams_passed AS streamsPassed,
           metered, failures, latency_counts AS latencyCounts
         FROM ${table} WHERE account_id = ? AND period >= ? AND period < ?`,
        query.accountId,
        first,
        end,
      ),
    );
    return toSeries(query, rows as unknown as SumsRow[]);
  }

  async keyEvidence(accountId: string, limit: number): Promise<KeyEvidence[]> {
    const rows = this.connection.guarded(() =>
      this.connection.all(
        `SELECT key_id AS keyId, evidence_definition AS definition, p_values AS pValues
         FROM validated_keys WHERE account_id = ? ORDER BY key_id DESC LIMIT ?`,
        accountId,
        limit,
      ),
    );
    return toKeyEvidence(rows);
  }
}

/** A request for a key that no client made. */
function probeRequest(atMs: number): MeteredRequest {
  const commitment = randomBytes(32);
  const accountId = `probe-${commitment.toString('hex')}`;
  const row: LedgerRow = {
    keyId: randomBytes(16),
    commitment,
    secretVersion: 1,
    fingerprint: commitment.readBigInt64BE(),
    securityLevel: 256,
    modulation: 'probe',
    source: 'probe',
    createdMs: atMs,
    latencyUs: 0,
    entropyBits: 0,
    entropyJobId: null,
    evidence: {
      definition: 2,
      gateP: 1,
      testsPassed: 0,
      totalTests: 0,
      pValues: Buffer.alloc(0),
    },
  };
  const counts = { streams: 0, streamsPassed: 0 };
  return { accountId, apiKeyId: accountId, atMs, key: { row, counts } };
}
