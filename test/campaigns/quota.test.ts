/**
 * The quota of an account, and the monthly limit of an API key that was rotated, stay exact across kill -9 and restart, and no
 * answered key is lost. It repeats `test/campaigns/crash.test.ts` with other clients, and kills at given points of the quota.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { addLimitedAccount, QUOTA, readBooks, researchAccount } from '../support/ledgers/quota.ts';
import { removeDataDir, Server } from '../support/servers/server.ts';

/** Clients of each account. */
const CLIENTS = 8;

/** Answered keys of both accounts at which the server is killed; the last kill is short of both ends. */
const KILLS = [300, 900, 1_400, 1_900];

test('a server admits no more than 1,000 requests of an account and of an API key across kill -9 and restart, and loses no answered key', async (t) => {
  const { dataDir, accountId, apiKey } = await researchAccount();
  t.after(() => removeDataDir(dataDir));
  const limited = await addLimitedAccount(dataDir);
  const callers = [{ accountId, apiKeys: [apiKey] }, limited].map((one) => ({
    ...one,
    answered: new Set<string>(),
    isExhausted: false,
  }));
  const isOver = () =>
    callers.every(({ isExhausted, answered: keyIds }) => isExhausted || keyIds.size > QUOTA);
  const answered = () => callers.reduce((sum, one) => sum + one.answered.size, 0);
  let server = await Server.start(dataDir, { PHM_RATE_LIMITS: 'off' });
  t.after(() => server.stop('SIGKILL'));
  const client = async (caller: (typeof callers)[number], number: number) => {
    const own = caller.apiKeys[number % caller.apiKeys.length];
    // More answers than the quota end a client too: the test then fails.
    while (!caller.isExhausted && caller.answered.size <= QUOTA) {
      try {
        const { status, body } = await server.generate({ security_level: 128 }, own);
        if (status === 200) caller.answered.add(body.key_id);
        else if (body.code === 'quota_exceeded') caller.isExhausted = true;
        else assert.fail(`unexpected ${status} ${body.code}`);
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error;
        // The server was killed during this request: retry when it is back.
        await sleep(20);
      }
    }
  };
  let kills = 0;
  const killer = async () => {
    for (const after of KILLS) {
      while (answered() < after && !isOver()) await sleep(2);
      if (isOver()) return;
      await server.stop('SIGKILL');
      kills += 1;
      server = await Server.start(dataDir, { PHM_RATE_LIMITS: 'off' });
    }
  };
  const clients = callers.flatMap((caller) =>
    Array.from({ length: CLIENTS }, (_, number) => client(caller, number)),
  );
  await Promise.all([killer(), ...clients]);
  for (const { apiKeys } of callers) {
    for (const one of apiKeys) {
      const { body } = await server.generate({ security_level: 128 }, one);
      assert.equal(body.code, 'quota_exceeded');
    }
  }
  await server.stop();
  assert.ok(kills >= 3, `${kills} kills`);
  for (const caller of callers) {
    const { accountId: id, answered: keyIds } = caller;
    const books = readBooks(dataDir, id);
    assert.ok(keyIds.size <= QUOTA);
    assert.ok(keyIds.size >= QUOTA - kills * CLIENTS, `only ${keyIds.size} answered`);
    assert.deepEqual([books.rows, books.counter, books.metered], [QUOTA, QUOTA, QUOTA]);
    assert.equal(books.limited, caller === callers[0] ? 0 : QUOTA);
    for (const keyId of keyIds) assert.ok(books.keyIds.has(keyId), `${keyId} has no row`);
  }
});
