/**
 * Three servers on one PostgreSQL follow a change of access: a suspension, its end, a deletion, and the revocation of an API
 * key. They follow for good; `test/service/access/api-key-cache.test.ts` has the two seconds in simulated time; here they are
 * measured, and in full limited.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { hashApiKey } from '../../src/accounts/index.ts';
import { monthlyQuotas, PUBLISHED_PLANS } from '../../src/config/index.ts';
import { type AccountState, type LedgerStore, openStore } from '../../src/ledger/index.ts';
import { changeState } from '../support/ledgers/account-state.ts';
import { type Account, addAccounts } from '../support/ledgers/books.ts';
import type { Databases } from '../support/ledgers/databases.ts';
import { noPostgres } from '../support/ledgers/postgres.ts';
import { sharedPostgres } from '../support/ledgers/shared-postgres.ts';
import { reportTime } from '../support/run/campaign.ts';
import { until } from '../support/run/until.ts';
import { makeDataDir, removeDataDir, Server } from '../support/servers/server.ts';

/** Within this time after a change is durable, each server has followed it. */
const PROMISE_MS = 2_000;

/** Answers of each server before a change, and after it has followed one. */
const ANSWERS = 20;

const PAUSE_MS = 20;

/** A timer and eight requests at a time may be late. */
const BUSY_MS = 300;

/** An answered request. */
interface Asked {
  readonly server: number;
  readonly startMs: number;
  /** The code of a refusal, or the status. */
  readonly outcome: string;
}

describe('three servers', { skip: noPostgres }, () => {
  const folders = [makeDataDir(), makeDataDir(), makeDataDir()];
  let postgres: Databases;
  let servers: Server[] = [];
  let store: LedgerStore;
  let accounts: Account[];

  before(async () => {
    postgres = await sharedPostgres();
    const url = await postgres.createLedger('access');
    const env = {
      PHM_DATABASE_URL: url,
      PHM_MASTER_KEY: '5a'.repeat(32),
      PHM_RATE_LIMITS: 'off',
    };
    accounts = await addAccounts({ kind: 'postgres', url }, Array(8).fill('enterprise'));
    servers = await Promise.all(folders.map((folder) => Server.start(folder, env)));
    store = await openStore({ kind: 'postgres', url }, monthlyQuotas(PUBLISHED_PLANS));
  });
  after(async () => {
    await store?.close();
    await Promise.all(servers.map((server) => server.stop()));
    await postgres?.remove();
    folders.forEach(removeDataDir);
  });

  async function ask(server: number, { apiKey }: Account): Promise<Asked> {
    const startMs = performance.now();
    const { status, body } = await (servers[server] as Server).metrics('', apiKey);
    return { server, startMs, outcome: body.code ?? String(status) };
  }

  const askAll = (account: Account) =>
    Promise.all(servers.map((_, server) => ask(server, account)));

  const outcomesOf = (asked: readonly Asked[]) => new Set(asked.map(({ outcome }) => outcome));

  /**
   * Returns when the last server followed a change, in milliseconds after it, while all are asked all the time. Asserts that
   * each follows, and for good.
   */
  async function followed(
    account: Account,
    change: () => Promise<unknown>,
    expected: string,
  ): Promise<number> {
    const asked: Asked[] = [];
    const of = (server: number) => asked.filter((one) => one.server === server);
    let running = true;
    const callers = servers.map(async (_, server) => {
      while (running) {
        asked.push(await ask(server, account));
        await sleep(PAUSE_MS);
      }
    });
    const followedBy = (server: number) =>
      of(server).findIndex(({ outcome }) => outcome === expected);
    try {
      await until('all servers answer', () => servers.every((_, i) => of(i).length >= ANSWERS));
      assert.ok(!outcomesOf(asked).has(expected));
      await change();
      const durableMs = performance.now();
      await until(`all servers answer ${expected}`, () =>
        servers.every((_, i) => followedBy(i) >= 0 && of(i).length >= followedBy(i) + ANSWERS),
      );
      const delays = servers.map((_, i) => (of(i)[followedBy(i)]?.startMs ?? 0) - durableMs);
      for (const [i] of servers.entries()) {
        assert.deepEqual(outcomesOf(of(i).slice(followedBy(i))), new Set([expected]));
      }
      return Math.max(0, ...delays);
    } finally {
      running = false;
      await Promise.all(callers);
    }
  }

  /** Asserts that each server follows a change that it was asked about right before, and then no more for a while. */
  async function followedUnasked(
    account: Account,
    change: () => Promise<unknown>,
    expected: string,
  ): Promise<number> {
    assert.ok(!outcomesOf(await askAll(account)).has(expected));
    await change();
    const durableMs = performance.now();
    await sleep(PROMISE_MS);
    let startMs = performance.now();
    // A server that waits long for its database uses what it knows.
    await until(`all servers answer ${expected}`, async () => {
      const answers = await askAll(account);
      const isFollowed = isDeepStrictEqual(outcomesOf(answers), new Set([expected]));
      if (isFollowed) startMs = Math.max(...answers.map((one) => one.startMs));
      return isFollowed;
    });
    return startMs - durableMs;
  }

  it('follow suspensions, deletions and revocations, and resume an account', async (t) => {
    const revoke = async ({ apiKey }: Account) => {
      const record = await store.findApiKey(hashApiKey(apiKey));
      assert.equal(await store.revokeApiKey(record?.apiKeyId ?? '', Date.now()), true);
    };
    const set = (state: AccountState) => (account: Account) =>
      changeState(store, account.accountId, state);
    const changes: [string, (account: Account) => Promise<void>, string][] = [
      ['resumed', set('active'), '200'],
      ['suspended', set('suspended'), 'account_suspended'],
      ['deleted', set('deleted'), 'invalid_api_key'],
      ['revoked', revoke, 'invalid_api_key'],
    ];
    for (const account of accounts.slice(0, 2)) await set('suspended')(account);
    const runs = changes.flatMap(([name, change, expected], i) => {
      const [busy, quiet] = accounts.slice(2 * i) as [Account, Account];
      const report = (when: string, value: number, atMost: number) =>
        reportTime(t, { name: `${name}, ${when}`, value, atMost, unit: 'ms' });
      return [
        followed(busy, () => change(busy), expected).then((ms) =>
          report('the last server that is asked all the time follows', ms, PROMISE_MS),
        ),
        followedUnasked(quiet, () => change(quiet), expected).then((ms) =>
          report('the first request after two seconds', ms, PROMISE_MS + BUSY_MS),
        ),
      ];
    });
    await Promise.all(runs);
  });
});
