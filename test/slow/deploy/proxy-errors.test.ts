/**
 * What clients get from the proxies of deploy/ while no server accepts their requests, and while a server dies
 * during them. Real proxies with the shipped files, TLS, and the real client. 20 s if all three proxies are
 * installed. Expected for each: one `overloaded` for a request that reached no server; one
 * `ledger_unavailable`, sent to the server once, for a generate that reached one; a call that outlives the
 * outage; 40 of 40 responses over HTTP/2.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { request } from 'node:https';
import { createServer, type Server as TcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import {
  PhmApiError,
  PhmClient,
  PhmConnectionError,
  type PhmError,
  type RetryEvent,
} from '../../../sdk/src/index.ts';
import { ERRORS } from '../../../src/errors.ts';
import { makeAccount, sqliteIn } from '../../support/clients/unknown-keys.ts';
import { PROXIES, RunningProxy } from '../../support/programs/proxies.ts';
import { freePort } from '../../support/run/free-port.ts';
import { makeCertificate } from '../../support/servers/certificate.ts';
import { DEMO_KEY, Server } from '../../support/servers/server.ts';
import { NamedBodies } from '../../support/texts/document.ts';

const POSTS = 40;

/** A server that accepts a request and closes the connection, as if it were killed. */
class DyingServer {
  readonly #server: TcpServer;
  requests = 0;

  constructor(server: TcpServer) {
    this.#server = server;
    server.on('connection', (socket) => {
      socket.on('error', () => {});
      socket.on('data', (chunk) => {
        const sent = chunk.toString('latin1');
        // Passes health checks.
        if (sent.startsWith('GET /readyz')) {
          socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
          return;
        }
        if (sent.startsWith('POST')) this.requests += 1;
        socket.destroy();
      });
    });
  }

  static async start(port: number): Promise<DyingServer> {
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    return new DyingServer(server);
  }

