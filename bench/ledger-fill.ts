/** Ledgers filled with rows like those of real commits, for `bench/ledger.ts`. */
import { createHash } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { type LedgerStore, openSqliteStore } from '../src/ledger/index.ts';
import { migratePostgres, openPostgresStore } from '../src/ledger/postgres/store.ts';
import { SqliteConnection } from '../src/ledger/sqlite/connection.ts';
import { Fingerprints } from '../src/ledger/sqlite/fingerprints.ts';

/** IDs as long as real ones, because every row has them. */
export const ACCOUNT: string = `acct_${'b'.repeat(32)}`;
export const API_KEY: string = `key_${'b'.repeat(32)}`;

/** The account of every `sparseEvery`-th row, if a ledger has such rows. */
export const SPARSE_ACCOUNT: string = `acct_${'s'.repeat(32)}`;

const QUOTAS = { enterprise: null };
const DAY_MS = 86_400_000;

/** Rows are spread evenly over this many days before now, so they fill six or seven partitions. */
const DAYS = 180;

/** Rows per transaction. */
const CHUNK = 50_000;

/** Rows whose entries make the filters of the index by fingerprint, several for each of its 4,096 buckets. */
const FILTERED = 50_000;

/** Sums: a year by hour for several accounts, and by minute for the account that is queried. */
const HOURS = 8_760;
const OTHER_ACCOUNTS = 9;

/** A ledger that can be emptied and filled repeatedly. */
export interface FilledLedger {
  /** Fills the ledger with exactly this number of rows and the sums of a year. */
  fill(rows: number, sparseEvery?: number): Promise<void>;
  /** Bytes of the rows and of the index by commitment, and of the index by key ID if it is separate. */
  bytes(): Promise<{ table: number; indexes: number }>;
  open(): Promise<LedgerStore>;
}

/** Returns the commitment of the row with this number: it looks random and can be computed again. */
export function commitmentOf(number: number): Buffer {
  return createHash('sha256').update(`phm-bench ${number}`).digest();
}

/** Returns a UUIDv7 of this time with random other bits. */
export function keyIdAt(atMs: number, random: Buffer): Buffer {
  const keyId = Buffer.alloc(16);
  keyId.writeUIntBE(atMs, 0, 6);
  random.copy(keyId, 6, 16, 26);
  keyId[6] = 0x70 | (keyId[6] & 0x0f);
  keyId[8] = 0x80 | (keyId[8] & 0x3f);
  return keyId;
}

const rowsFrom = () => Date.now() - DAYS * DAY_MS;
const msPerRow = (rows: number) => (DAYS * DAY_MS - 60_000) / rows;

async function addAccount(store: LedgerStore): Promise<void> {
  const account = { name: 'bench', plan: 'enterprise', demo: false, createdMs: Date.now() };
  for (const accountId of [ACCOUNT, SPARSE_ACCOUNT]) {
    await store.addAccount({ accountId, ...account });
  }
}

const COLUMNS = `key_id, fingerprint, commitment, secret_version, account_id, api_key_id, security_level,
  modulation, source, created_ms, latency_us, entropy_bits`;
const SUMS = 'account_id, period, keys, latency_us, streams, streams_passed, metered, failures';

export class SqliteLedger implements FilledLedger {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  async open(): Promise<LedgerStore> {
    return openSqliteStore({ path: this.#path, quotas: QUOTAS });
  }

  async fill(rows: number, sparseEvery = Number.POSITIVE_INFINITY): Promise<void> {
    const store = await this.open();
    await addAccount(store);
    await store.close();
    const database = new DatabaseSync(this.#path);
    // The final file is the same; the filling need not survive a crash.
    database.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000');
    this.#fillRows(database, rows, sparseEvery);
    database.exec('INSERT INTO fingerprints SELECT fingerprint, key_id FROM ledger ORDER BY 1, 2');
    database.exec('INSERT INTO account_keys SELECT account_id, key_id FROM ledger ORDER BY 1, 2');
    database.exec('UPDATE account_keys_merge SET through = (SELECT max(key_id) FROM ledger)');
    this.#fillSums(database);
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    database.close();
    this.#makeFilters();
  }

  /** Makes the filters of the index as a pass does: merges an entry of almost every bucket. */
  #makeFilters(): void {
    const connection = new SqliteConnection(this.#path);
    const fingerprints = new Fingerprints(connection);
    const rows = connection.all(
      'SELECT commitment, key_id AS keyId FROM ledger ORDER BY key_id DESC LIMIT ?',
      FILTERED,
    );
    const entries = rows.map(({ commitment, keyId }) =>
      Buffer.concat([(commitment as Uint8Array).subarray(0, 8), keyId as Uint8Array]),
    );
    connection.transact(() => {
      const add = 'INSERT INTO recent_fingerprints (entries) VALUES (?)';
      connection.run(add, Buffer.concat(entries));
      fingerprints.drain(1, Number.POSITIVE_INFINITY);
    });
    connection.close();
  }

  #fillRows(database: DatabaseSync, rows: number, sparseEvery: number): void {
    const insert = database.prepare(
      `INSERT INTO ledger (${COLUMNS}) VALUES (?, ?, ?, 1, ?, ?, 256, 'phase', 'os', ?, 1500, 254.65)`,
    );
    const [start, step] = [rowsFrom(), msPerRow(rows)];
    for (let i = 0; i < rows; i++) {
      if (i % CHUNK === 0) database.exec('BEGIN');
      const atMs = Math.floor(start + i * step);
      const commitment = commitmentOf(i);
      const fingerprint = commitment.readBigInt64BE(0);
      const account = i % sparseEvery === sparseEvery - 1 ? SPARSE_ACCOUNT : ACCOUNT;
      insert.run(keyIdAt(atMs, commitment), fingerprint, commitment, account, API_KEY, atMs);
      if (i % CHUNK === CHUNK - 1 || i === rows - 1) database.exec('COMMIT');
    }
  }

  #fillSums(database: DatabaseSync): void {
    for (const [table, periodMs] of [
      ['rollup_hour', 3_600_000],
      ['rollup_minute', 60_000],
    ] as const) {
      const now = Math.floor(Date.now() / periodMs);
      const periods = (HOURS * 3_600_000) / periodMs;
      const insert = database.prepare(
        `INSERT INTO ${table} (${SUMS})
         WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ? - 1)
         SELECT ?, ? - i, ?, 1500, 0, 0, 1, 0 FROM n`,
      );
      const keys = table === 'rollup_hour' ? 1 : 0;
      insert.run(periods, ACCOUNT, now, keys);
      if (table === 'rollup_minute') continue;
      for (let i = 0; i < OTHER_ACCOUNTS; i++) insert.run(periods, `acct_${i}`, now, keys);
    }
  }

