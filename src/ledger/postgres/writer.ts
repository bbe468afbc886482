/**
 * Records batches in PostgreSQL, each in one statement, and probes whether a batch could be recorded.
 *
 * `commit_batch_5` (in the ninth migration) locks the accounts of a batch in order, decides and writes. So
 * a batch costs one round trip, and no lock is held while data crosses the network.
 *
 * A lost answer leaves the outcome of a batch unknown. Each writer has a row in `writers` that holds the
 * number of its latest batch and moves in the batch's transaction. To resolve a batch, the writer moves
 * that number without it. If the number has already moved, the batch is committed and the row holds the
 * decision. If it moves now, the batch can never be committed, even if it is still on its way to the
 * server. A committed batch is answered only when this second commit is confirmed, by the synchronous
 * standbys too.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { monotonicMs } from '../../clock.ts';
import { latencyBucket } from '../latency.ts';
import type { RowReceipt } from '../ledger-row.ts';
import { decide, meteredUnits, type Quotas, requireKnown } from '../quota-decision.ts';
import type { CommitOutcome, FailedRequest, MeteredRequest, ProbeOrder } from '../store.ts';
import {
  isConflict,
  isRefusal,
  isUnknownWriter,
  NotSentError,
  type PostgresConnection,
  type Row,
  toBuffer,
} from './connection.ts';

/** Attempts at a batch that conflicts with those of other servers. */
const MAX_ATTEMPTS = 5;

/**
 * Limit of the time to resolve an unknown outcome, limit of one attempt, and the pause between attempts.
 */
const RESOLVE_LIMIT_MS = 10_000;
const ATTEMPT_LIMIT_MS = 8_000;
const RESOLVE_PAUSE_MS = 100;

/** Decision of `commit_batch_5`: usage before the batch, and the repeated keys. */
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
  /** Accounts whose rows other sessions lock. Their failed requests were left out. */
  readonly deferred: readonly string[];
}

/** The result of a statement, or the failure of its last attempt. */
type Attempted = { readonly row: Row | undefined } | { readonly failure: unknown };

/** Limit of the failed requests of locked accounts that are kept for later batches. */
const MAX_DEFERRED = 10_000;

export class PostgresWriter {
  readonly #connection: PostgresConnection;
  readonly #quotas: Quotas;
  readonly #id: string = randomUUID();
  #registered = false;
  #turn = 0;
  /**
   * Failed requests that no batch could record yet, because other sessions lock the rows of their accounts.
   */
  #deferred: readonly FailedRequest[] = [];
  /** Settles after all earlier commits. A writer has at most one batch in progress. */
  #idle: Promise<unknown> = Promise.resolve();

