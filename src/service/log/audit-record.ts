/** Builds entries of the log that no key worker makes: audit records, and entries that change their log. */
import { randomBytes, randomUUIDv7 } from 'node:crypto';
import { canonicalJson, type JsonObject } from '#tlog';
import { hexToBytes } from '../../bytes.ts';
import { auditEntry } from '../../keys/statement.ts';
import type { AuditAction, AuditRecord, PendingEntry } from '../../ledger/index.ts';
import type { LogMacKeys } from '../../proof/index.ts';

/** Makes pending entries for one open log. */
export interface EntryMaker {
  readonly log: { readonly logId: number; readonly origin: string };
  readonly macs: LogMacKeys;
  /** The version of the master secret under which entries get their MAC. */
  readonly version: number;
}

/** What `newAudit` and `pendingEntryOf` need of it. */
export type MacMaker = Omit<EntryMaker, 'macs'> & { readonly macs: Pick<LogMacKeys, 'mac'> };

export interface AuditOrder {
  readonly atMs: number;
  readonly action: AuditAction;
  readonly details: JsonObject;
}

const SALT_BYTES = 32;

/** Returns an audit record with its pending entry; without one if there is no open log. */
export function newAudit(
  maker: MacMaker | null,
  { atMs, action, details }: AuditOrder,
): AuditRecord {
  const record: AuditRecord = {
    auditId: hexToBytes(randomUUIDv7().replaceAll('-', '')),
    atMs,
    action,
    details: canonicalJson(details),
    salt: randomBytes(SALT_BYTES),
    pending: null,
  };
  if (maker === null) return record;
  const entry = auditEntry(record, maker.log.origin);
  return { ...record, pending: pendingEntryOf(maker, 'audit', record.auditId, entry) };
}

/** Returns a pending entry with its MAC. */
export function pendingEntryOf(
  { log, macs, version }: MacMaker,
  kind: PendingEntry['kind'],
  entryId: Uint8Array,
  entry: Uint8Array,
): PendingEntry {
  const mac = macs.mac(version, entryId, entry);
  return { entryId, logId: log.logId, kind, entry, mac, secretVersion: version };
}
