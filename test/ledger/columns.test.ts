/**
 * No column is forgotten: both stores write all columns of a key's row, `phm export` leaves nothing out, and `phm log check`
 * sees a change of any column of such a row. A column that a migration adds fails here until both know it.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { rowDigest } from '../../src/keys/statement.ts';
import {
  type LedgerRow,
  type LedgerStore,
  openStore,
  type StoreLocation,
} from '../../src/ledger/index.ts';
import { NEW_COLUMNS, rowOf } from '../../src/ledger/key-columns.ts';
import { columnsOf, TABLE_NAMES } from '../../src/ledger/tables.ts';
import type { Databases } from '../support/ledgers/databases.ts';
import { noPostgres } from '../support/ledgers/postgres.ts';
import { sharedPostgres } from '../support/ledgers/shared-postgres.ts';
import { keyRequest, makeRow, NOW, QUOTAS } from './contract.ts';

/** Tables that no export has, with the reason. */
const UNMOVED_TABLES: Readonly<Record<string, string>> = {
  account_keys: 'an index of ledger, made again',
  account_keys_merge: 'an index of ledger, made again',
  clock_check: 'about the clock of the server on this database',
  fingerprint_filters: 'an index of ledger, made again',
  fingerprint_merge: 'an index of ledger, made again',
  fingerprints: 'an index of ledger, made again',
  idempotency_slots: 'about the partitions of idempotency in this database',
  recent_fingerprints: 'an index of ledger, made again',
  schema_version: 'about the schema of this database',
  sqlite_sequence: 'a table of SQLite itself',
  writers: 'about the processes that commit to this database',
};

/** Columns of other tables that no export has, with the reason. */
const UNMOVED: Readonly<Record<string, string>> = {
  'idempotency.slot': 'the day of made_ms, which names the partition',
  'key_states.fingerprint': 'the first 64 bits of commitment',
  'ledger.fingerprint': 'the first 64 bits of commitment',
  'logs.home': 'where this database lives; an operator accepts a new place',
};

/** Columns of `ledger` that the digest of the row leaves out. */
const UNDIGESTED = new Set(
  NEW_COLUMNS.filter(({ digest }) => digest === 'never').map(({ name }) => name),
);

/** Values that a column takes, as SQL, if the change of any other of its type does not suit it. */
const SPECIAL: Readonly<Record<string, string>> = {
  security_level: '128',
};

interface CatalogueColumn {
  readonly table: string;
  readonly name: string;
  readonly type: string;
}

interface Database {
  readonly location: StoreLocation;
  readonly columns: string;
  ask(sql: string): Promise<readonly Record<string, unknown>[]>;
  bytes(value: Uint8Array): string;
}

const directory = mkdtempSync(join(tmpdir(), 'phm-columns-'));
after(() => rmSync(directory, { recursive: true, force: true }));

let postgres: Databases;
before(async () => {
  if (!noPostgres) postgres = await sharedPostgres();
});
after(() => postgres?.remove());

function sqlite(): Database {
  const path = join(directory, 'phm.db');
  return {
    location: { kind: 'sqlite', path },
    columns: `SELECT list.name AS "table", info.name AS name, lower(info.type) AS type
      FROM pragma_table_list AS list, pragma_table_xinfo(list.name) AS info
      WHERE list.schema = 'main' AND list.name <> 'sqlite_schema'`,
    ask: async (sql) => {
      const database = new DatabaseSync(path);
      try {
        return database.prepare(sql).all();
      } finally {
        database.close();
      }
    },
    bytes: (value) => `x'${Buffer.from(value).toString('hex')}'`,
  };
}

async function postgresql(): Promise<Database> {
  return {
    location: { kind: 'postgres', url: await postgres.createLedger('columns') },
    columns: `SELECT relname AS "table", attname AS name, format_type(atttypid, NULL) AS type
      FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
      WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
        AND attnum > 0 AND NOT attisdropped`,
    ask: (sql) => postgres.query('columns', sql),
    bytes: (value) => `'\\x${Buffer.from(value).toString('hex')}'::bytea`,
  };
}

