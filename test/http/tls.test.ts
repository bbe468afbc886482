/** With a certificate the listener speaks TLS 1.3 alone, and the hybrid key exchange first. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { get } from 'node:https';
import { type AddressInfo, connect as connectTcp, createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type ConnectionOptions, connect } from 'node:tls';
import { makeCertificate } from '../support/certificate.ts';
import { DEMO_KEY, makeDataDir, removeDataDir, runPhm, Server } from '../support/server.ts';

/** TLS supported groups (IANA registry). */
const X25519MLKEM768 = 0x11ec;
const X25519 = 0x001d;

const dataDir = makeDataDir();
const certFile = join(dataDir, 'cert.pem');
const keyFile = join(dataDir, 'key.pem');
let server: Server;
let port: number;

before(async () => {
  makeCertificate(certFile, keyFile);
  server = await Server.start(dataDir, {
    PHM_TLS_CERT_FILE: certFile,
    PHM_TLS_KEY_FILE: keyFile,
  });
  port = Number(new URL(server.address).port);
});
after(async () => {
  await server.stop();
  removeDataDir(dataDir);
});

const options = (more: ConnectionOptions = {}): ConnectionOptions => ({
  host: '127.0.0.1',
  port,
  servername: 'localhost',
  ca: readFileSync(certFile),
  ...more,
});

/** The key exchange group that the server chose, read off its ServerHello (RFC 8446 §4.1.3). */
function groupOfServerHello(bytes: Buffer): number {
  assert.equal(bytes[0], 22, 'a handshake record');
  assert.equal(bytes[5], 2, 'a ServerHello');
  const sessionIdLength = bytes[43] ?? 0;
  let at = 44 + sessionIdLength + 2 + 1;
  const end = at + 2 + bytes.readUInt16BE(at);
  at += 2;
  while (at < end) {
    const type = bytes.readUInt16BE(at);
    const length = bytes.readUInt16BE(at + 2);
    if (type === 0x0033) return bytes.readUInt16BE(at + 4);
    at += 4 + length;
  }
  throw new Error('the ServerHello holds no key share');
}

/** Connects through a relay that keeps what the server says first. */
async function negotiatedGroup(more: ConnectionOptions): Promise<number> {
  let heard = Buffer.alloc(0);
  const relay = createServer((inner) => {
    const outer = connectTcp(port, '127.0.0.1');
    outer.on('data', (chunk: Buffer) => {
      heard = Buffer.concat([heard, chunk]);
    });
    inner.pipe(outer).pipe(inner);
    for (const socket of [inner, outer]) socket.on('error', () => {});
  });
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
  const client = connect(options({ ...more, port: (relay.address() as AddressInfo).port }));
  await once(client, 'secureConnect');
  client.destroy();
  relay.close();
  return groupOfServerHello(heard);
}

describe('TLS', () => {
  it('serves the API over TLS 1.3', async () => {
    assert.match(server.address, /^https:/);
    const request = get({
      ...options(),
      path: '/api/v2/metrics',
      headers: { 'X-API-Key': DEMO_KEY },
    });
    const [response] = await once(request, 'response');
    response.resume();
    assert.equal(response.statusCode, 200);
    assert.equal(response.socket.getProtocol(), 'TLSv1.3');
  });

  it('refuses TLS 1.2', async () => {
    const client = connect(options({ minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' }));
    const [error] = await once(client, 'error');
    assert.match(String(error), /protocol version|handshake/i);
  });

  it('negotiates X25519MLKEM768 with a client that offers it', async () => {
    assert.equal(await negotiatedGroup({ ecdhCurve: 'X25519MLKEM768:X25519' }), X25519MLKEM768);
  });

  it('prefers it even when the client lists a classical group first', async () => {
    assert.equal(await negotiatedGroup({ ecdhCurve: 'X25519:X25519MLKEM768' }), X25519MLKEM768);
  });

  it('still serves clients that only know X25519', async () => {
    assert.equal(await negotiatedGroup({ ecdhCurve: 'X25519' }), X25519);
  });

  it('says which file it cannot use', async () => {
    const missing = await runPhm(['serve'], makeSibling(), {
      PHM_TLS_CERT_FILE: join(dataDir, 'nowhere.pem'),
      PHM_TLS_KEY_FILE: keyFile,
    });
    assert.equal(missing.code, 1);
    assert.match(missing.stderr, /PHM_TLS_CERT_FILE: cannot read .*nowhere\.pem/);
    const swapped = await runPhm(['serve'], makeSibling(), {
      PHM_TLS_CERT_FILE: keyFile,
      PHM_TLS_KEY_FILE: keyFile,
    });
    assert.equal(swapped.code, 1);
    assert.match(swapped.stderr, /PHM_TLS_CERT_FILE/);
  });
});

const siblings: string[] = [];
after(() => siblings.forEach(removeDataDir));

function makeSibling(): string {
  const directory = makeDataDir();
  siblings.push(directory);
  return directory;
}
