/**
 * The baseline: the first migration of each store makes the schema that the migrations before it made, a ledger of that
 * schema goes on, and one of an older schema is refused and left as it is.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import {
  copyDatabase,
  exportLedger,
  openMovableStore,
  verifyLedger,
} from '../../../src/ledger/admin.ts';
import {
  migrateStore,
  openStore,
  openStoreToChange,
  openStoreToRead,
  type StoreLocation,
} from '../../../src/ledger/index.ts';
import {
  baselineVersion,
  newestVersion,
  oldestProgram,
  readMigrations,
  type SchemaChange,
} from '../../../src/ledger/migrations.ts';
import { migratePostgres } from '../../../src/ledger/postgres/store.ts';
import { migrateDatabase } from '../../../src/ledger/sqlite/schema.ts';
import { readPostgres, readSqlite } from '../../ledger/catalogue.ts';
import { keyRequest, NOW, QUOTAS } from '../../ledger/contract.ts';
import type { Databases } from '../../support/ledgers/databases.ts';
import {
  LAST_OLD,
  makeOldPostgres,
  makeOldSqlite,
  oldRows,
  type StoreKind,
} from '../../support/ledgers/old-ledgers.ts';
import { noPostgres } from '../../support/ledgers/postgres.ts';
import { sharedPostgres } from '../../support/ledgers/shared-postgres.ts';

const NEVER = new AbortController().signal;
const directory = mkdtempSync(join(tmpdir(), 'phm-baseline-'));
after(() => rmSync(directory, { recursive: true, force: true }));

/** The functions of schemas before the baseline that no program calls any more. */
const SUPERSEDED = [
  'change_account_state',
  'commit_batch',
  ...[2, 3, 4, 5, 6, 7, 8].map((number) => `commit_batch_${number}`),
  'decide_batch',
  'probe_commit',
  ...[2, 3, 4].map((number) => `probe_commit_${number}`),
  'write_batch',
  ...[2, 3, 4, 5, 6, 7, 8].map((number) => `write_batch_${number}`),
  'write_probe',
  ...[2, 3, 4].map((number) => `write_probe_${number}`),
];

const VERSION = 'SELECT version, oldest_program AS oldest FROM schema_version';

let postgres: Databases;
before(async () => {
  if (!noPostgres) postgres = await sharedPostgres();
});
after(() => postgres?.remove());

/** An old ledger, of which the versions follow each other. */
interface OldLedger {
  readonly location: StoreLocation;
  /** Brings it to a later version. */
  advance(version: number, from: number): Promise<void>;
  /** Returns what would show a change of the schema. */
  state(): Promise<unknown>;
}

/** The months, the functions, and the transaction that wrote the version. */
const STATE = `SELECT (SELECT json_agg(relname ORDER BY relname) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relname !~ '^ledger_2') AS relations,
  (SELECT json_agg(proname ORDER BY oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace) AS functions,
  (SELECT json_agg(json_build_array(xmin, schema_version)) FROM schema_version) AS version`;

async function makeOld(kind: StoreKind, name: string): Promise<OldLedger> {
  if (kind === 'postgres') {
    const url = await postgres.createDatabase(name);
    return {
      location: { kind, url },
      advance: (version, from) => makeOldPostgres(postgres, name, version, from),
      state: () => postgres.query(name, STATE),
    };
  }
  const path = join(directory, `${name}.db`);
  return {
    location: { kind, path },
    advance: async (version, from) => makeOldSqlite(path, version, { from }),
    state: async () => createHash('sha256').update(readFileSync(path)).digest('hex'),
  };
}

/** Migrates as a program that knows the baseline alone, whatever migrations follow it. */
async function migrateToBaseline(location: StoreLocation): Promise<SchemaChange> {
  const baseline = readMigrations(location.kind).slice(0, 1);
  return location.kind === 'sqlite'
    ? migrateDatabase(location.path, baseline)
    : migratePostgres(location.url, baseline);
}

