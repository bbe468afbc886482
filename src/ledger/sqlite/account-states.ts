/** States of accounts in the embedded store. The caller guards these functions, and opens the transaction of a change. */
import {
  ACCOUNT_COLUMNS,
  type AccountChange,
  type AccountChangeOutcome,
  accountChangeOutcome,
  ERASED_NAME,
} from '../account-states.ts';
import type { AuditRecord } from '../log-store.ts';
import { toAuditRecord } from '../recorded-row.ts';
import type { Account, AccountRecord } from '../store.ts';
import { insertAudit } from './audit.ts';
import type { Row, SqliteConnection } from './connection.ts';
import { emptyBoxes } from './deliveries.ts';

export function listAccounts(connection: SqliteConnection): Account[] {
  return connection
    .all(`SELECT ${ACCOUNT_COLUMNS} FROM accounts ORDER BY created_ms, account_id`)
    .map(toAccount);
}

export function findAccount(connection: SqliteConnection, accountId: string): AccountRecord | null {
  const row = connection.get(
    `SELECT ${ACCOUNT_COLUMNS} FROM accounts WHERE account_id = ?`,
    accountId,
  );
  if (!row) return null;
  const account = toAccount(row);
  const change = connection.get(
    'SELECT audit_id AS auditId, at_ms AS atMs, action, details, salt FROM audit WHERE audit_id = ?',
    account.stateAudit,
  );
  return { ...account, change: change ? toAuditRecord(change) : null };
}

function toAccount(row: Row): Account {
  return { ...(row as unknown as Account), demo: row.demo === 1 };
}

/** Changes the state of an account, within a transaction. */
export function changeAccountState(
  connection: SqliteConnection,
  change: AccountChange,
  audit: AuditRecord,
): AccountChangeOutcome {
  const { accountId, to, atMs } = change;
  const account = findAccount(connection, accountId);
  if (account === null) return 'unknown';
  const outcome = accountChangeOutcome(account, change);
  if (outcome !== 'changed') {
    // A caller may repeat a change whose commit failed.
    connection.writeUnchanged();
    return outcome;
  }
  connection.run(
    'UPDATE accounts SET suspended_ms = ?, deleted_ms = ?, state_audit_id = ? WHERE account_id = ?',
    to === 'suspended' ? atMs : null,
    to === 'deleted' ? atMs : null,
    audit.auditId,
    accountId,
  );
  if (to === 'deleted') erase(connection, accountId, atMs);
  insertAudit(connection, audit);
  return 'changed';
}

/** Removes what a deleted account needs no more. */
function erase(connection: SqliteConnection, accountId: string, atMs: number): void {
  connection.run('UPDATE accounts SET name = ? WHERE account_id = ?', ERASED_NAME, accountId);
  connection.run(
    `UPDATE api_keys SET revoked_ms = coalesce(revoked_ms, ?), name = NULL, address_ranges = NULL
     WHERE account_id = ?`,
    atMs,
    accountId,
  );
  connection.run('DELETE FROM recipients WHERE account_id = ?', accountId);
  emptyBoxes(connection, { accountId });
}
