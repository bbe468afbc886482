/**
 * A rolling restart behind the proxy of deploy/compose, as an operator does it: each replica in turn gets
 * SIGTERM and starts again while clients continue. The proxy is a real HAProxy with the shipped file.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Databases } from '../support/ledgers/databases.ts';
import { noPostgres } from '../support/ledgers/postgres.ts';
import { sharedPostgres } from '../support/ledgers/shared-postgres.ts';
import { connects, freePort } from '../support/run/free-port.ts';
import { makeCertificate } from '../support/servers/certificate.ts';
import { type Environment, phmJson, Server } from '../support/servers/server.ts';

const CONFIGURATION = resolve(import.meta.dirname, '../../deploy/compose/haproxy.cfg');
const HAPROXY = ['haproxy', '/usr/sbin/haproxy'].find(
  (path) => spawnSync(path, ['-v']).status === 0,
);
const CLIENTS = 8;
const ROUNDS = 3;

interface Outcome {
  readonly path: string;
  /** HTTP status, or the code of the error if there was no whole response. */
  readonly status: number | string;
}

describe('a rolling restart', {
  skip: (!HAPROXY && 'haproxy is not installed here') || noPostgres,
}, () => {
  const folder = mkdtempSync(join(tmpdir(), 'rolling-'));
  const servers = new Map<number, Server>();
  let postgres: Databases;
  let proxy: ChildProcess;
  let proxyLog = '';
  let proxyPort: number;
  let env: Environment;
  let apiKey: string;
  let ports: readonly number[];

  const startReplica = async (port: number) => {
    const extra = { ...env, PHM_PORT: String(port) };
    servers.set(port, await Server.start(join(folder, String(port)), extra));
  };

  before(async () => {
    postgres = await sharedPostgres();
    env = {
      PHM_DATABASE_URL: await postgres.createLedger('rolling'),
      PHM_MASTER_KEY: '5a'.repeat(32),
      PHM_MIGRATE: 'auto',
    };
    const create = ['account', 'create', '--name', 'load', '--plan', 'enterprise'];
    const { account_id } = await phmJson<{ account_id: string }>(create, folder, env);
    const issue = ['api-key', 'issue', '--account', account_id];
    apiKey = (await phmJson<{ api_key: string }>(issue, folder, env)).api_key;
    ports = [await freePort(), await freePort()];
    for (const port of ports) await startReplica(port);
    proxyPort = await freePort();
    const certificate = join(folder, 'tls.crt');
    makeCertificate(certificate, `${certificate}.key`);
    proxy = spawn(HAPROXY ?? '', ['-db', '-f', CONFIGURATION], {
      env: {
        PATH: process.env.PATH,
        BIND: `127.0.0.1:${proxyPort}`,
        CERTIFICATE: certificate,
        REPLICA_A: `127.0.0.1:${ports[0]}`,
        REPLICA_B: `127.0.0.1:${ports[1]}`,
      },
    });
    for (const stream of [proxy.stdout, proxy.stderr]) {
      stream?.on('data', (chunk) => {
        proxyLog += chunk;
      });
    }
    while (!(await connects(proxyPort))) {
      assert.equal(proxy.exitCode, null, `the proxy has ended:\n${proxyLog}`);
      await sleep(50);
    }
  });
  after(async () => {
    if (proxy?.exitCode === null && proxy.kill('SIGKILL')) await once(proxy, 'exit');
    await Promise.all([...servers.values()].map((server) => server.stop('SIGKILL')));
    await postgres?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Sends one POST through the proxy. */
  const post = (agent: Agent, path: string, body: unknown): Promise<Outcome> =>
    new Promise((done) => {
      const text = JSON.stringify(body);
      const headers = {
        'X-API-Key': apiKey,
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(text),
      };
      const options = { host: '127.0.0.1', port: proxyPort, path, method: 'POST', headers, agent };
      const sent = request(options, (answer) => {
        answer.resume();
        answer.on('error', (error: NodeJS.ErrnoException) =>
          done({ path, status: error.code ?? error.name }),
        );
        answer.on('end', () => done({ path, status: answer.statusCode ?? 0 }));
      });
      sent.on('error', (error: NodeJS.ErrnoException) =>
        done({ path, status: error.code ?? error.name }),
      );
      sent.end(text);
    });

  it('fails no request and duplicates no key', async () => {
    const ca = readFileSync(join(folder, 'tls.crt'));
    const agents: Agent[] = [];
    const outcomes: Outcome[] = [];
    let rolling = true;
    let rolled = 0;
    const count = (state: string) =>
      proxyLog.match(new RegExp(`^Server replicas/[ab] is ${state}`, 'gm'))?.length ?? 0;
    const client = async (number: number) => {
      // Half of the clients keep their connection; half open one for each request.
      const agent = new Agent({ keepAlive: number % 2 === 0, maxSockets: 1, ca });
      agents.push(agent);
      for (let i = number; rolling; i += 1) {
        const validated = { security_level: 256, enable_nist_validation: true };
        const kinds = [
          ['/api/v2/generate', { security_level: 256 }],
          ['/api/v2/generate', validated],
          ['/api/v2/validate', { key: 'ab'.repeat(32) }],
        ] as const;
        const [path, body] = kinds[i % kinds.length] ?? kinds[0];
        outcomes.push(await post(agent, path, body));
        await sleep(10);
      }
    };
    const clients = Array.from({ length: CLIENTS }, (_, number) => client(number));
    try {
      for (let round = 0; round < ROUNDS; round += 1) {
        for (const port of ports) {
          assert.equal(await servers.get(port)?.stop('SIGTERM'), 0);
          await startReplica(port);
          rolled += 1;
          while (count('UP') < rolled) await sleep(50);
        }
      }
    } finally {
      rolling = false;
      await Promise.all(clients);
      for (const agent of agents) agent.destroy();
    }
    const failed = outcomes.filter(({ status }) => status !== 200);
    assert.deepEqual(failed, [], `of ${outcomes.length} requests; the proxy:\n${proxyLog}`);
    const generated = outcomes.filter(({ path }) => path === '/api/v2/generate').length;
    const [ledger] = await postgres.query('rolling', 'SELECT count(*)::integer FROM ledger');
    assert.deepEqual(ledger, { count: generated });
    // Both replicas were taken out and came back; otherwise the test showed nothing.
    assert.ok(count('DOWN') >= rolled, `${count('DOWN')} of ${rolled}`);
    process.stdout.write(`# ${outcomes.length} requests, ${generated} keys, none failed\n`);
  });
});
