/** How the client reads responses of the service, of a proxy, and broken ones. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { PhmApiError, PhmClient, PhmError, PhmResponseError } from '../../sdk/src/index.ts';
import {
  answers,
  breaks,
  fails,
  page,
  requestIdOf,
  ScriptedServer,
  type Step,
} from '../support/scripted-server.ts';
import {
  ANY_ANSWER,
  API_KEY,
  GENERATED,
  KEY,
  RECEIPTED,
  REPORT,
  rejection,
  VERDICT,
  withClient,
} from './support.ts';

const ONCE = { maxRetries: 0 };

function says(status: number, body: string, headers: Record<string, string> = {}): Step {
  return (response) => {
    const named = { 'content-type': 'application/json', ...requestIdOf(response), ...headers };
    response.writeHead(status, named).end(body);
  };
}

describe('a request', () => {
  it('is sent beneath the base path with the required headers', async () => {
    await withClient([answers(ANY_ANSWER)], async (_, server) => {
      const phm = new PhmClient({ baseUrl: `${server.address}/phm//`, apiKey: API_KEY });
      await phm.generate({ security_level: 256, include: ['hash_proof'] });
      await phm.validate({ key: KEY });
      await phm.metrics({ hours: 48 });
      await phm.metrics();
      await phm.metricsSeries({ hours: 720, step: 60 });
      await phm.randomness({ keys: 10, include: 'p_values' });
      await phm.health({ requestId: 'the.health-1' });
      await phm.receipt(GENERATED.key_id);
      const lines = server.received.map(({ method, url }) => `${method} ${url}`);
      assert.deepEqual(lines, [
        'POST /phm/api/v2/generate',
        'POST /phm/api/v2/validate',
        'GET /phm/api/v2/metrics?hours=48',
        'GET /phm/api/v2/metrics',
        'GET /phm/api/v2/metrics/series?hours=720&step=60',
        'GET /phm/api/v2/metrics/randomness?keys=10&include=p_values',
        'GET /phm/health',
        `GET /phm/api/v2/keys/${GENERATED.key_id}/receipt`,
      ]);
      const headers = server.received.map((request) => request.headers);
      assert.deepEqual(
        headers.map((one) => one['x-api-key']),
        [...Array(6).fill(API_KEY), undefined, API_KEY],
      );
      assert.equal(headers[0]?.['content-type'], 'application/json');
      assert.deepEqual(
        headers.map((one) => one.prefer),
        [0, 1, 2, 3, 4, 5, 6, 7].map((i) =>
          [3, 6, 7].includes(i) ? undefined : 'handling=strict',
        ),
      );
      assert.match(String(headers[6]?.['x-request-id']), /^the\.health-1\.[0-9a-f]{16}$/);
      assert.equal(server.received[0]?.body, '{"security_level":256,"include":["hash_proof"]}');
    });
  });

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
    for (const keyId of [KEY, 'phm_0', 'phm_1/../x', '', undefined as never]) {
      const wrong = String(await rejection(phm.receipt(keyId)));
      assert.match(wrong, /^TypeError: keyId must be the key_id of a generated key/);
      assert.ok(!wrong.includes(KEY));
    }
    for (const commitment of [
      KEY,
      '',
      `${'A'.repeat(43)}=\n`,
      `${'A'.repeat(42)}B=`,
      null as never,
    ]) {
      const wrong = String(await rejection(phm.receiptByCommitment('phm_1', commitment)));
      assert.match(wrong, /^TypeError: keyCommitment must be 32 bytes in base64, as in the header/);
      assert.ok(!wrong.includes(KEY));
    }
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
  it("contains the service's body, with large numbers as strings", async () => {
    const proof = `proof_${'1'.repeat(78)}`;
    await withClient([answers({ ...GENERATED, hash_proof: proof })], async (phm) => {
      const { success, key, key_id, hash_proof } = await phm.generate({ security_level: 256 });
      assert.deepEqual([success, key, key_id, hash_proof], [true, KEY, GENERATED.key_id, proof]);
    });
  });

  it('contains the limits', async () => {
    const headers = {
      'ratelimit-policy': '"rate";q=20;w=2, "quota";q=1000;w=2592000',
      ratelimit: '"rate";r=18;t=1, "quota";r=998;t=822350',
    };
    const unlimited = { 'ratelimit-policy': '"rate";q=9;w=1', ratelimit: '"rate";r=8;t=0' };
    const steps = [
      answers(ANY_ANSWER, headers),
      answers(ANY_ANSWER),
      fails('quota_exceeded', { ...unlimited }),
    ];
    await withClient(steps, async (phm) => {
      assert.deepEqual(phm.lastLimits, { quota: null, rate: null });
      await phm.metrics();
      const expected = {
        quota: { limit: 1000, remaining: 998, windowSeconds: 2592000, resetSeconds: 822350 },
        rate: { limit: 20, remaining: 18, windowSeconds: 2, resetSeconds: 1 },
      };
      assert.deepEqual(phm.lastLimits, expected);
      await phm.health();
      assert.deepEqual(phm.lastLimits, expected);
      await rejection(phm.metrics());
      const rate = { limit: 9, remaining: 8, windowSeconds: 1, resetSeconds: 0 };
      assert.deepEqual(phm.lastLimits, { quota: null, rate });
    });
  });

  it('is returned, not thrown, for a replica that is not ready', async () => {
    const body = '{"success":false,"status":"draining","timestamp":"2026-01-31T12:00:00Z"}';
    await withClient([says(503, body, { 'retry-after': '1' })], async (phm, server) => {
      assert.equal((await phm.health()).status, 'draining');
      assert.equal(server.received.length, 1);
    });
  });

  it("becomes an error with all its content if it is the service's own error", async () => {
    const errors = [{ pointer: '#/security_level', message: 'must be one of 128, 256, 384' }];
    const problem = { success: false, code: 'invalid_request', title: 'Wrong', detail: 'Mend it.' };
    const body = JSON.stringify({ ...problem, errors });
    await withClient([says(400, body)], async (phm, server) => {
      const error = await rejection(phm.generate({ security_level: 256 }));
      const sent = server.received[0]?.headers['x-request-id'];
      assert.ok(error instanceof PhmApiError && error instanceof PhmError);
      const { name, message, status, code, title, detail, requestId, retryAfterSeconds } = error;
      assert.deepEqual(
        { name, status, code, title, detail, requestId, retryAfterSeconds, errors: error.errors },
        {
          name: 'PhmApiError',
          status: 400,
          code: 'invalid_request',
          title: 'Wrong',
          detail: 'Mend it.',
          requestId: sent,
          retryAfterSeconds: null,
          errors,
        },
      );
      assert.equal(
        message,
        `invalid_request: Wrong. Mend it. #/security_level must be one of 128, 256, 384. (request ${sent})`,
      );
    });
  });

  it('names each wrong field once in the message, in sentences', async () => {
    const errors = [
      { pointer: '#/a', message: 'must be a number' },
      { pointer: '#/b', message: 'is not known; did you mean "c"?' },
      { pointer: '#/d', message: 'must be a number' },
    ];
    const problem = { success: false, code: 'invalid_request', title: 'Wrong', errors };
    const detail = '"a" must be a number. 2 more fields are wrong.';
    const body = JSON.stringify({ ...problem, detail });
    await withClient([says(400, body)], async (phm, server) => {
      const error = await rejection(phm.metrics());
      const sent = server.received[0]?.headers['x-request-id'];
      assert.ok(error instanceof PhmApiError);
      const fields = '#/b is not known; did you mean "c"? #/d must be a number.';
      assert.equal(error.message, `invalid_request: Wrong. ${detail} ${fields} (request ${sent})`);
    });
  });

  it("is distinguished from the service's errors if it came from elsewhere", async () => {
    const cases: [Step, number, RegExp, boolean][] = [
      [
        page(413),
        413,
        /^the response of http:\S+\/api\/v2\/generate does not come from the PHM key service \(status 413, text\/html\)/,
        false,
      ],
      [page(500), 500, /status 500/, true],
      [page(503), 503, /status 503/, false],
      [page(200), 200, /is not JSON of the PHM key service \(status 200, text\/html\)/, true],
      [says(200, `{"key": "${KEY}`), 200, /is not JSON/, true],
      [says(200, `{"key": "${KEY}"}`), 200, /is not JSON of the PHM key service/, true],
      [says(200, ''), 200, /is not JSON/, true],
      [says(200, 'null'), 200, /is not JSON/, true],
      [says(404, '{"error": "no route"}'), 404, /does not come from/, false],
      [says(404, '{"success": false, "code": 5}'), 404, /does not come from/, false],
    ];
    for (const [step, status, message, outcomeUnknown] of cases) {
      await withClient(
        [step],
        async (phm) => {
          const error = await rejection(phm.generate({ security_level: 256 }));
          assert.ok(error instanceof PhmResponseError);
          assert.deepEqual([error.status, error.outcomeUnknown], [status, outcomeUnknown]);
          assert.match(error.message, message);
          assert.ok(!inspect(error, { depth: 9 }).includes(KEY));
        },
        ONCE,
      );
    }
  });

  it('is rejected if a member is missing or mistyped; the error names but never quotes it', async () => {
    const plain = { security_level: 256 } as const;
    const validated = { ...plain, enable_nist_validation: true } as const;
    const reported = { ...validated, include: ['nist_report'] } as const;
    const { valid: _, ...undecided } = ANY_ANSWER;
    const { nist_grade, ...ungraded } = VERDICT;
    const secret = `${KEY}00`;
    const strings = { key_format: 'valid', entropy_check: 'passed', proof_verification: 5 };
    const { performance } = ANY_ANSWER.metrics;
    const { series } = ANY_ANSWER;
    type Ask = (phm: PhmClient) => Promise<unknown>;
    const generate: Ask = (phm) => phm.generate(plain);
    const receipted: Ask = (phm) => phm.generate({ ...plain, include: ['receipt'] });
    const validate: Ask = (phm) => phm.validate({ key: KEY });
    const cases: [object, Ask, RegExp][] = [
      [{}, generate, /: \/security_level is missing: check baseUrl/],
      [{ ...GENERATED, key: secret }, generate, /\/key must be a string that matches \S+, got/],
      [{ ...GENERATED, key: KEY.slice(32) }, generate, /\/key must be/],
      [{ ...GENERATED, security_level: 128 }, generate, /\/security_level must be 256, got a num/],
      [{ ...GENERATED, key_id: null }, generate, /\/key_id must be a key ID, got null/],
      [GENERATED, (phm) => phm.generate(validated), /\/nist_validation is missing/],
      [{ ...GENERATED, ...ungraded }, (phm) => phm.generate(validated), /\/nist_grade is missing/],
      [{ ...GENERATED, ...VERDICT }, (phm) => phm.generate(reported), /\/nist_report is missing/],
      [
        {
          ...GENERATED,
          ...VERDICT,
          nist_report: { ...REPORT, tests: [{ name: secret, stream: secret }] },
        },
        (phm) => phm.generate(reported),
        /\/nist_report\/tests\/0\/applicable is missing/,
      ],
      [GENERATED, receipted, /\/receipt_url is missing/],
      [
        { ...GENERATED, ...RECEIPTED, opening: 'c2hvcnQ=' },
        receipted,
        /\/opening must be a string that/,
      ],
      [{ receipt: null }, (phm) => phm.receipt('phm_1'), /\/receipt must be an object, got null/],
      [{}, validate, /\/valid is missing/],
      [{ ...undecided, valid: secret }, validate, /\/valid must be a boolean, got a string/],
      [
        { ...ANY_ANSWER, validation_details: strings },
        validate,
        /\/validation_details\/proof_verification must be a string, got a number/,
      ],
      [{ ...ANY_ANSWER, validation_details: [] }, validate, /must be an object, got a list/],
      [{ ...ANY_ANSWER, metrics: { performance } }, (phm) => phm.metrics(), /\/metrics\/usage is/],
      [
        { ...ANY_ANSWER, series: { ...series, points: {} } },
        (phm) => phm.metricsSeries(),
        /\/series\/points must be a list, got an object/,
      ],
      [{}, (phm) => phm.randomness(), /\/randomness is missing/],
      [{}, (phm) => phm.health(), /\/status is missing/],
    ];
    for (const [body, ask, message] of cases) {
      await withClient([answers(body), answers(ANY_ANSWER)], async (phm, server) => {
        const error = await rejection(ask(phm));
        assert.ok(error instanceof PhmResponseError, String(message));
        assert.match(error.message, message);
        assert.deepEqual([error.status, error.outcomeUnknown], [200, true]);
        assert.equal(server.received.length, 1, 'it was sent again');
        assert.ok(!inspect(error, { depth: 9 }).includes(KEY.slice(32)));
      });
    }
    const more = { ...GENERATED, ...VERDICT, nist_grade, nist_report: REPORT, later: { key: 1 } };
    await withClient([answers(more)], async (phm) => {
      assert.equal((await phm.generate(reported)).nist_report.bits, REPORT.bits);
    });
  });

  it('is not followed if it redirects, so the API key goes nowhere else', async () => {
    const elsewhere = await ScriptedServer.start(answers(GENERATED));
    try {
      for (const status of [301, 302, 303, 307, 308]) {
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
