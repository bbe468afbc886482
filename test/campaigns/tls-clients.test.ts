/**
 * Other TLS implementations as clients of a server that prefers hybrid key exchange, and of one that requires
 * it. What each client offers depends on its version: the test reads its ClientHello and expects the matching
 * answer.
 */
import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { launchBrowser, NO_CHROMIUM } from '../support/browsers/browser.ts';
import { makeCertificate } from '../support/servers/certificate.ts';
import {
  DEMO_KEY,
  MAIN,
  makeDataDir,
  removeDataDir,
  runPhm,
  Server,
} from '../support/servers/server.ts';
import {
  ALERTS,
  GROUPS,
  type Handshake,
  readClientHellos,
  SUITES,
  TlsTap,
} from '../support/servers/tls-tap.ts';

const HYBRIDS: readonly number[] = [
  GROUPS.X25519MLKEM768,
  GROUPS.SecP384r1MLKEM1024,
  GROUPS.SecP256r1MLKEM768,
];

const folder = makeDataDir();
const cert = join(folder, 'cert.pem');
const goClient = join(folder, 'tls-client');
makeCertificate(cert, join(folder, 'key.pem'));
after(() => removeDataDir(folder));

interface Result {
  readonly code: number;
  readonly output: string;
}

/** Returns the first line that a program prints about itself. It is the machine's, never one of this project. */
function versionOf(program: string, argument: string): string | undefined {
  const { status, stdout } = spawnSync(program, [argument], { encoding: 'utf8' });
  return status === 0 ? stdout.split('\n')[0] : undefined;
}

function run(program: string, args: readonly string[], env = {}): Promise<Result> {
  return new Promise((done) => {
    const options = { timeout: 60_000, env: { ...process.env, ...env } };
    const child = execFile(program, args, options, (error, stdout, stderr) =>
      done({ code: error ? 1 : 0, output: stdout + stderr }),
    );
    child.stdin?.end();
  });
}

const PYTHON = `
import http.client, ssl, sys
context = ssl.create_default_context(cafile=sys.argv[2])
connection = http.client.HTTPSConnection("localhost", int(sys.argv[1]), context=context)
connection.request("GET", "/livez")
assert connection.getresponse().status == 200
print(ssl.OPENSSL_VERSION, connection.sock.version(), connection.sock.cipher())
`;

interface Client {
  readonly name: string;
  /** Undefined if it is not installed. */
  readonly version: string | undefined;
  /** True if it must offer a hybrid group; undefined if that depends on its version. */
  readonly offersHybrid?: boolean;
  /** Requests `/livez`. The exit code is 0 if it got a response. */
  readonly ask: (port: number) => Promise<Result>;
}

const openssl = versionOf('openssl', 'version');
const go = versionOf('go', 'version');
const goRelease = Number(/go1\.(\d+)/.exec(go ?? '')?.[1]);

async function askWithGo(port: number, ...more: string[]): Promise<Result> {
  const source = join(import.meta.dirname, 'tls-client.go');
  const built = await run('go', ['build', '-o', goClient, source]);
  assert.equal(built.code, 0, built.output);
  return run(goClient, [String(port), cert, ...more]);
}

async function askWithChromium(port: number): Promise<Result> {
  const browser = await launchBrowser(['--ignore-certificate-errors']);
  try {
    const page = await browser.newPage();
    const answer = await page.goto(`https://localhost:${port}/livez`);
    return { code: answer?.status() === 200 ? 0 : 1, output: '' };
  } finally {
    await browser.close();
  }
}

const CLIENTS: readonly Client[] = [
  {
    name: 'phm metrics',
    version: process.version,
    offersHybrid: true,
    ask: (port) =>
      run(process.execPath, [MAIN, 'metrics'], {
        PHM_URL: `https://localhost:${port}`,
        PHM_API_KEY: DEMO_KEY,
        NODE_EXTRA_CA_CERTS: cert,
      }),
  },
  {
    name: 'openssl s_client',
    version: openssl,
    ask: (port) => run('openssl', ['s_client', '-connect', `127.0.0.1:${port}`, '-CAfile', cert]),
  },
  {
    name: 'openssl s_client -groups X25519',
    version: openssl,
    offersHybrid: false,
    ask: (port) =>
      run('openssl', ['s_client', '-groups', 'X25519', '-connect', `127.0.0.1:${port}`]),
  },
  {
    name: 'curl',
    version: versionOf('curl', '--version'),
    ask: (port) => run('curl', ['-sSf', '--cacert', cert, `https://localhost:${port}/livez`]),
  },
  {
    name: 'python ssl',
    version: versionOf('python3', '--version'),
    ask: (port) => run('python3', ['-c', PYTHON, String(port), cert]),
  },
  {
    name: 'go crypto/tls',
    version: go,
    ...(goRelease >= 24 && { offersHybrid: true }),
    ask: askWithGo,
  },
  {
    name: 'go crypto/tls, classical',
    version: go,
    offersHybrid: false,
    ask: (port) => askWithGo(port, 'classical'),
  },
  {
    name: 'chromium',
    version: NO_CHROMIUM ? undefined : 'of the machine',
    offersHybrid: true,
    ask: askWithChromium,
  },
];

const nameOf = (table: Record<string, number>, value: number | null | undefined) =>
  Object.keys(table).find((name) => table[name] === value) ?? String(value);

