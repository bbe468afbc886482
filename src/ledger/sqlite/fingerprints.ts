/**
 * A deferred index of the ledger by fingerprint.
 *
 * Fingerprints are random. An ordinary index changes one of its pages for each key, and in a large ledger
 * each key changes another page, which is written to the log and again to the database. So a commit only
 * appends its entries to `recent_fingerprints`. From time to time a pass merges the recent entries into
 * `fingerprints` bucket by bucket, so that one page takes several. Each commit does a part of the pass. Any
 * process continues it, because its state is in the database.
 *
 * Each connection that looks up or records keys holds the recent entries in memory. It may hold more than
 * the table: an entry counts only with its row in the ledger. One that records keys also holds filters of the
 * merged entries, which spare the check for repeated keys almost every read.
 */

import type { Commitment } from '../../proof/index.ts';
import { type Candidate, MAX_CANDIDATES } from '../commitments.ts';
import type { LedgerRow } from '../ledger-row.ts';
import type { SqliteConnection } from './connection.ts';
import { FingerprintFilters } from './fingerprint-filters.ts';
import { insertion } from './insertion.ts';
import { BUCKETS, packEntries, RecentEntries } from './recent-entries.ts';

/** Numbers at which a pass begins. */
export interface MergeLimits {
  /** With 10^7 rows in the ledger, a page of `fingerprints` takes seven of 2^19 entries. With those that arrive during
   * the pass, they need about 20 MB of memory. */
  readonly entries: number;
  /** Commits of few keys: their entries take longer to read at startup. */
  readonly commits: number;
}

const LIMITS: MergeLimits = { entries: 2 ** 19, commits: 2 ** 14 };

/** A pass advances faster than keys arrive, and removes its entries faster than commits add some. */
const MERGED_PER_KEY = 2;
const REMOVED_PER_COMMIT = 3;

const CANDIDATE = 'ledger.key_id AS keyId, commitment, secret_version AS version';

/**
 * Selects the number of the newest commit, and after it merged rows by fingerprint. One statement takes the locks of
 * a reader once. Exported for its tests, which read its plan.
 */
export const CANDIDATES = `SELECT max(seq) AS newest, NULL AS keyId, NULL AS commitment, NULL AS version
    FROM recent_fingerprints
  UNION ALL SELECT NULL, ${CANDIDATE} FROM fingerprints
    CROSS JOIN ledger ON ledger.key_id = fingerprints.key_id
    WHERE fingerprints.fingerprint = ? LIMIT ${1 + MAX_CANDIDATES}`;

const RECENT_CANDIDATE = `SELECT ${CANDIDATE} FROM ledger WHERE key_id = ?`;

const MERGE = insertion('OR IGNORE INTO fingerprints', 'fingerprint, key_id');

interface State {
  readonly merged: number;
  readonly through: number;
  readonly next: number;
  /** Number of rows whose fingerprint or key ID was changed by hand. */
  readonly changes: number;
  /** First and last number of `recent_fingerprints`; null if it is empty. */
  readonly oldest: number | null;
  readonly newest: number | null;
}

export class Fingerprints {
  readonly #connection: SqliteConnection;
  readonly #limits: MergeLimits;
  readonly #recent = new RecentEntries();
  readonly #filters: FingerprintFilters;
  /** All entries up to this number are in memory, or merged. */
  #seen = 0;
  /** `merged` when the entries in memory were read. */
  #merged = 0;
  /** `changes` at that time. */
  #changes = 0;
  /** Entries that may be merged for the keys recorded so far. */
  #credit = 0;
  /** The bucket after the last one that this process merged; null if another process has merged some of this pass. */
  #next: number | null = 0;

  constructor(connection: SqliteConnection, limits: MergeLimits = LIMITS) {
    this.#connection = connection;
    this.#limits = limits;
    this.#filters = new FingerprintFilters(connection);
  }

