/**
 * Kills servers with kill -9 among 1,500 calls (360 in a sample) with an `Idempotency-Key`, on both stores, with one and two servers:
 * at random times, right before a commit, and right after it. Each client repeats its call until it has an outcome.
 * Then each call has made its keys exactly once.
 */
import { describe, it, type TestContext } from 'node:test';
import { IdempotentAudit } from '../support/clients/idempotent-audit.ts';
import { IdempotentClients, mixedCalls } from '../support/clients/idempotent-calls.ts';
import { seededRandom } from '../support/clients/mixed-load.ts';
import { crashSeed } from '../support/faults/crashes.ts';
import { KilledSite } from '../support/faults/killed-site.ts';
import { LogSite } from '../support/ledgers/log-site.ts';
import { noPostgres } from '../support/ledgers/postgres.ts';
import { sized } from '../support/run/campaign.ts';

const CLIENTS = 16;

interface Size {
  readonly calls: number;
  readonly kills: number;
}

const LARGE: Size = sized({ sample: { calls: 120, kills: 3 }, full: { calls: 600, kills: 10 } });
const SMALL: Size = sized({ sample: { calls: 120, kills: 3 }, full: { calls: 300, kills: 6 } });

async function run(test: TestContext, site: LogSite, size: Size): Promise<void> {
  try {
    const random = seededRandom(crashSeed(test));
    const killed = await KilledSite.start(site, size.kills, random);
    const clients = new IdempotentClients(site.apiKey, () => killed.addresses);
    const calls = await mixedCalls(size.calls, random);
    const servers = await killed.during(clients.run(calls, CLIENTS));
    const figures = await new IdempotentAudit(site, servers, clients).run(calls.length);
    test.diagnostic(
      `${killed.summary}, ${clients.unanswered} requests unanswered; ${JSON.stringify(figures)}`,
    );
  } finally {
    await site.remove();
  }
}

describe('a kill among idempotent calls makes no second key', () => {
  it('in SQLite with 1 server', async (test) => {
    await run(test, LogSite.sqlite(), SMALL);
  });

  it('in SQLite with 2 servers', async (test) => {
    await run(test, LogSite.sqlite(2), LARGE);
  });

  it('in PostgreSQL with 2 servers', { skip: noPostgres }, async (test) => {
    await run(test, await LogSite.postgres(2), LARGE);
  });
});
