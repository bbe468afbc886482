import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  DEMO_ACCOUNTS,
  demoKeysPolicy,
  hashApiKey,
  isDemoApiKey,
  isExhausted,
  isWellFormedApiKey,
  newApiKey,
  quotaPeriod,
  RateLimiter,
  secondsToNextMonth,
} from '../../src/accounts/index.ts';
import { utcMonth } from '../../src/clock.ts';

describe('API keys', () => {
  it('are well-formed when generated, but not after a change of any one character', () => {
    fc.assert(
      fc.property(fc.nat(100), fc.constantFrom(...'0aZ-_ é'), (at, character) => {
        const key = newApiKey('live');
        assert.match(key, /^phmsk_live_[0-9A-Za-z]{28}_[0-9A-Za-z]{6}$/);
        assert.ok(isWellFormedApiKey(key));
        const i = at % key.length;
        fc.pre(key[i] !== character);
        assert.ok(!isWellFormedApiKey(key.slice(0, i) + character + key.slice(i + 1)));
      }),
    );
  });

  it('are unique and hash to 32 bytes', () => {
    const keys = new Set(Array.from({ length: 1_000 }, () => newApiKey('live')));
    assert.equal(keys.size, 1_000);
    assert.equal(hashApiKey(newApiKey('live')).length, 32);
  });

  it('refuse long text without reading it', () => {
    assert.ok(!isWellFormedApiKey('a'.repeat(1_000_000)));
  });
});

describe('demo keys', () => {
  it('are two well-formed keys, on a Research and a Professional account', () => {
    assert.deepEqual(
      DEMO_ACCOUNTS.map(({ plan }) => plan),
      ['research', 'professional'],
    );
    for (const { apiKey } of DEMO_ACCOUNTS) {
      assert.ok(isWellFormedApiKey(apiKey));
      assert.ok(isDemoApiKey(apiKey));
    }
    assert.ok(!isDemoApiKey(newApiKey('demo')));
  });

  it('are admitted by auto only on a loopback listener with the embedded database', () => {
    const policy = (loopbackListener: boolean, embeddedDatabase: boolean) =>
      demoKeysPolicy('auto', { loopbackListener, embeddedDatabase });
    assert.equal(policy(true, true), 'admit-direct');
    assert.equal(policy(false, true), 'refuse');
    assert.equal(policy(true, false), 'refuse');
    const open = { loopbackListener: false, embeddedDatabase: false };
    assert.equal(demoKeysPolicy('on', open), 'admit');
    assert.equal(
      demoKeysPolicy('off', { loopbackListener: true, embeddedDatabase: true }),
      'refuse',
    );
  });
});

describe('the quota month', () => {
  it('begins at midnight UTC on the first', () => {
    const newYear = Date.UTC(2027, 0, 1);
    assert.equal(utcMonth(newYear), utcMonth(newYear - 1) + 1);
    const period = (nowMs: number) => quotaPeriod({ month: 24_000, used: 7, quota: 9 }, nowMs);
    assert.equal(period(newYear - 1).secondsLeft, 1);
    assert.deepEqual(period(newYear), {
      used: 0,
      lengthSeconds: 31 * 86_400,
      secondsLeft: 31 * 86_400,
    });
    assert.equal(period(Date.UTC(2028, 1, 29)).lengthSeconds, 29 * 86_400);
  });

  it('begins when the ledger says so, even if the local clock is behind', () => {
    const newYear = Date.UTC(2027, 0, 1);
    const usage = { month: utcMonth(newYear), used: 9, quota: 9 };
    const month = 31 * 86_400;
    const expected = { used: 9, lengthSeconds: month, secondsLeft: month };
    assert.deepEqual(quotaPeriod(usage, newYear - 5_000), expected);
    assert.equal(isExhausted(usage, newYear - 5_000), true);
  });

  it('ends the wait after a refusal with the month of that refusal', () => {
    const december = Date.UTC(2026, 11, 1);
    const usage = { month: utcMonth(december - 1), used: 9, quota: 9 };
    const waits = [-30 * 86_400_000 - 5_000, -1_500, 0, 5].map((offset) =>
      secondsToNextMonth(usage, december + offset),
    );
    assert.deepEqual(waits, [30 * 86_400, 2, 1, 1]);
  });

  it('is exhausted only for the month of the reported usage', () => {
    const now = Date.UTC(2026, 10, 30, 23, 59);
    const usage = { month: utcMonth(now), used: 1_000, quota: 1_000 };
    assert.equal(isExhausted(usage, now), true);
    assert.equal(isExhausted({ ...usage, used: 999 }, now), false);
    assert.equal(isExhausted({ ...usage, quota: null }, now), false);
    assert.equal(isExhausted(usage, now + 60_000), false);
  });
});

describe('the rate limit', () => {
  const limit = { ratePerSecond: 10, burst: 20 };
  const start = 1_000_000;

  it('admits a burst at once, then one request per interval', () => {
    const limiter = new RateLimiter();
    for (let i = 0; i < 20; i++) {
      const { allowed, remaining } = limiter.take('k', limit, start);
      assert.ok(allowed);
      assert.equal(remaining, 19 - i);
    }
    const refused = limiter.take('k', limit, start);
    assert.equal(refused.allowed, false);
    assert.equal(refused.retryAfterSeconds, 1);
    assert.equal(limiter.take('k', limit, start + 99).allowed, false);
    assert.equal(limiter.take('k', limit, start + 100).allowed, true);
    assert.equal(limiter.take('k', limit, start + 100).allowed, false);
    assert.equal(limiter.take('other', limit, start).allowed, true);
  });

  it('takes the tokens of a batch together or not at all, and names the wait for all of them', () => {
    const limiter = new RateLimiter();
    limiter.take('k', limit, start);
    const batch = limiter.takeRest('k', limit, start, 15);
    assert.deepEqual([batch.allowed, batch.remaining, batch.retryAfterSeconds], [true, 5, 0]);
    limiter.take('k', limit, start);
    const refused = limiter.takeRest('k', limit, start, 20);
    // A refusal gives the first token back. 15 of 20 are missing, and ten arrive in a second.
    assert.deepEqual([refused.allowed, refused.remaining], [false, 5]);
    assert.equal(refused.retryAfterSeconds, 2);
    const later = start + 2_000;
    assert.equal(limiter.take('k', limit, later).allowed, true);
    const full = limiter.takeRest('k', limit, later, 20);
    assert.deepEqual([full.allowed, full.remaining, full.retryAfterSeconds], [true, 0, 1]);
  });

  it('never admits more than burst + rate·time, whatever the arrivals', () => {
    const arrival = fc.tuple(fc.nat(400), fc.integer({ min: 1, max: 20 }));
    const arrivals = fc.array(arrival, { minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(arrivals, (all) => {
        const limiter = new RateLimiter();
        let now = start;
        let allowed = 0;
        for (const [gap, total] of all) {
          now += gap;
          if (!limiter.take('k', limit, now).allowed) continue;
          if (limiter.takeRest('k', limit, now, total).allowed) allowed += total;
          const most = limit.burst + ((now - start) / 1000) * limit.ratePerSecond;
          assert.ok(allowed <= most + 1e-6);
        }
      }),
    );
  });
});
