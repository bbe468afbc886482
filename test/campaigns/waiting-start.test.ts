/**
 * Servers that start while their database is unavailable: they listen, are not ready, and serve once it is
 * available.
 *
 * About a minute on two idle cores. Nothing is random. Expected: each of the six servers on PostgreSQL that get
 * their database, and the one on SQLite, release a key after it; none exits early.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server as NetServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import type pg from 'pg';
import { noPostgres, PASSWORD, Postgres } from '../support/ledgers/postgres.ts';
import { freePort } from '../support/run/free-port.ts';
import { until } from '../support/run/until.ts';
import {
  type Answer,
  DEMO_KEY,
  type Environment,
  environment,
  lastReason,
  MAIN,
  makeDataDir,
  phmJson,
  removeDataDir,
  runPhm,
  Server,
} from '../support/servers/server.ts';

const WAITS = 'startup is waiting for the database';
const GOES_ON = 'the database answers: startup continues';

/** A server whose start may be incomplete. */
class StartingServer {
  readonly #child: ChildProcess;
  readonly #port: number;
  readonly #metricsPort: number;
  readonly #closed: Promise<unknown>;
  log = '';
  #out = '';

  private constructor(child: ChildProcess, port: number, metricsPort: number) {
    this.#child = child;
    this.#port = port;
    this.#metricsPort = metricsPort;
    this.#closed = once(child, 'close');
    child.stderr?.on('data', (chunk) => {
      this.log += chunk;
    });
    child.stdout?.on('data', (chunk) => {
      this.#out += chunk;
    });
  }

  static async spawn(dataDir: string, extra: Environment): Promise<StartingServer> {
    const [port, metricsPort] = [await freePort(), await freePort()];
    const ports = { PHM_PORT: String(port), PHM_METRICS_PORT: String(metricsPort) };
    const env = environment(dataDir, { ...ports, ...extra });
    const child = spawn(process.execPath, [MAIN, 'serve', '--json'], { env });
    return new StartingServer(child, port, metricsPort);
  }

  /** True once it has logged that it listens and is ready. */
  get hasStarted(): boolean {
    return this.#out.includes('\n');
  }

  get exitCode(): number | null {
    return this.#child.exitCode;
  }

  /** Kills or stops it. Resolves with its exit code after the log is complete. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    if (this.#child.exitCode === null) this.#child.kill(signal);
    return this.code();
  }

  async code(): Promise<number | null> {
    await this.#closed;
    return this.#child.exitCode;
  }

  logged(text: string): Promise<void> {
    return until(`the log says "${text}"`, () => {
      assert.equal(this.exitCode, null, this.log);
      return this.log.includes(text);
    });
  }

  async request(path: string, body?: unknown, apiKey = DEMO_KEY): Promise<Answer> {
    const response = await fetch(`http://127.0.0.1:${this.#port}${path}`, {
      headers: { 'X-API-Key': apiKey, 'Content-Type': 'application/json' },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  }

  generate(apiKey: string) {
    return this.request('/api/v2/generate', { security_level: 256 }, apiKey);
  }

  async metric(name: string): Promise<number> {
    const page = await (await fetch(`http://127.0.0.1:${this.#metricsPort}/metrics`)).text();
    return Number(new RegExp(`^${name} (.*)$`, 'm').exec(page)?.[1]);
  }
}

/** Checks that it is alive and unready, refuses requests by the contract, and says why. */
async function assertWaits(server: StartingServer, reason: RegExp, apiKey: string): Promise<void> {
  await server.logged(WAITS);
  await server.logged('Server listening');
  const [live, ready, key] = [
    await server.request('/livez'),
    await server.request('/readyz'),
    await server.generate(apiKey),
  ];
  assert.equal(live.status, 200);
  assert.deepEqual([ready.status, ready.body.checks.ledger], [503, 'unavailable']);
  assert.equal(ready.body.checks.generator, 'starting');
  assert.deepEqual([key.status, key.body.code], [503, 'ledger_unavailable']);
  assert.ok(Number(key.headers.get('retry-after')) > 0);
  await until('the metrics are served', async () => (await server.metric('phm_ready')) === 0);
  assert.equal(await server.metric('phm_ledger_up'), 0);
  assert.equal(server.hasStarted, false);
  const line = server.log.split('\n').find((one) => one.includes(WAITS)) ?? '';
  assert.match(JSON.parse(line).reason, reason);
  assert.ok(!server.log.includes(PASSWORD));
}

/** Checks that it continues its start by itself and releases a key on the same listener. */
async function assertServes(server: StartingServer, apiKey: string): Promise<void> {
  await server.logged(GOES_ON);
  await until('the start is complete', () => server.hasStarted);
  assert.equal((await server.request('/readyz')).status, 200);
  assert.equal((await server.generate(apiKey)).status, 200);
  await until('the metric follows', async () => (await server.metric('phm_ready')) === 1);
}

const folders: string[] = [];
const servers: StartingServer[] = [];
const start = async (extra: Environment, folder = newFolder()): Promise<StartingServer> => {
  const server = await StartingServer.spawn(folder, extra);
  servers.push(server);
  return server;
};

function newFolder(): string {
  const folder = makeDataDir();
  folders.push(folder);
  return folder;
}

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.end('SIGKILL')));
  folders.splice(0).forEach(removeDataDir);
});