  constructor(connection: PostgresConnection, quotas: Quotas) {
    this.#connection = connection;
    this.#quotas = quotas;
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
        JSON.stringify(this.#quotas),
      ];
      const decision = await this.#connection.guarded(() => this.#commitBatch(batch));
      const locked = new Set(decision.deferred);
      this.#deferred = failed.filter(({ accountId }) => locked.has(accountId)).slice(-MAX_DEFERRED);
      return outcomesOf(requests, decision);
    });
    this.#idle = outcomes.catch(() => {});
    return outcomes;
  }

  async #commitBatch(batch: readonly unknown[]): Promise<Decision> {
    const turn = await this.#takeTurn();
    const attempted = await this.#attempt(
      'SELECT commit_batch_5($1, $2, $3, $4, $5, $6) AS decision',
      [this.#id, turn, ...batch],
    );
    if ('row' in attempted) return attempted.row?.decision as Decision;
    const { failure } = attempted;
    if (isRefusal(failure) || failure instanceof NotSentError) throw failure;
    return await this.#resolve(turn, failure);
  }

  /**
   * Probes the ledger. A probe takes a number like a batch. Its outcome is never resolved, because it
   * leaves nothing.
   */
  probe({ accountIds, room }: ProbeOrder): Promise<boolean> {
    const probed = this.#idle.then(() =>
      this.#connection.guarded(() => this.#probe([accountIds, room])),
    );
    this.#idle = probed.catch(() => {});
    return probed;
  }

  async #probe(order: readonly unknown[]): Promise<boolean> {
    const turn = await this.#takeTurn();
    const attempted = await this.#attempt('SELECT probe_commit_2($1, $2, $3, $4) AS locked', [
      this.#id,
      turn,
      ...order,
    ]);
    if ('row' in attempted) return attempted.row?.locked === true;
    throw attempted.failure;
  }

  async #takeTurn(): Promise<number> {
    if (!this.#registered) await this.#register();
    return ++this.#turn;
  }

  /**
   * Runs a statement that returns one row. Retries if it conflicts with another server's, or if the
   * writer's row is missing.
   */
  async #attempt(sql: string, values: readonly unknown[]): Promise<Attempted> {
    for (let attempt = 1; ; attempt++) {
      try {
        const { rows } = await this.#connection.commit(sql, values);
        return { row: rows[0] };
      } catch (failure) {
        const isLast = attempt === MAX_ATTEMPTS;
        if (isUnknownWriter(failure) && !isLast) await this.#register();
        else if (!isConflict(failure) || isLast) return { failure };
      }
    }
  }

  /**
   * Adds this writer's row, before its first batch or after maintenance removed it as unused. The command
   * line commits nothing and has no row.
   */
  async #register(): Promise<void> {
    await this.#connection.commit(
      'INSERT INTO writers (writer_id, turn) VALUES ($1, $2) ON CONFLICT (writer_id) DO NOTHING',
      [this.#id, Math.max(0, this.#turn - 1)],
    );
    this.#registered = true;
  }

  /**
   * Finds out the outcome of a batch, on a new connection. While the batch is still being committed, its
   * row is locked and this statement waits.
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
   * Returns the decision of a committed batch; null for one that is not committed and never will be.
   *
   * A visible batch is certain to be on this server's disk, but no more: the wait for the standbys may have
   * been cut short. Writing its row again is a later commit on the same server. Standbys receive the log in
   * order, so one that confirms this commit has the batch. A read would prove nothing. Neither would a
   * second statement, which may reach another server.
   */
  async #giveUpOrConfirm(turn: number, leftMs: number): Promise<Decision | null> {
    const { rows } = await this.#connection.commit(
      `UPDATE writers SET turn = $2, decision = CASE WHEN turn = $2 THEN decision END
       WHERE writer_id = $1 AND turn <= $2 RETURNING decision`,
      [this.#id, turn],
      Math.min(ATTEMPT_LIMIT_MS, leftMs),
    );
    return (rows[0]?.decision as Decision | undefined) ?? null;
  }

  /** Records deferred requests, waits for the batch in progress, and removes this writer's row. */
  async close(): Promise<void> {
    if (this.#deferred.length > 0) await this.commit([], []).catch(() => {});
    await this.#idle;
    if (this.#turn > 0) {
      const gone = 'DELETE FROM writers WHERE writer_id = $1';
      await this.#connection.run(gone, [this.#id]).catch(() => {});
    }
  }
}

/** Converts the decision to one outcome per request, by the rule of `commit_batch_5`. */
function outcomesOf(requests: readonly MeteredRequest[], decision: Decision): CommitOutcome[] {
  const repeated = new Set(decision.repeated);
  const counters = new Map(
    decision.counters.map((counter) => [
      counter.accountId,
      { month: counter.month, used: Number(counter.used), quota: counter.quota },
    ]),
  );
  const outcomes = requests.map((request, position) => {
    const counter = counters.get(request.accountId);
    if (!counter) throw new Error('the database omitted an account of the batch');
    return decide(counter, meteredUnits(request), () => !repeated.has(position));
  });
  const committed = outcomes.filter(({ kind }) => kind === 'committed').length;
  if (committed !== decision.committed) throw new Error('the database decided otherwise');
  return outcomes;
}

/** Returns a request in the form that `commit_batch_5` reads. */
function requestColumns(request: MeteredRequest, position: number): Record<string, unknown> {
  requireKnown(request);
  const { accountId, apiKeyId, atMs, keys, counts } = request;
  const [row, ...more] = keys;
  if (more.length > 0) throw new TypeError('"keys" expected at most one row');
  const metered = {
    position,
    account_id: accountId,
    api_key_id: apiKeyId,
    at_ms: atMs,
    streams: counts.streams,
    streams_passed: counts.streamsPassed,
  };
  if (!row) return metered;
  return {
    ...metered,
    key_id: bytea(row.keyId),
    fingerprint: String(row.commitment.fingerprint),
    commitment: bytea(row.commitment.digest),
    secret_version: row.commitment.version,
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
    ...(row.receipt && receiptColumns(row.receipt)),
  };
}

/** The entry ID is the key ID. */
function receiptColumns(receipt: RowReceipt): Record<string, unknown> {
  const { keyCommitment, salt, strengthBits, sources, softwareId, pending } = receipt;
  return {
    key_commitment: bytea(keyCommitment),
    salt: bytea(salt),
    strength_bits: strengthBits,
    sources,
    software_id: softwareId,
    ...(pending && {
      log_id: pending.logId,
      entry: bytea(pending.entry),
      mac: bytea(pending.mac),
      mac_version: pending.secretVersion,
    }),
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

/** Returns the hexadecimal input form of a bytea. */
function bytea(bytes: Uint8Array): string {
  return `\\x${toBuffer(bytes).toString('hex')}`;
}
