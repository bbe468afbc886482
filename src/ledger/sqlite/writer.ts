/**
 * Records batches in SQLite by group commit, and probes whether a batch could be recorded.
 *
 * `BEGIN IMMEDIATE` takes the write lock first. So the counters and plans that a transaction reads stay
 * valid until it commits, whatever other processes (the command line, a second server) do.
 */
import { randomBytes } from 'node:crypto';
import type { SQLInputValue } from 'node:sqlite';
import { HOUR_MS, MINUTE_MS, utcMonth } from '../../clock.ts';
import type { Commitment } from '../../proof/index.ts';
import type { DeliveryRefusal } from '../deliveries.ts';
import { joinKeyIds } from '../idempotency-columns.ts';
import { rowOf } from '../key-columns.ts';
import { formatCounts } from '../latency.ts';
import type { LedgerRow, PendingEntry } from '../ledger-row.ts';
import { neededByKeys } from '../needed-program.ts';
import { type ApiKeyCounter, type Counter, decide, type Quotas } from '../quota-decision.ts';
import { Rollup } from '../rollup.ts';
import type {
  CommitOutcome,
  FailedRequest,
  MeteredRequest,
  ProbeOrder,
  StoredAnswer,
} from '../store.ts';
import { unavailable } from '../unavailable.ts';
import type { AccountKeys } from './account-keys.ts';
import { readAnswer, writeAnswer } from './answers.ts';
import { readApiKeyUsed, writeApiKeyUsed } from './api-keys.ts';
import { insertPendingKeys } from './audit.ts';
import type { SqliteConnection } from './connection.ts';
import { decideDeliveries, writeDeliveries } from './deliveries.ts';
import type { Fingerprints } from './fingerprints.ts';
import { expiryValues, INSERT_EXPIRY } from './key-records.ts';
import { INSERT_LEDGER, INSERT_VALIDATED, ledgerValues, validatedValues } from './ledger-values.ts';
import { readQuota, readUsed } from './usage.ts';

/** How long a probe waits for another process's transaction. Batches queue behind it on the same thread. */
const PROBE_WAIT_MS = 2_000;

/** An account's usage of a month, including the batch so far. */
type AccountCounter = Counter & { readonly accountId: string };

/** What the API keys of a counter have used in a month, including the batch so far. */
type LimitCounter = ApiKeyCounter & {
  readonly name: string;
  readonly counterId: string;
  readonly month: number;
};

/** What a transaction has done so far. */
interface Batch {
  /** By account and month, including the batch so far. */
  readonly counters: Map<string, AccountCounter>;
  /** By the counter of a monthly limit and month, including the batch so far. */
  readonly apiKeyCounters: Map<string, LimitCounter>;
  /** The rows of all requests so far. They are inserted together. */
  readonly rows: LedgerRow[];
  readonly ledger: SQLInputValue[][];
  readonly validated: SQLInputValue[][];
  readonly expiries: SQLInputValue[][];
  /** Fingerprints of `rows`, and of rows that were refused. */
  readonly fingerprints: Set<bigint>;
}

const newBatch = (): Batch => ({
  counters: new Map(),
  apiKeyCounters: new Map(),
  rows: [],
  ledger: [],
  validated: [],
  expiries: [],
  fingerprints: new Set(),
});

export class SqliteWriter {
  readonly #connection: SqliteConnection;
  readonly #quotas: Quotas;
  readonly #fingerprints: Fingerprints;
  readonly #accountKeys: AccountKeys;

  constructor(
    connection: SqliteConnection,
    quotas: Quotas,
    fingerprints: Fingerprints,
    accountKeys: AccountKeys,
  ) {
    this.#connection = connection;
    this.#quotas = quotas;
    this.#fingerprints = fingerprints;
    this.#accountKeys = accountKeys;
  }