/** Returns what a ledger records after all migrations, if it needed programs of version `oldest` before. */
function afterAll(kind: StoreKind, oldest: number): { version: number; oldest: number } {
  const migrations = readMigrations(kind);
  return {
    version: newestVersion(migrations),
    oldest: Math.max(oldest, oldestProgram(migrations.slice(1))),
  };
}

/** All ways to a ledger that read its version. */
const WAYS: Readonly<Record<string, (location: StoreLocation) => Promise<unknown>>> = {
  migrate: migrateStore,
  open: (location) => openStore(location, QUOTAS),
  change: openStoreToChange,
  read: openStoreToRead,
  export: async (location) =>
    exportLedger(await openMovableStore(location), NOW, async () => {}, NEVER),
  verify: (location) => verifyLedger(location, { nowMs: NOW, signal: NEVER, onProgress: () => {} }),
};

for (const kind of ['sqlite', 'postgres'] as const) {
  describe(`the baseline of ${kind}`, { skip: kind === 'postgres' && noPostgres }, () => {
    const baseline = baselineVersion(readMigrations(kind));

    it('has the number of the last schema before it', () => {
      assert.equal(baseline, LAST_OLD);
    });

    it('is never run on a schema before it: every way refuses it, names the tag and changes nothing', async () => {
      const { location, advance, state } = await makeOld(kind, 'old');
      for (let version = 1; version < baseline; version++) {
        await advance(version, version - 1);
        const found = await state();
        for (const [way, go] of Object.entries(WAYS)) {
          const refusal = {
            name: 'SetupError',
            mayPass: false,
            message: new RegExp(
              `has schema version ${version}, and the migrations of this program begin at ${baseline}\\. .*` +
                'the tag before-baseline: docs/ledger\\.md, "Schemas before version 14"$',
            ),
          };
          await assert.rejects(go(location), refusal, `${way}, version ${version}`);
        }
        assert.deepEqual(await state(), found, `version ${version}`);
      }
    });

    it('lets a ledger of its number go on unchanged', async () => {
      const { location, advance, state } = await makeOld(kind, 'last');
      await advance(baseline, 0);
      const found = await state();
      const change = { from: baseline, to: baseline, program: baseline };
      assert.deepEqual(await migrateToBaseline(location), change);
      assert.deepEqual(await state(), found);
      await migrateStore(location);
      const migrated = await state();
      await (await openStoreToRead(location)).close();
      assert.deepEqual(await state(), migrated);
    });
  });
}

/** Opens a ledger that the old migrations made and the old program used, and goes on with it. */
async function goesOn(location: StoreLocation): Promise<void> {
  await migrateStore(location);
  const verify = () =>
    verifyLedger(location, { nowMs: Date.now(), signal: NEVER, onProgress: () => {} });
  const before = await verify();
  assert.deepEqual(before.findings, []);
  const { accounts, api_keys, ledger, audit, validated_keys, key_states, idempotency } =
    before.rows;
  assert.deepEqual(
    { accounts, api_keys, ledger, validated_keys, key_states, idempotency },
    {
      ...{ accounts: 2, api_keys: 4, ledger: 13 },
      ...{ validated_keys: 1, key_states: 2, idempotency: 1 },
    },
  );
  assert.ok(audit > 0);
  const store = await openStore(location, { ...QUOTAS, professional: null });
  const [account] = (await store.listAccounts()).filter(({ name }) => name === 'Ada “A”');
  assert.ok(account);
  const [apiKey] = (await store.listApiKeys()).filter(
    ({ accountId }) => accountId === account.accountId,
  );
  assert.ok(apiKey);
  const { accountId, apiKeyId } = apiKey;
  const requests = [1, 2].map(() => ({ ...keyRequest(accountId), apiKeyId }));
  const outcomes = await store.commit(requests, []);
  assert.deepEqual(
    outcomes.map(({ kind }) => kind),
    ['committed', 'committed'],
  );
  await store.close();
  const { findings, rows: counts } = await verify();
  assert.deepEqual(findings, []);
  assert.equal(counts.ledger, ledger + 2);
}

