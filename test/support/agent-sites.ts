/** Two sites, paris and lyon, with an agent each as a process, on one key service: for tests that kill and start them. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { makeDataDir } from './data-dirs.ts';
import { commandJson, runCommand } from './run-command.ts';
import { removeDataDir, Server } from './server.ts';
import { until } from './until.ts';

const SOURCE = new URL('../../packages/agent/src/bin.ts', import.meta.url).pathname;

/** Clients of the service are not slowed down. */
const SETTINGS = { PHM_RATE_LIMITS: 'off' };

const systemOf = (site: string): string => `system of ${site}`;

/** A key as ETSI GS QKD 014 gives it. */
export interface Key {
  readonly key_ID: string;
  readonly key: string;
}

interface Answer {
  readonly status: number;
  readonly keys: readonly Key[];
  readonly json: Readonly<Record<string, unknown>>;
}

export class AgentSites {
  readonly dataDir: string = makeDataDir();
  readonly folder: string = mkdtempSync(join(tmpdir(), 'agent-sites-'));
  readonly paris: AgentSite;
  readonly lyon: AgentSite;
  #server: Server | undefined;

  constructor() {
    this.paris = new AgentSite('paris', this.folder);
    this.lyon = new AgentSite('lyon', this.folder);
  }

  get #both(): readonly AgentSite[] {
    return [this.paris, this.lyon];
  }

  get server(): Server {
    if (this.#server === undefined) throw new Error('the service does not run');
    return this.#server;
  }

  /** Starts the service and both agents. */
  async start(): Promise<void> {
    const operator = { PHM_DATA_DIR: this.dataDir, PHM_PORT: '0' };
    const create = ['account', 'create', '--init', '--name', 'Ada', '--plan', 'professional'];
    const made = await commandJson<Record<string, string>>(create, operator);
    for (const site of this.#both) await site.register(made.account_id ?? '', operator);
    await this.startServer();
    const policy = await (await fetch(`${this.server.address}/log/policy`)).text();
    this.paris.configure(this.lyon, this.server.address, policy);
    this.lyon.configure(this.paris, this.server.address, policy);
    await Promise.all(this.#both.map((site) => site.start()));
  }

  /** Starts the service, after a stop under its former address. */
  async startServer(port = '0'): Promise<void> {
    this.#server = await Server.start(this.dataDir, { ...SETTINGS, PHM_PORT: port });
  }

  async stop(): Promise<void> {
    await Promise.all(this.#both.map((site) => site.end('SIGTERM')));
    await this.#server?.stop();
    removeDataDir(this.dataDir);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export class AgentSite {
  readonly name: string;
  readonly folder: string;
  /** What the agent has written, over all its lives. */
  log = '';
  /** Node and the program: from source, or as packed. */
  program: readonly string[] = [process.execPath, '--disable-sigusr1', SOURCE];
  #thumbprint = '';
  #address = '';
  #stateAddress = '';
  #process: ChildProcess | undefined;

  constructor(name: string, parent: string) {
    this.name = name;
    this.folder = join(parent, name);
    mkdirSync(join(this.folder, 'state'), { recursive: true, mode: 0o700 });
  }

  async register(account: string, operator: Readonly<Record<string, string>>): Promise<void> {
    this.#thumbprint = await registerSite(this.name, this.folder, account, operator);
  }

  configure(peer: AgentSite, url: string, policy: string): void {
    const place = (name: string): string => join(this.folder, name);
    writeFileSync(place('log.policy'), policy);
    const [paris, lyon] = [systemOf('paris'), systemOf('lyon')];
    const config = {
      name: `kme of ${this.name}`,
      recipient: this.name,
      private_key_file: place('own.recipient-key'),
      state_dir: place('state'),
      systems: [systemOf(this.name)],
      services: [{ url, api_key_file: place('api-key'), policy_file: place('log.policy') }],
      peers: [
        {
          name: `kme of ${peer.name}`,
          recipient: peer.name,
          thumbprint: peer.#thumbprint,
          systems: [systemOf(peer.name)],
        },
      ],
      access: [
        { master: paris, slaves: [lyon] },
        { master: lyon, slaves: [paris] },
      ],
      listeners: [
        { interface: 'etsi-014', host: '127.0.0.1', port: 0, caller: systemOf(this.name) },
      ],
      metrics: { host: '127.0.0.1', port: 0 },
      pools: { least: 8 },
    };
    writeFileSync(place('agent.json'), JSON.stringify(config));
  }

  async start(): Promise<void> {
    const [node = '', ...args] = [...this.program, 'run', join(this.folder, 'agent.json')];
    const child = spawn(node, args, { stdio: ['ignore', 'inherit', 'pipe'] });
    this.#process = child;
    let isListening = false;
    createInterface({ input: child.stderr as NodeJS.ReadableStream }).on('line', (line) => {
      this.log += `${line}\n`;
      const { addresses } = line.startsWith('{') ? JSON.parse(line) : {};
      if (addresses === undefined) return;
      [this.#address, this.#stateAddress] = addresses.split(' ');
      isListening = true;
    });
    await until(`${this.name} listens`, () => {
      assert.equal(child.exitCode, null, this.log);
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

  /** Calls the interface as this site's system. Rejects if the connection breaks. */
  async call(other: AgentSite, rest: string, body?: object): Promise<Answer> {
    const path = `/api/v1/keys/${encodeURIComponent(systemOf(other.name))}/${rest}`;
    const post = body && { method: 'POST', body: JSON.stringify(body) };
    const response = await fetch(`http://${this.#address}${path}`, post);
    const json = (await response.json()) as Answer['json'];
    return { status: response.status, json, keys: (json.keys ?? []) as Key[] };
  }

  /** Returns a figure of the agent's metrics that has no labels. */
  async figure(name: string): Promise<number> {
    const page = await (await fetch(`http://${this.#stateAddress}/metrics`)).text();
    return Number(new RegExp(`^phm_agent_${name} (\\d+)$`, 'm').exec(page)?.[1]);
  }
}

/**
 * Makes a site's key pair and API key in its folder, and has the service know it. Returns the thumbprint. The files are
 * `own.recipient-key` and `api-key`.
 */
export async function registerSite(
  name: string,
  folder: string,
  account: string,
  operator: Readonly<Record<string, string>>,
): Promise<string> {
  const admin = (...args: string[]) => commandJson<Record<string, string>>(args, operator);
  const pair = join(folder, 'own');
  const made = await runCommand(['recipient', 'new', '--output', pair], operator);
  assert.equal(made.code, 0, made.stderr);
  const of = ['--account', account];
  await admin('recipient', 'add', name, ...of, '--public-key', `${pair}.recipient`);
  const scopes = ['--scope', 'generate', '--scope', 'receive', '--recipient', name];
  const { api_key } = await admin('api-key', 'issue', ...of, ...scopes);
  writeFileSync(join(folder, 'api-key'), api_key ?? '', { mode: 0o600 });
  const shown = await runCommand(['recipient', 'show', `${pair}.recipient`, '--json'], operator);
  return JSON.parse(shown.stdout).thumbprint;
}

/** Returns the body of a request for the keys of these. */
export function idsOf(keys: readonly Pick<Key, 'key_ID'>[]): object {
  return { key_IDs: keys.map(({ key_ID }) => ({ key_ID })) };
}
