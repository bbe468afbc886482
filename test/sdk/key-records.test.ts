/** Labels and expiry of requests for keys, and the calls that list, show and revoke keys. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type KeyInfo,
  type KeyListQuery,
  PhmApiError,
  type PhmClient,
  PhmResponseError,
} from '../../sdk/src/index.ts';
import { Pages } from '../../sdk/src/pages.ts';
import { answers, breaks, fails, page, type Step } from '../support/scripted-server.ts';
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
  sealed_to: null,
  labels: { env: 'prod' },
  expires_at: null,
  revoked_at: null,
  revocation_reason: null,
  receipt_url: null,
};

/** Answers a page of the keys with these numbers. */
const keys = (
  numbers: readonly number[],
  next_cursor: string | null,
  more: Partial<KeyInfo> = {},
): Step =>
  answers({
    keys: numbers.map((number) => ({ ...RECORD, key_id: `phm_${number}`, ...more })),
    next_cursor,
    timestamp: TIME,
  });

const REVOKED = {
  ...RECORD,
  key_id: 'phm_7',
  status: 'compromised',
  revoked_at: TIME,
  revocation_reason: 'key_compromise',
} as const satisfies KeyInfo;

const revoked = answers({ key: REVOKED, timestamp: TIME });

async function idsOf(phm: PhmClient, query: KeyListQuery = {}): Promise<string[]> {
  const ids: string[] = [];
  for await (const { key_id } of phm.listKeys(query)) ids.push(key_id);
  return ids;
}

describe('labels and expires_at', () => {
  it('are fields of every call that generates keys', async () => {
    const ends = { labels: { env: 'prod' }, expires_at: '2027-01-31T12:00:00Z' };
    const order = { security_level: 256, ...ends } as const;
    const seal_to = { recipient: 'build-server' };
    const calls: ((phm: PhmClient) => Promise<unknown>)[] = [
      (phm) => phm.generate(order),
      (phm) => phm.generate({ ...order, enable_nist_validation: true, include: ['nist_report'] }),
      (phm) => phm.generateSealed({ ...order, seal_to }),
      (phm) => phm.generateBatch({ ...order, count: 2 }).next(),
      (phm) => phm.generateSealedBatch({ ...order, seal_to, count: 2 }).next(),
    ];
    await withClient([fails('quota_exceeded')], async (phm, server) => {
      for (const call of calls) await rejection(call(phm));
      assert.equal(server.received.length, calls.length);
      for (const { body } of server.received) {
        const { labels, expires_at } = JSON.parse(body);
        assert.deepEqual({ labels, expires_at }, ends);
      }
    });
    await withClient([answers({ ...GENERATED, ...ends })], async (phm) => {
      const made = await phm.generate(order);
      assert.deepEqual([made.labels?.env, made.expires_at], ['prod', ends.expires_at]);
    });
  });
});

