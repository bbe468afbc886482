/** Keys for several recipients, from a running server: one key, one record, one place of the quota, a copy for each. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  newRecipient,
  openSealedKey,
  PhmApiError,
  PhmClient,
  type RecipientKey,
  sealTo,
  thumbprintOf,
  verifyReceipt,
} from '../../../sdk/src/index.ts';
import { monthlyQuotas, PUBLISHED_PLANS } from '../../../src/config/index.ts';
import { type LedgerStore, openStore } from '../../../src/ledger/index.ts';
import { sqliteIn } from '../../support/clients/unknown-keys.ts';
import { type Account, addAccounts } from '../../support/ledgers/books.ts';
import { dataDir, server } from '../../support/servers/shared-server.ts';

const REGISTERED = 'west';

let account: Account;
let phm: PhmClient;
let store: LedgerStore;
let policy: string;
let east: RecipientKey;
let west: RecipientKey;
let names: readonly string[];

const nameOf = async ({ publicKey }: RecipientKey) =>
  Buffer.from(await thumbprintOf(publicKey)).toString('base64');
const hex = (key: Uint8Array) => Buffer.from(key).toString('hex');

before(async () => {
  [account] = (await addAccounts(sqliteIn(dataDir), ['professional'])) as [Account];
  phm = new PhmClient({ baseUrl: server.address, apiKey: account.apiKey });
  policy = await (await fetch(`${server.address}/log/policy`)).text();
  [east, west] = [await newRecipient(), await newRecipient('ML-KEM-1024')];
  names = [await nameOf(east), await nameOf(west)];
  store = await openStore(sqliteIn(dataDir), monthlyQuotas(PUBLISHED_PLANS));
  const { suite, publicKey } = west;
  const recipient = { accountId: account.accountId, name: REGISTERED, suite, publicKey };
  await store.addRecipient({ ...recipient, createdMs: Date.now() });
});
after(() => store.close());

const both = () => [sealTo(east), { recipient: REGISTERED }] as const;
const used = async () => (await phm.metrics()).metrics.usage.total_usage;

/** Sends a request as it is, to see its bytes. */
async function post(path: string, body: object, idempotencyKey: string) {
  const response = await fetch(`${server.address}${path}`, {
    method: 'POST',
    headers: {
      ...{ 'X-API-Key': account.apiKey, 'Content-Type': 'application/json' },
      'Idempotency-Key': idempotencyKey,
    },
    body: JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

describe('a key for several recipients', () => {
  it('opens for each to the same key, whose receipt names both', async () => {
    const before = await used();
    const answer = await phm.generateSealed({
      security_level: 384,
      seal_to: both(),
      labels: { link: 'east-west' },
      expires_at: '2999-01-31T12:00:00.000+00:00',
      include: ['receipt'],
    });
    assert.equal((await used()) - before, 1);
    const receipt = answer.receipt ?? (await phm.receipt(answer.key_id)).receipt;
    const opened = [];
    for (const own of [east, west]) {
      opened.push(
        await openSealedKey(answer, own, { policy, receipt, expectRecipients: [east, west] }),
      );
    }
    const [one, other] = opened;
    assert.ok(one && other);
    assert.equal(hex(one.key), hex(other.key));
    assert.equal(one.hashProof, other.hashProof);
    assert.deepEqual(one.recipients, names);
    assert.deepEqual(one.verdict?.problems, []);
    const { key } = await phm.getKey(answer.key_id);
    assert.equal(key.sealed_to, names[0]);
    assert.deepEqual(key.recipients, names);
    assert.deepEqual(key.labels, { link: 'east-west' });
    for await (const { recipients } of phm.listKeys({ label: ['link:east-west'] })) {
      assert.deepEqual(recipients, names);
    }
    const validation = await phm.validate({ key: hex(one.key), hash_proof: one.hashProof });
    assert.equal(validation.valid, true);
    await phm.revokeKey(answer.key_id, 'superseded');
    const after = await phm.validate({ key: hex(one.key), hash_proof: one.hashProof });
    assert.deepEqual([after.valid, after.validation_details.key_status], [false, 'deactivated']);
    assert.ok((await verifyReceipt(receipt, { policy })).valid);
    const later = await phm.receiptByCommitment(answer.key_id, one.header.key_commitment);
    assert.deepEqual(later.receipt.statement, receipt.statement);
  });

  it('comes in batches, validated and plain', async () => {
    for (const enable_nist_validation of [false, true]) {
      const count = enable_nist_validation ? 2 : 5;
      const order = {
        security_level: 256,
        seal_to: both(),
        count,
        enable_nist_validation,
      } as const;
      const before = await used();
      const keys = new Set<string>();
      for await (const one of phm.generateSealedBatch({ ...order, include: ['receipt'] })) {
        const receipt = one.receipt ?? (await phm.receipt(one.key_id)).receipt;
        const [a, b] = await Promise.all(
          [east, west].map((own) => openSealedKey(one, own, { policy, receipt })),
        );
        assert.ok(a && b && hex(a.key) === hex(b.key));
        assert.equal(receipt.statement.evidence !== null, enable_nist_validation);
        keys.add(hex(a.key));
      }
      assert.equal(keys.size, count);
      assert.equal((await used()) - before, count);
    }
  });

  it('is answered again byte for byte, also after the registered recipient is gone', async () => {
    const name = 'short-lived';
    const { suite, publicKey } = await newRecipient();
    const record = { accountId: account.accountId, suite, publicKey, createdMs: Date.now() };
    await store.addRecipient({ ...record, name });
    const order = { security_level: 256, seal_to: [sealTo(east), { recipient: name }] };
    for (const [path, more] of [
      ['/api/v2/generate/sealed', {}],
      ['/api/v2/generate/sealed/batch', { count: 3 }],
    ] as const) {
      const first = await post(path, { ...order, ...more }, `several:${path}`);
      assert.equal(first.status, 200, first.text);
      if (path.endsWith('batch')) await store.removeRecipient(account.accountId, name);
      const before = await used();
      const again = await post(path, { ...order, ...more }, `several:${path}`);
      assert.deepEqual([again.status, again.text], [200, first.text]);
      assert.equal(again.headers.get('idempotent-replayed'), 'true');
      assert.equal(await used(), before);
      const turned = { ...order, ...more, seal_to: order.seal_to.toReversed() };
      const other = await post(path, turned, `several:${path}`);
      assert.match(other.text, /idempotency_key_reused/);
    }
  });

  it('is not made if two places name one public key, and nothing is counted', async () => {
    const before = await used();
    for (const seal_to of [
      [sealTo(west), { recipient: REGISTERED }],
      [sealTo(east), sealTo(west), sealTo(east)],
    ]) {
      await assert.rejects(phm.generateSealed({ security_level: 256, seal_to }), (error) => {
        assert.ok(error instanceof PhmApiError && error.code === 'invalid_request');
        assert.match(error.message, /"seal_to\[\d\]" is the same recipient as "seal_to\[0\]"/);
        return true;
      });
    }
    assert.equal(await used(), before);
  });

  it('of one in a list has the answer, header and statement of that one', async () => {
    const alone = await phm.generateSealed({
      security_level: 256,
      seal_to: [sealTo(east)] as readonly ReturnType<typeof sealTo>[],
      include: ['receipt'],
    });
    assert.ok(alone.sealed_key && !('sealed_keys' in alone));
    const receipt = alone.receipt ?? (await phm.receipt(alone.key_id)).receipt;
    const opened = await openSealedKey(alone, east, { policy, receipt, expectRecipients: [] });
    assert.equal(opened.header.type, 'phm-sealed-key/v1');
    assert.equal(receipt.statement.type, 'phm-key-receipt/v1');
  });

  it('has eight recipients at most, of both suites', async () => {
    const eight = await Promise.all(
      Array.from({ length: 8 }, (_, i) => newRecipient(i % 2 ? 'ML-KEM-1024' : 'MLKEM768-X25519')),
    );
    const answer = await phm.generateSealed({ security_level: 128, seal_to: eight.map(sealTo) });
    const keys = await Promise.all(
      eight.map(async (own) => hex((await openSealedKey(answer, own)).key)),
    );
    assert.equal(new Set(keys).size, 1);
    const nine = [...eight, east].map(sealTo);
    await assert.rejects(phm.generateSealed({ security_level: 128, seal_to: nine }), {
      code: 'invalid_request',
    });
  });
});
