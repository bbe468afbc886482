/**
 * Real servers with a wrong clock and a retention of 30 days, each with 30 younger keys. About 4 minutes;
 * nothing is random.
 *
 * Clock 400 days ahead: the PostgreSQL server does not start; the SQLite server starts, warns and removes 0 of
 * 30 rows. Clock that jumps 400 days ahead under a running server: the first upkeep, a minute after the start,
 * removes 0 of 30 rows in either store.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type LedgerStore, openSqliteStore } from '../../src/ledger/index.ts';
import { openPostgresStore } from '../../src/ledger/postgres/store.ts';
import { areRecorded, keyRequest, makeKeyId, makeRow, QUOTAS } from '../ledger/contract.ts';
import { noPostgres, Postgres } from '../support/postgres.ts';
import { type Environment, makeDataDir, removeDataDir, Server } from '../support/server.ts';
import { shiftUrl } from '../support/shift-clock.ts';

const DAY_MS = 86_400_000;
const AHEAD_MS = 400 * DAY_MS;
const RETENTION = { PHM_RETENTION_DAYS: '30' };
const SECRET = { PHM_MASTER_KEY: '1:'.concat(Buffer.alloc(32, 7).toString('hex')) };

const dataDir = makeDataDir();
let postgres: Postgres;
before(async () => {
  if (!noPostgres) postgres = await Postgres.start();
});
after(async () => {
  await postgres?.remove();
  removeDataDir(dataDir);
});

/** Creates thirty keys of the last 27 days: only a wrong clock makes them older than 30 days. */
async function fill(store: LedgerStore): Promise<readonly Uint8Array[]> {
  const accountId = 'acct_e';
  const createdMs = Date.now();
  await store.addAccount({ accountId, name: 'e', plan: 'enterprise', demo: false, createdMs });
  const times = Array.from({ length: 30 }, (_, i) => createdMs - i * 0.9 * DAY_MS);
  const rows = times.map((atMs) => makeRow({ keyId: makeKeyId(Math.floor(atMs)) }));
  await store.commit(
    rows.map((row) => keyRequest(accountId, row, createdMs)),
    [],
  );
  return rows.map(({ keyId }) => keyId);
}

async function countLeft(store: LedgerStore, keyIds: readonly Uint8Array[]): Promise<number> {
  const found = await areRecorded(store, keyIds);
  await store.close();
  return found.filter(Boolean).length;
}

/** Waits until the upkeep of a server, a minute after its start, has removed rows or said why not. */
async function firstUpkeep(server: Server): Promise<void> {
  while (!/old rows were removed|the upkeep of the ledger failed/.test(server.log))
    await delay(200);
}

const shifted = (file: string | null = null): Environment => ({
  NODE_OPTIONS: `--import=${shiftUrl(AHEAD_MS, file)}`,
});

describe('a server on SQLite', () => {
  const openStore = (folder: string) =>
    openSqliteStore({ path: join(folder, 'phm.db'), quotas: QUOTAS });

  it('removes nothing while its clock is 400 days ahead, at startup or later', async () => {
    for (const jumps of [false, true]) {
      const folder = join(dataDir, String(jumps));
      const flag = jumps ? join(dataDir, 'sqlite-jump') : null;
      await (await Server.start(folder, RETENTION)).stop();
      const keyIds = await fill(openStore(folder));
      const server = await Server.start(folder, { ...RETENTION, ...shifted(flag) });
      try {
        assert.equal(server.log.includes('the clock is in doubt'), !jumps);
        if (flag) writeFileSync(flag, '');
        assert.equal((await server.generate({ security_level: 256 })).status, 200);
        await firstUpkeep(server);
        await server.logged('the clock is in doubt');
        assert.match(server.log, /400 days ahead of the newest row .* ledger prune --accept-clock/);
      } finally {
        await server.stop();
      }
      assert.equal(await countLeft(openStore(folder), keyIds), 30);
    }
  });
});

describe('a server on PostgreSQL', { skip: noPostgres }, () => {
  const openStore = (url: string) => openPostgresStore({ url, quotas: QUOTAS });

  it('does not start with a clock 400 days ahead, and removes nothing', async () => {
    const url = await postgres.createLedger('ahead');
    const keyIds = await fill(await openStore(url));
    const env = { PHM_DATABASE_URL: url, ...SECRET, ...RETENTION, ...shifted() };
    await assert.rejects(Server.start(join(dataDir, 'pg'), env), {
      message: /400 days ahead of the database's clock: .*PHM_MAX_CLOCK_SKEW_SECONDS allows 60 s/,
    });
    assert.equal(await countLeft(await openStore(url), keyIds), 30);
  });

  it('removes nothing after a clock jump, reports the skew, and keeps the quota month', async () => {
    const url = await postgres.createLedger('jumps');
    const store = await openStore(url);
    const keyIds = await fill(store);
    const flag = join(dataDir, 'postgres-jump');
    const env = { PHM_DATABASE_URL: url, ...SECRET, ...RETENTION, ...shifted(flag) };
    const server = await Server.start(join(dataDir, 'pg'), {
      ...env,
      PHM_METRICS_PORT: '0',
      PHM_DEMO_KEYS: 'on',
    });
    try {
      writeFileSync(flag, '');
      await server.logged('the clock is in doubt');
      const answer = await server.generate({ security_level: 256 });
      assert.equal(answer.status, 200);
      assert.match(answer.headers.get('ratelimit') ?? '', /"quota";r=999;t=/);
      const page = await server.scrape();
      assert.match(page, /^phm_clock_believed 0$/m);
      const skew = Number(/^phm_clock_skew_seconds (.*)$/m.exec(page)?.[1]);
      assert.ok(Math.abs(skew - AHEAD_MS / 1000) < 5, `${skew}`);
      await firstUpkeep(server);
    } finally {
      assert.equal(await server.stop(), 0);
    }
    const months = await postgres.query(
      'jumps',
      'SELECT month, used::integer FROM usage ORDER BY 1',
    );
    const now = new Date();
    const month = now.getUTCFullYear() * 12 + now.getUTCMonth();
    assert.deepEqual(months.slice(-1), [{ month, used: 1 }]);
    assert.equal(await countLeft(store, keyIds), 30);
  });
});
