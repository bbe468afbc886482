/** Which calls the client retries, when, and for how long. */
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import {
  PhmApiError,
  PhmClient,
  PhmConnectionError,
  PhmResponseError,
  PhmTimeoutError,
} from '../../sdk/src/index.ts';
import { readRetryAfter, waitMs } from '../../sdk/src/retry.ts';
import { ERRORS, type ErrorCode } from '../../src/errors.ts';
import {
  answers,
  breaks,
  fails,
  page,
  ScriptedServer,
  type Step,
  staysSilent,
} from '../support/scripted-server.ts';
import { ANY_ANSWER, API_KEY, GENERATED, makes, rejection, withClient } from './support.ts';

const ERRORS_PAGE = readFileSync(join(import.meta.dirname, '../../docs/errors.md'), 'utf8');

/** The *Retry* column of docs/errors.md, by code. */
const ADVICE = new Map(
  [...ERRORS_PAGE.matchAll(/^\| `(\w+)` \|.*\| ([^|]+) \|$/gm)].map(([, code, retry]) => [
    code,
    retry,
  ]),
);

const NO_WAIT = { 'retry-after': '0' };

/** Returns the number of requests of a call whose first response is `first`. */
async function requestsOf(
  first: Step,
  call: 'generate' | 'validate' | 'metrics' | 'health',
): Promise<number> {
  let requests = 0;
  await withClient([first, answers(ANY_ANSWER)], async (phm, server) => {
    const calls = {
      generate: () => phm.generate({ security_level: 256 }),
      validate: () => phm.validate({ key: 'ff' }),
      metrics: () => phm.metrics(),
      health: () => phm.health(),
    };
    await calls[call]().catch(() => undefined);
    requests = server.received.length;
  });
  return requests;
}

