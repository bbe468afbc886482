/**
 * 60 crashes (12 in a sample) of servers and their database under load lose no released key and count nothing twice. With PostgreSQL,
 * three servers share a quota, and the database crashes too.
 */
import { after, describe, it } from 'node:test';
import { Crashes, crashSeed, postgresSite, sqliteSite } from '../support/faults/crashes.ts';
import { noPostgres, Postgres } from '../support/ledgers/postgres.ts';
import { sized } from '../support/run/campaign.ts';
import { makeDataDir, removeDataDir } from '../support/servers/server.ts';

const SQLITE_KILLS = sized({ sample: 6, full: 36 });
/** A quarter of them crash the database. */
const POSTGRES_KILLS = sized({ sample: 6, full: 24 });
const SERVERS = 3;

describe('repeated crashes', () => {
  const dataDirs = Array.from({ length: SERVERS + 1 }, makeDataDir);
  const [alone = '', ...together] = dataDirs;
  after(() => dataDirs.forEach(removeDataDir));

  it('lose nothing and count nothing twice in SQLite', async (test) => {
    const crashes = new Crashes(sqliteSite(alone), crashSeed(test));
    await crashes.run(SQLITE_KILLS);
    test.diagnostic(`${SQLITE_KILLS} kills, ${crashes.released.length} keys released`);
  });

  it('lose nothing and keep a quota exact across three servers on PostgreSQL', {
    skip: noPostgres,
  }, async (test) => {
    // A server of its own: the series kills it.
    const postgres = await Postgres.start();
    try {
      const crashes = new Crashes(await postgresSite(postgres, together), crashSeed(test));
      await crashes.run(POSTGRES_KILLS);
      test.diagnostic(`${POSTGRES_KILLS} kills, ${crashes.released.length} keys released`);
    } finally {
      await postgres.remove();
    }
  });
});
