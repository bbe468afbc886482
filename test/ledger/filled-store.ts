/** A store with rows in every table, and a comparison of two stores after a move. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { utcMonth } from '../../src/clock.ts';
import type {
  LedgerRow,
  LedgerStore,
  MeteredRequest,
  RecipientRecord,
} from '../../src/ledger/index.ts';
import { areRecorded, keyRequest, makeKeyId, makeRow, NOW } from './contract.ts';
import { auditRecord } from './log-contract.ts';
import { answerTo, batchOf, findAnswer, plain, record, seal } from './sealing-contract.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export interface Filled {
  readonly rows: readonly LedgerRow[];
}

const hashOf = (name: string) => Buffer.alloc(32, name);
const checkValue = Buffer.alloc(32, 'check');

/**
 * Fills a store with two accounts, one of them with a revoked API key, `count` rows over three months,
 * failures and validations. `setClock` sets the database's own clock.
 */
export async function fillStore(
  store: LedgerStore,
  count = 300,
  setClock?: (atMs: number) => Promise<void>,
): Promise<Filled> {
  for (const [accountId, name, plan] of [
    ['acct_a', 'Ada "Lovelace" – 𝛌\\', 'enterprise'],
    ['acct_b', 'B', 'research'],
  ] as const) {
    await store.addAccount({ accountId, name, plan, demo: plan === 'research', createdMs: NOW });
    const record = { accountId, hint: 'phmsk_…', createdMs: NOW, revokedMs: null };
    await store.addApiKey({ ...record, apiKeyId: `key_${accountId}` }, hashOf(accountId));
    await store.addApiKey({ ...record, apiKeyId: `old_${accountId}` }, hashOf(`old ${accountId}`));
  }
  await store.revokeApiKey('old_acct_b', NOW + 1);
  await store.registerSecret(1, checkValue, NOW);
  await store.registerSecret(2, checkValue, NOW + 5);
  await store.retireSecret(1, { retiredMs: NOW + 6, compromisedMs: NOW - 7 });
  const rows = Array.from({ length: count }, (_, i) => {
    const createdMs = NOW - 60 * DAY_MS + Math.floor((60 * DAY_MS * i) / count);
    const verdict = { gateP: i / count, testsPassed: 15, totalTests: 15 };
    const evidence =
      i % 3
        ? null
        : { ...verdict, definition: (i % 2) + 1, pValues: Buffer.alloc(i % 2 ? 768 : 752, i) };
    const entropyJobId = i % 2 ? null : `job-${i}`;
    const keyId = makeKeyId(createdMs);
    return makeRow({ keyId, createdMs, latencyUs: 100 + i, evidence, entropyJobId });
  });
  const counts = { streams: 2, streamsPassed: 1 };
  for (const ofMonth of Map.groupBy(rows, ({ createdMs }) =>
    setClock ? utcMonth(createdMs) : 0,
  ).values()) {
    await setClock?.(ofMonth[0]?.createdMs ?? NOW);
    const requests = ofMonth.map((row) =>
      keyRequest(rows.indexOf(row) % 3 ? 'acct_a' : 'acct_b', row, row.createdMs),
    );
    await store.commit(requests, []);
  }
  await setClock?.(NOW);
  await store.commit([], [{ accountId: 'acct_b', atMs: NOW, counts }]);
  await store.commit([{ ...keyRequest('acct_a'), keys: [] }], []);
  return { rows };
}

/** Compares the answers of both stores. */
export async function assertSameStore(
  store: LedgerStore,
  other: LedgerStore,
  { rows }: Filled,
): Promise<void> {
  assert.deepEqual(await readBooks(other), await readBooks(store));
  const found = await areRecorded(
    other,
    rows.map(({ keyId }) => keyId),
  );
  assert.ok(found.length > 0 && found.every(Boolean));
  const commitments = rows.map(({ commitment }) => commitment);
  assert.ok((await other.findCommitments(commitments)).every((madeMs) => madeMs !== null));
  // The new store also recognises a repeated key.
  const [row] = rows;
  const again = await other.commit([keyRequest('acct_a', row)], []);
  assert.deepEqual(again, [{ kind: 'repeated_key' }]);
}

