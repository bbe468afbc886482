/**
 * What real servers do by themselves a minute after the start: the first upkeep and the first full check. All servers run
 * side by side, so the file takes little more than that minute. Nothing in it is left to chance.
 *
 * With a right clock, a server removes old rows. The others have a wrong clock and a retention of 30 days, each with 30
 * younger keys. Clock 400 days ahead: the PostgreSQL server does not start; the SQLite server starts, warns and removes 0
 * of 30 rows. Clock that jumps 400 days ahead under a running server: the first upkeep removes 0 of 30 rows in either
 * store.
 *
 * A database is damaged under a running server: in all pages, and in one index entry that only the full check finds.
 * Expected: 503 to everything, not ready, and one error of each kind in the log.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type LedgerStore, openSqliteStore } from '../../src/ledger/index.ts';
import { openPostgresStore } from '../../src/ledger/postgres/store.ts';
import { areRecorded, keyRequest, makeKeyId, makeRow, NOW, QUOTAS } from '../ledger/contract.ts';
import type { Databases } from '../support/ledgers/databases.ts';
import { noPostgres } from '../support/ledgers/postgres.ts';
import { sharedPostgres } from '../support/ledgers/shared-postgres.ts';
import { shiftUrl } from '../support/run/shift-clock.ts';
import { until } from '../support/run/until.ts';
import {
  DEMO_KEY,
  type Environment,
  lastReason,
  makeDataDir,
  removeDataDir,
  runPhm,
  Server,
} from '../support/servers/server.ts';

const DAY_MS = 86_400_000;
const AHEAD_MS = 400 * DAY_MS;
const RETENTION = { PHM_RETENTION_DAYS: '30' };
const SECRET = { PHM_MASTER_KEY: '1:'.concat(Buffer.alloc(32, 7).toString('hex')) };

const dataDir = makeDataDir();
let postgres: Databases;
before(async () => {
  if (!noPostgres) postgres = await sharedPostgres();
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
const firstUpkeep = (server: Server): Promise<void> =>
  until('the first upkeep', () =>
    /old rows were removed|the upkeep of the ledger failed/.test(server.log),
  );

const shifted = (file: string | null = null): Environment => ({
  NODE_OPTIONS: `--import=${shiftUrl(AHEAD_MS, file)}`,
});

const AT_ONCE = { concurrency: true };

describe('the first minute', AT_ONCE, () => {
  describe('a server on SQLite', AT_ONCE, () => {
    const openStore = (folder: string) =>
      openSqliteStore({ path: join(folder, 'phm.db'), quotas: QUOTAS });
    const rowOf = (days: number) => makeRow({ keyId: makeKeyId(Date.now() - days * DAY_MS) });

    it('prunes by PHM_RETENTION_DAYS and logs what it removed', async () => {
      const folder = join(dataDir, 'prunes');
      mkdirSync(folder, { mode: 0o700 });
      const [old, kept] = [rowOf(8), rowOf(6)];
      const accountId = 'acct_e';
      const store = openStore(folder);
      await store.addAccount({
        accountId,
        name: 'e',
        plan: 'enterprise',
        demo: false,
        createdMs: NOW,
      });
      await store.commit([keyRequest(accountId, old), keyRequest(accountId, kept)], []);
      await store.close();
      const server = await Server.start(folder, { PHM_RETENTION_DAYS: '7' });
      try {
        await server.logged('old rows were removed');
        assert.match(server.log, /"rows":1,"minuteSums":0,"partitions":\[\]/);
        assert.equal((await server.generate({ security_level: 256 })).status, 200);
        assert.equal(await server.stop(), 0);
      } finally {
        await server.stop('SIGKILL');
      }
      const again = openStore(folder);
      assert.deepEqual(await areRecorded(again, [old.keyId, kept.keyId]), [false, true]);
      await again.close();
    });

    for (const jumps of [false, true]) {
      const from = jumps ? 'later' : 'at startup';
      it(`removes nothing while its clock is 400 days ahead, ${from}`, async () => {
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
          assert.match(
            server.log,
            /400 days ahead of the newest row .* ledger prune --accept-clock/,
          );
        } finally {
          await server.stop();
        }
        assert.equal(await countLeft(openStore(folder), keyIds), 30);
      });
    }
  });

  describe('a server on PostgreSQL', { ...AT_ONCE, skip: noPostgres }, () => {
    const openStore = (url: string) => openPostgresStore({ url, quotas: QUOTAS });

    it('does not start with a clock 400 days ahead, and removes nothing', async () => {
      const url = await postgres.createLedger('ahead');
      const keyIds = await fill(await openStore(url));
      const env = { PHM_DATABASE_URL: url, ...SECRET, ...RETENTION, ...shifted() };
      await assert.rejects(Server.start(join(dataDir, 'pg-ahead'), env), {
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
      const server = await Server.start(join(dataDir, 'pg-jumps'), {
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
        // The answer of the database may take its time.
        assert.ok(Math.abs(skew - AHEAD_MS / 1000) < 600, `${skew}`);
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

  describe('a server whose database is damaged at run time', AT_ONCE, () => {
    it('answers 503, is not ready, logs the damage once, and does not start again', () =>
      withServer(async (server, path) => {
        writeFileSync(path, readFileSync(path).fill(0x5a, 4096));
        await assertOut(server);
        const told = errors(server);
        assert.equal(told[0], 'the ledger cannot be used');
        // On a slow machine the full check is due by now.
        assert.deepEqual(told, [...new Set(told)], 'each once');
        await server.stop();
        const { code, stderr } = await runPhm(['serve'], server.dataDir);
        assert.equal(code, 1);
        assert.match(lastReason(stderr), /is damaged: .*ledger restore FILE$/m);
      }));

    it('does the same if only the full check after startup finds the damage', () =>
      withServer(async (server, path) => {
        changeIndex(path);
        assert.equal((await server.request('/readyz')).status, 200);
        await server.logged('integrity_check');
        await assertOut(server);
        // They come from two threads.
        await server.logged('the ledger cannot be used', 'the transparency log has stopped');
        const [first, ...rest] = errors(server);
        assert.equal(first, 'the database is damaged');
        assert.deepEqual(rest.sort(), [
          'the ledger cannot be used',
          'the transparency log has stopped',
        ]);
        assert.match(await server.scrape(), /^phm_ledger_damage_found_total 1$/m);
        const found = lines(server).find(({ msg }) => msg === 'the database is damaged');
        assert.equal(found?.check, 'integrity_check');
      }));

    /** Calls back with a server of 300 keys and the path of its database. */
    async function withServer(use: (server: Server, path: string) => Promise<void>): Promise<void> {
      const dataDir = makeDataDir();
      const env = { PHM_RATE_LIMITS: 'off', PHM_METRICS_PORT: '0' };
      let server = await Server.start(dataDir, env);
      try {
        for (let i = 0; i < 300; i++) assert.equal((await generate(server)).status, 200);
        // The last close moves the log into the database.
        await server.stop();
        server = await Server.start(dataDir, env);
        await use(server, join(dataDir, 'phm.db'));
      } finally {
        await server.stop('SIGKILL');
        removeDataDir(dataDir);
      }
    }

    const generate = (one: Server) =>
      one.post('/api/v2/generate', { security_level: 256 }, DEMO_KEY);

    /** Nothing is served for as long as two checks of the ledger take. */
    async function assertOut(server: Server): Promise<void> {
      await until('the server is not ready', async () => {
        const { status, headers, body } = await generate(server);
        assert.deepEqual([status, body.code], [503, 'ledger_unavailable']);
        assert.ok(headers.get('retry-after'));
        return (await server.request('/readyz')).status === 503;
      });
      for (let i = 0; i < 10; i++) {
        await delay(500);
        assert.equal((await generate(server)).status, 503);
        const { status, body } = await server.request('/readyz');
        assert.deepEqual([status, body.checks.ledger], [503, 'unavailable']);
      }
    }

    const lines = (server: Server) =>
      server.log
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as { level: number; msg: string; check?: string });

    /** Returns the errors about the ledger in the log. */
    const errors = (server: Server) =>
      lines(server)
        .filter(({ level }) => level >= 50)
        .map(({ msg }) => msg);
  });
});

