/** A ledger in SQLite that cannot be written for a while: 503 and no key, and the same process goes on. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { type Account, addAccounts, querySqlite } from '../support/books.ts';
import { Load } from '../support/load.ts';
import { outlive } from '../support/outage.ts';
import { makeDataDir, removeDataDir, Server } from '../support/server.ts';

const PRLIMIT = '/usr/bin/prlimit';
const noPrlimit = existsSync(PRLIMIT) ? false : `the limit is set with ${PRLIMIT}`;

describe('a ledger in SQLite that cannot be written', () => {
  const dataDir = makeDataDir();
  const path = join(dataDir, 'phm.db');
  const query = querySqlite(dataDir);
  let server: Server;
  let accounts: [Account, ...Account[]];
  let load: Load;

  before(async () => {
    server = await Server.start(dataDir, { PHM_RATE_LIMITS: 'off' });
    const [one, two] = await addAccounts({ kind: 'sqlite', path }, ['enterprise', 'enterprise']);
    accounts = [one as Account, two as Account];
    load = new Load(accounts, Math.random);
  });
  after(async () => {
    await server.stop('SIGKILL');
    removeDataDir(dataDir);
  });

  it('because its files may not grow: refuses at once, and recovers', {
    skip: noPrlimit,
  }, async (test) => {
    const limit = (bytes: string) =>
      execFileSync(PRLIMIT, ['--pid', String(server.pid), `--fsize=${bytes}:`]);
    const longestMs = await outlive(
      { server, accounts, query, begin: () => limit('1'), end: () => limit('unlimited') },
      load,
    );
    test.diagnostic(`a client waited ${Math.round(longestMs)} ms at most`);
  });

  it('because another process holds it: gives up after its time-out, and recovers', async (test) => {
    const other = new DatabaseSync(path);
    const begin = () => other.exec('BEGIN IMMEDIATE');
    const longestMs = await outlive(
      { server, accounts, query, begin, end: () => other.close() },
      load,
    );
    test.diagnostic(`a client waited ${Math.round(longestMs)} ms at most`);
  });
});