/** Returns everything except the ledger's rows, as plain values. */
async function readBooks(store: LedgerStore): Promise<unknown> {
  const ids = ['acct_a', 'acct_b'];
  const periods = [90 * DAY_MS, 30 * HOUR_MS + 60_000];
  const books = {
    accounts: await store.listAccounts(),
    apiKeys: await store.listApiKeys(),
    secrets: [...(await store.secretChecks())],
    principals: await store.authenticate([...ids, 'old acct_a', 'old acct_b'].map(hashOf), NOW),
    metrics: await Promise.all(
      ids.flatMap((id) => periods.map((period) => store.activity(id, NOW - period))),
    ),
    series: await Promise.all(
      ids.flatMap((accountId) =>
        [1, 1_440].map((stepMinutes) => {
          const endMs = Math.ceil(NOW / DAY_MS) * DAY_MS;
          const startMs = endMs - 100 * stepMinutes * 60_000;
          return store.series({ accountId, startMs, stepMinutes, steps: 100 });
        }),
      ),
    ),
    keyEvidence: await Promise.all(ids.map((id) => store.keyEvidence(id, 1_000))),
  };
  return JSON.parse(
    JSON.stringify(books, (_, value) =>
      value instanceof Uint8Array ? [...value] : value?.type === 'Buffer' ? value.data : value,
    ),
  );
}

/** Fills a store with keys that have labels, expire, or are revoked. Returns their rows. */
export async function fillRecords(store: LedgerStore): Promise<LedgerRow[]> {
  const account = { accountId: 'acct_r', name: 'r', plan: 'research', demo: false, createdMs: NOW };
  await store.addAccount(account);
  const record = { accountId: 'acct_r', hint: 'h', createdMs: NOW, revokedMs: null };
  await store.addApiKey({ ...record, apiKeyId: 'key_acct_r' }, hashOf('acct_r'));
  await store.registerSecret(1, checkValue, NOW);
  const rows = [
    makeRow({ labels: '{"env":"prod","note":"ü \\\\ \\""}' }),
    makeRow({ expiresMs: NOW + DAY_MS }),
    makeRow({ expiresMs: NOW + DAY_MS }),
    makeRow(),
  ];
  await store.commit(
    rows.map((row) => keyRequest('acct_r', row)),
    [],
  );
  for (const { keyId } of rows.slice(2)) {
    const order = { accountId: 'acct_r', keyId, reason: 'unspecified', atMs: NOW } as const;
    const audit = {
      auditId: makeKeyId(),
      atMs: NOW,
      action: 'key_revoked',
      details: '{}',
    } as const;
    const salt = randomBytes(32);
    const revocation = {
      order: { ...order, state: 'compromised' as const },
      audit: { ...audit, salt, pending: null },
    };
    await store.revokeKeys([revocation]);
  }
  return rows;
}

/** Fills a store with API keys that have rules and were rotated and used. Returns how to read them. */
export async function fillApiKeys(
  store: LedgerStore,
): Promise<(of: LedgerStore) => Promise<unknown>> {
  const accountId = 'acct_k';
  const fields = { name: accountId, plan: 'research', demo: false, createdMs: NOW };
  await store.addAccount({ accountId, ...fields });
  const record = { apiKeyId: 'key_k', accountId, hint: 'h', createdMs: NOW, revokedMs: null };
  const scopes = ['generate', 'read'] as const;
  const limits = { ratePerSecond: 0.5, burst: 2, monthlyLimit: 9 };
  const settings = { name: 'ü', scopes, addressRanges: ['192.0.2.0/24'], ...limits };
  await store.addApiKey({ ...record, ...settings }, hashOf('key_k'));
  await store.rotateApiKey({
    apiKeyId: 'key_k',
    next: { apiKeyId: 'key_l', hint: 'i' },
    keyHash: hashOf('key_l'),
    atMs: NOW,
    untilMs: NOW + DAY_MS,
  });
  await store.noteApiKeyUses(['key_l'], 495_000);
  const apiKeyLimit = { counterId: 'key_k', limit: 9 };
  await store.commit([{ ...keyRequest(accountId), keys: [], apiKeyLimit }], []);
  return async (of) => [
    await of.listApiKeys(accountId),
    await of.authenticate(['key_k', 'key_l'].map(hashOf), NOW),
  ];
}

