/**
 * A quota stays exact across kill -9 and restart, and no answered key is lost. It repeats
 * `test/slow/crash.test.ts` with other clients, one account, and kills at given points of its quota.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QUOTA, readBooks, researchAccount } from '../support/quota.ts';
import { removeDataDir, Server } from '../support/server.ts';

test('a server admits no more than 1,000 requests across kill -9 and restart, and loses no answered key', async (t) => {
  const { dataDir, accountId, apiKey } = await researchAccount();
  t.after(() => removeDataDir(dataDir));
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
        // The server was killed during this request: retry when it is back.
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