describe('a server started before PostgreSQL', { skip: noPostgres }, () => {
  let postgres: Postgres;
  let env: Environment;
  let apiKey: string;
  let isDown = false;
  const stop = async () => {
    isDown = true;
    await postgres.stop('INT');
  };
  const restart = async () => {
    await postgres.restart();
    isDown = false;
  };

  before(async () => {
    // A server of its own: tests stop it and change its settings.
    postgres = await Postgres.start();
  });
  beforeEach(async (t) => {
    // A failed test may have left it down.
    if (isDown) await restart();
    const name = `waiting_${t.name.replace(/\W/g, '').slice(0, 40).toLowerCase()}`;
    env = {
      PHM_DATABASE_URL: await postgres.createLedger(name),
      PHM_MASTER_KEY: '5a'.repeat(32),
      PHM_RATE_LIMITS: 'off',
    };
    const create = ['account', 'create', '--name', 'w', '--plan', 'enterprise'];
    const { account_id } = await phmJson<{ account_id: string }>(create, newFolder(), env);
    const issue = ['api-key', 'issue', '--account', account_id];
    apiKey = (await phmJson<{ api_key: string }>(issue, newFolder(), env)).api_key;
  });
  after(() => postgres?.remove());

  it('waits while connections are refused, and then serves', async () => {
    await stop();
    const server = await start(env);
    await assertWaits(server, /ECONNREFUSED/, apiKey);
    await restart();
    await assertServes(server, apiKey);
  });

  it('waits while PostgreSQL is starting, and then serves', async () => {
    const promote = await asClosedStandby();
    const server = await start(env);
    await assertWaits(server, /starting up|not (?:yet )?accepting connections/, apiKey);
    await promote();
    await assertServes(server, apiKey);
  });

  it('waits while no connection is free, and then serves', async () => {
    const held: pg.Client[] = [];
    const database = new URL(env.PHM_DATABASE_URL).pathname.slice(1);
    await assert.rejects(async () => {
      for (;;) held.push(await postgres.connect(database));
    }, /too many clients/);
    const server = await start(env);
    await assertWaits(server, /too many clients/, apiKey);
    await Promise.all(held.map((client) => client.end()));
    await assertServes(server, apiKey);
  });

  it('waits for a schema that a concurrent migration creates', async () => {
    const url = await postgres.createDatabase('without_schema');
    const server = await start({ ...env, PHM_DATABASE_URL: url });
    await server.logged(WAITS);
    await server.logged('has no ledger yet');
    assert.equal((await runPhm(['migrate'], newFolder(), { PHM_DATABASE_URL: url })).code, 0);
    await server.logged(GOES_ON);
    await until('the start is complete', () => server.hasStarted);
    assert.equal((await server.request('/readyz')).status, 200);
  });

  it('continues if the database disappears between the start of main thread and workers', async () => {
    const gate = await Gate.open(postgres.port);
    try {
      const url = env.PHM_DATABASE_URL.replace(`:${postgres.port}/`, `:${gate.port}/`);
      const server = await start({ ...env, PHM_DATABASE_URL: url });
      // The main thread logs this before it starts the workers.
      gate.closesWhen = () => server.log.includes('"msg":"master secret loaded"');
      await assertWaits(server, /terminated|ECONNREFUSED|ECONNRESET/, apiKey);
      gate.closesWhen = () => false;
      await gate.reopen();
      await assertServes(server, apiKey);
    } finally {
      gate.close();
    }
  });

  it('exits with code 1 and the last reason when its time limit expires', async () => {
    await stop();
    const server = await start({ ...env, PHM_START_WAIT_SECONDS: '2' });
    assert.equal(await server.code(), 1);
    assert.match(server.log, /startup waited too long for the database/);
    assert.match(
      server.log,
      /"reason":"cannot use the database .*ECONNREFUSED.*"the server cannot run"/,
    );
    await restart();
  });

  it('exits with code 0 if it is stopped while it waits', async () => {
    await stop();
    const waiting = [await start(env), await start(env)];
    for (const [i, server] of waiting.entries()) {
      await server.logged('Server listening');
      assert.equal(await server.end(i === 0 ? 'SIGTERM' : 'SIGINT'), 0, server.log);
      assert.match(server.log, /shut down before startup was complete/);
    }
    await restart();
  });

  it('does not wait after a rejected password or for a missing database', async () => {
    for (const [from, to, reason] of [
      [PASSWORD, 'wrong', /password authentication failed/],
      [/[^/]*$/, 'missing', /database "missing" does not exist/],
    ] as const) {
      const url = env.PHM_DATABASE_URL.replace(from, to);
      const { code, stderr } = await runPhm(['serve'], newFolder(), {
        ...env,
        PHM_DATABASE_URL: url,
      });
      assert.equal(code, 1);
      assert.match(lastReason(stderr), reason);
      assert.ok(!stderr.includes(WAITS));
    }
  });

  /**
   * Restarts PostgreSQL as a standby that accepts no connections. The returned function makes it a primary
   * again.
   */
  async function asClosedStandby(): Promise<() => Promise<void>> {
    await postgres.query('postgres', 'ALTER SYSTEM SET hot_standby = off');
    const [row] = await postgres.query('postgres', 'SHOW data_directory');
    const folder = String(row?.data_directory);
    const { uid, gid } = statSync(folder);
    const place = (name: string) => {
      writeFileSync(join(folder, name), '');
      chownSync(join(folder, name), uid, gid);
    };
    await postgres.stop('INT');
    place('standby.signal');
    // Resolves when the server accepts connections, which is after its promotion.
    const up = postgres.restart();
    await until('it takes no connections', () =>
      postgres.connect('postgres').then(
        () => false,
        ({ code }) => code === '57P03',
      ),
    );
    return async () => {
      rmSync(join(folder, 'promote'), { force: true });
      place('promote');
      const [pid] = readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n', 1);
      process.kill(Number(pid), 'SIGUSR1');
      await up;
    };
  }
});