/** Fills a store with deliveries in every state, and an API key that receives. Returns how to read them. */
export async function fillDeliveries(
  store: LedgerStore,
): Promise<(of: LedgerStore) => Promise<unknown>> {
  const accountId = 'acct_d';
  const fields = { name: accountId, plan: 'research', demo: false, createdMs: NOW };
  await store.addAccount({ accountId, ...fields });
  const names = ['lyon', 'paris'];
  const publicKey = Buffer.alloc(40, 1);
  for (const name of names) {
    await store.addRecipient({ accountId, name, suite: 's', publicKey, createdMs: NOW });
  }
  const apiKey = { apiKeyId: 'key_d', accountId, hint: 'h', createdMs: NOW, revokedMs: null };
  const settings = { scopes: ['receive'], recipients: names } as const;
  await store.addApiKey({ ...apiKey, ...settings }, hashOf('key_d'));
  const ids = Array.from({ length: 5 }, (_, i) => Buffer.alloc(16, i + 1));
  const context = Buffer.alloc(32, 7);
  const keys = ids.map((deliveryId, i) =>
    makeRow({
      sealed: {
        ...{ ...seal(), further: null },
        ...{ deliveryId, deliveryContext: i % 2 === 0 ? context : null },
      },
    }),
  );
  const delivery = {
    deliveries: ids.map((deliveryId) => ({ deliveryId, copies: ['{"a":1}', '{"b":2}'] })),
    recipients: names.map((name) => ({ name, publicKey })),
    untilMs: NOW + DAY_MS,
    limits: { copies: 10, bytes: 1_000 },
  };
  const request = { ...keyRequest(accountId), keys, delivery };
  const [outcome] = await store.commit([request], []);
  if (outcome?.kind !== 'committed') throw new Error('the deliveries were refused');
  const order = { accountId, nowMs: NOW };
  await store.takeCopies([
    { ...order, recipient: 'lyon', action: 'fetch', deliveryIds: ids.slice(0, 2) },
    { ...order, recipient: 'paris', action: 'remove', deliveryIds: ids.slice(1, 3) },
  ]);
  const revocation = { accountId, state: 'compromised', reason: 'key_compromise' } as const;
  const { keyId } = keys[3] as LedgerRow;
  const audit = auditRecord(null, { action: 'key_revoked' });
  await store.revokeKeys([{ order: { ...revocation, keyId, atMs: NOW }, audit }]);
  await store.withdrawDeliveries({ accountId, deliveryIds: ids.slice(4) });
  return async (of) =>
    plain([
      await Promise.all(ids.map((id) => of.findDelivery(accountId, id, NOW))),
      await of.listCopies({
        ...{ accountId, recipient: 'lyon', state: 'received', afterKeyId: null, limit: 9 },
        nowMs: NOW,
      }),
      await of.takeCopies([{ ...order, recipient: 'lyon', action: 'fetch', deliveryIds: ids }]),
      (await of.authenticate([hashOf('key_d')], NOW))[0]?.rules?.recipients,
    ]);
}

