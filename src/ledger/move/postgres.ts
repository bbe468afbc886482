/**
 * Moves a ledger out of PostgreSQL by a cursor, or into it in one transaction, on a connection whose
 * statements may run long.
 */
import pg from 'pg';
import { parsePostgresAddress } from '../../config/postgres-address.ts';
import { SetupError } from '../../errors.ts';
import { keyIdMs } from '../key-time.ts';
import {
  isNewerSchema,
  newestVersion,
  readMigrations,
  refuseBeforeBaseline,
  refuseNewerExport,
  requirement,
} from '../migrations.ts';
import { neededProgram } from '../needed-program.ts';
import { clientOptions } from '../postgres/client-options.ts';
import { CONFIRMED_COMMITS, confirmed } from '../postgres/confirmation.ts';
import { DisturbanceGuard } from '../postgres/disturbances.ts';
import { chooseHost } from '../postgres/hosts.ts';
import { requireKeptSession } from '../postgres/pooler.ts';
import { readSchema } from '../postgres/schema.ts';
import type { TimelineMemory } from '../postgres/seen-timeline.ts';
import { NOTE_CLUSTER } from '../postgres/session-check.ts';
import { admitLedger, LEAVE_PATH, readLedger } from '../postgres/session-ledger.ts';
import {
  accountColumn,
  batchRows,
  type Column,
  columnsOf,
  keyColumns,
  type RowCounts,
  TABLE_NAMES,
  type TableName,
  type Value,
} from '../tables.ts';
import type { EmptyStore, MovableStore, Rows, Snapshot, SnapshotUse } from './movable-store.ts';
import { fingerprintOf, hasFingerprint, madeDay } from './row-values.ts';
import { refuseFilled } from './tally.ts';

const BATCH_ROWS = 5_000;

/**
 * Limit of the months in a file. Each month is a partition, and an untrusted file must not create any
 * number of them.
 */
const MAX_MONTHS = 1_200;

/** A move has no time limit, but does not wait long for the lock of another session. */
const SESSION = `${CONFIRMED_COMMITS}
  SET row_security = off;
  SET statement_timeout = 0;
  SET idle_in_transaction_session_timeout = 0;
  SET lock_timeout = '10s'`;

const TYPES: Record<Column['kind'], string> = {
  text: 'text',
  integer: 'bigint',
  real: 'double precision',
  flag: 'boolean',
  bytes: 'bytea',
  int64: 'bigint',
};

/** Reads int8 as a number: moved values stay below 2^53. */
const PARSERS = new pg.TypeOverrides();
PARSERS.setTypeParser(pg.types.builtins.INT8, Number);

export class MovablePostgres implements MovableStore {
  readonly #url: string;
  readonly #memory: TimelineMemory;

  constructor(url: string, memory: TimelineMemory = {}) {
    this.#url = url;
    this.#memory = memory;
  }

  dump<T>(use: SnapshotUse, work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
    return this.#connected(async (client) => {
      await query(client, 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      const migrations = readMigrations('postgres');
      const newest = newestVersion(migrations);
      const schema = await readSchema(client);
      refuseBeforeBaseline('the database', schema.version, migrations);
      if (use === 'export') refuseNewerExport(schema, newest);
      else isNewerSchema('the database', schema, newest);
      return work({
        counts: () => countRows(client),
        rows: (table) => readRows(client, table),
        rawRows: (table, extra) => readRows(client, table, extra),
        ask: (sql) => query(client, sql),
      });
    });
  }

  load<T>(work: (store: EmptyStore) => Promise<T>): Promise<T> {
    return this.#connected(async (client) => {
      await query(client, 'BEGIN');
      await query(client, `LOCK TABLE ${TABLE_NAMES.join(', ')} IN EXCLUSIVE MODE`);
      refuseFilled(await countRows(client));
      const months = new Set<string>();
      const result = await work({
        insert: async (table, rows) => {
          if (table === 'ledger') await ensurePartitions(client, rows, months);
          await insertRows(client, table, rows);
        },
        tally: (table) => tallyRows(client, table),
      });
      // Without this, the first plans would suit an empty database.
      await query(client, `ANALYZE ${TABLE_NAMES.join(', ')}`);
      await commit(client);
      return result;
    });
  }

  /** Runs `work` on a connection. Closing it ends a transaction that is still open. */
  async #connected<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    const address = parsePostgresAddress(this.#url);
    const host = await chooseHost(address, this.#memory).catch(failed);
    const options = clientOptions(address, host);
    const client = new pg.Client({ ...options, types: PARSERS });
    // The statement in progress rejects with the same error.
    client.on('error', () => {});
    try {
      await client.connect().catch(failed);
      await query(client, `${LEAVE_PATH}${SESSION};${NOTE_CLUSTER}`);
      const { ledger, backend } = await readLedger(client, null);
      await requireKeptSession(client, backend, () => new pg.Client(options)).catch(failed);
      admitLedger(null, ledger);
      await new DisturbanceGuard().require(client).catch(failed);
      return await work(client);
    } finally {
      await client.end();
    }
  }
}

