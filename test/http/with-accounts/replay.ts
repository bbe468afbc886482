/**
 * Answers to a repeated request whose circumstances have changed. A repetition passes the checks of every request: API key,
 * address, rate limit, account, scope, and the account's setting for sealed keys. Only then is it answered from the record,
 * whatever the quota and the state of its key (docs/api.md, "Safe retry").
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { encodeBase64Url, newRecipient } from '#sealing';
import { apiKeyHint, hashApiKey, newApiKey } from '../../../src/accounts/index.ts';
import { monthlyQuotas, PUBLISHED_PLANS } from '../../../src/config/index.ts';
import { type ApiKeySettings, type LedgerStore, openStore } from '../../../src/ledger/index.ts';
import { sqliteIn } from '../../support/clients/unknown-keys.ts';
import { changeState } from '../../support/ledgers/account-state.ts';
import { type Account, addAccounts } from '../../support/ledgers/books.ts';
import { until } from '../../support/run/until.ts';
import type { Answer } from '../../support/servers/server.ts';
import { dataDir, server } from '../../support/servers/shared-server.ts';

const { suite, publicKey } = await newRecipient();
const sealTo = { suite, public_key: encodeBase64Url(publicKey) };

/** Requests by kind of their answer. */
const REQUESTS = [
  { path: '/api/v2/generate', body: { security_level: 128 } },
  { path: '/api/v2/generate/batch', body: { security_level: 128, count: 2 } },
  { path: '/api/v2/generate/sealed', body: { security_level: 128, seal_to: sealTo } },
  {
    path: '/api/v2/generate/sealed/batch',
    body: { security_level: 128, count: 2, seal_to: sealTo },
  },
] as const;

interface Reply extends Pick<Answer, 'status' | 'body'> {
  readonly replayed: boolean;
}

let store: LedgerStore;
before(async () => {
  store = await openStore(sqliteIn(dataDir), monthlyQuotas(PUBLISHED_PLANS));
});
after(() => store.close());

async function newAccount(plan = 'professional'): Promise<Account> {
  const [account] = (await addAccounts(sqliteIn(dataDir), [plan])) as [Account];
  return account;
}

async function issue(accountId: string, settings: Partial<ApiKeySettings> = {}): Promise<string> {
  const apiKey = newApiKey('live');
  const record = {
    ...{ apiKeyId: `key_of_${apiKeyHint(apiKey)}_${accountId}`, accountId, hint: 'h' },
    ...{ createdMs: Date.now(), revokedMs: null },
  };
  assert.ok(await store.addApiKey({ ...record, ...settings }, hashApiKey(apiKey)));
  return apiKey;
}

/** Sends each request with the same `Idempotency-Key`. */
const sendAll = (apiKey: string): Promise<Reply[]> =>
  Promise.all(
    REQUESTS.map(async ({ path, body }) => {
      const {
        status,
        headers,
        body: answer,
      } = await server.request(path, {
        method: 'POST',
        headers: {
          ...{ 'X-API-Key': apiKey, 'Content-Type': 'application/json' },
          'Idempotency-Key': `of ${path}`.replace(' ', ':'),
        },
        body: JSON.stringify(body),
      });
      return { status, body: answer, replayed: headers.get('idempotent-replayed') === 'true' };
    }),
  );

/** Sends each request for the first time. */
async function sendFirst(apiKey: string): Promise<Reply[]> {
  const first = await sendAll(apiKey);
  for (const { status, replayed } of first) assert.deepEqual([status, replayed], [200, false]);
  return first;
}

const keyIdsOf = ({ body: { key_id, keys } }: Reply): string[] =>
  keys ? keys.map((one: { key_id: string }) => one.key_id) : [key_id];

/** Asserts that all are answered from their records: sealed keys again, plaintext keys by their IDs. */
function assertReplayed(replies: readonly Reply[], first: readonly Reply[]): void {
  for (const [i, { status, body, replayed }] of replies.entries()) {
    const before = first[i] as Reply;
    if (i >= 2) assert.deepEqual([status, replayed, body], [200, true, before.body]);
    else {
      assert.deepEqual([status, body.code], [409, 'key_already_made']);
      assert.deepEqual(body.key_ids ?? [body.key_id], keyIdsOf(before));
    }
  }
}

function assertRefused(replies: readonly Reply[], status: number, code: string): void {
  for (const reply of replies) {
    assert.deepEqual([reply.status, reply.body.code, reply.replayed], [status, code, false]);
    assert.equal(reply.body.key_ids ?? reply.body.key_id ?? reply.body.sealed_key, undefined);
  }
}

/** Waits until the server has looked the API key up again. */
const untilRefused = (apiKey: string, code: string) =>
  until(`${code} is answered`, async () => (await server.metrics('', apiKey)).body.code === code);

const untilServed = (apiKey: string) =>
  until('the API key is served', async () => (await server.metrics('', apiKey)).status === 200);

const apiKeyIdOf = async (apiKey: string): Promise<string> =>
  (await store.findApiKey(hashApiKey(apiKey)))?.apiKeyId ?? '';

