/**
 * The function of PostgreSQL that commits a batch, across migrations: it writes a column that a later one adds, in sessions from
 * before too, and servers of the releases before and after work beside each other.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type pg from 'pg';
import type { LedgerRow, LedgerStore } from '../../src/ledger/index.ts';
import { newestVersion, readMigrations } from '../../src/ledger/migrations.ts';
import { keyColumns, requestColumns } from '../../src/ledger/postgres/batch-columns.ts';
import { migratePostgres } from '../../src/ledger/postgres/store.ts';
import { COMMIT_BATCH } from '../../src/ledger/postgres/writer.ts';
import type { Databases } from '../support/ledgers/databases.ts';
import { noPostgres } from '../support/ledgers/postgres.ts';
import { sharedPostgres } from '../support/ledgers/shared-postgres.ts';
import { until } from '../support/run/until.ts';
import { keyRequest, makeKeyId, makeRow, NOW, QUOTAS } from './contract.ts';
import { openPatientStore } from './patient-store.ts';
import { batchOf, seal } from './sealing-contract.ts';

const NEWEST = newestVersion(readMigrations('postgres'));

/** The migration of a later release. */
const LATER = {
  version: NEWEST + 1,
  sql: `-- oldest-program: 14
    ALTER TABLE ledger ADD COLUMN colour text;
    SELECT make_write_batch_12();`,
};

/** One beside which servers commit: it does not change `ledger`. */
const SMALL = { version: NEWEST + 1, sql: '-- oldest-program: 14\n' };

/** Makes the transaction wait for the advisory lock 7 at its end. */
const WAIT_AT_COMMIT = `
  SET LOCAL lock_timeout = 0;
  CREATE TABLE gate (passed boolean);
  CREATE FUNCTION pass_gate() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM pg_advisory_xact_lock(7); RETURN NULL; END $$;
  CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON gate DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION pass_gate();
  INSERT INTO gate VALUES (true);`;

/** A month without rows. */
const FAR = Date.UTC(2031, 4, 5);

/** After as many runs PostgreSQL keeps one plan of a statement. */
const RUNS = 7;

