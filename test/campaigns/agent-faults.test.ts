/**
 * Systems exchange keys through their agents while faults of every kind strike agents, services, databases and networks. No
 * system gets a key twice, both ends get the same key or an error, and keys flow again after the faults.
 */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { AgentBooks } from '../support/agents/agent-books.ts';
import { AgentFaults } from '../support/agents/agent-faults.ts';
import { AgentSites } from '../support/agents/agent-sites.ts';
import { seededRandom } from '../support/clients/mixed-load.ts';
import { crashSeed } from '../support/faults/crashes.ts';
import { LogSite } from '../support/ledgers/log-site.ts';
import { noPostgres, Postgres } from '../support/ledgers/postgres.ts';
import { fullOnly, sized } from '../support/run/campaign.ts';
import { until } from '../support/run/until.ts';

/** For each of the tests. */
const FAULTS = sized({ sample: 12, full: 340 });

/** Systems that exchange keys at the same time, for each direction. */
const PAIRS = 2;

/** Few enough that a fault fills a box, and pools that leave room. */
const ENV = { PHM_BOX_COPIES: '200' };
const POOLS = { least: 8, most: 30 };

async function strike(
  test: TestContext,
  stores: readonly LogSite[],
  postgres: Postgres | null,
): Promise<void> {
  const random = seededRandom(crashSeed(test));
  const sites = new AgentSites(stores);
  for (const site of sites.both) site.pools = POOLS;
  const books = new AgentBooks();
  const faults = new AgentFaults({ sites, books, random, postgres });
  let isOver = false;
  try {
    await sites.start(ENV);
    await faults.begin();
    const systems = sites.ways.flatMap(([master, slave]) =>
      Array.from({ length: PAIRS }, () => books.exchange(master, slave, random, () => isOver)),
    );
    const all = Promise.all(systems).finally(() => {
      isOver = true;
    });
    for (let i = 0; i < FAULTS && !isOver; i += 1) {
      await Promise.race([faults.next(), all]);
    }
    isOver = true;
    await all;
    await faults.end();
    for (const [master, slave] of sites.ways) {
      await until('keys flow again', () => books.exchangeOnce(master, slave, 5));
    }
    report(test, sites, books, faults);
  } finally {
    isOver = true;
    await sites.stop();
  }
}

function report(
  test: TestContext,
  sites: AgentSites,
  books: AgentBooks,
  faults: AgentFaults,
): void {
  const { taken, read, refused, unanswered, unavailable } = books;
  const kinds = [...faults.counts].sort(([a], [b]) => (a < b ? -1 : 1));
  const count = kinds.reduce((sum, [, times]) => sum + times, 0);
  const proxies = [
    ...sites.services.flatMap((service) => service.proxies),
    ...sites.both.map((site) => site.leg('plain')),
  ];
  const lost = proxies.reduce((sum, proxy) => sum + proxy.lost, 0);
  test.diagnostic(
    `${count} faults: ${kinds.map(([kind, times]) => `${kind} ${times}`).join(', ')}`,
  );
  test.diagnostic(
    `${taken} keys taken, ${read} read, ${refused} lost to slaves; ${lost} requests and answers lost, ` +
      `${unanswered} calls of systems without an answer, ${unavailable} with 503`,
  );
  assert.equal(read + refused, taken);
  assert.ok(read > refused);
  for (const { log } of sites.both) assert.ok(!log.includes('by a defect'), log);
}

// Side by side, because most of their time is waiting.
describe('faults', { concurrency: true }, () => {
  it('with SQLite', (test) => strike(test, [LogSite.sqlite()], null));

  it('with PostgreSQL', { skip: noPostgres || fullOnly }, async (test) => {
    const postgres = await Postgres.start();
    await strike(test, [await LogSite.postgres(1, postgres)], postgres);
  });

  it('with two services, one on each store', { skip: noPostgres }, async (test) => {
    const postgres = await Postgres.start();
    const second = await LogSite.postgres(1, postgres);
    await strike(test, [LogSite.sqlite(), second], postgres);
  });
});
