/**
 * No column is forgotten: both stores write all columns of a key's row, `phm export` leaves nothing out, `phm log check` sees
 * a change of any column of such a row, and a value that not all programs know keeps the others out. A column that a migration
 * adds fails here until both know it.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { rowDigest } from '../../src/keys/statement.ts';
import { exportLedger, importLedger, openMovableStore } from '../../src/ledger/admin.ts';
import type { Column } from '../../src/ledger/column-kinds.ts';
import {
  type LedgerRow,
  type LedgerStore,
  openStore,
  type StoreLocation,
} from '../../src/ledger/index.ts';
import { NEW_COLUMNS, rowOf } from '../../src/ledger/key-columns.ts';
import { baselineVersion, newestVersion, readMigrations } from '../../src/ledger/migrations.ts';
import { columnsOf, TABLE_NAMES, type TableName } from '../../src/ledger/tables.ts';
import type { Databases } from '../support/ledgers/databases.ts';
import { noPostgres } from '../support/ledgers/postgres.ts';
import { sharedPostgres } from '../support/ledgers/shared-postgres.ts';
import { keyRequest, makeKeyId, makeRow, NOW, QUOTAS } from './contract.ts';
import { seal } from './sealing-contract.ts';

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

function sqlite(name: string): Database {
  const path = join(directory, `${name}.db`);
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

async function postgresql(name: string): Promise<Database> {
  return {
    location: { kind: 'postgres', url: await postgres.createLedger(name) },
    columns: `SELECT relname AS "table", attname AS name, format_type(atttypid, NULL) AS type
      FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
      WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
        AND attnum > 0 AND NOT attisdropped`,
    ask: (sql) => postgres.query(name, sql),
    bytes: (value) => `'\\x${Buffer.from(value).toString('hex')}'::bytea`,
  };
}

async function newLedger(kind: 'sqlite' | 'postgres', name: string): Promise<Database> {
  return kind === 'sqlite' ? sqlite(name) : postgresql(name);
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

/** JSON values by kind. Each column takes one of its kind. */
const SAMPLES: Readonly<Record<Column['kind'], readonly unknown[]>> = {
  text: ['os:256', '{"a":"b"}'],
  integer: [1, 256],
  real: [1],
  flag: [true],
  bytes: [
    ...[32, 16, 64, 752].map((length) => '01'.repeat(length)),
    Buffer.from(makeKeyId()).toString('hex'),
  ],
  int64: [1],
};

function sampleOf(column: Column): unknown {
  if (column.kind === 'int64') return 1n;
  const found = SAMPLES[column.kind].find((json) => column.read(json) !== undefined);
  assert.ok(found !== undefined, `add a value to SAMPLES that is ${column.expected}`);
  return column.read(found);
}

/** Returns a row that has a value in every column. */
function fullRow(softwareId: number): LedgerRow {
  const row = rowOf(sampleOf);
  const { keyId, commitment } = makeRow();
  return { ...row, keyId, commitment, receipt: row.receipt && { ...row.receipt, softwareId } };
}

/** Returns a row that has only the value of this column, and what must be set with it. */
function rowWith(name: string, softwareId: number): LedgerRow {
  const column = NEW_COLUMNS.find((one) => one.name === name);
  assert.ok(column);
  const [member = '', inner] = column.place.split('.');
  const { evidence, receipt } = fullRow(softwareId);
  const parts: Readonly<Record<string, object | null>> = { evidence, receipt, sealed: seal() };
  const value = sampleOf(column);
  return {
    ...makeRow(),
    [member]: inner === undefined ? value : { ...parts[member], [inner]: value },
  };
}

