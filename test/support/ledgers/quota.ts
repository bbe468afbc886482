/** An account with a small quota on a SQLite server, and its rows in the database. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { hashApiKey, newApiKey } from '../../../src/accounts/index.ts';
import { monthlyQuotas, PUBLISHED_PLANS } from '../../../src/config/index.ts';
import { migrateStore, openStore } from '../../../src/ledger/index.ts';
import { sqliteIn } from '../clients/unknown-keys.ts';
import { makeDataDir } from '../servers/server.ts';
import { type Account, addAccounts } from './books.ts';

/** Monthly quota of the research plan. */
export const QUOTA = 1_000;

/** Creates a research account in a new folder, where no server runs yet. */
export async function researchAccount(): Promise<Account & { readonly dataDir: string }> {
  const dataDir = makeDataDir();
  const location = sqliteIn(dataDir);
  await migrateStore(location);
  const [account] = (await addAccounts(location, ['research'])) as [Account];
  return { dataDir, ...account };
}

/** An account without a quota, whose API keys share a monthly limit: one replaces the other, which still works. */
interface LimitedAccount {
  readonly accountId: string;
  readonly apiKeys: readonly [string, string];
}

/** Adds an account whose API keys have a monthly limit of `QUOTA`. */
export async function addLimitedAccount(dataDir: string): Promise<LimitedAccount> {
  const location = sqliteIn(dataDir);
  const [{ accountId }] = (await addAccounts(location, ['enterprise'])) as [Account];
  const apiKeys = [newApiKey('live'), newApiKey('live')] as const;
  const [first, second] = [hashApiKey(apiKeys[0]), hashApiKey(apiKeys[1])];
  const [apiKeyId, atMs] = [`key_of_${accountId}`, Date.now()];
  const record = { apiKeyId, accountId, hint: 'h', createdMs: atMs, revokedMs: null };
  const next = { apiKeyId: `${apiKeyId}_next`, hint: 'h' };
  const store = await openStore(location, monthlyQuotas(PUBLISHED_PLANS));
  assert.ok(await store.addApiKey({ ...record, monthlyLimit: QUOTA }, first));
  const rotation = { apiKeyId, next, keyHash: second, atMs, untilMs: atMs + 86_400_000 };
  assert.equal(await store.rotateApiKey(rotation), 'rotated');
  await store.close();
  return { accountId, apiKeys };
}

interface Books {
  readonly rows: number;
  readonly counter: number;
  readonly metered: number;
  /** Metered requests of API keys with a monthly limit. */
  readonly limited: number;
  readonly keyIds: ReadonlySet<string>;
}

/** Reads what the database holds about an account. */
export function readBooks(dataDir: string, accountId: string): Books {
  const database = new DatabaseSync(join(dataDir, 'phm.db'), { timeout: 10_000 });
  try {
    const ids = database.prepare('SELECT key_id FROM ledger WHERE account_id = ?').all(accountId);
    const one = (sql: string) =>
      Number(Object.values(database.prepare(sql).get(accountId) ?? {})[0]);
    return {
      rows: ids.length,
      counter: one('SELECT sum(used) FROM usage WHERE account_id = ?'),
      metered: one('SELECT sum(metered) FROM rollup_hour WHERE account_id = ?'),
      limited: one(`SELECT coalesce(sum(used), 0) FROM api_key_usage
        JOIN api_keys USING (api_key_id) WHERE account_id = ?`),
      keyIds: new Set(
        ids.map(
          ({ key_id: id }) => `phm_${BigInt(`0x${Buffer.from(id as Uint8Array).toString('hex')}`)}`,
        ),
      ),
    };
  } finally {
    database.close();
  }
}
