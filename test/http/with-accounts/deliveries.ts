/** Deliveries: from the request for a key to the copy that a site opens, and what a site must not see (docs/deliveries.md). */
import assert from 'node:assert/strict';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { newRecipient, type RecipientKey } from '#sealing';
import { openSealedKey } from '../../../sdk/src/index.ts';
import { apiKeyHint, hashApiKey, newApiKey } from '../../../src/accounts/index.ts';
import { monthlyQuotas, PUBLISHED_PLANS } from '../../../src/config/index.ts';
import { type ApiKeySettings, type LedgerStore, openStore } from '../../../src/ledger/index.ts';
import { batchOf } from '../../ledger/sealing-contract.ts';
import { sqliteIn } from '../../support/clients/unknown-keys.ts';
import { type Account, addAccounts } from '../../support/ledgers/books.ts';
import type { Answer } from '../../support/servers/server.ts';
import { dataDir, server } from '../../support/servers/shared-server.ts';

const PATH = '/api/v2/deliveries';
const SEALED = '/api/v2/generate/sealed';

/** The key pairs of the sites, by name. */
const SITES: Record<string, RecipientKey> = {
  paris: await newRecipient(),
  lyon: await newRecipient('ML-KEM-1024'),
};

let store: LedgerStore;
before(async () => {
  store = await openStore(sqliteIn(dataDir), monthlyQuotas(PUBLISHED_PLANS));
});
after(() => store.close());

/** An account with both sites. */
async function newAccount(plan = 'enterprise'): Promise<Account> {
  const [account] = (await addAccounts(sqliteIn(dataDir), [plan])) as [Account];
  const { accountId } = account;
  for (const [name, { suite, publicKey }] of Object.entries(SITES)) {
    const added = { accountId, name, suite, publicKey, createdMs: Date.now() };
    assert.equal(await store.addRecipient(added), 'added');
  }
  return account;
}

async function issue(accountId: string, settings: Partial<ApiKeySettings>): Promise<string> {
  const apiKey = newApiKey('live');
  const record = {
    ...{ apiKeyId: `key_${randomUUID()}`, accountId, hint: apiKeyHint(apiKey) },
    ...{ createdMs: Date.now(), revokedMs: null },
  };
  assert.ok(await store.addApiKey({ ...record, ...settings }, hashApiKey(apiKey)));
  return apiKey;
}

const siteKey = ({ accountId }: Account, recipient: string) =>
  issue(accountId, { scopes: ['receive'], recipients: [recipient] });

const toBoth = [{ recipient: 'paris' }, { recipient: 'lyon' }];

const ask = (apiKey: string, id: string, changes: object = {}) =>
  server.post(
    SEALED,
    { security_level: 256, seal_to: toBoth, deliver: { id, for: '1h' }, ...changes },
    apiKey,
  );