describe('retries', { concurrency: true }, () => {
  for (const code of Object.keys(ERRORS) as ErrorCode[]) {
    const advice = ADVICE.get(code);
    const again = advice === 'yes' || advice === 'after a wait';
    it(`${again ? 'follow' : 'do not follow'} ${code}, as docs/errors.md says: ${advice}`, async () => {
      assert.notEqual(advice, undefined);
      const mayBeCounted = code === 'ledger_unavailable';
      for (const [call, follows] of [
        ['generate', again && !mayBeCounted],
        ['validate', again],
        ['metrics', again],
      ] as const) {
        assert.equal(await requestsOf(fails(code, NO_WAIT), call), follows ? 2 : 1, call);
      }
    });
  }

  it('follow a 429 or 503 page, which never reached the service', async () => {
    for (const status of [429, 503]) assert.equal(await requestsOf(page(status), 'generate'), 2);
  });

  it('do not follow a page with another refusal', async () => {
    for (const status of [301, 403, 404, 413, 500]) {
      assert.equal(await requestsOf(page(status), 'metrics'), 1);
    }
  });

  it('follow a lost answer, except of a generate, which may have generated a key', async () => {
    const half: Step = (response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('{"success": true', () => response.destroy());
    };
    for (const lost of [breaks, half, page(502), page(504)]) {
      for (const call of ['validate', 'metrics', 'health'] as const) {
        assert.equal(await requestsOf(lost, call), 2);
      }
      assert.equal(await requestsOf(lost, 'generate'), 1);
      await withClient([lost], async (phm) => {
        const error = await rejection(phm.generate({ security_level: 128 }));
        assert.ok(error instanceof PhmConnectionError || error instanceof PhmResponseError);
        assert.equal(error.outcomeUnknown, true);
      });
    }
  });

  it('follow a refused connection, which carried nothing', async () => {
    const server = await ScriptedServer.start(staysSilent);
    await server.stop();
    let attempts = 0;
    const counted = (url: string, init: RequestInit) => {
      attempts += 1;
      return fetch(url, init);
    };
    const options = { baseUrl: server.address, apiKey: API_KEY, maxRetries: 2, fetch: counted };
    const error = await rejection(new PhmClient(options).generate({ security_level: 128 }));
    assert.ok(error instanceof PhmConnectionError);
    const address = `${server.address}/api/v2/generate`;
    assert.equal(error.message, `the service cannot be reached at ${address} (ECONNREFUSED)`);
    assert.deepEqual([error.outcomeUnknown, attempts], [false, 3]);
  });

  it('follow refused connections as long as timeoutMs allows, unless maxRetries is given', async () => {
    const server = await ScriptedServer.start(staysSilent);
    await server.stop();
    const { port } = new URL(server.address);
    let attempts = 0;
    const cause = { code: 'ECONNREFUSED', syscall: 'connect' };
    let service: ScriptedServer | undefined;
    // The server starts after more attempts than any other failure gets.
    const starting = async (url: string, init: RequestInit) => {
      attempts += 1;
      if (attempts <= 6) throw new TypeError('fetch failed', { cause });
      service ??= await ScriptedServer.start(makes());
      return fetch(url.replace(port, new URL(service.address).port), init);
    };
    const { random } = Math;
    Math.random = () => 0;
    try {
      const options = { baseUrl: server.address, apiKey: API_KEY, fetch: starting };
      const error = await rejection(
        new PhmClient({ ...options, maxRetries: 3 }).generate({ security_level: 256 }),
      );
      assert.ok(error instanceof PhmConnectionError);
      assert.equal(attempts, 4);
      attempts = 0;
      await new PhmClient(options).generate({ security_level: 256 });
      assert.equal(attempts, 7);
      attempts = Number.NEGATIVE_INFINITY;
      const short = new PhmClient({ ...options, timeoutMs: 20 });
      assert.ok((await rejection(short.metrics())) instanceof PhmConnectionError);
    } finally {
      Math.random = random;
      await service?.stop();
    }
  });

  it('do not mistake a lost connection for one that was never made', async () => {
    const attemptsAfter = async (cause: object) => {
      let attempts = 0;
      const failing = () => {
        attempts += 1;
        return Promise.reject(new TypeError('fetch failed', { cause }));
      };
      const options = { baseUrl: 'https://phm.invalid', apiKey: API_KEY, maxRetries: 1 };
      await rejection(
        new PhmClient({ ...options, fetch: failing }).generate({ security_level: 128 }),
      );
      return attempts;
    };
    for (const cause of [
      { code: 'ECONNREFUSED', syscall: 'connect' },
      { code: 'EHOSTUNREACH', syscall: 'connect' },
      { code: 'ENETUNREACH', syscall: 'connect' },
      { code: 'ENOTFOUND', syscall: 'getaddrinfo' },
      { code: 'UND_ERR_CONNECT_TIMEOUT' },
      { code: 'ERR_TLS_CERT_ALTNAME_INVALID' },
      { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' },
    ]) {
      assert.equal(await attemptsAfter(cause), 2, cause.code);
    }
    for (const cause of [
      { code: 'ECONNRESET', syscall: 'read' },
      { code: 'EPIPE', syscall: 'write' },
      { code: 'EHOSTUNREACH', syscall: 'read' },
      { code: 'ENETUNREACH', syscall: 'write' },
      { code: 'ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC' },
      { code: 'ERR_SSL_BAD_RECORD_TYPE' },
    ]) {
      assert.equal(await attemptsAfter(cause), 1, `${cause.code} ${cause.syscall}`);
    }
  });

  it('send the same request again, under a new name with the same label', async () => {
    await withClient([fails('overloaded', NO_WAIT), answers(GENERATED)], async (phm, server) => {
      await phm.generate({ security_level: 256 }, { requestId: 'same-one' });
      const names = server.received.map(({ headers }) => String(headers['x-request-id']));
      for (const name of names) assert.match(name, /^same-one\.[0-9a-f]{16}$/);
      assert.notEqual(names[0], names[1]);
      const [first, second] = server.received.map(({ atMs: _, headers, ...request }) => ({
        ...request,
        headers: { ...headers, 'x-request-id': '' },
      }));
      assert.deepEqual(first, second);
      assert.equal(first?.body, '{"security_level":256}');
    });
  });

  it('stop after maxRetries with the last failure', async () => {
    const steps = [fails('overloaded', NO_WAIT), fails('ledger_unavailable', NO_WAIT)];
    await withClient(
      steps,
      async (phm, server) => {
        const error = await rejection(phm.metrics());
        assert.ok(error instanceof PhmApiError);
        assert.deepEqual([error.code, server.received.length], ['ledger_unavailable', 3]);
      },
      { maxRetries: 2 },
    );
  });

  it('never occur with maxRetries 0', async () => {
    for (const code of ['overloaded', 'rate_limited'] as const) {
      await withClient(
        [fails(code)],
        async (phm, server) => {
          await rejection(phm.metrics());
          assert.equal(server.received.length, 1);
        },
        { maxRetries: 0 },
      );
    }
  });

  it('after a rate limit count towards maxRetries only if the client does not pace itself', async () => {
    const steps = [...Array(2).fill(fails('rate_limited', NO_WAIT)), answers(GENERATED)];
    for (const [pace, requests] of [
      [true, 3],
      [false, 2],
    ] as const) {
      await withClient(
        steps,
        async (phm, server) => {
          await phm.generate({ security_level: 256 }).catch(() => undefined);
          assert.equal(server.received.length, requests);
        },
        { pace, maxRetries: 1 },
      );
    }
  });
});

// Each test waits, so all run at the same time.
describe('a long call', { concurrency: true }, () => {
  describe('the wait', { concurrency: true }, () => {
    const overloaded = new PhmApiError({
      status: 503,
      code: 'overloaded',
      title: '',
      detail: '',
      errors: [],
      keyIds: [],
      maxCount: null,
      requestId: null,
      retryAfterSeconds: null,
    });

    it('doubles up to a limit, with full jitter', () => {
      const longest = [0, 1, 2, 3, 4, 5, 6, 60].map((retry) => waitMs(overloaded, retry, () => 1));
      assert.deepEqual(longest, [250, 500, 1000, 2000, 4000, 8000, 8000, 8000]);
      assert.equal(
        waitMs(overloaded, 3, () => 0),
        0,
      );
    });

    it('lasts as long as Retry-After says, up to 30 seconds', () => {
      const asked = (retryAfterSeconds: number) =>
        new PhmApiError({ ...overloaded, retryAfterSeconds });
      assert.equal(
        waitMs(asked(7), 1, () => 0.5),
        7250,
      );
      assert.equal(
        waitMs(asked(31), 0, () => 0),
        undefined,
      );
    });

    it('reads Retry-After as seconds and as a date', () => {
      const now = Date.parse('2026-02-03T04:05:06Z');
      const read = (headers: Record<string, string>) => readRetryAfter(new Headers(headers), now);
      assert.equal(read({}), null);
      assert.equal(read({ 'retry-after': '120' }), 120);
      assert.equal(read({ 'retry-after': 'Tue, 03 Feb 2026 04:05:16 GMT' }), 10);
      assert.equal(read({ 'retry-after': 'Tue, 03 Feb 2026 04:05:00 GMT' }), 0);
      // The server's clock is an hour ahead.
      const skewed = { date: 'Tue, 03 Feb 2026 05:05:06 GMT' };
      assert.equal(read({ 'retry-after': 'Tue, 03 Feb 2026 05:05:08 GMT', ...skewed }), 2);
      for (const none of ['', 'soon', '-3', '1.5', '2026-02-03']) {
        assert.equal(read({ 'retry-after': none }), null, none);
      }
    });

    it('happens between the requests', async () => {
      const steps = [fails('rate_limited', { 'retry-after': '1' }), answers(GENERATED)];
      await withClient(steps, async (phm, server) => {
        await phm.generate({ security_level: 256 });
        const [first = 0, second = 0] = server.received.map(({ atMs }) => atMs);
        assert.ok(second - first >= 990, `${second - first} ms`);
      });
    });

    for (const [reason, seconds, timeoutMs] of [
      ['the rest of timeoutMs', '20', 15_000],
      ['timeoutMs without its last second', '14', 15_000],
      ['30 seconds', '100', 3_600_000],
    ] as const) {
      it(`is skipped if it would last longer than ${reason}`, async () => {
        await withClient(
          [fails('overloaded', { 'retry-after': seconds })],
          async (phm, server) => {
            const error = await rejection(phm.metrics());
            assert.ok(error instanceof PhmApiError);
            assert.equal(error.retryAfterSeconds, Number(seconds));
            assert.equal(server.received.length, 1);
          },
          { timeoutMs },
        );
      });
    }
  });

  describe('a timeout', { concurrency: true }, () => {
    it('ends an attempt, and a repeatable call is retried', async () => {
      await withClient(
        [staysSilent, answers(ANY_ANSWER)],
        async (phm, server) => {
          await phm.metrics();
          assert.equal(server.received.length, 2);
        },
        { attemptTimeoutMs: 1500 },
      );
    });

    it('ends a generate with an unknown outcome', async () => {
      await withClient(
        [staysSilent],
        async (phm, server) => {
          const call = phm.generate({ security_level: 128 }, { requestId: 'my-own' });
          const error = await rejection(call);
          assert.ok(error instanceof PhmTimeoutError);
          const address = `${server.address}/api/v2/generate`;
          const { 'x-request-id': sent } = server.received[0]?.headers ?? {};
          assert.match(String(sent), /^my-own\.[0-9a-f]{16}$/);
          assert.equal(
            error.message,
            `no response from ${address} within 1500 ms (request ${sent})`,
          );
          assert.deepEqual([error.timeoutMs, error.outcomeUnknown], [1500, true]);
          assert.equal(server.received.length, 1);
        },
        { attemptTimeoutMs: 1500 },
      );
    });

    const starts: Step = (response) => response.writeHead(200).write('{"success": true');
    for (const [place, step] of [
      ['before the answer', staysSilent],
      ['during a body', starts],
    ] as const) {
      it(`ends the whole call ${place}`, async () => {
        await withClient(
          [step],
          async (phm, server) => {
            assert.ok((await rejection(phm.metrics())) instanceof PhmTimeoutError);
            assert.equal(server.received.length, 1);
          },
          { timeoutMs: 1500 },
        );
      });
    }
  });

  describe('an AbortSignal', { concurrency: true }, () => {
    const starts: Step = (response) => response.writeHead(200).write('{"success": true');

    for (const [place, step] of [
      ['before the answer', staysSilent],
      ['during the answer', starts],
      ['during back-off', fails('overloaded', { 'retry-after': '29' })],
    ] as const) {
      it(`ends a call at once ${place}, with its reason`, { timeout: 20_000 }, async () => {
        await withClient([step], async (phm, server) => {
          const controller = new AbortController();
          const reason = new Error('no longer needed');
          const call = rejection(phm.metrics({}, { signal: controller.signal }));
          await server.requests(1);
          // Time for the response to arrive.
          await new Promise((resolve) => setTimeout(resolve, 100));
          controller.abort(reason);
          assert.equal(await call, reason);
          assert.equal(server.received.length, 1);
          assert.deepEqual(getEventListeners(controller.signal, 'abort'), []);
        });
      });
    }

    it('prevents the request if it is already aborted', async () => {
      await withClient([answers(GENERATED)], async (phm, server) => {
        const signal = AbortSignal.abort('too late');
        assert.equal(
          await rejection(phm.generate({ security_level: 128 }, { signal })),
          'too late',
        );
        assert.equal(server.received.length, 0);
      });
    });

    it('is released by every call', async () => {
      await withClient([fails('overloaded', NO_WAIT), answers(ANY_ANSWER)], async (phm) => {
        const { signal } = new AbortController();
        for (let i = 0; i < 3; i += 1) await phm.metrics({}, { signal });
        assert.deepEqual(getEventListeners(signal, 'abort'), []);
      });
    });
  });
});
