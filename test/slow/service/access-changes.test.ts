/**
 * Three servers on one PostgreSQL follow a change of access within two seconds: a suspension, its end, a deletion, and the
 * revocation of an API key. 12 s.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { hashApiKey } from '../../../src/accounts/index.ts';
import { monthlyQuotas, PUBLISHED_PLANS } from '../../../src/config/index.ts';
import { type AccountState, type LedgerStore, openStore } from '../../../src/ledger/index.ts';
import { changeState } from '../../support/account-state.ts';
import { type Account, addAccounts } from '../../support/books.ts';
import { noPostgres, Postgres } from '../../support/postgres.ts';
import { makeDataDir, removeDataDir, Server } from '../../support/server.ts';

/** Within this time after a change is durable, each server has followed it. */
const PROMISE_MS = 2_000;

/** How long callers go on after a change. */
const WATCH_MS = 3_000;

const PAUSE_MS = 20;

/** An answered request. */
interface Asked {
  readonly server: number;
  readonly startMs: number;
  /** The code of a refusal, or the status. */
  readonly outcome: string;
}

describe('three servers', { skip: noPostgres }, () => {
  const folders = [makeDataDir(), makeDataDir(), makeDataDir()];
  let postgres: Postgres;
  let servers: Server[] = [];
  let store: LedgerStore;
  let accounts: Account[];

  before(async () => {
    postgres = await Postgres.start();
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

  /** Returns when each server followed a change, in milliseconds after it, while it is asked all the time. */
  async function followed(
    account: Account,
    change: () => Promise<unknown>,
    expected: string,
  ): Promise<number[]> {
    const asked: Asked[] = [];
    let endMs = Number.POSITIVE_INFINITY;
    const callers = servers.map(async (_, server) => {
      while (performance.now() < endMs) {
        asked.push(await ask(server, account));
        await sleep(PAUSE_MS);
      }
    });
    await sleep(PROMISE_MS);
    const before = [...asked];
    await change();
    const durableMs = performance.now();
    endMs = durableMs + WATCH_MS;
    await Promise.all(callers);
    assert.ok(!outcomesOf(before).has(expected));
    return servers.map((_, server) => {
      const others = asked.filter((one) => one.server === server && one.outcome !== expected);
      return Math.max(0, ...others.map(({ startMs }) => startMs - durableMs));
    });
  }

  /** Asserts that each server has followed a change at the end of the time, although it was asked right before it last. */
  async function assertFollowed(
    account: Account,
    change: () => Promise<unknown>,
    expected: string,
  ): Promise<void> {
    assert.ok(!outcomesOf(await askAll(account)).has(expected));
    await change();
    await sleep(PROMISE_MS);
    assert.deepEqual(outcomesOf(await askAll(account)), new Set([expected]));
  }

  it('follow suspensions, deletions and revocations within two seconds, and resume an account as soon', async (t) => {
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
      const watch = async () => {
        const delays = await followed(busy, () => change(busy), expected);
        t.diagnostic(`${name}: each server follows after ${delays.map(Math.round).join(', ')} ms`);
        for (const delayMs of delays) assert.ok(delayMs < PROMISE_MS, `${name}: ${delayMs} ms`);
      };
      return [watch(), assertFollowed(quiet, () => change(quiet), expected)];
    });
    await Promise.all(runs);
  });
});
