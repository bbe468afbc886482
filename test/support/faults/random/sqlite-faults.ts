/** Faults of a SQLite database below its servers. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../run/free-port.ts';
import type { Environment } from '../../servers/server.ts';
import { fillDisk, noMount } from '../disk.ts';
import type { Dice } from './dice.ts';
import { Replica } from './replica.ts';
import { type Fault, hold } from './site.ts';
import type { SqliteSite } from './sqlite-site.ts';

type SqliteFault = Fault<SqliteSite>;

/** Begins a transaction in its own process and reports it. */
const HOLDER = `
  const { DatabaseSync } = require('node:sqlite');
  const database = new DatabaseSync(process.argv[1], { timeout: 30000 });
  database.exec(process.argv[2]);
  process.stdout.write('held');
  setTimeout(() => { database.exec('ROLLBACK'); }, 2 ** 30);`;

async function holdLock(database: string, sql: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['-e', HOLDER, database, sql], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const held = once(child.stdout, 'data');
  await Promise.race([held, once(child, 'exit')]);
  return child;
}

const lock =
  (sql: string, signal: NodeJS.Signals | null) => async (site: SqliteSite, dice: Dice) => {
    const child = await holdLock(site.database, sql);
    if (signal) child.kill(signal);
    const held = await hold(dice, 1_000, 12_000);
    await end(child);
    return held;
  };

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

/** Starts a server on a folder without a sound ledger. The server must refuse to start. */
async function startOn(
  site: SqliteSite,
  dataDir: string,
  extra: Environment = {},
): Promise<string> {
  const events: string[] = [];
  const replica = new Replica({
    name: 'server on a bad file',
    checkout: site.options.checkout,
    dataDir,
    port: await freePort(),
    env: () => ({ ...site.environment(0), PHM_DATA_DIR: dataDir, ...extra }),
    logFile: join(site.options.folder, 'server-bad-file.log'),
    onEvent: (event) => events.push(event),
  });
  const started = replica.start();
  while (events.length === 0 && replica.listeningSince === null) await delay(50);
  const served = replica.listeningSince !== null;
  await replica.stop('SIGKILL');
  await started;
  if (!served) return 'refused to start';
  site.findings.push('a server started on a file that is damaged or empty');
  return 'started';
}

async function backUp(site: SqliteSite, file: string): Promise<string> {
  const before = [...site.clients.released];
  const { code, stderr } = await site.phm(['ledger', 'backup', file]);
  if (code !== 0) return `ended with ${code}: ${stderr}`;
  const copy = new DatabaseSync(file, { readOnly: true });
  try {
    const rows = copy.prepare('SELECT key_id FROM ledger').all();
    const ids = new Set(
      rows.map(({ key_id: id }) => Buffer.from(id as Uint8Array).toString('hex')),
    );
    const missing = before.filter(({ keyId }) => !ids.has(keyId)).length;
    if (missing > 0) site.findings.push(`a backup lacks ${missing} keys released before it`);
    const [check] = copy.prepare('PRAGMA integrity_check').all();
    if (check?.integrity_check !== 'ok') site.findings.push('a backup is damaged');
    return `${rows.length} rows`;
  } finally {
    copy.close();
  }
}

/** Copies the ledger to its own folder, as a stopped server would leave it. */
async function copyLedger(site: SqliteSite): Promise<string> {
  const folder = join(site.options.folder, 'copy');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700 });
  const file = join(site.options.folder, 'copied.db');
  rmSync(file, { force: true });
  await backUp(site, file);
  copyFileSync(file, join(folder, 'phm.db'));
  return folder;
}

/** Truncates the log. Otherwise commits would continue in its free space while the disk is full. */
function emptyLog(file: string): void {
  const database = new DatabaseSync(file, { timeout: 5_000 });
  try {
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } finally {
    database.close();
  }
}

/** Overwrites some bytes at the start of random pages, except the first page. */
function damage(file: string, dice: Dice): string {
  const PAGE = 4_096;
  const pages = Math.floor(statSync(file).size / PAGE);
  const times = dice.int(1, 5);
  const open = openSync(file, 'r+');
  for (let i = 0; i < times; i++) {
    writeSync(open, Buffer.alloc(dice.int(20, 60), 0xa5), 0, null, dice.int(1, pages - 1) * PAGE);
  }
  closeSync(open);
  return `${times} pages`;
}

