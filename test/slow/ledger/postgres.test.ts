import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, afterEach, before, beforeEach, describe, it, mock } from 'node:test';
import pg from 'pg';
import { AppError } from '../../../src/errors.ts';
import { exportLedger, importLedger, openMovableStore } from '../../../src/ledger/admin.ts';
import {
  type CommitOutcome,
  type LedgerStore,
  migrateStore,
  openSqliteStore,
  type StoreLocation,
} from '../../../src/ledger/index.ts';
import { readMigrations } from '../../../src/ledger/migrations.ts';
import { isOfCommit } from '../../../src/ledger/postgres/confirmation.ts';
import { PostgresConnection } from '../../../src/ledger/postgres/connection.ts';
import { COPY_PAGE } from '../../../src/ledger/postgres/deliveries.ts';
import { migratePostgres, openPostgresStore } from '../../../src/ledger/postgres/store.ts';
import { COMMIT_BATCH } from '../../../src/ledger/postgres/writer.ts';
import { accountsContract } from '../../ledger/accounts-contract.ts';
import { apiKeysContract } from '../../ledger/api-keys-contract.ts';
import {
  areRecorded,
  keyRequest,
  ledgerContract,
  MONTH,
  makeCommitment,
  makeRow,
  NOW,
  QUOTAS,
} from '../../ledger/contract.ts';
import { deliveriesContract } from '../../ledger/deliveries-contract.ts';
import {
  assertSameRecords,
  assertSameStates,
  assertSameStore,
  assertSealed,
  fillDeliveries,
  fillRecords,
  fillSealed,
  fillStates,
  fillStore,
} from '../../ledger/filled-store.ts';
import { auditRecord } from '../../ledger/log-contract.ts';
import { openPatientStore } from '../../ledger/patient-store.ts';
import { recordsContract } from '../../ledger/records-contract.ts';
import {
  answerTo,
  batchOf,
  findAnswer,
  plain,
  record,
  seal,
  sealingContract,
} from '../../ledger/sealing-contract.ts';
import { statisticsContract } from '../../ledger/statistics-contract.ts';
import { verifyContract } from '../../ledger/verify-contract.ts';
import { createOldLedger, LAST_OLD, makeOldPostgres } from '../../support/ledgers/old-ledgers.ts';
import { noPostgres, PASSWORD, Postgres } from '../../support/ledgers/postgres.ts';
import { WayToServer } from '../../support/ledgers/way.ts';

let postgres: Postgres;
before(async () => {
  if (noPostgres) return;
  // A server of its own: tests stop it, use up its connections and change its settings.
  postgres = await Postgres.start();
  await postgres.setSync(false);
  postgres.publishesAll = true;
  postgres.waitsForLocks = true;
});
after(() => postgres?.remove());

/** SQLSTATE of a statement that ended early. Nothing of it was done. */
const QUERY_CANCELED = '57014';

const when = { skip: noPostgres };

/** Creates a ledger from before the baseline, whose changes others follow. */
async function createEarlier(name: string): Promise<string> {
  const url = await createOldLedger(postgres, name);
  await postgres.query(name, 'CREATE PUBLICATION everything FOR ALL TABLES');
  return url;
}

/** Such a ledger for a contract, created when it is first opened. */
function earlier(name: string) {
  let url: string | null = null;
  return {
    open: async () => {
      url ??= await createEarlier(name);
      return open(url);
    },
    setClock: (atMs: number) => postgres.setClock(name, atMs),
    ask: (sql: string) => postgres.query(name, sql) as Promise<Record<string, unknown>[]>,
  };
}

/** Listens to the statements of every client, like the log of a server with `log_statement = all`. */
function tap(seen: (parameters: readonly unknown[]) => void): () => void {
  const original = pg.Client.prototype.query as (...all: unknown[]) => unknown;
  const method = mock.method(
    pg.Client.prototype,
    'query',
    function (this: pg.Client, ...all: unknown[]) {
      seen((all[0] as { values?: unknown[] }).values ?? []);
      return original.apply(this, all);
    },
  );
  return () => method.mock.restore();
}

ledgerContract(
  'PostgreSQL',
  async () => open(await postgres.createLedger('contract')),
  async () => {},
  tap,
  (atMs) => postgres.setClock('contract', atMs),
  when,
);

statisticsContract(
  'PostgreSQL',
  async () => open(await postgres.createLedger('statistics')),
  (sql) => postgres.query('statistics', sql),
  when,
);

const sealing = earlier('sealing');
sealingContract('PostgreSQL', sealing.open, sealing.setClock, sealing.ask, when);

apiKeysContract('PostgreSQL', earlier('api_keys'), when);

recordsContract(
  'PostgreSQL',
  {
    ...earlier('records'),
    writes: async () => {
      const sql = 'SELECT max(xmin::text::bigint) AS newest FROM key_states';
      return (await postgres.query('records', sql))[0]?.newest;
    },
    tap,
  },
  when,
);

deliveriesContract('PostgreSQL', { ...earlier('deliveries'), tap }, when);

accountsContract('PostgreSQL', earlier('accounts'), when);

const open = openPatientStore;

async function addAccount(store: LedgerStore, plan: string): Promise<string> {
  const accountId = `acct_${plan}`;
  await store.addAccount({ accountId, name: plan, plan, demo: false, createdMs: NOW });
  return accountId;
}

/** Reads rows, counter and sums of a database with one account. They must agree. */
async function readBooks(database: string): Promise<{ rows: number; used: number; keys: number }> {
  const [books] = await postgres.query(
    database,
    `SELECT (SELECT count(*) FROM ledger)::integer AS rows,
       (SELECT coalesce(sum(used), 0) FROM usage)::integer AS used,
       (SELECT coalesce(sum(keys), 0) FROM rollup_hour)::integer AS keys`,
  );
  return books as { rows: number; used: number; keys: number };
}

const isUnavailable = (error: unknown, retryAfterSeconds: unknown = 5) =>
  error instanceof AppError &&
  error.code === 'ledger_unavailable' &&
  error.details.retryAfterSeconds === retryAfterSeconds;

/** It lasts until an operator changes something. */
const isRefused = (error: unknown) => isUnavailable(error, 60);

/** Ends every connection of the store except this one, and returns their number. */
async function terminateAll(database: string): Promise<number> {
  const cut = await postgres.query(
    database,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );
  return cut.length;
}