  async bytes(): Promise<{ table: number; indexes: number }> {
    const database = new DatabaseSync(this.#path, { readOnly: true });
    const size = (name: string) =>
      Number(
        database.prepare('SELECT sum(pgsize) AS n FROM dbstat WHERE name = ?').get(name)?.n ?? 0,
      );
    const indexes = size('fingerprints') + size('account_keys');
    const bytes = { table: size('ledger'), indexes };
    database.close();
    return bytes;
  }
}

/** Creates the schema of a ledger in this database. Throws unless it is empty: another ledger is left alone. */
export async function migrateEmpty(databaseUrl: string): Promise<void> {
  const { from } = await migratePostgres(databaseUrl);
  if (from !== 0) throw new Error('--database-url names a database that is not empty');
}

export class PostgresLedger implements FilledLedger {
  readonly #url: string;
  readonly #client: pg.Client;

  private constructor(url: string, client: pg.Client) {
    this.#url = url;
    this.#client = client;
  }

  /** Creates the schema. Throws if there is one, because the ledger is emptied repeatedly. */
  static async create(url: string): Promise<PostgresLedger> {
    await migrateEmpty(url);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    return new PostgresLedger(url, client);
  }

  open(): Promise<LedgerStore> {
    return openPostgresStore({ url: this.#url, quotas: QUOTAS });
  }

  async end(): Promise<void> {
    await this.#client.end();
  }

  async fill(rows: number, sparseEvery = Number.POSITIVE_INFINITY): Promise<void> {
    await this.#client.query(
      'TRUNCATE ledger, usage, api_keys, accounts, writers, rollup_hour, rollup_minute CASCADE',
    );
    const store = await this.open();
    await addAccount(store);
    await store.close();
    await this.#fillRows(rows, sparseEvery);
    for (const [table, periodMs] of [
      ['rollup_hour', 3_600_000],
      ['rollup_minute', 60_000],
    ] as const) {
      const others = table === 'rollup_hour' ? OTHER_ACCOUNTS : 0;
      await this.#client.query(
        `INSERT INTO ${table} (${SUMS})
         SELECT CASE a WHEN 0 THEN $1 ELSE 'acct_' || a END, $2 - i, $3, 1500, 0, 0, 1, 0
         FROM generate_series(0, $4::integer) AS a, generate_series(0, $5::bigint) AS i`,
        [
          ACCOUNT,
          Math.floor(Date.now() / periodMs),
          table === 'rollup_hour' ? 1 : 0,
          others,
          (HOURS * 3_600_000) / periodMs - 1,
        ],
      );
    }
    await this.#client.query('VACUUM ANALYZE');
    await this.#client.query('CHECKPOINT');
  }

  async #fillRows(rows: number, sparseEvery: number): Promise<void> {
    const [start, step] = [rowsFrom(), msPerRow(rows)];
    for (let day = 0; day <= DAYS; day++) {
      const atMs = Math.floor(start + day * DAY_MS);
      await this.#client.query('SELECT ensure_ledger_partition($1)', [atMs]);
    }
    for (let from = 0; from < rows; from += CHUNK) {
      const to = Math.min(rows, from + CHUNK) - 1;
      await this.#client.query(
        `INSERT INTO ledger (${COLUMNS})
         SELECT decode(lpad(to_hex(at_ms), 12, '0') || '7' || substr(hex, 34, 3) || '8' || substr(hex, 38, 15),
             'hex'),
           ('x' || substr(hex, 1, 16))::bit(64)::bigint, commitment, 1,
           CASE i % $7 WHEN $7 - 1 THEN $8 ELSE $1 END, $2, 256, 'phase', 'os',
           at_ms, 1500, 254.65
         FROM (
           SELECT floor($3::double precision + i * $4::double precision)::bigint AS at_ms, commitment, i,
             encode(commitment, 'hex') AS hex
           FROM generate_series($5::bigint, $6::bigint) AS i,
             LATERAL (SELECT sha256(convert_to('phm-bench ' || i, 'UTF8')) AS commitment) AS made
           ORDER BY i) AS made`,
        [
          ...[ACCOUNT, API_KEY, start, step, from, to],
          ...[Math.min(sparseEvery, Number.MAX_SAFE_INTEGER), SPARSE_ACCOUNT],
        ],
      );
    }
  }

  async bytes(): Promise<{ table: number; indexes: number }> {
    const { rows } = await this.#client.query(
      `SELECT sum(pg_table_size(inhrelid))::float8 AS table, sum(pg_indexes_size(inhrelid))::float8 AS indexes
       FROM pg_inherits WHERE inhparent = 'ledger'::regclass`,
    );
    return rows[0];
  }
}
