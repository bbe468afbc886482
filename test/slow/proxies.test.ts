/** The examples of nginx and HAProxy themselves, in front of a server that admits demo keys in direct requests. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeCertificate } from '../support/certificate.ts';
import { freePort } from '../support/free-port.ts';
import { DEMO_KEY, Server } from '../support/server.ts';
import { makeAccount, sqliteIn } from '../support/unknown-keys.ts';

const DEPLOY = resolve(import.meta.dirname, '../../deploy');

/** The program, where it is installed. */
const find = (name: string) =>
  [name, `/usr/sbin/${name}`].find((path) => spawnSync(path, ['-v']).status === 0);

interface Setting {
  readonly folder: string;
  readonly port: number;
  /** Host and port of the server. */
  readonly server: string;
  readonly certificate: string;
}

function startHaproxy(program: string, { port, server, certificate }: Setting): ChildProcess {
  const [BIND, CERTIFICATE] = [`127.0.0.1:${port}`, certificate];
  return spawn(program, ['-db', '-f', join(DEPLOY, 'compose/haproxy.cfg')], {
    env: { PATH: process.env.PATH, BIND, CERTIFICATE, REPLICA_A: server, REPLICA_B: server },
  });
}

/** The example has addresses and paths of a machine: those alone are replaced. */
function startNginx(program: string, { folder, port, server, certificate }: Setting): ChildProcess {
  const example = readFileSync(join(DEPLOY, 'nginx/phm.conf'), 'utf8')
    .replace('server 127.0.0.1:8080;', `server ${server};`)
    .replace('listen 443 ssl;', `listen 127.0.0.1:${port} ssl;`)
    .replace('/etc/phm/tls.crt', certificate)
    .replace('/etc/phm/tls.key', `${certificate}.key`);
  const prefix = join(folder, 'nginx');
  mkdirSync(prefix);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${name};`)
    .join('\n');
  writeFileSync(
    join(prefix, 'nginx.conf'),
    `daemon off; master_process off; pid pid; error_log stderr;\nevents {}\nhttp {\naccess_log off;\n${temporary}\n${example}}\n`,
  );
  return spawn(program, ['-p', prefix, '-c', 'nginx.conf', '-e', 'stderr']);
}

for (const { name, start } of [
  { name: 'haproxy', start: startHaproxy },
  { name: 'nginx', start: startNginx },
]) {
  const program = find(name);
  describe(`the example of ${name}`, { skip: !program && `${name} is not installed here` }, () => {
    const folder = mkdtempSync(join(tmpdir(), 'proxy-'));
    const certificate = join(folder, 'tls.crt');
    let server: Server;
    let proxy: ChildProcess;
    let port: number;
    let proxyLog = '';

    /** A GET through the proxy, by a client that claims to be on the server's machine. */
    const ask = async (apiKey: string) => {
      const headers = {
        'X-API-Key': apiKey,
        Host: 'localhost',
        Forwarded: 'for=127.0.0.1',
        'X-Forwarded-For': '127.0.0.1, 192.0.2.66',
      };
      const path = '/api/v2/metrics';
      const ca = readFileSync(certificate);
      const sent = request({ host: '127.0.0.1', port, path, headers, ca, agent: false }).end();
      const [answer] = await once(sent, 'response');
      let text = '';
      for await (const chunk of answer) text += chunk;
      return { status: answer.statusCode, body: JSON.parse(text) };
    };

    before(async () => {
      makeCertificate(certificate, `${certificate}.key`);
      server = await Server.start(join(folder, 'data'), { PHM_TRUST_PROXY: 'loopback' });
      port = await freePort();
      const { host } = new URL(server.address);
      proxy = start(program ?? '', { folder, port, server: host, certificate });
      for (const stream of [proxy.stdout, proxy.stderr]) {
        stream?.on('data', (chunk) => {
          proxyLog += chunk;
        });
      }
      while (!(await ask('mistyped').catch(() => null))) {
        assert.equal(proxy.exitCode, null, `the proxy has ended:\n${proxyLog}`);
        await sleep(50);
      }
    });
    after(async () => {
      if (proxy?.exitCode === null && proxy.kill('SIGKILL')) await once(proxy, 'exit');
      await server?.stop('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    });

    it('does not open demo keys to its clients', async () => {
      assert.equal((await server.metrics('', DEMO_KEY)).status, 200);
      const { status, body } = await ask(DEMO_KEY);
      assert.deepEqual([status, body.code], [401, 'invalid_api_key']);
      assert.match(body.detail, /came through no proxy/);
    });

    it('passes on an API key, and the address of the client and not what the client wrote', async () => {
      assert.equal((await ask((await makeAccount(sqliteIn(server.dataDir))).seen)).status, 200);
      await server.stop();
      const lines = server.log.split('\n').filter((line) => line.includes('/api/v2/metrics'));
      for (const line of lines) assert.equal(JSON.parse(line).client, '127.0.0.1', line);
    });
  });
}
