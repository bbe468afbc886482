/** Receipts of a running server: they verify, belong to one account, and are not metered. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { before, describe, it } from 'node:test';
import {
  canonicalJson,
  leafMessage,
  parseEntries,
  TILE_WIDTH,
  tilePath,
  tileWidth,
} from '../../../packages/tlog/src/index.ts';
import { newRecipient, openSealedKey, PhmClient, verifyReceipt } from '../../../sdk/src/index.ts';
import { sqliteIn } from '../../support/clients/unknown-keys.ts';
import { type Account, addAccounts } from '../../support/ledgers/books.ts';
import type { Answer } from '../../support/servers/server.ts';
import { dataDir, server } from '../../support/servers/shared-server.ts';

let own: string;
let foreign: string;

before(async () => {
  const accounts = await addAccounts(sqliteIn(dataDir), ['professional', 'professional']);
  [own, foreign] = (accounts as [Account, Account]).map(({ apiKey }) => apiKey) as [string, string];
});

const readReceipt = (keyId: string, apiKey: string) =>
  server.request(`/api/v2/keys/${keyId}/receipt`, { headers: { 'X-API-Key': apiKey } });

async function readLog(path: string): Promise<Buffer> {
  const response = await fetch(`${server.address}/log/${path}`);
  assert.equal(response.status, 200, path);
  return Buffer.from(await response.arrayBuffer());
}

/**
 * Sends until an answer has its receipts. An answer leaves without them after two seconds, in which a slow machine may not
 * publish a head.
 */
async function withReceipts(send: (attempt: number) => Promise<Answer>): Promise<Answer> {
  for (let attempt = 0; ; attempt += 1) {
    const answer = await send(attempt);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    const keys: { receipt: object | null }[] = answer.body.keys ?? [answer.body];
    if (keys.every(({ receipt }) => receipt !== null)) return answer;
    assert.ok(attempt < 10, 'no answer has its receipts');
  }
}

/** Leaves out the proofs of the receipts, which may have a newer checkpoint. */
const withoutReceipts = (body: object): unknown =>
  JSON.parse(JSON.stringify(body, (name, value) => (name === 'proof' ? '' : value)));