/** Rotates an API key, and returns the new one. */
async function rotate(apiKey: string, overlapMs: number): Promise<string> {
  const [next, apiKeyId, atMs] = [newApiKey('live'), await apiKeyIdOf(apiKey), Date.now()];
  const outcome = await store.rotateApiKey({
    ...{ apiKeyId, next: { apiKeyId: `${apiKeyId}_next`, hint: 'h' }, keyHash: hashApiKey(next) },
    ...{ atMs, untilMs: atMs + overlapMs },
  });
  assert.equal(outcome, 'rotated');
  return next;
}

describe('a repeated request', { concurrency: true }, () => {
  it('is answered from its record after its keys were revoked', async () => {
    const { apiKey } = await newAccount();
    const first = await sendFirst(apiKey);
    for (const keyId of first.flatMap(keyIdsOf)) {
      const path = `/api/v2/keys/${keyId}/revoke`;
      const { status } = await server.post(path, { reason: 'key_compromise' }, apiKey);
      assert.equal(status, 200);
    }
    assertReplayed(await sendAll(apiKey), first);
  });

  it('is refused while its account is suspended, answered when it is resumed, refused when it is deleted', async () => {
    const { accountId, apiKey } = await newAccount();
    const first = await sendFirst(apiKey);
    await changeState(store, accountId, 'suspended');
    await untilRefused(apiKey, 'account_suspended');
    assertRefused(await sendAll(apiKey), 403, 'account_suspended');
    await changeState(store, accountId, 'active');
    await untilServed(apiKey);
    assertReplayed(await sendAll(apiKey), first);
    await changeState(store, accountId, 'deleted');
    await untilRefused(apiKey, 'invalid_api_key');
    assertRefused(await sendAll(apiKey), 401, 'invalid_api_key');
  });

  it('is refused to a revoked API key, and answered to another one of the account', async () => {
    const { accountId, apiKey } = await newAccount();
    const first = await sendFirst(apiKey);
    const other = await issue(accountId, { scopes: ['generate'] });
    await store.revokeApiKey(await apiKeyIdOf(apiKey), Date.now());
    await untilRefused(apiKey, 'invalid_api_key');
    assertRefused(await sendAll(apiKey), 401, 'invalid_api_key');
    assertReplayed(await sendAll(other), first);
  });

  it('is answered to the API keys of a rotation that are valid', async () => {
    const { apiKey } = await newAccount();
    const first = await sendFirst(apiKey);
    const second = await rotate(apiKey, 3_600_000);
    for (const one of [apiKey, second]) assertReplayed(await sendAll(one), first);
    const third = await rotate(second, 0);
    await untilRefused(second, 'invalid_api_key');
    assertRefused(await sendAll(second), 401, 'invalid_api_key');
    for (const one of [apiKey, third]) assertReplayed(await sendAll(one), first);
  });

  it('is refused to an API key without the scope, or from an address that it does not allow', async () => {
    const { accountId, apiKey } = await newAccount();
    const first = await sendFirst(apiKey);
    const reader = await issue(accountId, { scopes: ['validate', 'read'] });
    assertRefused(await sendAll(reader), 403, 'insufficient_scope');
    const elsewhere = await issue(accountId, { addressRanges: ['192.0.2.0/24'] });
    assertRefused(await sendAll(elsewhere), 403, 'address_not_allowed');
    assertReplayed(await sendAll(apiKey), first);
  });

  it('is answered although the API key has used its monthly limit', async () => {
    const { accountId } = await newAccount();
    const limited = await issue(accountId, { monthlyLimit: 6 });
    const first = await sendFirst(limited);
    assert.equal(
      (await server.generate({ security_level: 128 }, limited)).body.code,
      'quota_exceeded',
    );
    assertReplayed(await sendAll(limited), first);
  });

  it('obeys the setting for sealed keys that its account has now', async () => {
    const { accountId, apiKey } = await newAccount();
    const first = await sendFirst(apiKey);
    await store.setSealedOnly(accountId, 'registered');
    await until('the setting holds', async () => {
      return (await server.generate({ security_level: 128 }, apiKey)).body.code === 'sealed_only';
    });
    const [plain, batch, ...sealed] = await sendAll(apiKey);
    assertRefused([plain, batch] as Reply[], 403, 'sealed_only');
    assertRefused(sealed, 403, 'recipient_not_registered');
    await store.setSealedOnly(accountId, 'off');
    await until('the setting has ended', async () => {
      return (await server.generate({ security_level: 128 }, apiKey)).status === 200;
    });
    assertReplayed(await sendAll(apiKey), first);
  });

  it('gets nothing of another account, which generates keys of its own', async () => {
    const [{ apiKey }, { apiKey: foreign }] = [await newAccount(), await newAccount()];
    const first = await sendFirst(apiKey);
    const others = await sendFirst(foreign);
    const keyIds = new Set([...first, ...others].flatMap(keyIdsOf));
    assert.equal(keyIds.size, 12);
    assertReplayed(await sendAll(foreign), others);
    assertReplayed(await sendAll(apiKey), first);
  });
});
