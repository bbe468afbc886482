/** Start, keys that come and go, overload, and the end, on real processes. */
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
import { after, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { PLANS } from '../../src/accounts/index.ts';
import {
  DEMO_KEY,
  DEMO_PROFESSIONAL_KEY,
  makeDataDir,
  phmJson,
  removeDataDir,
  runPhm,
  Server,
} from '../support/server.ts';

const folders: string[] = [];
after(() => folders.forEach(removeDataDir));

function freshFolder(): string {
  const folder = makeDataDir();
  folders.push(folder);
  return folder;
}

async function makeApiKey(dataDir: string, plan: string) {
  const { account_id } = await phmJson<{ account_id: string }>(
    ['account', 'create', '--init', '--name', 'n', '--plan', plan],
    dataDir,
  );
  return {
    accountId: account_id,
    ...(await phmJson<{ api_key: string; api_key_id: string }>(
      ['key', 'issue', '--account', account_id],
      dataDir,
    )),
  };
}

async function until(what: string, limitMs: number, check: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + limitMs;
  while (!(await check())) {
    assert.ok(Date.now() < end, `${what} within ${limitMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** Asks on a connection that the agent keeps open. */
async function askBy(agent: Agent, server: Server) {
  const asked = get(`${server.address}/livez`, { agent });
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  await once(answer.resume(), 'end');
  const { statusCode: status, headers } = answer;
  return { status, connection: headers.connection, reused: asked.reusedSocket };
}

/** The log comes by another pipe than the answer, and may come after it. */
async function untilLogged(server: Server, words: RegExp): Promise<void> {
  for (let i = 0; i < 500 && !words.test(server.log); i++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.match(server.log, words);
}

/** Requests for validated keys that wait for a suite worker, or have had their turn. */
async function suiteJobs(server: Server): Promise<number> {
  const page = await server.scrape();
  const series = ['phm_queue_waiting', 'phm_queue_wait_seconds_count'];
  const counts = series.map((name) => {
    const line = page.split('\n').find((one) => one.startsWith(`${name}{queue="suite"} `));
    assert.ok(line, name);
    return Number(line.split(' ')[1]);
  });
  return counts.reduce((sum, count) => sum + count, 0);
}

describe('start', () => {
  it('prints a banner with the address, a demo key and a curl line that works', async () => {
    const server = await Server.start(freshFolder());
    const { log } = server;
    assert.ok(log.includes(server.address));
    const line = /curl -s (\S+) \\\n\s+-H '([^']+)' \\\n\s+-H '([^']+)' \\\n\s+-d '([^']+)'/.exec(
      log,
    );
    assert.ok(line, log);
    const [, url = '', keyHeader = '', typeHeader = '', body = ''] = line;
    const headers = [keyHeader, typeHeader].map((header) => header.split(': ') as [string, string]);
    const answer = await fetch(url, { method: 'POST', headers, body });
    assert.equal(answer.status, 200);
    const made = (await answer.json()) as { key: string; nist_validation: object };
    assert.equal(made.key.length, 64);
    assert.ok(made.nist_validation);
    await server.stop();
  });

  it('prints the commands that make an account and a key when there are no demo keys', async () => {
    const server = await Server.start(freshFolder(), { PHM_DEMO_KEYS: 'off' });
    assert.match(server.log, /account create --name .* --plan research\n.*key issue --account/);
    assert.ok(!server.log.includes('phmsk_demo'));
    assert.equal((await server.metrics('', DEMO_KEY)).status, 401);
    await server.stop();
  });

  it('refuses demo keys beyond loopback unless told otherwise', async () => {
    const open = { PHM_HOST: '0.0.0.0', PHM_ALLOW_CLEARTEXT: 'on' };
    const server = await Server.start(freshFolder(), open);
    const local = server.address.replace('0.0.0.0', '127.0.0.1');
    const ask = (address: string) =>
      fetch(`${address}/api/v2/metrics`, { headers: { 'X-API-Key': DEMO_KEY } });
    assert.equal((await ask(local)).status, 401);
    await server.stop();
    const told = await Server.start(freshFolder(), { ...open, PHM_DEMO_KEYS: 'on' });
    assert.equal((await ask(told.address.replace('0.0.0.0', '127.0.0.1'))).status, 200);
    await told.stop();
  });

  it('ends with a message that names the fix when the port is taken', async () => {
    const server = await Server.start(freshFolder());
    const { port } = new URL(server.address);
    const second = await runPhm(['serve'], freshFolder(), { PHM_PORT: port });
    assert.equal(second.code, 1);
    assert.match(second.stderr, /choose another PHM_PORT/);
    await server.stop();
  });

  it('ends when a credential cannot be read, though another source has begun', async () => {
    const dataDir = freshFolder();
    const { code, stderr } = await runPhm(['serve'], dataDir, {
      PHM_PORT: '0',
      PHM_ENTROPY_SOURCES: 'os,jitter,qrng',
      PHM_QRNG_PROFILE: 'anu',
      PHM_QRNG_API_KEY_FILE: join(dataDir, 'missing'),
    });
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^phm: the credential of PHM_QRNG_API_KEY_FILE, .+missing, cannot be read: ENOENT/m,
    );
  });

  it('creates the master secret readable by its owner alone, and refuses another one', async () => {
    const dataDir = freshFolder();
    const server = await Server.start(dataDir);
    const { body } = await server.generate({ security_level: 128 });
    await server.stop();
    const path = join(dataDir, 'master.key');
    assert.equal(statSync(path).mode & 0o777, 0o600);
    const secret = readFileSync(path, 'utf8');
    writeFileSync(path, `1:${'5a'.repeat(32)}\n`);
    const refused = await runPhm(['serve'], dataDir);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /version 1 of the master secret is not the one/);
    assert.ok(!refused.stderr.includes('5a5a'));
    writeFileSync(path, secret);
    const again = await Server.start(dataDir);
    assert.equal((await again.validate({ key: body.key })).body.valid, true);
    await again.stop();
  });

  it('makes no new secret in the place of one that is missing', async () => {
    const dataDir = freshFolder();
    await (await Server.start(dataDir)).stop();
    const path = join(dataDir, 'master.key');
    rmSync(path);
    const { code, stderr } = await runPhm(['serve'], dataDir);
    assert.equal(code, 1);
    assert.match(stderr, /cannot use the master secret in .*master\.key: .*restore/);
    assert.ok(!existsSync(path));
  });

  it('does not run without the secret its database belongs to', async () => {
    const dataDir = freshFolder();
    const server = await Server.start(dataDir, { PHM_MASTER_KEY: 'ab'.repeat(32) });
    await server.stop();
    assert.ok(!existsSync(join(dataDir, 'master.key')));
    const { code, stderr } = await runPhm(['serve'], dataDir, { PHM_MASTER_KEY: 'cd'.repeat(32) });
    assert.equal(code, 1);
    assert.match(stderr, /master secret/);
  });
});

describe('a data directory that disappears', () => {
  it('ends in 503 and no key, and is served again when it is back', async () => {
    const dataDir = freshFolder();
    const server = await Server.start(dataDir);
    assert.equal((await server.generate({ security_level: 128 })).status, 200);
    renameSync(join(dataDir, 'phm.db'), join(dataDir, 'away.db'));
    const { status, body, headers } = await server.generate({ security_level: 128 });
    assert.equal(status, 503);
    assert.equal(body.code, 'ledger_unavailable');
    assert.equal(headers.get('retry-after'), '5');
    assert.equal(body.key, undefined);
    const validated = await server.validate({ key: 'ab'.repeat(32) });
    assert.deepEqual([validated.status, validated.body.code], [503, 'ledger_unavailable']);
    await untilLogged(
      server,
      /was moved away or removed\. .*: PHM_DATA_DIR=\S+ \S+.* ledger restore FILE"/,
    );
    const ledger = async () => (await server.request('/readyz')).body.checks.ledger;
    await until('the server is not ready', 30_000, async () => (await ledger()) === 'unavailable');
    assert.equal((await server.request('/readyz')).status, 503);
    assert.equal((await server.request('/livez')).status, 200);
    renameSync(join(dataDir, 'away.db'), join(dataDir, 'phm.db'));
    assert.equal((await server.generate({ security_level: 128 })).status, 200);
    await until('the server is ready again', 30_000, async () => (await ledger()) === 'ok');
    assert.equal((await server.request('/readyz')).status, 200);
    await server.stop();
  });
});

describe('a worker that dies', () => {
  it('ends the process at once, so that it is started again', async (t) => {
    const dataDir = freshFolder();
    const file = join(dataDir, 'die');
    const hook = pathToFileURL(resolve(import.meta.dirname, '../support/dying-worker.ts'));
    hook.searchParams.set('when', file);
    const server = await Server.start(dataDir, { NODE_OPTIONS: `--import=${hook.href}` });
    t.after(() => server.stop('SIGKILL'));
    writeFileSync(file, '');
    await untilLogged(server, /^phm: ended by an unexpected WorkerExit \(code 1\)$/m);
    assert.equal(await server.stop('SIGCONT'), 1);
  });
});

describe('a log that cannot be written', () => {
  it('costs its lines and nothing else', { skip: !existsSync('/dev/full') }, async () => {
    const dataDir = freshFolder();
    const full = openSync('/dev/full', 'w');
    const server = await Server.start(dataDir, {}, full);
    for (let i = 0; i < 50; i++) assert.equal((await server.request('/livez')).status, 200);
    assert.equal((await server.generate({ security_level: 128 })).status, 200);
    assert.equal(await server.stop('SIGINT'), 0);
    closeSync(full);
  });
});

describe('rotation of the master secret', () => {
  it('keeps old proofs and commitments good and makes new ones under the new version', async () => {
    const dataDir = freshFolder();
    const ask = { security_level: 256, include: ['hash_proof'] };
    const before = await Server.start(dataDir);
    const { body: old } = await before.generate(ask);
    await phmJson(['secret', 'rotate'], dataDir);
    // The running server goes on with what it has.
    assert.equal((await before.validate({ key: old.key })).body.valid, true);
    await before.stop();
    const after = await Server.start(dataDir);
    const { body: fresh } = await after.generate(ask);
    for (const { key, hash_proof } of [old, fresh]) {
      assert.equal((await after.validate({ key })).body.valid, true);
      assert.equal((await after.validate({ key, hash_proof })).body.valid, true);
    }
    const versionOf = (proof: string) => BigInt(proof.slice('proof_'.length)) >> 256n;
    assert.equal(versionOf(old.hash_proof), 1n);
    assert.equal(versionOf(fresh.hash_proof), 2n);
    await after.stop();
  });
});

describe('API keys in a running server', () => {
  it('are valid at once when issued, and soon refused and not offered when revoked', async () => {
    const dataDir = freshFolder();
    const server = await Server.start(dataDir, { PHM_DEMO_KEYS: 'on' });
    const offered = async () => (await server.request('/')).body.demo_api_key;
    assert.equal(await offered(), DEMO_KEY);
    const { api_key, api_key_id } = await makeApiKey(dataDir, 'professional');
    assert.equal((await server.generate({ security_level: 128 }, api_key)).status, 200);
    // PHM_DEMO_KEYS=on keeps them beside the operator's own.
    assert.equal(await offered(), DEMO_KEY);
    await phmJson(['key', 'revoke', api_key_id], dataDir);
    await phmJson(['key', 'revoke', 'key_demo_research'], dataDir);
    await until('the revoked key is refused', 30_000, async () => {
      const { status, body } = await server.metrics('', api_key);
      return status === 401 && body.code === 'invalid_api_key';
    });
    await until('the demo key is not offered', 30_000, async () => (await offered()) === null);
    await server.stop();
  });

  it('end the demo keys with the first one that is issued, on all servers, and for good', async () => {
    const dataDir = freshFolder();
    const servers = [await Server.start(dataDir), await Server.start(dataDir)];
    for (const server of servers) assert.equal((await server.metrics()).status, 200);
    await makeApiKey(dataDir, 'research');
    for (const server of servers) {
      await untilLogged(server, /"msg":"demo keys have ended: an API key was issued"/);
      const { status, body } = await server.metrics();
      assert.deepEqual([status, body.code], [401, 'invalid_api_key']);
      assert.match(body.detail, /Demo keys ended here when an operator issued/);
      assert.equal((await server.request('/')).body.demo_api_key, null);
      await server.stop();
    }
    const again = await Server.start(dataDir);
    assert.match(again.log, /Demo keys have ended/);
    assert.equal((await again.metrics()).status, 401);
    await again.stop();
  });

  it('follow a change of plan', async () => {
    const dataDir = freshFolder();
    const server = await Server.start(dataDir);
    const { api_key, accountId } = await makeApiKey(dataDir, 'research');
    const limit = async () => (await server.metrics('', api_key)).headers.get('x-ratelimit-limit');
    assert.equal(await limit(), '20');
    await phmJson(['account', 'set-plan', accountId, 'enterprise'], dataDir);
    await until('the new rate limit holds', 30_000, async () => (await limit()) === '2000');
    await server.stop();
  });

  it('are limited to their burst and told when to come back', async () => {
    const server = await Server.start(freshFolder());
    const { burst, ratePerSecond } = PLANS.research;
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
    await server.stop();
  });
});

/** Requests at once, many more than an account's half of a suite worker's queue. */
const CROWD = 800;
const HALF_OF_THE_QUEUE = 128;

describe('overload', () => {
  it('answers 503 beyond the suite queue while plain requests pass by', async () => {
    const server = await Server.start(freshFolder(), { PHM_RATE_LIMITS: 'off' });
    const validated = Array.from({ length: CROWD }, () =>
      server.generate({ security_level: 128, enable_nist_validation: true }),
    );
    let finished = 0;
    for (const one of validated) void one.then(() => finished++);
    const refused = await Promise.any(
      validated.map(async (one) => ((await one).status === 503 ? one : Promise.reject())),
    );
    assert.equal(refused.body.code, 'overloaded');
    assert.match(refused.headers.get('retry-after') ?? '', /^[1-9][0-9]*$/);
    // The suite is busy with what it took: a plain key does not wait for it.
    const plain = await server.generate({ security_level: 256 });
    assert.equal(plain.status, 200);
    assert.ok(finished < CROWD, 'the plain request was answered before the suite was done');
    const statuses = (await Promise.all(validated)).map(({ status }) => status);
    const taken = statuses.filter((status) => status === 200).length;
    assert.ok(taken > HALF_OF_THE_QUEUE, `${taken} were served`);
    assert.equal(taken + statuses.filter((status) => status === 503).length, CROWD);
    const { performance } = (await server.metrics()).body.metrics;
    const failures = CROWD - taken;
    assert.equal(performance.error_rate, failures / (taken + 1 + failures));
    await server.stop();
  });
});

describe('a busy account', () => {
  it('leaves room in the suite queue for another', async () => {
    const server = await Server.start(freshFolder(), { PHM_RATE_LIMITS: 'off' });
    const order = { security_level: 128, enable_nist_validation: true };
    const busy = Array.from({ length: CROWD }, () => server.generate(order, DEMO_KEY));
    await new Promise((resolve) => setTimeout(resolve, 100));
    const other = await Promise.all(
      Array.from({ length: 8 }, () => server.generate(order, DEMO_PROFESSIONAL_KEY)),
    );
    assert.deepEqual(new Set(other.map(({ status }) => status)), new Set([200]));
    const refused = (await Promise.all(busy)).filter(({ status }) => status === 503);
    assert.ok(refused.length > 0, `${refused.length} of the busy account's were refused`);
    await server.stop();
  });
});

