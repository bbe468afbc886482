/**
 * Readiness through faults of SQLite: a full disk, a held write lock, a missing file, a limit on its size. Of
 * two servers on one database, one has traffic and one has none. About 70 s. The load is random and has no
 * seed. Expected for each fault: each server is unready until it ends, and ready again. The counts are exact at the end.
 */
import { execFileSync } from 'node:child_process';
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { Load } from '../support/clients/mixed-load.ts';
import { fillDisk, mountDisk, noMount } from '../support/faults/disk.ts';
import { type Account, addAccounts, checkBooks, querySqlite } from '../support/ledgers/books.ts';
import {
  checkReadiness,
  type Fault,
  type Pair,
  ROOM_MS,
  UNREADY_MS,
} from '../support/servers/readiness.ts';
import { makeDataDir, removeDataDir, Server } from '../support/servers/server.ts';

describe('readiness with SQLite', { skip: noMount }, () => {
  const dataDir = makeDataDir();
  const path = join(dataDir, 'phm.db');
  const ballast = join(dataDir, 'ballast');
  let freeDisk = () => {};
  let pair: Pair;
  let accounts: Account[];
  let holder: DatabaseSync;

  before(async () => {
    freeDisk = mountDisk(dataDir, '64m');
    const busy = await Server.start(dataDir, { PHM_RATE_LIMITS: 'off' });
    accounts = await addAccounts({ kind: 'sqlite', path }, ['enterprise']);
    const idle = await Server.start(dataDir, { PHM_RATE_LIMITS: 'off' });
    pair = { busy, idle, load: new Load(accounts, Math.random) };
  });
  after(async () => {
    await Promise.all([pair?.busy.stop('SIGKILL'), pair?.idle.stop('SIGKILL')]);
    freeDisk();
    removeDataDir(dataDir);
  });

  const limit = (size: string) => {
    for (const { pid } of [pair.busy, pair.idle]) {
      execFileSync('prlimit', ['--pid', String(pid), `--fsize=${size}`]);
    }
  };
  const rows: [name: string, fault: Fault][] = [
    [
      'a full disk',
      {
        begin: () => fillDisk(ballast),
        end: () => rmSync(ballast, { force: true }),
        idleMs: UNREADY_MS,
      },
    ],
    [
      'a write lock held by another process',
      {
        begin: () => {
          holder = new DatabaseSync(path, { timeout: 10_000 });
          holder.exec('BEGIN IMMEDIATE');
        },
        end: () => holder.close(),
        idleMs: UNREADY_MS,
      },
    ],
    [
      'a missing file',
      {
        begin: () => renameSync(path, `${path}.away`),
        end: () => renameSync(`${path}.away`, path),
        idleMs: UNREADY_MS,
      },
    ],
    [
      'a file size limit',
      { begin: () => limit('4096:'), end: () => limit('unlimited:'), idleMs: ROOM_MS },
    ],
  ];
  for (const [name, fault] of rows) it(name, (test) => checkReadiness(test, pair, fault));

  it('leaves an exact ledger', async () => {
    await pair.load.validateReleased(pair.idle, accounts[0] as Account);
    await checkBooks(querySqlite(dataDir), pair.load);
  });
});
