/** Runs the proxy examples of deploy/ with the real programs in front of test servers. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connects } from '../run/free-port.ts';

const DEPLOY = resolve(import.meta.dirname, '../../../deploy');

interface Setting {
  /** Folder for the files of this proxy alone. */
  readonly folder: string;
  readonly port: number;
  /** Host and port of the server. */
  readonly server: string;
  /** Path of the certificate; its key has the same name with `.key` appended. */
  readonly certificate: string;
}

interface ProxyProgram {
  readonly name: string;
  /** Path of the program; undefined if it is not installed. */
  readonly program: string | undefined;
  readonly start: (program: string, setting: Setting) => ChildProcess;
}

export const PROXIES: readonly ProxyProgram[] = [
  { name: 'haproxy', program: find('haproxy'), start: startHaproxy },
  { name: 'nginx', program: find('nginx'), start: startNginx },
  { name: 'caddy', program: find('caddy'), start: startCaddy },
];

function find(name: string): string | undefined {
  const paths = [name, `/usr/sbin/${name}`, `/usr/bin/${name}`];
  return paths.find((path) => spawnSync(path, ['-v']).error === undefined);
}

/** A listening proxy. */
export class RunningProxy {
  readonly #child: ChildProcess;
  #log = '';

  private constructor(child: ChildProcess) {
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk) => {
        this.#log += chunk;
      });
    }
  }

  static async start({ program, start }: ProxyProgram, setting: Setting): Promise<RunningProxy> {
    mkdirSync(setting.folder, { recursive: true });
    const proxy = new RunningProxy(start(program ?? '', setting));
    while (!(await connects(setting.port))) {
      assert.equal(proxy.#child.exitCode, null, `the proxy has ended:\n${proxy.log}`);
      await sleep(20);
    }
    return proxy;
  }

  get log(): string {
    return this.#log;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.kill('SIGKILL')) {
      await once(this.#child, 'exit');
    }
  }
}

function startHaproxy(program: string, { port, server, certificate }: Setting): ChildProcess {
  const [BIND, CERTIFICATE] = [`127.0.0.1:${port}`, certificate];
  return spawn(program, ['-db', '-f', join(DEPLOY, 'compose/haproxy.cfg')], {
    env: { PATH: process.env.PATH, BIND, CERTIFICATE, REPLICA_A: server, REPLICA_B: server },
  });
}

/** The examples of nginx and Caddy name addresses and paths of a machine; only these are replaced. */
function example(path: string, replacements: readonly (readonly [string, string])[]): string {
  let text = readFileSync(join(DEPLOY, path), 'utf8');
  for (const [from, to] of replacements) {
    assert.ok(text.includes(from), `${path} has no ${from}`);
    text = text.replace(from, to);
  }
  return text;
}

function startNginx(program: string, { folder, port, server, certificate }: Setting): ChildProcess {
  const site = example('nginx/phm.conf', [
    ['server 127.0.0.1:8080 ', `server ${server} `],
    ['listen 443 ssl;', `listen 127.0.0.1:${port} ssl;`],
    ['/etc/phm/tls.crt', certificate],
    ['/etc/phm/tls.key', `${certificate}.key`],
  ]);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${name};`)
    .join('\n');
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; master_process off; pid pid; error_log stderr;\nevents {}\nhttp {\naccess_log off;\n${temporary}\n${site}}\n`,
  );
  return spawn(program, ['-p', folder, '-c', 'nginx.conf', '-e', 'stderr']);
}

function startCaddy(program: string, { folder, port, server, certificate }: Setting): ChildProcess {
  const site = example('caddy/Caddyfile', [
    [
      'keys.example.com {',
      `https://localhost:${port} {\n\tbind 127.0.0.1\n\ttls ${certificate} ${certificate}.key`,
    ],
    ['reverse_proxy 127.0.0.1:8080', `reverse_proxy ${server}`],
  ]);
  const file = join(folder, 'Caddyfile');
  writeFileSync(file, `{\n\tadmin off\n\tauto_https off\n\tdefault_sni localhost\n}\n${site}`);
  const env = { PATH: process.env.PATH, HOME: folder };
  return spawn(program, ['run', '--adapter', 'caddyfile', '--config', file], { env });
}
