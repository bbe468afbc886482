/**
 * A deferred index of the ledger by account.
 *
 * An index of SQLite's own changes a page for each account of a commit, which with many accounts costs as much as half of
 * the commit (measured, bench/ledger.ts). So a commit leaves its rows out, and every few thousand keys one merges the oldest
 * such rows into `account_keys`, in the order of accounts, so that a page takes several. All rows up to the key ID
 * `through` are merged. Triggers merge a row that comes later with a lower key ID, and follow rows that are removed or
 * changed. The newest rows are read by key ID.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { SqliteConnection } from './connection.ts';

/** Rows that are merged at once: about 4 ms. */
const CHUNK = 4_096;

const THROUGH = 'SELECT through FROM account_keys_merge';

const LAST_OF_CHUNK = `SELECT key_id AS keyId FROM ledger WHERE key_id > (${THROUGH})
  ORDER BY key_id LIMIT 1 OFFSET ?`;

const MERGE = `INSERT OR IGNORE INTO account_keys (account_id, key_id)
  SELECT account_id, key_id FROM ledger WHERE key_id > (${THROUGH}) AND key_id <= ?
  ORDER BY account_id, key_id`;

const TABLE = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'account_keys'";

const NOT_MERGED = `SELECT key_id AS keyId FROM ledger
  WHERE key_id <= (${THROUGH}) AND NOT EXISTS (
    SELECT 1 FROM account_keys
    WHERE account_keys.account_id = ledger.account_id AND account_keys.key_id = ledger.key_id)
  LIMIT 1`;

export class AccountKeys {
  readonly #connection: SqliteConnection;
  readonly #chunk: number;
  /** Keys that this process has recorded since it last merged. */
  #recorded = 0;

  constructor(connection: SqliteConnection, chunk: number = CHUNK) {
    this.#connection = connection;
    this.#chunk = chunk;
  }

  /** Merges a chunk for each chunk of keys that this process records, in the transaction that has recorded this many. */
  follow(keys: number): void {
    this.#recorded += keys;
    if (this.#recorded < this.#chunk) return;
    this.#recorded = 0;
    this.merge();
  }

  /** Merges a chunk, in a transaction. Returns false, and does nothing, if fewer rows are left. */
  merge(): boolean {
    const last = this.#connection.get(LAST_OF_CHUNK, this.#chunk - 1);
    if (!last) return false;
    const keyId = last.keyId as Uint8Array;
    this.#connection.run(MERGE, keyId);
    this.#connection.run('UPDATE account_keys_merge SET through = ?', keyId);
    return true;
  }
}

/** Returns the key ID up to which all rows are merged. It never falls. */
export function mergedThrough(connection: SqliteConnection): Uint8Array {
  const row = connection.get(THROUGH);
  if (!row) throw new Error('the table account_keys_merge is empty');
  return row.through as Uint8Array;
}

/**
 * Returns a sentence about the first row of the ledger that the index lacks; null without one. An entry without a row is no
 * damage.
 */
export function findUnlisted(database: DatabaseSync): string | null {
  // An earlier release has no index by account.
  if (!database.prepare(TABLE).get()) return null;
  const row = database.prepare(NOT_MERGED).get();
  if (!row) return null;
  const keyId = Buffer.from(row.keyId as Uint8Array).toString('hex');
  return `row ${keyId} of ledger is missing from account_keys`;
}
