/**
 * Records batches in PostgreSQL, each in one statement, and probes whether a batch could be recorded.
 *
 * The function `COMMIT_BATCH` locks the accounts of a batch in order, decides and writes. So a batch costs one round trip, and
 * no lock is held while data crosses the network.
 *
 * A lost answer leaves the outcome of a batch unknown. Each writer has a row in `writers` that holds the
 * number of its latest batch and moves in the batch's transaction. To resolve a batch, the writer moves
 * that number without it. If the number has already moved, the batch is committed and the row holds the
 * decision. If it moves now, the batch can never be committed, even if it is still on its way to the
 * server. A committed batch is answered only when this second commit is confirmed, by the synchronous
 * standbys too.
 *
 * The decision names the replayed requests. Their stored answers, of up to 4 MiB, come beside it; after a lost
 * answer the writer reads them.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { monotonicMs } from '../../clock.ts';
import { type AnswerRow, toAnswer } from '../idempotency-columns.ts';
import { keyIdMs } from '../key-time.ts';
import type { Quotas } from '../quota-decision.ts';
import type {
  AnswerQuery,
  CommitOutcome,
  FailedRequest,
  MeteredRequest,
  ProbeOrder,
  StoredAnswer,
} from '../store.ts';
import {
  ANSWER,
  type AnswerJson,
  answersOf,
  CONFIRMED_ANSWERS,
  keyedRequests,
  recordColumns,
} from './answers.ts';
import { failureColumns, keyColumns, requestColumns } from './batch-columns.ts';
import { type Decided, type Decision, NO_PLAN, outcomesOf } from './batch-decision.ts';
import { otherFingerprints, repeatsUnderOtherVersions } from './candidates.ts';
import {
  isConflict,
  isRefusal,
  isUnknownWriter,
  lacksMonth,
  NotSentError,
  type PostgresConnection,
  type Row,
} from './connection.ts';
import { deliveryColumns } from './deliveries.ts';
import { Months } from './months.ts';

/** Attempts at a batch that conflicts with those of other servers. */
const MAX_ATTEMPTS = 5;

/** Pause until other sessions are told of a new month, which the session that made it may do late on a busy machine. */
const MONTH_PAUSE_MS = 50;

/**
 * Limit of the time to resolve an unknown outcome, limit of one attempt, and the pause between attempts.
 */
const RESOLVE_LIMIT_MS = 10_000;
const ATTEMPT_LIMIT_MS = 8_000;
const RESOLVE_PAUSE_MS = 100;

/**
 * The function of the database that commits a batch, the newest `commit_batch_N` of `migrations/postgres/`. It calls
 * `write_batch_N` of the same number. Servers of earlier releases call the earlier ones.
 */
export const COMMIT_BATCH = 'commit_batch_12';

/**
 * Commits a batch if the ledger has no row of the fingerprints $9, and returns no row otherwise. The call of the function
 * depends on a row of `new`, so there is none without it. With an empty list, one row costs nothing.
 */
const COMMIT_UNLESS = `
  SELECT batch.* FROM (
    SELECT NOT EXISTS (
      SELECT FROM unnest($9::bigint[]) AS other (fingerprint)
      CROSS JOIN LATERAL (
        SELECT FROM ledger WHERE ledger.fingerprint = other.fingerprint LIMIT 1) AS found
    ) AS are_new OFFSET 0) AS new
  CROSS JOIN LATERAL ${COMMIT_BATCH}($1, CASE WHEN new.are_new THEN $2::bigint END, $16, $3, $4, $5, $6, $7, $8,
    $14, $15, $10, $11, $12, $13) AS batch
  WHERE new.are_new`;

/** The result of a statement, or the failure of its last attempt. */
type Attempted = { readonly row: Row | undefined } | { readonly failure: unknown };

/** Limit of the failed requests of locked accounts that are kept for later batches. */
const MAX_DEFERRED = 10_000;

export class PostgresWriter {
  readonly #connection: PostgresConnection;
  readonly #quotas: Quotas;
  /** The version of the schema whose columns this program writes. */
  readonly #schema: number;
  readonly #months: Months;
  readonly #id: string = randomUUID();
  #registered = false;
  #turn = 0;
  /**
   * Failed requests that no batch could record yet, because other sessions lock the rows of their accounts.
   */
  #deferred: readonly FailedRequest[] = [];
  /** Accounts that the last batch with their requests left out. No batch waits for their rows until one gets them. */
  #busy: ReadonlySet<string> = new Set();
  /** Settles after all earlier commits. A writer has at most one batch in progress. */
  #idle: Promise<unknown> = Promise.resolve();

