/**
 * Records batches in SQLite by group commit, and probes whether a batch could be recorded.
 *
 * `BEGIN IMMEDIATE` takes the write lock first. So the counters and plans that a transaction reads stay
 * valid until it commits, whatever other processes (the command line, a second server) do.
 */
import { randomBytes } from 'node:crypto';
import { HOUR_MS, MINUTE_MS, utcMonth } from '../../clock.ts';
import type { Commitment } from '../../proof/index.ts';
import { joinKeyIds } from '../idempotency.ts';
import { formatCounts } from '../latency.ts';
import type { LedgerRow } from '../ledger-row.ts';
import { REQUIRE_SEALING_PROGRAM } from '../migrations.ts';
import { type Counter, decide, type Quotas } from '../quota-decision.ts';
import { Rollup } from '../rollup.ts';
import type {
  CommitOutcome,
  FailedRequest,
  MeteredRequest,
  ProbeOrder,
  StoredAnswer,
} from '../store.ts';
import { unavailable } from '../unavailable.ts';
import { readQuota, readUsed } from './accounts.ts';
import { readAnswer, writeAnswer } from './answers.ts';
import { insertPending } from './audit.ts';
import type { SqliteConnection } from './connection.ts';

/** How long a probe waits for another process's transaction. Batches queue behind it on the same thread. */
const PROBE_WAIT_MS = 2_000;

/** An account's usage of a month, including the batch so far. */
type AccountCounter = Counter & { readonly accountId: string };

export class SqliteWriter {
  readonly #connection: SqliteConnection;
  readonly #quotas: Quotas;

  constructor(connection: SqliteConnection, quotas: Quotas) {
    this.#connection = connection;
    this.#quotas = quotas;
  }

  commit(requests: readonly MeteredRequest[], failures: readonly FailedRequest[]): CommitOutcome[] {
    return this.#connection.guarded(() =>
      this.#connection.transact(() => this.#write(requests, failures)),
    );
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
      // Changes the value and changes it back: SQLite writes no page for an unchanged value.
      this.#connection.run('UPDATE secret_checks SET registered_ms = registered_ms + 1');
      this.#connection.run('UPDATE secret_checks SET registered_ms = registered_ms - 1');
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
    this.#write([request], []);
  }

  /** Decides each request in order, then writes the sums once. This is the body of the transaction. */
  #write(requests: readonly MeteredRequest[], failures: readonly FailedRequest[]): CommitOutcome[] {
    const counters = new Map<string, AccountCounter>();
    const minutes = new Rollup(MINUTE_MS);
    const hours = new Rollup(HOUR_MS);
    const outcomes = requests.map((request) => {
      const outcome = this.#decide(request, counters);
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
    this.#writeUsage(counters.values());
    this.#addRollup('rollup_minute', minutes);
    this.#addRollup('rollup_hour', hours);
    return outcomes;
  }

  /** Counts a request and inserts its row if the quota has room. `counters` include the batch so far. */
  #decide(request: MeteredRequest, counters: Map<string, AccountCounter>): CommitOutcome {
    const { accountId } = request;
    const month = utcMonth(request.atMs);
    const name = `${accountId}/${month}`;
    const counter = counters.get(name) ?? {
      accountId,
      month,
      used: readUsed(this.#connection, accountId, month),
      quota: readQuota(this.#connection, this.#quotas, accountId),
    };
    const outcome = decide(counter, request, {
      answer: this.#answerOf(request),
      record: () => this.#record(request),
    });
    if (outcome.kind === 'committed') counters.set(name, counter);
    return outcome;
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

  /**
   * Inserts the rows and the idempotency record. Returns false and inserts nothing if one of the commitments
   * exists already, which only a broken generator causes.
   */
  #record(request: MeteredRequest): boolean {
    const { accountId, keys, atMs, idempotency } = request;
    if (this.#hasRepeated(keys)) return false;
    for (const row of keys) this.#insertRow(request, row);
    if (keys.some(({ sealed }) => sealed)) this.#connection.run(REQUIRE_SEALING_PROGRAM);
    if (idempotency) {
      const { key, requestHash, body } = idempotency;
      writeAnswer(this.#connection, accountId, key, {
        ...{ requestHash, body },
        ...{ keyIds: joinKeyIds(keys), createdMs: atMs },
      });
    }
    return true;
  }

  #hasRepeated(rows: readonly LedgerRow[]): boolean {
    const names = rows.map(({ commitment: { version, fingerprint, digest } }) =>
      rows.length === 1 ? '' : `${version}/${fingerprint}/${Buffer.from(digest).toString('hex')}`,
    );
    return (
      new Set(names).size < names.length ||
      rows.some(({ commitment }) => this.#isRepeated(commitment))
    );
  }

  #insertRow({ accountId, apiKeyId }: MeteredRequest, row: LedgerRow): void {
    this.#connection.run(
      `INSERT INTO ledger (key_id, fingerprint, commitment, secret_version, account_id, api_key_id,
         security_level, modulation, source, created_ms, latency_us, entropy_bits, entropy_job_id,
         gate_p, tests_passed, total_tests, evidence_definition, sealed_to, sealed_digest, key_commitment,
         salt, strength_bits, sources, software_id)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      row.keyId,
      row.commitment.fingerprint,
      row.commitment.digest,
      row.commitment.version,
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
      row.sealed?.recipient ?? null,
      row.sealed?.digest ?? null,
      row.receipt?.keyCommitment ?? null,
      row.receipt?.salt ?? null,
      row.receipt?.strengthBits ?? null,
      row.receipt?.sources ?? null,
      row.receipt?.softwareId ?? null,
    );
    if (row.evidence) {
      this.#connection.run(
        `INSERT INTO validated_keys (account_id, key_id, p_values, evidence_definition)
         VALUES (?, ?, ?, ?)`,
        accountId,
        row.keyId,
        row.evidence.pValues,
        row.evidence.definition,
      );
    }
    const pending = row.receipt?.pending;
    if (pending) insertPending(this.#connection, row.keyId, 'key', pending);
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

  /**
   * Compares the whole commitment, which is about to be written anyway, so rows that share its fingerprint
   * hide nothing.
   */
  #isRepeated({ fingerprint, digest, version }: Commitment): boolean {
    const row = this.#connection.get(
      'SELECT 1 FROM ledger WHERE fingerprint = ? AND commitment = ? AND secret_version = ?',
      fingerprint,
      digest,
      version,
    );
    return row !== undefined;
  }
}

/** Returns a request for a key that no client asked for. */
function probeRequest(atMs: number): MeteredRequest {
  const digest = randomBytes(32);
  const accountId = `probe-${digest.toString('hex')}`;
  const row: LedgerRow = {
    keyId: randomBytes(16),
    commitment: { version: 1, digest, fingerprint: digest.readBigInt64BE() },
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
    sealed: { recipient: digest, digest },
    receipt: {
      keyCommitment: digest,
      salt: digest,
      strengthBits: 256,
      sources: 'probe',
      softwareId: 0,
      pending: {
        entryId: digest,
        logId: 0,
        kind: 'key',
        entry: digest,
        mac: digest,
        secretVersion: 1,
      },
    },
  };
  const counts = { streams: 0, streamsPassed: 0 };
  const idempotency = { key: 'probe', requestHash: digest, body: '' };
  return { accountId, apiKeyId: accountId, atMs, keys: [row], counts, idempotency };
}