/** How a row of another table than `ledger` gets a value that only later programs know. */
const BRING: Readonly<Record<string, (store: LedgerStore, accountId: string) => Promise<unknown>>> =
  {
    'api_keys.recipients': (store, accountId) => {
      const record = { apiKeyId: 'key_r', accountId, hint: 'h', createdMs: NOW, revokedMs: null };
      return store.addApiKey({ ...record, recipients: ['paris'] }, Buffer.alloc(32));
    },
    'deliveries.delivery_id': async (store, accountId) => {
      const recipient = { name: 'paris', publicKey: Buffer.alloc(32) };
      await store.addRecipient({ ...recipient, accountId, suite: 's', createdMs: NOW });
      const delivery = {
        deliveries: [{ deliveryId: Buffer.alloc(16), copies: ['{}'] }],
        recipients: [recipient],
        untilMs: Date.UTC(9999, 0),
        limits: { copies: 1, bytes: 2 },
      };
      return store.commit([{ ...keyRequest(accountId), delivery }], []);
    },
  };

/** The columns whose values not all programs know. */
const KNOWN = TABLE_NAMES.flatMap((table) =>
  columnsOf(table).flatMap(({ name, needs }) =>
    needs === undefined ? [] : [{ table, name, needs }],
  ),
);

async function bring(store: LedgerStore, table: TableName, name: string): Promise<void> {
  const accountId = 'acct_b';
  await addAccount(store, accountId);
  if (table === 'ledger') {
    const row = rowWith(name, await store.registerSoftware('phm'));
    const [outcome] = await store.commit([keyRequest(accountId, row)], []);
    assert.equal(outcome?.kind, 'committed');
    return;
  }
  const way = BRING[`${table}.${name}`];
  assert.ok(way, `say in BRING how a row gets a value of ${table}.${name}`);
  await way(store, accountId);
}

async function addAccount(store: LedgerStore, accountId: string): Promise<void> {
  const account = { accountId, name: 'a', plan: 'enterprise', demo: false, createdMs: NOW };
  await store.addAccount(account);
}

/** Moves all rows of a ledger into an empty one. */
async function move(from: StoreLocation, to: StoreLocation): Promise<void> {
  const { signal } = new AbortController();
  const chunks: Uint8Array[] = [];
  const put = async (bytes: Uint8Array) => void chunks.push(bytes);
  await exportLedger(await openMovableStore(from), NOW, put, signal);
  const lines = (async function* () {
    yield* chunks;
  })();
  await importLedger(await openMovableStore(to), lines, Object.keys(QUOTAS), signal);
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
      database = await newLedger(kind, 'columns');
      store = await openStore(database.location, QUOTAS);
      columns = (await database.ask(database.columns)) as unknown as CatalogueColumn[];
      const accountId = 'acct_a';
      await addAccount(store, accountId);
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
            `ledger.${name} is not written: add it to KEY_COLUMNS (src/ledger/key-columns.ts), and with PostgreSQL end its ` +
            'migration with SELECT make_write_batch_12()',
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

    it('that only later programs know name a schema after the baseline', () => {
      const migrations = readMigrations(kind);
      const [first, last] = [baselineVersion(migrations), newestVersion(migrations)];
      assert.ok(KNOWN.length > 0);
      for (const { table, name, needs } of KNOWN)
        assert.ok(needs > first && needs <= last, `${table}.${name}`);
    });

    for (const { table, name, needs } of KNOWN) {
      it(`admit only programs of ${needs} once ${table}.${name} has a value, and not before`, async () => {
        const ledgers = ['committed', 'moved'].map((way) =>
          newLedger(kind, `${way}_${table}_${name}`),
        );
        const [committed, moved] = (await Promise.all(ledgers)) as [Database, Database];
        const oldest = async ({ ask }: Database) =>
          Number((await ask('SELECT oldest_program AS oldest FROM schema_version'))[0]?.oldest);
        const open = async ({ location }: Database) => openStore(location, QUOTAS);
        await (await open(moved)).close();
        const store = await open(committed);
        const before = await oldest(committed);
        assert.ok(before < needs);
        await addAccount(store, 'acct_a');
        await store.commit([keyRequest('acct_a')], []);
        await store.probe({ accountIds: [], room: true });
        assert.equal(await oldest(committed), before);
        await bring(store, table, name);
        assert.equal(await oldest(committed), needs);
        await store.close();
        assert.equal(await oldest(moved), before);
        await move(committed.location, moved.location);
        assert.equal(await oldest(moved), needs);
      });
    }
  });
}
