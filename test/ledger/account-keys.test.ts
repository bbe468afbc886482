/** The deferred index by account of the embedded store, with chunks of a few rows. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, it } from 'node:test';
import fc from 'fast-check';
import { findUnlisted } from '../../src/ledger/sqlite/account-keys.ts';
import { SqliteConnection } from '../../src/ledger/sqlite/connection.ts';
import { KEY_PAGE } from '../../src/ledger/sqlite/key-records.ts';
import { SqliteStore } from '../../src/ledger/sqlite/store.ts';
import { LAST_OLD, makeOldSqlite } from '../support/ledgers/old-ledgers.ts';
import { keyRequest, makeKeyId, makeRow, NOW, QUOTAS } from './contract.ts';

const directory = mkdtempSync(join(tmpdir(), 'phm-account-keys-'));
after(() => rmSync(directory, { recursive: true, force: true }));

const CHUNK = 5;
const OTHERS = 20_005;

const ACCOUNTS = ['acct_0', 'acct_1', 'acct_2'];

let files = 0;

async function openStore(
  path = join(directory, `${files++}.db`),
): Promise<{ store: SqliteStore; connection: SqliteConnection }> {
  const connection = new SqliteConnection(path);
  const store = new SqliteStore(connection, QUOTAS, undefined, CHUNK);
  for (const accountId of ACCOUNTS) {
    await store.addAccount({
      ...{ accountId, name: 'e', plan: 'enterprise', demo: false, createdMs: NOW },
    });
  }
  return { store, connection };
}

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

/** Reads all pages of an account. Returns its key IDs, newest first, and the number of pages. */
async function listAll(store: SqliteStore, accountId: string, limit = 100) {
  const ids: string[] = [];
  let beforeKeyId: Uint8Array | null = null;
  for (let pages = 1; ; pages++) {
    const query = { accountId, beforeKeyId, fromKeyId: null, limit };
    const { keys, next }: Awaited<ReturnType<SqliteStore['listKeys']>> =
      await store.listKeys(query);
    assert.ok(keys.length <= limit);
    ids.push(...keys.map(({ keyId }) => hexOf(keyId)));
    if (next === null) return { ids, pages };
    beforeKeyId = next;
  }
}

function unlisted(connection: SqliteConnection): string | null {
  const path = String(connection.get('PRAGMA database_list')?.file);
  const database = new DatabaseSync(path);
  try {
    return findUnlisted(database);
  } finally {
    database.close();
  }
}

const count = (connection: SqliteConnection, table: string) =>
  Number(connection.get(`SELECT count(*) AS n FROM ${table}`)?.n);

