/** A process works with one ledger in one schema, wherever its address and its search path lead later. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it, type TestContext } from 'node:test';
import { AppError } from '../../../src/errors.ts';
import { type LedgerIdentity, type LedgerStore, openStore } from '../../../src/ledger/index.ts';
import { MovablePostgres } from '../../../src/ledger/move/postgres.ts';
import { inspectPostgres } from '../../../src/ledger/postgres/inspect.ts';
import { migratePostgres, openPostgresStore } from '../../../src/ledger/postgres/store.ts';
import { keyRequest, makeRow, NOW, QUOTAS } from '../../ledger/contract.ts';
import { openPatientStore } from '../../ledger/patient-store.ts';
import type { Databases } from '../../support/ledgers/databases.ts';
import { noPostgres, Postgres } from '../../support/ledgers/postgres.ts';
import { sharedPostgres } from '../../support/ledgers/shared-postgres.ts';

const ACCOUNT = { accountId: 'acc', name: 'x', plan: 'enterprise', demo: false, createdMs: NOW };

let postgres: Databases;
let made = 0;

/** Creates a ledger with an account and a registered secret. */
async function makeLedger(): Promise<{ name: string; url: string }> {
  const name = `own_${made++}`;
  const url = await postgres.createLedger(name);
  const store = await openPatientStore(url);
  await store.addAccount(ACCOUNT);
  await store.registerSecret(1, randomBytes(32), NOW);
  await store.close();
  return { name, url };
}

/** Opens a store as a thread of a server that has prepared this ledger. */
async function openOwn(test: TestContext, url: string): Promise<LedgerStore> {
  const first = await openPatientStore(url);
  const ledger = await first.identity();
  await first.close();
  const store = await openStore({ kind: 'postgres', url, ledger }, QUOTAS);
  test.after(() => store.close());
  return store;
}

/** Ends the sessions of a database and puts another one in its place; the old one gets the name `away`. */
async function swap(name: string, other: string, away: string): Promise<void> {
  for (const [from, to] of [
    [name, away],
    [other, name],
  ]) {
    await postgres.query(
      'postgres',
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${postgres.nameOf(from)}'`,
    );
    await postgres.query(
      'postgres',
      `ALTER DATABASE ${postgres.nameOf(from)} RENAME TO ${postgres.nameOf(to)}`,
    );
  }
}

const isForeign = (error: unknown) => error instanceof AppError && error.code === 'foreign_ledger';

const commit = (store: LedgerStore) => store.commit([keyRequest('acc', makeRow())], []);

async function assertRefused(store: LedgerStore): Promise<void> {
  const hash = randomBytes(32);
  await assert.rejects(commit(store), isForeign);
  await assert.rejects(store.authenticate([hash], NOW), isForeign);
  await assert.rejects(store.findKeys([randomBytes(16)]), isForeign);
  await assert.rejects(store.secretChecks(), isForeign);
  await assert.rejects(store.logs(), isForeign);
  await assert.rejects(store.probe({ accountIds: [], room: false }), isForeign);
  await assert.rejects(store.identity(), isForeign);
  const prune = { keepMs: 1, clock: { nowMs: () => NOW }, dryRun: true };
  await assert.rejects(store.prune(prune), isForeign);
}

/** The store works again after its sessions have ended, which the driver notices a moment later. */
async function assertWorks(store: LedgerStore): Promise<void> {
  const [outcome] = await commit(store).catch(() => commit(store));
  assert.equal(outcome?.kind, 'committed');
}

