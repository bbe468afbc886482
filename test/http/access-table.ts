/**
 * Access rights: one table of API keys and operations. Each operation of the OpenAPI document needs a row, and each API
 * key needs a column, so a new operation or kind of API key fails until its rights are decided. `with-accounts/access.ts`
 * runs it on SQLite, `test/slow/ledger/access-postgres.test.ts` on PostgreSQL.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeBase64Url, newRecipient } from '#sealing';
import { apiKeyHint, hashApiKey, newApiKey } from '../../src/accounts/index.ts';
import { monthlyQuotas, PUBLISHED_PLANS } from '../../src/config/index.ts';
import { type ApiKeySettings, openStore, type StoreLocation } from '../../src/ledger/index.ts';
import { batchOf } from '../ledger/sealing-contract.ts';
import { changeState } from '../support/ledgers/account-state.ts';
import type { Answer, Server } from '../support/servers/server.ts';

type Scope = 'generate' | 'validate' | 'read' | 'receive';

/** The API key of a caller: none, a text, or one that is issued with these settings. */
type Caller =
  | { readonly kind: 'none' }
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'issued';
      readonly settings: Partial<ApiKeySettings>;
      readonly isRevoked?: true;
      /** Belongs to another account than the key that the requests name. */
      readonly isForeign?: true;
      /** Belongs to an account of its own: in this state, on this plan, or with nothing left of its quota. */
      readonly own?: {
        readonly state?: 'suspended' | 'deleted';
        readonly plan?: string;
        readonly isExhausted?: true;
      };
    };

const issued = (settings: Partial<ApiKeySettings> = {}): Caller => ({ kind: 'issued', settings });

/**
 * What every operation answers. All verdicts in which the API key is admitted are 403 without the scope. With it,
 * `scoped` is 200, and `elsewhere` is bound to another recipient than the one that operations name. `foreign` and `exhausted` are of other accounts than the key, which is 404; `exhausted` is 429 for what
 * is metered.
 */
type Verdict =
  | 'missing_api_key'
  | 'invalid_api_key'
  | 'address_not_allowed'
  | 'account_suspended'
  | 'unknown_plan'
  | 'foreign'
  | 'exhausted'
  | 'elsewhere'
  | 'scoped';

/** The recipient of the delivery of the account. */
const RECIPIENT = 'paris';

const ALL = ['generate', 'validate', 'read', 'receive'] satisfies Scope[];

