/**
 * No byte of a key that systems get is anywhere on its way, except with the agents and the systems: 10,000 keys on both
 * stores, made through proxies that record everything and lose some answers. Controls show that each place is read.
 */
import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { WatchedAgents } from '../support/agents/watched-agents.ts';
import { LogSite } from '../support/ledgers/log-site.ts';
import { noPostgres } from '../support/ledgers/postgres.ts';
import { fullOnly, sized } from '../support/run/campaign.ts';
import { noMemory } from '../support/servers/process-memory.ts';

/** On each of two stores. */
const KEYS = sized({ sample: 300, full: 5_000 });

const CANARY = 'the canary';

async function searchChain(test: TestContext, store: LogSite, hasMemory = true): Promise<void> {
  const watched = await WatchedAgents.start(store);
  const { search, canary } = watched;
  try {
    await watched.exchange(KEYS);
    assert.ok(search.size >= KEYS);
    await watched.lookAround();
    const { size } = search;
    search.add(CANARY, Buffer.from(canary.replaceAll('-', ''), 'hex'));
    let searched = 0;
    for (const { name, bytes, hasCanary } of await watched.places(hasMemory)) {
      assert.ok(bytes.length > 0, name);
      const leaks = search.search(bytes);
      const secrets = leaks.filter(({ secret }) => secret !== CANARY);
      assert.deepEqual(secrets.slice(0, 10), [], name);
      assert.equal(leaks.length > 0, hasCanary, `${CANARY} in ${name}`);
      searched += bytes.length;
    }
    test.diagnostic(
      `${size} keys, ${watched.lost} answers lost; searched ${Math.round(searched / 2 ** 20)} MiB` +
        `${noMemory ? `, not the memory: ${noMemory}` : ''}`,
    );
  } finally {
    await watched.remove();
  }
}

it('no key is in the clear, with SQLite', (test) => searchChain(test, LogSite.sqlite()));

it('no key is in the clear, with PostgreSQL', { skip: noPostgres }, async (test) =>
  // The store makes no difference to the server's memory.
  searchChain(test, await LogSite.postgres(), fullOnly === false),
);
