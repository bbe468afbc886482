/** Registered recipients in SQLite. Changes run within a transaction of the caller. */
import type { RecipientRecord } from '../store.ts';
import type { SqliteConnection } from './connection.ts';
import { emptyBoxes } from './deliveries.ts';

const SELECT_RECIPIENTS = `SELECT account_id AS accountId, name, suite, public_key AS publicKey,
    created_ms AS createdMs FROM recipients`;

export function addRecipient(
  connection: SqliteConnection,
  { accountId, name, suite, publicKey, createdMs }: RecipientRecord,
): boolean {
  return connection.changes(
    `INSERT INTO recipients (account_id, name, suite, public_key, created_ms)
     SELECT account_id, ?, ?, ?, ? FROM accounts WHERE account_id = ? AND deleted_ms IS NULL
     ON CONFLICT DO NOTHING`,
    name,
    suite,
    publicKey,
    createdMs,
    accountId,
  );
}

/** Removes a recipient, with the copies in its box. */
export function removeRecipient(
  connection: SqliteConnection,
  accountId: string,
  name: string,
): boolean {
  const removal = 'DELETE FROM recipients WHERE account_id = ? AND name = ?';
  emptyBoxes(connection, { accountId, recipient: name });
  return connection.changes(removal, accountId, name);
}

export function listRecipients(
  connection: SqliteConnection,
  accountId?: string,
): RecipientRecord[] {
  return connection
    .all(
      `${SELECT_RECIPIENTS} WHERE ? IS NULL OR account_id = ? ORDER BY account_id, name`,
      accountId ?? null,
      accountId ?? null,
    )
    .map((row) => ({ ...(row as unknown as RecipientRecord) }));
}

export function findRecipient(
  connection: SqliteConnection,
  accountId: string,
  name: string,
): RecipientRecord | null {
  const find = `${SELECT_RECIPIENTS} WHERE account_id = ? AND name = ?`;
  const row = connection.get(find, accountId, name);
  return row ? { ...(row as unknown as RecipientRecord) } : null;
}