const PRINCIPALS: Record<string, readonly [Caller, Verdict, (readonly Scope[])?]> = {
  'no API key': [{ kind: 'none' }, 'missing_api_key'],
  'a mistyped API key': [{ kind: 'text', text: 'phmsk_live_x' }, 'invalid_api_key'],
  'an unknown API key': [{ kind: 'text', text: newApiKey('live') }, 'invalid_api_key'],
  'a revoked API key': [{ kind: 'issued', settings: {}, isRevoked: true }, 'invalid_api_key'],
  'an expired API key': [issued({ expiresMs: Date.now() - 1 }), 'invalid_api_key'],
  'a wrong address': [issued({ addressRanges: ['192.0.2.0/24', '::2'] }), 'address_not_allowed'],
  'a suspended account': [
    { kind: 'issued', settings: { scopes: ['validate'] }, own: { state: 'suspended' } },
    'account_suspended',
  ],
  'a deleted account': [
    { kind: 'issued', settings: {}, own: { state: 'deleted' } },
    'invalid_api_key',
  ],
  'an unknown plan': [
    { kind: 'issued', settings: { scopes: ['validate'] }, own: { plan: 'gone' } },
    'unknown_plan',
  ],
  'a suspended account on an unknown plan': [
    { kind: 'issued', settings: {}, own: { plan: 'gone', state: 'suspended' } },
    'account_suspended',
  ],
  'an exhausted quota': [
    { kind: 'issued', settings: {}, own: { plan: 'research', isExhausted: true } },
    'exhausted',
    ALL,
  ],
  'an exhausted quota without the scope to generate': [
    {
      ...{ kind: 'issued', settings: { scopes: ['validate', 'read'] } },
      own: { plan: 'research', isExhausted: true },
    },
    'exhausted',
    ['validate', 'read'],
  ],
  'an exhausted limit of the API key': [
    { kind: 'issued', settings: { monthlyLimit: 1 }, own: { isExhausted: true } },
    'exhausted',
    ALL,
  ],
  'a foreign API key': [{ kind: 'issued', settings: {}, isForeign: true }, 'foreign', ALL],
  ...Object.fromEntries(
    ALL.map((scope) => [
      `a foreign API key for ${scope}`,
      [{ kind: 'issued', settings: { scopes: [scope] }, isForeign: true }, 'foreign', [scope]],
    ]),
  ),
  'an API key without rules': [issued(), 'scoped', ALL],
  'a right address': [
    issued({ addressRanges: ['192.0.2.0/24', '127.0.0.0/8', '::1'] }),
    'scoped',
    ALL,
  ],
  'an API key that expires later': [issued({ expiresMs: Date.now() + 3_600_000 }), 'scoped', ALL],
  'an API key that receives for this recipient': [
    issued({ scopes: ['receive'], recipients: ['lyon', RECIPIENT] }),
    'scoped',
    ['receive'],
  ],
  'an API key that receives for another recipient': [
    issued({ scopes: ['receive'], recipients: ['lyon'] }),
    'elsewhere',
    ['receive'],
  ],
  ...Object.fromEntries(
    (
      [
        ['generate'],
        ['validate'],
        ['read'],
        ['generate', 'validate'],
        ['generate', 'read'],
        ['validate', 'read'],
        ['receive'],
        ['generate', 'receive'],
        ['generate', 'validate', 'read'],
        ALL,
      ] satisfies Scope[][]
    ).map((scopes) => [
      `an API key for ${scopes.join(' and ')}`,
      [issued({ scopes }), 'scoped', scopes] as const,
    ]),
  ),
};

interface Operation {
  /** Null for an operation without an API key. */
  readonly scope: Scope | readonly Scope[] | null;
  readonly method?: 'GET' | 'POST';
  readonly path: string | (() => string);
  readonly body?: () => object;
  readonly isMetered?: true;
  /** What another account gets; 200 unless the operation names a key of the account. */
  readonly foreign?: 'key_not_found' | 'receipt_not_found' | 'delivery_not_found';
}

/** A key of the account that all API keys but the foreign one belong to. */
let key: { readonly key_id: string; readonly key: string };

/** Deliveries of the account. */
const [fetchedId, removedId] = [randomUUID(), randomUUID()];

/** The commitment to it. */
let commitment = '';

const { suite, publicKey } = await newRecipient('MLKEM768-X25519');
const sealTo = { suite, public_key: encodeBase64Url(publicKey) };

const plain = { security_level: 128 };

