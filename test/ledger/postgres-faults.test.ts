/** Databases that hide, drop or change rows of the ledger, or refuse a write for ever. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it, mock } from 'node:test';
import { AppError } from '../../src/errors.ts';
import { openMovableStore } from '../../src/ledger/admin.ts';
import { type LedgerStore, migrateStore } from '../../src/ledger/index.ts';
import { inspectPostgres } from '../../src/ledger/postgres/inspect.ts';
import { openPostgresStore } from '../../src/ledger/postgres/store.ts';
import { noPostgres, PASSWORD, Postgres } from '../support/postgres.ts';
import { keyRequest, makeKeyId, makeRow, NOW, QUOTAS } from './contract.ts';
import { auditRecord } from './log-contract.ts';

let postgres: Postgres;
before(async () => {
  if (noPostgres) return;
  postgres = await Postgres.start();
  await postgres.query('postgres', `CREATE ROLE service LOGIN PASSWORD '${PASSWORD}'`);
});
after(() => postgres?.remove());

const ACCOUNT = 'acct_a';
const KEY_HASH = randomBytes(32);

/** A ledger whose role is no superuser, with one account, one API key and one key. */
async function makeLedger(name: string) {
  const owned = await postgres.createDatabase(name);
  await postgres.query('postgres', `ALTER DATABASE ${name} OWNER TO service`);
  const url = owned.replace('//phm:', '//service:');
  await migrateStore({ kind: 'postgres', url });
  const store = await openPostgresStore({ url, quotas: QUOTAS });
  const account = { accountId: ACCOUNT, name: 'a', plan: 'enterprise', demo: false };
  await store.addAccount({ ...account, createdMs: NOW });
  const apiKey = { apiKeyId: 'key_a', accountId: ACCOUNT, hint: 'a', createdMs: NOW };
  await store.addApiKey(apiKey as Parameters<LedgerStore['addApiKey']>[0], KEY_HASH);
  const row = makeRow();
  await store.commit([keyRequest(ACCOUNT, row)], []);
  const revoke = () =>
    store.revokeKeys([
      {
        order: {
          accountId: ACCOUNT,
          keyId: row.keyId,
          state: 'compromised',
          reason: 'key_compromise',
          atMs: NOW,
        },
        audit: auditRecord(null, { auditId: makeKeyId(), action: 'key_revoked' }),
      } as Parameters<LedgerStore['revokeKeys']>[0][number],
    ]);
  return { url, store, row, revoke, sql: (sql: string) => postgres.query(name, sql) };
}

function isUnavailable(words: RegExp) {
  return (error: unknown) => {
    assert.ok(error instanceof AppError, String(error));
    assert.equal(error.code, 'ledger_unavailable');
    assert.match((error.cause as Error).message, words);
    return true;
  };
}

/** Lets sessions look at the tables again. */
function passTwoSeconds(): void {
  const { now } = performance;
  mock.method(performance, 'now', () => now.call(performance) + 2_000);
}

const IGNORE = `CREATE FUNCTION ignore() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';`;
const FORCE = (table: string) =>
  `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY; ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;`;

