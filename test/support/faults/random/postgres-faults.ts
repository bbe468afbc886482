/** Faults of PostgreSQL, its standby and the network between it and the servers. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { PASSWORD } from '../../ledgers/postgres.ts';
import { fillDisk } from '../disk.ts';
import type { Dice } from './dice.ts';
import { ROLE } from './postgres-pair.ts';
import type { PostgresSite } from './postgres-site.ts';
import { signalAll } from './processes.ts';
import { type Fault, hold } from './site.ts';

type PostgresFault = Fault<PostgresSite>;

const THEIRS = `FROM pg_stat_activity WHERE usename = '${ROLE}'`;
const WAITERS = `${THEIRS} AND wait_event = 'SyncRep'`;

/** Applies a function to backends several times, because servers reconnect. */
async function applyToBackends(
  { pair }: PostgresSite,
  dice: Dice,
  call: string,
  which: string,
): Promise<string> {
  const times = dice.int(1, 6);
  let hit = 0;
  for (let i = 0; i < times; i++) {
    const [row] = await pair.admin(`SELECT count(${call})::integer AS n ${which}`);
    hit += Number(row?.n);
    await delay(dice.int(50, 600));
  }
  return `${times} times, ${hit} backends`;
}

/** Stops the standby, so that commits wait, and then cancels or terminates the waiting backends. */
async function withStandbyAway(site: PostgresSite, dice: Dice, call: string): Promise<string> {
  await site.pair.standby.stop('fast');
  await delay(dice.int(500, 2_500));
  return applyToBackends(site, dice, call, WAITERS);
}

async function stopProcesses(pids: readonly number[], dice: Dice, mostMs: number): Promise<string> {
  signalAll(pids, 'SIGSTOP');
  try {
    return `${pids.length} processes, ${await hold(dice, 1_000, mostMs)}`;
  } finally {
    signalAll(pids, 'SIGCONT');
  }
}

const backends = async ({ pair }: PostgresSite, which: string) =>
  (await pair.admin(`SELECT pid ${which}`)).map(({ pid }) => Number(pid));

/** Returns some of the servers' network paths, but never that of commands. */
const someWays = ({ pair, replicas }: PostgresSite, dice: Dice) =>
  dice.some(pair.ways.slice(0, replicas.length));

/** Changes a setting with one statement, terminates sessions without it, and restores it. */
async function withSetting(
  { pair }: PostgresSite,
  dice: Dice,
  set: string,
  reset: string,
): Promise<string> {
  const client = await pair.connect('postgres');
  try {
    await client.query(set);
    await client.query(`SELECT pg_terminate_backend(pid) ${THEIRS}`);
    return await hold(dice, 1_000, 9_000);
  } finally {
    await client.query(reset);
    await client.end();
  }
}

const restart = (mode: 'fast' | 'immediate' | 'kill') => async (site: PostgresSite, dice: Dice) => {
  await site.pair.primary.stop(mode);
  const away = await hold(dice, 0, 6_000);
  await site.pair.primary.start();
  return `away for ${away}`;
};

const lock = (sql: string) => (site: PostgresSite, dice: Dice) =>
  site.holdTransaction(sql, dice, 2_000, 13_000);

async function takeConnections({ pair }: PostgresSite, dice: Dice): Promise<string> {
  const others: pg.Client[] = [];
  try {
    for (let free = true; free; ) {
      await pair.connect('postgres').then(
        (client) => others.push(client),
        () => {
          free = false;
        },
      );
    }
    await others[0]?.query(`SELECT pg_terminate_backend(pid) ${THEIRS}`);
    return `${others.length} taken, ${await hold(dice, 1_000, 8_000)}`;
  } finally {
    await Promise.all(others.map((client) => client.end()));
  }
}

async function dump(site: PostgresSite): Promise<string> {
  const file = join(site.options.folder, 'dump');
  const failure = await site.pair.dump(file).then(
    () => null,
    ({ stderr }) => String(stderr),
  );
  if (failure) site.findings.push(`pg_dump failed: ${failure}`);
  return '';
}

