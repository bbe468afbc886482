/** The client keeps to a rate limit: in virtual time against the service's own limiter, and over HTTP. */
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { PhmTimeoutError } from '../../sdk/src/errors.ts';
import { PhmClient } from '../../sdk/src/index.ts';
import { Pace } from '../../sdk/src/pace.ts';
import { Turns } from '../../sdk/src/turns.ts';
import { RateLimiter } from '../../src/accounts/index.ts';
import { type Plan, PUBLISHED_PLANS } from '../../src/config/index.ts';
import { fails, ScriptedServer, type Step } from '../support/clients/scripted-server.ts';
import { type Answered, type ServiceOptions, SimulatedService } from './simulated-service.ts';
import { ANY_ANSWER, API_KEY, makes, rejection } from './support.ts';

const RESEARCH = PUBLISHED_PLANS.get('research') as Plan;
const MINUTE = 60_000;

/** Returns a generator of numbers from 0 to 1 with a seed. */
function randomBy(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function makeService(seed: number, latencyMs: number, options: Partial<ServiceOptions> = {}) {
  const random = randomBy(seed);
  const ways = () => ({ there: random() * Math.min(50, latencyMs), back: random() * latencyMs });
  const service = new SimulatedService({
    limit: RESEARCH,
    headers: true,
    latencyMs: ways,
    ...options,
  });
  return { service, makeTurns: () => new Turns(service.clock, random) };
}

/** Lets `clients` of one API key make `calls` each, all at once. */
function callAll(
  { service, makeTurns }: ReturnType<typeof makeService>,
  clients: number,
  calls: number,
): Promise<Answered[]> {
  const turns = Array.from({ length: clients }, makeTurns);
  const all = turns.flatMap((one) =>
    Array.from({ length: calls }, () => service.call(one, MINUTE)),
  );
  return service.clock.run(Promise.all(all));
}

const anySeed = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const anyLatency = fc.constantFrom(0, 5, 50, 300, 1500);
const FEW = { numRuns: 12 };

describe('100 concurrent calls on a Research key, in virtual time', () => {
  it('are never refused for a single client, and take as long as the limit requires', async () => {
    await fc.assert(
      fc.asyncProperty(anySeed, anyLatency, async (seed, latencyMs) => {
        const world = makeService(seed, latencyMs);
        const ends = await callAll(world, 1, 100);
        assert.equal(
          ends.reduce((sum, { refusals }) => sum + refusals, 0),
          0,
        );
        const last = Math.max(...ends.map(({ endedMs }) => endedMs));
        assert.ok(last >= 8_000 && last <= 8_500 + 2 * latencyMs, `${last} ms`);
        assert.equal(world.service.clock.pending, 0);
      }),
      FEW,
    );
  });

  it('all succeed within a minute for one to three clients with the same key', async () => {
    const anyClients = fc.integer({ min: 1, max: 3 });
    await fc.assert(
      fc.asyncProperty(anySeed, anyLatency, anyClients, async (seed, latencyMs, clients) => {
        const world = makeService(seed, latencyMs);
        assert.equal((await callAll(world, clients, 100)).length, clients * 100);
        assert.ok(world.service.requests < clients * 200, `${world.service.requests} requests`);
      }),
      FEW,
    );
  });

  it('all succeed if a proxy removes the headers', async () => {
    await fc.assert(
      fc.asyncProperty(anySeed, anyLatency, async (seed, latencyMs) => {
        const world = makeService(seed, latencyMs, { headers: false });
        assert.equal((await callAll(world, 1, 100)).length, 100);
        assert.ok(world.service.requests < 250, `${world.service.requests} requests`);
      }),
      FEW,
    );
  });
});

describe('pace', () => {
  const rate = (remaining: number) => ({
    limit: 20,
    remaining,
    windowSeconds: 2,
    resetSeconds: 0,
  });

  it('never admits more requests than the bucket holds plus its refill', () => {
    const steps = fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(steps, (gapsMs) => {
        const pace = new Pace(() => 0);
        pace.sent(0);
        pace.answered({ ok: true, rate: rate(19) }, { sentAtMs: 0, nowMs: 0 });
        const sent = [0];
        let nowMs = 0;
        for (const gapMs of gapsMs) {
          nowMs += gapMs;
          while (pace.waitMs(nowMs, 0) === 0) {
            pace.sent(nowMs);
            sent.push(nowMs);
          }
        }
        for (const [i, from] of sent.entries()) {
          for (const [more, to] of sent.slice(i).entries()) {
            assert.ok(more + 1 <= 20 + (to - from) / 100 + 1e-9);
          }
        }
      }),
    );
  });

  it('admits ten requests before the first answer, and any number if that states no limit', () => {
    const pace = new Pace(() => 0);
    for (let i = 0; i < 10; i += 1) {
      assert.equal(pace.waitMs(0, 0), 0);
      pace.sent(0);
    }
    assert.equal(pace.waitMs(0, 0), null);
    pace.ended();
    assert.equal(pace.waitMs(0, 0), 0);
    pace.answered({ ok: false, rate: null }, { sentAtMs: 0, nowMs: 5 });
    assert.equal(pace.waitMs(5, 1), null);
    pace.answered({ ok: true, rate: null }, { sentAtMs: 0, nowMs: 5 });
    assert.equal(pace.waitMs(5, 1000), 0);
  });

  it('slows down as soon as an answer shows that others use the key', () => {
    const pace = new Pace(() => 0);
    pace.sent(0);
    pace.answered({ ok: true, rate: rate(19) }, { sentAtMs: 0, nowMs: 0 });
    assert.equal(pace.waitMs(0, 0), 0);
    pace.sent(0);
    pace.answered({ ok: true, rate: rate(0) }, { sentAtMs: 0, nowMs: 50 });
    // Half a token has been added since; one more is in reserve.
    assert.equal(pace.waitMs(50, 0), 150);
  });

  it('pauses for Retry-After, at most 30 seconds, and longer after each refusal in a row', () => {
    const pace = new Pace(() => 1);
    pace.refused(1, { sentAtMs: 10, nowMs: 20 });
    assert.equal(pace.pauseMs(20), 1250);
    // Sent before the refusal was known, so this only repeats it.
    pace.refused(1, { sentAtMs: 15, nowMs: 120 });
    assert.equal(pace.pauseMs(120), 1150);
    pace.refused(1, { sentAtMs: 1300, nowMs: 1300 });
    assert.equal(pace.pauseMs(1300), 1500);
    pace.refused(3600, { sentAtMs: 3000, nowMs: 3000 });
    assert.equal(pace.pauseMs(3000), 30_000);
  });
});

