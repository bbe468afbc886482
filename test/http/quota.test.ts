/** Quotas are exact: under concurrency, across kill -9 and restart, and equal to the rows. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, it } from 'node:test';
import { makeDataDir, phmJson, removeDataDir, Server } from '../support/server.ts';

const QUOTA = 1_000;
const folders: string[] = [];
after(() => folders.forEach(removeDataDir));

async function researchAccount(): Promise<{ dataDir: string; accountId: string; apiKey: string }> {
  const dataDir = makeDataDir();
  folders.push(dataDir);
  const { account_id: accountId } = await phmJson<{ account_id: string }>(
    ['account', 'create', '--init', '--name', 'quota', '--plan', 'research'],
    dataDir,
  );
  const { api_key: apiKey } = await phmJson<{ api_key: string }>(
    ['key', 'issue', '--account', accountId],
    dataDir,
  );
  return { dataDir, accountId, apiKey };
}

interface Books {
  readonly rows: number;
  readonly counter: number;
  readonly metered: number;
  readonly keyIds: ReadonlySet<string>;
}

/** What the database holds of an account, read after the server has ended. */
function readBooks(dataDir: string, accountId: string): Books {
  const database = new DatabaseSync(join(dataDir, 'phm.db'));
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

describe('quota', () => {
  it('gives exactly 1,000 of 1,050 concurrent requests a key', async () => {
    const { dataDir, accountId, apiKey } = await researchAccount();
    const server = await Server.start(dataDir, { PHM_RATE_LIMITS: 'off' });
    const answers = await Promise.all(
      Array.from({ length: 1_050 }, () => server.generate({ security_level: 256 }, apiKey)),
    );
    const granted = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status === 429);
    assert.equal(granted.length, QUOTA);
    assert.equal(refused.length, 50);
    for (const { body, headers } of refused) {
      assert.equal(body.code, 'quota_exceeded');
      assert.match(headers.get('retry-after') ?? '', /^[1-9][0-9]*$/);
      assert.match(headers.get('ratelimit') ?? '', /"quota";r=0;/);
    }
    const validation = await server.validate({ key: granted[0]?.body.key }, apiKey);
    assert.equal(validation.status, 429);
    assert.equal((await server.metrics('', apiKey)).body.metrics.usage.total_usage, QUOTA);
    await server.stop();
    const books = readBooks(dataDir, accountId);
    assert.equal(books.rows, QUOTA);
    assert.equal(books.counter, QUOTA);
    assert.equal(books.metered, QUOTA);
    assert.equal(new Set(granted.map(({ body }) => body.key)).size, QUOTA);
    for (const { body } of granted) assert.ok(books.keyIds.has(body.key_id));
  });

  it('lets no more than 1,000 through across kill -9 and restart, and loses no answered key', async () => {
    const { dataDir, accountId, apiKey } = await researchAccount();
    let server = await Server.start(dataDir, { PHM_RATE_LIMITS: 'off' });
    const answered = new Set<string>();
    let exhausted = false;
    let kills = 0;
    const client = async () => {
      while (!exhausted) {
        try {
          const { status, body } = await server.generate({ security_level: 128 }, apiKey);
          if (status === 200) answered.add(body.key_id);
          else if (body.code === 'quota_exceeded') exhausted = true;
          else assert.fail(`unexpected ${status} ${body.code}`);
        } catch (error) {
          if (error instanceof assert.AssertionError) throw error;
          // The server was killed under this request: try again when it is back.
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      }
    };
    const killer = async () => {
      for (const after of [100, 300, 500, 700]) {
        while (answered.size < after && !exhausted)
          await new Promise((resolve) => setTimeout(resolve, 2));
        if (exhausted) return;
        await server.stop('SIGKILL');
        kills += 1;
        server = await Server.start(dataDir, { PHM_RATE_LIMITS: 'off' });
      }
    };
    await Promise.all([killer(), ...Array.from({ length: 16 }, client)]);
    await server.stop();
    assert.equal(kills, 4);
    const books = readBooks(dataDir, accountId);
    assert.ok(answered.size <= QUOTA);
    assert.ok(answered.size >= QUOTA - kills * 16, `only ${answered.size} answered`);
    assert.equal(books.rows, QUOTA);
    assert.equal(books.counter, QUOTA);
    assert.equal(books.metered, QUOTA);
    for (const keyId of answered) assert.ok(books.keyIds.has(keyId), `${keyId} has no row`);
  });
});