/** Describes the result of one connection for people. */
function describeHandshake({ clientHellos, serverHellos, alerts }: Handshake): string {
  const last = serverHellos.at(-1);
  if (!last) return `alert ${alerts.join(', ')}`;
  const shares = clientHellos[0]?.shares.map((share) => nameOf(GROUPS, share)).join('+');
  const how = `${serverHellos.length > 1 ? ', retried' : ''}${last.isResumed ? ', resumed' : ''}`;
  return `shares ${shares}: ${nameOf(GROUPS, last.group)}, ${nameOf(SUITES, last.suite)}${how}`;
}

/** Checks the server's answer against the client's offer. */
function check(handshake: Handshake, requireHybrid: boolean, offersHybrid?: boolean): void {
  const { clientHellos, serverHellos, alerts } = handshake;
  const isOffered = clientHellos[0]?.groups.some((group) => HYBRIDS.includes(group)) ?? false;
  if (offersHybrid !== undefined) assert.equal(isOffered, offersHybrid);
  if (requireHybrid && !isOffered) {
    assert.deepEqual([serverHellos, alerts], [[], [ALERTS.handshakeFailure]]);
    return;
  }
  const last = serverHellos.at(-1);
  assert.ok(last && !last.isRetry);
  assert.equal(HYBRIDS.includes(last.group ?? 0), isOffered);
  assert.equal(last.suite, SUITES.AES_256_GCM);
}

for (const requireHybrid of [false, true]) {
  describe(`a server that ${requireHybrid ? 'requires' : 'prefers'} hybrid groups`, () => {
    const dataDir = makeDataDir();
    let server: Server;
    let tap: TlsTap;

    before(async () => {
      server = await Server.start(dataDir, {
        PHM_TLS_CERT_FILE: cert,
        PHM_TLS_KEY_FILE: join(folder, 'key.pem'),
        PHM_TLS_PROFILE: requireHybrid ? 'post-quantum' : 'default',
      });
      tap = await TlsTap.start(Number(new URL(server.address).port));
    });
    after(async () => {
      tap.close();
      await server.stop();
      removeDataDir(dataDir);
    });

    for (const { name, version, offersHybrid, ask } of CLIENTS) {
      it(name, { skip: !version && 'it is not installed here' }, async (t: TestContext) => {
        const { code, output } = await ask(tap.port);
        const handshakes = tap.take().filter(({ clientHellos }) => clientHellos.length > 0);
        assert.ok(handshakes.length > 0, output);
        for (const handshake of handshakes) {
          t.diagnostic(`${name} (${version}): ${describeHandshake(handshake)}`);
          check(handshake, requireHybrid, offersHybrid);
        }
        const isRefused = handshakes.some(({ alerts }) => alerts.length > 0);
        assert.equal(code, isRefused ? 1 : 0, output);
      });
    }

    it('resumes Go sessions with a new key exchange', { skip: !go && 'no Go' }, async () => {
      if (!(goRelease >= 24)) return;
      const { code, output } = await askWithGo(tap.port);
      assert.equal(code, 0, output);
      const [first, second] = tap.take();
      assert.deepEqual(
        [first, second].map((one) => one?.serverHellos.at(-1)?.isResumed),
        [false, true],
      );
      assert.equal(second?.serverHellos.at(-1)?.group, GROUPS.X25519MLKEM768);
      assert.match(
        output,
        /^X25519MLKEM768 TLS_AES_256_GCM_SHA384 false\nX25519MLKEM768 .* true$/m,
      );
    });

    // The installed version may lack hybrid groups.
    const skip = !openssl && 'openssl is not installed here';
    if (requireHybrid) return;

    it('accepts no early data', { skip }, async () => {
      const args = ['s_client', '-connect', `127.0.0.1:${tap.port}`, '-CAfile', cert];
      const client = spawn('openssl', args, { stdio: ['pipe', 'pipe', 'ignore'] });
      // Tickets come before the response, which ends the connection.
      client.stdin.write('GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
      let output = '';
      for await (const chunk of client.stdout) output += chunk;
      tap.take();
      assert.match(output, /Max Early Data: 0\n/);
    });

    it('logs that a client rejects the certificate', { skip }, async () => {
      const address = `127.0.0.1:${tap.port}`;
      await run('openssl', ['s_client', '-verify_return_error', '-connect', address]);
      while (!server.log.includes('"reason":"refused_by_client"')) await sleep(20);
      tap.take();
    });
  });
}

describe('the clients inside the service', () => {
  it('offer PostgreSQL key shares for X25519MLKEM768 and X25519', async () => {
    const dataDir = makeDataDir();
    let heard = Buffer.alloc(0);
    const database = createServer((socket) => {
      // An SSLRequest of 8 bytes, "S" for yes, then TLS.
      socket.once('readable', () => {
        socket.read(8);
        socket.write('S');
        socket.on('data', (chunk: Buffer) => {
          heard = Buffer.concat([heard, chunk]);
          if (readClientHellos(heard).length > 0) socket.destroy();
        });
      });
      socket.on('error', () => {});
    });
    database.listen(0, '127.0.0.1');
    await once(database, 'listening');
    const { port } = database.address() as AddressInfo;
    await runPhm(['migrate'], dataDir, {
      PHM_DATABASE_URL: `postgres://phm:phm@127.0.0.1:${port}/phm?sslmode=require`,
    });
    database.close();
    removeDataDir(dataDir);
    const [hello] = readClientHellos(heard);
    assert.deepEqual(hello?.shares, [GROUPS.X25519MLKEM768, GROUPS.X25519]);
  });
});