describe('PostgreSQL store shared by several servers', when, () => {
  for (const [how, wait] of [
    ['compete for the last places', '1min'],
    ['leave out what the other has locked', '1ms'],
  ]) {
    it(`grants exactly the quota when two stores ${how}`, () => race(wait));
  }

  /**
   * Commits 1,200 requests of an account that has 1,000, and sends again what a lock of the other store left out, and what
   * was cancelled: a lock that PostgreSQL grants as its time runs out can end the statement with that, though nobody cancelled it.
   */
  async function race(lockTimeout: string): Promise<void> {
    const name = `race_${lockTimeout}`;
    const url = await postgres.createLedger(name);
    await postgres.query(name, `ALTER FUNCTION lock_accounts SET lock_timeout = '${lockTimeout}'`);
    const stores = await Promise.all([open(url), open(url)]);
    const id = await addAccount(stores[0], 'research');
    const commit = async (store: LedgerStore): Promise<CommitOutcome[]> => {
      const four = Array.from({ length: 4 }, () => keyRequest(id));
      const outcomes = await store.commit(four, []).catch((error: AppError) => {
        if ((error.cause as { code?: string }).code !== QUERY_CANCELED) throw error;
        return [];
      });
      const isDone = outcomes.length > 0 && !outcomes.some(({ kind }) => kind === 'account_locked');
      return isDone ? outcomes : commit(store);
    };
    const batches = Array.from({ length: 300 }, (_, i) => commit(stores[i % 2] as LedgerStore));
    const outcomes = (await Promise.all(batches)).flat();
    const used = outcomes.flatMap((one) => (one.kind === 'committed' ? [one.usage.used] : []));
    assert.deepEqual(
      used.sort((a, b) => a - b),
      Array.from({ length: 1_000 }, (_, i) => i + 1),
      'each place once',
    );
    assert.equal(outcomes.filter(({ kind }) => kind === 'quota_exceeded').length, 200);
    assert.deepEqual(await readBooks(name), { rows: 1_000, used: 1_000, keys: 1_000 });
    await Promise.all(stores.map((store) => store.close()));
    assert.deepEqual(await postgres.query(name, 'SELECT 1 FROM writers'), []);
  }

  it('avoids deadlock when batches name accounts in different orders', async () => {
    const url = await postgres.createLedger('orders');
    const stores = await Promise.all([open(url), open(url)]);
    const ids = await Promise.all(
      ['enterprise', 'research'].map((plan) => addAccount(stores[0], plan)),
    );
    const batch = (accounts: readonly string[]) => accounts.map((id) => keyRequest(id));
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        stores[i % 2]?.commit(batch(i % 2 ? ids : ids.toReversed()), []),
      ),
    );
    assert.ok(outcomes.flat().every((outcome) => outcome?.kind === 'committed'));
    const [{ deadlocks }] = (await postgres.query(
      'orders',
      'SELECT deadlocks::integer FROM pg_stat_database WHERE datname = current_database()',
    )) as [{ deadlocks: number }];
    assert.equal(deadlocks, 0);
    await Promise.all(stores.map((store) => store.close()));
  });

  it('releases one of two equal keys that two stores commit at the same time', async () => {
    const url = await postgres.createLedger('twins');
    const stores = await Promise.all([open(url), open(url)]);
    const ids = await Promise.all(
      ['enterprise', 'research'].map((plan) => addAccount(stores[0], plan)),
    );
    for (let round = 0; round < 20; round++) {
      const commitment = makeCommitment();
      const twins = await Promise.all(
        stores.map((store, i) =>
          store.commit([keyRequest(ids[i] ?? '', makeRow({ commitment }))], []),
        ),
      );
      const kinds = twins.flat().map(({ kind }) => kind);
      assert.deepEqual(kinds.sort(), ['committed', 'repeated_key']);
    }
    assert.deepEqual(await readBooks('twins'), { rows: 20, used: 20, keys: 20 });
    await Promise.all(stores.map((store) => store.close()));
  });
});

