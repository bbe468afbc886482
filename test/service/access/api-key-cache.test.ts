/** Lifetime of cached API keys, and the order of look-ups. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Principal } from '../../../src/ledger/index.ts';
import { ApiKeyCache } from '../../../src/service/access/api-key-cache.ts';
import { ApiKeyLookups } from '../../../src/service/access/api-key-lookups.ts';

const HERE = '192.0.2.1';
const usage = { month: 1, used: 0, quota: 10 };
const principal: Principal = {
  apiKeyId: 'k',
  accountId: 'a',
  plan: 'research',
  demo: false,
  sealedOnly: 'off',
  rules: null,
  lastUsedHour: null,
  suspended: false,
  usage,
};
const turn = () => new Promise((resolve) => setImmediate(resolve));
const named = (name: string) => Buffer.from(name);
const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString();

/** A cache over a ledger that can hang and fail, and that can revoke its only key. */
function makeCache() {
  const ledger = { state: 'works' as 'works' | 'hangs' | 'fails', revoked: false, lookups: 0 };
  const cache = new ApiKeyCache(async (hashes) => {
    ledger.lookups += 1;
    if (ledger.state === 'hangs') await new Promise(() => {});
    if (ledger.state === 'fails') throw new Error('staged');
    return hashes.map((hash) =>
      textOf(hash) === 'key' && !ledger.revoked ? principal : undefined,
    );
  });
  return {
    ledger,
    find: async (nowMs: number, name = 'key') => cache.find(named(name), HERE, nowMs),
    cache,
  };
}

describe('the API key cache', () => {
  it('keeps the newest usage if a lookup that began before a commit ends after it', async () => {
    const { cache, find } = makeCache();
    await find(0);
    const lookUp = find(2_000);
    cache.noteUsage('a', { ...usage, used: 7 });
    await lookUp;
    assert.deepEqual(cache.usageOf(principal), { ...usage, used: 7 });
    cache.noteUsage('a', { ...usage, month: 2 });
    assert.deepEqual(cache.usageOf(principal), { ...usage, month: 2 });
  });

  it('reports the limit of an API key if it leaves less than the quota', () => {
    const { cache } = makeCache();
    const limit = { month: 1, used: 1, quota: 4, counterId: 'k' };
    const none = { scopes: null, expiresMs: null, addressRanges: null, recipients: null };
    const rules = { ...none, ratePerSecond: null };
    const limited = {
      ...principal,
      rules: { ...rules, burst: null, monthly: { counterId: 'k', limit: 4 }, usage: limit },
    };
    assert.deepEqual(cache.usageOf(limited), limit);
    cache.noteUsage('a', { ...limit, used: 3 });
    assert.deepEqual(cache.usageOf(limited), { ...limit, used: 3 });
    assert.deepEqual(cache.usageOf(principal), usage);
    cache.noteUsage('a', { ...usage, used: 10 });
    assert.deepEqual(cache.usageOf(limited), { ...usage, used: 10 });
  });

  it('reads once for concurrent requests, again after one second, and waits after two', async () => {
    const { ledger, find } = makeCache();
    await Promise.all([find(0), find(0), find(999)]);
    assert.equal(ledger.lookups, 1);
    ledger.state = 'hangs';
    assert.equal(await find(1_000), principal);
    assert.equal(await find(1_999), principal);
    assert.equal(ledger.lookups, 2);
  });

  it('refuses a revoked key after two seconds at most, sooner while it is in use', async () => {
    const { ledger, find } = makeCache();
    assert.equal(await find(0), principal);
    ledger.revoked = true;
    assert.equal(await find(999), principal);
    assert.equal(await find(2_000), undefined);
    ledger.revoked = false;
    assert.equal(await find(3_000), principal);
    ledger.revoked = true;
    assert.equal(await find(4_000), principal);
    await turn();
    assert.equal(await find(4_001), undefined);
  });

  it('accepts a known key for five seconds while the ledger fails, then reports the failure', async () => {
    const { ledger, find } = makeCache();
    assert.equal(await find(0), principal);
    ledger.state = 'fails';
    assert.equal(await find(2_000), principal);
    assert.equal(await find(6_999), principal);
    await assert.rejects(find(7_000), /staged/);
    await assert.rejects(find(2_000, 'unknown'), /staged/);
    ledger.state = 'works';
    assert.equal(await find(8_000), principal);
  });

  it('waits half a second for a hanging ledger, once for all requests', async (test) => {
    test.mock.timers.enable({ apis: ['setTimeout'] });
    const { ledger, find } = makeCache();
    assert.equal(await find(0), principal);
    ledger.state = 'hangs';
    const waiting = [find(2_000), find(2_400)];
    test.mock.timers.tick(500);
    assert.deepEqual(await Promise.all(waiting), [principal, principal]);
    assert.equal(await find(6_999), principal);
    assert.equal(ledger.lookups, 2);
  });

  it('returns a fresh principal without a promise, and only that', async () => {
    const { cache } = makeCache();
    const find = (nowMs: number) => cache.find(named('key'), HERE, nowMs);
    const first = find(0);
    assert.ok(first instanceof Promise);
    assert.equal(await first, principal);
    for (const nowMs of [0, 999, 1_000, 1_999]) assert.equal(find(nowMs), principal, `${nowMs}`);
    assert.ok(find(2_000) instanceof Promise);
  });

  it('does not remember unknown keys, so that an issued key is valid at once', async () => {
    const { ledger, find } = makeCache();
    ledger.revoked = true;
    assert.equal(await find(0), undefined);
    ledger.revoked = false;
    assert.equal(await find(0), principal);
  });

  it('prefers the newest usage seen', async () => {
    const { cache, find } = makeCache();
    await find(0);
    cache.noteUsage('a', { ...usage, used: 7 });
    assert.equal(cache.usageOf(principal).used, 7);
  });
});