  commit(requests: readonly MeteredRequest[], failures: readonly FailedRequest[]): CommitOutcome[] {
    return this.#connection.guarded(() => {
      try {
        return this.#connection.transact(() => this.#writeAndMerge(requests, failures));
      } catch (error) {
        this.#fingerprints.forget();
        throw error;
      }
    });
  }

  #writeAndMerge(
    requests: readonly MeteredRequest[],
    failures: readonly FailedRequest[],
  ): CommitOutcome[] {
    const state = this.#fingerprints.refresh();
    const batch = newBatch();
    const outcomes = this.#write(requests, failures, batch);
    this.#fingerprints.merge(state, batch.rows.length);
    this.#accountKeys.follow(batch.rows.length);
    return outcomes;
  }

  /**
   * Shows whether a key could be recorded. A rolled-back write reaches no file, so the probe asks the file
   * system for space each time. With `room` it also commits a row, which fails at a limit on the file's
   * size or on a broken disk. Everything is one transaction, so the probe waits for the lock once. Always
   * returns false: SQLite has no locks on single accounts.
   */
  probe({ room }: ProbeOrder): boolean {
    try {
      this.#connection.begin(PROBE_WAIT_MS);
      this.#connection.assertRoom();
      this.#connection.run('SAVEPOINT probe');
      this.#writeProbe();
      this.#connection.run('ROLLBACK TO probe');
      if (!room) {
        this.#connection.rollBack();
        return false;
      }
      this.#connection.writeUnchanged();
    } catch (error) {
      this.#connection.rollBack();
      throw unavailable(error);
    }
    this.#connection.guarded(() => this.#connection.commitOrClose());
    return false;
  }

  /** Writes a key like any other, for a separate probe account. */
  #writeProbe(): void {
    const request = probeRequest(Date.now());
    this.#connection.run(
      'INSERT INTO accounts (account_id, name, plan, demo, created_ms) VALUES (?, ?, ?, 0, ?)',
      request.accountId,
      'probe',
      Object.keys(this.#quotas)[0] ?? '',
      request.atMs,
    );
    this.#fingerprints.refresh();
    this.#write([request], [], newBatch());
  }

  /**
   * Decides each request in order, then writes all rows and the sums, within a transaction that began with
   * `refresh` of the fingerprints.
   */
  #write(
    requests: readonly MeteredRequest[],
    failures: readonly FailedRequest[],
    batch: Batch,
  ): CommitOutcome[] {
    const minutes = new Rollup(MINUTE_MS);
    const hours = new Rollup(HOUR_MS);
    const outcomes = requests.map((request) => {
      const outcome = this.#decide(request, batch);
      if (outcome.kind === 'committed') {
        minutes.addRequest(request);
        hours.addRequest(request);
      }
      return outcome;
    });
    for (const failure of failures) {
      minutes.addFailure(failure);
      hours.addFailure(failure);
    }
    this.#writeUsage(batch.counters.values());
    writeApiKeyUsed(this.#connection, batch.apiKeyCounters.values());
    this.#insertRows(batch);
    this.#addRollup('rollup_minute', minutes);
    this.#addRollup('rollup_hour', hours);
    return outcomes;
  }

  /** Counts a request and adds its rows if the quota has room. */
  #decide(request: MeteredRequest, batch: Batch): CommitOutcome {
    const { counters } = batch;
    const { accountId } = request;
    const month = utcMonth(request.atMs);
    const name = `${accountId}/${month}`;
    const counter = counters.get(name) ?? {
      accountId,
      month,
      used: readUsed(this.#connection, accountId, month),
      quota: readQuota(this.#connection, this.#quotas, accountId),
    };
    const apiKeyCounter = this.#apiKeyCounterOf(request, month, batch);
    const outcome = decide(counter, request, {
      apiKeyCounter,
      answer: this.#answerOf(request),
      refuseDelivery: () => this.#refuseDelivery(request),
      record: () => this.#record(request, batch),
    });
    if (outcome.kind === 'committed') {
      counters.set(name, counter);
      if (apiKeyCounter) batch.apiKeyCounters.set(apiKeyCounter.name, apiKeyCounter);
    }
    return outcome;
  }

  /** Returns the counter of the request's monthly limit; undefined without one. */
  #apiKeyCounterOf(
    { apiKeyLimit }: MeteredRequest,
    month: number,
    { apiKeyCounters }: Batch,
  ): LimitCounter | undefined {
    if (!apiKeyLimit) return undefined;
    const { counterId } = apiKeyLimit;
    const name = `${counterId}/${month}`;
    const used = () => readApiKeyUsed(this.#connection, counterId, month);
    return apiKeyCounters.get(name) ?? { name, counterId, month, used: used() };
  }

  #writeUsage(counters: Iterable<AccountCounter>): void {
    for (const { accountId, month, used } of counters) {
      this.#connection.run(
        `INSERT INTO usage (account_id, month, used) VALUES (?, ?, ?)
         ON CONFLICT (account_id, month) DO UPDATE SET used = excluded.used`,
        accountId,
        month,
        used,
      );
    }
  }

  /** Returns the answer of an earlier request with the same `Idempotency-Key`, also of this batch. */
  #answerOf({ accountId, idempotency, atMs }: MeteredRequest): StoredAnswer | null {
    return idempotency && readAnswer(this.#connection, { ...idempotency, accountId, atMs });
  }

  #refuseDelivery({ accountId, delivery, atMs }: MeteredRequest): DeliveryRefusal | null {
    return delivery ? decideDeliveries(this.#connection, accountId, delivery, atMs) : null;
  }

  /**
   * Adds the rows to the batch and inserts the deliveries and the idempotency record. Returns false and does nothing if one of the
   * commitments exists already, which only a broken generator causes.
   */
  #record(request: MeteredRequest, batch: Batch): boolean {
    const { accountId, keys, atMs, idempotency, delivery } = request;
    if (this.#hasRepeated(keys, batch)) return false;
    for (const row of keys) {
      batch.rows.push(row);
      batch.ledger.push(ledgerValues(request, row));
      if (row.evidence) batch.validated.push(validatedValues(accountId, row.keyId, row.evidence));
      if (row.expiresMs !== null) batch.expiries.push(expiryValues(accountId, row));
    }
    if (delivery) writeDeliveries(this.#connection, accountId, keys, delivery);
    if (idempotency) {
      const { key, requestHash, body } = idempotency;
      writeAnswer(this.#connection, accountId, key, {
        ...{ requestHash, body },
        ...{ keyIds: joinKeyIds(keys), createdMs: atMs },
      });
    }
    return true;
  }

  /**
   * Returns true if the ledger, under any version, the batch or an earlier row of the request has one of the commitments. A
   * batch has one version.
   */
  #hasRepeated(rows: readonly LedgerRow[], batch: Batch): boolean {
    return rows.some(({ commitment, otherCommitments }, i) => {
      if (this.#fingerprints.has(commitment)) return true;
      if (otherCommitments.some((one) => this.#fingerprints.has(one))) return true;
      const isNew = !batch.fingerprints.has(commitment.fingerprint);
      batch.fingerprints.add(commitment.fingerprint);
      return !isNew && hasCommitment([...batch.rows, ...rows.slice(0, i)], commitment);
    });
  }

  #insertRows(batch: Batch): void {
    this.#connection.insert(INSERT_LEDGER, batch.ledger);
    this.#connection.requireProgram(neededByKeys(batch.rows));
    this.#connection.insert(INSERT_VALIDATED, batch.validated);
    this.#connection.insert(INSERT_EXPIRY, batch.expiries);
    insertPendingKeys(this.#connection, batch.rows);
    this.#fingerprints.append(batch.rows);
  }

  #addRollup(table: 'rollup_minute' | 'rollup_hour', rollup: Rollup): void {
    for (const delta of rollup.deltas()) {
      this.#connection.run(
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
}

function hasCommitment(rows: readonly LedgerRow[], { digest, version }: Commitment): boolean {
  return rows.some(
    ({ commitment }) =>
      commitment.version === version && Buffer.compare(commitment.digest, digest) === 0,
  );
}

/** Returns a request for a key that no client asked for. */
function probeRequest(atMs: number): MeteredRequest {
  const digest = randomBytes(32);
  const accountId = `probe-${digest.toString('hex')}`;
  const counts = { streams: 0, streamsPassed: 0 };
  const idempotency = { key: 'probe', requestHash: digest, body: '' };
  const apiKeyLimit = { counterId: accountId, limit: 1 };
  const keys = [probeRow(digest)];
  return { accountId, apiKeyId: accountId, atMs, keys, counts, idempotency, apiKeyLimit };
}

/** Returns a row with a value in each column, and its entry. */
function probeRow(digest: Buffer): LedgerRow {
  const values = {
    text: 'probe',
    integer: 0,
    real: 0,
    flag: 0,
    bytes: digest,
    int64: digest.readBigInt64BE(),
  };
  const row = rowOf(({ kind }) => values[kind]);
  const keyId = digest.subarray(0, 16);
  const entry = { entry: digest, mac: digest, secretVersion: 1 };
  const pending: PendingEntry = { entryId: keyId, logId: 0, kind: 'key', ...entry };
  return { ...row, keyId, securityLevel: 256, receipt: row.receipt && { ...row.receipt, pending } };
}
