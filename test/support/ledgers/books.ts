/** Reads the ledger's books as another program would, and checks what must hold at any moment. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { apiKeyHint, hashApiKey, newApiKey } from '../../../src/accounts/index.ts';
import { monthlyQuotas, PUBLISHED_PLANS } from '../../../src/config/index.ts';
import { openStore, type StoreLocation } from '../../../src/ledger/index.ts';
import type { Load, Released } from '../clients/mixed-load.ts';
import type { Databases } from './databases.ts';

export interface Account {
  readonly accountId: string;
  readonly apiKey: string;
}

/** Adds an account with an API key for each plan, without audit records, while the server runs. */
export async function addAccounts(
  location: StoreLocation,
  plans: readonly string[],
  createdMs = Date.now(),
): Promise<Account[]> {
  const store = await openStore(location, monthlyQuotas(PUBLISHED_PLANS));
  const accounts: Account[] = [];
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

/** Runs one statement, so that it sees one state of the database. */
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

export function queryPostgres(postgres: Databases, database: string): Query {
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
    (SELECT max(monthly_limit) FROM api_keys
      WHERE api_keys.account_id = accounts.account_id) AS api_key_limit,
    (SELECT coalesce(sum(used), 0) FROM api_key_usage WHERE api_key_id IN (SELECT api_key_id
      FROM api_keys WHERE api_keys.account_id = accounts.account_id)) AS api_key_used,
    ${ROLLUP_SUMS.join(',\n    ')}
  FROM accounts`;

const ROWS = 'SELECT key_id, commitment, account_id FROM ledger';

/** An account's counter and its number of rows. */
interface AccountBooks {
  readonly used: number;
  readonly rows: number;
}

/** What the clients know: released keys, and requests sent and answered by account. */
type Known = Pick<Load, 'released' | 'tallies'>;

/** The books at one moment, and their differences from what the clients know. */
interface Audit {
  readonly books: Map<string, AccountBooks>;
  /** Released keys without a row in their account. */
  readonly missing: readonly Released[];
  /** Number of answered validations that are not counted, by account. */
  readonly uncounted: ReadonlyMap<string, number>;
  readonly rows: number;
  /** Every other violation, in words. */
  readonly errors: readonly string[];
}

/**
 * Compares the books with what the clients know, also while clients keep sending:
 *
 * - each released key has exactly one row, in its account; no key ID or commitment occurs twice;
 * - counter = rows + validations counted, answered ≤ validations counted ≤ sent, rows ≤ keys requested;
 * - the counter of an account whose API key has a monthly limit equals that of the API key, and is within the limit;
 * - the sums by minute and by hour hold the same keys, latencies and metered requests as rows and counter.
 */
export async function checkBooks(query: Query, load: Load): Promise<Map<string, AccountBooks>> {
  assert.deepEqual(load.wrong, []);
  const { books, missing, errors } = await auditBooks(query, load);
  assert.deepEqual(
    missing.map(({ keyId }) => keyId),
    [],
    'released keys without a row',
  );
  assert.deepEqual(errors, []);
  return books;
}

/** Compares without throwing. */
export async function auditBooks(query: Query, known: Known): Promise<Audit> {
  const released = [...known.released];
  const answered = new Map(
    [...known.tallies].map(([accountId, { validatesAnswered }]) => [accountId, validatesAnswered]),
  );
  const rows = await query(ROWS);
  const owners = new Map(rows.map((row) => [hex(row.key_id), row.account_id]));
  const errors: string[] = [];
  const hold = (claim: boolean, broken: string) => claim || errors.push(broken);
  hold(owners.size === rows.length, 'a key id is there twice');
  const commitments = new Set(rows.map((row) => hex(row.commitment)));
  hold(commitments.size === rows.length, 'a commitment is there twice');
  const missing = released.filter(({ keyId, accountId }) => owners.get(keyId) !== accountId);
  const books = new Map<string, AccountBooks>();
  const uncounted = new Map<string, number>();
  for (const row of await query(BOOKS)) {
    const accountId = String(row.account_id);
    const tally = known.tallies.get(accountId);
    if (!tally) continue;
    const read = (column: string) => Number(row[column]);
    const [used, written] = [read('used'), read('rows_written')];
    const equal = (what: string, one: number, other: number) =>
      hold(one === other, `${what} of ${accountId}: ${one}, not ${other}`);
    for (const period of ['minute', 'hour']) {
      equal(`keys by ${period}`, read(`${period}_keys`), written);
      equal(`metered requests by ${period}`, read(`${period}_metered`), used);
      equal(`latencies by ${period}`, read(`${period}_latency_us`), read('latency_us'));
      // The sums include streams of calls that failed later.
      const streams = read(`${period}_streams_passed`);
      hold(streams >= read('judged'), `streams by ${period} of ${accountId}: ${streams}`);
    }
    if (row.api_key_limit !== null) {
      equal('metered requests of the API key', read('api_key_used'), used);
      hold(used <= read('api_key_limit'), `${accountId} has exceeded the limit of its API key`);
    }
    const validations = used - written;
    const least = answered.get(accountId) ?? 0;
    if (validations < least) uncounted.set(accountId, least - validations);
    hold(validations >= least, `${least - validations} answered validations are not counted`);
    hold(validations <= tally.validatesSent, `a validation of ${accountId} is counted twice`);
    hold(written <= tally.generatesSent, `a key of ${accountId} is recorded twice`);
    books.set(accountId, { used, rows: written });
  }
  return { books, missing, uncounted, rows: rows.length, errors };
}

function hex(bytes: unknown): string {
  return Buffer.from(bytes as Uint8Array).toString('hex');
}
