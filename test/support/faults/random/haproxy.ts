/** A real HAProxy with the configuration of deploy/compose, in front of servers on this machine. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { connects, freePort } from '../../run/free-port.ts';
import { makeCertificate } from '../../servers/certificate.ts';
import { atExit } from './at-exit.ts';
import type { Target } from './clients.ts';

const HAPROXY = ['haproxy', '/usr/sbin/haproxy'].find(
  (path) => spawnSync(path, ['-v']).status === 0,
);

/** The reason why this machine has no proxy, or false. */
export const noProxy: string | false = HAPROXY ? false : 'HAProxy is not installed';

const SECOND_SERVER = /^ *server b .*$/m;

export class HaProxy {
  readonly target: Target;
  readonly #folder: string;
  readonly #env: Record<string, string>;
  #child: ChildProcess | null = null;

  private constructor(target: Target, folder: string, env: Record<string, string>) {
    this.target = target;
    this.#folder = folder;
    this.#env = env;
  }

  /** Starts a proxy with the configuration of a checkout, for two or three servers. */
  static async start(checkout: string, folder: string, ports: readonly number[]): Promise<HaProxy> {
    const source = join(checkout, 'deploy/compose');
    const text = readFileSync(join(source, 'haproxy.cfg'), 'utf8');
    // The proxy's own error answers. Older copies of the project have none.
    const errors = join(source, 'errors');
    if (existsSync(errors)) cpSync(errors, join(folder, 'errors'), { recursive: true });
    const thirdServer = (second: string) =>
      second.replace('server b', 'server c').replace('REPLICA_B', 'REPLICA_C');
    const whole = text.replace(SECOND_SERVER, (line) =>
      ports.length > 2 ? `${line}\n${thirdServer(line)}` : line,
    );
    writeFileSync(join(folder, 'haproxy.cfg'), whole);
    const certificate = join(folder, 'tls.crt');
    makeCertificate(certificate, `${certificate}.key`);
    const port = await freePort();
    const names = ['REPLICA_A', 'REPLICA_B', 'REPLICA_C'];
    const proxy = new HaProxy(
      { url: `https://127.0.0.1:${port}`, ca: readFileSync(certificate, 'utf8') },
      folder,
      {
        PATH: process.env.PATH ?? '',
        BIND: `127.0.0.1:${port}`,
        CERTIFICATE: certificate,
        ...Object.fromEntries(ports.map((one, i) => [names[i], `127.0.0.1:${one}`])),
      },
    );
    await proxy.launch();
    return proxy;
  }

  /** Starts or restarts the proxy and waits until it accepts connections. */
  async launch(): Promise<void> {
    const log = openSync(join(this.#folder, 'haproxy.log'), 'a');
    const child = spawn(HAPROXY ?? '', ['-db', '-f', join(this.#folder, 'haproxy.cfg')], {
      env: this.#env,
      stdio: ['ignore', log, log],
    });
    this.#child = child;
    child.on(
      'exit',
      atExit(() => child.kill('SIGKILL')),
    );
    while (!(await connects(Number(new URL(this.target.url).port)))) {
      if (child.exitCode !== null) throw new Error('HAProxy has exited: see haproxy.log');
      await delay(50);
    }
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
}
