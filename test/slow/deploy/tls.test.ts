/** With a certificate the listener speaks only TLS 1.3 and prefers a hybrid key exchange, as seen on the wire. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { constants, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { type AddressInfo, connect as connectTcp } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { loadTls, requireGroups } from '../../../src/config/tls.ts';
import { SetupError } from '../../../src/errors.ts';
import { openMetrics, type ServiceMetrics } from '../../../src/telemetry/index.ts';
import { buildTestApp, standInService } from '../../support/servers/app.ts';
import { makeCertificate } from '../../support/servers/certificate.ts';
import {
  DEMO_KEY,
  makeDataDir,
  removeDataDir,
  runPhm,
  Server,
} from '../../support/servers/server.ts';
import { ALERTS, GROUPS, type Handshake, SUITES, TlsTap } from '../../support/servers/tls-tap.ts';

const folder = makeDataDir();
const certFile = join(folder, 'cert.pem');
const keyFile = join(folder, 'key.pem');
makeCertificate(certFile, keyFile);
after(() => removeDataDir(folder));

/** A listener of the application in this process, behind a tap. */
interface Listener {
  readonly app: FastifyInstance;
  readonly tap: TlsTap;
  readonly port: number;
  readonly metrics: ServiceMetrics;
  readonly lines: Record<string, unknown>[];
}

async function listen(profile: 'default' | 'post-quantum'): Promise<Listener> {
  const lines: Record<string, unknown>[] = [];
  const logger = pino({ base: null }, { write: (line) => lines.push(JSON.parse(line)) });
  const metrics = await openMetrics({ sources: ['os'], ledgerBackend: 'sqlite' });
  const tls = loadTls({ certFile, keyFile, profile });
  const service = standInService('research');
  const app = await buildTestApp({ service, tls, logger, metrics });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  return { app, port, metrics, lines, tap: await TlsTap.start(port) };
}

interface Attempt {
  /** Undefined if the server refused. */
  readonly client: TLSSocket | undefined;
  readonly seen: Handshake;
}

/** Performs a handshake through the tap and closes. Resumes a `session`, if given. */
async function shakeHands(tap: TlsTap, more: ConnectionOptions = {}): Promise<Attempt> {
  const ca = readFileSync(certFile);
  const client = connect({
    host: '127.0.0.1',
    port: tap.port,
    servername: 'localhost',
    ca,
    ...more,
  });
  const isDone = await once(client, 'secureConnect').then(
    () => true,
    () => false,
  );
  client.destroy();
  const [seen] = tap.take();
  assert.ok(seen);
  return { client: isDone ? client : undefined, seen };
}

/** Returns a session that can be resumed. Tickets arrive after the handshake. */
async function getSession(tap: TlsTap, ecdhCurve: string): Promise<Buffer> {
  const ca = readFileSync(certFile);
  const options = { host: '127.0.0.1', port: tap.port, servername: 'localhost', ca, ecdhCurve };
  const client = connect(options);
  const [session] = await once(client, 'session');
  client.destroy();
  tap.take();
  return session;
}

/** Sends text that is not TLS, or nothing. */
function sendText(port: number, text: string): void {
  connectTcp(port, '127.0.0.1')
    .on('error', () => {})
    .end(text);
}

/** Returns the groups that the server named in a HelloRetryRequest and in its ServerHello. */
const named = ({ seen }: Attempt) =>
  seen.serverHellos.map(({ isRetry, group }) => (isRetry ? { retry: group } : group));