const OPERATIONS: Record<string, Operation> = {
  generate: {
    ...{ scope: 'generate', isMetered: true },
    path: '/api/v2/generate',
    body: () => plain,
  },
  generateSealed: {
    ...{ scope: 'generate', isMetered: true },
    path: '/api/v2/generate/sealed',
    body: () => ({ ...plain, seal_to: sealTo }),
  },
  generateBatch: {
    ...{ scope: 'generate', isMetered: true },
    path: '/api/v2/generate/batch',
    body: () => ({ ...plain, count: 2 }),
  },
  generateSealedBatch: {
    ...{ scope: 'generate', isMetered: true },
    path: '/api/v2/generate/sealed/batch',
    body: () => ({ ...plain, count: 2, seal_to: sealTo }),
  },
  revokeKey: {
    scope: 'generate',
    path: () => `/api/v2/keys/${key.key_id}/revoke`,
    body: () => ({ reason: 'superseded' }),
    foreign: 'key_not_found',
  },
  validate: {
    ...{ scope: 'validate', isMetered: true },
    path: '/api/v2/validate',
    body: () => ({ key: key.key }),
  },
  listKeys: { scope: 'read', path: '/api/v2/keys' },
  getKey: {
    scope: 'read',
    path: () => `/api/v2/keys/${key.key_id}`,
    foreign: 'key_not_found',
  },
  receipt: {
    scope: 'read',
    path: () => `/api/v2/keys/${key.key_id}/receipt`,
    foreign: 'receipt_not_found',
  },
  listDeliveries: { scope: 'receive', path: `/api/v2/deliveries?recipient=${RECIPIENT}` },
  fetchDeliveries: {
    scope: 'receive',
    path: '/api/v2/deliveries/fetch',
    body: () => ({ recipient: RECIPIENT, ids: [fetchedId] }),
    foreign: 'delivery_not_found',
  },
  removeDeliveries: {
    scope: 'receive',
    path: '/api/v2/deliveries/remove',
    body: () => ({ recipient: RECIPIENT, ids: [removedId] }),
    foreign: 'delivery_not_found',
  },
  getDelivery: {
    scope: ['generate', 'read'],
    path: `/api/v2/deliveries/${fetchedId}`,
    foreign: 'delivery_not_found',
  },
  receiptByCommitment: {
    scope: null,
    path: '/api/v2/receipts',
    body: () => ({ key_id: key.key_id, key_commitment: commitment }),
  },
  metrics: { scope: 'read', path: '/api/v2/metrics' },
  metricsSeries: { scope: 'read', path: '/api/v2/metrics/series' },
  randomness: { scope: 'read', path: '/api/v2/metrics/randomness' },
  logCheckpoint: { scope: null, path: '/log/checkpoint' },
  logPolicy: { scope: null, path: '/log/policy' },
  livez: { scope: null, path: '/livez' },
  readyz: { scope: null, path: '/readyz' },
  health: { scope: null, path: '/health' },
};

/** API keys by the name of their principal; null for none. */
const apiKeys = new Map<string, string | null>();

/** Issues the API keys of the table, all but the foreign one to one account. */
async function issueAll(location: StoreLocation): Promise<void> {
  const store = await openStore(location, monthlyQuotas(PUBLISHED_PLANS));
  const createdMs = Date.now();
  const add = async (plan = 'professional') => {
    const accountId = `acct_${randomUUID()}`;
    const account = { accountId, name: 'access', plan, demo: false, createdMs };
    assert.ok(await store.addAccount(account));
    return accountId;
  };
  const [owner, foreign] = [await add(), await add()];
  const recipient = { accountId: owner, name: RECIPIENT, suite, publicKey, createdMs };
  assert.equal(await store.addRecipient(recipient), 'added');
  for (const [name, [caller]] of Object.entries(PRINCIPALS)) {
    if (caller.kind !== 'issued') {
      apiKeys.set(name, caller.kind === 'text' ? caller.text : null);
      continue;
    }
    const { own, settings } = caller;
    const apiKey = newApiKey('live');
    const apiKeyId = `key_${randomUUID()}`;
    const accountId = own ? await add(own.plan) : caller.isForeign ? foreign : owner;
    const record = {
      apiKeyId,
      accountId,
      hint: apiKeyHint(apiKey),
      createdMs,
      revokedMs: caller.isRevoked ? createdMs : null,
    };
    assert.ok(await store.addApiKey({ ...record, ...settings }, hashApiKey(apiKey)));
    apiKeys.set(name, apiKey);
    if (own?.isExhausted) {
      const limit = settings.monthlyLimit;
      const keys = limit ?? PUBLISHED_PLANS.get('research')?.monthlyQuota ?? 0;
      const request = batchOf(accountId, keys, {
        atMs: createdMs,
        ...(limit && { apiKeyLimit: { counterId: apiKeyId, limit } }),
      });
      const [outcome] = await store.commit([request], []);
      assert.equal(outcome?.kind, 'committed');
    }
    if (own?.state) await changeState(store, accountId, own.state);
  }
  await store.close();
}

