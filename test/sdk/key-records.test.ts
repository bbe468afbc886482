/** Lists of keys, in what only this client has. sdk/exchanges/keys.json has the rest. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KeyInfo, KeyListQuery, PhmClient } from '../../sdk/src/index.ts';
import { Pages } from '../../sdk/src/pages.ts';
import { answers, type Step } from '../support/clients/scripted-server.ts';
import { GENERATED, rejection, withClient } from './support.ts';

const TIME = GENERATED.timestamp;

const RECORD: KeyInfo = {
  key_id: 'phm_1',
  status: 'active',
  created_at: TIME,
  security_level: 256,
  security_strength_bits: 256,
  modulation_type: 'phase',
  source: 'os',
  api_key_id: 'key_1',
  evidence: null,
  recipients: [],
  sealed_to: null,
  delivery_id: null,
  labels: { env: 'prod' },
  expires_at: null,
  revoked_at: null,
  revocation_reason: null,
  receipt_url: null,
};

/** Answers a page of the keys with these numbers. */
const keys = (numbers: readonly number[], next_cursor: string | null): Step =>
  answers({
    keys: numbers.map((number) => ({ ...RECORD, key_id: `phm_${number}` })),
    next_cursor,
    timestamp: TIME,
  });

async function idsOf(phm: PhmClient, query: KeyListQuery = {}): Promise<string[]> {
  const ids: string[] = [];
  for await (const { key_id } of phm.listKeys(query)) ids.push(key_id);
  return ids;
}

describe('listKeys', () => {
  it('begins at a cursor, which no later page may have', async () => {
    await withClient([keys([1], 'a')], async (phm, server) => {
      const error = await rejection(idsOf(phm, { limit: 2, cursor: 'a' }));
      assert.match(String(error), /\/next_cursor is of an earlier page/);
      assert.equal(server.received[0]?.url, '/api/v2/keys?limit=2&cursor=a');
    });
  });

  it('ends with an error after 100,000 empty pages in a row', () => {
    const pages = new Pages(undefined);
    const next = (i: number, keys: readonly KeyInfo[] = []) =>
      pages.mismatch({ keys: [...keys], next_cursor: `c${i}` });
    for (let i = 0; i < 99_999; i += 1) assert.equal(next(i), undefined);
    assert.equal(next(-1, [RECORD]), undefined);
    for (let i = 100_000; i < 199_999; i += 1) assert.equal(next(i), undefined);
    assert.match(next(-2) ?? '', /^\/keys is empty 100000 times in a row$/);
  });

  it('takes a level as text for the number, as it is in the URL', async () => {
    const security_level = '256' as unknown as 256;
    await withClient([keys([1], null)], async (phm, server) => {
      assert.deepEqual(await idsOf(phm, { security_level }), ['phm_1']);
      assert.equal(server.received[0]?.url, '/api/v2/keys?security_level=256');
    });
  });
});
