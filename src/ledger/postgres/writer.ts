/**
 * Records batches in PostgreSQL, each with one statement, and probes whether a batch could be recorded.
 *
 * `commit_batch_4` (in the eighth migration) locks the accounts of a batch in order, decides and writes,
 * so a batch costs one round trip and no lock is held while anything crosses the network.
 *
 * A lost answer leaves it open whether a batch was committed. Each writer has a row of its own that holds
 * the number of its latest batch, moved in the batch's transaction. To resolve a batch is to move that
 * number without it. If it has moved already, the batch is committed and the row says what was decided.
 * If it moves now, the batch can never be committed any more, even if it is still on its way to the
 * server. A batch that is found committed is answered only when the commit of that question was
 * confirmed, by the synchronous standbys too.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { monotonicMs } from '../../clock.ts';
import { latencyBucket } from '../latency.ts';
import { decide, type Quotas } from '../quota-decision.ts';
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

/** What came of a statement, or why the last attempt at it failed. */
type Attempted = { readonly row: Row | undefined } | { readonly failure: unknown };

/** Failed requests of locked accounts that are kept for later batches. */
const MAX_DEFERRED = 10_000;

export class PostgresWriter {
  readonly #connection: PostgresConnection;
  readonly #quotas: Quotas;
  readonly #id: string = randomUUID();
  #registered = false;
  #turn = 0;
  /** Failed requests that no batch could record yet, because others lock the rows of their accounts. */
  #deferred: readonly FailedRequest[] = [];
  /** Ends when the commits before have: a writer has one batch under way. */
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
      'SELECT commit_batch_4($1, $2, $3, $4, $5, $6) AS decision',
      [this.#id, turn, ...batch],
    );
    if ('row' in attempted) return attempted.row?.decision as Decision;
    const { failure } = attempted;
    if (isRefusal(failure) || failure instanceof NotSentError) throw failure;
    return await this.#resolve(turn, failure);
  }

  /** A probe takes a turn like a batch. Its outcome is never asked after: it leaves nothing. */
  probe({ accountIds, room }: ProbeOrder): Promise<boolean> {
    const probed = this.#idle.then(() =>
      this.#connection.guarded(() => this.#probe([accountIds, room])),
    );
    this.#idle = probed.catch(() => {});
    return probed;
  }

  async #probe(order: readonly unknown[]): Promise<boolean> {
    const turn = await this.#takeTurn();
    const attempted = await this.#attempt('SELECT probe_commit($1, $2, $3, $4) AS locked', [
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

  /** Runs a statement that returns one row: again if it lost against those of other servers, or lacked the writer's row. */
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
   * Adds the row of this one among the writers, before its first batch, or again when maintenance took it
   * for one of a server that is gone. The command line, which commits nothing, has none.
   */
  async #register(): Promise<void> {
    await this.#connection.commit(
      'INSERT INTO writers (writer_id, turn) VALUES ($1, $2) ON CONFLICT (writer_id) DO NOTHING',
      [this.#id, Math.max(0, this.#turn - 1)],
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
    const { rows } = await this.#connection.commit(
      `UPDATE writers SET turn = $2, decision = CASE WHEN turn = $2 THEN decision END
       WHERE writer_id = $1 AND turn <= $2 RETURNING decision`,
      [this.#id, turn],
      Math.min(ATTEMPT_LIMIT_MS, leftMs),
    );
    return (rows[0]?.decision as Decision | undefined) ?? null;
  }

  /** Records what was deferred, waits for what is under way, and removes the row among the writers. */
  async close(): Promise<void> {
    if (this.#deferred.length > 0) await this.commit([], []).catch(() => {});
    await this.#idle;
    if (this.#turn > 0) {
      const gone = 'DELETE FROM writers WHERE writer_id = $1';
      await this.#connection.run(gone, [this.#id]).catch(() => {});
    }
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
  const outcomes = requests.map(({ accountId }, position) => {
    const counter = counters.get(accountId);
    if (!counter) throw new Error('the database left an account of the batch out');
    return decide(counter, () => !repeated.has(position));
  });
  const committed = outcomes.filter(({ kind }) => kind === 'committed').length;
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
