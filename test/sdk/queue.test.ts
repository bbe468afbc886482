/** The queue of calls: its cost, and that no call is lost or ended by it. Costs are counted, not timed. */
import assert from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import { describe, it, type TestContext } from 'node:test';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { PhmTimeoutError } from '../../sdk/src/errors.ts';
import { Heap } from '../../sdk/src/heap.ts';
import { PhmClient } from '../../sdk/src/index.ts';
import type { Limit } from '../../sdk/src/limits.ts';
import { Pace } from '../../sdk/src/pace.ts';
import { type Clock, Turns } from '../../sdk/src/turns.ts';
import { ScriptedServer, staysSilent } from '../support/clients/scripted-server.ts';
import { PATIENCE_MS } from '../support/run/until.ts';
import { ANY_ANSWER, API_KEY, rejection, withClient } from './support.ts';

const MINUTE = 60_000;

describe('a heap', () => {
  it('gives its items by rank, whichever are removed', () => {
    const step = fc.oneof(
      fc.record({ add: fc.integer({ min: 0, max: 20 }) }),
      fc.record({ remove: fc.nat() }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const heap = new Heap<{ rank: number }>(({ rank }) => rank);
        let model: { rank: number }[] = [];
        for (const one of steps) {
          if ('add' in one) {
            const item = { rank: one.add };
            heap.add(item);
            model.push(item);
          } else {
            const item = model[one.remove % Math.max(1, model.length)] ?? { rank: 0 };
            assert.equal(heap.delete(item), model.includes(item));
            model = model.filter((other) => other !== item);
          }
          assert.equal(heap.size, model.length);
          const ranks = model.map(({ rank }) => rank).sort((a, b) => a - b);
          assert.equal(heap.first?.rank, ranks[0]);
          assert.deepEqual(
            heap.inOrder().map(({ rank }) => rank),
            ranks,
          );
        }
      }),
    );
  });
});

/** A clock that stands, with one timer. */
class StoppedClock implements Clock {
  ms = 0;
  work: (() => void) | undefined;

  nowMs(): number {
    return this.ms;
  }

  after(ms: number, work: () => void): () => void {
    this.work = () => {
      this.ms += ms;
      work();
    };
    return () => {
      this.work = undefined;
    };
  }
}

/** Counts the questions to the pace. */
function countQuestions({ mock }: TestContext): () => number {
  const asked = [mock.method(Pace.prototype, 'waitMs'), mock.method(Pace.prototype, 'leastWaitMs')];
  return () => asked.reduce((sum, one) => sum + one.mock.callCount(), 0);
}

const rate = (limit: number): Limit => ({
  limit,
  remaining: limit - 1,
  windowSeconds: 1,
  resetSeconds: 1,
});

