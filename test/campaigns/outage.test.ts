/**
 * Every failure of a ledger and its recovery: the whole table of docs/ledger.md, on real servers. Each row
 * reports the longest wait of a client, which a full campaign limits. Nearly all of the time is waiting, so four servers, one
 * on SQLite and three on PostgreSQL, each with a database of its own, take their shares of the rows side by side.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chownSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it, type TestContext } from 'node:test';
import type pg from 'pg';
import { Load } from '../support/clients/mixed-load.ts';
import { fillDisk, mountDisk, noMount } from '../support/faults/disk.ts';
import { FLOOD, flood, type Outage, outlive } from '../support/faults/outage.ts';
import { type Account, addAccounts, queryPostgres, querySqlite } from '../support/ledgers/books.ts';
import { noPostgres, PASSWORD, Postgres } from '../support/ledgers/postgres.ts';
import { WayToServer } from '../support/ledgers/way.ts';
import { reportTime } from '../support/run/campaign.ts';
import { until } from '../support/run/until.ts';
import { makeDataDir, removeDataDir, runPhm, Server } from '../support/servers/server.ts';

/** Longest time for any response, whatever fails: see the table. Includes time for a busy machine. */
const LONGEST_SECONDS = 75;

/** A free place for each connection of a flood. */
const FOR_A_FLOOD = { PHM_MAX_CONNECTIONS: String(FLOOD + 1_000), PHM_RATE_LIMITS: 'off' };

/** Longest time from SIGTERM to exit, including the drain. */
const LONGEST_END_SECONDS = 35;

function report(test: TestContext, name: string, ms: number, atMost = LONGEST_SECONDS): void {
  reportTime(test, { name, value: ms / 1000, atMost, unit: 's' });
}

async function measure(test: TestContext, outage: Outage, load: Load): Promise<void> {
  report(test, 'the longest wait of a client', await outlive(outage, load));
}

/**
 * However many requests arrive, each is refused, with a time to retry. On a machine that is slow or stops, clients take longer
 * to send than the server waits; a full campaign allows none of them.
 */
async function measureFlood(test: TestContext, server: Server, account: Account): Promise<void> {
  const { tookMs, counts, withoutRetryAfter } = await flood(server, account);
  test.diagnostic(JSON.stringify(Object.fromEntries(counts)));
  report(test, 'the last refusal of a flood', tookMs);
  const sum = (...names: string[]) =>
    names.reduce((total, name) => total + (counts.get(name) ?? 0), 0);
  const [refused, late] = [
    sum('503 ledger_unavailable', '503 overloaded'),
    sum('408 request_timeout', ''),
  ];
  reportTime(test, { name: 'requests that came too late', value: late, atMost: 0, unit: '' });
  assert.equal(refused + late, FLOOD);
  assert.ok(refused > 0 && withoutRetryAfter <= late, `${withoutRetryAfter} without Retry-After`);
}

let turn: Promise<unknown> = Promise.resolve();

/** Runs one flood at a time: the connections of two are more than a process may open. */
function inTurn(floods: () => Promise<void>): Promise<void> {
  const done = turn.then(floods);
  turn = done.catch(() => {});
  return done;
}

