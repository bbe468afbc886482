/** Real connections that fail, and abort signals. sdk/exchanges/retries.json has what is sent again, and timeouts. */
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, it } from 'node:test';
import { PhmClient, PhmConnectionError } from '../../sdk/src/index.ts';
import {
  answers,
  breaks,
  fails,
  ScriptedServer,
  type Step,
  staysSilent,
} from '../support/clients/scripted-server.ts';
import { ANY_ANSWER, API_KEY, GENERATED, rejection, withClient } from './support.ts';

const NO_WAIT = { 'retry-after': '0' };

describe('retries', { concurrency: true }, () => {
  // Faults of sdk/exchanges stand for these.
  it('follow a connection that ended, except of a generate', async () => {
    const half: Step = (response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('{"success": true', () => response.destroy());
    };
    for (const lost of [breaks, half]) {
      await withClient([lost, answers(ANY_ANSWER), lost], async (phm, server) => {
        await phm.metrics();
        const error = await rejection(phm.generate({ security_level: 128 }));
        assert.ok(error instanceof PhmConnectionError);
        assert.match(error.message, /failed before the response was complete \(UND_ERR_SOCKET\)/);
        assert.deepEqual([error.outcomeUnknown, server.received.length], [true, 3]);
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
});

// Each test waits, so all run at the same time.
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
      assert.equal(await rejection(phm.generate({ security_level: 128 }, { signal })), 'too late');
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
