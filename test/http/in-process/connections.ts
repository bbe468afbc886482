/** The limit on connections: how a full server treats one more, over HTTP and over TLS. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { connect as connectTls } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import { newApiKey } from '../../../src/accounts/index.ts';
import { loadTls } from '../../../src/config/tls.ts';
import { connectionsWithin, openFilesLimit } from '../../../src/files/open-files.ts';
import { Connections, type ConnectionsOptions } from '../../../src/http/connections.ts';
import type { Timeouts } from '../../../src/http/listener.ts';
import { buildTestApp, READY, standInService } from '../../support/servers/app.ts';
import { makeCertificate } from '../../support/servers/certificate.ts';
import { makeDataDir, removeDataDir } from '../../support/servers/server.ts';

const MAX = 3;
const RESERVE = 4;

/** The API key that the stand-in for the service accepts. */
const API_KEY = newApiKey('live');

/** A request that is refused after the check of its API key. */
const KEYED = '/api/v2/metrics?hours=0';

/** More than the kernel buffers of a response that the client does not read. */
const LARGE_BYTES = 2 ** 24;

const folder = makeDataDir();
const certFile = join(folder, 'cert.pem');
const keyFile = join(folder, 'key.pem');
makeCertificate(certFile, keyFile);
after(() => removeDataDir(folder));

interface Answer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** A client that reads complete responses and knows when its connection has ended. */
class Client {
  readonly socket: Socket;
  readonly closed: Promise<unknown>;
  #received = '';

  constructor(socket: Socket) {
    this.socket = socket;
    this.closed = once(socket, 'close');
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      this.#received += chunk;
    });
  }

  get(path: string, headers = ''): Promise<Answer> {
    this.socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`);
    return this.answer();
  }

  /** Sends a request with a valid API key and returns the status. */
  async use(): Promise<number> {
    return (await this.get(KEYED, `X-API-Key: ${API_KEY}\r\n`)).status;
  }

  /** Returns the next response. */
  async answer(): Promise<Answer> {
    for (;;) {
      const [, head = '', rest = ''] = /^(.*?)\r\n\r\n(.*)$/s.exec(this.#received) ?? [];
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? Number.POSITIVE_INFINITY);
      if (rest.length >= length) {
        this.#received = rest.slice(length);
        return { status: Number(head.split(' ')[1]), head, body: rest.slice(0, length) };
      }
      if (this.socket.readableEnded) throw new Error(`no answer, but: ${this.#received}`);
      await Promise.race([once(this.socket, 'data'), once(this.socket, 'end')]);
    }
  }
}

class Listener {
  readonly app: FastifyInstance;
  readonly connections: Connections;
  readonly #secure: boolean;

  constructor(app: FastifyInstance, connections: Connections, secure: boolean) {
    this.app = app;
    this.connections = connections;
    this.#secure = secure;
  }

  static async start(
    secure: boolean,
    options: Partial<ConnectionsOptions> = {},
    timeouts: Partial<Timeouts> = {},
  ): Promise<Listener> {
    const connections = new Connections({ max: MAX, reserve: RESERVE, idleMs: 60_000, ...options });
    const tls = secure ? loadTls({ certFile, keyFile, profile: 'default' }) : null;
    const service = standInService('enterprise', { checkReadiness: () => READY });
    const app = await buildTestApp({ service, tls, connections, timeouts });
    app.get('/large', { schema: { hide: true } }, async () => Buffer.alloc(LARGE_BYTES));
    await app.listen({ host: '127.0.0.1', port: 0 });
    return new Listener(app, connections, secure);
  }

  get port(): number {
    return (this.app.server.address() as AddressInfo).port;
  }