/** Each: what happens to a database in use, how it ends, and what is said of it. */
const DISTURBANCES: readonly (readonly [string, string, string, RegExp])[] = [
  [
    'forced row-level security of key states',
    FORCE('key_states'),
    'ALTER TABLE key_states DISABLE ROW LEVEL SECURITY',
    /row-level security hides rows of key_states/,
  ],
  [
    'forced row-level security of API keys',
    FORCE('api_keys'),
    'ALTER TABLE api_keys DISABLE ROW LEVEL SECURITY',
    /row-level security hides rows of api_keys/,
  ],
  [
    'a policy that hides a month',
    `${FORCE('ledger_202611')} CREATE POLICY few ON ledger_202611 USING (false)`,
    'DROP POLICY few ON ledger_202611; ALTER TABLE ledger_202611 DISABLE ROW LEVEL SECURITY',
    /row-level security hides rows of ledger_202611/,
  ],
  [
    'a trigger that drops rows',
    `${IGNORE} CREATE TRIGGER dropper BEFORE INSERT OR UPDATE ON key_states FOR EACH ROW EXECUTE FUNCTION ignore()`,
    'DROP TRIGGER dropper ON key_states; DROP FUNCTION ignore',
    /key_states has the trigger dropper/,
  ],
  [
    'a trigger that changes rows, on a part of a table',
    `CREATE FUNCTION edit() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.body = NULL; RETURN NEW; END';
     CREATE TRIGGER editor BEFORE INSERT ON idempotency_1 FOR EACH ROW EXECUTE FUNCTION edit()`,
    'DROP TRIGGER editor ON idempotency_1; DROP FUNCTION edit',
    /idempotency_1 has the trigger editor/,
  ],
  [
    'a rule that does nothing instead',
    'CREATE RULE quiet AS ON INSERT TO audit DO INSTEAD NOTHING',
    'DROP RULE quiet ON audit',
    /audit has the rule quiet/,
  ],
  [
    'a view in the place of a table',
    'ALTER TABLE key_states RENAME TO states; CREATE VIEW key_states AS SELECT * FROM states WHERE state IS NULL',
    'DROP VIEW key_states; ALTER TABLE states RENAME TO key_states',
    /key_states is a view and not the table/,
  ],
  [
    'a table that inherits',
    'CREATE TABLE more () INHERITS (secret_checks)',
    'DROP TABLE more',
    /the table more inherits from secret_checks/,
  ],
  [
    'a partition for all other rows',
    'CREATE TABLE rest PARTITION OF ledger DEFAULT',
    'DROP TABLE rest',
    /the table rest inherits from ledger/,
  ],
  [
    'an unlogged table',
    'ALTER TABLE key_states SET UNLOGGED',
    'ALTER TABLE key_states SET LOGGED',
    /key_states is unlogged/,
  ],
  [
    'foreign keys that are disabled',
    'ALTER TABLE api_keys DISABLE TRIGGER ALL',
    'ALTER TABLE api_keys ENABLE TRIGGER ALL',
    /triggers of foreign keys of api_keys are disabled/,
  ],
];

describe('a PostgreSQL ledger whose rows can be missing or wrong', { skip: noPostgres }, () => {
  let ledger: Awaited<ReturnType<typeof makeLedger>>;
  before(async () => {
    ledger = await makeLedger('disturbed');
    const [outcome] = await ledger.revoke();
    assert.equal(outcome?.kind, 'revoked');
  });
  after(() => ledger?.store.close());

  it('refuses at once what a policy would hide from a session in use', async () => {
    const { store, row, sql, revoke } = ledger;
    await store.findStates([row.commitment]);
    await sql(FORCE('key_states'));
    const words = /affected by row-level security policy for table "key_states"/;
    await assert.rejects(store.findStates([row.commitment]), isUnavailable(words));
    await assert.rejects(revoke, isUnavailable(words));
    await sql('ALTER TABLE key_states DISABLE ROW LEVEL SECURITY');
  });

  it('is not opened by a role that does not enforce foreign keys', async () => {
    const { url, sql } = ledger;
    await sql('ALTER ROLE service SET session_replication_role = replica');
    const message = /session_replication_role is replica/;
    await assert.rejects(openPostgresStore({ url, quotas: QUOTAS }), { message });
    await sql('ALTER ROLE service RESET session_replication_role');
    await (await openPostgresStore({ url, quotas: QUOTAS })).close();
  });

  it('is neither exported nor filled', async () => {
    const { url, sql } = ledger;
    await sql(FORCE('accounts'));
    const store = await openMovableStore({ kind: 'postgres', url });
    const message = /row-level security hides rows of accounts/;
    await assert.rejects(
      store.dump('export', async () => {}),
      { name: 'SetupError', message },
    );
    await assert.rejects(
      store.load(async () => {}),
      { name: 'SetupError', message },
    );
    await sql('ALTER TABLE accounts DISABLE ROW LEVEL SECURITY');
  });

  for (const [name, begin, end, words] of DISTURBANCES) {
    it(`refuses all work while it has ${name}`, async () => {
      const { url, row, sql, revoke } = ledger;
      await sql(begin);
      try {
        // A new session looks at once, and one in use every two seconds.
        const open = openPostgresStore({ url, quotas: QUOTAS });
        await assert.rejects(open, { name: 'SetupError', message: words, mayPass: false });
        const { faults } = await inspectPostgres(url, {});
        assert.ok(faults.some(({ isGrave, problem }) => isGrave && words.test(problem)));
        passTwoSeconds();
        const { store } = ledger;
        for (const work of [
          () => store.findStates([row.commitment]),
          () => store.authenticate([KEY_HASH], NOW),
          () => store.commit([keyRequest(ACCOUNT)], []),
          () => store.probe({ accountIds: [], room: false }),
          revoke,
        ]) {
          await assert.rejects(work, isUnavailable(words));
        }
      } finally {
        await sql(end);
      }
      const [state] = await ledger.store.findStates([row.commitment]);
      assert.equal(state?.revocation?.state, 'compromised');
    });
  }
});