describe('the index by account of a SQLite store', () => {
  /** What happens to a ledger. Times are few, so that keys come late. */
  const step = fc.oneof(
    {
      weight: 6,
      arbitrary: fc
        .array(fc.tuple(fc.nat(2), fc.nat(30)), { minLength: 1, maxLength: 4 })
        .map((keys) => ({ keys })),
    },
    fc.nat(40).map((removed) => ({ removed })),
    fc.tuple(fc.nat(40), fc.nat(2)).map(([moved, to]) => ({ moved, to })),
    fc.constant({ complete: true }),
  );

  it('lists what a model lists, whatever is recorded late, removed or changed', async () => {
    const { store, connection } = await openStore();
    connection.get('PRAGMA synchronous = OFF');
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 4, maxLength: 25 }),
        fc.integer({ min: 1, max: 7 }),
        async (steps, limit) => {
          connection.run('DELETE FROM ledger');
          connection.run("UPDATE account_keys_merge SET through = x''");
          let model: { id: string; account: number }[] = [];
          for (const one of steps) {
            if ('keys' in one) {
              const requests = one.keys.map(([account, at]) => {
                const row = makeRow({ keyId: makeKeyId(NOW + at) });
                model.push({ id: hexOf(row.keyId), account });
                return keyRequest(ACCOUNTS[account] as string, row);
              });
              await store.commit(requests, []);
            } else if ('complete' in one) {
              await store.completeIndexes();
            } else {
              const at = 'removed' in one ? one.removed : one.moved;
              const row = model[at];
              if (!row) continue;
              const where = `WHERE hex(key_id) = '${row.id.toUpperCase()}'`;
              if ('removed' in one) {
                connection.run(`DELETE FROM ledger ${where}`);
                model = model.filter((other) => other !== row);
              } else {
                connection.run(`UPDATE ledger SET account_id = 'acct_${one.to}' ${where}`);
                row.account = one.to;
              }
            }
          }
          for (const [account, accountId] of ACCOUNTS.entries()) {
            const own = model.filter((row) => row.account === account).map(({ id }) => id);
            assert.deepEqual((await listAll(store, accountId, limit)).ids, own.sort().reverse());
          }
          const merged = 'SELECT 1 FROM ledger WHERE ledger.key_id = account_keys.key_id';
          const surplus = `account_keys WHERE NOT EXISTS (${merged} AND ledger.account_id = account_keys.account_id)`;
          assert.equal(count(connection, surplus), 0, 'no entry without its row');
        },
      ),
      { numRuns: 40 },
    );
    await store.close();
  });

  it('is merged by commits, and leaves less than two chunks', async () => {
    const { store, connection } = await openStore();
    for (let i = 0; i < 40; i++) {
      await store.commit([keyRequest('acct_0', makeRow({ keyId: makeKeyId(NOW + i) }))], []);
      const missing = count(connection, 'ledger') - count(connection, 'account_keys');
      assert.ok(missing < 2 * CHUNK, `${missing} rows are missing`);
    }
    assert.equal(unlisted(connection), null);
    await store.close();
  });

  it('lists keys of an earlier release in bounded pages until the upkeep has merged them', async () => {
    const path = join(directory, 'earlier.db');
    makeOldSqlite(path, 11);
    const database = new DatabaseSync(path);
    // Keys of another account between two of this one.
    database.exec(`
      INSERT INTO ledger (key_id, fingerprint, commitment, secret_version, account_id, api_key_id, security_level,
        modulation, source, created_ms, latency_us, entropy_bits)
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${OTHERS})
      SELECT unhex(printf('%012X%020X', i, i)), i, zeroblob(32), 1, iif(i IN (1, ${OTHERS}), 'acct_0', 'acct_1'), 'k', 256,
        'phase', 'os', 1, 1, 1 FROM n`);
    database.close();
    makeOldSqlite(path, LAST_OLD, { from: 11 });
    const { store, connection } = await openStore(path);
    const before = await listAll(store, 'acct_0');
    assert.ok(before.pages >= 2, 'no page passes over all rows');
    const first = { accountId: 'acct_0', beforeKeyId: null, fromKeyId: null, limit: 100 };
    const { next } = await store.listKeys(first);
    const named = 'SELECT account_id AS accountId FROM ledger WHERE key_id = ?';
    assert.ok(next);
    assert.equal(connection.get(named, next), undefined, 'a page names no key of another account');
    // With chunks of the usual size.
    await new SqliteStore(connection, QUOTAS).completeIndexes();
    assert.ok(count(connection, 'account_keys') > OTHERS / 2);
    assert.deepEqual(await listAll(store, 'acct_0'), { ids: before.ids, pages: 1 });
    assert.equal(before.ids.length, 2);
    await store.close();
  });

  it('names a merged row that it lacks', async () => {
    const { store, connection } = await openStore();
    const rows = Array.from({ length: 9 }, (_, i) => makeRow({ keyId: makeKeyId(NOW + i) }));
    await store.commit(
      rows.map((row) => keyRequest('acct_0', row)),
      [],
    );
    await store.completeIndexes();
    connection.run('DELETE FROM account_keys WHERE key_id = ?', rows[2]?.keyId as Uint8Array);
    assert.equal(
      unlisted(connection),
      `row ${hexOf(rows[2]?.keyId as Uint8Array)} of ledger is missing from account_keys`,
    );
    await store.close();
  });

  it('is what a page is read by', async () => {
    const { store, connection } = await openStore();
    const plan = connection.all(`EXPLAIN QUERY PLAN ${KEY_PAGE}`, 'a', 'b', 'c', 1);
    const text = plan.map(({ detail }) => detail).join('\n');
    assert.match(
      text,
      /^SEARCH account_keys USING PRIMARY KEY \(account_id=\? AND key_id>\? AND key_id<\?\)/,
    );
    assert.doesNotMatch(text, /SCAN|TEMP B-TREE/);
    await store.close();
  });
});
