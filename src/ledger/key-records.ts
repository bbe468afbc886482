/**
 * Key records: what the ledger knows about a key, and the states of keys. `test/ledger/records-contract.ts` runs the
 * contract against every store.
 *
 * A key without a state is active. It gets a state with its expiry, in the transaction of its row, or by a revocation.
 * States outlive the rows of their keys, so that a pruned key stays revoked.
 */
import type { Commitment } from '../proof/index.ts';
import { matches } from './commitments.ts';
import { keyIdMs } from './key-time.ts';
import type { RecordedEvidence, RecordedRow } from './ledger-row.ts';
import type { AuditRecord } from './log-store.ts';
import {
  ownMembers,
  type Row,
  SEAL_PLACES,
  selection,
  toAuditRecord,
  toCommitment,
  toRecipients,
  toVerdict,
  VERDICT_PLACES,
} from './recorded-row.ts';

/** States that a revocation leads to (SP 800-57 Part 1 Rev. 5, §7). */
export const REVOKED_STATES = ['deactivated', 'compromised'] as const;
export type RevokedState = (typeof REVOKED_STATES)[number];

/** Reasons of RFC 5280 §5.3.1. */
export const REVOCATION_REASONS = [
  'key_compromise',
  'superseded',
  'cessation_of_use',
  'unspecified',
] as const;
export type RevocationReason = (typeof REVOCATION_REASONS)[number];

export interface Revocation {
  readonly state: RevokedState;
  readonly reason: RevocationReason;
  readonly revokedMs: number;
}

/** What ends the use of a key. */
export interface KeyEnd {
  /** The key is deactivated from this time on; null: never. */
  readonly expiresMs: number | null;
  readonly revocation: Revocation | null;
}

/** A state by the commitment of its key. */
export interface KeyState extends KeyEnd {
  readonly keyId: Uint8Array;
}

/** Members of a row that the record of its key has, too. */
const SHOWN = [
  ...(['keyId', 'accountId', 'apiKeyId', 'createdMs', 'securityLevel'] as const),
  ...(['modulation', 'source', 'labels', 'expiresMs'] as const),
] as const;

/** A key that the ledger has a row of. */
export interface KeyRecord extends KeyEnd, Pick<RecordedRow, (typeof SHOWN)[number]> {
  /** Null for a key that was recorded without a log. */
  readonly strengthBits: number | null;
  /** Null for a plain key. */
  readonly evidence: Omit<RecordedEvidence, 'pValues'> | null;
  /** Thumbprints of the recipients, 32 bytes each, in the order of the request; none for a key that was returned in plaintext. */
  readonly recipients: readonly Uint8Array[];
  /** The ID of the delivery whose copies hold the key, 16 bytes; null without one. */
  readonly deliveryId: Uint8Array | null;
  /** True if the row has what a receipt needs. */
  readonly hasReceipt: boolean;
}

/** Asks for keys of an account. */
export interface KeyQuery {
  readonly accountId: string;
  /** Only keys with a lower ID; null: from the newest on. */
  readonly beforeKeyId: Uint8Array | null;
  /** Only keys with this or a higher ID; null: to the oldest. */
  readonly fromKeyId: Uint8Array | null;
  /** Most keys of the page, at most 1,000. */
  readonly limit: number;
}

export interface KeyPage {
  /** Newest first. May have fewer than `limit`, also none, although more follow. */
  readonly keys: readonly KeyRecord[];
  /** `beforeKeyId` of the next page; null at the end. */
  readonly next: Uint8Array | null;
}

export interface RevocationOrder {
  readonly accountId: string;
  readonly keyId: Uint8Array;
  readonly state: RevokedState;
  readonly reason: RevocationReason;
  readonly atMs: number;
}

/** An order with the audit record of its change. */
export interface AuditedRevocation {
  readonly order: RevocationOrder;
  readonly audit: AuditRecord;
}

