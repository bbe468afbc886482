/** An account with a small quota on a SQLite server, and its rows in the database. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { migrateStore } from '../../src/ledger/index.ts';
import { type Account, addAccounts } from './books.ts';
import { makeDataDir } from './server.ts';
import { sqliteIn } from './unknown-keys.ts';

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

export interface Books {
  readonly rows: number;
  readonly counter: number;
  readonly metered: number;
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