  async connect(): Promise<Client> {
    const address = { host: '127.0.0.1', port: this.port };
    const ca = this.#secure ? readFileSync(certFile) : [];
    const socket = this.#secure
      ? connectTls({ ...address, servername: 'localhost', ca })
      : connect(address);
    const client = new Client(socket);
    await once(socket, this.#secure ? 'secureConnect' : 'connect');
    return client;
  }

  /** Returns clients that each have a place and a valid API key. */
  async occupy(n: number): Promise<Client[]> {
    const clients: Client[] = [];
    for (let i = 0; i < n; i += 1) {
      const client = await this.connect();
      assert.equal(await client.use(), 400);
      clients.push(client);
    }
    return clients;
  }

  /** Waits until the server has processed what the clients did. */
  async until(holds: (counts: Connections['counts']) => boolean): Promise<void> {
    while (!holds(this.connections.counts)) await new Promise((resume) => setTimeout(resume, 5));
  }
}

for (const [name, secure] of [
  ['HTTP', false],
  ['TLS', true],
] as const) {
  describe(`the connection limit, over ${name}`, () => {
    const listeners: Listener[] = [];
    const start = async (
      ...options: Parameters<typeof Listener.start> extends [boolean, ...infer R] ? R : never
    ) => {
      const listener = await Listener.start(secure, ...options);
      listeners.push(listener);
      return listener;
    };
    after(() =>
      Promise.all(
        listeners.map(({ app }) => {
          app.server.closeAllConnections();
          return app.close();
        }),
      ),
    );

    it('answers 503 and closes the excess connection, and admits again when a place is free', async () => {
      const listener = await start();
      const [first, ...others] = await listener.occupy(MAX);
      const refused = await listener.connect();
      const { status, head, body } = await refused.get('/api/v2/metrics');
      assert.equal(status, 503);
      assert.match(head, /^connection: close$/im);
      assert.match(head, /^retry-after: 1$/im);
      assert.match(head, /^content-type: application\/problem\+json/im);
      assert.match(head, /^x-content-type-options: nosniff$/im);
      assert.equal(JSON.parse(body).code, 'overloaded');
      await refused.closed;
      for (const client of others) assert.equal(await client.use(), 400);
      assert.equal(listener.connections.counts.answered, 1);
      first?.socket.destroy();
      await listener.until(({ idle }) => idle < MAX);
      await listener.occupy(1);
      assert.deepEqual(listener.connections.counts, {
        max: MAX,
        active: 0,
        idle: MAX,
        waiting: 0,
        answered: 1,
        dropped: 0,
        displaced: 0,
      });
    });

    it('admits probes when all places are taken, without giving them a place', async () => {
      const listener = await start();
      await listener.occupy(MAX);
      for (const path of ['/livez', '/readyz', '/health']) {
        const probe = await listener.connect();
        const { status, head } = await probe.get(path);
        assert.equal(status, 200, path);
        assert.match(head, /^connection: close$/im);
        await probe.closed;
      }
      assert.equal(listener.connections.counts.answered, 0);
    });

    it('delivers the 503 answer whatever the refused client still sends', async () => {
      const listener = await start();
      await listener.occupy(MAX);
      const client = await listener.connect();
      const head =
        'POST /api/v2/generate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
      client.socket.write(`${head}Content-Length: 16000\r\n\r\n${'x'.repeat(8_000)}`);
      await listener.until(({ waiting }) => waiting === 1);
      client.socket.write('x'.repeat(8_000));
      assert.equal((await client.answer()).status, 503);
      await client.closed;
      const expectant = await listener.connect();
      expectant.socket.write(`${head}Content-Length: 9\r\nExpect: 100-continue\r\n\r\n`);
      assert.equal((await expectant.answer()).status, 503);
      await expectant.closed;
    });

    it('closes connections without a request first, and never one with a place', async () => {
      const listener = await start();
      const [client] = await listener.occupy(1);
      const silent: Client[] = [];
      for (let i = 0; i < 2 * (MAX + RESERVE); i += 1) silent.push(await listener.connect());
      await listener.until(({ dropped }) => dropped === MAX + RESERVE + 1);
      await Promise.all(silent.slice(0, MAX + RESERVE + 1).map(({ closed }) => closed));
      assert.equal(listener.connections.counts.waiting, MAX + RESERVE - 1);
      assert.equal(await client?.use(), 400);
      await listener.occupy(MAX - 1);
      assert.equal(listener.connections.counts.idle, MAX);
    });

    it('gives the place of the longest idle connection to a new one with a request', async () => {
      const listener = await start({ idleMs: 0 });
      const [first, second, third] = await listener.occupy(MAX);
      assert.equal(await first?.use(), 400);
      await listener.occupy(1);
      await second?.closed;
      for (const client of [first, third]) assert.equal(await client?.use(), 400);
      assert.equal(listener.connections.counts.displaced, 1);
    });

    it('reclaims the place of a client at once if its last request had no valid API key', async () => {
      const listener = await start();
      const keyed = await listener.occupy(1);
      const unkeyed = [await listener.connect(), await listener.connect()];
      const wrongKey = 'X-API-Key: wrong\r\n';
      const statuses = [
        (await unkeyed[0]?.get('/api/v2/metrics', wrongKey))?.status,
        (await unkeyed[1]?.get('/nowhere'))?.status,
      ];
      assert.deepEqual(statuses, [401, 404]);
      await listener.until(({ idle }) => idle === MAX);
      keyed.push(...(await listener.occupy(2)));
      await Promise.all(unkeyed.map(({ closed }) => closed));
      for (const client of keyed) assert.equal(await client.use(), 400);
      const refused = await listener.connect();
      assert.equal((await refused.get('/nowhere')).status, 503);
      const { answered, displaced } = listener.connections.counts;
      assert.deepEqual({ answered, displaced }, { answered: 1, displaced: 2 });
    });

    it('closes the connection of a client that does not read its answer', async () => {
      const listener = await start({}, { stalledMs: 100 });
      const client = await listener.connect();
      client.socket.pause();
      client.socket.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
      await listener.until(({ active }) => active === 1);
      await listener.until(({ active, idle }) => active + idle === 0);
    });
  });
}

describe('a connection with pipelined requests', () => {
  it('is served one request at a time, and closes if too many are pipelined', async () => {
    const listener = await Listener.start(false);
    const client = await listener.connect();
    const request = 'GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n';
    client.socket.write(request.repeat(16));
    for (let i = 0; i < 16; i += 1) assert.equal((await client.answer()).status, 404);
    assert.equal(listener.connections.counts.idle, 1);
    client.socket.write(request.repeat(64));
    await client.closed;
    await listener.app.close();
  });
});

describe('a body in many pieces', () => {
  it('is read in up to 256 chunks, and closes its connection beyond that', async () => {
    const listener = await Listener.start(false, {}, { requestMs: 0, stalledMs: 0 });
    const head = `POST /api/v2/generate HTTP/1.1\r\nHost: x\r\nX-API-Key: ${API_KEY}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const client = await listener.connect();
    client.socket.write(`${head}${'1\r\nx\r\n'.repeat(256)}0\r\n\r\n`);
    assert.equal((await client.answer()).status, 400);
    const [other] = await listener.occupy(1);
    other?.socket.write(`${head}${'1\r\nx\r\n'.repeat(257)}`);
    await other?.closed;
    await listener.app.close();
  });
});

describe('the limit on open files', () => {
  it('leaves room for files other than connections', () => {
    assert.equal(connectionsWithin(null, 2_000, 512), 2_000);
    assert.equal(connectionsWithin(20_000, 2_000, 512), 2_000);
    assert.equal(connectionsWithin(1_024, 2_000, 512), 384);
    assert.equal(connectionsWithin(641, 2_000, 512), 1);
    assert.throws(() => connectionsWithin(640, 2_000, 512), /640 open files .* raise it to 2640/);
    assert.ok(process.platform !== 'linux' || openFilesLimit() !== 0);
  });
});