describe('PostgreSQL store that loses its server', when, () => {
  it('has a row for each answer and an equal counter after connections fail under load', async () => {
    const url = await postgres.createLedger('cut');
    const store = await open(url);
    const id = await addAccount(store, 'enterprise');
    const answered: Uint8Array[] = [];
    let refused = 0;
    let running = true;
    const client = async () => {
      while (running) {
        const rows = [makeRow(), makeRow()];
        try {
          await store.commit(
            rows.map((row) => keyRequest(id, row)),
            [],
          );
          answered.push(...rows.map(({ keyId }) => keyId));
        } catch (error) {
          assert.ok(isUnavailable(error), String(error));
          refused += 2;
        }
      }
    };
    const clients = Array.from({ length: 8 }, client);
    let cuts = 0;
    while (cuts < 20) cuts += await terminateAll('cut');
    running = false;
    await Promise.all(clients);
    assert.ok((await areRecorded(store, answered)).every((found) => found));
    const books = await readBooks('cut');
    assert.equal(books.rows, books.used);
    assert.equal(books.rows, books.keys);
    // No outcome is unknown: each batch is either answered and recorded, or refused and absent.
    assert.equal(books.rows, answered.length, `${refused} refused`);
    await store.close();
  });

  it('answers ledger_unavailable while the server is down, then recovers', async () => {
    const url = await postgres.createLedger('restarted');
    const store = await open(url);
    const id = await addAccount(store, 'enterprise');
    const kept = makeRow();
    await store.commit([keyRequest(id, kept)], []);
    await postgres.stop('QUIT');
    const lost = makeRow();
    await assert.rejects(store.commit([keyRequest(id, lost)], []), isUnavailable);
    await assert.rejects(store.activity(id, 0), isUnavailable);
    await postgres.restart();
    assert.deepEqual(await areRecorded(store, [kept.keyId, lost.keyId]), [true, false]);
    const [outcome] = await store.commit([keyRequest(id, lost)], []);
    assert.deepEqual(outcome, { kind: 'committed', usage: { month: MONTH, used: 2, quota: null } });
    await store.close();
  });

  it('compiles no plans and scans no tables, whatever the defaults of its database', async () => {
    const url = await postgres.createLedger('planner_defaults');
    for (const setting of ['jit', 'enable_seqscan']) {
      await postgres.query('postgres', `ALTER DATABASE planner_defaults SET ${setting} = on`);
    }
    const connection = await PostgresConnection.open(url);
    const sql =
      "SELECT name, setting FROM pg_settings WHERE name IN ('jit', 'enable_seqscan') ORDER BY 1";
    assert.deepEqual((await connection.run(sql)).rows, [
      { name: 'enable_seqscan', setting: 'off' },
      { name: 'jit', setting: 'off' },
    ]);
    await connection.close();
  });

  it('answers ledger_unavailable on a read-only server', async () => {
    const url = await postgres.createLedger('read_only');
    const writable = await open(url);
    const id = await addAccount(writable, 'enterprise');
    await writable.commit([keyRequest(id)], []);
    await postgres.query(
      'postgres',
      'ALTER DATABASE read_only SET default_transaction_read_only = on',
    );
    const store = await open(url);
    await assert.rejects(store.commit([keyRequest(id)], []), isUnavailable);
    assert.deepEqual((await writable.commit([keyRequest(id)], [])).length, 1);
    // The store's sessions are now permanently read-only: it needs new ones.
    await postgres.query(
      'postgres',
      'ALTER DATABASE read_only RESET default_transaction_read_only',
    );
    await areRecorded(store, []);
    assert.equal((await store.commit([keyRequest(id)], [])).length, 1);
    await Promise.all([store.close(), writable.close()]);
  });

  it('answers ledger_unavailable while other clients hold all connections', async () => {
    const url = await postgres.createLedger('crowded');
    const store = await open(url);
    const id = await addAccount(store, 'enterprise');
    await terminateAll('crowded');
    const others: pg.Client[] = [];
    const crowd = async () => {
      for (;;) others.push(await postgres.connect('crowded'));
    };
    // Recently closed connections may still be freed.
    let room = true;
    for (let held = 0; room; held = others.length) {
      await assert.rejects(crowd, { code: '53300' });
      room = others.length > held;
    }
    await assert.rejects(store.commit([keyRequest(id)], []), isUnavailable);
    await Promise.all(others.map((other) => other.end()));
    assert.deepEqual(await readBooks('crowded'), { rows: 0, used: 0, keys: 0 });
    assert.equal((await store.commit([keyRequest(id)], [])).length, 1);
    await store.close();
  });

  it('answers ledger_unavailable while its password is wrong, and never quotes a password', async (t) => {
    const url = await postgres.createLedger('password');
    const store = await open(url);
    const id = await addAccount(store, 'enterprise');
    const keeper = await postgres.connect('password');
    // Also after a failure: all tests of this file use this role.
    const restore = () => keeper.query(`ALTER ROLE phm PASSWORD '${PASSWORD}'`);
    t.after(() => restore().finally(() => keeper.end()));
    await keeper.query("ALTER ROLE phm PASSWORD 'another'");
    const cut = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()`;
    while ((await keeper.query(cut)).rows.length > 0);
    // The session that was ended may still be in the pool.
    await assert.rejects(
      areRecorded(store, []),
      (error) => isUnavailable(error) || isRefused(error),
    );
    await assert.rejects(store.commit([keyRequest(id)], []), (error: AppError) => {
      const reason = (error.cause as Error).message;
      assert.match(reason, /password authentication failed/);
      assert.ok(!reason.includes(PASSWORD));
      return isRefused(error);
    });
    await restore();
    assert.equal((await store.commit([keyRequest(id)], [])).length, 1);
    await store.close();
  });

  it('leaves no active API key if a deletion waits for a rotation', async () => {
    const url = await postgres.createLedger('rotated');
    const [store, other] = [await open(url), await open(url)];
    const accountId = await addAccount(store, 'enterprise');
    const record = { apiKeyId: 'key_old', accountId, hint: 'h', createdMs: NOW, revokedMs: null };
    await store.addApiKey(record, Buffer.alloc(32, 1));
    const next = { apiKeyId: 'key_new', hint: 'h' };
    const of = { apiKeyId: 'key_old', next, keyHash: Buffer.alloc(32, 2) };
    const waits = `SELECT FROM pg_stat_activity
      WHERE wait_event_type = 'Lock' AND datname = current_database()`;
    const waiting = async (count: number) => {
      while ((await postgres.query('rotated', waits)).length < count);
    };
    const holder = await postgres.connect('rotated');
    await holder.query("BEGIN; SELECT FROM api_keys WHERE api_key_id = 'key_old' FOR UPDATE");
    const rotated = store.rotateApiKey({ ...of, atMs: NOW, untilMs: NOW + 1 });
    await waiting(1);
    const deletion = { accountId, to: 'deleted', after: null, atMs: NOW } as const;
    const deleted = other.changeAccountState(
      deletion,
      auditRecord(null, { action: 'account_deleted' }),
    );
    await waiting(2);
    await holder.end();
    assert.deepEqual(await Promise.all([rotated, deleted]), ['rotated', 'changed']);
    const revoked = (await store.listApiKeys()).map(({ revokedMs }) => revokedMs);
    assert.deepEqual(revoked, [NOW, NOW]);
    await Promise.all([store.close(), other.close()]);
  });

  it('counts nothing of a batch that is cancelled or meets a full disk', async () => {
    const url = await postgres.createLedger('refused');
    const store = await open(url);
    const id = await addAccount(store, 'enterprise');
    const holder = await postgres.connect('refused');
    await holder.query('BEGIN; LOCK TABLE rollup_hour IN EXCLUSIVE MODE');
    const cancelled = assert.rejects(store.commit([keyRequest(id)], []), isUnavailable);
    const cancel = `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
      WHERE wait_event_type = 'Lock' AND datname = current_database()`;
    while ((await postgres.query('refused', cancel)).length === 0);
    await cancelled;
    await holder.end();
    // A check of each row raises the error of a full disk.
    await postgres.query(
      'refused',
      `CREATE FUNCTION full_disk() RETURNS boolean LANGUAGE plpgsql
         AS $$ BEGIN RAISE 'no space left' USING ERRCODE = '53100'; END $$;
       ALTER TABLE ledger ADD CONSTRAINT full_disk CHECK (full_disk()) NOT VALID`,
    );
    const turn = () => postgres.query('refused', 'SELECT turn FROM writers');
    const before = await turn();
    await assert.rejects(store.commit([keyRequest(id)], []), isUnavailable);
    assert.deepEqual(
      await turn(),
      before,
      'there was no doubt to resolve, by writing to that disk',
    );
    await postgres.query('refused', 'ALTER TABLE ledger DROP CONSTRAINT full_disk');
    assert.deepEqual(await readBooks('refused'), { rows: 0, used: 0, keys: 0 });
    assert.equal((await store.commit([keyRequest(id)], [])).length, 1);
    await store.close();
  });
});

describe('PostgreSQL store that loses the answer to a batch', when, () => {
  let store: LedgerStore;
  let way: WayToServer;
  let id: string;

  before(async () => {
    await postgres.createLedger('doubt');
    way = await WayToServer.start(postgres.port);
    store = await open(postgres.url('doubt', way.port));
    id = await addAccount(store, 'tiny');
  });
  after(async () => {
    await store.close();
    way.close();
  });

  it('returns the outcomes of the batch if it was committed', async () => {
    const rows = [makeRow(), makeRow()];
    way.cut = 'answer';
    const outcomes = await store.commit([keyRequest(id, rows[0]), keyRequest(id, rows[1])], []);
    assert.equal(way.cut, null, 'the answer was cut off');
    assert.deepEqual(outcomes, [
      { kind: 'committed', usage: { month: MONTH, used: 1, quota: 3 } },
      { kind: 'committed', usage: { month: MONTH, used: 2, quota: 3 } },
    ]);
    assert.deepEqual(
      await areRecorded(
        store,
        rows.map(({ keyId }) => keyId),
      ),
      [true, true],
    );
  });

  it('answers ledger_unavailable and counts nothing if the batch never arrived', async () => {
    const row = makeRow();
    way.cut = 'request';
    await assert.rejects(store.commit([keyRequest(id, row)], []), isUnavailable);
    assert.equal(way.cut, null, 'the request was cut off');
    assert.deepEqual(await areRecorded(store, [row.keyId]), [false]);
    assert.deepEqual(await readBooks('doubt'), { rows: 2, used: 2, keys: 2 });
  });

  it('counts a validation with a lost answer once, and repeats a lost refusal', async () => {
    const validation = { ...keyRequest(id), keys: [] };
    way.cut = 'answer';
    const outcomes = await store.commit([validation, validation], []);
    assert.equal(way.cut, null, 'the answer was cut off');
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['committed', 'quota_exceeded'],
    );
    assert.equal((await readBooks('doubt')).used, 3);
  });

  it('gives up a batch that is still running, which then commits nothing', async () => {
    const waits = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    const row = makeRow();
    const enterprise = await addAccount(store, 'enterprise');
    const holder = await postgres.connect('doubt');
    await holder.query('BEGIN; LOCK TABLE rollup_hour IN EXCLUSIVE MODE');
    const refused = assert.rejects(store.commit([keyRequest(enterprise, row)], []), isUnavailable);
    while ((await postgres.query('doubt', waits)).length === 0);
    way.cutAll();
    await refused;
    assert.equal((await postgres.query('doubt', waits)).length, 1, 'it is still at work');
    await holder.end();
    while ((await postgres.query('doubt', waits)).length > 0);
    const [next] = await store.commit([keyRequest(enterprise)], []);
    assert.equal(next?.kind === 'committed' && next.usage.used, 1);
    assert.deepEqual(await areRecorded(store, [row.keyId]), [false]);
  });

  it('commits nothing of a batch that arrives after it was given up', async () => {
    const enterprise = await addAccount(store, 'enterprise');
    const row = makeRow();
    const books = await readBooks('doubt');
    way.cut = 'delay';
    await assert.rejects(store.commit([keyRequest(enterprise, row)], []), isUnavailable);
    assert.ok(way.deliver, 'it was kept');
    await way.deliver();
    assert.deepEqual(await areRecorded(store, [row.keyId]), [false]);
    assert.deepEqual(await readBooks('doubt'), books);
    assert.equal((await store.commit([keyRequest(enterprise)], []))[0]?.kind, 'committed');
  });

  it('refuses a committed batch whose writer a failover removed, then recovers', async () => {
    const enterprise = await addAccount(store, 'enterprise');
    await store.commit([], []);
    way.cut = 'answer';
    way.state = 'shut';
    const refused = assert.rejects(store.commit([keyRequest(enterprise)], []), isUnavailable);
    while (way.cut !== null) await postgres.query('doubt', 'SELECT');
    await postgres.query('doubt', 'DELETE FROM writers');
    way.state = 'open';
    await refused;
    assert.equal((await store.commit([keyRequest(enterprise)], []))[0]?.kind, 'committed');
  });

  it('replays a retry whose answer was lost, and keeps no body in the decision', async () => {
    await addAccount(store, 'enterprise');
    const body = 'x'.repeat(100_000);
    const first = batchOf('acct_enterprise', 2, { idempotency: record('lost', body) });
    const books = await readBooks('doubt');
    way.cut = 'answer';
    const [committed] = await store.commit([first], []);
    assert.ok(committed?.kind === 'committed', 'the answer was cut off');
    way.cut = 'answer';
    const retry = batchOf('acct_enterprise', 1, { idempotency: record('lost') });
    const other = batchOf('acct_enterprise', 1, { idempotency: record('other') });
    const outcomes = await store.commit([retry, other, { ...retry, ...other }], []);
    assert.equal(way.cut, null, 'the answer was cut off');
    const used = committed.usage.used;
    const usage = { month: MONTH, used, quota: null };
    assert.deepEqual(plain(outcomes), [
      plain({ kind: 'replayed', answer: answerTo(first), usage }),
      { kind: 'committed', usage: { ...usage, used: used + 1 } },
      plain({ kind: 'replayed', answer: answerTo(other), usage: { ...usage, used: used + 1 } }),
    ]);
    const [{ size }] = (await postgres.query(
      'doubt',
      'SELECT max(length(decision::text))::integer AS size FROM writers',
    )) as [{ size: number }];
    assert.ok(size < 1_000, String(size));
    const after = await readBooks('doubt');
    assert.deepEqual([after.rows - books.rows, after.used - books.used], [3, 3]);
    const never = batchOf('acct_enterprise', 1, { idempotency: record('never') });
    way.cut = 'request';
    await assert.rejects(store.commit([never], []), isUnavailable);
    assert.equal(await findAnswer(store, 'acct_enterprise', 'never'), null);
  });

  it('rejects a batch in the database after it was given up', async () => {
    const [{ writer_id: writer, turn }] = (await postgres.query(
      'doubt',
      'UPDATE writers SET turn = turn + 1 RETURNING writer_id, turn::integer',
    )) as [{ writer_id: string; turn: number }];
    await assert.rejects(
      postgres.query(
        'doubt',
        `SELECT ${COMMIT_BATCH}('${writer}', ${turn}, 1, '{}', '[]', '[]', '[]', '{}', '[]', '{}', '{}', '[]', '[]', '[]', '{}')`,
      ),
      /given this batch up/,
    );
  });
});

describe('PostgreSQL store without its synchronous standby', when, () => {
  type Cut = 'pg_cancel_backend' | 'pg_terminate_backend';
  let store: LedgerStore;
  let id: string;
  let seen = '-infinity';

  before(async () => {
    store = await open(await postgres.createLedger('away'));
    id = await addAccount(store, 'enterprise');
    const record = { apiKeyId: 'key_away', accountId: id, hint: 'h', createdMs: NOW };
    await store.addApiKey({ ...record, revokedMs: null }, Buffer.alloc(32, 1));
    await postgres.createLedger('away_import');
    await store.commit([], []);
  });
  beforeEach(() => setStandbys('missing'));
  afterEach(() => setStandbys(''));
  after(() => store.close());

  /** Changes the setting and resolves once commits follow it. */
  async function setStandbys(names: string): Promise<void> {
    await postgres.query('away', `ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
    await postgres.query('away', 'SELECT pg_reload_conf()');
    // The checkpointer tells commits of the standbys. Only a commit shows that it has read the setting.
    const client = await postgres.connect('away');
    for (let follows = false; !follows; ) {
      const commit = client.query("SELECT pg_logical_emit_message(true, '', '')");
      follows = names === '' || (await cutWait('pg_cancel_backend', commit));
      await commit;
    }
    await client.end();
  }

  /** Resolves when another commit waits for the standby, or with undefined if `work` ends without one. */
  async function nextWait(work: Promise<unknown>): Promise<number | undefined> {
    let isOver = false;
    const note = () => {
      isOver = true;
    };
    work.then(note, note);
    while (!isOver) {
      const [waiter] = await postgres.query(
        'away',
        `SELECT pid, query_start::text AS began FROM pg_stat_activity
         WHERE wait_event = 'SyncRep' AND query_start > '${seen}'`,
      );
      if (!waiter) continue;
      seen = String(waiter.began);
      return Number(waiter.pid);
    }
    return undefined;
  }

  /** Cuts the wait of the next commit short. Returns false if `work` ends without one. */
  async function cutWait(how: Cut, work: Promise<unknown>): Promise<boolean> {
    const pid = await nextWait(work);
    if (pid === undefined) return false;
    await postgres.query('away', `SELECT ${how}(${pid})`);
    return true;
  }

  for (const how of ['pg_cancel_backend', 'pg_terminate_backend'] as const) {
    it(`answers a batch only when a later commit is confirmed (${how})`, async () => {
      const row = makeRow();
      const commit = store.commit([keyRequest(id, row)], []);
      assert.ok(await cutWait(how, commit), 'the batch waits');
      assert.ok(await cutWait(how, commit), 'the question waits');
      assert.deepEqual(await areRecorded(store, [row.keyId]), [true], 'the batch can be seen');
      assert.ok(await nextWait(commit), 'the next question waits');
      await setStandbys('');
      assert.equal((await commit)[0]?.kind, 'committed');
      assert.deepEqual(new Set(Object.values(await readBooks('away'))).size, 1);
    });

    it(`reports that a change may have been done, then repeats it (${how})`, async () => {
      const revoke = store.revokeApiKey('key_away', NOW);
      const refused = assert.rejects(revoke, (error: AppError) => {
        assert.match((error.cause as Error).message, /may have been done/);
        return isUnavailable(error);
      });
      assert.ok(await cutWait(how, revoke), 'the change waits');
      await refused;
      await setStandbys('');
      assert.equal(await store.revokeApiKey('key_away', NOW), true);
    });
  }

  it('returns a stored answer only when a later commit is confirmed', async () => {
    const keyed = batchOf(id, 1, { idempotency: record('seen') });
    const commit = store.commit([keyed], []);
    assert.ok(await nextWait(commit), 'the batch waits');
    await setStandbys('');
    await commit;
    await setStandbys('missing');
    const find = findAnswer(store, id, 'seen');
    const refused = assert.rejects(find, isUnavailable);
    assert.ok(await cutWait('pg_cancel_backend', find), 'the answer waits');
    await refused;
    assert.equal(await findAnswer(store, id, 'unseen'), null);
    const again = findAnswer(store, id, 'seen');
    assert.ok(await nextWait(again), 'the next one waits');
    await setStandbys('');
    assert.deepEqual(plain(await again), plain(answerTo(keyed)));
  });

  it('does not report an unconfirmed import as done', async () => {
    const chunks: Uint8Array[] = [];
    const put = async (bytes: Uint8Array) => {
      chunks.push(bytes);
    };
    const { signal } = new AbortController();
    const from = await openMovableStore({ kind: 'postgres', url: postgres.url('away') });
    await exportLedger(from, NOW, put, signal);
    const to = await openMovableStore({ kind: 'postgres', url: postgres.url('away_import') });
    const moved = importLedger(to, Readable.from(chunks), Object.keys(QUOTAS), signal);
    const refused = assert.rejects(
      moved,
      /may have been done.*check whether it holds the accounts/,
    );
    assert.ok(await cutWait('pg_cancel_backend', moved), 'the import waits');
    await refused;
  });

  it('treats each warning as one about the commit, except a transaction ID warning', () => {
    assert.equal(isOfCommit({ file: 'syncrep.c' }), true);
    assert.equal(isOfCommit({}), true);
    assert.equal(isOfCommit({ file: 'varsup.c' }), false);
  });
});

describe('idempotency records in PostgreSQL', when, () => {
  const database = 'answers';
  const day = (days: number) => NOW + days * 86_400_000;
  let store: LedgerStore;
  let id: string;

  before(async () => {
    store = await open(await createEarlier(database));
    id = await addAccount(store, 'enterprise');
  });
  after(() => store.close());

  const commitAt = async (days: number, key: string) => {
    await postgres.setClock(database, day(days));
    const [outcome] = await store.commit([batchOf(id, 1, { idempotency: record(key) })], []);
    return outcome?.kind;
  };

  it('are written in one round trip, and a small body lies beside its record', async () => {
    await commitAt(0, 'first');
    const seen: (readonly unknown[])[] = [];
    const untap = tap((parameters) => seen.push(parameters));
    const body = 'b'.repeat(4_000);
    await store.commit([batchOf(id, 1, { idempotency: record('small', body) })], []);
    untap();
    assert.equal(seen.length, 1);
    const [found] = await postgres.query(
      database,
      `SELECT sum(pg_relation_size(reltoastrelid))::integer AS toasted FROM pg_class
       WHERE relname ~ '^idempotency_[0-2]$'`,
    );
    assert.equal(found?.toasted, 0);
  });

  it('are looked up together, and a new or forgotten server can confirm them', async () => {
    const keys = Array.from({ length: 50 }, (_, i) => `many ${i}`);
    await store.commit(
      keys.map((key) => batchOf(id, 1, { idempotency: record(key) })),
      [],
    );
    const reader = await open(postgres.url('answers'));
    const query = (key: string) => ({ ...record(key), accountId: id, atMs: NOW });
    const asked = keys.flatMap((key) => [query(key), query(`not ${key}`)]);
    const forgotten = 'DELETE FROM writers';
    for (const before of ['SELECT 1', forgotten, 'SELECT 1']) {
      await postgres.query('answers', before);
      let statements = 0;
      const untap = tap(() => statements++);
      const found = await reader.findAnswers(asked).finally(untap);
      assert.deepEqual(
        found.map((answer) => answer?.body ?? null),
        asked.map(({ body }, i) => (i % 2 === 0 ? body : null)),
      );
      assert.ok(statements < 10, `${statements} statements`);
    }
    await reader.close();
    assert.deepEqual(await postgres.query('answers', 'SELECT 1 FROM writers'), []);
  });

  it('take part in no batch without the header', async () => {
    const reader = await postgres.connect(database);
    await reader.query('BEGIN; LOCK TABLE idempotency IN ACCESS EXCLUSIVE MODE');
    const [outcome] = await store.commit([keyRequest(id)], []);
    assert.equal(outcome?.kind, 'committed');
    await reader.query('ROLLBACK');
    await reader.end();
  });

  it('stay while a backup reads them, and commits go on', async () => {
    await commitAt(0, 'kept');
    const reader = await postgres.connect(database);
    await reader.query('BEGIN; SELECT count(*) FROM idempotency');
    await postgres.setClock(database, day(2));
    const upkeep = assert.rejects(
      postgres.query(
        database,
        'SELECT empty_idempotency_slot(slot) FROM generate_series(0, 2) AS slot',
      ),
      { code: '55P03' },
    );
    assert.equal(await commitAt(2, 'beside'), 'committed');
    await upkeep;
    await reader.query('ROLLBACK');
    await reader.end();
    const emptied = await postgres.query(
      database,
      'SELECT empty_idempotency_slot(slot) AS done FROM generate_series(0, 2) AS slot ORDER BY slot',
    );
    assert.deepEqual(
      emptied.map(({ done }) => done),
      ['0', '0', '0'],
      'no record was deleted by itself',
    );
    const [{ count }] = await postgres.query(
      database,
      'SELECT count(*)::integer AS count FROM idempotency',
    );
    assert.equal(count, 1);
  });

  it('from a clock that was ahead stay in a table from which others are deleted', async () => {
    await commitAt(30, 'ahead');
    await commitAt(27, 'same table');
    await postgres.setClock(database, day(29));
    const { maintain } = store;
    await maintain.call(store, { nowMs: () => NOW });
    const rows = await postgres.query(
      database,
      `SELECT idempotency_key AS key FROM idempotency WHERE made_ms >= ${day(27)}`,
    );
    assert.deepEqual(
      rows.map(({ key }) => key),
      ['ahead'],
    );
  });

  it('and batches work beside a server of the previous release', async () => {
    await postgres.setClock(database, NOW);
    const [{ writer_id: writer, turn }] = (await postgres.query(
      database,
      'SELECT writer_id, turn::integer FROM writers',
    )) as [{ writer_id: string; turn: number }];
    const earlier = await postgres.query(
      database,
      `INSERT INTO writers (writer_id, turn) SELECT gen_random_uuid(), 0 RETURNING writer_id`,
    );
    assert.ok(writer && turn);
    const request = JSON.stringify([
      {
        ...{ position: 0, account_id: id, api_key_id: `key_${id}`, at_ms: NOW },
        ...{ streams: 0, streams_passed: 0 },
      },
    ]);
    const [{ decision }] = (await postgres.query(
      database,
      `SELECT commit_batch_5('${earlier[0]?.writer_id}', 1, '{${id}}', '${request}', '[]',
         '{"enterprise":null}') AS decision`,
    )) as [{ decision: { committed: number; counters: { used: number }[] } }];
    assert.equal(decision.committed, 1);
    const [outcome] = await store.commit([batchOf(id, 2)], []);
    assert.equal(
      outcome?.kind === 'committed' && outcome.usage.used,
      (decision.counters[0]?.used ?? 0) + 3,
    );
  });
});

describe('PostgreSQL schema', when, () => {
  it('allows programs of the baseline until the first key for several recipients, and not again after a later migration', async () => {
    const url = await postgres.createLedger('several');
    const baseline = readMigrations('postgres').slice(0, 1);
    const openBaseline = async () => {
      const store = await openPostgresStore({ url, quotas: QUOTAS, migrations: baseline });
      await store.close();
    };
    const store = await open(url);
    const id = await addAccount(store, 'enterprise');
    await store.commit([keyRequest(id, makeRow({ sealed: seal() }))], []);
    await openBaseline();
    await store.commit([keyRequest(id, makeRow({ sealed: seal(2) }))], []);
    const refusal = { name: 'SetupError', message: /needs programs of version 15/ };
    await assert.rejects(openBaseline(), refusal);
    const later = { version: 99, sql: '-- oldest-program: 14\nSELECT 1;' };
    await migratePostgres(url, [...readMigrations('postgres'), later]);
    await assert.rejects(openBaseline(), refusal);
    await store.close();
  });

  it('treats secrets of an older release as used, even if registered later', async () => {
    const url = await postgres.createDatabase('older');
    const register = (version: number) =>
      postgres.query(
        'older',
        `INSERT INTO secret_checks (version, check_value, registered_ms)
         VALUES (${version}, sha256(''), 1)`,
      );
    await makeOldPostgres(postgres, 'older', 1);
    await register(1);
    await makeOldPostgres(postgres, 'older', LAST_OLD, 1);
    await migrateStore({ kind: 'postgres', url });
    const store = await open(url);
    await register(2);
    const checks = await store.secretChecks();
    assert.deepEqual(
      [...checks].map(([version, { activated }]) => [version, activated]),
      [
        [1, true],
        [2, true],
      ],
    );
    await store.close();
  });

  it('needs a connection: the error names the database, what to do, and no password', async () => {
    const own = postgres.url('postgres');
    for (const [url, remedy] of [
      [postgres.url('missing'), /missing: .*check that the address names a PostgreSQL database/],
      [`postgres://phm:${PASSWORD}@127.0.0.1:1/phm`, /phm: .*check host and port, and that the/],
      [own.replace(PASSWORD, `${PASSWORD}-2`), /postgres: .*; check user and password$/],
      [
        own.replace(`:${PASSWORD}`, ''),
        /postgres: .*; it asks for a password, and the address has/,
      ],
    ] as const) {
      await assert.rejects(open(url), (error: Error) => {
        assert.equal(error.name, 'SetupError');
        assert.match(error.message, new RegExp(`127\\.0\\.0\\.1:\\d+/${remedy.source}`));
        assert.ok(!error.message.includes(PASSWORD));
        return true;
      });
    }
  });

  it('needs the owner of its tables: the error says so', async () => {
    const url = new URL(await postgres.createLedger('unowned'));
    await postgres.query('unowned', `CREATE ROLE other LOGIN PASSWORD '${PASSWORD}'`);
    url.username = 'other';
    await assert.rejects(open(url.href), {
      name: 'SetupError',
      message:
        /permission denied for .*; its user must own the tables and functions of the ledger: see .*PostgreSQL/,
    });
  });

  it('is opened with a warning if the server runs without fsync', async () => {
    const url = await postgres.createLedger('unsynced');
    const warnings: string[] = [];
    const openAndClose = async () =>
      (
        await openPostgresStore({ url, quotas: QUOTAS, warn: (text) => warnings.push(text) })
      ).close();
    await postgres.setSync(true);
    await openAndClose();
    assert.deepEqual(warnings, []);
    await postgres.setSync(false);
    await openAndClose();
    assert.match(warnings.join(), /fsync off/);
  });

  it('keeps commits synchronous despite the settings of the database', async () => {
    const url = await postgres.createLedger('settings');
    await postgres.query('postgres', 'ALTER DATABASE settings SET synchronous_commit = off');
    const { PostgresConnection } = await import('../../../src/ledger/postgres/connection.ts');
    const connection = await PostgresConnection.open(url);
    assert.deepEqual(await connection.all('SHOW synchronous_commit'), [
      { synchronous_commit: 'on' },
    ]);
    await connection.close();
  });

  it('keeps a stronger commit level set in the database, and lets warnings through', async () => {
    const url = await postgres.createLedger('stronger');
    await postgres.query(
      'postgres',
      'ALTER DATABASE stronger SET synchronous_commit = remote_apply;' +
        'ALTER DATABASE stronger SET client_min_messages = error',
    );
    const { PostgresConnection } = await import('../../../src/ledger/postgres/connection.ts');
    const connection = await PostgresConnection.open(url);
    const settings = `SELECT current_setting('synchronous_commit') AS commits,
      current_setting('client_min_messages') AS messages`;
    assert.deepEqual(await connection.all(settings), [
      { commits: 'remote_apply', messages: 'warning' },
    ]);
    await connection.close();
  });
});

describe('verification of a ledger in PostgreSQL', when, () => {
  it('finds each change and names it', async () => {
    const url = await postgres.createLedger('verified');
    const store = await open(url);
    await fillStore(store, 300, (atMs) => postgres.setClock('verified', atMs));
    await store.close();
    await verifyContract({ kind: 'postgres', url }, async (sql) => {
      await postgres.query('verified', sql);
    });
  });
});

describe('a move to and from PostgreSQL', when, () => {
  const directory = mkdtempSync(join(tmpdir(), 'phm-move-'));
  after(() => rmSync(directory, { recursive: true, force: true }));
  const never = new AbortController().signal;
  const plans = Object.keys(QUOTAS);

  async function exportChunks(location: StoreLocation): Promise<Uint8Array[]> {
    const chunks: Uint8Array[] = [];
    const put = async (bytes: Uint8Array) => void chunks.push(bytes);
    await exportLedger(await openMovableStore(location), NOW, put, never);
    return chunks;
  }

  async function importChunks(location: StoreLocation, chunks: Uint8Array[]): Promise<void> {
    const store = await openMovableStore(location);
    await importLedger(store, Readable.from(chunks), plans, never);
  }

  it('copies everything from SQLite to PostgreSQL and back into an identical file', async () => {
    const [from, back] = ['from.db', 'back.db'].map((file) => join(directory, file)) as [
      string,
      string,
    ];
    const source = openSqliteStore({ path: from, quotas: QUOTAS });
    const filled = await fillStore(source, 2_500);
    const exported = await exportChunks({ kind: 'sqlite', path: from });
    const url = await postgres.createLedger('moved');
    await postgres.setClock('moved', NOW);
    const target = await open(url);
    await importChunks({ kind: 'postgres', url }, exported);
    const again = await exportChunks({ kind: 'postgres', url });
    assert.equal(String(Buffer.concat(again)), String(Buffer.concat(exported)));
    const returned = openSqliteStore({ path: back, quotas: QUOTAS });
    await importChunks({ kind: 'sqlite', path: back }, again);
    await assertSameStore(source, target, filled);
    await assertSameStore(source, returned, filled);
    await assert.rejects(
      importChunks({ kind: 'postgres', url }, exported),
      /needs an empty ledger/,
    );
    for (const store of [source, target, returned]) await store.close();
  });

  it('copies labels, expiries and revocations', async () => {
    const [from, back] = ['records-from.db', 'records-back.db'].map((file) => {
      return join(directory, file);
    }) as [string, string];
    const source = openSqliteStore({ path: from, quotas: QUOTAS });
    const rows = await fillRecords(source);
    const exported = await exportChunks({ kind: 'sqlite', path: from });
    const url = await createEarlier('moved_records');
    const target = await open(url);
    await importChunks({ kind: 'postgres', url }, exported);
    const again = await exportChunks({ kind: 'postgres', url });
    assert.equal(String(Buffer.concat(again)), String(Buffer.concat(exported)));
    const returned = openSqliteStore({ path: back, quotas: QUOTAS });
    await importChunks({ kind: 'sqlite', path: back }, again);
    for (const store of [target, returned]) await assertSameRecords(source, store, rows);
    for (const store of [source, target, returned]) await store.close();
  });

  it('copies states of accounts', async () => {
    const from = join(directory, 'states-from.db');
    const source = openSqliteStore({ path: from, quotas: QUOTAS });
    await fillStates(source);
    const exported = await exportChunks({ kind: 'sqlite', path: from });
    const url = await createEarlier('moved_states');
    await importChunks({ kind: 'postgres', url }, exported);
    const again = await exportChunks({ kind: 'postgres', url });
    assert.equal(String(Buffer.concat(again)), String(Buffer.concat(exported)));
    const target = await open(url);
    await assertSameStates(source, target);
    for (const store of [source, target]) await store.close();
  });

  /**
   * Fills a file, and moves it into a database and on into another file. Both exports are equal. The caller closes the stores.
   */
  async function moveThereAndBack<Filled>(
    name: string,
    fill: (source: LedgerStore) => Promise<Filled>,
  ): Promise<{ stores: [LedgerStore, LedgerStore, LedgerStore]; filled: Filled }> {
    const [from, back] = ['from', 'back'].map((end) => join(directory, `${name}-${end}.db`)) as [
      string,
      string,
    ];
    const source = openSqliteStore({ path: from, quotas: QUOTAS });
    const filled = await fill(source);
    const exported = await exportChunks({ kind: 'sqlite', path: from });
    const url = await createEarlier(name);
    await postgres.setClock(name, NOW);
    const target = await open(url);
    await importChunks({ kind: 'postgres', url }, exported);
    const again = await exportChunks({ kind: 'postgres', url });
    assert.equal(String(Buffer.concat(again)), String(Buffer.concat(exported)));
    const returned = openSqliteStore({ path: back, quotas: QUOTAS });
    await importChunks({ kind: 'sqlite', path: back }, again);
    return { stores: [source, target, returned], filled };
  }

  it('copies sealed keys, recipients and idempotency records, so that a retry is replayed', async () => {
    const { stores, filled } = await moveThereAndBack('moved_sealed', fillSealed);
    for (const store of stores) {
      await assertSealed(store, filled);
      await store.close();
    }
  });

  it('copies deliveries with their states and copies', async () => {
    const { stores, filled: read } = await moveThereAndBack('moved_deliveries', fillDeliveries);
    const [source, target, returned] = stores;
    const wanted = await read(source);
    for (const store of [target, returned]) assert.deepEqual(await read(store), wanted);
    for (const store of stores) await store.close();
  });

  it('reads a page of a box by its index', async () => {
    await postgres.createLedger('boxes');
    await postgres.query(
      'boxes',
      `INSERT INTO delivery_copies (account_id, delivery_id, recipient, key_id, state, until_ms, size, sealed_key)
       SELECT 'acct_' || i % 3, uuid_send(gen_random_uuid()), 'paris', uuid_send(gen_random_uuid()),
         CASE WHEN i % 5 = 0 THEN 'waiting' ELSE 'removed' END, 9e15, 9, CASE WHEN i % 5 = 0 THEN '{}' END
       FROM generate_series(1, 20000) AS i`,
    );
    await postgres.query('boxes', 'ANALYZE delivery_copies');
    const client = await postgres.connect('boxes');
    try {
      await client.query('SET plan_cache_mode = force_generic_plan');
      await client.query(`PREPARE page (text, text, text, bytea, integer) AS ${COPY_PAGE}`);
      const { rows } = await client.query(
        "EXPLAIN (COSTS OFF) EXECUTE page ('acct_1', 'paris', 'waiting', '\\x', 100)",
      );
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      assert.match(plan, /Index Scan using delivery_copies_box/);
      assert.doesNotMatch(plan, /Seq Scan|^ *Sort$/m);
    } finally {
      await client.end();
    }
  });

  it('takes only the newest of the records of a key', async () => {
    const url = await postgres.createLedger('newest');
    const store = await open(url);
    const id = await addAccount(store, 'enterprise');
    const requests = [0, 1, 2, 3].map((days) => {
      const atMs = NOW + days * 86_400_000;
      return batchOf(id, 1, { atMs, idempotency: record('one') });
    });
    for (const request of requests) {
      await postgres.setClock('newest', request.atMs);
      assert.equal((await store.commit([request], []))[0]?.kind, 'committed');
    }
    const path = join(directory, 'newest.db');
    await importChunks({ kind: 'sqlite', path }, await exportChunks({ kind: 'postgres', url }));
    const moved = openSqliteStore({ path, quotas: QUOTAS });
    const newest = requests[3] as (typeof requests)[number];
    const found = await findAnswer(moved, id, 'one', newest.atMs);
    assert.deepEqual(plain(found), plain(answerTo(newest)));
    await moved.close();
    await store.close();
  });

  it('exports one state during writes of a server', async () => {
    const url = await postgres.createLedger('busy');
    const store = await open(url);
    await fillStore(store, 50);
    const location = { kind: 'postgres', url } as const;
    const before = String(Buffer.concat(await exportChunks(location)));
    const chunks: Uint8Array[] = [];
    const put = async (bytes: Uint8Array) => {
      chunks.push(bytes);
      const [outcome] = await store.commit([keyRequest('acct_a')], []);
      assert.equal(outcome?.kind, 'committed');
    };
    await exportLedger(await openMovableStore(location), NOW, put, never);
    assert.equal(String(Buffer.concat(chunks)), before);
    await store.close();
  });

  it('keeps nothing of a truncated file, not even its partitions', async () => {
    const url = await postgres.createLedger('torn');
    const store = await open(url);
    const path = join(directory, 'whole.db');
    const source = openSqliteStore({ path, quotas: QUOTAS });
    await fillStore(source);
    const partitions = () =>
      postgres.query('torn', 'SELECT inhrelid::regclass::text FROM pg_inherits ORDER BY 1');
    const before = await partitions();
    const chunks = await exportChunks({ kind: 'sqlite', path });
    const cut = chunks.slice(0, -1);
    await assert.rejects(importChunks({ kind: 'postgres', url }, cut), /cut off/);
    assert.deepEqual(await store.listAccounts(), []);
    assert.deepEqual(await partitions(), before);
    await importChunks({ kind: 'postgres', url }, chunks);
    await store.close();
    await source.close();
  });
});

/** Shortens the waits for locks of the probe of every release, so that a new one needs no change here. */
const IMPATIENT_PROBES = `DO $$
  DECLARE probe regprocedure;
  BEGIN
    FOR probe IN SELECT oid FROM pg_proc WHERE proname ~ '^probe_commit(_\\d+)?$' LOOP
      EXECUTE format('ALTER FUNCTION %s SET lock_timeout = ''50ms''', probe);
    END LOOP;
  END $$`;

describe('the probe of a PostgreSQL store', when, () => {
  const database = 'probed';
  const order = { accountIds: ['acct_enterprise'], room: false };
  let store: LedgerStore;
  let url: string;

  before(async () => {
    url = await postgres.createLedger(database);
    store = await open(url);
    await addAccount(store, 'enterprise');
    await addAccount(store, 'research');
    await postgres.query(database, IMPATIENT_PROBES);
  });
  after(() => store.close());

  it('leaves no row and no table, whatever it checks', async () => {
    const tables = 'SELECT oid::text FROM pg_class ORDER BY oid';
    const counts = `SELECT (SELECT count(*) FROM ledger) + (SELECT count(*) FROM usage)
      + (SELECT count(*) FROM validated_keys) + (SELECT count(*) FROM rollup_minute)
      + (SELECT count(*) FROM rollup_hour) + (SELECT count(*) FROM log_pending)
      + (SELECT count(*) FROM idempotency) AS rows, (SELECT count(*) FROM accounts) AS accounts`;
    const before = await postgres.query(database, tables);
    for (const room of [false, true]) await store.probe({ ...order, room });
    assert.deepEqual(await postgres.query(database, tables), before);
    assert.deepEqual(await postgres.query(database, counts), [{ rows: '0', accounts: '2' }]);
  });

  it('fails while a table is locked, and names the table', async () => {
    const session = await postgres.connect(database);
    const tables = ['ledger', 'usage', 'rollup_minute', 'rollup_hour', 'validated_keys'];
    for (const table of [...tables, 'log_pending', 'idempotency', 'api_key_usage']) {
      await session.query(`BEGIN; LOCK TABLE ${table} IN SHARE MODE`);
      await assert.rejects(store.probe(order), (error) => {
        return isUnavailable(error) && String((error as Error).cause).includes(table);
      });
      await session.query('ROLLBACK');
      assert.equal(await store.probe(order), false);
    }
    await session.end();
  });

  it('reports a lock on a row of an account with failed requests, and succeeds', async () => {
    const session = await postgres.connect(database);
    await store.commit([keyRequest('acct_enterprise')], []);
    for (const [table, locked] of [
      ['accounts', true],
      ['usage', true],
      ['accounts', false],
    ] as const) {
      const account = locked ? 'acct_enterprise' : 'acct_research';
      await session.query(`BEGIN; SELECT FROM ${table} WHERE account_id = '${account}' FOR UPDATE`);
      assert.equal(await store.probe(order), locked);
      await session.query('ROLLBACK');
    }
    assert.equal(await store.probe(order), false);
    await session.end();
  });

  it('lets a batch commit beside a locked account’s failure, which is counted later', async () => {
    const session = await postgres.connect(database);
    await session.query(`BEGIN; SELECT FROM accounts WHERE plan = 'enterprise' FOR UPDATE`);
    const failure = (accountId: string) => ({
      accountId,
      atMs: NOW,
      counts: { streams: 0, streamsPassed: 0 },
    });
    const failures = async (id: string) => (await store.activity(id, NOW)).failures;
    await postgres.query(database, `ALTER FUNCTION ${COMMIT_BATCH} SET lock_timeout = '50ms'`);
    await store.commit(
      [keyRequest('acct_research')],
      [failure('acct_enterprise'), failure('acct_research')],
    );
    assert.deepEqual([await failures('acct_enterprise'), await failures('acct_research')], [0, 1]);
    await session.query('ROLLBACK');
    await store.commit([], []);
    assert.deepEqual([await failures('acct_enterprise'), await failures('acct_research')], [1, 1]);
    await postgres.query(database, `ALTER FUNCTION ${COMMIT_BATCH} RESET lock_timeout`);
    await session.end();
  });

  it('fails while the server’s role lacks a permission that a commit needs', async () => {
    await postgres.query(
      database,
      `CREATE ROLE served LOGIN PASSWORD '${PASSWORD}';
       GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO served`,
    );
    const served = await open(url.replace('//phm:', '//served:'));
    await served.probe({ ...order, room: true });
    for (const privilege of ['INSERT ON ledger', 'SELECT ON ledger', 'UPDATE ON accounts']) {
      await postgres.query(database, `REVOKE ${privilege} FROM served`);
      await assert.rejects(served.probe(order), isRefused);
      await postgres.query(database, `GRANT ${privilege} TO served`);
      await served.probe(order);
    }
    await served.close();
  });

  it('creates a missing month, as a commit does', async () => {
    await postgres.query(
      database,
      `DO $$ BEGIN EXECUTE 'DROP TABLE ledger_' || to_char(now() AT TIME ZONE 'UTC', 'YYYYMM'); END $$`,
    );
    await store.probe(order);
    await store.probe(order);
  });
});
