/**
 * Readiness through faults of PostgreSQL that keep its connections open: locks, a missing privilege, a hung
 * database, a full disk. Of two servers, one has traffic and one has none. About 70 s. The load is random and
 * has no seed.
 *
 * Expected for each of the five faults: each server is unready until it ends, and ready again; but ready while the row of an
 * account is locked, because other accounts get their keys. Only real commits see one further fault. The counts are exact at
 * the end. A full campaign limits the times, `test/service/ledger/readiness.test.ts` simulates them.
 */
import assert from 'node:assert/strict';
import { chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type pg from 'pg';
import { Load } from '../support/clients/mixed-load.ts';
import { fillDisk, mountDisk, noMount } from '../support/faults/disk.ts';
import { type Account, addAccounts, checkBooks, queryPostgres } from '../support/ledgers/books.ts';
import { noPostgres, PASSWORD, Postgres } from '../support/ledgers/postgres.ts';
import { reportTime } from '../support/run/campaign.ts';
import { until } from '../support/run/until.ts';
import {
  checkReadiness,
  type Fault,
  MEASURING_MS,
  type Pair,
  READY_MS,
  ROOM_MS,
  UNREADY_MS,
} from '../support/servers/readiness.ts';
import { makeDataDir, removeDataDir, Server } from '../support/servers/server.ts';

/** Returns the value of a metric without labels. */
async function metric({ metricsAddress }: Server, name: string): Promise<string | undefined> {
  const text = await (await fetch(`${metricsAddress}`)).text();
  return new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1];
}

describe('readiness with PostgreSQL', { skip: noPostgres }, () => {
  const folder = makeDataDir();
  const dataDirs = [makeDataDir(), makeDataDir()] as const;
  const disk = join(folder, 'disk');
  const database = 'readiness';
  let freeDisk = () => {};
  let postgres: Postgres;
  let session: pg.Client;
  let accounts: [Account, Account];
  let pair: Pair;

  before(async () => {
    chmodSync(folder, 0o755);
    const { TMPDIR } = process.env;
    if (!noMount) {
      freeDisk = mountDisk(disk, '300m');
      process.env.TMPDIR = disk;
    }
    postgres = await Postgres.start(undefined, ['max_wal_size=64MB', 'min_wal_size=32MB']);
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
    const url = await postgres.createLedger(database);
    // A role like that of a deployment: unlike a superuser, it can lack a privilege.
    await postgres.query(
      database,
      `CREATE ROLE served LOGIN PASSWORD '${PASSWORD}'; GRANT CREATE ON SCHEMA public TO served;
       GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO served`,
    );
    const made = await addAccounts({ kind: 'postgres', url }, ['enterprise', 'enterprise']);
    accounts = made as [Account, Account];
    const env = {
      PHM_MASTER_KEY: '5a'.repeat(32),
      PHM_RATE_LIMITS: 'off',
      PHM_METRICS_PORT: '0',
      PHM_DATABASE_URL: url.replace('//phm:', '//served:'),
    };
    const [busy, idle] = await Promise.all(dataDirs.map((one) => Server.start(one, env)));
    pair = { busy: busy as Server, idle: idle as Server, load: new Load(accounts, Math.random) };
    session = await postgres.connect(database);
  });
  after(async () => {
    await Promise.all([pair?.busy.stop('SIGKILL'), pair?.idle.stop('SIGKILL')]);
    await session?.end();
    await postgres?.remove();
    freeDisk();
    for (const one of [folder, ...dataDirs]) removeDataDir(one);
  });

  const run = (sql: string) => postgres.query(database, sql);
  const lock = (statement: string) => () => session.query(`BEGIN; ${statement}`);
  const unlock = () => session.query('ROLLBACK');
  let stopped: number[] = [];
  const signal = (name: NodeJS.Signals) => {
    for (const pid of stopped) process.kill(pid, name);
  };

  const rows: [name: string, fault: Fault][] = [
    [
      'a locked table of the ledger',
      { begin: lock('LOCK TABLE rollup_minute IN SHARE MODE'), end: unlock, idleMs: UNREADY_MS },
    ],
    [
      "one account's locked row",
      {
        begin: () =>
          lock(`SELECT FROM accounts WHERE account_id = '${accounts[0].accountId}' FOR UPDATE`)(),
        end: unlock,
        idleMs: null,
      },
    ],
    [
      'a revoked privilege',
      {
        begin: () => run('REVOKE INSERT ON ledger FROM served'),
        end: () => run('GRANT INSERT ON ledger TO served'),
        idleMs: UNREADY_MS,
      },
    ],
    [
      'backends stopped by SIGSTOP',
      {
        begin: async () => {
          const found = await run(
            `SELECT pid FROM pg_stat_activity WHERE application_name = 'phm'`,
          );
          stopped = found.map(({ pid }) => Number(pid));
          signal('SIGSTOP');
        },
        end: () => signal('SIGCONT'),
        idleMs: UNREADY_MS,
      },
    ],
  ];
  for (const [name, fault] of rows) it(name, (test) => checkReadiness(test, pair, fault));

  it('a full disk', { skip: noMount }, async (test) => {
    const ballast = join(disk, 'ballast');
    const begin = async () => {
      // Without a whole segment for its log, which has no room to grow, the database would shut down.
      await run('SELECT pg_switch_wal()');
      fillDisk(ballast);
    };
    await checkReadiness(test, pair, {
      begin,
      end: () => rmSync(ballast, { force: true }),
      idleMs: ROOM_MS,
    });
  });

  it('fails after a run of failed commits that the check cannot see, and shows in the metrics', async (test) => {
    await run(`ALTER TABLE ledger ADD CONSTRAINT refuse CHECK (modulation = 'probe') NOT VALID`);
    const { busy } = pair;
    const generate = () => busy.generate({ security_level: 256 }, accounts[0].apiKey);
    const isReady = async () => (await busy.request('/readyz')).status === 200;
    const measure = async (name: string, atMost: number, event: Promise<void>) => {
      const began = performance.now();
      await event;
      reportTime(test, { name, value: performance.now() - began, atMost, unit: 'ms' });
    };
    const statuses = new Set<number>();
    const unready = until('the server is not ready', async () => {
      if (!(await isReady())) return true;
      statuses.add((await generate()).status);
      return false;
    });
    await measure('unready after failed commits', UNREADY_MS + MEASURING_MS, unready);
    assert.deepEqual([...statuses], [503]);
    assert.equal(await metric(busy, 'phm_ready'), '0');
    assert.equal(await metric(busy, 'phm_ledger_up'), '0');
    await run('ALTER TABLE ledger DROP CONSTRAINT refuse');
    const ready = until('a recorded key makes it ready again', async () => {
      await pair.load.generate(busy, accounts[0]);
      return isReady();
    });
    await measure('ready after a recorded key', READY_MS + MEASURING_MS, ready);
  });

  it('leaves an exact ledger', async () => {
    await pair.load.validateReleased(pair.idle, accounts[0]);
    await checkBooks(queryPostgres(postgres, database), pair.load);
  });
});