describe('the end', () => {
  it('fails /readyz first on SIGTERM, answers what is under way, and exits 0', async () => {
    const server = await Server.start(freshFolder(), { PHM_DRAIN_SECONDS: '6' });
    assert.equal((await server.request('/readyz')).status, 200);
    const agent = new Agent({ keepAlive: true });
    assert.equal((await askBy(agent, server)).connection, 'keep-alive');
    const exit = server.stop('SIGTERM');
    await until(
      '/readyz fails',
      30_000,
      async () => (await server.request('/readyz')).status === 503,
    );
    const { body } = await server.request('/readyz');
    assert.equal(body.success, false);
    assert.equal(body.status, 'draining');
    // A connection that was idle is still good for one request, whose answer says that it was the last.
    const last = await askBy(agent, server);
    assert.deepEqual(last, { status: 200, connection: 'close', reused: true });
    agent.destroy();
    assert.equal((await server.request('/livez')).status, 200);
    const late = await server.generate({ security_level: 128, enable_nist_validation: true });
    assert.equal(late.status, 200);
    assert.equal(await exit, 0);
    await assert.rejects(server.request('/livez'));
  });

  it('answers what is under way when the listener closes', async () => {
    const server = await Server.start(freshFolder(), { PHM_METRICS_PORT: '0' });
    const underWay = [1, 2, 3].map(() =>
      server.generate({ security_level: 256, enable_nist_validation: true }),
    );
    while ((await suiteJobs(server)) < underWay.length) await delay(5);
    const exit = server.stop('SIGINT');
    for (const one of underWay) assert.equal((await one).status, 200);
    assert.equal(await exit, 0);
  });

  it('exits 0 on SIGINT without the notice', async () => {
    const server = await Server.start(freshFolder());
    assert.equal(await server.stop('SIGINT'), 0);
  });
});
