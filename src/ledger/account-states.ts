/**
 * States of accounts. `test/ledger/accounts-contract.ts` runs the contract against every store.
 *
 * Every change has an audit record, which names the record of the change before it. So the records of an account form a
 * chain, and `phm log check` finds a state that was changed without one.
 */

/** SQL of both stores: the columns of an account, by the names of `Account`. PostgreSQL needs the quotation marks. */
export const ACCOUNT_COLUMNS = `accounts.account_id AS "accountId", name, plan, demo, created_ms AS "createdMs",
  sealed_only AS "sealedOnly", suspended_ms AS "suspendedMs", deleted_ms AS "deletedMs",
  state_audit_id AS "stateAudit"`;

/** `deleted` is final: the row of the account stays, because the rows of its keys name it. */
export type AccountState = 'active' | 'suspended' | 'deleted';

/** The columns of an account's state. */
export interface AccountMarks {
  /** Null unless the account is suspended. */
  readonly suspendedMs: number | null;
  /** Null unless the account is deleted. */
  readonly deletedMs: number | null;
  /** ID of the audit record of the last change; null without one. */
  readonly stateAudit: Uint8Array | null;
}

export interface AccountChange {
  readonly accountId: string;
  readonly to: AccountState;
  readonly atMs: number;
  /** `stateAudit` of the account as the caller has read it. The audit record of the change names it. */
  readonly after: Uint8Array | null;
}

export type AccountChangeOutcome =
  /** `unchanged`: the account is in this state already. */
  | 'changed'
  | 'unchanged'
  /** The account is deleted, and asked for another state. */
  | 'deleted'
  /** The state has changed since the caller read it. */
  | 'stale'
  | 'unknown';

/** The name of a deleted account. */
export const ERASED_NAME = '(deleted)';

export function accountState({
  suspendedMs,
  deletedMs,
}: Pick<AccountMarks, 'suspendedMs' | 'deletedMs'>): AccountState {
  if (deletedMs !== null) return 'deleted';
  return suspendedMs === null ? 'active' : 'suspended';
}

/** Returns the outcome of a change for an account with these marks. */
export function accountChangeOutcome(
  marks: AccountMarks,
  { to, after }: Pick<AccountChange, 'to' | 'after'>,
): Exclude<AccountChangeOutcome, 'unknown'> {
  const state = accountState(marks);
  if (state === to) return 'unchanged';
  if (state === 'deleted') return 'deleted';
  return isSame(marks.stateAudit, after) ? 'changed' : 'stale';
}

function isSame(one: Uint8Array | null, other: Uint8Array | null): boolean {
  if (one === null || other === null) return one === other;
  return Buffer.compare(one, other) === 0;
}
