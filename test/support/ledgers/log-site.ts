/** A service with a transparency log on either store, for tests that kill it, restore it and tamper with it. */
import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { newLogKeysText } from '../../../src/log/index.ts';
import { shiftUrl } from '../run/shift-clock.ts';
import {
  type CommandResult,
  type Environment,
  makeDataDir,
  removeDataDir,
  runPhm,
  Server,
} from '../servers/server.ts';
import { type Account, addAccounts } from './books.ts';
import type { Databases } from './databases.ts';
import { sharedPostgres } from './shared-postgres.ts';

const DATABASE = 'log';

const DAY_MS = 86_400_000;

/** The store of a site, below its servers. */
interface Store {
  readonly location: { kind: 'sqlite'; path: string } | { kind: 'postgres'; url: string };
  readonly env: Environment;
  /** Runs one statement as someone who writes to the database. */
  execute(sql: string): Promise<Record<string, unknown>[]>;
  /** Keeps a backup of the stopped site, and puts it back. */
  backUp(): Promise<void>;
  restore(): Promise<void>;
  /** Puts the backup back in the same place, as a standby that lacks commits stands there after a failover. */
  failOver(): Promise<void>;
  /** Sets the database's own clock, if it has one; null lets it run again. */
  setClock(atMs: number | null): Promise<void>;
  remove(): Promise<void>;
}

export class LogSite {
  readonly #store: Store;
  readonly #folder: string;
  readonly #servers: number;
  readonly #started: Server[] = [];
  #account: Account | undefined;

  private constructor(store: Store, folder: string, servers: number) {
    this.#store = store;
    this.#folder = folder;
    this.#servers = servers;
  }

  /** Returns a site whose servers share one data directory, each with its own state file. */
  static sqlite(servers = 1): LogSite {
    const folder = makeDataDir();
    return new LogSite(sqliteStore(folder), folder, servers);
  }

  /** Returns a site on a database of its own, which `remove` drops, or on a server of its own, which `remove` ends. */
  static async postgres(servers = 1, own?: Databases): Promise<LogSite> {
    const folder = makeDataDir();
    return new LogSite(await postgresStore(folder, own), folder, servers);
  }

  get kind(): 'sqlite' | 'postgres' {
    return this.#store.location.kind;
  }

  get servers(): number {
    return this.#servers;
  }

  get apiKey(): string {
    return this.account.apiKey;
  }