interface Crowd {
  readonly calls: number;
  readonly limit: Limit | null;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** Makes calls at once, each answered as soon as it is sent. Resolves with how many were sent, and how many failed. */
async function crowd({ calls, limit, timeoutMs = MINUTE, signal }: Crowd) {
  const clock = new StoppedClock();
  const turns = new Turns(clock, () => 0);
  const ended = { sent: 0, failed: 0 };
  const tooLate = () => {
    const circumstances = { timeoutMs, requestId: null, outcomeUnknown: false };
    return new PhmTimeoutError('too late', circumstances);
  };
  const call = async () => {
    const ticket = turns.ticket();
    const asking = { ticket, places: 1, deadlineMs: timeoutMs, signal, tooLate };
    try {
      await turns.take(asking);
    } catch {
      ended.failed += 1;
      return;
    }
    ended.sent += 1;
    turns.answered({ ok: true, rate: limit }, clock.ms);
    turns.ended();
  };
  const all = Array.from({ length: calls }, call);
  const done = Promise.all(all).then(() => true);
  const idle = () => new Promise<false>((resolve) => setImmediate(resolve, false));
  while (!(await Promise.race([done, idle()]))) clock.work?.();
  return ended;
}

describe('many calls at once', () => {
  const crowds: [string, Omit<Crowd, 'calls'>][] = [
    ['without a limit', { limit: null }],
    ['with a limit that admits all', { limit: rate(1_000) }],
    ['with a limit that admits few', { limit: rate(20), timeoutMs: 3_000 }],
  ];
  for (const [name, kind] of crowds) {
    it(`take a time that grows with their number, ${name}`, async (context) => {
      const questions = countQuestions(context);
      const few = await crowd({ calls: 500, ...kind });
      const ofFew = questions();
      const many = await crowd({ calls: 2_500, ...kind });
      const ofMany = questions() - ofFew;
      assert.ok(
        ofMany < 2 * 5 * ofFew,
        `${ofFew} questions, and ${ofMany} for five times the calls`,
      );
      assert.ok(ofMany < 40 * 2_500, `${ofMany} questions`);
      for (const [{ sent, failed }, calls] of [
        [few, 500],
        [many, 2_500],
      ] as const) {
        assert.equal(sent + failed, calls);
        if (kind.timeoutMs === undefined) assert.equal(failed, 0, 'a call timed out in the queue');
        else assert.ok(sent >= 60 && sent <= 80, `${sent} calls`);
      }
    });
  }

  it('leave the queue at once when their signal is aborted', async (context) => {
    const questions = countQuestions(context);
    const controller = new AbortController();
    setImmediate(() => controller.abort());
    const limit = rate(1);
    const { failed } = await crowd({
      calls: 2_500,
      limit,
      signal: controller.signal,
      timeoutMs: 1e9,
    });
    assert.ok(failed > 2_400, `${failed} calls`);
    assert.ok(questions() < 40 * 2_500, `${questions()} questions`);
    assert.deepEqual(getEventListeners(controller.signal, 'abort'), []);
  });

  it('have at most 256 requests in progress', async () => {
    await withClient([staysSilent], async (phm, server) => {
      // Its answer states no limit.
      const fetch = async (url: string, init: RequestInit) => {
        if (!url.endsWith('?hours=1')) return globalThis.fetch(url, init);
        const { 'X-Request-Id': id = '' } = init.headers as Record<string, string>;
        const body = JSON.stringify({ ...ANY_ANSWER, success: true });
        return new Response(body, { headers: { 'x-request-id': id } });
      };
      const free = new PhmClient({ baseUrl: server.address, apiKey: API_KEY, fetch });
      await free.metrics({ hours: 1 });
      const controller = new AbortController();
      const { signal } = controller;
      const calls = Array.from({ length: 400 }, () => rejection(free.metrics({}, { signal })));
      await server.requests(256);
      assert.equal(getEventListeners(signal, 'abort').length, 1, 'Node warns of the eleventh');
      controller.abort('enough');
      assert.deepEqual(new Set(await Promise.all(calls)), new Set(['enough']));
      assert.equal(server.received.length, 256);
      assert.equal(phm.lastLimits.rate, null);
    });
  });
});

/** A service in a thread of its own: it answers each request when this one allows it, while this one is busy. */
const SERVICE = `
const { createServer } = require('node:http');
const { parentPort, workerData } = require('node:worker_threads');
const [asked, allowed, answered] = [0, 1, 2];
const counts = new Int32Array(workerData.counts);
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    Atomics.add(counts, asked, 1);
    Atomics.wait(counts, allowed, 0);
    const headers = { 'content-type': 'application/json', 'x-request-id': request.headers['x-request-id'] };
    response.writeHead(200, headers).end(workerData.answer, () => {
      Atomics.add(counts, answered, 1);
      Atomics.notify(counts, answered);
    });
  });
}).listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

describe('an answer that came in time', () => {
  it('is not lost because the program was busy', async () => {
    const answer = JSON.stringify({ success: true, ...ANY_ANSWER });
    const [asked, allowed, answered] = [0, 1, 2];
    const counts = new Int32Array(new SharedArrayBuffer(3 * 4));
    const workerData = { answer, counts: counts.buffer };
    const service = new Worker(SERVICE, { eval: true, workerData });
    try {
      const [port] = await once(service, 'message');
      const options = { apiKey: API_KEY, attemptTimeoutMs: 1_000, maxRetries: 0 };
      const phm = new PhmClient({ baseUrl: `http://127.0.0.1:${port}`, ...options });
      const lateMs = performance.now() + 1_500;
      const call = phm.metrics();
      while (Atomics.load(counts, asked) === 0) await new Promise((next) => setImmediate(next));
      Atomics.store(counts, allowed, 1);
      Atomics.notify(counts, allowed);
      assert.notEqual(Atomics.wait(counts, answered, 0, PATIENCE_MS), 'timed-out');
      while (performance.now() < lateMs);
      assert.equal((await call).success, true);
    } finally {
      await service.terminate();
    }
  });

  it('ends a call whose answer did not come', async () => {
    const server = await ScriptedServer.start(staysSilent);
    try {
      const options = { apiKey: API_KEY, attemptTimeoutMs: 50, maxRetries: 0 };
      const phm = new PhmClient({ baseUrl: server.address, ...options });
      const call = rejection(phm.metrics());
      const until = performance.now() + 100;
      while (performance.now() < until);
      assert.ok((await call) instanceof PhmTimeoutError);
    } finally {
      await server.stop();
    }
  });
});
