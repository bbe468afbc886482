/**
 * Kills agents with kill -9 while two systems exchange keys through them. No system gets a key twice, both get the same key,
 * and only answers that a kill cut off are lost.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type AgentSite, idsOf, type Key } from '../support/agent-site.ts';
import { AgentSites } from '../support/agent-sites.ts';
import { sized } from '../support/campaign.ts';
import { crashSeed } from '../support/crashes.ts';
import { seededRandom } from '../support/mixed-load.ts';

const KILLS = sized({ sample: 6, full: 80 });

/** Keys of one request. */
const MOST = 6;

/** Systems that exchange keys at the same time, for each direction. */
const PAIRS = 3;

/** Between two kills. */
const LONGEST_MS = 1_500;

/** What systems got: each key once in each role. */
class Books {
  readonly #keys = new Map<string, string>();
  readonly #read = new Set<string>();
  unanswered = 0;
  refused = 0;

  get counts(): readonly [taken: number, read: number] {
    return [this.#keys.size, this.#read.size];
  }

  taken(keys: readonly Key[]): void {
    for (const { key_ID: id, key } of keys) {
      assert.ok(!this.#keys.has(id), `a master got ${id} twice`);
      this.#keys.set(id, key);
    }
  }

  read(keys: readonly Key[]): void {
    for (const { key_ID: id, key } of keys) {
      assert.equal(key, this.#keys.get(id), `two keys under ${id}`);
      assert.ok(!this.#read.has(id), `a slave got ${id} twice`);
      this.#read.add(id);
    }
  }
}

/** Exchanges keys until `isOver`. An answer that a kill cuts off is lost; then the slave asks again, once it can. */
async function exchange(
  master: AgentSite,
  slave: AgentSite,
  books: Books,
  random: () => number,
  isOver: () => boolean,
): Promise<void> {
  while (!isOver()) {
    const number = 1 + Math.floor(random() * MOST);
    const taken = await master.call(slave, 'enc_keys', { number }).catch(() => null);
    if (taken === null) books.unanswered += 1;
    if (taken?.status !== 200) {
      await delay(50);
      continue;
    }
    books.taken(taken.keys);
    await readOnce(slave, master, taken.keys, books);
  }
}

async function readOnce(
  slave: AgentSite,
  master: AgentSite,
  keys: readonly Key[],
  books: Books,
): Promise<void> {
  for (let isLost = false; ; ) {
    const read = await slave.call(master, 'dec_keys', idsOf(keys)).catch(() => null);
    if (read?.status === 200) return books.read(read.keys);
    if (read?.status === 400) {
      assert.ok(isLost, `keys are not there: ${JSON.stringify(read.json)}`);
      books.refused += keys.length;
      return;
    }
    assert.ok(read === null || read.status === 503, `${read?.status}`);
    if (read === null) books.unanswered += 1;
    isLost ||= read === null;
    await delay(50);
  }
}

it('a kill of an agent gives no key twice, and loses only answers', async (test) => {
  const random = seededRandom(crashSeed(test));
  const sites = new AgentSites();
  const books = new Books();
  let isOver = false;
  try {
    await sites.start();
    const { paris, lyon } = sites;
    const ways = [
      [paris, lyon],
      [lyon, paris],
    ] as const;
    const systems = ways.flatMap(([master, slave]) =>
      Array.from({ length: PAIRS }, () => exchange(master, slave, books, random, () => isOver)),
    );
    const all = Promise.all(systems);
    for (let i = 0; i < KILLS; i += 1) {
      await Promise.race([delay(random() * LONGEST_MS), all]);
      const site = random() < 0.5 ? paris : lyon;
      await site.end('SIGKILL');
      await site.start();
    }
    isOver = true;
    await all;
    const [taken, read] = books.counts;
    const { unanswered, refused } = books;
    test.diagnostic(
      `${KILLS} kills, ${taken} keys taken, ${read} read, ${refused} lost to slaves, ${unanswered} requests unanswered`,
    );
    assert.equal(read + refused, taken);
    assert.ok(read > 0 && refused <= unanswered * MOST);
  } finally {
    isOver = true;
    await sites.stop();
  }
});
