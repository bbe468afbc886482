/** The embedded store: one SQLite file, one writing connection. */
import { type Clock, HOUR_MS, MINUTE_MS } from '../../clock.ts';
import type { Commitment } from '../../proof/index.ts';
import type { ClockReading } from '../clock-check.ts';
import { rowMadeMs } from '../commitments.ts';
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
import { type LedgerIdentity, requireSameLedger } from '../identity.ts';
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
import { newerSchemaWarning, newestVersion, readMigrations } from '../migrations.ts';
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
import { AccountKeys } from './account-keys.ts';
import { readAnswer, withdrawAnswer } from './answers.ts';
import { acceptClockInSqlite, noteClockInSqlite, readClockBySqlite } from './clock.ts';
import { SqliteConnection } from './connection.ts';
import {
  findDelivery,
  findDeliveryRefusal,
  haveWaiting,
  listCopies,
  takeCopies,
  withdrawDeliveries,
} from './deliveries.ts';
import { Fingerprints, type MergeLimits } from './fingerprints.ts';
import {
  findKeyRecord,
  findKeyState,
  findState,
  listKeys,
  pageKeyStates,
  revokeKey,
} from './key-records.ts';
import { SqliteLogStore } from './log-store.ts';
import {
  expireCopies,
  mergeAccountKeys,
  pruneSqlite,
  removeExpiredAnswers,
} from './maintenance.ts';
import { WriteGate } from './write-gate.ts';
import { SqliteWriter } from './writer.ts';

interface SqliteStoreOptions {
  readonly path: string;
  /** Monthly quota by plan name; null is unlimited. */
  readonly quotas: Quotas;
  /** Creates and changes nothing: not the file, its schema, or a log beside it. */
  readonly readOnly?: boolean;
  /** Receives warnings about the database for the operator. */
  readonly warn?: (message: string) => void;
  /** Memory of the `WriteGate` that the writing threads of this process share. */
  readonly gate?: SharedArrayBuffer;
  /** The ledger that this process works with. */
  readonly ledger?: LedgerIdentity;
}

/** Opens the store. Throws `SetupError` if the file cannot be used. */
export function openSqliteStore({
  path,
  quotas,
  readOnly = false,
  warn = () => {},
  gate,
  ledger,
}: SqliteStoreOptions): LedgerStore {
  const connection = new SqliteConnection(path, {
    readOnly,
    gate: gate ? new WriteGate(gate) : null,
  });
  try {
    if (ledger) requireSameLedger(ledger, readIdentity(connection));
  } catch (error) {
    connection.close();
    throw error;
  }
  const version = Number(connection.get('PRAGMA user_version')?.user_version);
  const migrations = readMigrations('sqlite');
  if (version > newestVersion(migrations)) warn(newerSchemaWarning(version, migrations));
  return new SqliteStore(connection, quotas);
}

/** Exported for its tests, which give it a failing connection. */
export class SqliteStore extends SqliteLogStore implements LedgerStore {
  readonly host = null;
  readonly #fingerprints: Fingerprints;
  readonly #accountKeys: AccountKeys;
  readonly #writer: SqliteWriter;

  constructor(connection: SqliteConnection, quotas: Quotas, limits?: MergeLimits, chunk?: number) {
    super(connection, quotas);
    this.#fingerprints = new Fingerprints(connection, limits);
    this.#accountKeys = new AccountKeys(connection, chunk);
    this.#writer = new SqliteWriter(connection, quotas, this.#fingerprints, this.#accountKeys);
  }

  async identity(): Promise<LedgerIdentity> {
    return this.connection.guarded(() => readIdentity(this.connection));
  }

  async commit(
    requests: readonly MeteredRequest[],
    failures: readonly FailedRequest[],
  ): Promise<CommitOutcome[]> {
    return this.#writer.commit(requests, failures);
  }

  async findAnswers(queries: readonly AnswerQuery[]): Promise<(StoredAnswer | null)[]> {
    return this.connection.guarded(() =>
      queries.map((query) => readAnswer(this.connection, query)),
    );
  }

  async withdrawAnswer(answer: WithdrawnAnswer): Promise<boolean> {
    return this.connection.guarded(() =>
      this.connection.transact(() => withdrawAnswer(this.connection, answer)),
    );
  }

  async probe(order: ProbeOrder): Promise<boolean> {
    return this.#writer.probe(order);
  }

