/**
 * Two key services, one on each store, that know no key which their agents hand out: keys are equal at both ends, never
 * of one service alone while the other is away, and nothing that a service has or says holds one, nor what the private keys of
 * both sites open there.
 */
import assert from 'node:assert/strict';
import { hkdfSync, randomBytes } from 'node:crypto';
import { after, before, describe, it, type TestContext } from 'node:test';
import type { AgentService } from '../support/agents/agent-service.ts';
import { type AgentSite, idsOf, type Key } from '../support/agents/agent-site.ts';
import { AgentSites } from '../support/agents/agent-sites.ts';
import { LogSite } from '../support/ledgers/log-site.ts';
import { noPostgres } from '../support/ledgers/postgres.ts';
import { storedFiles, storedValues } from '../support/ledgers/stored.ts';
import { LeakSearch } from '../support/servers/leak-search.ts';
import { noMemory, readMemory } from '../support/servers/process-memory.ts';
import { canonical } from '../support/texts/receipt-by-the-page.ts';
import { openByThePage } from '../support/texts/sealed-key-by-the-page.ts';

/** What one service made for a key, as a recipient opens it. */
interface Half {
  readonly key: Buffer;
  readonly context: string;
  readonly origin: {
    readonly commitment: string;
    readonly key_id: string;
    readonly service: string;
  };
}

const POOL = 8;

describe('two agents on two services', () => {
  let sites: AgentSites;
  const canary = randomBytes(24);
  /** All keys that systems got. */
  const keys = new Map<string, string>();

  before(async () => {
    const second = noPostgres ? LogSite.sqlite() : await LogSite.postgres();
    sites = new AgentSites([LogSite.sqlite(), second]);
    // The service does not read the last one: it shows that memory is searched.
    await sites.start({ PHM_LOG_LEVEL: 'trace', CANARY: canary.toString('hex') });
  });
  after(() => sites?.stop());

  function note(taken: readonly Key[]): void {
    for (const { key_ID, key } of taken) {
      assert.ok(!keys.has(key_ID), `${key_ID} went out twice`);
      keys.set(key_ID, key);
    }
  }

  async function exchange(
    master: AgentSite,
    slave: AgentSite,
    number: number,
    size = 256,
  ): Promise<readonly Key[]> {
    const taken = await master.keys(slave, 'enc_keys', { number, size });
    note(taken);
    assert.deepEqual(await slave.keys(master, 'dec_keys', idsOf(taken)), taken);
    return taken;
  }

  /** Takes all that is ready. Returns those that the slave, without one service, had not opened ahead. */
  async function drain(master: AgentSite, slave: AgentSite): Promise<Key[]> {
    const unread: Key[] = [];
    let taken = await master.call(slave, 'enc_keys');
    for (; taken.status === 200; taken = await master.call(slave, 'enc_keys')) {
      note(taken.keys);
      // It waits for the service that is away, once is enough.
      const read =
        unread.length === 0 ? await slave.call(master, 'dec_keys', idsOf(taken.keys)) : null;
      if (read === null || read.status === 503) unread.push(...taken.keys);
      else assert.deepEqual(read.keys, taken.keys);
    }
    const ordered = await master.call(slave, 'enc_keys', { number: 2, size: 128 });
    assert.deepEqual([taken.status, ordered.status], [503, 503]);
    return unread;
  }

  it('give equal keys to both ends, in both directions', async () => {
    for (const [master, slave] of sites.ways) {
      await exchange(master, slave, 5);
      await exchange(master, slave, 2, 384);
    }
  });

  for (const i of [0, 1]) {
    it(`hand out what is ready while service ${i + 1} is away, and then nothing`, async () => {
      const service = sites.services[i] as AgentService;
      await sites.filled(POOL);
      await service.server.stop('SIGKILL');
      const unread = await Promise.all(sites.ways.map((way) => drain(...way)));
      await service.start();
      for (const [k, [master, slave]] of sites.ways.entries()) {
        const keys = unread[k] ?? [];
        if (keys.length > 0)
          assert.deepEqual(await slave.keys(master, 'dec_keys', idsOf(keys)), keys);
      }
      await sites.filled(POOL);
      for (const [master, slave] of sites.ways) await exchange(master, slave, 3);
    });
  }

  it('derive what the copies of one service and all private keys do not give', async (test) => {
    await sites.filled(POOL);
    const boxes = await Promise.all(sites.services.map((service) => openAll(service, sites)));
    const taken = [];
    for (const [master, slave] of sites.ways) taken.push(...(await exchange(master, slave, POOL)));
    let known = 0;
    for (const { key_ID, key } of taken) {
      const halves = boxes.map((box) => box.get(key_ID));
      const [one, other] = halves;
      if (one === undefined || other === undefined) continue;
      known += 1;
      assert.ok(!halves.some((half) => half?.key.toString('base64') === key));
      assert.notEqual(derived(key_ID, one, one), key);
      assert.notEqual(derived(key_ID, other, other), key);
      assert.equal(derived(key_ID, one, other), key);
    }
    test.diagnostic(`${known} keys derived from the halves of both services`);
    assert.ok(known >= POOL);
  });

  it('leave no key in anything of a service', async (test) => {
    const search = new LeakSearch();
    for (const [id, key] of keys) search.add(id, Buffer.from(key, 'base64'));
    const legs = sites.both.flatMap((site) => search.search(site.leg('plain').received));
    const found = new Set(legs.map(({ secret }) => secret));
    const missed = [...keys.keys()].filter((id) => !found.has(id));
    assert.deepEqual(missed, [], 'the search finds each key where systems get it');
    search.add('the canary', canary);
    for (const service of sites.services) {
      for (const [name, bytes] of await placesOf(service, canary)) {
        const leaks = search.search(bytes).map(({ secret }) => secret);
        assert.deepEqual([...new Set(leaks)], ['the canary'], `${service.site.kind}: ${name}`);
      }
    }
    report(test, keys.size);
  });
});

