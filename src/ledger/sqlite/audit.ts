/** Writes audit records and pending entries, within a transaction. */

import type { SQLInputValue } from 'node:sqlite';
import type { LedgerRow, PendingEntry } from '../ledger-row.ts';
import type { AuditRecord } from '../log-store.ts';
import type { SqliteConnection } from './connection.ts';
import { insertion } from './insertion.ts';

const INSERT_PENDING = insertion(
  'INTO log_pending',
  'entry_id, log_id, kind, entry, mac, secret_version',
);

export function insertAudit(connection: SqliteConnection, audit: AuditRecord): void {
  const { auditId, atMs, action, details, salt, pending } = audit;
  connection.run(
    'INSERT INTO audit (audit_id, at_ms, action, details, salt) VALUES (?, ?, ?, ?, ?)',
    auditId,
    atMs,
    action,
    details,
    salt,
  );
  if (pending) connection.insert(INSERT_PENDING, [pendingValues(auditId, 'audit', pending)]);
}

/** Writes the pending entries of those rows that have one. */
export function insertPendingKeys(connection: SqliteConnection, rows: readonly LedgerRow[]): void {
  const values = rows.flatMap(({ keyId, receipt }) =>
    receipt?.pending ? [pendingValues(keyId, 'key', receipt.pending)] : [],
  );
  connection.insert(INSERT_PENDING, values);
}

function pendingValues(
  entryId: Uint8Array,
  kind: PendingEntry['kind'],
  { logId, entry, mac, secretVersion }: PendingEntry,
): SQLInputValue[] {
  return [entryId, logId, kind, entry, mac, secretVersion];
}