  /** The account that the first start has added. */
  get account(): Account {
    if (this.#account === undefined) throw new Error('no server has been started');
    return this.#account;
  }

  get folder(): string {
    return this.#folder;
  }

  stateFile(i = 0): string {
    return join(this.#folder, `state-${i}`);
  }

  #dataDir(i: number): string {
    const dataDir = join(this.#folder, this.kind === 'sqlite' ? 'data' : `data-${i}`);
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    return dataDir;
  }

  #env(i: number): Environment {
    return {
      ...this.#store.env,
      PHM_RATE_LIMITS: 'off',
      PHM_LOG_STATE_FILE: this.stateFile(i),
      PHM_LOG_INTERVAL_MS: '100',
    };
  }

  /** Starts a server; the first one also gets an account. */
  async start(i = 0, extra: Environment = {}): Promise<Server> {
    const server = await Server.start(this.#dataDir(i), { ...this.#env(i), ...extra });
    this.#started.push(server);
    if (this.#account === undefined) {
      // From before the log: its API key has no audit record.
      [this.#account] = await addAccounts(this.#store.location, ['enterprise'], 1);
    }
    return server;
  }

  /** Runs a command with the variables of a server. */
  phm(args: readonly string[], i = 0, extra: Environment = {}): Promise<CommandResult> {
    return runPhm(args, this.#dataDir(i), { ...this.#env(i), ...extra });
  }

  /** Runs a command that must succeed. Returns its standard output. */
  async run(...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.phm(args);
    assert.equal(code, 0, `phm ${args.join(' ')}: ${stdout}${stderr}`);
    return stdout;
  }

  execute(sql: string): Promise<Record<string, unknown>[]> {
    return this.#store.execute(sql);
  }

  backUp(): Promise<void> {
    return this.#store.backUp();
  }

  restore(): Promise<void> {
    return this.#store.restore();
  }

  failOver(): Promise<void> {
    return this.#store.failOver();
  }

  /** Prunes the rows of all keys, as in two days. Servers may run. */
  async prune(): Promise<void> {
    const options = this.kind === 'sqlite' ? ['--accept-clock'] : [];
    const env = { NODE_OPTIONS: `--import=${shiftUrl(2 * DAY_MS)}` };
    await this.#store.setClock(Date.now() + 2 * DAY_MS);
    const pruned = await this.phm(['ledger', 'prune', '--older-than', '1', ...options], 0, env);
    await this.#store.setClock(null);
    assert.equal(pruned.code, 0, pruned.stderr);
  }

  /** Kills what still runs, and removes everything. */
  async remove(): Promise<void> {
    await Promise.all(this.#started.map((server) => server.stop('SIGKILL')));
    await this.#store.remove();
    removeDataDir(this.#folder);
  }
}

function sqliteStore(folder: string): Store {
  const dataDir = join(folder, 'data');
  const path = join(dataDir, 'phm.db');
  const backup = join(folder, 'backup.db');
  const command = async (...args: string[]) => {
    const { code, stderr } = await runPhm(args, dataDir);
    assert.equal(code, 0, `phm ${args.join(' ')}: ${stderr}`);
  };
  return {
    location: { kind: 'sqlite', path },
    env: {},
    execute: async (sql) => {
      const database = new DatabaseSync(path, { timeout: 30_000 });
      try {
        const statement = database.prepare(sql);
        // Fingerprints have 64 bits.
        statement.setReadBigInts(true);
        return statement.all();
      } finally {
        database.close();
      }
    },
    backUp: async () => {
      rmSync(backup, { force: true });
      await command('ledger', 'backup', backup);
    },
    restore: async () => {
      const before = join(folder, 'before');
      rmSync(before, { recursive: true, force: true });
      mkdirSync(before);
      for (const end of ['', '-wal', '-shm']) {
        try {
          renameSync(path + end, join(before, `phm.db${end}`));
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
        }
      }
      await command('ledger', 'restore', backup);
    },
    failOver: () => Promise.reject(new TypeError('"kind" expected postgres, got sqlite')),
    setClock: async () => {},
    remove: async () => {},
  };
}

async function postgresStore(folder: string, own?: Databases): Promise<Store> {
  const postgres = own ?? (await sharedPostgres());
  const url = await postgres.createDatabase(DATABASE);
  const logKeyFile = join(folder, 'log.key');
  writeFileSync(logKeyFile, newLogKeysText('faults.example/log'), { mode: 0o600 });
  const copy = async (from: string, to: string, options = '') => {
    const [template, name] = [postgres.nameOf(from), postgres.nameOf(to)];
    await postgres.query('postgres', `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await postgres.query('postgres', `CREATE DATABASE ${name} TEMPLATE ${template} ${options}`);
  };
  const oidOf = async (name: string) => {
    const text = `SELECT oid FROM pg_database WHERE datname = '${postgres.nameOf(name)}'`;
    return (await postgres.query('postgres', text))[0]?.oid;
  };
  return {
    location: { kind: 'postgres', url },
    env: {
      PHM_DATABASE_URL: url,
      PHM_MASTER_KEY: '5a'.repeat(32),
      PHM_MIGRATE: 'auto',
      PHM_LOG_KEY_FILE: logKeyFile,
    },
    execute: (sql) => postgres.query(DATABASE, sql),
    backUp: () => copy(DATABASE, 'backup'),
    restore: () => copy('backup', DATABASE),
    // A standby has the same identifiers. The copy of a database would have another one of its own.
    failOver: async () => copy('backup', DATABASE, `OID = ${await oidOf(DATABASE)}`),
    setClock: (atMs) => postgres.setClock(DATABASE, atMs),
    remove: () => postgres.remove(),
  };
}
