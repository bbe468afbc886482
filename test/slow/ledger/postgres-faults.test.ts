/** Databases that hide, drop or change rows of the ledger, or refuse a write for ever. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it, mock } from 'node:test';
import type { Client } from 'pg';
import { AppError } from '../../../src/errors.ts';
import { openMovableStore } from '../../../src/ledger/admin.ts';
import { type LedgerRow, type LedgerStore, migrateStore } from '../../../src/ledger/index.ts';
import type { AuditedRevocation } from '../../../src/ledger/key-records.ts';
import { inspectPostgres } from '../../../src/ledger/postgres/inspect.ts';
import { migratePostgres, openPostgresStore } from '../../../src/ledger/postgres/store.ts';
import { keyRequest, makeRow, NOW, QUOTAS } from '../../ledger/contract.ts';
import { fillRecords } from '../../ledger/filled-store.ts';
import { auditRecord, logStart, turnOf } from '../../ledger/log-contract.ts';
import type { Databases } from '../../support/ledgers/databases.ts';
import { makeOldPostgres } from '../../support/ledgers/old-ledgers.ts';
import { noPostgres } from '../../support/ledgers/postgres.ts';
import { sharedPostgres } from '../../support/ledgers/shared-postgres.ts';

let postgres: Databases;
/** The role of the service, which is no superuser. */
let role: string;
before(async () => {
  if (noPostgres) return;
  postgres = await sharedPostgres();
  role = await postgres.createRole('service');
});
after(() => postgres?.remove());

const ACCOUNT = 'acct_a';
const KEY_HASH = randomBytes(32);
const NEW = { accountId: ACCOUNT, name: 'a', plan: 'enterprise', demo: false, createdMs: NOW };
const API_KEY = {
  apiKeyId: 'key_a',
  accountId: ACCOUNT,
  hint: 'a',
  createdMs: NOW,
  revokedMs: null,
};
const RECIPIENT = {
  ...{ accountId: ACCOUNT, name: 'r', suite: 's' },
  ...{ publicKey: randomBytes(32), createdMs: NOW },
};

/** A key whose answer is removed. */
const WITHHELD = makeRow();

/** Reads whatever a write could change. */
const TABLES =
  'accounts api_keys usage ledger key_states validated_keys recipients audit secret_checks logs';
const BOOKS = `SELECT ${[
  ...TABLES.split(' '),
  'log_entries',
  'log_pending',
  'idempotency',
  'rollup_hour',
]
  .map(
    (table) =>
      `(SELECT md5(string_agg(t::text, '' ORDER BY t::text)) FROM ${table} AS t) AS ${table}`,
  )
  .join(', ')}`;

const failure = { accountId: ACCOUNT, atMs: NOW, counts: { streams: 0, streamsPassed: 0 } };

function revocationOf({ keyId }: LedgerRow): AuditedRevocation {
  const order = {
    accountId: ACCOUNT,
    keyId,
    state: 'compromised',
    reason: 'key_compromise',
  } as const;
  return { order: { ...order, atMs: NOW }, audit: auditRecord(null, { action: 'key_revoked' }) };
}