describe('a schema of the baseline in SQLite', () => {
  const fresh = join(directory, 'fresh.db');
  const migrated = join(directory, 'migrated.db');
  const ask = (path: string, sql: string) => {
    const database = new DatabaseSync(path, { readOnly: true });
    const rows = database.prepare(sql).all();
    database.close();
    return rows.map((row) => ({ ...row }));
  };

  it('is that of the migrations before it, and of the same programs', async () => {
    assert.equal((await migrateToBaseline({ kind: 'sqlite', path: fresh })).from, 0);
    makeOldSqlite(migrated);
    assert.deepEqual(readSqlite(fresh), readSqlite(migrated));
    for (const path of [fresh, migrated])
      assert.deepEqual(ask(path, VERSION), [{ version: 14, oldest: 11 }]);
  });

  it('goes on with the rows of before', async () => {
    const path = join(directory, 'rows.db');
    makeOldSqlite(path, LAST_OLD, { rows: oldRows('sqlite') });
    await goesOn({ kind: 'sqlite', path });
    const needs = 'what it holds needs version 14';
    assert.deepEqual(ask(path, VERSION), [afterAll('sqlite', 14)], needs);
  });

  it('is copied before the baseline, but not restored there', async () => {
    const path = join(directory, 'copied.db');
    makeOldSqlite(path, 2);
    const copy = join(directory, 'copy.db');
    assert.equal((await copyDatabase(path, copy, NEVER)).schema, 2);
    const restored = copyDatabase(copy, join(directory, 'restored.db'), NEVER, 'backup');
    await assert.rejects(restored, /^SetupError: the backup .*copy\.db has schema version 2, /);
  });
});

describe('a schema of the baseline in PostgreSQL', { skip: noPostgres }, () => {
  /** Rights that an operator gives by default reach every table and function. */
  const grants = (
    reader: string,
  ) => `ALTER DEFAULT PRIVILEGES GRANT SELECT, INSERT ON TABLES TO ${reader};
    ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
    ALTER DEFAULT PRIVILEGES GRANT EXECUTE ON FUNCTIONS TO ${reader}`;

  it('is that of the migrations before it, without the superseded functions', async () => {
    const reader = await postgres.createRole('reader');
    const fresh = await postgres.createDatabase('fresh');
    const migrated = await postgres.createDatabase('migrated');
    for (const name of ['fresh', 'migrated']) await postgres.query(name, grants(reader));
    await makeOldPostgres(postgres, 'migrated');
    for (const url of [fresh, migrated]) await migrateToBaseline({ kind: 'postgres', url });
    const functions = 'SELECT proname::text AS name FROM pg_proc ORDER BY proname';
    const inFresh = new Set((await postgres.query('fresh', functions)).map(({ name }) => name));
    const missing = (await postgres.query('migrated', functions)).map(({ name }) => String(name));
    assert.deepEqual(
      missing.filter((name) => !inFresh.has(name)),
      SUPERSEDED,
    );
    assert.deepEqual(
      await readPostgres(postgres, 'fresh'),
      await readPostgres(postgres, 'migrated', SUPERSEDED),
    );
    assert.deepEqual(await postgres.query('fresh', VERSION), [{ version: 14, oldest: 14 }]);
    assert.deepEqual(await postgres.query('migrated', VERSION), [{ version: 14, oldest: 8 }]);
  });

  it('goes on with the rows of before', async () => {
    const url = await postgres.createDatabase('rows');
    await makeOldPostgres(postgres, 'rows');
    await postgres.query('rows', oldRows('postgres'));
    await goesOn({ kind: 'postgres', url });
    assert.deepEqual(await postgres.query('rows', VERSION), [afterAll('postgres', 13)]);
  });
});
