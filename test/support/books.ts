/** The ledger's books as another program reads them, and what must hold of them at any moment. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { apiKeyHint, hashApiKey, MONTHLY_QUOTAS, newApiKey } from '../../src/accounts/index.ts';
import { openStore, type StoreLocation } from '../../src/ledger/index.ts';
import type { Load } from './mixed-load.ts';
import type { Postgres } from './postgres.ts';

export interface Account {
  readonly accountId: string;
  readonly apiKey: string;
}

/** Adds an account of each plan with an API key, beside the running server. */
export async function addAccounts(
  location: StoreLocation,
  plans: readonly string[],
): Promise<Account[]> {
  const store = await openStore(location, MONTHLY_QUOTAS);
  const accounts: Account[] = [];
  const createdMs = Date.now();
  for (const plan of plans) {
    const accountId = `acct_${randomUUID()}`;
    const apiKey = newApiKey('live');
    await store.addAccount({ accountId, name: plan, plan, demo: false, createdMs });
    const hint = apiKeyHint(apiKey);
    const apiKeyId = `key_${randomUUID()}`;
    await store.addApiKey(
      { apiKeyId, accountId, hint, createdMs, revokedMs: null },
      hashApiKey(apiKey),
    );
    accounts.push({ accountId, apiKey });
  }
  await store.close();
  return accounts;
}

/** Runs one statement, which sees one state of the database. */
export type Query = (sql: string) => Promise<Record<string, unknown>[]>;

export function querySqlite(dataDir: string): Query {
  return async (sql) => {
    const database = new DatabaseSync(join(dataDir, 'phm.db'), { readOnly: true, timeout: 30_000 });
    try {
      return database.prepare(sql).all();
    } finally {
      database.close();
    }
  };
}

export function queryPostgres(postgres: Postgres, database: string): Query {
  return (sql) => postgres.query(database, sql);
}

const ROLLUP_SUMS = ['minute', 'hour'].flatMap((period) =>
  ['keys', 'metered', 'latency_us', 'streams_passed'].map(
    (sum) => `(SELECT coalesce(sum(${sum}), 0) FROM rollup_${period} AS sums
      WHERE sums.account_id = accounts.account_id) AS ${period}_${sum}`,
  ),
);

const BOOKS = `SELECT account_id,
    (SELECT count(*) FROM ledger WHERE ledger.account_id = accounts.account_id) AS rows_written,
    (SELECT count(total_tests) FROM ledger WHERE ledger.account_id = accounts.account_id) AS judged,
    (SELECT coalesce(sum(latency_us), 0) FROM ledger
      WHERE ledger.account_id = accounts.account_id) AS latency_us,
    (SELECT coalesce(sum(used), 0) FROM usage
      WHERE usage.account_id = accounts.account_id) AS used,
    ${ROLLUP_SUMS.join(',\n    ')}
  FROM accounts`;

const ROWS = 'SELECT key_id, commitment, account_id FROM ledger';

/** An account's counter, and how many rows it has. */
export interface AccountBooks {
  readonly used: number;
  readonly rows: number;
}

/**
 * Holds the books to what the clients know, also while clients go on:
 *
 * - each released key has exactly one row, of its account; no key id or commitment is there twice;
 * - counter = rows + validations counted, answered ≤ validations counted ≤ sent, rows ≤ keys asked for;
 * - the sums by minute and by hour hold the same keys, latencies and metered requests as rows and counter.
 */
export async function checkBooks(query: Query, load: Load): Promise<Map<string, AccountBooks>> {
  assert.deepEqual(load.wrong, []);
  const released = [...load.released];
  const answered = new Map(
    [...load.tallies].map(([accountId, { validatesAnswered }]) => [accountId, validatesAnswered]),
  );
  const rows = await query(ROWS);
  const owners = new Map(rows.map((row) => [hex(row.key_id), row.account_id]));
  assert.equal(owners.size, rows.length, 'a key id is there twice');
  assert.equal(new Set(rows.map((row) => hex(row.commitment))).size, rows.length);
  for (const { keyId, accountId } of released) {
    assert.equal(owners.get(keyId), accountId, `the row of the released key ${keyId}`);
  }
  const books = new Map<string, AccountBooks>();
  for (const row of await query(BOOKS)) {
    const accountId = String(row.account_id);
    const tally = load.tallies.get(accountId);
    if (!tally) continue;
    const read = (column: string) => Number(row[column]);
    const [used, written] = [read('used'), read('rows_written')];
    for (const period of ['minute', 'hour']) {
      assert.equal(read(`${period}_keys`), written, `keys by ${period}`);
      assert.equal(read(`${period}_metered`), used, `metered requests by ${period}`);
      assert.equal(read(`${period}_latency_us`), read('latency_us'), `latencies by ${period}`);
      // Streams of calls that failed afterwards are counted too.
      assert.ok(read(`${period}_streams_passed`) >= read('judged'), `streams by ${period}`);
    }
    const validations = used - written;
    assert.ok(validations >= (answered.get(accountId) ?? 0), 'an answered validation is missing');
    assert.ok(validations <= tally.validatesSent, 'a validation is counted twice');
    assert.ok(written <= tally.generatesSent, 'a key is recorded twice');
    books.set(accountId, { used, rows: written });
  }
  return books;
}

function hex(bytes: unknown): string {
  return Buffer.from(bytes as Uint8Array).toString('hex');
}
