/** The list of keys: how many records one call reads. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KeyPage, KeyQuery, KeyRecord } from '../../../src/ledger/index.ts';
import { type KeyFilter, listKeys } from '../../../src/service/reading/key-list.ts';

const ANY: KeyFilter = {
  fromMs: null,
  beforeMs: null,
  securityLevel: null,
  source: null,
  apiKeyId: null,
  status: null,
  hasEvidence: null,
  expiresBeforeMs: null,
  isRevoked: null,
  labels: [],
};

/** Has 5,000 keys, the newest of time 5,000. */
async function keysBelow({ beforeKeyId, limit }: KeyQuery): Promise<KeyPage> {
  const below = beforeKeyId === null ? 5_000 : Buffer.from(beforeKeyId).readUIntBE(0, 6);
  const newest = Math.min(below, 5_001) - 1;
  const keys = Array.from({ length: Math.min(limit, newest) }, (_, i) => keyOf(newest - i));
  return { keys, next: (keys.length === limit && keys.at(-1)?.keyId) || null };
}

function keyOf(createdMs: number): KeyRecord {
  const keyId = Buffer.alloc(16);
  keyId.writeUIntBE(createdMs, 0, 6);
  return { keyId, createdMs } as unknown as KeyRecord;
}

describe('listKeys', () => {
  it('reads 1,000 records in search of a key, however few it is asked for', async () => {
    for (const [limit, beforeMs] of [
      [1, 4_500],
      [3, 4_010],
      [100, 4_200],
    ] as const) {
      const page = await listKeys(
        { listKeys: keysBelow },
        { accountId: 'a', filter: { ...ANY, beforeMs }, after: null, limit, nowMs: 5_000 },
        () => 0,
      );
      assert.equal(page.keys[0]?.createdMs, beforeMs - 1, `limit ${limit}`);
      assert.equal(page.keys.length, limit);
    }
  });

  it('ends a search after 20 ms, with the position where the next one goes on', async () => {
    let ms = 0;
    const slowly = async (query: KeyQuery) => {
      ms += 9;
      return keysBelow(query);
    };
    const filter = { ...ANY, securityLevel: 128 };
    const query = { accountId: 'a', filter, limit: 10, nowMs: 5_000 };
    let after: Uint8Array | null = null;
    const ends: number[] = [];
    for (let call = 0; call < 3; call++) {
      const page: KeyPage = await listKeys({ listKeys: slowly }, { ...query, after }, () => ms);
      assert.deepEqual(page.keys, []);
      after = page.next;
      ends.push(Buffer.from(after ?? []).readUIntBE(0, 6));
    }
    // Three queries of 100 records, the third of which ends after 20 ms.
    assert.deepEqual(ends, [4_700, 4_400, 4_100]);
  });
});
