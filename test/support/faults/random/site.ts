/** The target of faults: servers behind a proxy, their store, and the clients. */
import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Account, Query } from '../../ledgers/books.ts';
import { COMPILE_CACHE } from '../../run/compile-cache.mjs';
import { freePort } from '../../run/free-port.ts';
import { masterKey } from '../../servers/replicas.ts';
import type { CommandResult, Environment } from '../../servers/server.ts';
import { Clients } from './clients.ts';
import type { Dice } from './dice.ts';
import { HaProxy } from './haproxy.ts';
import { Journal } from './journal.ts';
import { Replica } from './replica.ts';
import { Watch } from './watch.ts';

/** Time limit for recovery after a fault. Most of it allows for a busy machine. */
export const RETURN_LIMIT_MS = 60_000;

const ACCOUNTS = 3;
const CLIENTS = 5;
const PAUSE_MS = 50;
const COMMAND_LIMIT_MS = 120_000;

export interface SiteOptions {
  readonly checkout: string;
  readonly folder: string;
  readonly seed: number;
  readonly replicas: number;
  /** Returns the environment of one server, or of a command if called without a number. */
  readonly env: (replica?: number) => Environment;
  readonly query: Query;
}

/** The number of versions of the master secret, and the current one. */
interface Secret {
  versions: number;
  current: number;
}

export class Site {
  readonly options: SiteOptions;
  readonly secret: Secret = { versions: 1, current: 1 };
  readonly replicas: Replica[] = [];
  readonly watches: Watch[] = [];
  /** Events that a fault or a supervisor reports. */
  readonly events: string[] = [];
  /** Problems found. */
  readonly findings: string[] = [];
  #proxy: HaProxy | null = null;
  #clients: Clients | null = null;
  #journal: Journal | null = null;

  constructor(options: SiteOptions) {
    this.options = options;
  }