export type SettledRevocation =
  /** `unchanged`: the key already was in this state, or is compromised. */
  | { readonly kind: 'revoked' | 'unchanged'; readonly record: KeyRecord }
  /** The account has no row of this key. */
  | { readonly kind: 'unknown' };

export type RevocationOutcome =
  | SettledRevocation
  /** Another session keeps the state of the key locked (PostgreSQL). Nothing was written: try it again. */
  | { readonly kind: 'locked' };

/** A stored state, with what explains it. */
export interface KeyStateRecord extends KeyState {
  readonly accountId: string;
  readonly commitment: Commitment;
  /** The row of the key; null if it was pruned. */
  readonly row: KeyStateRow | null;
  /** The audit record of the revocation; null without one. */
  readonly audit: AuditRecord | null;
}

/** What the row of a key says about its state. */
interface KeyStateRow {
  readonly accountId: string;
  readonly commitment: Commitment;
  readonly expiresMs: number | null;
}

export interface KeyRecordStore {
  /** Returns a page of an account's keys. Reads at most a few thousand rows. */
  listKeys(query: KeyQuery): Promise<KeyPage>;
  /** Returns null if the account has no row of this key. */
  findKeyRecord(accountId: string, keyId: Uint8Array): Promise<KeyRecord | null>;
  /**
   * Revokes keys in one transaction, in this order, waits for no key that another session locks, and returns an outcome for each. A key goes from active to deactivated
   * or compromised, and from deactivated to compromised; none becomes active again. Whether its time is up changes
   * nothing: a clock that is set back must not make it valid. An audit record is written only if it changes the state. An
   * unchanged state is written again, so that its commit is confirmed: a caller may repeat an order whose commit was not.
   * A revoked key's copies leave their boxes.
   */
  revokeKeys(revocations: readonly AuditedRevocation[]): Promise<RevocationOutcome[]>;
  /**
   * Returns the state of each commitment, also of pruned keys; null without one. Only the fingerprints reach the
   * database.
   */
  findStates(commitments: readonly Commitment[]): Promise<(KeyState | null)[]>;
  /** Returns the states of keys with these IDs, in the same order; null without one. */
  findKeyStates(keyIds: readonly Uint8Array[]): Promise<(KeyStateRecord | null)[]>;
  /** Returns the states after a key ID in its order, null from the first on. */
  pageKeyStates(after: Uint8Array | null, limit: number): Promise<KeyStateRecord[]>;
}

/** Returns the revocation that is stored after this order; the same object if nothing changes. */
export function revocationAfter(
  revocation: Revocation | null,
  { state, reason, atMs }: Pick<RevocationOrder, 'state' | 'reason' | 'atMs'>,
): Revocation {
  if (revocation?.state === 'compromised') return revocation;
  if (revocation !== null && state === 'deactivated') return revocation;
  return { state, reason, revokedMs: atMs };
}

const KEY_ID_BYTES = 16;

/**
 * Returns where a page ends that may pass over rows of all accounts only down to `passed`: just above the millisecond of
 * that row, because its key ID may belong to another account and a page names its end. A page that would be empty ends at
 * the row itself.
 */
export function endOfPage(passed: Uint8Array, beforeKeyId: Uint8Array): Uint8Array {
  const end = Buffer.alloc(KEY_ID_BYTES);
  end.writeUIntBE(keyIdMs(passed) + 1, 0, 6);
  return Buffer.compare(end, beforeKeyId) < 0 ? end : passed;
}

/** Least and greatest bound of key IDs. */
const LOWEST: Uint8Array = new Uint8Array(0);
const ABOVE_ALL: Uint8Array = new Uint8Array(17).fill(0xff);

/** Returns the bounds of a query: below the first, and from the second on. */
export function boundsOf({ beforeKeyId, fromKeyId }: KeyQuery): [Uint8Array, Uint8Array] {
  return [beforeKeyId ?? ABOVE_ALL, fromKeyId ?? LOWEST];
}

const STATE_COLUMNS = `key_states.state AS "state", key_states.reason AS "reason",
  key_states.revoked_ms AS "revokedMs"`;