export const SQLITE_FAULTS: readonly SqliteFault[] = [
  { name: 'locked by another process', run: lock('BEGIN IMMEDIATE', null) },
  { name: 'locked by another process, exclusively', run: lock('BEGIN EXCLUSIVE', null) },
  { name: 'locked by a process that is stopped', run: lock('BEGIN IMMEDIATE', 'SIGSTOP') },
  {
    name: 'read by a process that is stopped',
    run: lock('BEGIN; SELECT count(*) FROM ledger', 'SIGSTOP'),
  },
  {
    name: 'disk full',
    skip: () => noMount,
    run: async ({ dataDir, database }, dice) => {
      const ballast = join(dataDir, 'ballast');
      try {
        emptyLog(database);
        fillDisk(ballast);
        return await hold(dice, 5_000, 14_000);
      } finally {
        rmSync(ballast, { force: true });
      }
    },
  },
  {
    name: 'file size limit',
    run: async ({ replicas, database }, dice) => {
      const limited = dice.some(replicas).flatMap(({ pid }) => pid ?? []);
      const limit = statSync(database).size;
      for (const pid of limited) execFileSync('prlimit', ['--pid', `${pid}`, `--fsize=${limit}:`]);
      const held = await hold(dice, 1_000, 8_000);
      for (const pid of limited) {
        execFileSync('prlimit', ['--pid', `${pid}`, '--fsize=unlimited:']);
      }
      return `${limited.length} servers, ${held}`;
    },
  },
  {
    name: 'file renamed, and back',
    run: async ({ database }, dice) => {
      renameSync(database, `${database}.away`);
      const held = await hold(dice, 500, 8_000);
      renameSync(`${database}.away`, database);
      return held;
    },
  },
  {
    name: 'command: backup under load',
    run: async (site) => {
      const file = join(site.options.folder, 'backup.db');
      rmSync(file, { force: true });
      return backUp(site, file);
    },
  },
  {
    name: 'command: backup, kill -9',
    run: async (site, dice) => {
      const file = join(site.options.folder, 'killed.db');
      rmSync(file, { force: true });
      const args = [join(site.options.checkout, 'src/main.mjs'), 'ledger', 'backup', file];
      const env = { PATH: process.env.PATH ?? '', ...site.environment() };
      const child = spawn(process.execPath, args, { env, stdio: 'ignore' });
      const held = await hold(dice, 200, 2_000);
      await end(child);
      return `after ${held}`;
    },
  },
  {
    name: 'servers: kill -9, all at once',
    run: async ({ replicas }) => {
      for (const replica of replicas) replica.signal('SIGKILL');
      await delay(500);
      return '';
    },
  },
  {
    name: 'servers: kill -9 while the ledger is locked',
    run: async (site, dice) => {
      const child = await holdLock(site.database, 'BEGIN IMMEDIATE');
      await delay(dice.int(200, 1_500));
      for (const replica of dice.some(site.replicas)) replica.signal('SIGKILL');
      const held = await hold(dice, 500, 4_000);
      await end(child);
      return held;
    },
  },
  {
    name: 'start on a damaged copy',
    run: async (site, dice) => {
      const folder = await copyLedger(site);
      const hurt = damage(join(folder, 'phm.db'), dice);
      return `${hurt}: ${await startOn(site, folder)}`;
    },
  },
  {
    name: 'start on a database of 0 bytes beside a secret',
    run: async (site) => {
      const folder = join(site.options.folder, 'empty');
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder, { mode: 0o700 });
      writeFileSync(join(folder, 'phm.db'), '');
      writeFileSync(join(folder, 'master.key'), `1:${'5a'.repeat(32)}\n`, { mode: 0o600 });
      // Without these variables the server reads the secret from the file.
      return startOn(site, folder, { PHM_MASTER_KEY: '', PHM_MASTER_KEY_VERSION: '' });
    },
  },
];
