/**
 * Startup, master secret, failures around a server, and shutdown, with real processes. A startup takes about a second of
 * processor time, so tests that do not disturb each other share a server.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { Agent, get, type IncomingMessage } from 'node:http';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { type Plan, PUBLISHED_PLANS } from '../../../src/config/index.ts';
import { until } from '../../support/run/until.ts';
import {
  type Answer,
  DEMO_KEY,
  DEMO_PROFESSIONAL_KEY,
  lastReason,
  makeDataDir,
  phmJson,
  removeDataDir,
  runPhm,
  Server,
} from '../../support/servers/server.ts';

const folders: string[] = [];
after(() => folders.forEach(removeDataDir));

function freshFolder(): string {
  const folder = makeDataDir();
  folders.push(folder);
  return folder;
}

/** Sends a request on a connection that the agent keeps open. */
async function askBy(agent: Agent, server: Server) {
  const asked = get(`${server.address}/livez`, { agent });
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  await once(answer.resume(), 'end');
  const { statusCode: status, headers } = answer;
  return { status, connection: headers.connection, reused: asked.reusedSocket };
}

/** Waits for a log line. The log uses another pipe than the response and may arrive later. */
function untilLogged(server: Server, words: RegExp): Promise<void> {
  return until(`the log holds ${words}`, () => words.test(server.log));
}

describe('a server', () => {
  const dataDir = freshFolder();
  let server: Server;
  /** Uses another account, because one of the tests uses up the burst of the usual one. */
  const generate = (more: object = {}) =>
    server.generate({ security_level: 128, ...more }, DEMO_PROFESSIONAL_KEY);
  const start = async () => {
    server = await Server.start(dataDir, { PHM_DRAIN_SECONDS: '4' });
  };
  before(start);
  after(() => server?.stop('SIGKILL'));

  it('logs its address, and no demo key, once it is ready', async () => {
    await server.logged(`"address":"${server.address}"`, '"demoKeys":true,"msg":"listening"');
    assert.ok(!server.log.includes('phmsk_demo'));
  });

  it('does not share its port: a second server exits with a message that names the fix', async () => {
    const { port } = new URL(server.address);
    const second = await runPhm(['serve'], freshFolder(), { PHM_PORT: port });
    assert.equal(second.code, 1);
    assert.match(second.stderr, /choose another PHM_PORT/);
  });

  it('answers 503 without its database, and serves again when it is back', async () => {
    assert.equal((await generate()).status, 200);
    renameSync(join(dataDir, 'phm.db'), join(dataDir, 'away.db'));
    const { status, body, headers } = await generate();
    assert.equal(status, 503);
    assert.equal(body.code, 'ledger_unavailable');
    assert.equal(headers.get('retry-after'), '5');
    assert.equal(body.key, undefined);
    const validated = await server.validate({ key: 'ab'.repeat(32) }, DEMO_PROFESSIONAL_KEY);
    assert.deepEqual([validated.status, validated.body.code], [503, 'ledger_unavailable']);
    await untilLogged(
      server,
      /was moved away or removed\. .*: PHM_DATA_DIR=\S+ \S+.* ledger restore FILE"/,
    );
    const ledger = async () => (await server.request('/readyz')).body.checks.ledger;
    await until('the server is not ready', async () => (await ledger()) === 'unavailable');
    assert.equal((await server.request('/readyz')).status, 503);
    assert.equal((await server.request('/livez')).status, 200);
    renameSync(join(dataDir, 'away.db'), join(dataDir, 'phm.db'));
    assert.equal((await generate()).status, 200);
    await until('the server is ready again', async () => (await ledger()) === 'ok');
    assert.equal((await server.request('/readyz')).status, 200);
  });

  it('limits an API key to its burst and sends Retry-After', async () => {
    const { burst, ratePerSecond } = PUBLISHED_PLANS.get('research') as Plan;
    const startMs = performance.now();
    const answers = await Promise.all(Array.from({ length: 200 }, () => server.metrics()));
    const seconds = (performance.now() - startMs) / 1000;
    const refused = answers.filter(({ status }) => status === 429);
    const granted = answers.length - refused.length;
    const most = Math.floor(burst + ratePerSecond * seconds);
    assert.ok(
      granted >= burst && granted <= most,
      `${granted} of ${answers.length} in ${seconds} s`,
    );
    assert.ok(refused.length > 0);
    for (const { body, headers } of refused) {
      assert.equal(body.code, 'rate_limited');
      assert.equal(headers.get('retry-after'), '1');
      assert.equal(headers.get('x-ratelimit-remaining'), '0');
      assert.match(headers.get('ratelimit') ?? '', /"rate";r=0/);
    }
    assert.equal((await server.metrics('', DEMO_PROFESSIONAL_KEY)).status, 200);
  });

  describe('a generated master secret', () => {
    const path = join(dataDir, 'master.key');
    const order = { security_level: 256, include: ['hash_proof'] };
    const validate = (asked: object) => server.validate(asked, DEMO_PROFESSIONAL_KEY);
    let old: Answer['body'];

    it('is readable by its owner only', () => {
      assert.equal(statSync(path).mode & 0o777, 0o600);
    });

    it('stops the startup if it is replaced or missing, and is not generated again', async () => {
      const secret = readFileSync(path, 'utf8');
      writeFileSync(path, `1:${'5a'.repeat(32)}\n`);
      const another = await runPhm(['serve'], dataDir);
      assert.equal(another.code, 1);
      assert.match(another.stderr, /version 1 of the master secret is not the one/);
      assert.ok(!another.stderr.includes('5a'.repeat(8)));
      rmSync(path);
      const missing = await runPhm(['serve'], dataDir);
      assert.equal(missing.code, 1);
      assert.match(missing.stderr, /cannot use the master secret in .*master\.key: .*restore/);
      assert.ok(!existsSync(path));
      writeFileSync(path, secret, { mode: 0o600 });
    });

    it('can be rotated while the server continues to use the old version', async () => {
      old = (await generate(order)).body;
      await phmJson(['secret', 'rotate'], dataDir);
      assert.equal((await validate({ key: old.key })).body.valid, true);
      assert.equal(await server.stop('SIGINT'), 0);
    });

    it('keeps old proofs and commitments valid and uses the new version for new keys', async () => {
      await start();
      const { body: fresh } = await generate(order);
      for (const { key, hash_proof } of [old, fresh]) {
        assert.equal((await validate({ key })).body.valid, true);
        assert.equal((await validate({ key, hash_proof })).body.valid, true);
      }
      const versionOf = (proof: string) => BigInt(proof.slice('proof_'.length)) >> 256n;
      assert.equal(versionOf(old.hash_proof), 1n);
      assert.equal(versionOf(fresh.hash_proof), 2n);
    });
  });

  it('fails /readyz first on SIGTERM, completes requests in progress, and exits with code 0', async () => {
    assert.equal((await server.request('/readyz')).status, 200);
    const agent = new Agent({ keepAlive: true });
    assert.equal((await askBy(agent, server)).connection, 'keep-alive');
    const exit = server.stop('SIGTERM');
    let readiness = await server.request('/readyz');
    await until('/readyz fails', async () => {
      readiness = await server.request('/readyz');
      return readiness.status === 503;
    });
    assert.equal(readiness.body.success, false);
    assert.equal(readiness.body.status, 'draining');
    // All at once: a slow machine must send them before the listener closes.
    const [last, alive, late] = await Promise.all([
      askBy(agent, server),
      server.request('/livez'),
      generate({ enable_nist_validation: true }),
    ]);
    // An idle connection still accepts one request; its response says that it was the last.
    assert.deepEqual(last, { status: 200, connection: 'close', reused: true });
    agent.destroy();
    assert.deepEqual([alive.status, late.status], [200, 200]);
    assert.equal(await exit, 0);
    await assert.rejects(server.request('/livez'));
  });
});