describe('a server with a certificate', () => {
  const dataDir = makeDataDir();
  let server: Server;
  before(async () => {
    const tls = { PHM_TLS_CERT_FILE: certFile, PHM_TLS_KEY_FILE: keyFile };
    server = await Server.start(dataDir, { ...tls, PHM_TLS_PROFILE: 'post-quantum' });
  });
  after(async () => {
    await server.stop();
    removeDataDir(dataDir);
  });

  it('serves the API over TLS 1.3 and requires hybrid key exchange if configured', async () => {
    const { protocol, port } = new URL(server.address);
    assert.equal(protocol, 'https:');
    const headers = { 'X-API-Key': DEMO_KEY };
    const ca = readFileSync(certFile);
    const request = get({ host: '127.0.0.1', port, path: '/api/v2/metrics', headers, ca });
    const [response] = await once(request, 'response');
    response.resume();
    assert.equal(response.statusCode, 200);
    assert.equal(response.socket.getProtocol(), 'TLSv1.3');
    const tap = await TlsTap.start(Number(port));
    const { seen } = await shakeHands(tap, { ecdhCurve: 'X25519' });
    tap.close();
    assert.deepEqual(seen.alerts, [ALERTS.handshakeFailure]);
  });

  it('prints at startup what it offers and requires', () => {
    const suites = 'TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256';
    const groups = 'X25519MLKEM768:SecP384r1MLKEM1024:SecP256r1MLKEM768';
    const offered = `"profile":"post-quantum","cipherSuites":"${suites}","groups":"${groups}","signatures":"ecdsa_secp256r1_sha256"`;
    assert.ok(server.log.includes(offered), server.log);
  });

  it('logs the address with https when it listens', async () => {
    const text = `Server listening at ${server.address}`;
    await server.logged(text);
    assert.match(text, /https:\/\/127\.0\.0\.1:\d+$/);
    assert.doesNotMatch(server.log, /Server listening at http:/);
  });

  it('names the file that it cannot use', async () => {
    const siblings = [makeDataDir(), makeDataDir()];
    const run = (sibling = '', PHM_TLS_CERT_FILE = '') =>
      runPhm(['serve'], sibling, { PHM_TLS_CERT_FILE, PHM_TLS_KEY_FILE: keyFile });
    const [missing, swapped] = await Promise.all([
      run(siblings[0], join(folder, 'nowhere.pem')),
      run(siblings[1], keyFile),
    ]);
    assert.equal(missing.code, 1);
    assert.match(missing.stderr, /PHM_TLS_CERT_FILE: cannot read .*nowhere\.pem/);
    assert.equal(swapped.code, 1);
    assert.match(swapped.stderr, /PHM_TLS_CERT_FILE/);
    siblings.forEach(removeDataDir);
  });
});

