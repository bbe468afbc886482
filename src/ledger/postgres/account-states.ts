/** States of accounts in PostgreSQL. The rule itself is the function `change_account_state_3` of the migrations. */
import {
  ACCOUNT_COLUMNS,
  type AccountChange,
  type AccountChangeOutcome,
  accountChangeOutcome,
} from '../account-states.ts';
import type { AuditRecord } from '../log-store.ts';
import { toAuditRecord } from '../recorded-row.ts';
import type { Account, AccountRecord } from '../store.ts';
import { type Statement, withAudit } from './audit.ts';
import { type PostgresConnection, toBuffer } from './connection.ts';
import { emptyBoxesAhead } from './deliveries.ts';

const CHANGE = `SELECT outcome, outcome = 'changed' AS is_new
  FROM change_account_state_3($1, $2, $3::bytea, $4::bytea, $5::bigint)`;

export async function listAccounts(connection: PostgresConnection): Promise<Account[]> {
  const all = `SELECT ${ACCOUNT_COLUMNS} FROM accounts ORDER BY created_ms, account_id`;
  return (await connection.all(all)) as unknown as Account[];
}

export async function findAccount(
  connection: PostgresConnection,
  accountId: string,
): Promise<AccountRecord | null> {
  const row = await connection.get(
    `SELECT ${ACCOUNT_COLUMNS}, audit_id AS "auditId", at_ms AS "atMs", action, details, salt
     FROM accounts LEFT JOIN audit ON audit_id = state_audit_id WHERE account_id = $1`,
    accountId,
  );
  if (!row) return null;
  const { auditId, atMs, action, details, salt, ...account } = row;
  const change = auditId === null ? null : toAuditRecord({ auditId, atMs, action, details, salt });
  return { ...(account as unknown as Account), change };
}

export async function changeAccountState(
  connection: PostgresConnection,
  change: AccountChange,
  audit: AuditRecord,
): Promise<AccountChangeOutcome> {
  if (change.to === 'deleted') await emptyAhead(connection, change);
  const { sql, values } = withAudit(changeOf(change, audit), audit);
  const row = await connection.changed(sql, ...values);
  return (row?.outcome as AccountChangeOutcome | undefined) ?? 'unknown';
}

/** Unless the change is refused. */
async function emptyAhead(connection: PostgresConnection, change: AccountChange): Promise<void> {
  const account = await findAccount(connection, change.accountId);
  if (account === null || accountChangeOutcome(account, change) !== 'changed') return;
  await emptyBoxesAhead(connection, change.accountId, null);
}

function changeOf(
  { accountId, to, after, atMs }: AccountChange,
  { auditId }: AuditRecord,
): Statement {
  const values = [accountId, to, after && toBuffer(after), toBuffer(auditId), atMs];
  return { sql: CHANGE, values };
}
