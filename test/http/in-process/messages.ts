/** `detail` alone tells readers what is wrong and what to do. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { DEMO_ACCOUNTS, newApiKey } from '../../../src/accounts/index.ts';
import { AppError } from '../../../src/errors.ts';
import { quotaExceeded } from '../../../src/http/wire/problem.ts';
import type { KeyService } from '../../../src/service/index.ts';
import { buildTestApp, standInService } from '../../support/servers/app.ts';

const apiKey = newApiKey('live');
const DEMO_KEY = DEMO_ACCOUNTS[0].apiKey;
const SECRET = '5ec2e75ec2e75ec2e75ec2e75ec2e75e';

/** The error that the key service throws. */
let failure: Error = new Error('not reached');
let app: FastifyInstance;
let demoApp: FastifyInstance;

before(async () => {
  const service = standInService('enterprise', {
    generate: async () => {
      throw failure;
    },
  });
  const sources = ['os', 'quantum-simulator'];
  app = await buildTestApp({ service, entropySources: sources, rateLimits: false });
  const demo = standInService('research');
  const known = await demo.authenticate('' as never, '');
  const authenticate = (async () => ({ ...known, demo: true })) as KeyService['authenticate'];
  demoApp = await buildTestApp({
    service: standInService('research', { authenticate }),
    demoKeys: 'admit-direct',
    corsOrigins: ['https://named.example'],
    rateLimits: false,
  });
});
after(() => Promise.all([app.close(), demoApp.close()]));

interface Request {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly url?: string;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
}