async function ask(server: Server, { path, body }: Operation, apiKey: string | null) {
  const response = await fetch(`${server.address}${typeof path === 'string' ? path : path()}`, {
    method: body ? 'POST' : 'GET',
    headers: {
      ...(apiKey !== null && { 'X-API-Key': apiKey }),
      ...(body && { 'Content-Type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body()) }),
  });
  const text = await response.text();
  const isProblem = response.headers.get('content-type')?.startsWith('application/problem+json');
  const problem = isProblem ? (JSON.parse(text) as Answer['body']) : null;
  return { status: response.status, code: problem?.code ?? null, detail: problem?.detail ?? '' };
}

/** Returns status, code and a part of the detail that an operation must answer with. */
function expected(
  { scope, foreign, isMetered }: Operation,
  [, verdict, scopes = []]: (typeof PRINCIPALS)[string],
  name: string,
): [status: number, code: string | null, detail: RegExp] {
  const success: [number, null, RegExp] = [200, null, /^$/];
  if (scope === null) return success;
  switch (verdict) {
    case 'missing_api_key':
      return [401, verdict, /./];
    case 'invalid_api_key':
      return [401, verdict, name.includes('expired') ? /expired at \d{4}-/ : /mistyped, unknown/];
    case 'address_not_allowed':
      return [403, verdict, /from (127\.0\.0\.1|::1)\./];
    case 'account_suspended':
      return [403, verdict, /Ask the operator/];
    case 'unknown_plan':
      return [503, verdict, /./];
  }
  // The scope is judged before the key that a request names, and before the quota.
  const needed = [scope].flat();
  if (!needed.some((one) => scopes.includes(one))) {
    return [403, 'insufficient_scope', new RegExp(`the scope "${needed[0]}"`)];
  }
  if (verdict === 'elsewhere')
    return [403, 'insufficient_scope', /cannot be used for this recipient/];
  if (verdict !== 'scoped' && foreign) return [404, foreign, /./];
  if (verdict === 'exhausted' && isMetered) return [429, 'quota_exceeded', /./];
  return success;
}

/** Where the table is checked: a server and its database. */
export interface AccessSite {
  readonly server: Server;
  readonly location: StoreLocation;
}

/** Declares the tests. `open` returns the site once they run. */
export function accessTable(
  name: string,
  open: () => AccessSite,
  when: { readonly skip: string | false } = { skip: false },
): void {
  describe(`access: ${name}`, when, () => {
    let server: Server;

    before(async () => {
      const site = open();
      server = site.server;
      await issueAll(site.location);
      const owner = apiKeys.get('an API key without rules') ?? '';
      ({ body: key } = await server.generate(plain, owner));
      for (const id of [fetchedId, removedId]) {
        const delivered = { ...plain, seal_to: { recipient: RECIPIENT }, deliver: { id } };
        const made = await server.post('/api/v2/generate/sealed', delivered, owner);
        assert.equal(made.status, 200);
      }
      const { receipt } = OPERATIONS as { receipt: Operation };
      while ((await ask(server, receipt, owner)).code === 'receipt_pending') await sleep(50);
      const headers = { 'X-API-Key': owner };
      const { body } = await server.request(`/api/v2/keys/${key.key_id}/receipt`, { headers });
      commitment = body.receipt.statement.key_commitment;
    });

    it('is decided for every operation of the OpenAPI document', async () => {
      const { body } = await server.request('/api/v2/openapi.json');
      const documented = Object.values(body.paths as Record<string, object>)
        .flatMap((item) => Object.values(item))
        .map(({ operationId, security, 'x-required-scope': scope = null }) => {
          assert.equal(scope === null, security?.length === 0, operationId);
          return [operationId, scope];
        });
      const decided = Object.entries(OPERATIONS).map(([id, { scope }]) => [id, scope]);
      assert.deepEqual(documented.sort(), decided.sort());
    });

    for (const [id, operation] of Object.entries(OPERATIONS)) {
      it(`is right for each API key: ${id}`, async () => {
        for (const [principal, row] of Object.entries(PRINCIPALS)) {
          const [status, code, detail] = expected(operation, row, principal);
          const answer = await ask(server, operation, apiKeys.get(principal) ?? null);
          assert.deepEqual([answer.status, answer.code], [status, code], principal);
          assert.match(answer.detail, detail, principal);
        }
      });
    }
  });
}