const PAGE = 4096;

/**
 * First byte of the pages with entries of the index: merged ones, and recent ones. Rows of the ledger are in pages of
 * the first kind, each with the fingerprint twice.
 */
const LEAVES = [10, 13];

/** Changes a fingerprint only in its index, which no statement of a server notices. */
function changeIndex(path: string): void {
  const database = new DatabaseSync(path, { readOnly: true });
  const sql = 'SELECT commitment FROM ledger ORDER BY fingerprint LIMIT 1 OFFSET 20';
  const { commitment } = database.prepare(sql).get() as { commitment: Uint8Array };
  database.close();
  const file = readFileSync(path);
  const fingerprint = Buffer.from(commitment.subarray(0, 8));
  for (let at = file.indexOf(fingerprint); at >= 0; at = file.indexOf(fingerprint, at + 1)) {
    const isAlone =
      file.indexOf(fingerprint, at + 1) !== at + 8 &&
      file.lastIndexOf(fingerprint, at - 1) !== at - 8;
    if (!isAlone || !LEAVES.includes(file[at - (at % PAGE)] ?? 0)) continue;
    file[at + 7] = (file[at + 7] ?? 0) ^ 1;
    writeFileSync(path, file);
    return;
  }
  assert.fail('the index has the fingerprint');
}