describe('an outage of the ledger', { concurrency: true }, () => {
  describe('SQLite', { concurrency: 1 }, () => {
    const dataDir = makeDataDir();
    const path = join(dataDir, 'phm.db');
    const lock = () => {
      const database = new DatabaseSync(path, { timeout: 10_000 });
      database.exec('BEGIN IMMEDIATE');
      return () => database.close();
    };
    let server: Server;
    let accounts: [Account, ...Account[]];
    let load: Load;
    let freeDisk = () => {};

    before(async () => {
      if (!noMount) freeDisk = mountDisk(dataDir, '16m');
      server = await Server.start(dataDir, FOR_A_FLOOD);
      const made = await addAccounts({ kind: 'sqlite', path }, ['enterprise', 'enterprise']);
      accounts = made as [Account, ...Account[]];
      load = new Load(accounts.slice(0, 1), Math.random);
    });
    after(async () => {
      await server.stop('SIGKILL');
      freeDisk();
      removeDataDir(dataDir);
    });
    const outage = (begin: Outage['begin'], end: Outage['end']): Outage => {
      return { server, accounts, query: querySqlite(dataDir), begin, end };
    };

    it('locked by another process, flooded', async (test) =>
      inTurn(async () => {
        const release = lock();
        try {
          await measureFlood(test, server, accounts[1] as Account);
        } finally {
          release();
        }
        assert.equal(await load.generate(server, accounts[0]), true);
      }));

    it('on a full disk', { skip: noMount }, async (test) => {
      const ballast = join(dataDir, 'ballast');
      const fill = () => fillDisk(ballast);
      await measure(
        test,
        outage(fill, () => rmSync(ballast, { force: true })),
        load,
      );
    });

    it('on a full disk: is not ready, and becomes ready when there is room', {
      skip: noMount,
    }, async () => {
      const ballast = join(dataDir, 'ballast');
      const [{ apiKey }] = accounts;
      const isReady = async () => (await server.request('/readyz')).status === 200;
      fillDisk(ballast);
      try {
        await until('the server is not ready', async () => {
          await server.generate({ security_level: 256 }, apiKey);
          return !(await isReady());
        });
        assert.equal((await server.request('/readyz')).body.checks.ledger, 'unavailable');
      } finally {
        rmSync(ballast, { force: true });
      }
      await until('the server is ready again', isReady);
      assert.equal((await server.generate({ security_level: 256 }, apiKey)).status, 200);
    });

    it('locked by another process', async (test) => {
      let release = () => {};
      const begin = () => {
        release = lock();
      };
      await measure(
        test,
        outage(begin, () => release()),
        load,
      );
    });

    it('locked: ends on SIGTERM', async (test) => {
      const release = lock();
      const underWay = server.generate({ security_level: 128 }, accounts[0].apiKey);
      const began = performance.now();
      const code = await server.stop('SIGTERM');
      release();
      report(test, 'the end on SIGTERM', performance.now() - began, LONGEST_END_SECONDS);
      assert.equal(code, 0);
      assert.equal((await underWay).body.code, 'ledger_unavailable');
    });

    it('read-only at startup: fails with the reason', { skip: noMount }, async () => {
      execFileSync('mount', ['-o', 'remount,ro', dataDir]);
      const { code, stderr } = await runPhm(['serve'], dataDir, { PHM_PORT: '0' });
      execFileSync('mount', ['-o', 'remount,rw', dataDir]);
      assert.equal(code, 1);
      assert.match(stderr, /cannot open the database .*PHM_DATA_DIR.*can write to/s);
    });
  });

  /** Shares of about the same length. The number in a row is that of its share. */
  for (const share of [1, 2, 3])
    describe(`PostgreSQL, share ${share}`, { skip: noPostgres, concurrency: 1 }, () => {
      const dataDir = makeDataDir();
      const disk = join(dataDir, 'disk');
      let postgres: Postgres;
      let way: WayToServer;
      let server: Server;
      let accounts: [Account, ...Account[]];
      let load: Load;
      let keeper: pg.Client;
      let freeDisk = () => {};

      before(async () => {
        // A server of its own: tests stop it, kill it and change its settings.
        postgres = await Postgres.start();
        await postgres.createDatabase('outage');
        way = await WayToServer.start(postgres.port);
        const url = postgres.url('outage', way.port);
        const env = { ...FOR_A_FLOOD, PHM_MASTER_KEY: '5a'.repeat(32), PHM_MIGRATE: 'auto' };
        server = await Server.start(dataDir, { ...env, PHM_DATABASE_URL: url });
        const made = await addAccounts({ kind: 'postgres', url }, ['enterprise', 'enterprise']);
        accounts = made as [Account, ...Account[]];
        load = new Load(accounts.slice(0, 1), Math.random);
      });
      after(async () => {
        await server.stop('SIGKILL');
        way.close();
        await postgres.remove();
        freeDisk();
        removeDataDir(dataDir);
      });

      const run = (sql: string) => postgres.query('outage', sql);
      const endSessions = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE pid <> pg_backend_pid() AND application_name = 'phm'`;
      const setStandbys = async (names: string) => {
        await run(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
        await run('SELECT pg_reload_conf()');
      };
      const others: pg.Client[] = [];

      /** A failure: what fails, how it begins and how it ends. */
      const rows: [
        share: 1 | 2 | 3,
        name: string,
        begin: () => Promise<unknown> | unknown,
        end: () => Promise<unknown> | unknown,
      ][] = [
        [
          1,
          'with rows locked by another program',
          async () => {
            keeper = await postgres.connect('outage');
            await keeper.query('BEGIN; SELECT FROM accounts FOR UPDATE');
          },
          () => keeper.end(),
        ],
        [
          1,
          'slower than the statement timeout',
          () =>
            run(`CREATE FUNCTION slow() RETURNS boolean LANGUAGE plpgsql
            AS $$ BEGIN PERFORM pg_sleep(60); RETURN true; END $$;
          ALTER TABLE ledger ADD CONSTRAINT slow CHECK (slow()) NOT VALID`),
          () => run('ALTER TABLE ledger DROP CONSTRAINT slow; DROP FUNCTION slow()'),
        ],
        [1, 'stopped', () => postgres.stop('INT'), () => postgres.restart()],
        [1, 'killed', () => postgres.stop('KILL'), () => postgres.restart()],
        [
          1,
          'disconnected',
          () => {
            way.state = 'shut';
            way.cutAll();
          },
          () => {
            way.state = 'open';
          },
        ],
        [
          3,
          'disconnected while an answer is in transit',
          async () => {
            way.cut = 'answer';
            while (way.cut !== null) await new Promise(setImmediate);
            way.state = 'shut';
            way.cutAll();
          },
          () => {
            way.state = 'open';
          },
        ],
        [
          2,
          'behind a stalled connection',
          () => {
            way.state = 'stalled';
          },
          () => {
            way.state = 'open';
            way.cutAll();
          },
        ],
        [2, 'without its synchronous standby', () => setStandbys('missing'), () => setStandbys('')],
        [
          2,
          'read-only',
          async () => {
            await run('ALTER DATABASE outage SET default_transaction_read_only = on');
            await run(endSessions);
          },
          () =>
            postgres.query('postgres', 'ALTER DATABASE outage RESET default_transaction_read_only'),
        ],
        [
          3,
          'out of connections',
          async () => {
            // The server may reuse a freed place, so this continues until none is left.
            for (let theirs = 1; theirs > 0; ) {
              for (let free = true; free; ) {
                await postgres.connect('outage').then(
                  (client) => others.push(client),
                  () => {
                    free = false;
                  },
                );
              }
              const ended = await others[0]?.query(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'phm'",
              );
              theirs = ended?.rowCount ?? 0;
            }
          },
          () => Promise.all(others.map((client) => client.end())),
        ],
        [
          3,
          'with another password',
          async () => {
            keeper = await postgres.connect('outage');
            await keeper.query("ALTER ROLE phm PASSWORD 'another'");
            await keeper.query(endSessions);
          },
          async () => {
            await keeper.query(`ALTER ROLE phm PASSWORD '${PASSWORD}'`);
            await keeper.end();
          },
        ],
      ];

      for (const [, name, begin, end] of rows.filter(([of]) => of === share)) {
        it(name, async (test) => {
          const query = queryPostgres(postgres, 'outage');
          await measure(test, { server, accounts, query, begin, end }, load);
        });
      }

      if (share < 3) return;

      it('on a full disk', { skip: noMount }, async (test) => {
        freeDisk = mountDisk(disk, '24m');
        chownSync(disk, 65_534, 65_534);
        execFileSync('chmod', ['o+x', dataDir]);
        await run(`CREATE TABLESPACE small LOCATION '${disk}'`);
        // Includes the monthly tables of the ledger and their indexes, which are separate tables.
        await run(`DO $$ DECLARE one regclass; BEGIN
      FOR one IN SELECT oid FROM pg_class WHERE relkind = 'r' AND relname ~ '^(ledger_|rollup_|usage|writers)'
      LOOP EXECUTE format('ALTER TABLE %s SET TABLESPACE small', one); END LOOP;
      FOR one IN SELECT oid FROM pg_class WHERE relkind = 'i' AND relname ~ '^ledger_[0-9]'
      LOOP EXECUTE format('ALTER INDEX %s SET TABLESPACE small', one); END LOOP;
    END $$`);
        const ballast = join(disk, 'ballast');
        const query = queryPostgres(postgres, 'outage');
        const begin = () => fillDisk(ballast);
        const end = () => rmSync(ballast, { force: true });
        await measure(test, { server, accounts, query, begin, end }, load);
      });

      it('behind a stalled connection, flooded, and stopped with SIGTERM', async (test) =>
        inTurn(async () => {
          assert.equal(await load.generate(server, accounts[0]), true);
          way.state = 'stalled';
          await measureFlood(test, server, accounts[0]);
          const began = performance.now();
          test.diagnostic(`ended with ${await server.stop('SIGTERM')}`);
          report(test, 'the end on SIGTERM', performance.now() - began, LONGEST_END_SECONDS);
        }));
    });
});