describe('a listener that prefers hybrid key exchange', () => {
  let tap: TlsTap;
  let listener: Listener;
  before(async () => {
    listener = await listen('default');
    tap = listener.tap;
  });
  after(async () => {
    tap.close();
    await listener.app.close();
  });

  it('refuses TLS 1.2', async () => {
    const { seen } = await shakeHands(tap, { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' });
    assert.deepEqual(seen.alerts, [ALERTS.protocolVersion]);
    assert.deepEqual(seen.serverHellos, []);
  });

  it('selects AES-256-GCM before ChaCha20-Poly1305, and no other cipher suite', async () => {
    const suite = async (ciphers: string) =>
      (await shakeHands(tap, { ciphers })).seen.serverHellos.map((hello) => hello.suite);
    const [aes, chacha] = ['TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'];
    assert.deepEqual(await suite(`${chacha}:TLS_AES_128_GCM_SHA256:${aes}`), [SUITES.AES_256_GCM]);
    assert.deepEqual(await suite(`TLS_AES_128_GCM_SHA256:${chacha}`), [SUITES.CHACHA20_POLY1305]);
    const { seen } = await shakeHands(tap, {
      ciphers: 'TLS_AES_128_GCM_SHA256:TLS_AES_128_CCM_SHA256:TLS_AES_128_CCM_8_SHA256',
    });
    assert.deepEqual(seen.clientHellos[0]?.suites.includes(SUITES.AES_128_GCM), true);
    assert.deepEqual([seen.serverHellos, seen.alerts], [[], [ALERTS.handshakeFailure]]);
  });

  it('selects the hybrid group for which the client sends a share', async () => {
    for (const name of ['X25519MLKEM768', 'SecP384r1MLKEM1024', 'SecP256r1MLKEM768'] as const) {
      const attempt = await shakeHands(tap, { ecdhCurve: `${name}:X25519` });
      assert.deepEqual(named(attempt), [GROUPS[name]]);
    }
  });

  it('requests a hybrid share if the client supports the group but sent a classical share', async () => {
    for (const [ecdhCurve, hybrid] of [
      ['X25519:X25519MLKEM768', GROUPS.X25519MLKEM768],
      ['P-384:SecP384r1MLKEM1024', GROUPS.SecP384r1MLKEM1024],
      ['P-256:SecP256r1MLKEM768', GROUPS.SecP256r1MLKEM768],
    ] as const) {
      const attempt = await shakeHands(tap, { ecdhCurve });
      const [classical] = attempt.seen.clientHellos[0]?.shares ?? [];
      assert.ok(classical && classical < 0x100, `a classical share: ${classical}`);
      assert.deepEqual(named(attempt), [{ retry: hybrid }, hybrid]);
    }
  });

  it('serves clients that support classical groups only', async () => {
    for (const [ecdhCurve, group] of [
      ['X25519', GROUPS.X25519],
      ['P-256', GROUPS.P256],
      ['P-384', GROUPS.P384],
    ] as const) {
      assert.deepEqual(named(await shakeHands(tap, { ecdhCurve })), [group]);
    }
    const { seen } = await shakeHands(tap, { ecdhCurve: 'X448:P-521' });
    assert.deepEqual(seen.alerts, [ALERTS.handshakeFailure]);
  });

  it('exchanges keys on resumption even if the client allows resumption without that', async () => {
    const session = await getSession(tap, 'X25519MLKEM768');
    const secureOptions = constants.SSL_OP_ALLOW_NO_DHE_KEX;
    const { seen } = await shakeHands(tap, { session, secureOptions, ecdhCurve: 'X25519MLKEM768' });
    assert.deepEqual([...(seen.clientHellos[0]?.pskModes ?? [])].sort(), [0, 1]);
    const suite = SUITES.AES_256_GCM;
    const group = GROUPS.X25519MLKEM768;
    assert.deepEqual(seen.serverHellos, [
      { isRetry: false, version: 0x0304, suite, group, isResumed: true },
    ]);
  });
});

describe('a failed handshake', () => {
  it('is counted and logged by its reason, but only counted if the client leaves early', async () => {
    const { app, port, tap, lines, metrics } = await listen('default');
    const fail = async (attempt: () => unknown) => {
      await Promise.all([once(app.server, 'tlsClientError'), attempt()]);
    };
    const send = (text: string) => sendText(port, text);
    await fail(() => shakeHands(tap, { maxVersion: 'TLSv1.2' }));
    await fail(() => shakeHands(tap, { ciphers: 'TLS_AES_128_GCM_SHA256' }));
    await fail(() => shakeHands(tap, { ecdhCurve: 'X448' }));
    await fail(() => send('GET / HTTP/1.1\r\n\r\n'));
    await fail(() => send('SSH-2.0-client\r\n'));
    await fail(() => send(''));
    tap.close();
    await app.close();
    const logged = ['old_version', 'no_shared_cipher', 'no_shared_group', 'cleartext', 'other'];
    assert.deepEqual(
      lines
        .filter(({ msg }) => msg === 'TLS handshake failed')
        .map(({ reason, client }) => [reason, client]),
      logged.map((reason) => [reason, '127.0.0.1']),
    );
    const page = await metrics.expose();
    const series = page.matchAll(/^phm_tls_handshake_failures_total\{reason="(\w+)"\} (\d+)$/gm);
    assert.deepEqual(Object.fromEntries([...series].map(([, reason, count]) => [reason, count])), {
      ...Object.fromEntries([...logged, 'incomplete'].map((reason) => [reason, '1'])),
      refused_by_client: '0',
    });
  });

  it('is logged with the client that refused the certificate, although its connection has closed', async () => {
    const { app, port, tap, lines } = await listen('default');
    for (let i = 0; i < 8; i++) {
      const failed = once(app.server, 'tlsClientError');
      // Without the option "ca", the client does not trust the certificate. OpenSSL says so to the server.
      const client = spawn('openssl', [
        ...['s_client', '-connect', `127.0.0.1:${port}`, '-verify_return_error'],
      ]);
      client.stdin.end();
      await failed;
    }
    tap.close();
    await app.close();
    const refused = lines.filter(({ msg }) => msg === 'TLS handshake failed');
    assert.deepEqual(
      refused.map(({ reason, client }) => [reason, client]),
      Array(8).fill(['refused_by_client', '127.0.0.1']),
    );
  });

  it('is logged in few lines per reason, without hiding others, and the rest is counted', async () => {
    const { app, port, tap, lines } = await listen('default');
    const sent = 200;
    let failed = 0;
    const all = new Promise<void>((done) => {
      app.server.on('tlsClientError', () => {
        failed += 1;
        if (failed === sent) done();
      });
    });
    for (let i = 0; i < sent; i++) sendText(port, 'SSH-2.0-client\r\n');
    await all;
    const another = once(app.server, 'tlsClientError');
    await Promise.all([another, shakeHands(tap, { ecdhCurve: 'X448' })]);
    tap.close();
    await app.close();
    const reasons = lines
      .filter(({ msg }) => msg === 'TLS handshake failed')
      .map(({ reason }) => reason);
    assert.equal(reasons.pop(), 'no_shared_group');
    const written = reasons.filter((reason) => reason === 'other').length;
    assert.ok(written >= 100 && written < sent, `${written} lines`);
    const leftOut = lines
      .filter(({ msg }) => msg === 'requests left out of the log')
      .map((line) => line.leftOut as Record<string, number>);
    assert.deepEqual(Object.keys(leftOut[0] ?? {}), ['tls other']);
    const counted = leftOut.reduce((sum, counts) => sum + (counts['tls other'] ?? 0), 0);
    assert.equal(written + counted, sent);
  });
});

describe('a listener that requires hybrid key exchange', () => {
  let tap: TlsTap;
  let listener: Listener;
  before(async () => {
    listener = await listen('post-quantum');
    tap = listener.tap;
  });
  after(async () => {
    tap.close();
    await listener.app.close();
  });

  it('rejects clients without a hybrid group with handshake_failure', async () => {
    for (const ecdhCurve of ['X25519', 'P-256', 'P-384', 'X25519:P-256:P-384:P-521']) {
      const { client, seen } = await shakeHands(tap, { ecdhCurve });
      assert.equal(client, undefined);
      assert.deepEqual([seen.serverHellos, seen.alerts], [[], [ALERTS.handshakeFailure]]);
    }
    const refusals = listener.lines.filter(({ msg }) => msg === 'TLS handshake failed');
    assert.deepEqual(
      refusals.map(({ reason }) => reason),
      Array(4).fill('no_shared_group'),
    );
  });

  it('serves clients with a hybrid group, also after a classical share', async () => {
    const hybrid = GROUPS.X25519MLKEM768;
    assert.deepEqual(named(await shakeHands(tap, { ecdhCurve: 'X25519MLKEM768' })), [hybrid]);
    const late = await shakeHands(tap, { ecdhCurve: 'X25519:X25519MLKEM768' });
    assert.deepEqual(named(late), [{ retry: hybrid }, hybrid]);
  });

  it('refuses to resume a session without a hybrid group', async () => {
    const session = await getSession(tap, 'X25519MLKEM768');
    const resumed = await shakeHands(tap, { session, ecdhCurve: 'SecP384r1MLKEM1024' });
    assert.deepEqual(named(resumed), [GROUPS.SecP384r1MLKEM1024]);
    assert.equal(resumed.seen.serverHellos[0]?.isResumed, true);
    const { seen } = await shakeHands(tap, { session, ecdhCurve: 'X25519' });
    assert.deepEqual([seen.serverHellos, seen.alerts], [[], [ALERTS.handshakeFailure]]);
  });
});

describe('a certificate and its key', () => {
  const load = (certificate: string, key: string) =>
    loadTls({ certFile: certificate, keyFile: key, profile: 'default' });

  it('are rejected unless they match, also if their types differ', () => {
    const keys = {
      ec: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
      rsa: generateKeyPairSync('rsa', { modulusLength: 2048 }),
      ed25519: generateKeyPairSync('ed25519'),
    };
    for (const [type, { privateKey }] of Object.entries(keys)) {
      const foreign = join(folder, `${type}.pem`);
      writeFileSync(foreign, privateKey.export({ type: 'pkcs8', format: 'pem' }));
      assert.throws(
        () => load(certFile, foreign),
        (error) =>
          error instanceof SetupError && /are not a certificate with its key/.test(error.message),
        type,
      );
    }
  });

  it('are accepted with further certificates in the chain and parameters before the key', () => {
    const [chain, other, key] = ['chain.pem', 'other.pem', 'other-key.pem'].map((name) =>
      join(folder, name),
    );
    makeCertificate(other, key);
    writeFileSync(chain, readFileSync(certFile, 'utf8') + readFileSync(other, 'utf8'));
    assert.doesNotThrow(() => load(chain, keyFile));
    assert.throws(() => load(chain, key), SetupError);
    // The output of `openssl ecparam -genkey`.
    const parameters =
      '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n';
    writeFileSync(key, parameters + readFileSync(keyFile, 'utf8'));
    assert.doesNotThrow(() => load(certFile, key));
  });
});

describe('a Node without the hybrid groups', () => {
  it('does not start the server, and the message names the missing groups', () => {
    assert.doesNotThrow(() => requireGroups(['X25519MLKEM768', 'P-256']));
    assert.throws(
      () => requireGroups(['X25519MLKEM9', 'P-256']),
      (error) =>
        error instanceof SetupError && /lacks the TLS groups X25519MLKEM9:/.test(error.message),
    );
  });
});
