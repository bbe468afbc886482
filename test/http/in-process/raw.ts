/** Requests that never reach the framework get a problem body, written to the socket. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { newApiKey } from '../../../src/accounts/index.ts';
import type { Timeouts } from '../../../src/http/listener.ts';
import { buildTestApp, standInService } from '../../support/servers/app.ts';

const apps: FastifyInstance[] = [];
let patient: number;
let impatient: number;

/** Starts a server and returns its port. */
async function listen(timeouts: Partial<Timeouts>): Promise<number> {
  // No request gets past authentication.
  const app = await buildTestApp({ service: standInService('enterprise'), timeouts });
  apps.push(app);
  await app.listen({ host: '127.0.0.1', port: 0 });
  return (app.server.address() as AddressInfo).port;
}

before(async () => {
  patient = await listen({});
  impatient = await listen({ headersMs: 500, requestMs: 700, checkEveryMs: 50 });
});
after(() => Promise.all(apps.map((app) => app.close())));

/** Sends bytes, leaves the connection open, and reads until the server closes it. */
async function send(
  text: string,
  { keepOpen = false, whole = false, port = patient } = {},
): Promise<{ status: number; headers: string; text: string }> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(text);
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk;
    // A keep-alive response does not close the connection; the body shows that it is complete.
    if (!keepOpen && /\r\n\r\n\{.*\}$/s.test(received)) socket.end();
  });
  socket.on('error', () => {});
  await once(socket, 'close');
  const [headers = '', body = ''] = received.split('\r\n\r\n');
  return { status: Number(headers.split(' ')[1]), headers, text: whole ? received : body };
}

async function expectProblem(
  request: string,
  status: number,
  code: string,
  port = patient,
): Promise<string> {
  const answer = await send(request, { port });
  assert.equal(answer.status, status, answer.headers);
  assert.match(answer.headers, /content-type: application\/problem\+json/i);
  assert.match(answer.headers, /cache-control: no-store/i);
  const body = JSON.parse(answer.text);
  assert.equal(body.code, code);
  assert.equal(body.status, status);
  assert.equal(body.success, false);
  assert.match(body.timestamp, /\+00:00$/);
  return answer.headers;
}

const stalledBody = (header: string) =>
  `POST /api/v2/generate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${header}Content-Length: 9\r\n\r\n{`;