/** A ledger whose role is no superuser, with one account, one API key and one key. */
async function makeLedger(name: string) {
  const owned = await postgres.createDatabase(name);
  await postgres.query('postgres', `ALTER DATABASE ${postgres.nameOf(name)} OWNER TO ${role}`);
  const url = owned.replace('//phm:', `//${role}:`);
  await migrateStore({ kind: 'postgres', url });
  const store = await openPostgresStore({ url, quotas: QUOTAS });
  await store.addAccount(NEW);
  await store.addApiKey(API_KEY, KEY_HASH);
  const row = makeRow();
  await store.commit([keyRequest(ACCOUNT, row)], []);
  const revoke = () => store.revokeKeys([revocationOf(row)]);
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
    'a partition that is detached',
    'ALTER TABLE idempotency DETACH PARTITION idempotency_2',
    'ALTER TABLE idempotency ATTACH PARTITION idempotency_2 FOR VALUES IN (2)',
    /idempotency_2 is detached, so its rows are hidden/,
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
    await sql(`ALTER ROLE ${role} SET session_replication_role = replica`);
    const message = /session_replication_role is replica/;
    await assert.rejects(openPostgresStore({ url, quotas: QUOTAS }), { message });
    await sql(`ALTER ROLE ${role} RESET session_replication_role`);
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

/** Each: a write, and the tables of which a trigger drops rows. */
const WRITES: readonly (readonly [
  string,
  readonly string[],
  (store: LedgerStore, row: LedgerRow) => Promise<unknown>,
])[] = [
  [
    'a batch',
    [
      'ledger_202611',
      'validated_keys',
      'key_states',
      'usage',
      'api_key_usage',
      'rollup_minute',
      'rollup_hour',
    ],
    (store) => {
      const evidence = { gateP: 0.5, testsPassed: 15, totalTests: 15 };
      const pValues = Buffer.alloc(768);
      const row = makeRow({ evidence: { ...evidence, definition: 2, pValues }, expiresMs: NOW });
      const apiKeyLimit = { counterId: 'key_a', limit: 1_000 };
      return store.commit([{ ...keyRequest(ACCOUNT, row), apiKeyLimit }], []);
    },
  ],
  [
    'a batch with an Idempotency-Key',
    ['idempotency'],
    (store) => {
      const idempotency = { key: 'k', requestHash: randomBytes(32), body: null };
      return store.commit([{ ...keyRequest(ACCOUNT), idempotency }], []);
    },
  ],
  [
    'the end of an answer',
    ['idempotency'],
    (store) => store.withdrawAnswer({ accountId: ACCOUNT, key: 'w', keyIds: [WITHHELD.keyId] }),
  ],
  ['a failure', ['rollup_hour'], (store) => store.commit([], [failure])],
  ['a new account', ['accounts'], (store) => store.addAccount({ ...NEW, accountId: 'acct_b' })],
  ['a plan', ['accounts', 'audit'], (store) => store.setPlan(ACCOUNT, 'tiny', auditRecord(null))],
  [
    'a rule',
    ['accounts', 'audit'],
    (store) => store.setSealedOnly(ACCOUNT, 'on', auditRecord(null)),
  ],
  [
    'a suspension',
    ['accounts', 'audit'],
    (store) => {
      const change = { accountId: ACCOUNT, to: 'suspended', after: null, atMs: NOW } as const;
      return store.changeAccountState(change, auditRecord(null));
    },
  ],
  [
    'a deletion',
    ['accounts', 'api_keys', 'recipients', 'audit'],
    (store) => {
      const change = { accountId: ACCOUNT, to: 'deleted', after: null, atMs: NOW } as const;
      return store.changeAccountState(change, auditRecord(null));
    },
  ],
  [
    'an API key',
    ['api_keys'],
    (store) => store.addApiKey({ ...API_KEY, apiKeyId: 'key_b' }, randomBytes(32)),
  ],
  [
    'a revoked API key',
    ['api_keys', 'audit'],
    (store) => store.revokeApiKey('key_a', NOW, auditRecord(null)),
  ],
  [
    'a rotation',
    ['api_keys'],
    (store) =>
      store.rotateApiKey({
        ...{ apiKeyId: 'key_a', next: { apiKeyId: 'key_b', hint: 'b' }, keyHash: randomBytes(32) },
        ...{ atMs: NOW, untilMs: NOW + 1, expiresMs: undefined },
      }),
  ],
  ['the use of an API key', ['api_keys'], (store) => store.noteApiKeyUses(['key_a'], 1)],
  ['a recipient', ['recipients'], (store) => store.addRecipient({ ...RECIPIENT, name: 's' })],
  ['the end of a recipient', ['recipients'], (store) => store.removeRecipient(ACCOUNT, 'r')],
  ['a revocation', ['key_states', 'audit'], (store, row) => store.revokeKeys([revocationOf(row)])],
  ['a version', ['secret_checks'], (store) => store.registerSecret(2, randomBytes(32), NOW)],
  ['its activation', ['secret_checks'], (store) => store.activateSecret(1, NOW)],
  [
    'its retirement',
    ['secret_checks'],
    (store) => store.retireSecret(1, { retiredMs: NOW, compromisedMs: null }),
  ],
  ['its return', ['secret_checks'], (store) => store.reinstateSecret(1)],
  ['an audit record', ['audit'], (store) => store.addAudit(auditRecord(null))],
  ['a log', ['logs', 'log_entries'], (store) => store.startLog(logStart('b', Buffer.alloc(32)))],
  ['a turn', ['log_pending', 'log_entries', 'logs'], (store) => store.takeTurn(turnOf(1))],
  [
    'a turn that refuses',
    ['log_set_aside'],
    (store) => store.takeTurn(turnOf(1, { judge: () => false })),
  ],
  [
    'a checkpoint',
    ['log_checkpoints'],
    (store) => store.saveCheckpoint(1, 1, 'note', 'checkpoint'),
  ],
  ['the place of the log', ['logs'], (store) => store.recordHome(1)],
];

describe('a PostgreSQL ledger of which a trigger drops rows in between', {
  skip: noPostgres,
}, () => {
  let ledger: Awaited<ReturnType<typeof makeLedger>>;
  before(async () => {
    ledger = await makeLedger('dropped');
    const { store, sql } = ledger;
    await store.addRecipient(RECIPIENT);
    await store.registerSecret(1, randomBytes(32), NOW);
    const log = await store.startLog(logStart('a'));
    await store.addAudit(auditRecord(log.logId));
    const idempotency = { key: 'w', requestHash: randomBytes(32), body: '{}' };
    await store.commit([{ ...keyRequest(ACCOUNT, WITHHELD), idempotency }], []);
    await sql(IGNORE);
    // No session looks for triggers again.
    const nowMs = performance.now();
    mock.method(performance, 'now', () => nowMs);
  });
  after(async () => {
    mock.restoreAll();
    await ledger?.store.close();
  });

  for (const [name, tables, write] of WRITES) {
    for (const table of tables) {
      it(`refuses ${name} without its rows of ${table}`, async () => {
        const { store, row, sql } = ledger;
        // The session is open and has looked.
        await store.commit([], []);
        await sql(`CREATE TRIGGER dropper BEFORE INSERT OR UPDATE OR DELETE ON ${table}
          FOR EACH ROW EXECUTE FUNCTION ignore()`);
        try {
          const before = await sql(BOOKS);
          const words = table.startsWith('ledger')
            ? /committed elsewhere/
            : /dropped rows|committed elsewhere|moved the head/;
          await assert.rejects(write(store, row), isUnavailable(words));
          assert.deepEqual(await sql(BOOKS), before);
        } finally {
          await sql(`DROP TRIGGER dropper ON ${table}`);
        }
      });
    }
  }
});

describe('a locked account of a PostgreSQL ledger', { skip: noPostgres }, () => {
  const OTHER = 'acct_t';
  let ledger: Awaited<ReturnType<typeof makeLedger>>;
  let holder: Client;
  before(async () => {
    ledger = await makeLedger('locked');
    await ledger.store.addAccount({ ...NEW, accountId: OTHER, plan: 'tiny' });
    await ledger.store.commit([keyRequest(OTHER)], []);
    holder = await postgres.connect('locked');
  });
  after(async () => {
    await holder?.end();
    await ledger?.store.close();
  });

  /** Commits a request of each account and returns what became of them. */
  async function outcomes(...accounts: string[]): Promise<string[]> {
    const requests = accounts.map((accountId) => keyRequest(accountId));
    return (await ledger.store.commit(requests, [])).map(({ kind }) => kind);
  }

  for (const table of ['accounts', 'usage']) {
    it(`is left out of a batch while its row of ${table} is locked, and others commit`, async () => {
      await holder.query(`BEGIN; SELECT FROM ${table} WHERE account_id = '${ACCOUNT}' FOR UPDATE`);
      const before = await ledger.sql(BOOKS);
      assert.deepEqual(await outcomes(ACCOUNT, ACCOUNT), ['account_locked', 'account_locked']);
      assert.deepEqual(await ledger.sql(BOOKS), before);
      assert.deepEqual(await outcomes(ACCOUNT, OTHER, ACCOUNT), [
        'account_locked',
        'committed',
        'account_locked',
      ]);
      await holder.query('ROLLBACK');
      assert.deepEqual(await outcomes(ACCOUNT), ['committed']);
    });
  }

  it('is waited for if its lock ends soon', async () => {
    await ledger.sql("ALTER FUNCTION lock_accounts SET lock_timeout = '1min'");
    await holder.query(`BEGIN; SELECT FROM accounts WHERE account_id = '${ACCOUNT}' FOR UPDATE`);
    const committed = outcomes(ACCOUNT);
    const waits =
      "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
    while ((await ledger.sql(waits)).length === 0);
    await holder.query('ROLLBACK');
    assert.deepEqual(await committed, ['committed']);
    await ledger.sql("ALTER FUNCTION lock_accounts SET lock_timeout = '150ms'");
  });

  it('gets exactly its quota', async () => {
    await holder.query(`BEGIN; SELECT FROM accounts WHERE account_id = '${OTHER}' FOR UPDATE`);
    assert.deepEqual(await outcomes(OTHER, OTHER), ['account_locked', 'account_locked']);
    await holder.query('ROLLBACK');
    // Two places are used, of three.
    assert.deepEqual(await outcomes(OTHER, OTHER, OTHER).then((all) => all.toSorted()), [
      ...['quota_exceeded', 'quota_exceeded', 'quota_exceeded'],
    ]);
  });

  it('does not hold up the revocation of other keys, nor does a locked key', async () => {
    const rows = [makeRow(), makeRow()] as const;
    await ledger.store.commit(
      rows.map((row) => keyRequest(ACCOUNT, row)),
      [],
    );
    await ledger.store.revokeKeys([revocationOf(rows[0])]);
    const before = await ledger.sql(BOOKS);
    const states = `SELECT FROM key_states WHERE key_id = '\\x${Buffer.from(rows[0].keyId).toString('hex')}'`;
    await holder.query(`BEGIN; ${states} FOR UPDATE`);
    const again = () => ledger.store.revokeKeys([revocationOf(rows[0])]);
    assert.deepEqual(await again(), [{ kind: 'locked' }]);
    assert.deepEqual(await ledger.sql(BOOKS), before);
    const both = await ledger.store.revokeKeys(rows.map(revocationOf));
    assert.deepEqual(
      both.map(({ kind }) => kind),
      ['locked', 'revoked'],
    );
    await holder.query('ROLLBACK');
    assert.deepEqual(
      (await again()).map(({ kind }) => kind),
      ['unchanged'],
    );
  });

  it('is not what a locked API key or key is: commits go on', async () => {
    await ledger.revoke();
    await holder.query('BEGIN; SELECT FROM api_keys FOR UPDATE');
    await holder.query('SELECT FROM key_states FOR UPDATE; SELECT FROM ledger FOR UPDATE');
    assert.deepEqual(await outcomes(ACCOUNT), ['committed']);
    await ledger.store.noteApiKeyUses(['key_a'], 1);
    await holder.query('ROLLBACK');
  });
});

describe('a PostgreSQL ledger with a publication of all tables', { skip: noPostgres }, () => {
  const PUBLICATION = 'CREATE PUBLICATION everything FOR ALL TABLES';

  const publish: Readonly<Record<string, (name: string) => Promise<void>>> = {
    'from the first table on': async (name) => void (await postgres.query(name, PUBLICATION)),
    'by the migrations before the baseline': async (name) => {
      await postgres.query(name, PUBLICATION);
      await makeOldPostgres(postgres, name);
    },
    'later, in a ledger from before the baseline': async (name) => {
      await makeOldPostgres(postgres, name);
      await postgres.query(name, PUBLICATION);
    },
  };

  for (const [how, prepare] of Object.entries(publish)) {
    it(`is made ${how}, and works`, async () => {
      const name = `published_${Object.keys(publish).indexOf(how)}`;
      const url = await postgres.createDatabase(name);
      await prepare(name);
      await migratePostgres(url);
      const store = await openPostgresStore({ url, quotas: QUOTAS });
      await fillRecords(store);
      await store.close();
    });
  }

  it('says that only the operator can end what it refuses for ever', async () => {
    const { store, revoke, sql } = await makeLedger('refusing');
    const isLasting = (error: unknown) => {
      assert.ok(error instanceof AppError);
      assert.equal(error.details.retryAfterSeconds, 60);
      assert.match(error.details.remedy ?? '', /to try again does not help/);
      return true;
    };
    await revoke();
    await sql('CREATE PUBLICATION everything FOR ALL TABLES');
    await sql('ALTER TABLE key_states REPLICA IDENTITY NOTHING');
    await assert.rejects(revoke, isLasting);
    await sql('ALTER TABLE key_states REPLICA IDENTITY DEFAULT');
    await sql(`REVOKE INSERT ON audit FROM ${role}`);
    await assert.rejects(revoke, isLasting);
    await sql(`GRANT INSERT ON audit TO ${role}`);
    assert.deepEqual(
      (await revoke()).map(({ kind }) => kind),
      ['unchanged'],
    );
    await store.close();
  });
});