describe('the ledger of a process', { skip: noPostgres }, () => {
  before(async () => {
    postgres = await sharedPostgres();
  });
  after(() => postgres?.remove());

  it('is refused while another one stands at its address, and used again after that', async (test) => {
    const [own, other] = [await makeLedger(), await makeLedger()];
    const store = await openOwn(test, own.url);
    await assertWorks(store);
    await swap(own.name, other.name, 'away_1');
    await assert.rejects(commit(store));
    await assertRefused(store);
    const rows = await postgres.query(own.name, 'SELECT count(*)::integer AS rows FROM ledger');
    assert.deepEqual(rows, [{ rows: 0 }], 'nothing was recorded in the other one');
    await swap(own.name, 'away_1', other.name);
    await commit(store).catch(() => {});
    await assertWorks(store);
  });

  it('is refused if a copy of it stands there', async (test) => {
    const own = await makeLedger();
    const store = await openOwn(test, own.url);
    await assertWorks(store);
    await postgres.query(
      'postgres',
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${postgres.nameOf(own.name)}'`,
    );
    await postgres.createDatabase('own_copy', own.name);
    await swap(own.name, 'own_copy', 'away_2');
    await assert.rejects(commit(store));
    await assertRefused(store);
  });

  it('is refused by threads and commands that start later', async () => {
    const [own, other] = [await makeLedger(), await makeLedger()];
    const first = await openPostgresStore({ url: own.url, quotas: {} });
    const ledger = await first.identity();
    await first.close();
    const late = openStore({ kind: 'postgres', url: other.url, ledger }, {});
    await assert.rejects(late, /another ledger than before: version 1 of the master secret has/);
  });

  it('is refused if its tables were put away under an open session', async (test) => {
    const own = await makeLedger();
    const store = await openOwn(test, own.url);
    await assertWorks(store);
    test.mock.method(performance, 'now', () => Number.MAX_SAFE_INTEGER);
    await postgres.query(own.name, 'ALTER SCHEMA public RENAME TO kept; CREATE SCHEMA public');
    await assert.rejects(commit(store), isForeign);
  });
});