describe('a server without demo keys and with PHM_MASTER_KEY', () => {
  const dataDir = freshFolder();
  const deathFile = join(dataDir, 'die');
  let server: Server;
  before(async () => {
    const hook = pathToFileURL(
      resolve(import.meta.dirname, '../../support/faults/dying-worker.ts'),
    );
    hook.searchParams.set('when', deathFile);
    server = await Server.start(dataDir, {
      PHM_DEMO_KEYS: 'off',
      PHM_MASTER_KEY: 'ab'.repeat(32),
      NODE_OPTIONS: `--import=${hook.href}`,
    });
  });
  after(() => server?.stop('SIGKILL'));

  it('refuses them', async () => {
    await server.logged('"demoKeys":false,"msg":"listening"');
    assert.ok(!server.log.includes('phmsk_demo'));
    assert.equal((await server.metrics('', DEMO_KEY)).status, 401);
  });

  it('does not start with a secret other than that of its database', async () => {
    assert.ok(!existsSync(join(dataDir, 'master.key')));
    const { code, stderr } = await runPhm(['serve'], dataDir, { PHM_MASTER_KEY: 'cd'.repeat(32) });
    assert.equal(code, 1);
    assert.match(stderr, /master secret/);
  });

  describe('a worker that dies', () => {
    it('ends the process at once, so that it is restarted', async () => {
      writeFileSync(deathFile, '');
      await untilLogged(
        server,
        /"error":"WorkerExit \(code 1\)","frames":\[.*\],"msg":"ended by an unexpected error"\}$/m,
      );
      assert.equal(await server.stop('SIGCONT'), 1);
    });
  });
});

describe('an unreadable credential', () => {
  it('stops the startup, even if another source has already started', async () => {
    const dataDir = freshFolder();
    const { code, stderr } = await runPhm(['serve'], dataDir, {
      PHM_PORT: '0',
      PHM_ENTROPY_SOURCES: 'os,jitter,qrng',
      PHM_QRNG_PROFILE: 'anu',
      PHM_QRNG_API_KEY_FILE: join(dataDir, 'missing'),
    });
    assert.equal(code, 1);
    assert.match(
      lastReason(stderr),
      /^the credential of PHM_QRNG_API_KEY_FILE, .+missing, cannot be read: there is no such file$/,
    );
  });
});

describe('an unwritable log', () => {
  it('loses its lines and affects nothing else', { skip: !existsSync('/dev/full') }, async () => {
    const dataDir = freshFolder();
    const full = openSync('/dev/full', 'w');
    const server = await Server.start(dataDir, {}, full);
    for (let i = 0; i < 50; i++) assert.equal((await server.request('/livez')).status, 200);
    assert.equal((await server.generate({ security_level: 128 })).status, 200);
    assert.equal(await server.stop('SIGINT'), 0);
    closeSync(full);
  });
});
