/** Two PostgreSQL servers behind one address, and servers of the service that use both under load. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { newLogKeysText } from '../../../src/log/index.ts';
import { until } from '../run/until.ts';
import {
  type Answer,
  type CommandResult,
  type Environment,
  makeDataDir,
  removeDataDir,
  runPhm,
  Server,
} from '../servers/server.ts';
import { addAccounts } from './books.ts';
import { findInstalled, noPostgres, PASSWORD, Postgres } from './postgres.ts';

export const DATABASE = 'hosts';
const PROGRAMS = findInstalled(['initdb', 'postgres', 'pg_basebackup', 'pg_rewind']);
const CLIENTS = 4;
const PAUSE_MS = 5;
/** The reason to skip a test of pairs, or false. */
export const noPair =
  noPostgres || (!PROGRAMS && 'pg_basebackup or pg_rewind of PostgreSQL 15 or newer is not here');

interface AnsweredKey {
  readonly keyId: string;
  readonly server: number;
  readonly atMs: number;
}

/** Two database servers, two servers of the service, and what their clients got. */
export class Pair {
  readonly first: Postgres;
  readonly second: Postgres;
  readonly folder = makeDataDir();
  readonly servers: Server[] = [];
  readonly answered: AnsweredKey[] = [];
  refused = 0;
  #apiKey = '';

  private constructor(first: Postgres, second: Postgres) {
    this.first = first;
    this.second = second;
  }

  static async start(): Promise<Pair> {
    const settings = ['wal_log_hints=on', 'wal_keep_size=256MB'];
    const first = await Postgres.start(PROGRAMS ?? '', settings);
    const second = await first.startStandby('node_b', settings);
    const pair = new Pair(first, second);
    const url = await first.createLedger(DATABASE);
    const [account] = await addAccounts({ kind: 'postgres', url }, ['enterprise']);
    pair.#apiKey = account?.apiKey ?? '';
    writeFileSync(join(pair.folder, 'log.key'), newLogKeysText('hosts.example/log'), {
      mode: 0o600,
    });
    for (const i of [0, 1]) await pair.launch(i);
    return pair;
  }

  /** Both database servers, the first one first. */
  env(i: number): Environment {
    const hosts = [this.first, this.second].map(({ port }) => `127.0.0.1:${port}`).join(',');
    return {
      PHM_DATABASE_URL: `postgres://phm:${PASSWORD}@${hosts}/${DATABASE}?target_session_attrs=read-write`,
      PHM_MASTER_KEY: '5a'.repeat(32),
      PHM_LOG_KEY_FILE: join(this.folder, 'log.key'),
      PHM_LOG_STATE_FILE: this.stateFile(i),
      PHM_LOG_INTERVAL_MS: '100',
      PHM_RATE_LIMITS: 'off',
    };
  }

  stateFile(i: number): string {
    return join(this.folder, `state-${i}`);
  }

  async launch(i: number): Promise<Server> {
    const server = await Server.start(join(this.folder, `data-${i}`), this.env(i));
    this.servers[i] = server;
    return server;
  }

  phm(...args: readonly string[]): Promise<CommandResult> {
    return runPhm(args, join(this.folder, 'data-0'), this.env(0));
  }

  /** Runs a command on one of the database servers alone. */
  phmOn(postgres: Postgres, ...args: readonly string[]): Promise<CommandResult> {
    const url = `postgres://phm:${PASSWORD}@127.0.0.1:${postgres.port}/${DATABASE}`;
    const env = { ...this.env(0), PHM_DATABASE_URL: url };
    return runPhm(args, join(this.folder, 'data-0'), env);
  }

  async run(...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.phm(...args);
    assert.equal(code, 0, `phm ${args.join(' ')}: ${stdout}${stderr}`);
    return stdout;
  }

  /** Asks a server for a key. */
  generate(server: number): Promise<Answer> {
    const one = this.servers[server] as Server;
    return one.generate({ security_level: 256 }, this.#apiKey);
  }

  /** Lets clients use the servers until the returned function is called. */
  load(): () => Promise<void> {
    let running = true;
    const client = async (server: number) => {
      while (running) {
        const answer = await this.generate(server).catch(() => null);
        if (answer?.status === 200) {
          this.answered.push({ keyId: answer.body.key_id, server, atMs: performance.now() });
        } else this.refused++;
        await delay(PAUSE_MS);
      }
    };
    const all = this.servers.flatMap((_, i) => Array.from({ length: CLIENTS }, () => client(i)));
    return async () => {
      running = false;
      await Promise.all(all);
    };
  }

  /** Resolves with the time from now until each server has answered with a key. */
  async untilAnswered(): Promise<number> {
    const startMs = performance.now();
    const hasAnswered = (i: number) =>
      this.answered.some(({ server, atMs }) => server === i && atMs > startMs);
    await until('both servers answer', () => this.servers.every((_, i) => hasAnswered(i)));
    return performance.now() - startMs;
  }

  /** Returns the IDs of all keys that a database server has. */
  async keyIds(postgres: Postgres): Promise<ReadonlySet<string>> {
    const rows = await postgres.query(DATABASE, "SELECT encode(key_id, 'hex') AS id FROM ledger");
    return new Set(rows.map(({ id }) => `phm_${BigInt(`0x${id}`)}`));
  }

  /** Returns the answered keys without a row on a database server. */
  async missing(postgres: Postgres): Promise<string[]> {
    const recorded = await this.keyIds(postgres);
    return this.answered.map(({ keyId }) => keyId).filter((id) => !recorded.has(id));
  }

  /** Returns how many entries the newest state file has and the database lacks, in its log and among those that wait. */
  async missingEntries(postgres: Postgres): Promise<number> {
    const sizes = [0, 1].map((i) => Number(readFileSync(this.stateFile(i), 'utf8').split('\n')[1]));
    const [row] = await postgres.query(
      DATABASE,
      'SELECT size + (SELECT count(*) FROM log_pending) AS n FROM logs',
    );
    return Math.max(...sizes) - Number(row?.n);
  }

  async remove(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.stop('SIGKILL')));
    await this.second.remove();
    await this.first.remove();
    removeDataDir(this.folder);
  }
}

export const promote = (standby: Postgres) => standby.query('postgres', 'SELECT pg_promote()');

/** Makes a primary wait for a standby, or for none. */
export async function waitFor(primary: Postgres, name: string): Promise<void> {
  await primary.query('postgres', `ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
  await primary.query('postgres', 'SELECT pg_reload_conf()');
  if (name === '') return;
  const inSync =
    "SELECT FROM pg_stat_replication WHERE sync_state = 'sync' AND state = 'streaming'";
  await until('the standby is synchronous', async () => {
    return (await primary.query('postgres', inSync)).length > 0;
  });
}