describe('the schema of the ledger', { skip: noPostgres }, () => {
  before(async () => {
    // A server of its own: tests change the defaults of the role that all use.
    postgres = await Postgres.start();
  });
  after(() => postgres?.remove());

  /** Changes a database while a store is open, and asserts that the store and a new one still see its account. */
  async function assertStays(test: TestContext, change: (name: string) => string): Promise<void> {
    const { name, url } = await makeLedger();
    const store = await openOwn(test, url);
    await postgres.query(name, change(name));
    await postgres.query(
      'postgres',
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`,
    );
    await commit(store).catch(() => {});
    await assertWorks(store);
    assert.equal((await store.listAccounts()).length, 1);
  }

  it('is found behind an empty schema with the name of the role', async (test) => {
    await assertStays(test, () => 'CREATE SCHEMA phm AUTHORIZATION phm');
    const url = postgres.url(`own_${made - 1}`);
    const { from, to } = await migratePostgres(url);
    assert.equal(from, to);
    const store = await openPatientStore(url);
    test.after(() => store.close());
    assert.equal((await store.listAccounts()).length, 1);
    const schemas = await postgres.query(
      `own_${made - 1}`,
      "SELECT schemaname FROM pg_tables WHERE tablename = 'ledger'",
    );
    assert.deepEqual(schemas, [{ schemaname: 'public' }]);
  });

  const others = 'CREATE SCHEMA odd; CREATE TABLE odd.accounts (account_id text, plan text)';
  for (const [name, change] of [
    ['a default of the role', `${others}; ALTER ROLE phm SET search_path = odd, public`],
    ['a default of the role that leaves it out', `${others}; ALTER ROLE phm SET search_path = odd`],
    ['a default of the database', 'ALTER DATABASE %s SET search_path = pg_catalog'],
    [
      'functions that hide those of PostgreSQL',
      `CREATE SCHEMA odd; CREATE FUNCTION odd.current_database() RETURNS name LANGUAGE sql AS $$ SELECT 'odd'::name $$;
       ALTER ROLE phm SET search_path = odd, pg_catalog, public`,
    ],
  ] as const) {
    it(`stays the same after ${name}`, async (test) => {
      test.after(() => postgres.query('postgres', 'ALTER ROLE phm RESET search_path'));
      await assertStays(test, (database) => change.replace('%s', database));
    });
  }

  it('comes before temporary tables', async (test) => {
    const { url } = await makeLedger();
    const store = (await openOwn(test, url)) as unknown as {
      connection: { run(sql: string): Promise<unknown> };
    } & LedgerStore;
    await store.connection.run('CREATE TEMPORARY TABLE accounts (account_id text, plan text)');
    assert.equal((await store.listAccounts()).length, 1);
  });

  it('is not chosen between two ledgers: both are named', async () => {
    const { name, url } = await makeLedger();
    await postgres.query(
      name,
      'CREATE SCHEMA phm AUTHORIZATION phm; ALTER SCHEMA public RENAME TO kept',
    );
    await postgres.query(name, 'CREATE SCHEMA public');
    await postgres.query('postgres', `ALTER ROLE phm IN DATABASE ${name} SET search_path = phm`);
    const hidden = /the schema phm holds no ledger, but kept does/;
    await assert.rejects(migratePostgres(url), hidden);
    await assert.rejects(openPostgresStore({ url, quotas: {} }), hidden);
    const { faults } = await inspectPostgres(url, {});
    assert.ok(
      faults.some(({ isGrave, problem }) => isGrave && /kept/.test(problem)),
      'phm doctor',
    );
    await postgres.query(
      name,
      'ALTER SCHEMA kept RENAME TO public_2; ALTER SCHEMA phm RENAME TO kept',
    );
    await postgres.query('postgres', `ALTER ROLE phm IN DATABASE ${name} SET search_path = public`);
    await postgres.query(name, 'ALTER SCHEMA public_2 RENAME TO elsewhere');
    await assert.rejects(migratePostgres(url), /but elsewhere does/);
  });

  it('is asked for where the search path has two ledgers', async () => {
    const { name, url } = await makeLedger();
    await postgres.query(
      name,
      `CREATE SCHEMA phm AUTHORIZATION phm; CREATE TABLE phm.schema_version AS TABLE public.schema_version;
       CREATE TABLE phm.ledger (LIKE public.ledger); CREATE TABLE phm.secret_checks (LIKE public.secret_checks)`,
    );
    const both = /the schemas phm and public of the search path hold a ledger each/;
    await assert.rejects(migratePostgres(url), both);
    await assert.rejects(openPostgresStore({ url, quotas: {} }), both);
    await assert.rejects(inspectPostgres(url, {}), both);
    const movable = new MovablePostgres(url);
    await assert.rejects(
      movable.dump('export', ({ counts }) => counts()),
      both,
    );
    await assert.rejects(
      movable.load(async () => {}),
      both,
    );
    await postgres.query('postgres', `ALTER ROLE phm IN DATABASE ${name} SET search_path = public`);
    const store = await openPostgresStore({ url, quotas: {} });
    assert.equal((await store.listAccounts()).length, 1);
    await store.close();
  });

  it('is the one that an export reads', async () => {
    const { name, url } = await makeLedger();
    await postgres.query(
      name,
      'CREATE SCHEMA phm AUTHORIZATION phm; CREATE TABLE phm.accounts (account_id text)',
    );
    const lines = await new MovablePostgres(url).dump('export', ({ counts }) => counts());
    assert.equal(lines.accounts, 1);
  });

  it('is the first of the search path for a new ledger', async () => {
    const url = await postgres.createDatabase('fresh');
    await postgres.query('fresh', 'CREATE SCHEMA phm AUTHORIZATION phm');
    await migratePostgres(url);
    const found: LedgerIdentity = await openPostgresStore({ url, quotas: {} }).then(
      async (store) => {
        const identity = await store.identity();
        await store.close();
        return identity;
      },
    );
    assert.equal(found.schema, 'phm');
  });
});