function report(test: TestContext, count: number): void {
  test.diagnostic(`${count} keys searched for${noMemory ? `, not in memory: ${noMemory}` : ''}`);
}

/** Returns what each copy in the boxes of a service holds, by its ID. Both recipients open the same. */
async function openAll(service: AgentService, sites: AgentSites): Promise<Map<string, Half>> {
  const rows = await service.site.execute(
    'SELECT recipient, sealed_key FROM delivery_copies WHERE sealed_key IS NOT NULL',
  );
  const halves = new Map<string, Half>();
  for (const { recipient, sealed_key: text } of rows) {
    const site = sites.both.find(({ name }) => name === recipient) as AgentSite;
    const seed = Buffer.from(site.recipientKey.privateKey);
    const { key, header } = openByThePage(JSON.parse(String(text)), seed);
    const { delivery, key_commitment: commitment, key_id, service: name } = header;
    const known = halves.get(delivery.id);
    if (known !== undefined) assert.deepEqual(key, known.key);
    const origin = { commitment, key_id, service: name };
    halves.set(delivery.id, { key, context: delivery.context, origin });
  }
  return halves;
}

/** "Two services" of the agent's README. Returns the key in base64. */
function derived(id: string, one: Half, other: Half): string {
  const ordered = [one, other].sort((a, b) => (a.origin.service < b.origin.service ? -1 : 1));
  const secret = Buffer.concat(ordered.map(({ key }) => key));
  const info = canonical({
    bits: one.key.length * 8,
    context: one.context,
    id,
    services: ordered.map(({ origin }) => origin),
  });
  const key = hkdfSync('sha512', secret, 'phm/two-services/v1', info, one.key.length);
  return Buffer.from(key).toString('base64');
}

/** Returns all that a service has and says. The canary is in each place. Kills the server. */
async function placesOf(
  { site, server, proxies }: AgentService,
  canary: Buffer,
): Promise<[name: string, bytes: Buffer][]> {
  const name = canary.toString('hex');
  for (const { address } of proxies) {
    const headers = { 'X-Request-Id': canary.toString('base64url') };
    await (await fetch(`${address}/readyz`, { headers })).text();
  }
  await site.run('account', 'create', '--name', name, '--plan', 'research');
  const memory: [string, Buffer][] = noMemory ? [] : [['memory', readMemory(server.pid)]];
  await server.stop('SIGKILL');
  // First, because whoever opens SQLite's database empties its write-ahead log.
  const files = await storedFiles(site);
  return [
    ['requests', Buffer.concat(proxies.map(({ sent }) => sent))],
    ['answers', Buffer.concat(proxies.map(({ received }) => received))],
    ['log', Buffer.from(server.log)],
    ['files', files],
    ['values', await storedValues(site)],
    ...memory,
  ];
}
