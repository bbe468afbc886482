/**
 * Kills servers with kill -9 while clients make keys, let some expire and revoke others, on both stores, with two and three
 * servers. Every revocation that was answered holds on every server, once in the log, also after the rows were pruned.
 */
import { describe, it, type TestContext } from 'node:test';
import { seededRandom } from '../support/clients/mixed-load.ts';
import { RevocationAudit, RevokingClients } from '../support/clients/revoked-keys.ts';
import { crashSeed } from '../support/faults/crashes.ts';
import { KilledSite } from '../support/faults/killed-site.ts';
import { LogSite } from '../support/ledgers/log-site.ts';
import { noPostgres } from '../support/ledgers/postgres.ts';
import { sized } from '../support/run/campaign.ts';

const CLIENTS = 16;
const KEYS = sized({ sample: 40, full: 120 });
const KILLS = sized({ sample: 2, full: 6 });

async function run(test: TestContext, site: LogSite): Promise<void> {
  try {
    const random = seededRandom(crashSeed(test));
    const killed = await KilledSite.start(site, KILLS, random);
    const clients = new RevokingClients(site.apiKey, () => killed.addresses, random);
    const servers = await killed.during(clients.run(KEYS, CLIENTS));
    const figures = await new RevocationAudit(site, servers, clients.keys).run();
    test.diagnostic(
      `${killed.summary}, ${clients.unanswered} requests unanswered; ${JSON.stringify(figures)}`,
    );
  } finally {
    await site.remove();
  }
}

describe('a kill among revocations loses and repeats none', () => {
  it('in SQLite with 2 servers', async (test) => {
    await run(test, LogSite.sqlite(2));
  });

  it('in PostgreSQL with 3 servers', { skip: noPostgres }, async (test) => {
    await run(test, await LogSite.postgres(3));
  });
});