/** Compares the records of both stores. */
export async function assertSameRecords(
  store: LedgerStore,
  other: LedgerStore,
  rows: readonly LedgerRow[],
): Promise<void> {
  const keyIds = rows.map(({ keyId }) => keyId);
  const commitments = rows.map(({ commitment }) => commitment);
  const of = async (one: LedgerStore) => ({
    list: await one.listKeys({ accountId: 'acct_r', beforeKeyId: null, fromKeyId: null, limit: 9 }),
    states: await one.findStates(commitments),
    explained: await one.findKeyStates(keyIds),
  });
  const found = await of(store);
  assert.equal(found.states.filter(Boolean).length, 3);
  assert.deepEqual(plain(await of(other)), plain(found));
}

/** Fills a store with a suspended, a resumed and a deleted account. */
export async function fillStates(store: LedgerStore): Promise<void> {
  const states = {
    acct_suspended: ['suspended'],
    acct_resumed: ['suspended', 'active'],
    acct_deleted: ['deleted'],
  } as const;
  const actions = {
    suspended: 'account_suspended',
    active: 'account_resumed',
    deleted: 'account_deleted',
  } as const;
  for (const [accountId, changes] of Object.entries(states)) {
    const account = { accountId, name: 'Ada', plan: 'research', demo: false, createdMs: NOW };
    await store.addAccount(account);
    for (const to of changes) {
      const after = (await store.findAccount(accountId))?.stateAudit ?? null;
      const audit = auditRecord(null, { action: actions[to] });
      await store.changeAccountState({ accountId, to, after, atMs: NOW }, audit);
    }
  }
}

/** Compares the accounts of both stores. */
export async function assertSameStates(store: LedgerStore, other: LedgerStore): Promise<void> {
  const ids = ['acct_suspended', 'acct_resumed', 'acct_deleted'];
  const of = (one: LedgerStore) => Promise.all(ids.map((id) => one.findAccount(id)));
  const found = await of(store);
  assert.equal(found.filter((one) => one?.change).length, 3);
  assert.deepEqual(plain(await of(other)), plain(found));
}

interface FilledSealed {
  readonly request: MeteredRequest;
  readonly recipient: RecipientRecord;
}

/** Fills a store with a sealed batch that a client may retry, its recipient, and an account for sealed keys only. */
export async function fillSealed(store: LedgerStore): Promise<FilledSealed> {
  const account = { accountId: 'acct_s', name: 's', plan: 'research', demo: false, createdMs: NOW };
  await store.addAccount(account);
  await store.addAccount({ ...account, accountId: 'acct_p' });
  await store.setSealedOnly('acct_s', 'on');
  const fields = { suite: 'MLKEM768-X25519', publicKey: randomBytes(1_216), createdMs: NOW };
  const recipient = { accountId: 'acct_s', name: 'ben.1', ...fields };
  await store.addRecipient(recipient);
  const body = `{"keys":["${'k'.repeat(3 * 2 ** 20)}"]}`;
  const keys = [makeRow({ sealed: seal() }), makeRow({ sealed: seal() })];
  const request = batchOf('acct_s', 0, { keys, idempotency: record('1f!"\\~', body) });
  await store.commit([request, batchOf('acct_p', 1, { idempotency: record('p', null) })], []);
  return { request, recipient };
}

/** Reads what `fillSealed` has written. */
export async function assertSealed(
  store: LedgerStore,
  { request, recipient }: FilledSealed,
): Promise<void> {
  const accounts = (await store.listAccounts()).filter(({ sealedOnly }) => sealedOnly !== 'off');
  assert.deepEqual(
    accounts.map(({ accountId }) => accountId),
    ['acct_s'],
  );
  assert.deepEqual(plain(await store.listRecipients()), [plain(recipient)]);
  for (const { keyId, sealed } of request.keys) {
    assert.deepEqual(plain((await store.findRecord(keyId))?.sealed), plain(sealed));
  }
  const retry = batchOf('acct_s', 1, { idempotency: record(request.idempotency?.key ?? '') });
  const [outcome] = await store.commit([retry], []);
  assert.ok(outcome?.kind === 'replayed');
  assert.deepEqual(plain(outcome.answer), plain(answerTo(request)));
  const found = await findAnswer(store, 'acct_p', 'p');
  assert.equal(found?.body, null);
}
