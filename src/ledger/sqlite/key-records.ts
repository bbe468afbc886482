/** Key records in SQLite: listed, found, and revoked. */
import type { SQLInputValue } from 'node:sqlite';
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
  type Revocation,
  type RevocationOutcome,
  revocationAfter,
  SELECT_KEY_STATES,
  STATE_CANDIDATE_COLUMNS,
  stateOf,
  toKeyRecord,
  toKeyStateRecord,
} from '../key-records.ts';
import type { LedgerRow } from '../ledger-row.ts';
import type { AuditRecord } from '../log-store.ts';
import { mergedThrough } from './account-keys.ts';
import { insertAudit } from './audit.ts';
import type { SqliteConnection } from './connection.ts';
import { revokeCopies } from './deliveries.ts';
import { insertion } from './insertion.ts';

/** Rows of all accounts that a page may pass over. Usually fewer are missing from the index by account. */
const MAX_PASSED = 10_000;

const STATE = 'LEFT JOIN key_states ON key_states.key_id = ledger.key_id';

/** Selects a page of an account's keys by the index. Exported for its tests, which read its plan. */
export const KEY_PAGE = `SELECT ${KEY_RECORD_COLUMNS} FROM account_keys
  CROSS JOIN ledger ON ledger.key_id = account_keys.key_id ${STATE}
  WHERE account_keys.account_id = ? AND account_keys.key_id < ? AND account_keys.key_id >= ?
  ORDER BY account_keys.key_id DESC LIMIT ?`;

/** Selects a page of an account's keys from the rows of all accounts. */
const NEWEST_PAGE = `SELECT ${KEY_RECORD_COLUMNS} FROM ledger ${STATE}
  WHERE ledger.account_id = ? AND ledger.key_id < ? AND ledger.key_id >= ?
  ORDER BY ledger.key_id DESC LIMIT ?`;

/** Selects the last of the next rows of all accounts, if there are so many. */
const PASSED = `SELECT key_id AS keyId FROM ledger WHERE key_id < ? AND key_id >= ?
  ORDER BY key_id DESC LIMIT 1 OFFSET ${MAX_PASSED - 1}`;

const KEY_RECORD = `SELECT ${KEY_RECORD_COLUMNS} FROM ledger ${STATE}
  WHERE ledger.key_id = ? AND ledger.account_id = ?`;

const CANDIDATES = `SELECT ${STATE_CANDIDATE_COLUMNS} FROM key_states WHERE fingerprint = ?
  LIMIT ${MAX_CANDIDATES}`;

export const INSERT_EXPIRY = insertion(
  'INTO key_states',
  'key_id, account_id, fingerprint, commitment, secret_version, expires_ms',
);

/** Returns a page: the rows that the index by account may lack, then those that it has. */
export function listKeys(connection: SqliteConnection, query: KeyQuery): KeyPage {
  const { accountId, limit } = query;
  const [before, from] = boundsOf(query);
  const through = mergedThrough(connection);
  const newest = listNewest(connection, { ...query, fromKeyId: later(from, through) });
  if (newest.next !== null) return newest;
  const bounds = [Buffer.compare(before, through) < 0 ? before : through, from];
  const rest = limit - newest.keys.length;
  const rows = connection.all(KEY_PAGE, accountId, ...bounds, rest);
  const keys = [...newest.keys, ...rows.map(toKeyRecord)];
  return { keys, next: (keys.length === limit && keys.at(-1)?.keyId) || null };
}

function listNewest(connection: SqliteConnection, query: KeyQuery): KeyPage {
  const { accountId, limit } = query;
  const [before, from] = boundsOf(query);
  const passed = connection.get(PASSED, before, from)?.keyId as Uint8Array | undefined;
  const end = passed && endOfPage(passed, before);
  const rows = connection.all(NEWEST_PAGE, accountId, before, end ?? from, limit);
  const keys = rows.map(toKeyRecord);
  return { keys, next: (keys.length === limit ? keys.at(-1)?.keyId : end) ?? null };
}

const later = (one: Uint8Array, other: Uint8Array) =>
  Buffer.compare(one, other) > 0 ? one : other;

export function findKeyRecord(
  connection: SqliteConnection,
  accountId: string,
  keyId: Uint8Array,
): KeyRecord | null {
  const row = connection.get(KEY_RECORD, keyId, accountId);
  return row ? toKeyRecord(row) : null;
}

/** Revokes a key, within a transaction. */
export function revokeKey(
  connection: SqliteConnection,
  { order, audit }: AuditedRevocation,
): RevocationOutcome {
  const record = findKeyRecord(connection, order.accountId, order.keyId);
  if (record === null) return { kind: 'unknown' };
  const revocation = revocationAfter(record.revocation, order);
  if (revocation === record.revocation) {
    connection.writeUnchanged();
    return { kind: 'unchanged', record };
  }
  writeRevocation(connection, order.keyId, revocation, audit);
  revokeCopies(connection, order.keyId);
  insertAudit(connection, audit);
  return { kind: 'revoked', record: { ...record, revocation } };
}

function writeRevocation(
  connection: SqliteConnection,
  keyId: Uint8Array,
  { state, reason, revokedMs }: Revocation,
  { auditId }: AuditRecord,
): void {
  connection.run(
    `INSERT INTO key_states (key_id, account_id, fingerprint, commitment, secret_version, expires_ms,
       state, reason, revoked_ms, audit_id)
     SELECT key_id, account_id, fingerprint, commitment, secret_version, expires_ms, ?, ?, ?, ?
     FROM ledger WHERE key_id = ?
     ON CONFLICT (key_id) DO UPDATE SET state = excluded.state, reason = excluded.reason,
       revoked_ms = excluded.revoked_ms, audit_id = excluded.audit_id`,
    state,
    reason,
    revokedMs,
    auditId,
    keyId,
  );
}

/** Returns the values of `INSERT_EXPIRY`. */
export function expiryValues(
  accountId: string,
  { keyId, commitment, expiresMs }: LedgerRow,
): SQLInputValue[] {
  const { fingerprint, digest, version } = commitment;
  return [keyId, accountId, fingerprint, digest, version, expiresMs];
}

export function findState(connection: SqliteConnection, commitment: Commitment): KeyState | null {
  return stateOf(commitment, connection.all(CANDIDATES, commitment.fingerprint));
}

export function findKeyState(
  connection: SqliteConnection,
  keyId: Uint8Array,
): KeyStateRecord | null {
  const row = connection.get(`${SELECT_KEY_STATES} WHERE key_states.key_id = ?`, keyId);
  return row ? toKeyStateRecord(row) : null;
}

export function pageKeyStates(
  connection: SqliteConnection,
  after: Uint8Array | null,
  limit: number,
): KeyStateRecord[] {
  const page = `${SELECT_KEY_STATES} WHERE key_states.key_id > ? ORDER BY key_states.key_id LIMIT ?`;
  return connection.all(page, after ?? new Uint8Array(0), limit).map(toKeyStateRecord);
}
