/**
 * A WireGuard tunnel between two network namespaces, by the userspace program wireguard-go. It needs root, /dev/net/tun and
 * Debian's packages wireguard-go, wireguard-tools, iproute2 and iputils-ping.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../run/until.ts';

const PROGRAMS = ['wireguard-go', 'wg', 'ip', 'ping'];

/** Returns why this machine cannot have such a tunnel; false if it can. */
export function noWireguard(): string | false {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'this needs root on Linux';
  for (const program of PROGRAMS) {
    if (spawnSync(program, ['--version']).error !== undefined)
      return `${program} is not installed here`;
  }
  if (!existsSync('/dev/net/tun')) return 'this machine has no /dev/net/tun';
  const name = `phm-${process.pid}-try`;
  const isMade = spawnSync('ip', ['netns', 'add', name]).status === 0;
  if (isMade) execFileSync('ip', ['netns', 'del', name]);
  return isMade ? false : 'this machine makes no network namespaces';
}

export class Gateway {
  /** Of the tunnel. Both sockets of wireguard-go are in one folder, so the names differ. */
  readonly interface: string;
  readonly namespace: string;
  readonly address: string;
  readonly publicAddress: string;
  readonly #privateKey: string;
  readonly publicKey: string;
  #process: ChildProcess | undefined;

  constructor(letter: 'a' | 'b') {
    const host = letter === 'a' ? 1 : 2;
    this.interface = `wg${process.pid}${letter}`;
    this.namespace = `phm-${process.pid}-${letter}`;
    this.address = `10.77.0.${host}`;
    this.publicAddress = `192.0.2.${host}`;
    this.#privateKey = wg(['genkey']);
    this.publicKey = wg(['pubkey'], this.#privateKey);
  }

  /** Starts WireGuard. The namespace is there, and has its outer address. */
  async start(peer: Gateway): Promise<void> {
    const inside = ['netns', 'exec', this.namespace];
    this.#process = spawn('ip', [...inside, 'wireguard-go', '-f', this.interface], {
      stdio: 'ignore',
    });
    await until(
      `${this.interface} is there`,
      () => spawnSync('wg', ['show', this.interface]).status === 0,
    );
    wgWith(this.#privateKey, (file) => [
      ...['set', this.interface, 'listen-port', '51820', 'private-key', file],
      ...['peer', peer.publicKey, 'endpoint', `${peer.publicAddress}:51820`],
      ...['allowed-ips', `${peer.address}/32`, 'persistent-keepalive', '25'],
    ]);
    this.ip('addr', 'add', `${this.address}/24`, 'dev', this.interface);
    this.ip('link', 'set', this.interface, 'up');
  }

  /** Runs a command of `ip` in the namespace. */
  ip(...args: string[]): void {
    execFileSync('ip', ['-n', this.namespace, ...args]);
  }

  /** The pre-shared key of the tunnel as `wg` has it, in base64; `(none)` without. */
  get presharedKey(): string {
    return wg(['show', this.interface, 'preshared-keys']).split('\t')[1] ?? '';
  }

  /** Ends the session, so that the next packet needs a handshake with the present keys. */
  forgetSession(): void {
    const settings = wg(['showconf', this.interface]);
    wgWith(settings, (file) => ['setconf', this.interface, file]);
  }

  /** Sends `count` packets through the tunnel, five a second. Resolves with the number of answers. */
  async ping(peer: Gateway, count: number): Promise<number> {
    const options = ['-n', '-c', `${count}`, '-i', '0.2', '-W', '5', peer.address];
    const child = spawn('ip', ['netns', 'exec', this.namespace, 'ping', ...options], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    await once(child, 'close');
    return Number(/ (\d+) received/.exec(output)?.[1]);
  }

  async stop(): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }
}

export class WireguardPair {
  readonly a: Gateway = new Gateway('a');
  readonly b: Gateway = new Gateway('b');

  async start(): Promise<void> {
    const [outerA, outerB] = [`v${process.pid}a`, `v${process.pid}b`];
    for (const { namespace } of this.#both) execFileSync('ip', ['netns', 'add', namespace]);
    const link = ['link', 'add', outerA, 'netns', this.a.namespace, 'type', 'veth'];
    execFileSync('ip', [...link, 'peer', 'name', outerB, 'netns', this.b.namespace]);
    for (const [gateway, outer] of [
      [this.a, outerA],
      [this.b, outerB],
    ] as const) {
      gateway.ip('addr', 'add', `${gateway.publicAddress}/24`, 'dev', outer);
      gateway.ip('link', 'set', outer, 'up');
    }
    await this.a.start(this.b);
    await this.b.start(this.a);
    assert.equal(await this.a.ping(this.b, 3), 3);
  }

  get #both(): readonly Gateway[] {
    return [this.a, this.b];
  }

  async stop(): Promise<void> {
    for (const gateway of this.#both) await gateway.stop();
    for (const { namespace } of this.#both) spawnSync('ip', ['netns', 'del', namespace]);
  }
}

function wg(args: readonly string[], input = ''): string {
  return execFileSync('wg', args, { input, encoding: 'utf8' }).trim();
}

/** Runs `wg` with the path of a file that holds a secret: it cannot open a socket, which is Node's standard input. */
function wgWith(secret: string, args: (file: string) => readonly string[]): void {
  const folder = mkdtempSync(join(tmpdir(), 'wg-'));
  const file = join(folder, 'secret');
  try {
    writeFileSync(file, secret, { mode: 0o600 });
    execFileSync('wg', args(file));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
