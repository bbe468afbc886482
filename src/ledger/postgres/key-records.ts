/** Key records in PostgreSQL: listed, found, and revoked. */
import type { Commitment } from '../../proof/index.ts';
import { MAX_CANDIDATES } from '../commitments.ts';
import {
  type AuditedRevocation,
  boundsOf,
  endOfPage,
  KEY_RECORD_COLUMNS,
  type KeyPage,
  type KeyQuery,
  type KeyRecord,
  type KeyState,
  type KeyStateRecord,
  type RevocationOutcome,
  SELECT_KEY_STATES,
  STATE_CANDIDATE_COLUMNS,
  stateOf,
  toKeyRecord,
  toKeyStateRecord,
  toRevocation,
} from '../key-records.ts';
import { hasAccountIndex } from './account-index.ts';
import { countOf, type Statement, withAudits } from './audit.ts';
import { type PostgresConnection, toBuffer } from './connection.ts';

/** Rows of all accounts that a page may pass over while the index by account is incomplete. */
const MAX_PASSED = 1_000;

/** The state of a row of `ledger`, one look-up each whatever the tables' sizes. */
const STATE =
  'LEFT JOIN LATERAL (SELECT * FROM key_states WHERE key_states.key_id = ledger.key_id LIMIT 1)';

/**
 * Selects a page of an account's keys. The index delivers the order only if the account is part of it: with `account_id =
 * $1`, the planner may read the keys of all accounts instead. The plain bounds leave out months. Exported for its tests,
 * which read its plan.
 */
export const KEY_PAGE = `SELECT ${KEY_RECORD_COLUMNS} FROM (
    SELECT * FROM ledger
    WHERE (account_id, key_id) < ($1, $2::bytea) AND (account_id, key_id) >= ($1, $3::bytea)
      AND key_id < $2 AND key_id >= $3
    ORDER BY account_id DESC, key_id DESC LIMIT $4) AS ledger
  ${STATE} AS key_states ON true ORDER BY ledger.account_id DESC, ledger.key_id DESC`;

/** Selects the last of the next rows of all accounts, if there are so many. */
const PASSED = `SELECT key_id AS "keyId" FROM ledger WHERE key_id < $1 AND key_id >= $2
  ORDER BY key_id DESC OFFSET ${MAX_PASSED - 1} LIMIT 1`;

const KEY_RECORDS = `SELECT position, found.*
  FROM unnest($1::bytea[], $2::text[]) WITH ORDINALITY AS asked (key_id, account_id, position)
  CROSS JOIN LATERAL (
    SELECT ${KEY_RECORD_COLUMNS} FROM ledger ${STATE} AS key_states ON true
    WHERE ledger.key_id = asked.key_id AND ledger.account_id = asked.account_id) AS found`;

/** Selects states by fingerprint. */
const CANDIDATES = `SELECT position, found.* FROM unnest($1::bigint[]) WITH ORDINALITY AS asked (fingerprint, position)
  CROSS JOIN LATERAL (
    SELECT ${STATE_CANDIDATE_COLUMNS} FROM key_states
    WHERE key_states.fingerprint = asked.fingerprint LIMIT ${MAX_CANDIDATES}) AS found`;

const KEY_STATES = `SELECT position, found.* FROM unnest($1::bytea[]) WITH ORDINALITY AS asked (key_id, position)
  CROSS JOIN LATERAL (${SELECT_KEY_STATES} WHERE key_states.key_id = asked.key_id) AS found`;

const KEY_STATE_PAGE = `${SELECT_KEY_STATES} WHERE key_states.key_id > $1 ORDER BY key_states.key_id LIMIT $2`;

/** The columns of a revocation, each taken from the order if `IS_NEW`. */
const REVOCATION = ['state', 'reason', 'revoked_ms', 'audit_id'];

/** `revocationAfter` in SQL. `excluded` is the order. */
const IS_NEW = `CASE excluded.state WHEN 'compromised' THEN key_states.state IS DISTINCT FROM 'compromised'
  ELSE key_states.state IS NULL END`;