  /** Reads what all processes have committed since the last call. Returns the state of the merge. */
  refresh(): State {
    const state = this.#state();
    // Another process has finished a pass, or rows were changed by hand.
    if (state.merged !== this.#merged || state.changes !== this.#changes) this.forget();
    this.#merged = state.merged;
    this.#changes = state.changes;
    if (state.newest !== null && state.newest > this.#seen) {
      const rows = this.#connection.all(
        'SELECT seq, entries FROM recent_fingerprints WHERE seq > ? ORDER BY seq',
        Math.max(this.#seen, state.merged),
      );
      for (const { entries } of rows) this.#recent.add(entries as Uint8Array);
      this.#seen = Number(rows.at(-1)?.seq ?? state.newest);
    }
    return state;
  }

  /** Empties the memory. Necessary if a transaction that merged was not committed. */
  forget(): void {
    this.#recent.clear();
    this.#filters.forget();
    this.#seen = 0;
    this.#next = null;
  }

  /** Returns rows with the fingerprint, some of them perhaps twice. */
  candidates({ fingerprint }: Commitment): Candidate[] {
    let [state, ...merged] = this.#connection.all(CANDIDATES, fingerprint);
    if (Number(state?.newest) > this.#seen) {
      this.refresh();
      // Again, because a row may have been merged after the first statement and before `refresh`.
      [state, ...merged] = this.#connection.all(CANDIDATES, fingerprint);
    }
    const recent = this.#recent.find(fingerprint).slice(0, MAX_CANDIDATES);
    const rows = recent.flatMap((keyId) => this.#connection.get(RECENT_CANDIDATE, keyId) ?? []);
    return [...rows, ...merged].slice(0, MAX_CANDIDATES) as unknown as Candidate[];
  }

  /**
   * Returns true if the ledger has a row of exactly this commitment, as of the last `refresh` or later. Compares
   * all rows of its fingerprint, so those that share it hide nothing.
   */
  has({ fingerprint, digest, version }: Commitment): boolean {
    const recent = this.#recent.find(fingerprint);
    if (recent.length === 0 && !this.#hasMerged(fingerprint)) return false;
    const row = this.#connection.get(
      `SELECT 1 FROM ledger WHERE commitment = ? AND secret_version = ? AND key_id IN (
         SELECT key_id FROM fingerprints WHERE fingerprint = ?
         UNION ALL SELECT unhex(value) FROM json_each(?))`,
      digest,
      version,
      fingerprint,
      JSON.stringify(recent.map((keyId) => Buffer.from(keyId).toString('hex'))),
    );
    return row !== undefined;
  }

  #hasMerged(fingerprint: bigint): boolean {
    if (!this.#filters.mayHold(fingerprint)) return false;
    const sql = 'SELECT 1 FROM fingerprints WHERE fingerprint = ?';
    return this.#connection.get(sql, fingerprint) !== undefined;
  }

  /** Writes the entries of new rows, in their transaction. */
  append(rows: readonly LedgerRow[]): void {
    if (rows.length === 0) return;
    this.#connection.run('INSERT INTO recent_fingerprints (entries) VALUES (?)', packEntries(rows));
  }

  /** Does a part of a pass, in a transaction that began with `refresh` and has recorded this many keys. */
  merge(state: State, keys: number): void {
    const { merged, through, oldest } = state;
    if (oldest !== null && oldest <= merged) {
      const to = Math.min(merged, oldest + REMOVED_PER_COMMIT - 1);
      this.#connection.run('DELETE FROM recent_fingerprints WHERE seq <= ?', to);
    }
    if (through > merged) this.#mergeBuckets(state, MERGED_PER_KEY * keys);
    else if (this.#isDue(merged)) this.#begin(state);
  }

  /** Merges at most this many entries, in a transaction. Returns false once all entries up to the number `to` are merged. */
  drain(to: number, entries: number): boolean {
    const state = this.refresh();
    if (state.merged >= to) return false;
    this.#mergeBuckets(state.through > state.merged ? state : this.#begin(state), entries);
    return this.#merged < to;
  }

  #isDue(merged: number): boolean {
    const { entries, commits } = this.#limits;
    return this.#recent.count >= entries || this.#seen - merged >= commits;
  }

  #begin(state: State): State {
    this.#credit = 0;
    this.#next = 0;
    const pass = { through: this.#seen, next: 0 };
    this.#connection.run('UPDATE fingerprint_merge SET through = ?, next = 0', pass.through);
    return { ...state, ...pass };
  }

  #mergeBuckets({ through, next: from }: State, entries: number): void {
    if (from !== this.#next) this.#next = null;
    this.#credit += entries;
    let next = from;
    while (next < BUCKETS && this.#recent.countOf(next) <= this.#credit) {
      this.#credit -= this.#recent.countOf(next);
      this.#mergeBucket(next++);
    }
    if (this.#next !== null) this.#next = next;
    if (next < BUCKETS) this.#connection.run('UPDATE fingerprint_merge SET next = ?', next);
    else this.#end(through);
  }

  #mergeBucket(bucket: number): void {
    const entries = this.#recent.entriesOf(bucket);
    this.#connection.insert(MERGE, entries);
    this.#filters.add(
      bucket,
      entries.map(([fingerprint]) => fingerprint),
    );
    this.#recent.empty(bucket);
  }

  #end(through: number): void {
    this.#connection.run('UPDATE fingerprint_merge SET merged = ?', through);
    this.#merged = through;
    // What other processes have merged is still in memory here.
    if (this.#next === null) this.forget();
  }

  #state(): State {
    const row = this.#connection.get(
      `SELECT merged, through, next, changes, (SELECT min(seq) FROM recent_fingerprints) AS oldest,
         (SELECT max(seq) FROM recent_fingerprints) AS newest
       FROM fingerprint_merge`,
    );
    if (!row) throw new Error('the table fingerprint_merge is empty');
    return row as unknown as State;
  }
}