  async findKeys(keyIds: readonly Uint8Array[]): Promise<(RecordedKey | null)[]> {
    return this.connection.guarded(() => keyIds.map((keyId) => this.#findKey(keyId)));
  }

  async findCommitments(commitments: readonly Commitment[]): Promise<(number | null)[]> {
    return this.connection.guarded(() =>
      commitments.map((one) => rowMadeMs(one, this.#fingerprints.candidates(one))),
    );
  }

  async listKeys(query: KeyQuery): Promise<KeyPage> {
    return this.connection.guarded(() => listKeys(this.connection, query));
  }

  async findKeyRecord(accountId: string, keyId: Uint8Array): Promise<KeyRecord | null> {
    return this.connection.guarded(() => findKeyRecord(this.connection, accountId, keyId));
  }

  async revokeKeys(revocations: readonly AuditedRevocation[]): Promise<RevocationOutcome[]> {
    return this.connection.guarded(() =>
      this.connection.transact(() => revocations.map((one) => revokeKey(this.connection, one))),
    );
  }

  async findStates(commitments: readonly Commitment[]): Promise<(KeyState | null)[]> {
    return this.connection.guarded(() => commitments.map((one) => findState(this.connection, one)));
  }

  async findKeyStates(keyIds: readonly Uint8Array[]): Promise<(KeyStateRecord | null)[]> {
    return this.connection.guarded(() =>
      keyIds.map((keyId) => findKeyState(this.connection, keyId)),
    );
  }

  async pageKeyStates(after: Uint8Array | null, limit: number): Promise<KeyStateRecord[]> {
    return this.connection.guarded(() => pageKeyStates(this.connection, after, limit));
  }

  async findDeliveryRefusal(query: DeliveryQuery): Promise<DeliveryRefusal | null> {
    return this.connection.guarded(() => findDeliveryRefusal(this.connection, query));
  }

  async listCopies(query: CopyQuery): Promise<CopyPage> {
    return this.connection.guarded(() => listCopies(this.connection, query));
  }

  async takeCopies(orders: readonly CopyOrder[]): Promise<(TakenCopy | null)[][]> {
    return this.connection.guarded(() =>
      this.connection.transact(() => takeCopies(this.connection, orders)),
    );
  }

  async findDelivery(
    accountId: string,
    deliveryId: Uint8Array,
    nowMs: number,
  ): Promise<DeliveryRecord | null> {
    return this.connection.guarded(() =>
      findDelivery(this.connection, accountId, deliveryId, nowMs),
    );
  }

  async haveWaiting(boxes: readonly WaitingQuery[], nowMs: number): Promise<boolean[]> {
    return this.connection.guarded(() => haveWaiting(this.connection, boxes, nowMs));
  }

  async withdrawDeliveries(withdrawn: WithdrawnDeliveries): Promise<void> {
    this.connection.guarded(() =>
      this.connection.transact(() => withdrawDeliveries(this.connection, withdrawn)),
    );
  }

  #findKey(keyId: Uint8Array): RecordedKey | null {
    const row = this.connection.get(
      `SELECT ${RECORDED_KEY_COLUMNS}
       FROM ledger LEFT JOIN accounts ON accounts.account_id = ledger.account_id
       WHERE ledger.key_id = ?`,
      keyId,
    );
    return row ? toRecordedKey(row) : null;
  }

  async readClock(clock: Clock): Promise<ClockReading> {
    return readClockBySqlite(this.connection, clock);
  }

  async acceptClock(clock: Clock): Promise<void> {
    acceptClockInSqlite(this.connection, clock);
  }

  async maintain(clock: Clock): Promise<void> {
    const { doubt } = noteClockInSqlite(this.connection, clock);
    if (doubt !== null) return;
    await removeExpiredAnswers(this.connection, clock.nowMs());
    await expireCopies(this.connection, clock.nowMs());
  }

  async prune(order: PruneOrder): Promise<PruneReport> {
    return pruneSqlite(this.connection, order);
  }

  completeIndexes(signal?: AbortSignal): Promise<void> {
    return mergeAccountKeys(this.connection, this.#accountKeys, signal);
  }

  async activity(accountId: string, sinceMs: number): Promise<AccountActivity> {
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
      return { ...(sums as unknown as AccountActivity), activeApiKeys: Number(active?.n) };
    });
  }

  sizeBytes(): Promise<number> {
    return this.connection.sizeBytes();
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

function readIdentity(connection: SqliteConnection): LedgerIdentity {
  const rows = connection.all(
    "SELECT version, lower(hex(check_value)) || '/' || registered_ms AS registered FROM secret_checks",
  );
  const secrets = Object.fromEntries(rows.map(({ version, registered }) => [version, registered]));
  return { place: connection.place, schema: null, secrets };
}