  get proxy(): HaProxy {
    if (!this.#proxy) throw new Error('the site has not been opened');
    return this.#proxy;
  }

  get clients(): Clients {
    if (!this.#clients) throw new Error('the site has not been opened');
    return this.#clients;
  }

  /** Creates the accounts, the servers and the proxy, and starts the clients. */
  async open(): Promise<void> {
    const { folder, checkout, seed, replicas } = this.options;
    mkdirSync(folder, { recursive: true });
    const ports: number[] = [];
    for (let i = 0; i < replicas; i++) ports.push(await freePort());
    this.replicas.push(...ports.map((port, i) => this.#makeReplica(i, port)));
    await Promise.all(this.replicas.map((replica) => replica.start()));
    const accounts: Account[] = [];
    for (let i = 0; i < ACCOUNTS; i++) accounts.push(await this.#makeAccount(`load ${i}`));
    this.#proxy = await HaProxy.start(checkout, folder, ports);
    this.#journal = await Journal.open(join(folder, 'answers.jsonl'));
    this.#clients = new Clients(accounts, this.proxy.target, this.#journal, seed);
    this.watches.push(...this.replicas.map((replica) => new Watch(replica, this.clients)));
    this.clients.start(CLIENTS, PAUSE_MS);
    if ((await this.untilServed(performance.now())) === null) {
      throw new Error(`the servers generate no keys: see ${folder}`);
    }
  }

  async close(): Promise<void> {
    await this.stopClients();
    await Promise.all(this.replicas.map((replica) => replica.stop('SIGKILL')));
    await this.#proxy?.kill();
    this.#clients?.close();
    await this.#journal?.close();
  }

  /** Stops the load. Released keys can still be validated. */
  async stopClients(): Promise<void> {
    await Promise.all([this.#clients?.stop(), ...this.watches.map((watch) => watch.stop())]);
  }

  /** Returns the time until all servers and the proxy served again, or null after the limit. */
  async untilServed(since: number, limitMs = RETURN_LIMIT_MS): Promise<number | null> {
    const servedAll = () =>
      this.clients.latestKey > since && this.watches.every((watch) => watch.servesSince(since));
    while (!servedAll()) {
      if (performance.now() - since > limitMs) return null;
      await delay(50);
    }
    return performance.now() - since;
  }

  /** Restarts the servers one at a time, each after the previous one serves again. */
  async roll(): Promise<void> {
    for (const [i, replica] of this.replicas.entries()) {
      const code = await replica.stop('SIGTERM');
      if (code !== 0) this.events.push(`${replica.options.name}: exited with code ${code}`);
      await replica.start();
      const since = performance.now();
      while (!this.watches[i]?.servesSince(since) && performance.now() - since < RETURN_LIMIT_MS) {
        await delay(50);
      }
      // The proxy makes three health checks within 1.5 s.
      await delay(1_000);
    }
  }

  /** Runs a command of the checkout beside the servers. */
  phm(args: readonly string[], extra: Environment = {}): Promise<CommandResult> {
    const { checkout, folder } = this.options;
    const env = {
      PATH: process.env.PATH ?? '',
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      PHM_DATA_DIR: join(folder, 'command'),
      ...this.environment(),
      ...extra,
    };
    const options = { env, maxBuffer: 2 ** 26, timeout: COMMAND_LIMIT_MS };
    return new Promise((done) => {
      const program = [join(checkout, 'src/main.mjs'), ...args];
      execFile(process.execPath, program, options, (error, stdout, stderr) => {
        const code = typeof error?.code === 'number' ? error.code : error ? -1 : 0;
        done({ code, stdout, stderr });
      });
    });
  }

  async phmJson<T = Record<string, unknown>>(args: readonly string[]): Promise<T> {
    const { code, stdout, stderr } = await this.phm([...args, '--json']);
    if (code !== 0) throw new Error(`phm ${args.join(' ')} exited with code ${code}: ${stderr}`);
    return JSON.parse(stdout) as T;
  }

  /** Returns the environment of a server or of a command. */
  environment(replica?: number): Environment {
    return {
      PHM_RATE_LIMITS: 'off',
      PHM_LOG_FORMAT: 'json',
      PHM_MASTER_KEY: masterKey(this.secret.versions),
      PHM_MASTER_KEY_VERSION: String(this.secret.current),
      ...this.options.env(replica),
    };
  }

  async #makeAccount(name: string): Promise<Account> {
    const create = ['account', 'create', '--name', name, '--plan', 'enterprise'];
    const { account_id: accountId } = await this.phmJson<{ account_id: string }>(create);
    const issue = ['api-key', 'issue', '--account', accountId];
    const { api_key: apiKey } = await this.phmJson<{ api_key: string }>(issue);
    return { accountId, apiKey };
  }

  #makeReplica(i: number, port: number): Replica {
    const name = `server ${'abc'[i]}`;
    const { checkout, folder } = this.options;
    return new Replica({
      name,
      checkout,
      dataDir: join(folder, `data-${'abc'[i]}`),
      port,
      env: () => this.environment(i),
      logFile: join(folder, `server-${'abc'[i]}.log`),
      onEvent: (event) => this.events.push(event),
    });
  }
}

/** Waits for a random time while a fault lasts, and returns that time as text. */
export async function hold(dice: Dice, leastMs: number, mostMs: number): Promise<string> {
  const ms = dice.int(leastMs, mostMs);
  await delay(ms);
  return `${(ms / 1000).toFixed(1)} s`;
}

/** A fault that can be injected into a running service and removed again. */
export interface Fault<S extends Site = Site> {
  readonly name: string;
  /** The fault takes about a minute and runs only in every third round. */
  readonly isLong?: boolean;
  /** Injects and removes the fault. Returns its random choices in words. */
  readonly run: (site: S, dice: Dice) => Promise<string>;
  /** Returns the reason why this site cannot run the fault, or false. Absent if every site can. */
  readonly skip?: (site: S) => string | false;
}