/** The columns of `toKeyRecord`, of the tables `ledger` and `key_states`. */
export const KEY_RECORD_COLUMNS: string = `${selection([...SHOWN, 'receipt.strengthBits', ...SEAL_PLACES, ...VERDICT_PLACES])},
  ledger.key_commitment IS NOT NULL AS "hasReceipt", ${STATE_COLUMNS}`;

/** The columns of `StateCandidate`. */
export const STATE_CANDIDATE_COLUMNS: string = `key_states.key_id AS "keyId",
  key_states.commitment AS commitment, key_states.secret_version AS version,
  key_states.expires_ms AS "expiresMs", ${STATE_COLUMNS}`;

/** Selects rows of `toKeyStateRecord`. A condition may follow. */
export const SELECT_KEY_STATES: string = `SELECT key_states.key_id AS "keyId",
    key_states.account_id AS "accountId",
    CAST(key_states.fingerprint AS text) AS "commitment.fingerprint",
    key_states.commitment AS "commitment.digest", key_states.secret_version AS "commitment.version",
    key_states.expires_ms AS "expiresMs", ${STATE_COLUMNS},
    ledger.account_id AS "rowAccountId", CAST(ledger.fingerprint AS text) AS "rowFingerprint",
    ledger.commitment AS "rowCommitment", ledger.secret_version AS "rowVersion",
    ledger.expires_ms AS "rowExpiresMs", audit.audit_id AS "auditId", audit.at_ms AS "atMs",
    audit.action AS action, audit.details AS details, audit.salt AS salt
  FROM key_states LEFT JOIN ledger ON ledger.key_id = key_states.key_id
    LEFT JOIN audit ON audit.audit_id = key_states.audit_id`;

/** A state with the fingerprint in question. */
interface StateCandidate {
  readonly keyId: Uint8Array;
  readonly commitment: Uint8Array;
  readonly version: number;
}

/** Returns the state of this commitment among rows of its fingerprint; null without one. */
export function stateOf(commitment: Commitment, candidates: readonly Row[]): KeyState | null {
  const found = candidates.find((one) => matches(commitment, one as unknown as StateCandidate));
  return found ? { keyId: found.keyId as Uint8Array, ...toKeyEnd(found) } : null;
}

export function toKeyRecord(row: Row): KeyRecord {
  return {
    ...ownMembers(row, SHOWN),
    strengthBits: row['receipt.strengthBits'] as number | null,
    evidence: toVerdict(row),
    recipients: toRecipients(row),
    deliveryId: row['sealed.deliveryId'] as Uint8Array | null,
    hasReceipt: Boolean(row.hasReceipt),
    ...toKeyEnd(row),
  };
}

function toKeyEnd(row: Row): KeyEnd {
  return { expiresMs: row.expiresMs as number | null, revocation: toRevocation(row) };
}

export function toRevocation({ state, reason, revokedMs }: Row): Revocation | null {
  if (state === null) return null;
  return {
    state: state as RevokedState,
    reason: reason as RevocationReason,
    revokedMs: Number(revokedMs),
  };
}

export function toKeyStateRecord(row: Row): KeyStateRecord {
  const { auditId, atMs, action, details, salt } = row;
  return {
    keyId: row.keyId as Uint8Array,
    accountId: String(row.accountId),
    commitment: toCommitment(row),
    ...toKeyEnd(row),
    row: toStateRow(row),
    audit: auditId === null ? null : toAuditRecord({ auditId, atMs, action, details, salt }),
  };
}

function toStateRow(row: Row): KeyStateRow | null {
  if (row.rowCommitment === null) return null;
  return {
    accountId: String(row.rowAccountId),
    commitment: toCommitment({
      'commitment.digest': row.rowCommitment,
      'commitment.version': row.rowVersion,
      'commitment.fingerprint': row.rowFingerprint,
    }),
    expiresMs: row.rowExpiresMs as number | null,
  };
}
