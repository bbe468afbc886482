/** Compares the index by fingerprint with the ledger, as SQLite compares an index of its own with its table. */
import type { DatabaseSync } from 'node:sqlite';
import { findUnfiltered } from './fingerprint-filters.ts';
import { RecentEntries } from './recent-entries.ts';

const TABLE = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'fingerprints'";

const NOT_MERGED = `SELECT key_id AS keyId, fingerprint FROM ledger WHERE NOT EXISTS (
  SELECT 1 FROM fingerprints
  WHERE fingerprints.fingerprint = ledger.fingerprint AND fingerprints.key_id = ledger.key_id)`;

/**
 * Returns a sentence about the first row of the ledger that the index lacks, or the first filter that would hide one;
 * null without either. An entry without a row is no damage. Reads one snapshot.
 */
export function findUnindexed(database: DatabaseSync): string | null {
  database.exec('BEGIN');
  try {
    // An earlier release has an index of SQLite's own.
    if (!database.prepare(TABLE).get()) return null;
    const recent = readRecent(database);
    const rows = database.prepare(NOT_MERGED);
    rows.setReadBigInts(true);
    for (const { keyId, fingerprint } of rows.iterate()) {
      if (!hasEntry(recent, fingerprint as bigint, keyId as Uint8Array)) {
        return `row ${Buffer.from(keyId as Uint8Array).toString('hex')} of ledger is missing from fingerprints`;
      }
    }
    const bucket = findUnfiltered(database);
    return bucket === null ? null : `the filter ${bucket} of fingerprints lacks an entry`;
  } finally {
    database.exec('COMMIT');
  }
}

function readRecent(database: DatabaseSync): RecentEntries {
  const recent = new RecentEntries();
  for (const { entries } of database.prepare('SELECT entries FROM recent_fingerprints').iterate()) {
    recent.add(entries as Uint8Array);
  }
  return recent;
}

function hasEntry(recent: RecentEntries, fingerprint: bigint, keyId: Uint8Array): boolean {
  return recent.find(fingerprint).some((one) => Buffer.compare(one, keyId) === 0);
}
