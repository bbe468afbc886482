/** Writes audit records and pending entries, within a transaction. */

import type { PendingEntry } from '../ledger-row.ts';
import type { AuditRecord } from '../log-store.ts';
import type { SqliteConnection } from './connection.ts';

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
  if (pending) insertPending(connection, auditId, 'audit', pending);
}

export function insertPending(
  connection: SqliteConnection,
  entryId: Uint8Array,
  kind: PendingEntry['kind'],
  { logId, entry, mac, secretVersion }: PendingEntry,
): void {
  connection.run(
    `INSERT INTO log_pending (entry_id, log_id, kind, entry, mac, secret_version)
     VALUES (?, ?, ?, ?, ?, ?)`,
    entryId,
    logId,
    kind,
    entry,
    mac,
    secretVersion,
  );
}