async function deliver(apiKey: string, id: string = randomUUID(), changes: object = {}) {
  const { status, body } = await ask(apiKey, id, changes);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

const get = (apiKey: string, path: string, init: RequestInit = {}): Promise<Answer> =>
  server.request(path, { ...init, headers: { 'X-API-Key': apiKey } });

const list = (apiKey: string, recipient: string, rest = '') =>
  get(apiKey, `${PATH}?recipient=${recipient}${rest}`);

const take = (apiKey: string, action: 'fetch' | 'remove', recipient: string, ...ids: string[]) =>
  server.post(`${PATH}/${action}`, { recipient, ids }, apiKey);

const listed = async (...asked: Parameters<typeof list>): Promise<string[]> => {
  const { status, body } = await list(...asked);
  assert.equal(status, 200, JSON.stringify(body));
  return body.deliveries.map(({ delivery_id: id }: { delivery_id: string }) => id);
};

/** Changes the database as time or another program would. */
function change(sql: string): void {
  const database = new DatabaseSync(join(dataDir, 'phm.db'));
  database.exec(sql);
  database.close();
}

describe('deliveries', () => {
  it('bring the same key to both sites, each sealed, stated and receipted', async () => {
    const account = await newAccount();
    const id = randomUUID();
    const context = createHash('sha256').update('paris and lyon').digest('base64');
    const labels = { use: 'tunnel' };
    const made = await deliver(account.apiKey, id, {
      ...{ labels, deliver: { id, for: '90m', context }, include: ['receipt'] },
    });
    assert.equal(made.sealed_keys.length, 2);
    assert.equal(made.sealed_key, undefined);
    assert.equal(made.delivery.id, id);
    const keptMs = Date.parse(made.delivery.until) - Date.parse(made.timestamp);
    assert.equal(keptMs, 90 * 60_000);
    assert.deepEqual(made.receipt.statement.delivery, { id, context });
    const policy = await (await fetch(`${server.address}/log/policy`)).text();
    const keys = [];
    for (const [i, [name, recipientKey]] of Object.entries(SITES).entries()) {
      const apiKey = await siteKey(account, name);
      assert.deepEqual(await listed(apiKey, name), [id]);
      const { status, body } = await take(apiKey, 'fetch', name, id);
      assert.equal(status, 200);
      const [copy] = body.deliveries;
      assert.deepEqual([copy.delivery_id, copy.state, copy.key_id], [id, 'received', made.key_id]);
      assert.equal(copy.until, made.delivery.until);
      assert.deepEqual(copy.sealed_key, made.sealed_keys[i]);
      const opened = await openSealedKey(copy, recipientKey, { policy });
      assert.equal(opened.header.type, 'phm-sealed-key/v2');
      assert.deepEqual('delivery' in opened.header && opened.header.delivery, { id, context });
      keys.push(Buffer.from(opened.key).toString('hex'));
      assert.deepEqual(await listed(apiKey, name), []);
      assert.deepEqual(await listed(apiKey, name, '&state=received'), [id]);
      assert.deepEqual((await take(apiKey, 'fetch', name, id)).body.deliveries, [copy]);
    }
    assert.equal(keys[0], keys[1]);
    const database = readFileSync(join(dataDir, 'phm.db')).toString('latin1');
    const log = readFileSync(join(dataDir, 'phm.db-wal')).toString('latin1');
    for (const form of [keys[0], Buffer.from(keys[0] ?? '', 'hex').toString('latin1')]) {
      assert.ok(form && !database.includes(form) && !log.includes(form));
    }
  });

  it('give one recipient its copies in the form of deliveries too', async () => {
    const { apiKey } = await newAccount();
    const id = randomUUID();
    const made = await deliver(apiKey, id, { seal_to: { recipient: 'paris' } });
    assert.equal(made.sealed_keys.length, 1);
    const header = JSON.parse(Buffer.from(made.sealed_keys[0].header, 'base64url').toString());
    assert.equal(header.type, 'phm-sealed-key/v2');
    assert.deepEqual(header.delivery, { id, context: null });
    assert.equal(header.recipients.length, 1);
  });

  it('of a batch have an ID for each key, in order', async () => {
    const { apiKey } = await newAccount();
    const ids = Array.from({ length: 30 }, () => randomUUID());
    const body = { security_level: 128, count: 30, seal_to: toBoth, deliver: { ids } };
    const { status, body: made } = await server.post(`${SEALED}/batch`, body, apiKey);
    assert.equal(status, 200, JSON.stringify(made));
    const named = made.keys.map(({ delivery }: { delivery: { id: string } }) => delivery.id);
    assert.deepEqual(named, ids);
    const { body: fetched } = await take(apiKey, 'fetch', 'lyon', ...ids);
    for (const [i, copy] of fetched.deliveries.entries()) {
      assert.equal(copy.key_id, made.keys[i].key_id);
      const header = JSON.parse(Buffer.from(copy.sealed_key.header, 'base64url').toString());
      assert.deepEqual([header.key_id, header.delivery.id], [copy.key_id, ids[i]]);
    }
    const page = await list(apiKey, 'paris', '&limit=20');
    assert.equal(page.body.deliveries.length, 20);
    const rest = await listed(apiKey, 'paris', `&limit=20&cursor=${page.body.next_cursor}`);
    assert.equal(rest.length, 10);
  });

  it('expire no later than their keys', async () => {
    const { apiKey } = await newAccount();
    const expires_at = new Date(Date.now() + 600_000).toISOString();
    const made = await deliver(apiKey, randomUUID(), { expires_at });
    assert.equal(Date.parse(made.delivery.until), Date.parse(expires_at));
  });

  it('replay the first answer to a repeated Idempotency-Key, and deliver once', async () => {
    const { apiKey } = await newAccount();
    const id = randomUUID();
    const send = (deliverTo: object = { id }) =>
      server.request(SEALED, {
        method: 'POST',
        headers: {
          ...{ 'X-API-Key': apiKey, 'Content-Type': 'application/json' },
          'Idempotency-Key': `of-${id}`,
        },
        body: JSON.stringify({ security_level: 256, seal_to: toBoth, deliver: deliverTo }),
      });
    const [first, second] = [await send(), await send()];
    assert.deepEqual([first.status, second.status], [200, 200]);
    assert.equal(second.headers.get('idempotent-replayed'), 'true');
    assert.deepEqual(second.body, first.body);
    assert.deepEqual(await listed(apiKey, 'paris'), [id]);
    const other = await send({ id, for: '2h' });
    assert.equal(other.body.code, 'idempotency_key_reused');
    const again = await ask(apiKey, id);
    assert.deepEqual([again.status, again.body.code], [409, 'delivery_exists']);
    assert.equal(again.body.errors[0].pointer, '#/deliver/id');
    assert.ok(!JSON.stringify(again.body).includes(first.body.key_id));
  });

  it('are refused without a key or a count, if an ID is used or a box is full', async () => {
    const account = await newAccount('research');
    const { accountId, apiKey } = account;
    const ids = [randomUUID(), randomUUID()];
    await deliver(apiKey, ids[1]);
    const body = { security_level: 128, count: 2, seal_to: toBoth, deliver: { ids } };
    const refused = await server.post(`${SEALED}/batch`, body, apiKey);
    assert.deepEqual([refused.status, refused.body.code], [409, 'delivery_exists']);
    assert.deepEqual(
      refused.body.errors.map(({ pointer }: { pointer: string }) => pointer),
      ['#/deliver/ids/1'],
    );
    const { publicKey } = SITES.paris as RecipientKey;
    const limits = { copies: 10_000, bytes: 2 ** 26 };
    const untilMs = Date.now() + 3_600_000;
    const full = { recipients: [{ name: 'paris', publicKey }], untilMs, limits };
    // Almost 64 MiB.
    const deliveries = Array.from({ length: 990 }, () => {
      return { deliveryId: randomBytes(16), copies: ['x'.repeat(67_782)] };
    });
    const fills = batchOf(accountId, 990, { delivery: { ...full, deliveries }, atMs: Date.now() });
    assert.equal((await store.commit([fills], []))[0]?.kind, 'committed');
    const box = await ask(apiKey, randomUUID());
    assert.deepEqual([box.status, box.body.code], [409, 'delivery_box_full']);
    assert.match(box.body.detail, /"paris"/);
    const [principal] = await store.authenticate([hashApiKey(apiKey)], Date.now());
    assert.equal(principal?.usage.used, 991);
    await deliver(apiKey, randomUUID(), { seal_to: { recipient: 'lyon' } });
  });

  it('name what is wrong with the field', async () => {
    const { apiKey } = await newAccount();
    const id = randomUUID();
    const { suite, publicKey } = SITES.paris as RecipientKey;
    const open = { suite, public_key: Buffer.from(publicKey).toString('base64url') };
    const wrong: [object, string[]][] = [
      [{ deliver: { id: id.toUpperCase() } }, ['#/deliver/id']],
      [{ deliver: { id: '', for: '59s' } }, ['#/deliver/id', '#/deliver/for']],
      [{ deliver: { id, for: '8d' } }, ['#/deliver/for']],
      [{ deliver: { id, for: 'P1D' } }, ['#/deliver/for']],
      [{ deliver: { id, context: `${'A'.repeat(43)}` } }, ['#/deliver/context']],
      [{ deliver: { id, context: `${'A'.repeat(42)}B=` } }, ['#/deliver/context']],
      [{ deliver: {} }, ['#/deliver/id']],
      [{ seal_to: [{ recipient: 'paris' }, open] }, ['#/seal_to/1']],
      [{ seal_to: open }, ['#/seal_to']],
      [{ seal_to: [{ recipient: 'paris' }, { recipient: 'rome' }] }, ['#/seal_to/1/recipient']],
    ];
    for (const [changes, pointers] of wrong) {
      const { status, body } = await ask(apiKey, id, changes);
      assert.equal(status, 400, JSON.stringify(changes));
      const found = body.errors.map(({ pointer }: { pointer: string }) => pointer);
      assert.deepEqual(found, pointers, JSON.stringify(changes));
    }
    const batch = { security_level: 128, count: 2, seal_to: toBoth };
    for (const ids of [[id], [id, id], [id, 'x']]) {
      const { status, body } = await server.post(
        `${SEALED}/batch`,
        { ...batch, deliver: { ids } },
        apiKey,
      );
      assert.equal(status, 400);
      assert.match(body.errors[0].pointer, ids.length === 1 ? /ids$/ : /ids\/1$/);
    }
    const plain = await server.post(
      '/api/v2/generate',
      { security_level: 128, deliver: { id } },
      apiKey,
    );
    assert.equal(plain.body.errors[0].pointer, '#/deliver');
    assert.deepEqual(await listed(apiKey, 'paris'), []);
  });

  it('show a site neither copies nor names of others, nor anything else', async () => {
    const [account, foreign] = [await newAccount(), await newAccount()];
    const [id, own] = [randomUUID(), randomUUID()];
    await deliver(account.apiKey, id, { seal_to: { recipient: 'lyon' } });
    await deliver(account.apiKey, own, { seal_to: { recipient: 'paris' } });
    await deliver(foreign.apiKey, own);
    const paris = await siteKey(account, 'paris');
    const withoutIds = ({ body }: Answer) => {
      const { request_id: _, instance: __, timestamp: ___, ...rest } = body;
      return JSON.stringify(rest).replaceAll(/lyon|rome/g, 'NAME');
    };
    // A registered name and one that nobody has.
    for (const of of [
      (name: string) => list(paris, name),
      (name: string) => take(paris, 'fetch', name, id),
      (name: string) => take(paris, 'remove', name, id),
    ]) {
      const [known, unknown] = [await of('lyon'), await of('rome')];
      assert.deepEqual([known.status, known.body.code], [403, 'insufficient_scope']);
      assert.equal(withoutIds(known), withoutIds(unknown));
    }
    // Another's ID and one that nobody has.
    const [other, nobody] = [
      await take(paris, 'fetch', 'paris', id),
      await take(paris, 'fetch', 'paris', randomUUID()),
    ];
    assert.deepEqual([other.status, nobody.status], [404, 404]);
    assert.equal(other.body.deliveries[0].state, 'unknown');
    assert.equal(nobody.body.deliveries[0].state, 'unknown');
    assert.deepEqual(await listed(paris, 'paris'), [own]);
    const { body } = await take(paris, 'fetch', 'paris', id, own);
    assert.deepEqual(
      body.deliveries.map(({ state }: { state: string }) => state),
      ['unknown', 'received'],
    );
    for (const answer of [
      await get(paris, `${PATH}/${own}`),
      await get(paris, '/api/v2/keys'),
      await get(paris, '/api/v2/metrics'),
      await ask(paris, randomUUID()),
      await server.post('/api/v2/validate', { key: '00' }, paris),
    ]) {
      assert.deepEqual([answer.status, answer.body.code], [403, 'insufficient_scope']);
    }
    const states = await get(foreign.apiKey, `${PATH}/${id}`);
    assert.deepEqual([states.status, states.body.code], [404, 'delivery_not_found']);
    const both = await get(foreign.apiKey, `${PATH}/${own}`);
    const found = both.body.delivery.recipients.map(({ state }: { state: string }) => state);
    assert.deepEqual(found, ['waiting', 'waiting']);
  });

  it('have the states and answers of the table in the documentation', async () => {
    const page = readFileSync(new URL('../../../docs/deliveries.md', import.meta.url), 'utf8');
    const rows = [
      ...page.matchAll(/^\| (`\w+`|of another.*?) \| (.*?) \| (.*?) \| (.*?) \| (.*?) \|$/gm),
    ];
    assert.equal(rows.length, 6);
    for (const [, first = '', ...cells] of rows) {
      const state = first.startsWith('`') ? first.replaceAll('`', '') : 'unknown';
      const found = await answersOf(state);
      assert.deepEqual(found, cells, state);
    }
  });

  /** Returns the cells of the table for a copy in a state. */
  async function answersOf(state: string): Promise<string[]> {
    const made = async () => {
      const { apiKey } = await newAccount();
      const id = randomUUID();
      const { key_id } = await deliver(apiKey, id);
      if (state === 'received') await take(apiKey, 'fetch', 'paris', id);
      if (state === 'removed') await take(apiKey, 'remove', 'paris', id);
      if (state === 'revoked') {
        await server.post(`/api/v2/keys/${key_id}/revoke`, { reason: 'superseded' }, apiKey);
      }
      if (state === 'expired') {
        const blob = id.replaceAll('-', '');
        change(`UPDATE delivery_copies SET until_ms = 1 WHERE delivery_id = x'${blob}'`);
        change(`UPDATE deliveries SET until_ms = 1 WHERE delivery_id = x'${blob}'`);
      }
      return { apiKey, id: state === 'unknown' ? randomUUID() : id };
    };
    const stateAt = async ({ apiKey, id }: { apiKey: string; id: string }) => {
      const { body } = await get(apiKey, `${PATH}/${id}`);
      const [, paris] = body.delivery?.recipients ?? [];
      return paris?.state;
    };
    const of = await made();
    const waiting = await listed(of.apiKey, 'paris');
    const received = await listed(of.apiKey, 'paris', '&state=received');
    const inList = waiting.includes(of.id)
      ? 'under `waiting`'
      : received.includes(of.id)
        ? 'under `received`'
        : 'no';
    const seen = await get(of.apiKey, `${PATH}/${of.id}`);
    const account =
      seen.status === 200 ? `\`${await stateAt(of)}\`` : `${seen.status} \`${seen.body.code}\``;
    const first = await take(of.apiKey, 'fetch', 'paris', of.id);
    const second = await take(of.apiKey, 'fetch', 'paris', of.id);
    if (first.status === 200) assert.deepEqual(second.body.deliveries, first.body.deliveries);
    const fetched =
      first.status !== 200
        ? `${first.status} \`${first.body.code}\``
        : state === 'received'
          ? '200, the same bytes'
          : `200, then \`${await stateAt(of)}\``;
    const fresh = await made();
    const answer = await take(fresh.apiKey, 'remove', 'paris', fresh.id);
    const isOver = ['removed', 'expired', 'revoked'].includes(state);
    const removed =
      answer.status === 200
        ? `200, ${isOver ? '' : 'then '}\`${answer.body.deliveries[0].state}\``
        : `${answer.status} \`${answer.body.code}\``;
    if (answer.status === 200) {
      assert.equal(await stateAt(fresh), answer.body.deliveries[0].state);
    }
    return [inList, fetched, removed, account];
  }
});
