/**
 * Servers that are killed with kill -9 at a commit, before and after it, while requests deliver: a key has all its copies or does
 * not exist, and a repeated request finds one of both.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { newRecipient } from '#sealing';
import { killAtCommit } from '../support/faults/kill-at-commit.ts';
import { LogSite } from '../support/ledgers/log-site.ts';
import { noPostgres } from '../support/ledgers/postgres.ts';
import type { Answer, Server } from '../support/servers/server.ts';

/** The commits at which a server dies: some come before the first request. */
const COMMITS = [2, 3, 5];

const SITES = ['paris', 'lyon'];

interface Asked {
  readonly ids: readonly string[];
  readonly idempotencyKey: string;
}

function send(server: Server, apiKey: string, { ids, idempotencyKey }: Asked): Promise<Answer> {
  const body = {
    ...{ security_level: 128, count: ids.length, deliver: { ids } },
    seal_to: SITES.map((recipient) => ({ recipient })),
  };
  return server.request('/api/v2/generate/sealed/batch', {
    method: 'POST',
    headers: {
      ...{ 'X-API-Key': apiKey, 'Content-Type': 'application/json' },
      'Idempotency-Key': idempotencyKey,
    },
    body: JSON.stringify(body),
  });
}

/** What a key is, and what a delivery is, by its key: both are the same set, and each delivery has two copies. */
const BOOKS = `SELECT
  (SELECT count(*) FROM ledger WHERE delivery_id IS NOT NULL) AS keys,
  (SELECT count(*) FROM deliveries) AS deliveries,
  (SELECT count(*) FROM ledger JOIN deliveries ON deliveries.key_id = ledger.key_id
     AND deliveries.delivery_id = ledger.delivery_id AND deliveries.account_id = ledger.account_id) AS pairs,
  (SELECT count(*) FROM deliveries JOIN delivery_copies ON delivery_copies.account_id = deliveries.account_id
     AND delivery_copies.delivery_id = deliveries.delivery_id AND delivery_copies.key_id = deliveries.key_id) AS copies`;

async function books(site: LogSite): Promise<number> {
  const [row] = await site.execute(BOOKS);
  const { keys, deliveries, pairs, copies } = Object.fromEntries(
    Object.entries(row ?? {}).map(([name, count]) => [name, Number(count)]),
  );
  assert.deepEqual([deliveries, pairs, copies], [keys, keys, SITES.length * (keys ?? 0)]);
  return keys ?? 0;
}

async function killRepeatedly(site: LogSite): Promise<void> {
  const first = await site.start();
  const { body } = await first.generate({ security_level: 128 }, site.apiKey);
  assert.ok(body.key_id);
  const [{ account_id: accountId } = {}] = await site.execute('SELECT account_id FROM ledger');
  for (const name of SITES) {
    const { publicKey } = await newRecipient();
    const hex = Buffer.from(publicKey).toString('hex');
    const bytes = site.kind === 'sqlite' ? `x'${hex}'` : `'\\x${hex}'`;
    await site.execute(
      `INSERT INTO recipients (account_id, name, suite, public_key, created_ms)
       VALUES ('${accountId}', '${name}', 'MLKEM768-X25519', ${bytes}, 0)`,
    );
  }
  await first.stop();
  const asked: Asked[] = [];
  for (const commit of COMMITS) {
    for (const when of ['before', 'after'] as const) {
      const server = await site.start(0, { NODE_OPTIONS: killAtCommit(commit, when) });
      for (let isAlive = true; isAlive; ) {
        const one = {
          ids: Array.from({ length: 3 }, () => randomUUID()),
          idempotencyKey: randomUUID(),
        };
        asked.push(one);
        isAlive = await send(server, site.apiKey, one).then(
          () => true,
          () => false,
        );
      }
      await server.stop('SIGKILL');
      await books(site);
    }
  }
  const server = await site.start();
  for (const one of asked) {
    const { status, body } = await send(server, site.apiKey, one);
    assert.equal(status, 200, JSON.stringify(body));
    const { body: fetched } = await server.post(
      '/api/v2/deliveries/fetch',
      { recipient: 'lyon', ids: one.ids },
      site.apiKey,
    );
    for (const [i, { key_id, sealed_key }] of fetched.deliveries.entries()) {
      assert.equal(key_id, body.keys[i].key_id);
      assert.deepEqual(sealed_key, body.keys[i].sealed_keys[1]);
    }
  }
  assert.equal(await books(site), 3 * asked.length);
  await server.stop();
}

describe('deliveries of a server that is killed at a commit', () => {
  it('are whole or not there: SQLite', async () => {
    const site = LogSite.sqlite();
    await killRepeatedly(site).finally(() => site.remove());
  });

  it('are whole or not there: PostgreSQL', { skip: noPostgres }, async () => {
    const site = await LogSite.postgres();
    await killRepeatedly(site).finally(() => site.remove());
  });
});