describe('a raw HTTP request', () => {
  it('gets 400 if it is malformed', async () => {
    for (const request of [
      'NONSENSE\r\n\r\n',
      'GET /livez HTTP/1.1\r\nHost: x\r\nBad Header: 1\r\n\r\n',
      'POST /api/v2/generate HTTP/1.1\r\nHost: x\r\nContent-Length: nine\r\n\r\n',
      'POST /api/v2/generate HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      '\x16\x03\x01\x02\x00\x01\x00\x01',
    ]) {
      await expectProblem(request, 400, 'malformed_request');
    }
  });

  it('gets 400 without a well-formed Host header', async () => {
    await expectProblem('GET /livez HTTP/1.1\r\n\r\n', 400, 'malformed_request');
    const hosts = [
      '',
      'a b',
      'a/b',
      'user@a',
      'a:b',
      'a:65536',
      '[::1',
      '[1.2.3.4]',
      'a%zz',
      'a\x80b',
    ];
    for (const host of hosts) {
      for (const version of ['1.0', '1.1']) {
        const request = `GET /livez HTTP/${version}\r\nHost: ${host}\r\n\r\n`;
        await expectProblem(request, 400, 'malformed_request');
      }
    }
    for (const host of ['a', 'a.b:', 'a:8080', '192.0.2.1', '[2001:db8::1]:80', 'a_b%2D']) {
      const request = `GET /livez HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
      assert.equal((await send(request)).status, 200, host);
    }
    assert.equal((await send('GET /livez HTTP/1.0\r\n\r\n')).status, 200);
  });

  it('gets 505 for a version that is not spoken, and 501 for an unknown method', async () => {
    for (const version of ['2.0', '3.0', '1.2']) {
      const request = `GET /livez HTTP/${version}\r\nHost: a\r\n\r\n`;
      await expectProblem(request, 505, 'http_version_not_supported');
    }
    await expectProblem('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 505, 'http_version_not_supported');
    for (const method of ['FOO', 'get', 'Post', 'X-1']) {
      const request = `${method} /livez HTTP/1.1\r\nHost: a\r\n\r\n`;
      await expectProblem(request, 501, 'method_not_implemented');
    }
  });

  it('gets 400 if it is no HTTP at all', async () => {
    for (const start of [
      'GET /livez',
      'GET /livez HTTP/0.9',
      'GET /livez HTTP/11',
      'GET /livez FTP/1.1',
    ]) {
      await expectProblem(`${start}\r\nHost: a\r\n\r\n`, 400, 'malformed_request');
    }
    const handshake = '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03';
    for (const garbage of [handshake, 'SSH-2.0-OpenSSH_9.2\r\n', '{"a": 1}\r\n\r\n']) {
      await expectProblem(garbage, 400, 'malformed_request');
    }
  });

  it('may target a path or an absolute URL, and * with OPTIONS only', async () => {
    const ask = (start: string) => `${start} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
    for (const target of [
      'http://x/livez',
      'HTTPS://x:1/livez?a=b',
      'http://[::1]/livez',
      '/livez?/',
    ]) {
      assert.equal((await send(ask(`GET ${target}`))).status, 200, target);
    }
    for (const target of [
      '*',
      '/livez#part',
      'ftp://x/livez',
      'http://user@x/livez',
      'http:///livez',
      'http://x:y/livez',
    ]) {
      await expectProblem(ask(`GET ${target}`), 400, 'malformed_request');
    }
    for (const target of ['http://x', 'http://x?/livez']) {
      assert.match((await send(ask(`GET ${target}`))).text, /"links":/);
    }
    await expectProblem(ask('GET http://x/nope'), 404, 'not_found');
    const { status, headers } = await send(ask('OPTIONS *'));
    assert.equal(status, 204);
    assert.match(headers, /^allow: GET, HEAD, OPTIONS, POST$/im);
  });

  it('gets 501 for a transfer coding other than chunked, and 400 for an invalid one', async () => {
    const ask = (coding: string) =>
      `POST /api/v2/generate HTTP/1.1\r\nHost: x\r\nX-API-Key: ${newApiKey('live')}\r\nContent-Type: application/json\r\nTransfer-Encoding: ${coding}\r\n\r\n0\r\n\r\n`;
    for (const coding of ['gzip', 'identity', 'gzip, chunked', 'chunked;q=1', 'xchunked']) {
      const headers = await expectProblem(ask(coding), 501, 'unsupported_transfer_encoding');
      assert.match(headers, /^connection: close$/im, coding);
    }
    for (const coding of [
      'chunked, gzip',
      'chunked, chunked',
      '',
      'chunked\r\nContent-Length: 5',
    ]) {
      await expectProblem(ask(coding), 400, 'malformed_request');
    }
    await expectProblem(ask('chunked').replace('1.1', '1.0'), 400, 'malformed_request');
  });

  it('gets 100 Continue only after its API key is checked', async () => {
    const ask = (more: string, body = '') =>
      `POST /api/v2/generate HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nExpect: 100-Continue\r\n${more}\r\n\r\n${body}`;
    const key = `X-API-Key: ${newApiKey('live')}`;
    for (const [more, code] of [
      ['Content-Length: 2', 'missing_api_key'],
      ['X-API-Key: mistyped\r\nTransfer-Encoding: chunked', 'invalid_api_key'],
      [`${key}\r\nContent-Length: 40000`, 'payload_too_large'],
    ] as const) {
      const { text } = await send(ask(more), { whole: true });
      assert.match(text, /^HTTP\/1\.1 4\d\d /, code);
      assert.equal(JSON.parse(text.slice(text.indexOf('{'))).code, code);
      assert.match(text, /^connection: close\r$/im);
    }
    const { text } = await send(ask(`${key}\r\nContent-Length: 2`, '{}'), { whole: true });
    assert.match(text, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 400 /);
    assert.match(text, /"code":"invalid_request"/);
    const both = ask('Expect: tea\r\nContent-Length: 2');
    assert.equal((await send(both, { whole: true })).status, 417);
  });

  it('is for the host of its target, whatever its Host header says', async () => {
    const service = standInService('enterprise', { series: async () => [] });
    const principal = await service.authenticate(Buffer.alloc(32), '');
    assert.ok(principal);
    service.authenticate = async () => ({ ...principal, demo: true });
    const app = await buildTestApp({ service, demoKeys: 'admit-direct' });
    apps.push(app);
    await app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = app.server.address() as AddressInfo;
    const ask = async (target: string, host: string) => {
      const key = `X-API-Key: ${newApiKey('demo')}`;
      const request = `GET ${target}/api/v2/metrics/series HTTP/1.1\r\nHost: ${host}\r\n${key}\r\nConnection: close\r\n\r\n`;
      return (await send(request, { port })).status;
    };
    assert.equal(await ask('', '127.0.0.1'), 200);
    assert.equal(await ask('http://evil.example', '127.0.0.1'), 401);
    assert.equal(await ask('http://127.0.0.1', 'evil.example'), 200);
  });

  it('gets 431 if its headers are too large', async () => {
    const large = `GET /livez HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(20_000)}\r\n\r\n`;
    await expectProblem(large, 431, 'headers_too_large');
  });

  it('gets 408 if its headers or body stall', async () => {
    const stalledHeaders = 'GET /livez HTTP/1.1\r\nHost: x\r\n';
    const keyed = stalledBody(`X-API-Key: ${newApiKey('live')}\r\n`);
    for (const request of [stalledHeaders, keyed]) {
      await expectProblem(request, 408, 'request_timeout', impatient);
    }
  });

  it('gets 400 if its chunks are malformed', async () => {
    const request = `POST /api/v2/generate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-API-Key: ${newApiKey('live')}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`;
    await expectProblem(request, 400, 'malformed_request');
  });

  it('gets one answer if it is refused early and then stalls', async () => {
    const { status, text } = await send(stalledBody(''), { keepOpen: true, port: impatient });
    assert.equal(status, 401);
    assert.equal(JSON.parse(text).code, 'missing_api_key');
  });

  it('gets one answer if its body is malformed after the refusal', async () => {
    for (const [start, coding, status] of [
      ['POST /api/v2/generate', 'chunked', 401],
      ['POST /nope', 'chunked', 404],
      ['POST /%zz', 'gzip', 400],
    ] as const) {
      const socket = connect(patient, '127.0.0.1');
      let received = '';
      socket.on('data', (chunk) => {
        received += chunk;
      });
      socket.write(`${start} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: ${coding}\r\n\r\n`);
      await once(socket, 'data');
      socket.write('no chunk\r\n');
      await once(socket, 'close');
      assert.deepEqual(received.match(/HTTP\/1\.1 \d+/g), [`HTTP/1.1 ${status}`], received);
    }
  });

  it('gets 400 if it has two Host headers', async () => {
    const twice = 'GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n';
    await expectProblem(twice, 400, 'malformed_request');
  });

  it('gets 404 or 405 before its body is read', async () => {
    const tail =
      'HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1\r\n\r\n{';
    await expectProblem(`POST /nope ${tail}`, 404, 'not_found');
    for (const start of ['PUT /api/v2/generate', 'POST /livez', 'POST /api/v2/metrics']) {
      await expectProblem(`${start} ${tail}`, 405, 'method_not_allowed');
    }
    const headers = await expectProblem(
      'GET http://x/api/v2/generate HTTP/1.1\r\nHost: x\r\n\r\n',
      405,
      'method_not_allowed',
    );
    assert.match(headers, /allow: POST/i);
  });

  it('gets 415 if its body is compressed', async () => {
    const body = 'Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}';
    const request = `POST /api/v2/generate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${body}`;
    await expectProblem(request, 415, 'unsupported_media_type');
  });

  it('is refused only after the answer to the pipelined request before it', async () => {
    const good = 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n';
    for (const [next, status] of [
      ['garbage\r\n\r\n', 400],
      ['TEA /livez HTTP/1.1\r\n\r\n', 501],
      ['GET /livez HTTP/4.5\r\n\r\n', 505],
      ['GET /livez HTTP/1.1\r\nHost: x\r\nExpect: tea\r\n\r\n', 417],
    ] as const) {
      const { status: first, text } = await send(good + next, { keepOpen: true, whole: true });
      assert.equal(first, 200, next);
      assert.match(text, new RegExp(`HTTP/1.1 ${status} `));
    }
  });

  it('gets 417 for an unknown expectation', async () => {
    const request = 'GET /livez HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\n\r\n';
    await expectProblem(request, 417, 'expectation_failed');
  });

  it('gets 404 for a path that leads out of the documentation', async () => {
    for (const path of [
      '/docs/static/../../package.json',
      '/docs/static/%2e%2e/%2e%2e/package.json',
    ]) {
      await expectProblem(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`, 404, 'not_found');
    }
  });

  it('gets 405 for CONNECT', async () => {
    const headers = await expectProblem(
      'CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n',
      405,
      'method_not_allowed',
    );
    assert.match(headers, /allow: GET, POST/i);
  });
});
