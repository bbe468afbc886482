/** Two sites, paris and lyon, that rotate a key by `phm-agent psk` as processes, with a clock that a test moves. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { makeDataDir } from '../run/data-dirs.ts';
import { HeldClock } from '../run/held-clock.ts';
import { until } from '../run/until.ts';
import { commandJson } from '../servers/run-command.ts';
import { removeDataDir, Server } from '../servers/server.ts';
import { registerSite } from './register-site.ts';

const SOURCE = new URL('../../../packages/agent/src/bin.ts', import.meta.url).pathname;

export const INTERVAL_MS = 300_000;

/** A line of an agent's log. */
interface Line {
  readonly message: string;
  readonly epoch?: number;
  readonly id?: string;
}

export class PskSites {
  readonly dataDir: string = makeDataDir();
  readonly folder: string = mkdtempSync(join(tmpdir(), 'psk-sites-'));
  readonly paris: PskSite;
  readonly lyon: PskSite;
  /** Of both sites. */
  readonly clock: HeldClock = new HeldClock(join(this.folder, 'clock'), INTERVAL_MS);
  #server: Server | undefined;

  constructor() {
    this.paris = new PskSite('paris', this.folder, this.clock);
    this.lyon = new PskSite('lyon', this.folder, this.clock);
  }

  get both(): readonly [PskSite, PskSite] {
    return [this.paris, this.lyon];
  }

  get server(): Server {
    if (this.#server === undefined) throw new Error('the service does not run');
    return this.#server;
  }

  /** Starts the service, and writes what the agents need. */
  async start(): Promise<void> {
    const operator = { PHM_DATA_DIR: this.dataDir, PHM_PORT: '0' };
    const create = ['account', 'create', '--init', '--name', 'Ada', '--plan', 'professional'];
    const made = await commandJson<Record<string, string>>(create, operator);
    for (const site of this.both) await site.register(made.account_id ?? '', operator);
    await this.startServer();
    const policy = await (await fetch(`${this.server.address}/log/policy`)).text();
    this.paris.configure(this.lyon, this.server.address, policy);
    this.lyon.configure(this.paris, this.server.address, policy);
  }

  /** Starts the service, after a stop under its former address. */
  async startServer(port = '0'): Promise<void> {
    this.#server = await Server.start(this.dataDir, { PHM_RATE_LIMITS: 'off', PHM_PORT: port });
  }

  /** Resolves once both have agreed on keys for the next three epochs. */
  async ahead(): Promise<void> {
    await until('keys are there for three epochs', async () => {
      const ahead = await Promise.all(this.both.map((site) => site.figure('psk_keys_ahead')));
      return ahead.every((count) => count === 3);
    });
  }

  /** Resolves once both use the key of the present epoch. */
  async inUse(): Promise<void> {
    const { epoch } = this.clock;
    await until(`the key of epoch ${epoch} is in use at both ends`, async () => {
      const epochs = await Promise.all(this.both.map((one) => one.figure('psk_confirmed_epoch')));
      return epochs.every((one) => one === epoch);
    });
  }

  async stop(): Promise<void> {
    await Promise.all(this.both.map((site) => site.end('SIGTERM')));
    await this.#server?.stop();
    removeDataDir(this.dataDir);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export class PskSite {
  readonly name: string;
  readonly folder: string;
  /** What the agent has written, over all its lives. */
  readonly lines: Line[] = [];
  readonly #clock: HeldClock;
  #thumbprint = '';
  #stateAddress = '';
  #peer = '';
  #process: ChildProcess | undefined;

  constructor(name: string, parent: string, clock: HeldClock) {
    this.name = name;
    this.folder = join(parent, name);
    this.#clock = clock;
    mkdirSync(join(this.folder, 'state'), { recursive: true, mode: 0o700 });
  }

  async register(account: string, operator: Readonly<Record<string, string>>): Promise<void> {
    this.#thumbprint = await registerSite(this.name, this.folder, account, operator);
  }

  configure(peer: PskSite, url: string, policy: string): void {
    const place = (name: string): string => join(this.folder, name);
    writeFileSync(place('log.policy'), policy);
    this.#peer = `agent of ${peer.name}`;
    const config = {
      name: `agent of ${this.name}`,
      recipient: this.name,
      private_key_file: place('own.recipient-key'),
      state_dir: place('state'),
      services: [{ url, api_key_file: place('api-key'), policy_file: place('log.policy') }],
      peers: [{ name: this.#peer, recipient: peer.name, thumbprint: peer.#thumbprint }],
      metrics: { host: '127.0.0.1', port: 0 },
    };
    writeFileSync(place('agent.json'), JSON.stringify(config));
  }

  /** Starts the agent. `args` are the format and where keys go. */
  async start(...args: string[]): Promise<void> {
    const command = ['psk', join(this.folder, 'agent.json'), '--peer', this.#peer];
    const node = ['--disable-sigusr1', '--import', this.#clock.url, SOURCE];
    const child = spawn(process.execPath, [...node, ...command, '--every', '300s', ...args], {
      stdio: ['ignore', 'inherit', 'pipe'],
    });
    this.#process = child;
    let written = '';
    let isListening = false;
    createInterface({ input: child.stderr as NodeJS.ReadableStream }).on('line', (line) => {
      written += `${line}\n`;
      if (!line.startsWith('{')) return;
      const one = JSON.parse(line);
      this.lines.push(one);
      if (one.addresses === undefined) return;
      this.#stateAddress = one.addresses;
      isListening = true;
    });
    await until(`${this.name} listens`, () => {
      assert.equal(child.exitCode, null, written);
      return isListening;
    });
  }

  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const child = this.#process;
    if (child === undefined) return;
    this.#process = undefined;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }

  /** Returns a figure of the agent's metrics that has no labels. */
  async figure(name: string): Promise<number> {
    const page = await (await fetch(`http://${this.#stateAddress}/metrics`)).text();
    return Number(new RegExp(`^phm_agent_${name} (\\d+)$`, 'm').exec(page)?.[1]);
  }
}
