/**
 * The guide to WireGuard, followed at two gateways: a tunnel between two network namespaces gets a new key in each epoch, by
 * a clock that the test moves on, and loses no packet. Each key is used in a handshake. 1 min.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { wordsOf } from '../../packages/agent/src/psk/command.ts';
import { INTERVAL_MS } from '../support/agents/psk-sites.ts';
import { type Gateway, noWireguard, WireguardPair } from '../support/agents/wireguard-pair.ts';
import { freePort } from '../support/run/free-port.ts';
import { HeldClock } from '../support/run/held-clock.ts';
import { until } from '../support/run/until.ts';
import { makeDataDir, removeDataDir, Server } from '../support/servers/server.ts';
import { Reader, readGuide, section } from '../support/texts/guides.ts';
import { ROOT } from '../support/texts/imports.ts';

const skip = noWireguard();
const guide = readGuide('wireguard');
const AGENT = join(ROOT, 'packages/agent/src/bin.ts');

/** A gateway with its reader of the guide, who has a shell of its own. */
class Site {
  readonly name: string;
  readonly gateway: Gateway;
  readonly peer: Gateway;
  readonly folder: string;
  readonly reader: Reader;
  command: readonly string[] = [];
  log = '';
  #process: ChildProcess | undefined;

  constructor(name: 'site-a' | 'site-b', { a, b }: WireguardPair, parent: string) {
    this.name = name;
    [this.gateway, this.peer] = name === 'site-a' ? [a, b] : [b, a];
    this.folder = join(parent, name);
    mkdirSync(this.folder);
    const path = `${join(parent, 'programs')}:${process.env.PATH}`;
    this.reader = new Reader(this.folder, { env: { PATH: path, PHM_DATA_DIR: '/nowhere' } });
    const swapped =
      name === 'site-a'
        ? []
        : ([
            ['site-a', 'SITE-A'],
            ['site-b', 'site-a'],
            ['SITE-A', 'site-b'],
          ] as const);
    this.reader.learn(
      ...swapped,
      ['/etc/phm-psk', this.reader.folder],
      ['/var/lib/phm-psk', join(this.folder, 'state')],
      ['wg0', this.gateway.interface],
      ['<public key of site-a>', this.peer.publicKey],
      ['<public key of site-b>', this.peer.publicKey],
    );
  }

  /** A file of the guide. */
  file(name: string): string {
    return join(this.reader.folder, name);
  }

  /** Starts what the unit for systemd starts. */
  start(): void {
    const [program = '', ...args] = this.command;
    const path = `${join(this.folder, '../programs')}:${process.env.PATH}`;
    const child = spawn(program, args, {
      stdio: ['ignore', 'inherit', 'pipe'],
      env: { ...process.env, PATH: path },
    });
    child.stderr?.on('data', (chunk) => {
      this.log += chunk;
    });
    this.#process = child;
  }

  /** Fails if the agent has ended. */
  check(): void {
    assert.equal(this.#process?.exitCode, null, this.log);
  }

  /** Number of keys that came into use. */
  get inUse(): number {
    return this.log.split('"the key is in use"').length - 1;
  }

  /** Epochs whose keys both ends have. */
  get agreed(): number[] {
    const lines = this.log.split('\n').filter((line) => line.includes('"both ends have the key"'));
    return lines.map((line) => JSON.parse(line).epoch);
  }

  async stop(): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }
}