async function commit(client: pg.Client): Promise<void> {
  try {
    await confirmed(client, () => client.query('COMMIT'));
  } catch (cause) {
    throw new SetupError(
      `the database failed while it committed: ${(cause as Error).message}; before you try again, ` +
        'check whether it holds the accounts: phm account list',
    );
  }
}

async function countRows(client: pg.Client): Promise<RowCounts> {
  const sums = TABLE_NAMES.map((table) => `(SELECT count(*) FROM ${sourceOf(table)}) AS ${table}`);
  return (await query<RowCounts>(client, `SELECT ${sums.join(', ')}`))[0] as RowCounts;
}

/** Yields rows. It fetches the next ones while the caller writes the last ones. */
async function* readRows(
  client: pg.Client,
  table: TableName,
  extra?: string,
): AsyncGenerator<Rows> {
  const columns = columnsOf(table).map(({ name }) => name);
  if (extra !== undefined) columns.push(extra);
  // The order of bytes, whatever the collation of the database.
  const order = keyColumns(table).map((name, i) =>
    columnsOf(table)[i]?.kind === 'text' ? `${name} COLLATE "C"` : name,
  );
  const rows = `SELECT ${columns.join(', ')} FROM ${sourceOf(table)} ORDER BY ${order.join(', ')}`;
  await query(client, `DECLARE moved NO SCROLL CURSOR FOR ${rows}`);
  const fetch = () => {
    const fetched = client
      .query({ text: `FETCH ${batchRows(table, BATCH_ROWS)} FROM moved`, rowMode: 'array' })
      .then(({ rows }) => rows as Value[][], failed);
    // The caller may have stopped, and nothing else would handle the rejection.
    fetched.catch(() => {});
    return fetched;
  };
  for (let next = fetch(); ; ) {
    const batch = await next;
    if (batch.length === 0) break;
    next = fetch();
    yield batch;
  }
  await query(client, 'CLOSE moved');
}

/** Records the newest day of each slot. */
const NOTE_NEWEST_DAYS = `UPDATE idempotency_slots AS kept SET newest_day = greatest(newest_day, found.day)
  FROM (SELECT day % 3 AS slot, max(day) AS day FROM unnest($1::bigint[]) AS d (day) GROUP BY 1) AS found
  WHERE kept.slot = found.slot`;

/** Returns what to read of a table. Of the records with one idempotency key only the newest counts. */
function sourceOf(table: TableName): string {
  if (table !== 'idempotency') return table;
  const key = 'account_id, idempotency_key';
  return `(SELECT DISTINCT ON (${key}) * FROM ${table} ORDER BY ${key}, made_ms DESC) AS ${table}`;
}

async function insertRows(client: pg.Client, table: TableName, rows: Rows): Promise<void> {
  const columns = columnsOf(table).map(({ name, kind }, i) => ({
    name,
    type: TYPES[kind],
    values: rows.map((row) => row[i]) as unknown[],
  }));
  if (hasFingerprint(table)) {
    const values = rows.map((row) => String(fingerprintOf(row)));
    columns.push({ name: 'fingerprint', type: TYPES.int64, values });
  }
  if (table === 'idempotency') {
    const days = rows.map(madeDay);
    columns.push({ name: 'slot', type: 'smallint', values: days.map((day) => day % 3) });
    await query(client, NOTE_NEWEST_DAYS, [days]);
  }
  const needed = neededProgram(table, rows);
  if (needed > 0) await query(client, requirement(needed));
  await query(
    client,
    `INSERT INTO ${table} (${columns.map(({ name }) => name).join(', ')})
     SELECT * FROM unnest(${columns.map(({ type }, i) => `$${i + 1}::${type}[]`).join(', ')})`,
    columns.map(({ values }) => values),
  );
}

/** Creates the partitions of months that are new in the file. */
async function ensurePartitions(client: pg.Client, rows: Rows, months: Set<string>): Promise<void> {
  for (const [keyId] of rows as readonly [Uint8Array][]) {
    const atMs = keyIdMs(keyId);
    const month = new Date(atMs).toISOString().slice(0, 7);
    if (months.has(month)) continue;
    if (months.size === MAX_MONTHS)
      throw new SetupError(`key IDs of more than ${MAX_MONTHS} months`);
    months.add(month);
    await query(client, 'SELECT ensure_ledger_partition($1)', [atMs]);
  }
}

async function tallyRows(client: pg.Client, table: TableName): Promise<Map<string, string>> {
  const sums = columnsOf(table)
    .filter((column) => column.summed)
    .map(({ name }) => ` || ' ' || sum(${name})`);
  const account = accountColumn(table) < 0 ? "''" : 'account_id';
  const rows = await query<{ account: string; tally: string }>(
    client,
    `SELECT ${account} AS account, count(*)::text${sums.join('')} AS tally FROM ${table} GROUP BY 1`,
  );
  return new Map(rows.map((row) => [row.account, row.tally]));
}

async function query<T = unknown>(
  client: pg.Client,
  sql: string,
  values: unknown[] = [],
): Promise<T[]> {
  return (await client.query(sql, values).catch(failed)).rows;
}

function failed(cause: unknown): never {
  if (cause instanceof SetupError) throw cause;
  throw new SetupError(`the database failed: ${(cause as Error).message}`);
}
