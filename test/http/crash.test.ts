/** Processes that are killed under load: no released key is lost, nothing is counted twice. */
import { after, describe, it } from 'node:test';
import { Crashes, crashSeed, postgresSite, sqliteSite } from '../support/crashes.ts';
import { noPostgres, Postgres } from '../support/postgres.ts';
import { makeDataDir, removeDataDir } from '../support/server.ts';

const KILLS = 2;

describe('crashes under load', () => {
  const dataDirs = [makeDataDir(), makeDataDir(), makeDataDir()];
  const [alone = '', ...together] = dataDirs;
  after(() => dataDirs.forEach(removeDataDir));

  it('lose no released key and count none twice in SQLite', async (test) => {
    const crashes = new Crashes(sqliteSite(alone), crashSeed(test));
    await crashes.run(KILLS);
    test.diagnostic(`${KILLS} kills, ${crashes.released.length} keys released`);
  });

  it('nor in PostgreSQL, where the database crashes too and two servers share a quota', {
    skip: noPostgres,
  }, async (test) => {
    const postgres = await Postgres.start();
    try {
      const crashes = new Crashes(await postgresSite(postgres, together), crashSeed(test));
      await crashes.run(KILLS);
      test.diagnostic(`${KILLS} kills, ${crashes.released.length} keys released`);
    } finally {
      await postgres.remove();
    }
  });
});