/** Returns another value of a column of the one row, as SQL. */
async function changed({ name, type }: CatalogueColumn, database: Database): Promise<string> {
  if (SPECIAL[name] !== undefined) return SPECIAL[name];
  switch (type) {
    case 'text':
      return `coalesce(${name}, '') || 'x'`;
    case 'integer':
    case 'bigint':
    case 'smallint':
      return `coalesce(${name}, 0) + 1`;
    case 'real':
    case 'double precision':
      return `coalesce(${name}, 0) / 2 + 0.125`;
    case 'blob':
    case 'bytea': {
      const [row] = await database.ask(`SELECT ${name} AS value FROM ledger`);
      const value = Buffer.from((row?.value as Uint8Array | null) ?? [0]);
      value.writeUInt8((value.at(-1) ?? 0) ^ 1, value.length - 1);
      return database.bytes(value);
    }
    default:
      throw new Error(`say here how to change ${name}, of the type ${type}`);
  }
}

const EVIDENCE = { definition: 1, gateP: 0.5, testsPassed: 15, totalTests: 15 };

/** Returns a row that has a value in every column. */
function fullRow(softwareId: number): LedgerRow {
  const values = {
    text: 'x',
    integer: 1,
    real: 1,
    flag: true,
    bytes: Buffer.alloc(32, 1),
    int64: 1n,
  };
  const row = rowOf(({ kind }) => values[kind]);
  const { keyId, commitment, securityLevel } = makeRow();
  return {
    ...{ ...row, keyId, commitment, securityLevel },
    evidence: { ...EVIDENCE, pValues: Buffer.alloc(752) },
    labels: '{"a":"b"}',
    receipt: row.receipt && { ...row.receipt, sources: 'os:256', softwareId },
  };
}

async function digest(store: LedgerStore): Promise<string> {
  const [found] = await store.pageRecords(null, 1);
  assert.ok(found);
  return rowDigest(found.record).toString('hex');
}

/** Fails with the messages, one a line, if there are any. */
function assertNone(messages: readonly string[]): void {
  assert.equal(messages.length, 0, messages.join('\n'));
}

for (const kind of ['sqlite', 'postgres'] as const) {
  describe(`the columns of ${kind}`, { skip: kind === 'postgres' && noPostgres }, () => {
    let database: Database;
    let store: LedgerStore;
    let columns: readonly CatalogueColumn[];

    before(async () => {
      database = kind === 'sqlite' ? sqlite() : await postgresql();
      store = await openStore(database.location, QUOTAS);
      columns = (await database.ask(database.columns)) as unknown as CatalogueColumn[];
      const accountId = 'acct_a';
      const account = { accountId, name: 'a', plan: 'enterprise', demo: false, createdMs: NOW };
      await store.addAccount(account);
      await store.commit([keyRequest(accountId, fullRow(await store.registerSoftware('phm')))], []);
    });
    after(() => store.close());

    it('are all exported, or need not be', () => {
      const moved = new Set<string>(
        TABLE_NAMES.flatMap((table) => columnsOf(table).map(({ name }) => `${table}.${name}`)),
      );
      const forgotten = columns
        .filter(({ table }) => UNMOVED_TABLES[table] === undefined)
        .map(({ table, name }) => `${table}.${name}`)
        .filter((column) => !moved.has(column) && UNMOVED[column] === undefined);
      assertNone(
        forgotten.map(
          (column) =>
            `${column} is not exported: add it to TABLES (src/ledger/tables.ts) or KEY_COLUMNS (src/ledger/key-columns.ts), ` +
            'or to UNMOVED here with the reason',
        ),
      );
    });

    it('of a key are all written', async () => {
      const names = columns.filter(({ table }) => table === 'ledger').map(({ name }) => name);
      const written = names.map((name) => `${name} IS NOT NULL AS ${name}`);
      const [row] = await database.ask(`SELECT ${written.join(', ')} FROM ledger`);
      const unwritten = names.filter((name) => !row?.[name]);
      assertNone(
        unwritten.map(
          (name) =>
            `ledger.${name} is not written: add it to KEY_COLUMNS (src/ledger/key-columns.ts), and write it in the newest ` +
            'write_batch_N (src/ledger/migrations/postgres/)',
        ),
      );
    });

    it('of a key are all in the digest of its row, or need not be', async () => {
      const unseen: string[] = [];
      for (const column of columns.filter(({ table }) => table === 'ledger')) {
        const before = await digest(store);
        await database.ask(`UPDATE ledger SET ${column.name} = ${await changed(column, database)}`);
        const isDigested = (await digest(store)) !== before;
        if (!isDigested && !UNDIGESTED.has(column.name)) unseen.push(column.name);
      }
      assertNone(
        unseen.map(
          (name) =>
            `phm log check does not see a change of ledger.${name}: say how the digest has it in KEY_COLUMNS ` +
            '(src/ledger/key-columns.ts); never, only with the reason',
        ),
      );
    });
  });
}
