/** Options, and what only this client does with responses. sdk/exchanges/answers.json has the rest. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { PhmClient, PhmError, PhmResponseError } from '../../sdk/src/index.ts';
import {
  answers,
  breaks,
  fails,
  page,
  ScriptedServer,
} from '../support/clients/scripted-server.ts';
import { ANY_ANSWER, API_KEY, GENERATED, KEY, rejection, withClient } from './support.ts';

const ONCE = { maxRetries: 0 };

describe('a request', () => {
  it('omits undefined and null, and asks for strict handling by default', async () => {
    const options = { strict: false };
    await withClient(
      [answers(ANY_ANSWER)],
      async (phm, server) => {
        const query = { hours: undefined, step: null } as never;
        await phm.metricsSeries(query);
        await phm.generate({ security_level: 256 });
        const [read, made] = server.received;
        assert.equal(read?.url, '/api/v2/metrics/series');
        assert.deepEqual([read?.headers.prefer, made?.headers.prefer], [undefined, undefined]);
      },
      options,
    );
  });

  it('is sent to an address relative to the page, in a browser', async () => {
    const asked: string[] = [];
    const fetch = async (url: string, { headers }: RequestInit) => {
      asked.push(url);
      const { 'X-Request-Id': id = '' } = headers as Record<string, string>;
      const named = { headers: { 'x-request-id': id } };
      return new Response(JSON.stringify({ ...ANY_ANSWER, success: true }), named);
    };
    const page = { document: { baseURI: 'https://keys.example/phm/index.html' } };
    Object.assign(globalThis, page);
    try {
      assert.throws(() => new PhmClient({} as never), /^TypeError: baseUrl must be/);
      for (const baseUrl of ['./', '.', '', '/', 'https://other.example/x']) {
        await new PhmClient({ baseUrl, fetch }).health();
      }
    } finally {
      Reflect.deleteProperty(globalThis, 'document');
    }
    assert.deepEqual(asked, [
      'https://keys.example/phm/health',
      'https://keys.example/phm/health',
      'https://keys.example/phm/health',
      'https://keys.example/health',
      'https://other.example/x/health',
    ]);
  });

  it('is rejected at once if an option is unusable', async () => {
    const make = (options: object) => () =>
      new PhmClient({ baseUrl: 'http://localhost', ...options });
    for (const baseUrl of [
      '',
      './',
      'localhost:8080',
      'ftp://x',
      'https://u:p@x',
      'https://x/?a',
    ]) {
      assert.throws(make({ baseUrl }), TypeError, baseUrl);
    }
    for (const options of [{ timeoutMs: 0 }, { attemptTimeoutMs: 2 ** 31 }, { maxRetries: 1.5 }]) {
      assert.throws(make(options), RangeError);
    }
    for (const apiKey of ['with space', `${API_KEY}\n`, 'schlüssel']) {
      assert.throws(make({ apiKey }), (error: Error) => {
        assert.ok(error instanceof TypeError);
        assert.ok(!error.message.includes(apiKey.trim()));
        return true;
      });
    }
    assert.throws(make({ apiKey: '' }), /^TypeError: apiKey must not be empty/);
    assert.throws(make({ apiKey: null }), /^TypeError: apiKey must be a string, got null$/);
    assert.throws(
      () => new PhmClient(undefined as never),
      /^TypeError: the options must be an object/,
    );
    const phm = new PhmClient({ baseUrl: 'http://localhost' });
    for (const call of [
      phm.generate(undefined as never),
      phm.validate(KEY as never),
      phm.metrics(null as never),
    ]) {
      const wrong = await rejection(call);
      assert.match(
        String(wrong),
        /^TypeError: the (body|query) must be an object such as .+, got (undefined|string|null)$/,
      );
    }
    assert.throws(make({ onRetry: 'log' }), /^TypeError: onRetry must be a function, got string$/);
    assert.throws(make({ fetch: {} }), /^TypeError: fetch must be a function, got object$/);
    assert.throws(make({ pace: 'no' }), /^TypeError: pace must be true or false, got string$/);
    assert.throws(make({ strict: null }), /^TypeError: strict must be true or false, got null$/);
    for (const [options, expected] of [
      [null, /^TypeError: the options of a call must be an object .+, got null$/],
      [{ requestId: 'two words' }, /^TypeError: requestId must be/],
      [{ requestId: 5 }, /^TypeError: requestId must be/],
      [
        { signal: new AbortController() },
        /^TypeError: signal must be an AbortSignal, .+ got object$/,
      ],
    ] as const) {
      assert.match(String(await rejection(phm.health(options as never))), expected);
    }
  });
});

describe('an answer', () => {
  it('is not followed if it redirects, so the API key goes nowhere else', async () => {
    const elsewhere = await ScriptedServer.start(answers(GENERATED));
    try {
      for (const status of [302, 307]) {
        const location = elsewhere.address.replace('//', '//user:secret@');
        const step = page(status, { location: `${location}/?token=secret` });
        await withClient([step], async (phm, server) => {
          for (const call of [() => phm.generate({ security_level: 128 }), () => phm.metrics()]) {
            const error = await rejection(call());
            assert.ok(error instanceof PhmResponseError);
            assert.equal(error.status, status);
            assert.ok(error.message.startsWith(`${server.address}/api/v2/`), error.message);
            assert.ok(
              error.message.includes(`redirects to ${elsewhere.address}/; redirects are not`),
            );
          }
          assert.equal(server.received.length, 2);
        });
      }
      assert.equal(elsewhere.received.length, 0);
    } finally {
      await elsewhere.stop();
    }
  });
});

describe('the API key', () => {
  it('appears neither in the client nor in an error', async () => {
    for (const step of [fails('invalid_api_key'), page(500), breaks]) {
      await withClient(
        [step],
        async (phm) => {
          const error = await rejection(phm.metrics());
          assert.ok(error instanceof PhmError);
          for (const shown of [phm, error]) {
            const options = { depth: Number.POSITIVE_INFINITY, showHidden: true, getters: true };
            const texts = [inspect(shown, options), String(shown), JSON.stringify(shown)];
            assert.ok(texts.every((text) => !text.includes(API_KEY)));
          }
        },
        ONCE,
      );
    }
  });
});
