/** The index of a PostgreSQL ledger by account: new months have it, and servers build it for older ones beside commits. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { KeyRecord, LedgerStore } from '../../../src/ledger/index.ts';
import { KEY_PAGE } from '../../../src/ledger/postgres/key-records.ts';
import { migratePostgres, openPostgresStore } from '../../../src/ledger/postgres/store.ts';
import { keyRequest, makeKeyId, makeRow, NOW, QUOTAS } from '../../ledger/contract.ts';
import type { Databases } from '../../support/ledgers/databases.ts';
import { LAST_OLD, makeOldPostgres } from '../../support/ledgers/old-ledgers.ts';
import { noPostgres } from '../../support/ledgers/postgres.ts';
import { sharedPostgres } from '../../support/ledgers/shared-postgres.ts';

const DATABASE = 'accounts';
const OTHERS = 2_500;
const DAY_MS = 86_400_000;

let postgres: Databases;
let url: string;
let store: LedgerStore;

/** IDs of the keys of `acct_own`, oldest first. */
const own: string[] = [];

const query = (sql: string) => postgres.query(DATABASE, sql);
const open = () => openPostgresStore({ url, quotas: QUOTAS });
const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

/** Inserts rows as an earlier release did. */
async function insert(accountId: string, keyIds: readonly Uint8Array[]): Promise<void> {
  const ids = keyIds.map((keyId) => `'\\x${hexOf(keyId)}'`).join(', ');
  await query(
    `INSERT INTO ledger (key_id, fingerprint, commitment, secret_version, account_id, api_key_id,
       security_level, modulation, source, created_ms, latency_us, entropy_bits)
     SELECT id::bytea, hashtext(id), sha256(id::bytea), 1, '${accountId}', 'k', 256, 'phase', 'os', ${NOW}, 1, 1
     FROM unnest(ARRAY[${ids}]) AS id`,
  );
}

async function isValid(): Promise<boolean> {
  const [row] = await query(
    "SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = 'ledger_account'::regclass",
  );
  return row?.valid === true;
}

/** The end of a page goes to the client as a cursor: it is no key of another account. */
async function assertNamesOwnKeys(end: Uint8Array): Promise<void> {
  const found = await query(
    `SELECT account_id FROM ledger WHERE key_id = '\\x${hexOf(end)}' AND account_id <> 'acct_own'`,
  );
  assert.deepEqual(found, []);
}

/** Reads all pages of an account. Returns its key IDs, oldest first, and the number of pages. */
async function listAll(of: LedgerStore, limit = 100): Promise<{ ids: string[]; pages: number }> {
  const keys: KeyRecord[] = [];
  let beforeKeyId: Uint8Array | null = null;
  for (let pages = 1; ; pages++) {
    const page: Awaited<ReturnType<LedgerStore['listKeys']>> = await of.listKeys({
      ...{ accountId: 'acct_own', beforeKeyId, fromKeyId: null, limit },
    });
    keys.push(...page.keys);
    if (page.next) await assertNamesOwnKeys(page.next);
    if (page.next === null) return { ids: keys.map(({ keyId }) => hexOf(keyId)).reverse(), pages };
    beforeKeyId = page.next;
  }
}

describe('the index by account in PostgreSQL', { skip: noPostgres }, () => {
  before(async () => {
    postgres = await sharedPostgres();
    url = await postgres.createDatabase(DATABASE);
    await makeOldPostgres(postgres, DATABASE, 10);
    await query(`SELECT ensure_ledger_partition(${NOW - 31 * DAY_MS})`);
    await query(`SELECT ensure_ledger_partition(${NOW})`);
    for (const ofMs of [NOW - 31 * DAY_MS, NOW]) {
      const keyIds = Array.from({ length: OTHERS / 2 }, (_, i) => makeKeyId(ofMs + i));
      await insert('acct_other', keyIds);
      const [first, last] = [makeKeyId(ofMs - 1), makeKeyId(ofMs + OTHERS)];
      await insert('acct_own', [first, last]);
      own.push(hexOf(first), hexOf(last));
    }
    await makeOldPostgres(postgres, DATABASE, LAST_OLD, 10);
    await migratePostgres(url);
    store = await open();
  });
  after(async () => {
    await store?.close();
    await postgres?.remove();
  });

  it('lists keys in bounded pages until every month has its part', async () => {
    assert.equal(await isValid(), false);
    const { ids, pages } = await listAll(store);
    assert.deepEqual(ids, own);
    assert.ok(pages >= OTHERS / 1_000, 'no page reads more than a thousand rows');
    assert.deepEqual((await listAll(store, 1)).ids, own);
  });

  it('is part of months that are created later, also by earlier programs', async () => {
    const [before] = await query("SELECT 'ledger_account'::regclass::oid AS parent");
    await query(`SELECT ensure_ledger_partition(${NOW + 200 * DAY_MS})`);
    const parts = await query(
      `SELECT indrelid::regclass::text AS month FROM pg_inherits JOIN pg_index ON indexrelid = inhrelid
       WHERE inhparent = ${before?.parent} AND indisvalid`,
    );
    assert.ok(parts.length > 0 && parts.every(({ month }) => String(month) > 'ledger_2026'));
  });

  it('is built beside commits, by one server at a time, also after an attempt that was cut short', async () => {
    await store.addAccount({
      ...{ accountId: 'acct_late', name: 'l', plan: 'enterprise', demo: false, createdMs: NOW },
    });
    await query('CREATE INDEX ledger_202611_account ON ledger_202611 (account_id, key_id)');
    await query(
      "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'ledger_202611_account'::regclass",
    );
    const other = await open();
    let isDone = false;
    const commits = (async () => {
      let count = 0;
      for (; !isDone || count === 0; count++) {
        const [outcome] = await store.commit([keyRequest('acct_late', makeRow())], []);
        assert.equal(outcome?.kind, 'committed');
      }
      return count;
    })();
    await Promise.all([store.completeIndexes(), other.completeIndexes()]).finally(() => {
      isDone = true;
    });
    assert.ok((await commits) > 0);
    // The server that came second left the work to the first.
    assert.equal(await isValid(), true);
    const locks = await query(
      `SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = database
       WHERE locktype = 'advisory' AND datname = current_database()`,
    );
    assert.deepEqual(locks, []);
    await other.close();
  });

  it('then delivers the keys of an account, whatever the plan knows about accounts', async () => {
    await query('ANALYZE');
    const { ids, pages } = await listAll(store);
    assert.deepEqual(ids, own);
    assert.equal(pages, 1);
    const client = await postgres.connect(DATABASE);
    try {
      await client.query('SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off');
      await client.query(`PREPARE page (text, bytea, bytea, bigint) AS ${KEY_PAGE}`);
      const { rows } = await client.query(
        "EXPLAIN (COSTS OFF) EXECUTE page ('acct_own', '\\xff', '\\x00', 100)",
      );
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      assert.match(plan, /Index (?:Only )?Scan Backward using ledger_202611_account/);
      assert.doesNotMatch(plan, /Seq Scan|_pkey.* on ledger_|^ *Sort$/m);
      assert.match(plan, /key_states_pkey on key_states/);
    } finally {
      await client.end();
    }
    await store.completeIndexes();
  });
});
