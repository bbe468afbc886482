/**
 * A server killed under load loses no released key and counts nothing twice. `test/slow/crash.test.ts` kills more often,
 * and also kills servers that share a PostgreSQL database, and that database.
 */
import { test } from 'node:test';
import { Crashes, crashSeed, sqliteSite } from '../support/crashes.ts';
import { makeDataDir, removeDataDir } from '../support/server.ts';

const KILLS = 1;

test('a server killed under load loses no released key and counts none twice', async (t) => {
  const dataDir = makeDataDir();
  t.after(() => removeDataDir(dataDir));
  const crashes = new Crashes(sqliteSite(dataDir), crashSeed(t));
  await crashes.run(KILLS);
  t.diagnostic(`${KILLS} kill, ${crashes.released.length} keys released`);
});