export const POSTGRES_FAULTS: readonly PostgresFault[] = [
  { name: 'database: stopped (fast), started again', run: restart('fast') },
  { name: 'database: stopped (immediate), started again', run: restart('immediate') },
  { name: 'database: kill -9 of the postmaster', run: restart('kill') },
  {
    name: 'database: kill -9 of one backend',
    run: async (site, dice) => {
      const pids = await backends(site, THEIRS);
      signalAll(pids.length > 0 ? [dice.pick(pids)] : [], 'SIGKILL');
      await delay(500);
      return '';
    },
  },
  {
    name: 'database and all servers: kill -9 at once',
    run: async ({ pair, replicas }, dice) => {
      for (const replica of replicas) replica.signal('SIGKILL');
      await pair.primary.stop('kill');
      const away = await hold(dice, 0, 4_000);
      await pair.primary.start();
      return `away for ${away}`;
    },
  },
  {
    name: 'servers: started while the database is down',
    run: async ({ pair, replicas }, dice) => {
      await pair.primary.stop('fast');
      for (const replica of dice.some(replicas)) replica.signal('SIGKILL');
      const away = await hold(dice, 2_000, 6_000);
      await pair.primary.start();
      return `away for ${away}`;
    },
  },
  {
    name: 'backends: all terminated',
    run: (site, dice) => applyToBackends(site, dice, 'pg_terminate_backend(pid)', THEIRS),
  },
  {
    name: 'backends: active ones terminated',
    run: (site, dice) =>
      applyToBackends(site, dice, 'pg_terminate_backend(pid)', `${THEIRS} AND state = 'active'`),
  },
  {
    name: 'backends: statements cancelled',
    run: (site, dice) => applyToBackends(site, dice, 'pg_cancel_backend(pid)', THEIRS),
  },
  {
    name: 'postmaster: SIGSTOP for a while',
    run: ({ pair }, dice) => stopProcesses(pair.primary.processes().slice(0, 1), dice, 8_000),
  },
  {
    name: 'database: SIGSTOP of all its processes',
    run: ({ pair }, dice) => stopProcesses(pair.primary.processes(), dice, 12_000),
  },
  {
    name: 'backends: SIGSTOP for a while',
    run: async (site, dice) => stopProcesses(await backends(site, THEIRS), dice, 12_000),
  },
  {
    name: 'walsender: SIGSTOP for a while',
    run: async (site, dice) =>
      stopProcesses(await backends(site, 'FROM pg_stat_replication'), dice, 9_000),
  },
  {
    name: 'database: read-only',
    run: (site, dice) =>
      withSetting(
        site,
        dice,
        'ALTER DATABASE service SET default_transaction_read_only = on',
        'ALTER DATABASE service RESET default_transaction_read_only',
      ),
  },
  {
    name: 'database: connection limit of the role',
    run: (site, dice) =>
      withSetting(
        site,
        dice,
        `ALTER ROLE ${ROLE} CONNECTION LIMIT ${dice.int(0, 3)}`,
        `ALTER ROLE ${ROLE} CONNECTION LIMIT -1`,
      ),
  },
  {
    name: 'database: another password',
    run: (site, dice) =>
      withSetting(
        site,
        dice,
        `ALTER ROLE ${ROLE} PASSWORD 'another'`,
        `ALTER ROLE ${ROLE} PASSWORD '${PASSWORD}'`,
      ),
  },
  { name: 'database: no connection left', run: takeConnections },
  { name: 'lock: rows of accounts', run: lock('SELECT FROM accounts FOR UPDATE') },
  { name: 'lock: rows of usage', run: lock('SELECT FROM usage FOR UPDATE') },
  { name: 'lock: rows of writers', run: lock('SELECT FROM writers FOR UPDATE') },
  { name: 'lock: table ledger, exclusive', run: lock('LOCK TABLE ledger IN EXCLUSIVE MODE') },
  { name: 'lock: table ledger, all access', run: lock('LOCK TABLE ledger') },
  {
    name: 'lock: this month of the ledger',
    run: lock(
      `DO $$ BEGIN EXECUTE 'LOCK TABLE ledger_' || to_char(now() AT TIME ZONE 'UTC', 'YYYYMM'); END $$`,
    ),
  },
  { name: 'lock: table usage', run: lock('LOCK TABLE usage') },
  { name: 'lock: table rollup_minute', run: lock('LOCK TABLE rollup_minute IN EXCLUSIVE MODE') },
  {
    name: 'standby: stopped, started again',
    run: async ({ pair }, dice) => {
      await pair.standby.stop('fast');
      const away = await hold(dice, 500, 12_000);
      await pair.standby.start();
      return `away for ${away}`;
    },
  },
  {
    name: 'standby: kill -9, started again',
    run: async ({ pair }, dice) => {
      await pair.standby.stop('kill');
      const away = await hold(dice, 500, 6_000);
      await pair.standby.start();
      return `away for ${away}`;
    },
  },
  {
    name: 'standby: SIGSTOP of all its processes',
    run: ({ pair }, dice) => stopProcesses(pair.standby.processes(), dice, 12_000),
  },
  {
    name: 'standby away: waiting commits terminated',
    run: async (site, dice) => {
      const hit = await withStandbyAway(site, dice, 'pg_terminate_backend(pid)');
      await site.pair.standby.start();
      return hit;
    },
  },
  {
    name: 'standby away: waiting commits cancelled',
    run: async (site, dice) => {
      const hit = await withStandbyAway(site, dice, 'pg_cancel_backend(pid)');
      await site.pair.standby.start();
      return hit;
    },
  },
  {
    name: 'standby away: servers killed while commits wait',
    run: async (site, dice) => {
      await site.pair.standby.stop('fast');
      await delay(dice.int(500, 2_000));
      for (const replica of dice.some(site.replicas)) replica.signal('SIGKILL');
      const away = await hold(dice, 500, 3_000);
      await site.pair.standby.start();
      return `away for ${away}`;
    },
  },
  {
    name: 'failover',
    run: async ({ pair }) => {
      await pair.failOver();
      return '';
    },
  },
  {
    name: 'failover after waiting commits were terminated',
    run: async (site, dice) => {
      const hit = await withStandbyAway(site, dice, 'pg_terminate_backend(pid)');
      await failOverAway(site);
      return hit;
    },
  },
  {
    name: 'failover after waiting commits were cancelled',
    run: async (site, dice) => {
      const hit = await withStandbyAway(site, dice, 'pg_cancel_backend(pid)');
      await failOverAway(site);
      return hit;
    },
  },
  {
    name: 'failover while commits wait',
    run: async (site, dice) => {
      await site.pair.standby.stop('fast');
      const waited = await hold(dice, 1_000, 9_000);
      await failOverAway(site);
      return `after ${waited}`;
    },
  },
  {
    name: 'disk of the database: full',
    skip: ({ pair }) => !pair.hasSmallDisk && 'this machine cannot mount a small disk',
    run: async ({ pair }, dice) => {
      const { ballast } = pair;
      try {
        fillDisk(ballast);
        return await hold(dice, 5_000, 14_000);
      } finally {
        rmSync(ballast, { force: true });
      }
    },
  },
  {
    name: 'network: cut',
    run: async (site, dice) => {
      const cut = someWays(site, dice);
      for (const way of cut) {
        way.state = 'shut';
        way.cutAll();
      }
      const held = await hold(dice, 500, 8_000);
      for (const way of cut) way.state = 'open';
      return `${cut.length} of ${site.replicas.length} servers, ${held}`;
    },
  },
  {
    name: 'network: connections cut once',
    run: async (site, dice) => {
      const times = dice.int(1, 5);
      for (let i = 0; i < times; i++) {
        for (const way of someWays(site, dice)) way.cutAll();
        await delay(dice.int(20, 400));
      }
      return `${times} times`;
    },
  },
  {
    name: 'network: swallows everything',
    run: async (site, dice) => {
      const stalled = someWays(site, dice);
      for (const way of stalled) way.state = 'stalled';
      const held = await hold(dice, 1_000, 12_000);
      for (const way of stalled) {
        way.state = 'open';
        way.cutAll();
      }
      return `${stalled.length} of ${site.replicas.length} servers, ${held}`;
    },
  },
  ...(['answer', 'request'] as const).map(
    (cut): PostgresFault => ({
      name: `network: cut with the ${cut} of a commit on its way`,
      run: async (site, dice) => {
        const times = dice.int(1, 5);
        for (let i = 0; i < times; i++) {
          for (const way of someWays(site, dice)) way.cut = cut;
          await delay(dice.int(100, 600));
        }
        return `${times} times`;
      },
    }),
  ),
  {
    name: 'network: a commit arrives after it was given up',
    run: async (site, dice) => {
      const way = dice.pick(someWays(site, dice));
      way.cut = 'delay';
      await delay(dice.int(500, 2_000));
      await Promise.race([way.deliver?.(), delay(5_000)]);
      way.cut = null;
      return '';
    },
  },
  { name: 'command: pg_dump under load', run: dump },
  {
    name: 'command: VACUUM FULL of usage, ANALYZE',
    run: async ({ pair }) => {
      await pair.admin('VACUUM FULL usage');
      await pair.admin('ANALYZE');
      return '';
    },
  },
];

/** Fails over while the standby is not running: starts it without a primary to follow. */
async function failOverAway({ pair }: PostgresSite): Promise<void> {
  await pair.primary.stop('kill');
  await pair.standby.start();
  await pair.failOver();
}
