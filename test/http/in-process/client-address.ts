/** Log lines name the client's address, and no client can choose it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { pino } from 'pino';
import { readConfig } from '../../../src/config/index.ts';
import { clientAddress } from '../../../src/http/client-address.ts';
import { buildTestApp, standInService } from '../../support/servers/app.ts';
import { DEMO_KEY } from '../../support/servers/server.ts';

const PRINCIPAL = {
  apiKeyId: 'key',
  accountId: 'acct',
  plan: 'research',
  sealedOnly: 'off' as const,
  rules: null,
  lastUsedHour: null,
  suspended: false,
  usage: { month: 0, used: 0, quota: null },
};

function proxies(PHM_TRUST_PROXY: string) {
  const result = readConfig(
    { PHM_TRUST_PROXY },
    { cores: 1, knownSources: ['os', 'quantum-simulator'], serves: true },
  );
  assert.ok(result.ok);
  return result.config.trustedProxies;
}

function client(trusted: string, remoteAddress: string | undefined, forwarded?: string) {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  return clientAddress(proxies(trusted))({ socket: { remoteAddress } as Socket, headers });
}

const OURS = 'loopback,10.0.0.0/8,2001:db8:1::/48';

describe("the client's address", () => {
  it('is the peer if the peer is no trusted proxy, whatever X-Forwarded-For says', () => {
    assert.equal(client('', '203.0.113.5', '198.51.100.1'), '203.0.113.5');
    assert.equal(client(OURS, '203.0.113.5', '198.51.100.1'), '203.0.113.5');
    assert.equal(client(OURS, '203.0.113.5', '10.0.0.1'), '203.0.113.5');
    assert.equal(client('', '127.0.0.1', '198.51.100.1'), '127.0.0.1');
  });

  it('is the last X-Forwarded-For address that is not a trusted proxy', () => {
    assert.equal(client(OURS, '127.0.0.1', '198.51.100.1'), '198.51.100.1');
    assert.equal(client(OURS, '::1', '192.0.2.66, 198.51.100.1'), '198.51.100.1');
    assert.equal(client(OURS, '10.1.1.1', '192.0.2.66,198.51.100.1, 10.2.2.2'), '198.51.100.1');
    assert.equal(client(OURS, '2001:db8:1::5', '2001:DB8:2::7'), '2001:DB8:2::7');
    // All hops are trusted proxies: the farthest one.
    assert.equal(client(OURS, '10.1.1.1', '10.3.3.3, 10.2.2.2'), '10.3.3.3');
  });

  it('accepts IPv4-mapped IPv6 peers, ports and zones', () => {
    assert.equal(client('', '::ffff:203.0.113.5'), '203.0.113.5');
    assert.equal(client(OURS, '::ffff:10.1.1.1', '198.51.100.1:4711'), '198.51.100.1');
    assert.equal(client(OURS, '10.1.1.1', '[2001:db8:2::7]:4711'), '2001:db8:2::7');
    assert.equal(client('linklocal', 'fe80::1%eth0', '198.51.100.1'), '198.51.100.1');
  });

  it('ignores header entries that are not addresses', () => {
    for (const forged of [
      ...['', ',', 'unknown', '198.51.100.1\n{"level":60}', '1.2.3', '0x7f.1', '198.51.100.256'],
      ...['"quoted"', 'a'.repeat(16_000), `${'1'.repeat(50)}::`, '198.51.100.1 '.repeat(1_000)],
    ]) {
      assert.equal(client(OURS, '10.1.1.1', forged), '10.1.1.1', forged.slice(0, 30));
      assert.equal(client(OURS, '10.1.1.1', `${forged}, 10.2.2.2`), '10.2.2.2');
    }
  });

  it('reads a bounded number of proxies', () => {
    const many = Array.from({ length: 1_600 }, (_, i) => `10.0.${i >> 8}.${i & 255}`).join(',');
    assert.equal(client(OURS, '10.1.1.1', `198.51.100.1,${many}`), '10.0.6.48');
  });

  it('is undefined when the connection is gone', () => {
    assert.equal(client(OURS, undefined, '198.51.100.1'), undefined);
  });
});

describe('the request log', () => {
  it('names the client on every line, without admitting demo keys by that address', async () => {
    const lines: string[] = [];
    const app = await buildTestApp({
      service: standInService('research', {
        authenticate: async () => ({ ...PRINCIPAL, demo: true }),
      }),
      demoKeys: 'admit-direct',
      trustedProxies: proxies('loopback'),
      logger: pino({ base: null }, { write: (line: string) => lines.push(line) }),
    });
    const ask = (headers: Record<string, string>) =>
      app.inject({
        url: '/api/v2/metrics?hours=0',
        headers: { host: 'localhost', 'x-api-key': DEMO_KEY, ...headers },
      });
    // A client that the proxy reports as loopback still sends a forwarded request: no demo key.
    const forwarded = await ask({
      'x-forwarded-for': '127.0.0.9',
      'x-forwarded-host': 'localhost',
    });
    assert.equal(forwarded.statusCode, 401);
    assert.equal((await ask({})).statusCode, 400);
    await app.close();
    const clients = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request');
    assert.deepEqual(
      clients.map((line) => line.client),
      ['127.0.0.9', '127.0.0.1'],
    );
  });

  it('names the peer if the request is unreadable', async () => {
    const lines: string[] = [];
    const app = await buildTestApp({
      service: standInService('research'),
      trustedProxies: proxies('loopback'),
      logger: pino({ base: null }, { write: (line: string) => lines.push(line) }),
    });
    await app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = app.server.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1');
    socket.write('GET / HTTP/9.9\r\nX-Forwarded-For: 198.51.100.1\r\n\r\n');
    await once(socket.resume(), 'end');
    await app.close();
    const refused = lines.map((line) => JSON.parse(line)).find(({ msg }) => msg === 'request');
    assert.deepEqual([refused.status, refused.client], [505, '127.0.0.1']);
  });
});