describe('listKeys', () => {
  it('reads page after page, also past an empty one, and only as far as it is read', async () => {
    const labels = { env: 'a&b', g: '', more: 'x' };
    const page = (numbers: number[], next: string | null) => keys(numbers, next, { labels });
    const pages = [page([5, 4], 'c+/1'), page([], 'c2'), page([3], 'c3'), page([2], null)];
    await withClient(pages, async (phm, server) => {
      const records = phm.listKeys({ limit: 2, label: ['env:a&b', 'g:'], status: 'active' });
      assert.equal((await records.next()).value?.key_id, 'phm_5');
      assert.equal((await records.next()).value?.key_id, 'phm_4');
      assert.equal(server.received.length, 1);
      const rest: string[] = [];
      for await (const { key_id } of records) rest.push(key_id);
      assert.deepEqual(rest, ['phm_3', 'phm_2']);
      const filters = 'limit=2&label=env%3Aa%26b&label=g%3A&status=active';
      assert.deepEqual(
        server.received.map(({ url }) => url),
        ['', '&cursor=c%2B%2F1', '&cursor=c2', '&cursor=c3'].map(
          (end) => `/api/v2/keys?${filters}${end}`,
        ),
      );
    });
  });

  it('sends every filter, and repeats a page that was lost', async () => {
    const query: KeyListQuery = {
      created_after: '2026-01-31T12:00:00+01:00',
      created_before: '2026-02-01T00:00:00Z',
      security_level: 128,
      source: 'os',
      evidence: 'none',
      api_key_id: 'key_1',
    };
    const fitting = keys([1], null, { security_level: 128 });
    await withClient([breaks, page(502), fitting], async (phm, server) => {
      assert.deepEqual(await idsOf(phm, query), ['phm_1']);
      const urls = new Set(server.received.map(({ url }) => url));
      assert.deepEqual([urls.size, server.received.length], [1, 3]);
      const sent = new URL([...urls][0] ?? '', 'http://x').searchParams;
      const expected = Object.entries(query).map(([name, value]) => [name, String(value)]);
      assert.deepEqual([...sent], expected);
    });
  });

  it('rejects a page that does not say whether another follows', async () => {
    await withClient([answers({ keys: [RECORD], timestamp: TIME })], async (phm, server) => {
      const error = await rejection(idsOf(phm));
      assert.ok(error instanceof PhmResponseError);
      assert.match(error.message, /\/next_cursor is missing/);
      assert.equal(server.received.length, 1);
    });
  });

  it('ends with an error if the list has no end', async () => {
    const pages: [Step[], KeyListQuery, RegExp, number][] = [
      [[keys([1], '')], {}, /\/next_cursor must be a cursor or null, got a string/, 1],
      [[keys([1], 'a')], {}, /\/next_cursor is of an earlier page, so the list has no end/, 2],
      [[keys([], 'a'), keys([], 'b'), keys([], 'a')], {}, /\/next_cursor is of an earlier page/, 3],
      [[keys([1], 'a')], { cursor: 'a' }, /\/next_cursor is of an earlier page/, 1],
      [[keys([1, 1], null)], {}, /\/keys repeats a key/, 1],
    ];
    for (const [steps, query, message, requests] of pages) {
      await withClient(steps, async (phm, server) => {
        const error = await rejection(idsOf(phm, query));
        assert.ok(error instanceof PhmResponseError);
        assert.match(error.message, message);
        assert.equal(server.received.length, requests);
      });
    }
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

  it('rejects a page with a key that does not meet the filters', async () => {
    const queries: KeyListQuery[] = [
      { status: 'compromised' },
      { security_level: 128 },
      { source: 'quantum' },
      { api_key_id: 'key_2' },
      { label: ['env:test'] },
      { label: ['env:prod', 'team:a'] },
      { label: ['env:'] },
    ];
    for (const query of queries) {
      await withClient([keys([1], null)], async (phm) => {
        const error = await rejection(idsOf(phm, query));
        assert.ok(error instanceof PhmResponseError);
        assert.match(error.message, /: \/keys\/0 does not meet the filters/);
      });
    }
  });

  it('rejects with the refusal of a wrong parameter', async () => {
    await withClient([keys([2], 'c'), fails('invalid_request')], async (phm) => {
      const records = phm.listKeys();
      await records.next();
      const error = await rejection(records.next());
      assert.ok(error instanceof PhmApiError && error.code === 'invalid_request');
    });
  });
});

describe('getKey and revokeKey', () => {
  it('send the key ID and the reason, and are repeated after a lost answer', async () => {
    const calls: [string, (phm: PhmClient) => Promise<{ key: KeyInfo }>, string][] = [
      ['GET /api/v2/keys/phm_7', (phm) => phm.getKey('phm_7'), ''],
      [
        'POST /api/v2/keys/phm_7/revoke',
        (phm) => phm.revokeKey('phm_7', 'key_compromise'),
        '{"reason":"key_compromise"}',
      ],
    ];
    for (const [line, call, body] of calls) {
      await withClient([breaks, revoked], async (phm, server) => {
        assert.equal((await call(phm)).key.status, 'compromised');
        assert.deepEqual(
          server.received.map((one) => [`${one.method} ${one.url}`, one.body]),
          [line, line].map((one) => [one, body]),
        );
      });
    }
  });

  it('reject with the refusal of the service, and send nothing but key IDs', async () => {
    await withClient([fails('key_not_found')], async (phm, server) => {
      for (const call of [phm.getKey('phm_7'), phm.revokeKey('phm_7', 'superseded')]) {
        const error = await rejection(call);
        assert.ok(error instanceof PhmApiError && error.code === 'key_not_found');
      }
      for (const text of ['', 'phm_01', '../health', GENERATED.key]) {
        assert.ok((await rejection(phm.getKey(text))) instanceof TypeError);
        assert.ok((await rejection(phm.revokeKey(text, 'superseded'))) instanceof TypeError);
      }
      assert.equal(server.received.length, 2);
    });
  });
});