/** The rows of `ledger` to revoke, each with its order, but for those whose state another session locks. */
const REVOKED = [
  'locked AS MATERIALIZED (SELECT unnest(lock_key_states($1::bytea[])) AS key_id)',
  `revoked AS (
    SELECT found.*, asked.state, asked.reason, asked.at_ms, asked.audit_id
    FROM unnest($1::bytea[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bytea[])
      AS asked (key_id, account_id, state, reason, at_ms, audit_id)
    CROSS JOIN LATERAL (
      SELECT key_id, account_id, fingerprint, commitment, secret_version, expires_ms FROM ledger
      WHERE ledger.key_id = asked.key_id AND ledger.account_id = asked.account_id) AS found
    WHERE asked.key_id NOT IN (SELECT key_id FROM locked))`,
  // Their copies leave the boxes.
  `boxed AS MATERIALIZED (
    SELECT copies.account_id, copies.delivery_id, copies.recipient FROM revoked
    JOIN deliveries ON deliveries.key_id = revoked.key_id
    JOIN delivery_copies AS copies ON copies.account_id = deliveries.account_id
      AND copies.delivery_id = deliveries.delivery_id
    WHERE copies.state IN ('waiting', 'received')
    ORDER BY copies.account_id, copies.delivery_id, copies.recipient FOR NO KEY UPDATE OF copies)`,
  `unboxed AS (
    UPDATE delivery_copies AS copies SET state = 'revoked', sealed_key = NULL FROM boxed
    WHERE copies.account_id = boxed.account_id AND copies.delivery_id = boxed.delivery_id
      AND copies.recipient = boxed.recipient)`,
];

/** Revokes distinct keys, in the order of their IDs: two statements then wait for each other in one direction only. */
const REVOKE = `INSERT INTO key_states (key_id, account_id, fingerprint, commitment, secret_version, expires_ms,
    ${REVOCATION.join(', ')})
  SELECT * FROM revoked ORDER BY key_id
  ON CONFLICT (key_id) DO UPDATE SET ${REVOCATION.map(
    (name) => `${name} = CASE WHEN ${IS_NEW} THEN excluded.${name} ELSE key_states.${name} END`,
  ).join(', ')}
  RETURNING key_id AS "keyId", state, reason, revoked_ms AS "revokedMs", audit_id`;

export class PostgresKeyRecords {
  readonly #connection: PostgresConnection;
  /** Set once every month has its part of the index by account. */
  #isIndexed = false;

  constructor(connection: PostgresConnection) {
    this.#connection = connection;
  }

  async list(query: KeyQuery): Promise<KeyPage> {
    const { accountId, limit } = query;
    const [before, from] = boundsOf(query).map(toBuffer);
    const end = await this.#end(before, from);
    const bound = end ? toBuffer(end) : from;
    const rows = await this.#connection.all(KEY_PAGE, accountId, before, bound, limit);
    const keys = rows.map(toKeyRecord);
    return { keys, next: (keys.length === limit ? keys.at(-1)?.keyId : end) ?? null };
  }

  /** Returns where a page must end because not every month can be read by account; null if all can. */
  async #end(before: Buffer, from: Buffer): Promise<Uint8Array | null> {
    this.#isIndexed ||= await hasAccountIndex(this.#connection);
    if (this.#isIndexed) return null;
    const row = await this.#connection.get(PASSED, before, from);
    return row ? endOfPage(row.keyId as Uint8Array, before) : null;
  }

  async find(accountId: string, keyId: Uint8Array): Promise<KeyRecord | null> {
    const [record = null] = await this.#findAll([{ accountId, keyId }]);
    return record;
  }