/** Look-ups over a ledger that answers on command. */
function makeLookups() {
  const batches: string[][] = [];
  const settle: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const lookups = new ApiKeyLookups((hashes) => {
    batches.push(hashes.map(textOf));
    return new Promise((resolve, reject) => {
      settle.push({ resolve: () => resolve(hashes.map(() => undefined)), reject });
    });
  });
  const answer = async () => {
    settle.shift()?.resolve();
    await turn();
  };
  return { lookups, batches, settle, answer };
}

describe('API key lookups', () => {
  it('run in batches: known keys first, then one unknown key per address in turn', async () => {
    const { lookups, batches, answer } = makeLookups();
    void lookups.unknown(named('first'), 'flood');
    for (let i = 0; i < 1_000; i++) void lookups.unknown(named(`flood ${i}`), 'flood');
    void lookups.unknown(named('new key'), 'client');
    void lookups.known(named('known key'));
    await answer();
    assert.deepEqual(batches[0], ['first']);
    assert.deepEqual(batches[1]?.slice(0, 4), ['known key', 'flood 0', 'new key', 'flood 1']);
    assert.equal(batches[1]?.length, 256);
    for (let i = 0; i < 4; i++) await answer();
    assert.equal(lookups.load.waiting, 0);
    assert.equal(batches.flat().length, 1_003);
  });

  it('keep places in every batch for unknown keys', async () => {
    const { lookups, batches, answer } = makeLookups();
    void lookups.known(named('first'));
    for (let i = 0; i < 1_000; i++) void lookups.known(named(`known ${i}`));
    void lookups.unknown(named('new key'), 'client');
    await answer();
    assert.ok(batches[1]?.includes('new key'));
  });

  it('leave places for other addresses, however many one address requests', async () => {
    const { lookups } = makeLookups();
    const refused = new Map<string, number>();
    const ask = (address: string) =>
      lookups.unknown(named('key'), address).catch(({ code }) => {
        assert.equal(code, 'overloaded');
        refused.set(address, (refused.get(address) ?? 0) + 1);
      });
    for (const flood of ['one', 'two', 'three']) {
      for (let i = 0; i < 20_000; i++) void ask(flood);
    }
    for (let i = 0; i < 100; i++) void ask(`client ${i}`);
    await turn();
    assert.deepEqual([...refused.keys()], ['one', 'two', 'three']);
    assert.ok(lookups.load.waiting < lookups.load.capacity);
  });

  it('fail together, so that no lookup waits again for a silent ledger', async () => {
    const { lookups, batches, settle, answer } = makeLookups();
    const asked = ['a', 'b', 'c'].map((name) => lookups.unknown(named(name), HERE));
    asked.push(lookups.known(named('d')));
    settle.shift()?.reject(new Error('staged'));
    const outcomes = await Promise.allSettled(asked);
    assert.deepEqual(new Set(outcomes.map(({ status }) => status)), new Set(['rejected']));
    assert.equal(lookups.load.waiting, 0);
    const next = lookups.unknown(named('e'), HERE);
    await answer();
    assert.equal(await next, undefined);
    assert.deepEqual(batches, [['a'], ['e']]);
  });
});
