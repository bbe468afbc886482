/** A SQLite ledger that cannot grow for a while. `test/campaigns/outage.test.ts` has all cases. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { Load } from '../../support/clients/mixed-load.ts';
import { sqliteIn } from '../../support/clients/unknown-keys.ts';
import { outlive } from '../../support/faults/outage.ts';
import { type Account, addAccounts, querySqlite } from '../../support/ledgers/books.ts';
import { dataDir, server } from '../../support/servers/shared-server.ts';

const PRLIMIT = '/usr/bin/prlimit';
const noPrlimit = existsSync(PRLIMIT) ? false : `the limit is set with ${PRLIMIT}`;

test('a server refuses keys while its files cannot grow, and then recovers', {
  skip: noPrlimit,
}, async (t) => {
  const accounts = (await addAccounts(sqliteIn(dataDir), ['enterprise'])) as [Account];
  const limit = (bytes: string) =>
    execFileSync(PRLIMIT, ['--pid', String(server.pid), `--fsize=${bytes}:`]);
  const load = new Load(accounts, Math.random);
  const [begin, end] = [() => limit('1'), () => limit('unlimited')];
  const query = querySqlite(dataDir);
  const longestMs = await outlive({ server, accounts, query, begin, end }, load);
  t.diagnostic(`a client waited ${Math.round(longestMs)} ms at most`);
});