/** Delay of each connection through a gate, in which the test reads what the server has logged before. */
const CONNECT_MS = 300;

/** A route to PostgreSQL that can be closed. */
class Gate {
  readonly port: number;
  /** Asked at each connection, which is refused, and the gate closed, if it returns true. */
  closesWhen: () => boolean = () => false;
  readonly #target: number;
  readonly #sockets = new Set<Socket>();
  #server: NetServer | null = null;

  private constructor(port: number, target: number) {
    this.port = port;
    this.#target = target;
  }

  static async open(target: number): Promise<Gate> {
    const gate = new Gate(await freePort(), target);
    await gate.reopen();
    return gate;
  }

  async reopen(): Promise<void> {
    this.#server = createServer((client) => {
      const server = connect(this.#target, '127.0.0.1');
      for (const socket of [client, server]) {
        this.#sockets.add(socket);
        socket.on('error', () => {});
        socket.on('close', () => this.#sockets.delete(socket));
      }
      server.pipe(client);
      void delay(CONNECT_MS).then(async () => {
        // If this process was stopped meanwhile, the timer comes before what is to be read.
        for (let turns = 0; turns < 2; turns += 1) await turn();
        if (this.closesWhen()) this.close();
        else client.pipe(server);
      });
    }).listen(this.port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  /** Closes open connections and refuses new ones. */
  close(): void {
    this.#server?.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}

describe('a server started on a locked SQLite database', () => {
  it('waits for the lock, and then serves', async () => {
    const folder = newFolder();
    const first = await Server.start(folder, { PHM_DEMO_KEYS: 'on' });
    assert.equal((await first.generate({ security_level: 256 })).status, 200);
    await first.stop();
    const holder = new DatabaseSync(join(folder, 'phm.db'), { timeout: 10_000 });
    holder.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    const server = await start({ PHM_DEMO_KEYS: 'on' }, folder);
    await server.logged(WAITS);
    await server.logged('Server listening');
    assert.match(server.log, /database is locked/);
    assert.equal((await server.request('/readyz')).status, 503);
    holder.close();
    await assertServes(server, DEMO_KEY);
  });
});