describe('a receipt', () => {
  it('verifies with its key, opening and report under the policy of the server', async () => {
    const policy = (await readLog('policy')).toString();
    for (const include of [['receipt'], ['receipt', 'nist_report']]) {
      const enable_nist_validation = include.length > 1;
      const order = { security_level: 384, enable_nist_validation, include };
      const { body } = await withReceipts(() => server.generate(order, own));
      const { key, opening, nist_report: nistReport } = body;
      const verdict = await verifyReceipt(body.receipt, { policy, key, opening, nistReport });
      assert.deepEqual(verdict.problems, []);
      assert.equal(verdict.statement?.time, body.timestamp);
      const later = await readReceipt(body.key_id, own);
      assert.deepEqual(later.body.receipt.statement, body.receipt.statement);
      assert.ok((await verifyReceipt(later.body.receipt, { policy })).valid);
    }
  });

  it('belongs to its key whatever the labels say, single and in a batch, sealed too, and in a replay', async () => {
    const policy = (await readLog('policy')).toString();
    const recipientKey = await newRecipient();
    const { suite, publicKey } = recipientKey;
    const sealTo = { seal_to: { suite, public_key: Buffer.from(publicKey).toString('base64url') } };
    // Names and values that look like the members around them.
    const labels = {
      ...{ key_id: 'phm_1', receipt: 'null', receipt_url: '}', labels: '{"key_id":"phm_2"},{' },
      ...{ keys: ',{"key_id":"phm_3"', sealed_key: '}]}', success: '"\\"' },
    };
    const expires_at = '2999-01-31T12:00:00.000+00:00';
    for (const [path, more] of [
      ['generate', {}],
      ['generate/batch', { count: 3 }],
      ['generate/sealed', sealTo],
      ['generate/sealed/batch', { ...sealTo, count: 3 }],
    ] as const) {
      const order = { security_level: 256, labels, expires_at, include: ['receipt'], unknown: 1 };
      let sent = 0;
      const send = (attempt: number) => {
        sent = attempt;
        return server.request(`/api/v2/${path}`, {
          method: 'POST',
          headers: {
            ...{ 'X-API-Key': own, 'Content-Type': 'application/json' },
            'Idempotency-Key': `labels:${path}:${attempt}`,
          },
          body: JSON.stringify({ ...order, ...more }),
        });
      };
      const { body } = await withReceipts(send);
      assert.equal(body.warnings?.length, 1, path);
      const keys = body.keys ?? [body];
      assert.equal(keys.length, 'count' in more ? more.count : 1);
      assert.equal(new Set(keys.map((one: { key_id: string }) => one.key_id)).size, keys.length);
      for (const one of keys) {
        assert.deepEqual([one.labels, one.expires_at], [labels, expires_at]);
        assert.equal(one.receipt_url, `/api/v2/keys/${one.key_id}/receipt`);
        assert.equal(one.receipt.statement.key_id, one.key_id);
        const { key, opening, receipt } = one;
        const verdict = one.sealed_key
          ? (await openSealedKey(one, recipientKey, { policy })).verdict
          : await verifyReceipt(receipt, { policy, key, opening });
        assert.deepEqual([verdict?.valid, verdict?.problems], [true, []]);
        const { body: later } = await readReceipt(one.key_id, own);
        assert.deepEqual(later.receipt.statement, one.receipt.statement);
        const record = await server.request(`/api/v2/keys/${one.key_id}`, {
          headers: { 'X-API-Key': own },
        });
        assert.deepEqual(record.body.key.labels, labels);
      }
      const again = await send(sent);
      if (!path.includes('sealed')) assert.equal(again.body.code, 'key_already_made');
      else assert.deepEqual(withoutReceipts(again.body), withoutReceipts(body));
    }
  });

  it('is in the tiles and bundles of the log', async () => {
    const order = { security_level: 128, include: ['receipt'] };
    const { body } = await withReceipts(() => server.generate(order, own));
    const { entryIndex, treeSize } = await verifyReceipt(body.receipt);
    assert.ok(entryIndex !== null && treeSize !== null);
    const [index, place] = [Math.floor(entryIndex / TILE_WIDTH), entryIndex % TILE_WIDTH];
    const width = tileWidth(0, index, treeSize);
    const entries = parseEntries(await readLog(tilePath('entries', index, width)));
    const leaves = await readLog(tilePath(0, index, width));
    const { statement } = body.receipt;
    const entry = hash('sha256', canonicalJson(statement), 'buffer');
    const leaf = hash('sha256', leafMessage(entry), 'buffer');
    assert.deepEqual(Buffer.from(entries[place] ?? []), entry);
    assert.deepEqual(leaves.subarray(32 * place, 32 * place + 32), leaf);
    assert.deepEqual([entries.length, leaves.length], [width, 32 * width]);
    const beyond = await server.request(`/log/${tilePath(0, index + 1, 1)}`);
    assert.equal(beyond.status, 404);
  });

  it('is refused to other accounts in the words for an unknown key', async () => {
    const order = { security_level: 256, include: ['receipt'] };
    const { body } = await withReceipts(() => server.generate(order, own));
    const refused = await readReceipt(body.key_id, foreign);
    const unknown = await readReceipt('phm_2170503048357401131183661160922839975', foreign);
    assert.deepEqual([refused.status, unknown.status], [404, 404]);
    assert.equal(refused.body.code, 'receipt_not_found');
    assert.equal(refused.body.detail, unknown.body.detail);
    assert.equal((await readReceipt(body.key_id, own)).status, 200);
  });

  it('of a sealed key comes to its recipient without an API key, by the header', async () => {
    const policy = (await readLog('policy')).toString();
    const recipientKey = await newRecipient();
    const { suite, publicKey } = recipientKey;
    const seal_to = { suite, public_key: Buffer.from(publicKey).toString('base64url') };
    const { body } = await server.post(
      '/api/v2/generate/sealed',
      { security_level: 256, seal_to },
      own,
    );
    const header = JSON.parse(Buffer.from(body.sealed_key.header, 'base64url').toString());
    const phm = new PhmClient({ baseUrl: server.address });
    const { receipt } = await phm.receiptByCommitment(header.key_id, header.key_commitment);
    const { verdict } = await openSealedKey(body.sealed_key, recipientKey, { policy, receipt });
    assert.deepEqual([verdict?.valid, verdict?.problems], [true, []]);
    const wrong = header.key_commitment.replace(/^./, (letter: string) =>
      letter === 'A' ? 'B' : 'A',
    );
    for (const [key_id, key_commitment] of [
      [header.key_id, wrong],
      [
        header.key_id.replace(/.$/, (digit: string) => (digit === '0' ? '1' : '0')),
        header.key_commitment,
      ],
    ]) {
      const refused = await server.post('/api/v2/receipts', { key_id, key_commitment }, own);
      assert.deepEqual([refused.status, refused.body.code], [404, 'receipt_not_found']);
      assert.match(refused.body.detail, /^No key with a receipt has this key_id and this /);
    }
  });

  it('is not metered', async () => {
    const { body, headers } = await server.generate({ security_level: 256 }, own);
    const remaining = (from: Headers) => /"quota";r=(\d+)/.exec(from.get('ratelimit') ?? '')?.[1];
    const later = await readReceipt(body.key_id, own);
    assert.ok(remaining(headers));
    assert.equal(remaining(later.headers), remaining(headers));
  });
});
