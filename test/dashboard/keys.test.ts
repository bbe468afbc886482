/** The list of keys without a browser: addresses, search, labels and what a reader may type. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { endFields, endsProblems, NO_ENDS } from '../../dashboard/src/generate/ends.ts';
import {
  expiringQuery,
  hashOf,
  kindOf,
  NO_FILTERS,
  readQuery,
  searchedBackTo,
  toListQuery,
  wantedBy,
} from '../../dashboard/src/keys/query.ts';
import { CALLS_AT_ONCE, type Found, PAGE_KEYS, search } from '../../dashboard/src/keys/search.ts';
import { labelsProblem } from '../../dashboard/src/labels.ts';
import { parseHash } from '../../dashboard/src/route.ts';

const NOW_MS = Date.UTC(2027, 0, 31, 12);

/** Answers each call by `keys` keys; the account ends after `calls` calls. */
function pages(keys: number, calls: number) {
  const asked: { cursor: string | null; limit: number }[] = [];
  const getPage = async (cursor: string | null, limit: number) => {
    asked.push({ cursor, limit });
    const next_cursor = asked.length < calls ? `after-${asked.length}` : null;
    return { keys: Array.from({ length: keys }, () => ({})), next_cursor } as never;
  };
  return { asked, getPage };
}

async function found(from: Found, { getPage }: ReturnType<typeof pages>): Promise<Found> {
  let last = from;
  await search(from, getPage, (now) => {
    last = now;
  });
  return last;
}

describe('the address of a list of keys', () => {
  it('has the filters and the position, and gives them back', () => {
    const query = {
      ...NO_FILTERS,
      status: 'active',
      created_after: '2027-01-31T12:00:00Z',
      label: ['env:prod', 'note:a&b=c #1:é'],
      revoked: 'false',
      cursor: 'AZmtVQAAcAAAAAAAAAAAAA',
    };
    const { path, item, search: text } = parseHash(hashOf(query));
    assert.deepEqual({ path, item }, { path: 'keys', item: '' });
    assert.deepEqual(readQuery(text), query);
    assert.equal(hashOf({ ...NO_FILTERS, label: ['env:prod'] }), '#/keys?label=env:prod');
    assert.equal(hashOf(NO_FILTERS), '#/keys');
    assert.deepEqual(toListQuery(query), {
      status: 'active',
      created_after: '2027-01-31T12:00:00Z',
      label: query.label,
      revoked: false,
      cursor: query.cursor,
    });
  });

  it('belongs to a chip: active, expiring within 30 days, or revoked for any reason', () => {
    const expiring = { ...NO_FILTERS, ...expiringQuery(NOW_MS) };
    assert.equal(expiring.expires_before, '2027-03-03T00:00:00Z');
    assert.equal(kindOf(expiring), 'expiring');
    assert.equal(kindOf({ ...NO_FILTERS, status: 'active', label: ['env:prod'] }), 'active');
    assert.equal(kindOf({ ...NO_FILTERS, revoked: 'true' }), 'revoked');
    for (const other of [{}, { status: 'deactivated' }, { revoked: 'false' }]) {
      assert.equal(kindOf({ ...NO_FILTERS, ...other }), undefined, JSON.stringify(other));
    }
  });

  it('leads to a record by its ID, and to the first view if it names none', () => {
    assert.deepEqual(parseHash('#/keys/phm_12'), { path: 'keys', item: 'phm_12', search: '' });
    for (const hash of ['', '#', '#/']) {
      assert.deepEqual(parseHash(hash), { path: 'overview', item: '', search: '' }, hash);
    }
    for (const hash of ['#/nothing', '#/nothing/x?y=z']) {
      assert.deepEqual(parseHash(hash), { path: 'unknown', item: '', search: '' }, hash);
    }
  });

  it('gets no secret from the search field', () => {
    assert.equal(wantedBy('phm_217057635166512320037456694615401110'), 'key-id');
    for (const key of ['0f'.repeat(16), 'AB'.repeat(48), `0x${'00'.repeat(32)}`]) {
      assert.equal(wantedBy(key), 'key', key);
    }
    assert.equal(wantedBy('my phmsk_live_x'), 'api-key');
    assert.equal(wantedBy(`env: ${'0f'.repeat(16)}`), 'key', 'a key after a word');
    assert.equal(wantedBy('env:prod'), 'label');
    for (const text of ['', 'phm_', 'phm_01', 'key_demo']) {
      assert.equal(wantedBy(text), 'unknown', text);
    }
  });
});

describe('a search for keys', () => {
  const start = { keys: [], next: null };

  it('ends with a full page, with the last key, or after ten calls', async () => {
    const full = pages(20, 99);
    assert.equal((await found(start, full)).keys.length, 60);
    assert.deepEqual(
      full.asked.map(({ limit }) => limit),
      [PAGE_KEYS, PAGE_KEYS - 20, PAGE_KEYS - 40],
    );
    const ended = await found(start, pages(1, 3));
    assert.deepEqual([ended.keys.length, ended.next], [3, null]);
    const rare = pages(0, 99);
    assert.equal((await found(start, rare)).next, 'after-10');
    assert.equal(rare.asked.length, CALLS_AT_ONCE);
  });

  it('goes on from where it stopped', async () => {
    const more = pages(1, 2);
    const keys = [{} as never];
    assert.equal((await found({ keys, next: 'there' }, more)).keys.length, 3);
    assert.deepEqual(more.asked[0], { cursor: 'there', limit: PAGE_KEYS - 1 });
  });

  it('reads its time from the cursor', () => {
    const cursor = Buffer.alloc(16, 0xff);
    cursor.writeUIntBE(NOW_MS, 0, 6);
    assert.equal(searchedBackTo(cursor.toString('base64url')), NOW_MS);
    assert.equal(searchedBackTo('opaque'), undefined);
  });
});

describe('labels and expiry of a new key', () => {
  it('become fields of the request, without empty rows', () => {
    const labels = [
      { name: ' env ', value: 'prod' },
      { name: '', value: '' },
      { name: 'empty', value: '' },
    ];
    assert.deepEqual(endFields({ ...NO_ENDS, labels, expiry: '7' }, NOW_MS), {
      labels: { env: 'prod', empty: '' },
      expires_at: '2027-02-07T12:00:00.000Z',
    });
    assert.deepEqual(endFields(NO_ENDS, NOW_MS), {});
  });

  it('are refused as the service would refuse them', () => {
    const name = 'env';
    for (const labels of [
      [{ name: '', value: 'prod' }],
      [{ name: 'Env', value: '' }],
      [{ name: 'x'.repeat(33), value: '' }],
      [{ name, value: 'x'.repeat(65) }],
      [{ name, value: 'a\nb' }],
      [
        { name, value: 'a' },
        { name, value: 'b' },
      ],
    ]) {
      assert.ok(labelsProblem(labels), JSON.stringify(labels));
    }
    assert.equal(labelsProblem([{ name: 'a.b_c-1', value: 'é'.repeat(64) }]), undefined);
    for (const expiresAt of ['', '2027-01-31T11:59Z']) {
      assert.ok(endsProblems({ ...NO_ENDS, expiry: 'at', expiresAt }, NOW_MS).expiry, expiresAt);
    }
    const expiresAt = '2027-01-31T12:01Z';
    assert.deepEqual(endsProblems({ ...NO_ENDS, expiry: 'at', expiresAt }, NOW_MS), {
      labels: undefined,
      expiry: undefined,
    });
  });
});