async function detailOf({ method = 'POST', url = 'generate', headers, body }: Request, on = app) {
  const answer = await on.inject({
    method,
    url: `/api/v2/${url}`,
    headers: {
      'x-api-key': apiKey,
      ...(method === 'POST' && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && {
      payload: typeof body === 'string' ? body : JSON.stringify(body),
    }),
  });
  assert.ok(answer.statusCode >= 400, answer.body);
  assert.ok(!answer.body.includes(SECRET));
  return answer.json().detail as string;
}

const generate = (body: unknown) => detailOf({ body });
const validate = (body: unknown) => detailOf({ url: 'validate', body });
const metrics = (query: string) => detailOf({ method: 'GET', url: `metrics${query}` });

describe('the detail of invalid_request', () => {
  it('names the first wrong field, the expected value and the received value', async () => {
    const cases: [unknown, string][] = [
      [{}, '"security_level" is required.'],
      [{ securityLevel: 256 }, '"security_level" is required; got "securityLevel" instead.'],
      [{ security_level: 512 }, '"security_level" must be one of 128, 256, 384; got 512.'],
      [{ security_level: null }, '"security_level" must be one of 128, 256, 384; got null.'],
      [
        { security_level: '256' },
        '"security_level" must be one of 128, 256, 384; got the string "256".',
      ],
      [
        { security_level: '256', modulation_type: 'fm' },
        '"security_level" must be one of 128, 256, 384; got the string "256". 1 more field is wrong, see "errors".',
      ],
      [
        { security_level: 128, modulation_type: 'fm' },
        '"modulation_type" must be one of phase, frequency, amplitude, none; got the string "fm".',
      ],
      [
        { security_level: 128, entropy_source: 'ibm-quantum' },
        '"entropy_source" must be one of os, quantum-simulator; got the string "ibm-quantum". Ask the operator for other sources (PHM_ENTROPY_SOURCES).',
      ],
      [
        { security_level: 128, enable_nist_validation: 'yes' },
        '"enable_nist_validation" must be true or false; got the string "yes".',
      ],
      [
        { security_level: 128, include: 'nist_report' },
        '"include" must be an array; got a string of 11 characters.',
      ],
      [
        { security_level: 128, include: ['hash_proof', 'p'] },
        '"include[1]" must be one of hash_proof, nist_report, receipt; got the string "p".',
      ],
      [
        { security_level: 128, include: ['nist_report'] },
        '"include[0]" is nist_report, which needs "enable_nist_validation": true.',
      ],
      [
        { security_level: 128, include: Array(17).fill('hash_proof') },
        '"include" must have at most 16 items; got 17.',
      ],
      [[], 'The body must be a JSON object; got an array.'],
      ['null', 'The body must be a JSON object; got null.'],
      ['12345', 'The body must be a JSON object; got a number.'],
      [`"${SECRET}"`, 'The body must be a JSON object; got a string of 32 characters.'],
    ];
    for (const [body, detail] of cases) assert.equal(await generate(body), detail);
  });

  it('never quotes a key, a proof or a string that could be one', async () => {
    const cases: [unknown, string][] = [
      [{ key: 5272 }, '"key" must be a string; got a number.'],
      [{ key: [SECRET] }, '"key" must be a string; got an array.'],
      [{ key: SECRET, hash_proof: { a: SECRET } }, '"hash_proof" must be a string; got an object.'],
      [
        { key: SECRET.repeat(200) },
        '"key" must have at most 4096 characters; got a string of 6400 characters.',
      ],
      [{ Key: SECRET }, '"key" is required; got "Key" instead.'],
    ];
    for (const [body, detail] of cases) assert.equal(await validate(body), detail);
    assert.equal(
      await generate({ security_level: SECRET }),
      '"security_level" must be one of 128, 256, 384; got a string of 32 characters.',
    );
    assert.match(await metrics(`?hours=${SECRET}`), /; got a string of 32 characters\.$/);
  });

  it('names the query parameter', async () => {
    const expected =
      'Query parameter "hours" must be a whole number from 1 to 8760, in decimal digits, given once; got';
    assert.equal(await metrics('?hours=1d'), `${expected} the string "1d".`);
    assert.equal(await metrics('?hours='), `${expected} an empty string.`);
    assert.equal(await metrics('?hours=1&hours=2'), `${expected} 2 values.`);
    assert.equal(
      await detailOf({ url: 'generate?security_level=256', body: {} }),
      '"security_level" is required; got query parameter "security_level" instead.',
    );
  });

  it('stays short, however many fields are wrong', async () => {
    const body = { security_level: 128, include: Array(5_000).fill(1) };
    const answer = await app.inject({
      method: 'POST',
      url: '/api/v2/generate',
      headers: { 'x-api-key': apiKey },
      payload: body,
    });
    assert.ok(answer.body.length < 4_000, `${answer.body.length} bytes`);
    assert.match(answer.json().detail, /\d+ more fields are wrong, see "errors"\.$/);
  });
});

describe('the detail of other errors', () => {
  it('says what is wrong and what to do', async () => {
    const cases: [Request, string][] = [
      [{ method: 'DELETE' }, 'This path does not support DELETE. Use POST.'],
      [{ method: 'DELETE', url: 'metrics' }, 'This path does not support DELETE. Use GET or HEAD.'],
      [
        { url: 'nowhere' },
        'Check the path: /docs lists the endpoints, below the base path if the server has one. The base URL of a client ends before /api/v2.',
      ],
      [
        { headers: { 'content-type': 'text/plain' }, body: '{}' },
        'The Content-Type is text/plain, not application/json. Send a JSON body with the header Content-Type: application/json.',
      ],
      [
        { headers: { 'content-type': `x/${'y'.repeat(50)}` }, body: '{}' },
        'The Content-Type is something else, not application/json. Send a JSON body with the header Content-Type: application/json.',
      ],
      [
        { headers: { 'content-encoding': 'gzip' }, body: '{}' },
        'The body must not be compressed. Send it uncompressed, without Content-Encoding.',
      ],
      [{ body: 'x'.repeat(33_000) }, 'Send a body of at most 32,768 bytes.'],
      [{ headers: { 'x-api-key': '' }, body: {} }, 'Send your API key in the X-API-Key header.'],
      [
        { headers: { 'x-api-key': '', authorization: `Bearer ${SECRET}` }, body: {} },
        'This service does not read the Authorization header. Send your API key in the X-API-Key header.',
      ],
      [
        { headers: { 'x-api-key': 'wrong' }, body: {} },
        'Check the API key: it is mistyped, unknown or revoked. The operator can issue a new one.',
      ],
    ];
    for (const [request, detail] of cases) assert.equal(await detailOf(request), detail);
    const bare = await app.inject('/%zz');
    assert.match(bare.json().detail, /^The path is not correctly percent-encoded\. /);
  });

  it('says how long to wait and which request failed', async () => {
    const order = { body: { security_level: 128 }, headers: { 'x-request-id': 'r-17' } };
    const cases: [Error, RegExp][] = [
      [new AppError('overloaded'), /^The service is busy\. Try again in 1 second\.$/],
      [
        new AppError('entropy_unavailable', { retryAfterSeconds: 30 }),
        /Try again in 30 seconds\.$/,
      ],
      [new AppError('ledger_unavailable', { retryAfterSeconds: 2 }), /database .* in 2 seconds\.$/],
      [
        quotaExceeded({ month: 24_000, used: 1, quota: 1 }, 0),
        /requests for this month\. Wait for the next calendar month \(UTC\)/,
      ],
      [new Error(SECRET), / give the request ID r-17 to the operator\.$/],
    ];
    for (const [error, detail] of cases) {
      failure = error;
      assert.match(await detailOf(order), detail);
    }
  });

  it('says what a batch may take of a quota that does not cover it, and asks for no wait then', async () => {
    const order = { body: { security_level: 128 } };
    const usage = { month: 24_000, used: 600, quota: 1_000 };
    const ofApiKey = { ...usage, counterId: 'key_1' as const };
    const texts = new Set<string>();
    for (const [error, members, waits] of [
      [quotaExceeded(usage, Date.UTC(2000, 0, 1), 500), 400, false],
      [quotaExceeded(ofApiKey, Date.UTC(2000, 0, 1), 500), 400, false],
      [quotaExceeded({ ...usage, used: 1_000 }, Date.UTC(2000, 0, 1), 500), undefined, true],
      [quotaExceeded({ ...ofApiKey, used: 1_000 }, Date.UTC(2000, 0, 1)), undefined, true],
    ] as const) {
      failure = error;
      const { statusCode, headers, json } = await app.inject({
        method: 'POST',
        url: '/api/v2/generate',
        headers: { 'x-api-key': apiKey },
        payload: order.body,
      });
      const body = json();
      assert.equal(statusCode, 429);
      assert.equal(body.max_count, members);
      assert.equal('retry-after' in headers, waits);
      assert.doesNotMatch(body.title, /used up/);
      texts.add(body.detail);
    }
    assert.equal(texts.size, 4);
  });

  it('names the path that was probably meant, and repeats nothing of the request', async () => {
    const meant = async (path: string) => {
      const { statusCode, json } = await app.inject({ method: 'POST', url: path });
      assert.equal(statusCode, 404, path);
      return /did you mean (\S+)\? /.exec(json().detail)?.[1];
    };
    assert.equal(await meant('/api/v2/generate/'), '/api/v2/generate');
    assert.equal(await meant('/api/v1/generate'), '/api/v2/generate');
    assert.equal(await meant('/api/generate?a=b'), '/api/v2/generate');
    assert.equal(await meant('//api/v2//validate'), '/api/v2/validate');
    assert.equal(await meant('/api/v2/generat'), '/api/v2/generate');
    assert.equal(await meant('/API/v2/Validate'), '/api/v2/validate');
    assert.equal(await meant('/api/v1/keys/phm_7'), '/api/v2/keys/{key_id}');
    assert.equal(await meant('/api/v1/keys/phm_7/revoke/'), '/api/v2/keys/{key_id}/revoke');
    assert.equal(await meant('/favicon.svgz'), undefined);
    assert.equal(await meant(`/api/v2/${'x'.repeat(5_000)}`), undefined);
  });

  it('tells that an API key in the URL has leaked, without repeating it', async () => {
    for (const url of [`metrics?api_key=${apiKey}`, `generat?x=${apiKey}`, `keys/${apiKey}/x`]) {
      const answer = await app.inject({ method: 'GET', url: `/api/v2/${url}` });
      assert.match(answer.json().detail, /consider this API key leaked\. Have the operator revoke/);
      assert.ok(!answer.body.includes(apiKey));
    }
    const other = await app.inject('/api/v2/metrics?token=abc');
    assert.match(other.json().detail, /does not read the API key from the URL\. Send .* X-API-Key/);
    const fine = await app.inject('/api/v2/metrics?hours=1');
    assert.doesNotMatch(fine.json().detail, /URL/);
  });

  it('says with 415 what a body may be (RFC 9110 §12.5)', async () => {
    for (const headers of [{ 'content-type': 'text/plain' }, { 'content-encoding': 'gzip' }]) {
      const answer = await app.inject({
        method: 'POST',
        url: '/api/v2/generate',
        headers: { 'x-api-key': apiKey, 'content-type': 'application/json', ...headers },
        payload: '{}',
      });
      assert.equal(answer.statusCode, 415);
      assert.equal(answer.headers.accept, 'application/json');
      assert.equal(answer.headers['accept-encoding'], 'identity');
    }
  });

  it('rejects a demo key in requests of other pages and of all usual proxies', async () => {
    const status = async (headers: Record<string, string>) => {
      const url = '/api/v2/metrics';
      const demoKey = { host: 'localhost', 'x-api-key': DEMO_KEY };
      return (await demoApp.inject({ url, headers: { ...demoKey, ...headers } })).statusCode;
    };
    const own = [
      {},
      { origin: 'http://localhost:5173', 'sec-fetch-site': 'same-site' },
      { origin: 'http://127.0.0.1:8080', 'sec-fetch-site': 'same-origin' },
      { 'sec-fetch-site': 'none', 'x-request-id': 'r', 'user-agent': 'curl' },
      { origin: 'https://named.example', 'sec-fetch-site': 'cross-site' },
    ];
    for (const headers of own) assert.notEqual(await status(headers), 401, JSON.stringify(headers));
    const foreign = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: 'http://localhost.evil.example' },
      { 'sec-fetch-site': 'cross-site' },
      { origin: 'http://localhost:9', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' },
    ];
    const proxies = [
      ...['forwarded', 'via', 'x-forwarded-for', 'x-forwarded', 'x-real-ip', 'x-client-ip'],
      ...['true-client-ip', 'cf-connecting-ip', 'cf-connecting-ipv6', 'cf-ray', 'cdn-loop'],
      ...['fastly-client-ip', 'fly-client-ip', 'x-cluster-client-ip', 'x-amzn-trace-id'],
      ...['x-envoy-external-address', 'x-original-host', 'x-azure-clientip', 'x-varnish'],
      ...['x-appengine-user-ip', 'x-proxyuser-ip', 'wl-proxy-client-ip', 'x-remote-addr'],
      ...['x-originating-ip', 'x-remote-ip', 'tailscale-user-login', 'x-vercel-id'],
    ].map((name) => ({ [name]: '192.0.2.1' }));
    for (const headers of [...foreign, ...proxies]) {
      assert.equal(await status(headers), 401, JSON.stringify(headers));
    }
  });

  it('says why a demo key is rejected', async () => {
    const ask = (headers: Record<string, string>) =>
      detailOf({ method: 'GET', url: 'metrics', headers }, demoApp);
    assert.match(
      await ask({ host: 'localhost', 'X-Forwarded-For': '192.0.2.1' }),
      /^This is a demo key\. .* that no proxy forwarded; this request has the header "x-forwarded-for"\. Ask the operator/,
    );
    assert.match(
      await ask({ host: 'evil.example' }),
      /^This is a demo key\. .* only if the Host is localhost or a loopback address\. /,
    );
    assert.ok(!(await ask({ host: 'evil.example' })).includes('evil'));
  });
});
