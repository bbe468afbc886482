/** Receipts of a running server: they verify, belong to one account, and are not metered. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { parseEntries } from '../../../packages/tlog/src/index.ts';
import { verifyReceipt } from '../../../sdk/src/index.ts';
import { type Account, addAccounts } from '../../support/books.ts';
import { dataDir, server } from '../../support/shared-server.ts';
import { sqliteIn } from '../../support/unknown-keys.ts';

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

describe('a receipt', () => {
  it('verifies with its key, opening and report under the policy of the server', async () => {
    const policy = (await readLog('policy')).toString();
    for (const include of [['receipt'], ['receipt', 'nist_report']]) {
      const enable_nist_validation = include.length > 1;
      const order = { security_level: 384, enable_nist_validation, include };
      const { status, body } = await server.generate(order, own);
      assert.equal(status, 200);
      const { key, opening, nist_report: nistReport } = body;
      const verdict = await verifyReceipt(body.receipt, { policy, key, opening, nistReport });
      assert.deepEqual(verdict.problems, []);
      assert.equal(verdict.statement?.time, body.timestamp);
      const later = await readReceipt(body.key_id, own);
      assert.deepEqual(later.body.receipt.statement, body.receipt.statement);
      assert.ok((await verifyReceipt(later.body.receipt, { policy })).valid);
    }
  });

  it('is in the tiles and bundles of the log', async () => {
    const { body } = await server.generate({ security_level: 128, include: ['receipt'] }, own);
    const { entryIndex, treeSize } = await verifyReceipt(body.receipt);
    assert.ok(entryIndex !== null && treeSize !== null && treeSize < 256);
    const entries = parseEntries(await readLog(`tile/entries/000.p/${treeSize}`));
    const leaves = await readLog(`tile/0/000.p/${treeSize}`);
    assert.deepEqual([entries.length, leaves.length], [treeSize, 32 * treeSize]);
    const { status } = await server.request(`/log/tile/0/000.p/${255}`);
    assert.equal(status, 404);
  });

  it('is refused to other accounts in the words for an unknown key', async () => {
    const { body } = await server.generate({ security_level: 256, include: ['receipt'] }, own);
    const refused = await readReceipt(body.key_id, foreign);
    const unknown = await readReceipt('phm_2170503048357401131183661160922839975', foreign);
    assert.deepEqual([refused.status, unknown.status], [404, 404]);
    assert.equal(refused.body.code, 'receipt_not_found');
    assert.equal(refused.body.detail, unknown.body.detail);
    assert.equal((await readReceipt(body.key_id, own)).status, 200);
  });

  it('is not metered', async () => {
    const { body, headers } = await server.generate({ security_level: 256 }, own);
    const remaining = (from: Headers) => /"quota";r=(\d+)/.exec(from.get('ratelimit') ?? '')?.[1];
    const later = await readReceipt(body.key_id, own);
    assert.ok(remaining(headers));
    assert.equal(remaining(later.headers), remaining(headers));
  });
});
