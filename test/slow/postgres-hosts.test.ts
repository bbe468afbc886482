/**
 * Two PostgreSQL servers behind one address, two servers of the service under load, and a promotion: what the runbook
 * "Failover of PostgreSQL" says, step by step. 35 s; needs pg_basebackup and pg_rewind.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { newLogKeysText } from '../../src/log/index.ts';
import { addAccounts } from '../support/books.ts';
import { findInstalled, noPostgres, PASSWORD, Postgres } from '../support/postgres.ts';
import { until } from '../support/replicas.ts';
import {
  type CommandResult,
  type Environment,
  makeDataDir,
  removeDataDir,
  runPhm,
  Server,
} from '../support/server.ts';

const DATABASE = 'hosts';
const PROGRAMS = findInstalled(['initdb', 'postgres', 'pg_basebackup', 'pg_rewind']);
const CLIENTS = 4;
const PAUSE_MS = 5;
const LOAD_MS = 1_000;
const SKIP =
  noPostgres || (!PROGRAMS && 'pg_basebackup or pg_rewind of PostgreSQL 15 or newer is not here');

interface AnsweredKey {
  readonly keyId: string;
  readonly server: number;
  readonly atMs: number;
}

/** Two database servers, two servers of the service, and what their clients got. */
class Pair {
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

  async run(...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.phm(...args);
    assert.equal(code, 0, `phm ${args.join(' ')}: ${stdout}${stderr}`);
    return stdout;
  }

  /** Lets clients use the servers until the returned function is called. */
  load(): () => Promise<void> {
    let running = true;
    const client = async (server: number) => {
      while (running) {
        const answer = await this.servers[server]
          ?.generate({ security_level: 256 }, this.#apiKey)
          .catch(() => null);
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

const promote = (standby: Postgres) => standby.query('postgres', 'SELECT pg_promote()');

/** Makes a primary wait for a standby, or for none. */
async function waitFor(primary: Postgres, name: string): Promise<void> {
  await primary.query('postgres', `ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
  await primary.query('postgres', 'SELECT pg_reload_conf()');
  if (name === '') return;
  const inSync =
    "SELECT FROM pg_stat_replication WHERE sync_state = 'sync' AND state = 'streaming'";
  await until('the standby is synchronous', async () => {
    return (await primary.query('postgres', inSync)).length > 0;
  });
}

describe('two database servers behind one address', { skip: SKIP }, () => {
  let pair: Pair;
  before(async () => {
    pair = await Pair.start();
  });
  after(() => pair?.remove());

  /** The keys that the asynchronous failover lost. */
  let lost: string[] = [];

  function report(test: TestContext, text: string): void {
    test.diagnostic(`${pair.answered.length} keys answered, ${pair.refused} requests not; ${text}`);
  }

  /** Waits for both servers, since the last promotion. */
  async function loggedAgain(text: string, times: number): Promise<void> {
    await until(`both servers log "${text}"`, () =>
      pair.servers.every(({ log }) => log.split(text).length > times),
    );
  }

  it('lose no answered key with synchronous replication, though the old primary still runs', async (test) => {
    await waitFor(pair.first, 'node_b');
    const end = pair.load();
    await delay(LOAD_MS);
    await promote(pair.second);
    const ms = await pair.untilAnswered();
    await delay(LOAD_MS);
    await end();
    assert.deepEqual(await pair.missing(pair.second), []);
    for (const { log } of pair.servers)
      assert.match(log, /the ledger uses another database server/);
    report(test, `again ${Math.round(ms)} ms after the promotion, none lost`);
  });

  it('let the log continue once an operator has accepted the promotion', async () => {
    await loggedAgain('the transparency log has stopped', 1);
    // Keys since the promotion wait beside the published entries.
    assert.ok((await pair.missingEntries(pair.second)) <= 0);
    await pair.run('log', 'recover', '--accept');
    await loggedAgain('the transparency log runs again', 1);
    await pair.run('ledger', 'verify');
  });

  it('change roles by a planned switchover', async (test) => {
    await pair.first.stop('INT');
    await pair.first.follow(pair.second, 'node_a');
    await waitFor(pair.second, 'node_a');
    const end = pair.load();
    await delay(LOAD_MS);
    // A fast shutdown sends all of the log to the standby.
    await pair.second.stop('INT');
    await waitFor(pair.first, '');
    await promote(pair.first);
    const ms = await pair.untilAnswered();
    await end();
    assert.deepEqual(await pair.missing(pair.first), []);
    await loggedAgain('the transparency log has stopped', 2);
    await pair.run('log', 'recover', '--accept');
    await loggedAgain('the transparency log runs again', 2);
    report(test, `again ${Math.round(ms)} ms after the switchover, none lost`);
  });

  it('lose keys with asynchronous replication, which the state files show', async (test) => {
    await pair.second.follow(pair.first, 'node_b');
    await waitFor(pair.first, 'node_b');
    await waitFor(pair.first, '');
    const end = pair.load();
    await delay(LOAD_MS);
    // The standby falls behind, unnoticed by the service.
    await pair.second.query('postgres', "ALTER SYSTEM SET primary_conninfo = ''");
    await pair.second.query('postgres', 'SELECT pg_reload_conf()');
    await delay(LOAD_MS);
    await end();
    await until('all entries are published', async () => {
      return (await pair.missingEntries(pair.first)) === 0;
    });
    const copy = join(pair.folder, 'copy');
    const log = `${pair.servers[0]?.address}/log`;
    await pair.run('log', 'check', log, '--copy', copy, '--state', join(pair.folder, 'monitor'));

    await pair.first.stop('KILL');
    await waitFor(pair.second, '');
    await promote(pair.second);
    lost = await pair.missing(pair.second);
    assert.ok(lost.length > 0);
    await loggedAgain('the transparency log has stopped', 3);
    assert.equal(await pair.missingEntries(pair.second), lost.length);
    const accepted = await pair.phm('log', 'recover', '--accept');
    assert.equal(accepted.code, 1, accepted.stdout);
    await pair.run('log', 'recover', '--from', copy);
    await loggedAgain('the transparency log runs again', 3);
    await pair.run('ledger', 'verify');
    report(test, `${lost.length} of them lost, as many as the state files have entries more`);
  });

  it('record nothing on the old primary when it comes back', async (test) => {
    await pair.first.restart();
    // What only the old primary has.
    const [kept, gone] = [await pair.keyIds(pair.second), await pair.keyIds(pair.first)];
    assert.ok(lost.every((id) => gone.has(id) && !kept.has(id)));
    const count = async (postgres: Postgres) =>
      (await postgres.query(DATABASE, 'SELECT FROM ledger')).length;
    const [before, earlier] = [await count(pair.first), pair.answered.length];
    const other = await pair.launch(2);
    const end = pair.load();
    await delay(LOAD_MS);
    await end();
    await other.stop();
    await pair.run('export');
    assert.equal(await count(pair.first), before, 'also by a server that starts then');
    const answered = pair.answered.length - earlier;
    assert.ok(answered > 0);
    report(test, `${answered} of them while the old primary ran beside the new one`);
  });
});