describe('the function that commits a batch', { skip: noPostgres }, () => {
  let postgres: Databases;
  let databases = 0;
  let name = '';
  let store: LedgerStore;
  let session: Session;

  before(async () => {
    postgres = await sharedPostgres();
  });
  after(() => postgres?.remove());

  /** Opens a new ledger, by a store and by a session of its own. */
  async function ledger(): Promise<void> {
    name = `batch_function_${++databases}`;
    const url = await postgres.createLedger(name);
    store = await openPatientStore(url);
    for (const plan of ['enterprise', 'tiny']) {
      const account = { accountId: `acct_${plan}`, name: plan, plan, demo: false, createdMs: NOW };
      await store.addAccount(account);
    }
    session = new Session(await postgres.connect(name));
  }

  async function close(): Promise<void> {
    await store.close();
    await session.client.end();
  }

  const migrate = (later = LATER) =>
    migratePostgres(postgres.url(name), [...readMigrations('postgres'), later]);

  /** Resolves when so many sessions of the database wait for a lock. */
  async function untilWaiting(count: number): Promise<void> {
    const waiting = `SELECT count(*)::integer AS sessions FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await until(
      `${count} sessions wait for a lock`,
      async () => (await ask(waiting))[0]?.sessions === count,
    );
  }

  async function versions() {
    return (await ask('SELECT version, oldest_program AS oldest FROM schema_version'))[0];
  }

  const ask = (sql: string) => postgres.query(name, sql);

  it('writes a column that a migration adds, in a session from before it, and in every month', async () => {
    await ledger();
    for (let i = 0; i < RUNS; i++) await session.commit(makeRow());
    await migrate();
    for (let i = 0; i < RUNS; i++) await session.commit(makeRow(), { colour: `run ${i}` });
    await session.commit(makeRow({ keyId: makeKeyId(FAR) }), { colour: 'far' });
    const colours = await ask(
      'SELECT colour, count(*)::integer AS rows FROM ledger GROUP BY 1 ORDER BY 1',
    );
    assert.deepEqual(
      colours.map(({ colour, rows }) => [colour, rows]),
      [['far', 1], ...Array.from({ length: RUNS }, (_, i) => [`run ${i}`, 1]), [null, RUNS]],
    );
    await close();
  });

  it('leaves a column NULL for the servers from before it', async () => {
    await ledger();
    await store.commit([keyRequest('acct_enterprise')], []);
    await migrate();
    const [outcome] = await store.commit([keyRequest('acct_enterprise')], []);
    assert.equal(outcome?.kind, 'committed');
    assert.deepEqual(await ask('SELECT DISTINCT colour FROM ledger'), [{ colour: null }]);
    await close();
  });

  it('writes nothing to a ledger whose schema is older than that of the server', async () => {
    await ledger();
    await assert.rejects(session.commit(makeRow(), { colour: 'red' }, NEWEST + 1), {
      message: `the ledger has a schema older than ${NEWEST + 1}, that of this server`,
    });
    await ask('UPDATE schema_version SET version = version - 1');
    const refused = store.commit([keyRequest('acct_enterprise')], []);
    await assert.rejects(refused, { code: 'ledger_unavailable' });
    assert.deepEqual(await ask('SELECT FROM ledger'), []);
    await ask('UPDATE schema_version SET version = version + 1');
    await migrate();
    await session.commit(makeRow(), { colour: 'red' }, NEWEST + 1);
    assert.deepEqual(await ask('SELECT colour FROM ledger'), [{ colour: 'red' }]);
    await close();
  });

  it('works beside that of the previous release', async () => {
    await ledger();
    await session.commit(makeRow());
    await session.commitAsBefore(makeRow({ sealed: seal(2) }));
    await store.commit([keyRequest('acct_enterprise')], []);
    const [found] = await ask(
      `SELECT (SELECT used::integer FROM usage) AS used, (SELECT oldest_program FROM schema_version) AS oldest,
         (SELECT count(*)::integer FROM ledger WHERE further_seals IS NOT NULL) AS several`,
    );
    assert.deepEqual(found, { used: 3, oldest: 15, several: 1 });
    await close();
  });

  it('raises the oldest program also if it commits while a migration waits for it', async () => {
    await ledger();
    await session.client.query('BEGIN');
    await session.commitAsBefore(makeRow({ sealed: seal(2) }));
    const migrated = migrate(SMALL);
    await untilWaiting(1);
    await session.client.query('COMMIT');
    await migrated;
    assert.deepEqual(await versions(), { version: NEWEST + 1, oldest: 15 });
    await close();
  });

  it('raises the oldest program also if it waits for a migration', async () => {
    await ledger();
    const gate = await postgres.connect(name);
    await gate.query('SELECT pg_advisory_lock(7)');
    const migrated = migrate({ ...SMALL, sql: SMALL.sql + WAIT_AT_COMMIT });
    await untilWaiting(1);
    const committed = session.commitAsBefore(makeRow({ sealed: seal(2) }));
    await untilWaiting(2);
    await gate.end();
    await Promise.all([migrated, committed]);
    assert.deepEqual(await versions(), { version: NEWEST + 1, oldest: 15 });
    await close();
  });

  it('refuses a column with a name of its own, with the migration', async () => {
    await ledger();
    const sql = LATER.sql.replace('colour', 'entry');
    await assert.rejects(migrate({ ...LATER, sql }), /cannot have the name entry/);
    await session.commit(makeRow());
    await close();
  });

  it('leaves columns of an operator as they are', async () => {
    await ledger();
    await ask(`ALTER TABLE ledger ADD COLUMN noted timestamptz NOT NULL DEFAULT now(),
      ADD COLUMN level text GENERATED ALWAYS AS (security_level || ' bits') STORED`);
    await migrate();
    await session.commit(makeRow(), { colour: 'red' });
    const [found] = await ask('SELECT colour, level, noted IS NOT NULL AS noted FROM ledger');
    assert.deepEqual(found, { colour: 'red', level: '256 bits', noted: true });
    await close();
  });

  it('asks for newer programs only by rows that it writes', async () => {
    await ledger();
    const keys = Array.from({ length: QUOTAS.tiny + 1 }, () => makeRow({ sealed: seal(2) }));
    const [outcome] = await store.commit([batchOf('acct_tiny', 0, { keys })], []);
    assert.equal(outcome?.kind, 'quota_exceeded');
    const [found] = await ask('SELECT oldest_program AS oldest FROM schema_version');
    assert.deepEqual(found, { oldest: 14 });
    await close();
  });

  it('needs no default of a column, which it would not write', async () => {
    await ledger();
    const defaults = await ask(
      `SELECT attname FROM pg_attribute WHERE attrelid = 'ledger'::regclass AND atthasdef`,
    );
    assert.deepEqual(defaults, []);
    await close();
  });
});

/** A session that commits as a server does. */
class Session {
  readonly client: pg.Client;
  #writer: unknown;
  #turn = 0;

  constructor(client: pg.Client) {
    this.client = client;
  }

  /** Commits a key, with these members beside the columns that this program knows, as a program of schema `schema`. */
  async commit(row: LedgerRow, more: object = {}, schema = NEWEST): Promise<void> {
    await this.#call(COMMIT_BATCH, [schema], row, more);
  }

  /** Commits a key as the release before `commit_batch_12` does. */
  async commitAsBefore(row: LedgerRow): Promise<void> {
    await this.#call('commit_batch_11', [], row, {});
  }

  async #call(name: string, first: readonly unknown[], row: LedgerRow, more: object) {
    const request = keyRequest('acct_enterprise', row);
    const keys = keyColumns(request, 0).map((one) => ({ ...one, ...more }));
    const lists = [JSON.stringify([requestColumns(request, 0)]), JSON.stringify(keys), '[]'];
    const values = [
      ...[await this.#writerId(), ++this.#turn, ...first, ['acct_enterprise'], ...lists],
      ...[[], '[]', JSON.stringify(QUOTAS), [], '[]', '[]', '[]', []],
    ];
    const places = values.map((_, i) => `$${i + 1}`);
    const text = `SELECT decision FROM ${name}(${places.join(', ')})`;
    const { rows } = await this.client.query({ name, text, values });
    assert.equal(rows[0].decision.committed, 1);
  }

  async #writerId(): Promise<unknown> {
    const add =
      'INSERT INTO writers (writer_id, turn) VALUES (gen_random_uuid(), 0) RETURNING writer_id';
    this.#writer ??= (await this.client.query(add)).rows[0].writer_id;
    return this.#writer;
  }
}
