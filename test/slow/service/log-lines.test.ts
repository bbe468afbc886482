/** Every line of a server with a JSON log is JSON, from its start to its end, and no line holds an API key. 10 s. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { after, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { attributesOf, Collector } from '../../support/servers/collector.ts';
import {
  DEMO_KEY,
  lastReason,
  logLines,
  MAIN,
  makeDataDir,
  phmJson,
  removeDataDir,
  runPhm,
  Server,
} from '../../support/servers/server.ts';

const dataDir = makeDataDir();
after(() => removeDataDir(dataDir));

const WRONG = 'phmsk_live_WrongKeyThatNobodyIssuedAtAll000001_2YdSrF';

describe('the log of a server', () => {
  it('is JSON throughout, and names accounts and API keys by ID only', async (t) => {
    const collector = await Collector.start();
    t.after(() => collector.close());
    const create = ['account', 'create', '--init', '--name', 'team', '--plan', 'enterprise'];
    const { account_id: account } = await phmJson<{ account_id: string }>(create, dataDir);
    const issue = ['api-key', 'issue', '--account', account];
    const issued = await phmJson<{ api_key: string; api_key_id: string }>(issue, dataDir);
    const { api_key: secret, api_key_id: apiKey } = issued;
    const server = await Server.start(dataDir, {
      PHM_DEMO_KEYS: 'on',
      PHM_METRICS_PORT: '0',
      PHM_MISSPELT: '1',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.address,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent("process.emitWarning('staged')")}`,
    });
    t.after(() => server.stop('SIGKILL'));
    const order = { security_level: 256 };
    await server.generate(order, secret);
    await server.generate({ ...order, enable_nist_validation: true }, secret);
    await server.generate({ security_level: 1 }, secret);
    await server.generate(order, DEMO_KEY);
    await server.generate(order, WRONG);
    await server.request('/nowhere', { headers: { 'X-API-Key': secret } });
    await server.request('/readyz');
    await server.scrape();
    const socket = connect(Number(new URL(server.address).port), '127.0.0.1').resume();
    socket.end(`GET / HTTP/9.9\r\nX-API-Key: ${secret}\r\n\r\n`);
    await once(socket, 'close');
    const address = server.address;
    assert.equal(await server.stop('SIGTERM'), 0);
    const lines = logLines(server.log);
    for (const { level, time, msg } of lines) {
      assert.ok(Number.isInteger(level) && Number.isInteger(time) && typeof msg === 'string');
    }
    assert.ok(lines.some(({ msg, reason }) => msg === 'Node warns' && reason === 'staged'));
    assert.match(
      lines.find(({ msg }) => msg === 'a variable has no effect')?.reason,
      /^PHM_MISSPELT/,
    );
    const start = lines.find(({ msg }) => msg === 'listening');
    assert.deepEqual(
      [start.address, start.docs, start.data, start.metrics, start.demoKeys],
      [address, `${address}/docs`, dataDir, server.metricsAddress, true],
    );
    assert.equal(lines.at(-1).msg, 'the server has shut down');
    const requests = lines.filter(({ msg }) => msg === 'request');
    const own = { account, api_key: apiKey };
    const demo = { account: 'acct_demo_research', api_key: requests[3].api_key };
    const noAccount = { account: undefined, api_key: undefined };
    assert.deepEqual(
      requests.map(({ status, code, account, api_key }) => ({ status, code, account, api_key })),
      [
        { status: 200, code: undefined, ...own },
        { status: 200, code: undefined, ...own },
        { status: 400, code: 'invalid_request', ...own },
        { status: 200, code: undefined, ...demo },
        { status: 401, code: 'invalid_api_key', ...noAccount },
        { status: 404, code: 'not_found', ...noAccount },
        { status: 505, code: 'http_version_not_supported', ...noAccount },
      ],
    );
    const spans = collector.spans().map(attributesOf);
    const traced = spans.filter((one) => one['phm.account_id'] === account);
    assert.equal(traced.length, 3);
    assert.ok(traced.every((one) => one['phm.api_key_id'] === apiKey));
    for (const text of [server.log, ...collector.bodies]) {
      for (const key of [secret, DEMO_KEY, WRONG]) {
        // Neither the whole API key nor its random part.
        assert.ok(!text.includes(key) && !text.includes(key.split('_').slice(2).join('_')));
      }
    }
  });

  it('says once that a ledger is new, and where', async (t) => {
    const newDir = makeDataDir();
    t.after(() => removeDataDir(newDir));
    const created = async () => {
      const server = await Server.start(newDir);
      assert.equal(await server.stop('SIGTERM'), 0);
      return logLines(server.log).filter(({ msg }) => msg === 'a new ledger was created');
    };
    assert.deepEqual(
      (await created()).map(({ level, data }) => [level, data]),
      [[30, newDir]],
    );
    assert.deepEqual(await created(), []);
  });

  it('is JSON if the server ends by an unexpected error', async (t) => {
    const die = join(dataDir, 'die');
    const hook = pathToFileURL(
      resolve(import.meta.dirname, '../../support/faults/dying-worker.ts'),
    );
    hook.searchParams.set('when', die);
    const server = await Server.start(dataDir, { NODE_OPTIONS: `--import=${hook.href}` });
    t.after(() => server.stop('SIGKILL'));
    writeFileSync(die, '');
    await server.logged('ended by an unexpected error');
    assert.equal(await server.stop('SIGCONT'), 1);
    const last = logLines(server.log).at(-1);
    assert.deepEqual([last.level, last.error], [60, 'WorkerExit (code 1)']);
  });

  it('is JSON where its threads warn, and says why a shutdown was cut short', async (t) => {
    const hook = resolve(import.meta.dirname, '../../support/faults/warning-threads.ts');
    const server = await Server.start(dataDir, {
      NODE_OPTIONS: `--import=${pathToFileURL(hook).href}`,
      PHM_DEMO_KEYS: 'on',
      PHM_DRAIN_SECONDS: '60',
    });
    t.after(() => server.stop('SIGKILL'));
    assert.equal((await server.metrics()).status, 200);
    const threads = ['phm-keys', 'phm-suite', 'phm-log', 'phm-stats'];
    await server.logged(...threads.map((name) => `"thread":"${name}"`));
    process.kill(server.pid, 'SIGTERM');
    await server.logged('draining');
    assert.equal(await server.stop('SIGINT'), 1);
    const last = logLines(server.log).at(-1);
    assert.deepEqual(
      [last.level, last.reason, last.msg],
      [50, 'a second signal, SIGINT', 'the shutdown was cut short'],
    );
  });

  it('is JSON if the server cannot run', async () => {
    const { code, stderr } = await runPhm(['serve'], dataDir, { PHM_MASTER_KEY: 'cd'.repeat(32) });
    assert.equal(code, 1);
    assert.match(lastReason(stderr), /master secret/);
    assert.ok(!stderr.includes('cd'.repeat(8)));
  });
});

const hasPython = spawnSync('python3', ['--version']).status === 0;

describe('a server on a terminal', { skip: !hasPython && 'there is no python3' }, () => {
  /** Runs a server in a terminal until it says `until`, and returns what the terminal showed. */
  function show(until: string, format: string): string {
    const program = `
import os, pty, signal, sys
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:4])
seen = b''
while sys.argv[4].encode() not in seen:
    seen += os.read(fd, 4096)
os.kill(pid, signal.SIGKILL)
os.waitpid(pid, 0)
sys.stdout.buffer.write(seen)
`;
    const args = ['-c', program, process.execPath, MAIN, 'serve', until];
    const env = {
      PATH: process.env.PATH,
      PHM_DATA_DIR: dataDir,
      PHM_PORT: '0',
      PHM_WORKERS: '1',
      PHM_LOG_FORMAT: format,
    };
    return spawnSync('python3', args, { env, encoding: 'utf8', timeout: 60_000 }).stdout;
  }

  it('shows the banner, unless its log is JSON', () => {
    assert.match(show('Stop: Ctrl-C', 'auto'), /curl -s http[\s\S]*Stop: Ctrl-C/);
    const json = show('"msg":"listening"', 'json');
    assert.doesNotMatch(json, /curl/);
    for (const line of json.trim().split(/\r?\n/)) assert.ok(line.startsWith('{'), line);
  });
});