  constructor(connection: PostgresConnection, quotas: Quotas, schema: number) {
    this.#connection = connection;
    this.#quotas = quotas;
    this.#schema = schema;
    this.#months = new Months(connection);
  }

  commit(
    requests: readonly MeteredRequest[],
    failures: readonly FailedRequest[],
  ): Promise<CommitOutcome[]> {
    const outcomes = this.#idle.then(() => this.#commitNew(requests, failures));
    this.#idle = outcomes.catch(() => {});
    return outcomes;
  }

  /** Commits all requests but those whose key the ledger has under another version of the master secret. */
  async #commitNew(
    requests: readonly MeteredRequest[],
    failures: readonly FailedRequest[],
  ): Promise<CommitOutcome[]> {
    const others = otherFingerprints(requests);
    const outcomes = await this.#commitUnless(others, requests, failures);
    if (outcomes) return outcomes;
    const repeated = await this.#connection.guarded(() =>
      repeatsUnderOtherVersions(this.#connection, requests),
    );
    const rest = requests.filter((_, position) => !repeated.has(position));
    const ofRest = (await this.#commitUnless([], rest, failures)) ?? [];
    let next = 0;
    return requests.map((_, position) =>
      repeated.has(position) ? { kind: 'repeated_key' } : (ofRest[next++] as CommitOutcome),
    );
  }

  /** Returns null, and commits nothing, if the ledger has a row of one of these fingerprints. */
  async #commitUnless(
    others: readonly string[],
    requests: readonly MeteredRequest[],
    failures: readonly FailedRequest[],
  ): Promise<CommitOutcome[] | null> {
    const failed = [...this.#deferred, ...failures];
    const keyed = keyedRequests(requests);
    const batch = [
      [...new Set(requests.map(({ accountId }) => accountId))],
      JSON.stringify(requests.map(requestColumns)),
      JSON.stringify(requests.flatMap(keyColumns)),
      JSON.stringify(keyed.map(recordColumns)),
      keyed.flatMap(({ record }) => (record.body === null ? [] : [record.body])),
      JSON.stringify(failed.map(failureColumns)),
    ];
    const values = [...batch, others, ...deliveryColumns(requests)];
    const decided = await this.#connection.guarded(() => this.#commitBatch(requests, values));
    if (decided === null) return null;
    const locked = new Set(decided.decision.deferred);
    this.#deferred = failed.filter(({ accountId }) => locked.has(accountId)).slice(-MAX_DEFERRED);
    this.#noteBusy(requests, locked);
    return outcomesOf(requests, decided);
  }

  #noteBusy(requests: readonly MeteredRequest[], locked: ReadonlySet<string>): void {
    if (this.#busy.size === 0 && locked.size === 0) return;
    const asked = new Set(requests.map(({ accountId }) => accountId));
    const others = [...this.#busy].filter((accountId) => !asked.has(accountId));
    this.#busy = new Set([...others, ...[...asked].filter((accountId) => locked.has(accountId))]);
  }

  /** Returns null, and commits nothing, if the ledger has a row of a fingerprint in `batch`. */
  async #commitBatch(
    requests: readonly MeteredRequest[],
    batch: readonly unknown[],
    quotas: Quotas = this.#quotas,
  ): Promise<Decided | null> {
    const turn = await this.#takeTurn();
    const values = [
      this.#id,
      turn,
      ...batch,
      JSON.stringify(quotas),
      [...this.#busy],
      this.#schema,
    ];
    const keyTimesMs = requests.flatMap(({ keys }) => keys.map(({ keyId }) => keyIdMs(keyId)));
    const attempted = await this.#attempt(COMMIT_UNLESS, values, keyTimesMs);
    if ('row' in attempted) {
      if (attempted.row === undefined) return null;
      const { decision, answers } = attempted.row as { decision: Decision; answers: unknown };
      return { decision, answers: answersOf(answers as readonly AnswerJson[] | null) };
    }
    const { failure } = attempted;
    if (quotas === this.#quotas && lacksPlan(failure)) {
      return this.#commitBatch(requests, batch, await this.#quotasWithUnknown(requests));
    }
    if (isRefusal(failure) || failure instanceof NotSentError) throw failure;
    return await this.#resolve(requests, turn, failure);
  }

  /**
   * Returns the quotas with an impossible one for each plan of these requests that this server lacks. The database
   * refuses a batch with such a plan; with this quota it refuses only the requests of its accounts.
   */
  async #quotasWithUnknown(requests: readonly MeteredRequest[]): Promise<Quotas> {
    const { rows } = await this.#connection.run(
      'SELECT DISTINCT plan FROM accounts WHERE account_id = ANY ($1)',
      [requests.map(({ accountId }) => accountId)],
    );
    const plans = rows.map(({ plan }) => String(plan));
    return { ...Object.fromEntries(plans.map((plan) => [plan, NO_PLAN])), ...this.#quotas };
  }

  /** Reads the stored answers of a decision whose own answer was lost. */
  async #readAnswers(
    requests: readonly MeteredRequest[],
    { answered }: Decision,
  ): Promise<ReadonlyMap<number, StoredAnswer>> {
    const found = new Map<number, StoredAnswer>();
    for (const position of answered) {
      const { accountId, idempotency } = requests[position] as MeteredRequest;
      const { rows } = await this.#connection.run(ANSWER, [
        accountId,
        idempotency?.key,
        idempotency?.requestHash,
      ]);
      if (rows[0]) found.set(position, toAnswer(rows[0] as unknown as AnswerRow));
    }
    return found;
  }

  /** Returns the answers for these queries, null without one, when a later commit is confirmed. */
  async confirmedAnswers(queries: readonly AnswerQuery[]): Promise<(StoredAnswer | null)[]> {
    const rows = await this.#connection.guarded(() => this.#readConfirmed(queries));
    const answers = new Map(
      rows.map(({ place, ...row }) => [Number(place), toAnswer(row as unknown as AnswerRow)]),
    );
    return queries.map((_, i) => answers.get(i + 1) ?? null);
  }

  async #readConfirmed(queries: readonly AnswerQuery[]): Promise<Row[]> {
    const values = [
      this.#id,
      queries.map(({ accountId }) => accountId),
      queries.map(({ key }) => key),
      queries.map(({ requestHash }) => Buffer.from(requestHash)),
    ];
    if (!this.#registered) await this.#register();
    let { rows } = await this.#connection.commit(CONFIRMED_ANSWERS, values);
    if (rows.length === 0) {
      // Maintenance has removed the writer's row as unused.
      await this.#register();
      ({ rows } = await this.#connection.commit(CONFIRMED_ANSWERS, values));
    }
    if (rows.length === 0) throw new Error('the database does not know this server');
    return rows.filter(({ place }) => place !== null);
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
    const attempted = await this.#attempt('SELECT probe_commit_5($1, $2, $3, $4) AS locked', [
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
   * Makes the months of these keys, then runs a statement that returns one row. Retries if it conflicts with another server's,
   * also about a new month, or if the writer's row is missing.
   */
  async #attempt(
    sql: string,
    values: readonly unknown[],
    keyTimesMs: readonly number[] = [],
  ): Promise<Attempted> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#months.make(keyTimesMs);
        const { rows } = await this.#connection.commit(sql, values);
        return { row: rows[0] };
      } catch (failure) {
        const isLast = attempt === MAX_ATTEMPTS;
        if (isUnknownWriter(failure) && !isLast) await this.#register();
        else if (lacksMonth(failure) && !isLast) {
          this.#months.forget();
          await delay(MONTH_PAUSE_MS);
        } else if (!isConflict(failure) || isLast) return { failure };
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
  async #resolve(
    requests: readonly MeteredRequest[],
    turn: number,
    cause: unknown,
  ): Promise<Decided> {
    const deadline = monotonicMs() + RESOLVE_LIMIT_MS;
    for (let leftMs = RESOLVE_LIMIT_MS; leftMs > 0; leftMs = deadline - monotonicMs()) {
      const decided = await this.#findOut(requests, turn, leftMs).catch(() => undefined);
      if (decided) return decided;
      if (decided === null) break;
      await delay(RESOLVE_PAUSE_MS);
    }
    throw cause;
  }

  /** Returns the decision of a committed batch with its stored answers; null for one that never will be committed. */
  async #findOut(
    requests: readonly MeteredRequest[],
    turn: number,
    leftMs: number,
  ): Promise<Decided | null> {
    const decision = await this.#giveUpOrConfirm(turn, leftMs);
    return decision && { decision, answers: await this.#readAnswers(requests, decision) };
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
    if (this.#registered) {
      const gone = 'DELETE FROM writers WHERE writer_id = $1';
      await this.#connection.run(gone, [this.#id]).catch(() => {});
    }
  }
}

/** Returns true for the refusal of a batch because of an account's plan. */
function lacksPlan(failure: unknown): boolean {
  return isRefusal(failure) && /has a plan without a quota$/.test((failure as Error).message);
}