  async stop(): Promise<void> {
    this.#server.close();
    await once(this.#server, 'close');
  }
}

for (const example of PROXIES) {
  const { name, program } = example;
  describe(`the errors of ${name}`, {
    skip: !program && `${name} is not installed here`,
    timeout: 120_000,
  }, () => {
    const folder = mkdtempSync(join(tmpdir(), 'proxy-errors-'));
    const certificate = join(folder, 'tls.crt');
    const authorities = getCACertificates('default');
    let proxy: RunningProxy;
    let port: number;
    let serverPort: number;
    let bodies: NamedBodies;
    let apiKey = DEMO_KEY;
    let env: Record<string, string>;

    const address = () => `https://localhost:${port}`;
    const client = (maxRetries: number, onRetry?: (event: RetryEvent) => void) =>
      new PhmClient({ baseUrl: address(), apiKey, maxRetries, onRetry });

    before(async () => {
      makeCertificate(certificate, `${certificate}.key`);
      setDefaultCACertificates([...authorities, readFileSync(certificate, 'utf8')]);
      serverPort = await freePort();
      env = { PHM_PORT: String(serverPort), PHM_TRUST_PROXY: 'loopback', PHM_RATE_LIMITS: 'off' };
      const server = await Server.start(join(folder, 'data'), env);
      bodies = new NamedBodies((await server.request('/api/v2/openapi.json')).body);
      apiKey = (await makeAccount(sqliteIn(server.dataDir))).seen;
      await server.stop();
      port = await freePort();
      proxy = await RunningProxy.start(example, {
        folder: join(folder, 'proxy'),
        port,
        server: `127.0.0.1:${serverPort}`,
        certificate,
      });
    });
    after(async () => {
      setDefaultCACertificates(authorities);
      await proxy?.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    /**
     * Sends a POST on a connection of its own and checks the whole response against the contract. Returns its
     * detail.
     */
    const assertProblem = async (code: keyof typeof ERRORS, requestId: string): Promise<string> => {
      const headers = { 'Content-Type': 'application/json', 'X-Request-Id': requestId };
      const options = { method: 'POST', headers, agent: false };
      const sent = request(`${address()}/api/v2/generate`, options);
      sent.end('{"security_level":256}');
      const [answer] = await once(sent, 'response');
      const body = JSON.parse(await text(answer));
      bodies.assert({ $ref: '#/components/schemas/Problem' }, body, name);
      const { status, title } = ERRORS[code];
      assert.deepEqual(
        [answer.statusCode, body.status, body.code, body.title],
        [status, status, code, title],
      );
      assert.equal(body.type, `urn:phm:error:${code}`);
      assert.equal(body.help, `docs/errors#${code}`);
      assert.equal(answer.headers['content-type'], 'application/problem+json; charset=utf-8');
      assert.equal(answer.headers['retry-after'], '5');
      assert.equal(answer.headers['cache-control'], 'no-store');
      assert.deepEqual([answer.headers['x-request-id'], body.request_id], [requestId, requestId]);
      assert.equal(body.instance, `urn:phm:request:${requestId}`);
      assert.ok(Math.abs(Date.parse(body.timestamp) - Date.now()) < 60_000, body.timestamp);
      return body.detail;
    };

    it('are overloaded if no server accepts the request', async () => {
      assert.match(
        await assertProblem('overloaded', `down-${name}`),
        /nothing was released or counted/,
      );
      const head = await fetch(`${address()}/api/v2/metrics`, { method: 'HEAD' });
      assert.deepEqual([head.status, await head.text()], [503, '']);
    });

    // The example for nginx speaks HTTP/1.1.
    it('reach the client in full, also over HTTP/2 with a body', {
      skip: name === 'nginx',
    }, async () => {
      const session = connectHttp2(address());
      const answers = await Promise.all(Array.from({ length: POSTS }, () => post(session)));
      session.close();
      assert.deepEqual(new Set(answers), new Set(['overloaded']));
    });

    it('make the client wait and retry until it gets its key', async () => {
      const refused = Promise.withResolvers<PhmError>();
      const phm = client(10, ({ error }) => refused.resolve(error));
      const key = phm.generate({ security_level: 256 });
      const error = await refused.promise;
      assert.ok(error instanceof PhmApiError);
      assert.deepEqual([error.code, error.retryAfterSeconds], ['overloaded', 5]);
      const server = await Server.start(join(folder, 'data'), env);
      assert.equal((await key).security_level, 256);
      await server.stop();
    });

    it('are ledger_unavailable if the server of the request dies, without another attempt', async () => {
      const dying = await DyingServer.start(serverPort);
      try {
        while ((await codeOf(client(0))) === 'overloaded');
        dying.requests = 0;
        const failed = await client(5)
          .generate({ security_level: 256 })
          .catch((error) => error);
        // HAProxy instead breaks the client's connection, unless this was its first request.
        const wasBroken = name === 'haproxy' && failed instanceof PhmConnectionError;
        if (!wasBroken) assert.equal(failed.code, 'ledger_unavailable');
        assert.deepEqual([failed.outcomeUnknown, dying.requests], [true, 1]);
        assert.match(
          await assertProblem('ledger_unavailable', `lost-${name}`),
          /may have been counted/,
        );
      } finally {
        await dying.stop();
      }
    });
  });
}

/** Returns the code of the response to a POST, or the failure. */
async function post(session: ClientHttp2Session): Promise<string> {
  const stream = session.request({ ':method': 'POST', ':path': '/api/v2/generate' });
  stream.end('{"security_level":256}');
  try {
    return JSON.parse(await text(stream)).code;
  } catch (error) {
    return String(error);
  }
}

async function codeOf(phm: PhmClient): Promise<string> {
  const error = await phm.generate({ security_level: 256 }).catch((failure: PhmError) => failure);
  return error instanceof PhmApiError ? error.code : String(error);
}
