/**
 * Quotas are exact under concurrency and equal the rows. For crashes see `test/campaigns/crash.test.ts` and
 * `test/campaigns/quota.test.ts`, for several servers `test/slow/ledger/servers-on-postgres.test.ts`.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sqliteIn } from '../../support/clients/unknown-keys.ts';
import { type Account, addAccounts } from '../../support/ledgers/books.ts';
import { QUOTA, readBooks } from '../../support/ledgers/quota.ts';
import { dataDir, server } from '../../support/servers/shared-server.ts';

describe('the monthly quota', () => {
  it('admits exactly 1,000 of 1,050 concurrent requests for keys', async () => {
    const [account] = (await addAccounts(sqliteIn(dataDir), ['research'])) as [Account];
    const { accountId, apiKey } = account;
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
    const books = readBooks(dataDir, accountId);
    assert.equal(books.rows, QUOTA);
    assert.equal(books.counter, QUOTA);
    assert.equal(books.metered, QUOTA);
    assert.equal(new Set(granted.map(({ body }) => body.key)).size, QUOTA);
    for (const { body } of granted) assert.ok(books.keyIds.has(body.key_id));
  });
});