describe('a WireGuard tunnel with keys that rotate', { skip }, () => {
  const folder = makeDataDir();
  const clock = new HeldClock(join(folder, 'clock'), INTERVAL_MS);
  let pair: WireguardPair;
  let server: Server;
  let sites: readonly [Site, Site];

  before(async () => {
    pair = new WireguardPair();
    await pair.start();
    server = await Server.start(join(folder, 'data'), { PHM_RATE_LIMITS: 'off' });
    const programs = join(folder, 'programs');
    mkdirSync(programs);
    writeProgram(join(programs, 'phm'), `exec '${join(ROOT, 'bin/phm')}' "$@"`);
    const node = `'${process.execPath}' --disable-sigusr1 --import '${clock.url}'`;
    writeProgram(join(programs, 'phm-agent'), `exec ${node} '${AGENT}' "$@"`);
    sites = [new Site('site-a', pair, folder), new Site('site-b', pair, folder)];
  });
  after(async () => {
    if (skip) return;
    for (const site of sites ?? []) await site.stop();
    await pair?.stop();
    await server?.stop();
    removeDataDir(folder);
  });

  it('is set up by the guide', async () => {
    const thumbprints: string[] = [];
    for (const { reader } of sites) {
      await reader.follow(section(guide, 'A key pair at each gateway'), {
        done: async (_, output) =>
          void thumbprints.push(/[A-Za-z0-9+/]{43}=/.exec(output)?.[0] ?? ''),
      });
    }
    const apiKeys = await setUpService();
    for (const [i, site] of sites.entries()) {
      const [other] = thumbprints.filter((one) => one !== thumbprints[i]);
      site.reader.learn(
        ['<api_key>', apiKeys[i] ?? ''],
        ['<thumbprint of site-a>', other ?? ''],
        ['<thumbprint of site-b>', other ?? ''],
        ['https://keys.example', server.address],
        ['9115', `${await freePort()}`],
      );
      for (const heading of ['The agent at each gateway', 'How WireGuard gets the key']) {
        await site.reader.follow(section(guide, heading));
      }
    }
  });

  /** Follows the operator's part in a folder that has both public keys. Returns the API keys. */
  async function setUpService(): Promise<string[]> {
    const parent = join(folder, 'operator');
    mkdirSync(parent);
    const reader = new Reader(parent, {
      env: {
        PATH: `${join(folder, 'programs')}:${process.env.PATH}`,
        PHM_DATA_DIR: server.dataDir,
      },
    });
    for (const site of sites) {
      const name = `${site.name}.recipient`;
      cpSync(site.file(name), join(reader.folder, name));
    }
    const [code = ''] = /(?<=```sh\n)[^`]*/.exec(section(guide, 'At the service').text) ?? [];
    const [create = '', ...rest] = code.trim().split('\n');
    const [account = ''] = /acct_\w+/.exec(await reader.run(create)) ?? [];
    reader.learn(['<account_id>', account]);
    const issued = (await reader.run(rest.join('\n'))).match(/phmsk_live_\w+/g);
    return [...new Set(issued)];
  }

  it('gets a new key in each epoch, loses no packet, and uses each key', async () => {
    for (const site of sites) {
      const unit = readFileSync(site.file('phm-psk.service'), 'utf8');
      const line = /^ExecStart=\/usr\/bin\/env (.*)$/m.exec(unit)?.[1] ?? '';
      site.command = wordsOf(line) ?? [];
      site.start();
    }
    const keys = new Set<string>();
    const ends = [pair.a, pair.b];
    for (let rotation = 0; rotation < 3; rotation += 1) {
      const { epoch } = clock;
      await until('the next key is there', () => {
        for (const site of sites) site.check();
        return sites.every(({ agreed }) => agreed.includes(epoch + 1));
      });
      const counts = sites.map(({ inUse }) => inUse);
      const old = ends.map((one) => one.presharedKey);
      clock.nextEpoch();
      const pinging = pair.a.ping(pair.b, 100);
      await until('both ends have the new key', () =>
        ends.every((one, i) => one.presharedKey !== old[i]),
      );
      assert.equal(await pinging, 100);
      const [key = '', other] = ends.map((one) => one.presharedKey);
      assert.equal(key, other);
      assert.match(key, /^[A-Za-z0-9+/]{43}=$/);
      keys.add(key);
      // Within two minutes, there is a new handshake. Here at once, but in another second: its time has whole ones.
      const changed = sites.map((site) => statSync(site.file('changed')).mtimeMs);
      await until('a second is over', () => Date.now() > Math.max(...changed) + 1_000);
      for (const one of ends) one.forgetSession();
      assert.ok((await pair.a.ping(pair.b, 20)) > 0);
      await until('both ends have confirmed it', () =>
        sites.every(({ inUse }, i) => inUse > (counts[i] ?? 0)),
      );
    }
    assert.equal(keys.size, 3);
    for (const { log } of sites) {
      for (const key of keys) assert.ok(!log.includes(key));
      assert.ok(!log.includes('comes back'), log);
    }
  });
});

function writeProgram(file: string, text: string): void {
  writeFileSync(file, `#!/bin/sh\n${text}\n`);
  chmodSync(file, 0o755);
}
