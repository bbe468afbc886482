/** SQLite has no clock: its rows and the last look at a clock show the time. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { isUrgent, type LedgerStore, openSqliteStore } from '../../src/ledger/index.ts';
import { clockAt, DAY_MS, rowAt } from './clock-contract.ts';
import { keyRequest, NOW, QUOTAS } from './contract.ts';

const directory = mkdtempSync(join(tmpdir(), 'phm-clock-'));
after(() => rmSync(directory, { recursive: true, force: true }));

const DOUBT = { name: 'SetupError', message: /run: phm ledger prune --accept-clock$/ };
let files = 0;

/** Creates a ledger with rows of these times and no look at a clock yet. */
async function ledgerWith(...times: readonly number[]): Promise<LedgerStore> {
  const store = openSqliteStore({ path: join(directory, `${++files}.db`), quotas: QUOTAS });
  const created = { accountId: 'acct_e', name: 'e', plan: 'enterprise', demo: false };
  await store.addAccount({ ...created, createdMs: NOW });
  await addRows(store, ...times);
  return store;
}

async function addRows(store: LedgerStore, ...times: readonly number[]): Promise<void> {
  const requests = times.map((atMs) => keyRequest('acct_e', rowAt(atMs)));
  await store.commit(requests, []);
}

const prune = (store: LedgerStore, atMs: number, acceptClock = false) =>
  store.prune({ keepMs: 30 * DAY_MS, clock: clockAt(atMs), dryRun: false, acceptClock });

/** Reports whether the store trusts the clock at a time. */
const believes = async (store: LedgerStore, atMs: number) =>
  (await store.readClock(clockAt(atMs))).doubt === null;

describe('the clock beside SQLite', () => {
  it('is trusted up to 7 days after the newest row and up to a minute before it', async () => {
    const store = await ledgerWith(NOW);
    for (const [atMs, expected] of [
      [NOW + 7 * DAY_MS, true],
      [NOW + 7 * DAY_MS + 1, false],
      [NOW - 60_000, true],
      [NOW - 60_001, false],
    ] as const) {
      assert.equal(await believes(store, atMs), expected, `${atMs - NOW}`);
    }
    await store.close();
  });

  it('stays in doubt after 8 days, despite new rows, until it is accepted permanently', async () => {
    const store = await ledgerWith(NOW - 40 * DAY_MS, NOW);
    await store.maintain(clockAt(NOW));
    const back = NOW + 8 * DAY_MS;
    await store.maintain(clockAt(back));
    await addRows(store, back + 1);
    for (const days of [0, 1, 20]) {
      await assert.rejects(prune(store, back + days * DAY_MS), DOUBT);
    }
    const counted = { keepMs: 30 * DAY_MS, clock: clockAt(back), dryRun: true, acceptClock: true };
    assert.equal((await store.prune(counted)).rows, 1);
    await assert.rejects(prune(store, back), DOUBT, 'a dry run accepts nothing for good');
    assert.equal((await prune(store, back, true)).rows, 1);
    assert.equal((await prune(store, back + DAY_MS)).rows, 0);
    await store.close();
  });

  it('is trusted without new keys if a server checks it each day', async () => {
    const store = await ledgerWith(NOW);
    for (let day = 0; day < 20; day++) await store.maintain(clockAt(NOW + day * DAY_MS));
    assert.equal(await believes(store, NOW + 20 * DAY_MS), true);
    await store.close();
  });

  it('is in doubt after a jump under a running server, even if rows follow it', async () => {
    const store = await ledgerWith(NOW - 40 * DAY_MS, NOW);
    await store.maintain(clockAt(NOW));
    const ahead = NOW + 400 * DAY_MS;
    await addRows(store, ahead);
    await assert.rejects(prune(store, ahead + 1), DOUBT);
    await store.close();
  });

  it('is trusted again once it is corrected', async () => {
    const store = await ledgerWith(NOW - 40 * DAY_MS, NOW);
    await store.maintain(clockAt(NOW));
    await assert.rejects(prune(store, NOW + 400 * DAY_MS), DOUBT);
    await assert.rejects(prune(store, NOW - DAY_MS), DOUBT);
    assert.equal((await prune(store, NOW + 1)).rows, 1);
    await store.close();
  });

  it('is trusted again after correction, despite a key in the future, even when that time comes', async () => {
    const store = await ledgerWith(NOW - 40 * DAY_MS, NOW);
    const future = NOW + 10 * DAY_MS;
    await store.maintain(clockAt(future));
    await addRows(store, future);
    await assert.rejects(prune(store, NOW - DAY_MS), DOUBT);
    assert.equal((await prune(store, NOW + 1)).rows, 1);
    for (let day = 1; day < 12; day++) {
      assert.equal(await believes(store, NOW + day * DAY_MS), true, `${day}`);
      await store.maintain(clockAt(NOW + day * DAY_MS));
    }
    await store.close();
  });

  it('can be accepted despite rows in the future, which stay, and is still checked', async () => {
    const future = NOW + 400 * DAY_MS;
    const store = await ledgerWith(NOW - 40 * DAY_MS, NOW, future);
    await assert.rejects(prune(store, NOW), DOUBT);
    assert.equal((await prune(store, NOW, true)).rows, 1);
    await addRows(store, NOW + DAY_MS);
    assert.equal((await prune(store, NOW + DAY_MS)).rows, 0);
    assert.equal(await believes(store, NOW + 9 * DAY_MS), false);
    assert.equal(await believes(store, NOW - DAY_MS), false);
    await store.close();
  });

  it('needs no urgent action if it is only ahead and nothing is pruned', async () => {
    const store = await ledgerWith(NOW);
    const urgent = async (skewMs: number, days: number | null) =>
      isUrgent(await store.readClock(clockAt(NOW + skewMs)), days);
    const ahead = 8 * DAY_MS;
    assert.deepEqual([await urgent(ahead, null), await urgent(ahead, 30)], [false, true]);
    assert.deepEqual([await urgent(-61_000, null), await urgent(DAY_MS, 30)], [true, false]);
    await assert.rejects(prune(store, NOW + ahead), DOUBT);
    await store.close();
  });

  it('is not compared before the first key, so a machine may set its time late', async () => {
    const store = await ledgerWith();
    await store.maintain(clockAt(1));
    assert.equal((await prune(store, NOW)).rows, 0);
    await addRows(store, NOW);
    await store.maintain(clockAt(NOW));
    assert.equal(await believes(store, NOW + 1), true);
    await store.close();
  });
});