describe('a turn', () => {
  it('comes in the order of the calls, and first for a refused call', async () => {
    const { service, makeTurns } = makeService(1, 0, { limit: { ratePerSecond: 2, burst: 4 } });
    const turns = makeTurns();
    const order: number[] = [];
    const calls = Array.from({ length: 15 }, async (_, i) => {
      await service.call(turns, MINUTE);
      order.push(i);
    });
    await service.clock.run(Promise.all(calls));
    assert.ok(service.requests > 15, 'none was refused');
    assert.deepEqual(
      order,
      order.toSorted((a, b) => a - b),
    );
  });

  it('of a batch comes when its places are free, also if it takes the whole bucket', async () => {
    for (const places of [1, 12, 20, 1_000]) {
      const { service, makeTurns } = makeService(1, 5);
      const turns = makeTurns();
      const calls = [places, 1, places, places, 1, places];
      const ends = await service.clock.run(
        Promise.all(calls.map((one) => service.call(turns, MINUTE, undefined, one))),
      );
      const refusals = ends.reduce((sum, one) => sum + one.refusals, 0);
      // Before the first answer the client does not know the limit and sends them all.
      assert.ok(refusals < 2 * calls.length, `${refusals} refusals of ${places} places`);
      const lastMs = Math.max(...ends.map(({ endedMs }) => endedMs));
      assert.ok(lastMs < 30_000, `${lastMs} ms for ${places} places`);
      assert.equal(service.clock.pending, 0);
    }
  });

  it('is given up by an aborted call', async () => {
    const { service, makeTurns } = makeService(1, 5);
    const turns = makeTurns();
    const controller = new AbortController();
    const aborted = Array.from({ length: 60 }, () =>
      rejection(service.call(turns, MINUTE, controller.signal)),
    );
    const others = Array.from({ length: 30 }, () => service.call(turns, MINUTE));
    const reason = new Error('no longer needed');
    service.clock.after(1000, () => controller.abort(reason));
    await service.clock.run(Promise.allSettled([...aborted, ...others]));
    const reasons = await Promise.allSettled(aborted.slice(-20));
    assert.ok(reasons.every((one) => one.status === 'fulfilled' && one.value === reason));
    const ends = await Promise.all(others);
    // 30 requests were sent before; the other 30 of the 60 left the queue.
    assert.ok(Math.max(...ends.map(({ endedMs }) => endedMs)) < 4_500);
    assert.deepEqual(getEventListeners(controller.signal, 'abort'), []);
    assert.equal(service.clock.pending, 0);
  });

  it('fails at once if it cannot come within timeoutMs', async () => {
    const { service, makeTurns } = makeService(1, 5);
    const turns = makeTurns();
    const failedMs: number[] = [];
    const calls = Array.from({ length: 100 }, async () => {
      const [outcome] = await Promise.allSettled([service.call(turns, 3_000)]);
      if (outcome.status === 'fulfilled') return true;
      assert.ok(outcome.reason instanceof PhmTimeoutError);
      assert.equal(outcome.reason.outcomeUnknown, false);
      failedMs.push(service.clock.nowMs());
      return false;
    });
    const done = await service.clock.run(Promise.all(calls));
    const sent = done.filter((one) => one).length;
    assert.ok(sent >= 47 && sent <= 50, `${sent} calls`);
    assert.deepEqual(done.slice(0, sent), Array(sent).fill(true));
    // The others failed when the first response stated the limit.
    assert.ok(Math.max(...failedMs) <= 60, `${Math.max(...failedMs)} ms`);
    assert.equal(service.clock.pending, 0);
  });

  it('fails with the time limit of the call if no answer arrives', async () => {
    const { service, makeTurns } = makeService(1, 0, {
      latencyMs: () => ({ there: 1e9, back: 0 }),
    });
    const turns = makeTurns();
    for (let i = 0; i < 10; i += 1) service.call(turns, MINUTE).catch(() => undefined);
    const error = await service.clock.run(rejection(service.call(turns, 500)));
    assert.ok(error instanceof PhmTimeoutError);
    assert.equal(service.clock.nowMs(), 500);
  });
});

/** Responds like the service with a rate limit of `perSecond` and a bucket of the same size. */
function limited(perSecond: number): Step {
  const limiter = new RateLimiter();
  const limit = { ratePerSecond: perSecond, burst: perSecond };
  return (response) => {
    const decision = limiter.take('key', limit, performance.now());
    const headers = {
      'ratelimit-policy': `"rate";q=${perSecond};w=1`,
      ratelimit: `"rate";r=${decision.remaining};t=${decision.resetSeconds}`,
    };
    const retry = { 'retry-after': String(decision.retryAfterSeconds) };
    if (decision.allowed) makes(ANY_ANSWER, headers)(response);
    else fails('rate_limited', { ...headers, ...retry })(response);
  };
}

describe('a client over HTTP', () => {
  it('completes 100 concurrent calls although the bucket holds 60', async () => {
    const server = await ScriptedServer.start(limited(60));
    try {
      const phm = new PhmClient({ baseUrl: server.address, apiKey: API_KEY });
      const call = () => phm.generate({ security_level: 256 });
      const keys = await Promise.all(Array.from({ length: 100 }, call));
      assert.equal(keys.length, 100);
      assert.ok(server.received.length < 150, `${server.received.length} requests`);
    } finally {
      await server.stop();
    }
  });
});