  /** Returns the records in the order of the queries; null where the account has no row of the key. */
  async #findAll(
    asked: readonly Pick<KeyRecord, 'accountId' | 'keyId'>[],
  ): Promise<(KeyRecord | null)[]> {
    if (asked.length === 0) return [];
    const keyIds = asked.map(({ keyId }) => toBuffer(keyId));
    const accountIds = asked.map(({ accountId }) => accountId);
    const rows = await this.#connection.all(KEY_RECORDS, keyIds, accountIds);
    const found = new Map(rows.map((row) => [Number(row.position), toKeyRecord(row)]));
    return asked.map((_, i) => found.get(i + 1) ?? null);
  }

  /** One statement changes a key only once, so repeated orders for a key follow in statements of their own. */
  async revoke(revocations: readonly AuditedRevocation[]): Promise<RevocationOutcome[]> {
    const outcomes = new Map<AuditedRevocation, RevocationOutcome>();
    for (let left = revocations; left.length > 0; ) {
      const firsts = new Map(left.toReversed().map((one) => [idOf(one.order.keyId), one]));
      const round = [...firsts.values()];
      const found = await this.#revokeDistinct(round);
      round.forEach((one, i) => {
        outcomes.set(one, found[i]);
      });
      left = left.filter((one) => !outcomes.has(one));
    }
    return revocations.map((one) => outcomes.get(one) as RevocationOutcome);
  }

  async #revokeDistinct(round: readonly AuditedRevocation[]): Promise<RevocationOutcome[]> {
    const records = await this.#findAll(round.map(({ order }) => order));
    const known = round.filter((_, i) => records[i] !== null);
    if (known.length === 0) return round.map(() => ({ kind: 'unknown' }));
    const audits = known.map(({ audit }) => audit);
    const { sql, values } = withAudits(revocationsOf(known), audits);
    const rows = await this.#connection.changedRows(sql, ...values);
    const written = new Map(rows.map((row) => [idOf(row.keyId as Uint8Array), row]));
    // The others are locked, unless their rows were pruned in between.
    const others = known.filter(({ order }) => !written.has(idOf(order.keyId)));
    const kept = await this.#findAll(others.map(({ order }) => order));
    const locked = new Set(others.filter((_, i) => kept[i] !== null));
    return round.map((one, i) => {
      const { order, audit } = one;
      if (locked.has(one)) return { kind: 'locked' };
      const record = records[i];
      const row = written.get(idOf(order.keyId));
      if (!record || !row) return { kind: 'unknown' };
      const isNew = Buffer.compare(row.audit_id as Uint8Array, audit.auditId) === 0;
      const kind = isNew ? 'revoked' : 'unchanged';
      return { kind, record: { ...record, revocation: toRevocation(row) } };
    });
  }

  async findStates(commitments: readonly Commitment[]): Promise<(KeyState | null)[]> {
    if (commitments.length === 0) return [];
    const fingerprints = commitments.map(({ fingerprint }) => String(fingerprint));
    const rows = await this.#connection.all(CANDIDATES, fingerprints);
    const candidates = Map.groupBy(rows, ({ position }) => Number(position));
    return commitments.map((one, i) => stateOf(one, candidates.get(i + 1) ?? []));
  }

  async findKeyStates(keyIds: readonly Uint8Array[]): Promise<(KeyStateRecord | null)[]> {
    const rows = await this.#connection.all(KEY_STATES, keyIds.map(toBuffer));
    const found = new Map(rows.map((row) => [Number(row.position), toKeyStateRecord(row)]));
    return keyIds.map((_, i) => found.get(i + 1) ?? null);
  }

  async pageKeyStates(after: Uint8Array | null, limit: number): Promise<KeyStateRecord[]> {
    const rows = await this.#connection.all(
      KEY_STATE_PAGE,
      toBuffer(after ?? new Uint8Array(0)),
      limit,
    );
    return rows.map(toKeyStateRecord);
  }
}

function revocationsOf(revocations: readonly AuditedRevocation[]): Statement {
  const orders = revocations.map(({ order }) => order);
  const values = [
    orders.map(({ keyId }) => toBuffer(keyId)),
    orders.map(({ accountId }) => accountId),
    orders.map(({ state }) => state),
    orders.map(({ reason }) => reason),
    orders.map(({ atMs }) => atMs),
    revocations.map(({ audit }) => toBuffer(audit.auditId)),
  ];
  const must = ['key_states', countOf('revoked')] as const;
  return { parts: REVOKED, sql: REVOKE, must, values };
}

function idOf(keyId: Uint8Array): string {
  return toBuffer(keyId).toString('hex');
}
