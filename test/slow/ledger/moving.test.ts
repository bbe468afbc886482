/**
 * Backup and restore, and the move between SQLite and PostgreSQL, with real servers and the real command line:
 * earlier keys still validate, and counting continues.
 */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import type { Databases } from '../../support/ledgers/databases.ts';
import { findInstalled, noPostgres, PASSWORD, Postgres } from '../../support/ledgers/postgres.ts';
import { sharedPostgres } from '../../support/ledgers/shared-postgres.ts';
import { until } from '../../support/run/until.ts';
import {
  type Environment,
  MAIN,
  makeDataDir,
  phmJson,
  removeDataDir,
  runPhm,
  Server,
} from '../../support/servers/server.ts';

const run = promisify(execFile);

const MASTER_KEY = '5a'.repeat(32);
const COMMON = { PHM_MASTER_KEY: MASTER_KEY, PHM_RATE_LIMITS: 'off' };

const folders: string[] = [];
const servers: Server[] = [];
const clusters: Databases[] = [];

function newFolder(): string {
  const folder = makeDataDir();
  folders.push(folder);
  return folder;
}

async function start(dataDir: string, env: Environment): Promise<Server> {
  const server = await Server.start(dataDir, env);
  servers.push(server);
  return server;
}

after(async () => {
  await Promise.all(servers.map((server) => server.stop('SIGKILL')));
  await Promise.all(clusters.map((cluster) => cluster.remove()));
  folders.forEach(removeDataDir);
});

async function issueApiKey(dataDir: string, env: Environment, plan: string): Promise<string> {
  const init = env.PHM_DATABASE_URL ? [] : ['--init'];
  const create = ['account', 'create', ...init, '--name', plan, '--plan', plan];
  const { account_id } = await phmJson<{ account_id: string }>(create, dataDir, env);
  const issue = ['api-key', 'issue', '--account', account_id];
  return (await phmJson<{ api_key: string }>(issue, dataDir, env)).api_key;
}

interface Made {
  readonly key: string;
  readonly proof: string;
}

async function makeKeys(server: Server, apiKey: string, count: number): Promise<Made[]> {
  const answers = await Promise.all(
    Array.from({ length: count }, (_, i) =>
      server.generate(
        { security_level: 256, enable_nist_validation: i === 0, include: ['hash_proof'] },
        apiKey,
      ),
    ),
  );
  return answers.map(({ status, body }) => {
    assert.equal(status, 200, JSON.stringify(body));
    return { key: body.key, proof: body.hash_proof };
  });
}

async function assertValid(server: Server, apiKey: string, made: readonly Made[]): Promise<void> {
  for (const { key, proof } of made) {
    assert.equal((await server.validate({ key }, apiKey)).body.valid, true);
    assert.equal((await server.validate({ key, hash_proof: proof }, apiKey)).body.valid, true);
  }
}

/** Generates one more key and returns the rest of the monthly quota from its header. */
async function remaining(server: Server, apiKey: string): Promise<number> {
  const { headers } = await server.generate({ security_level: 128 }, apiKey);
  const [, left] = /"quota";r=(\d+)/.exec(headers.get('ratelimit') ?? '') ?? [];
  return Number(left);
}

const metricsOf = async (server: Server, apiKey: string) =>
  (await server.metrics('?hours=24', apiKey)).body.metrics;

describe('backup and restore of SQLite', () => {
  it('restores the keys, quotas and metrics of the backup, and drops everything later', async () => {
    const dataDir = newFolder();
    const apiKey = await issueApiKey(dataDir, COMMON, 'research');
    const first = await start(dataDir, COMMON);
    const kept = await makeKeys(first, apiKey, 20);
    const metrics = await metricsOf(first, apiKey);
    const backup = join(newFolder(), 'monday.db');
    const told = await phmJson<{ rows: { ledger: number }; checked: boolean }>(
      ['ledger', 'backup', backup],
      dataDir,
      COMMON,
    );
    assert.equal(told.rows.ledger, 20);
    assert.equal(told.checked, true);
    const lost = await makeKeys(first, apiKey, 5);
    const again = await runPhm(['ledger', 'backup', backup], dataDir, COMMON);
    assert.equal(again.code, 1);
    assert.match(again.stderr, /never replaced/);

    const early = await runPhm(['ledger', 'restore', backup], dataDir, COMMON);
    assert.equal(early.code, 1, 'there is a database');
    const path = join(dataDir, 'phm.db');
    await first.stop('SIGKILL');
    assert.ok(existsSync(`${path}-wal`), 'a crash leaves the log');
    renameSync(path, `${path}.old`);
    const stale = await runPhm(['ledger', 'restore', backup], dataDir, COMMON);
    assert.equal(stale.code, 1);
    assert.match(stale.stderr, /phm\.db-wal exists: stop the server/);
    mkdirSync(join(dataDir, 'before'));
    renameSync(`${path}.old`, join(dataDir, 'before/phm.db'));
    for (const side of ['-wal', '-shm'])
      renameSync(path + side, join(dataDir, `before/phm.db${side}`));
    const restored = await runPhm(['ledger', 'restore', backup], dataDir, COMMON);
    assert.equal(restored.code, 0, restored.stderr);

    const second = await start(dataDir, COMMON);
    assert.deepEqual(await metricsOf(second, apiKey), metrics);
    assert.equal(await remaining(second, apiKey), 1_000 - 21);
    await assertValid(second, apiKey, kept.slice(0, 3));
    const [{ key, proof }] = lost as [Made];
    assert.equal((await second.validate({ key }, apiKey)).body.valid, false);
    assert.equal((await second.validate({ key, hash_proof: proof }, apiKey)).body.valid, true);
    assert.equal(await second.stop(), 0);
    const database = new DatabaseSync(path);
    assert.equal(database.prepare('PRAGMA integrity_check').get()?.integrity_check, 'ok');
    database.close();
    // The database that was moved away is complete, including its log.
    const rescued = await phmJson<{ rows: { ledger: number } }>(
      ['ledger', 'backup', join(dataDir, 'rescued.db')],
      join(dataDir, 'before'),
      COMMON,
    );
    assert.equal(rescued.rows.ledger, 25);
  });

  it('contains whole batches if it is taken under load', async () => {
    const dataDir = newFolder();
    const apiKey = await issueApiKey(dataDir, COMMON, 'enterprise');
    const server = await start(dataDir, COMMON);
    const target = newFolder();
    let stop = false;
    let answered = 0;
    const load = Promise.all(
      Array.from({ length: 16 }, async () => {
        while (!stop) {
          assert.equal((await server.generate({ security_level: 256 }, apiKey)).status, 200);
          answered++;
        }
      }),
    );
    try {
      await until('a key is answered', () => answered > 0);
      for (let i = 0; i < 5; i++) {
        const path = join(target, `${i}.db`);
        await phmJson(['ledger', 'backup', path], dataDir, COMMON);
        assert.equal(statSync(path).mode & 0o777, 0o600);
        const database = new DatabaseSync(path, { readOnly: true });
        const books = database
          .prepare(
            `SELECT (SELECT count(*) FROM ledger) AS rows, (SELECT sum(used) FROM usage) AS used,
               (SELECT sum(keys) FROM rollup_minute) AS minutes,
               (SELECT sum(keys) FROM rollup_hour) AS hours`,
          )
          .get() as Record<string, number>;
        database.close();
        assert.ok((books.rows ?? 0) > 0);
        assert.deepEqual([...new Set(Object.values(books))], [books.rows]);
      }
    } finally {
      stop = true;
      await load;
    }
    assert.deepEqual(readdirSync(target).sort(), ['0.db', '1.db', '2.db', '3.db', '4.db']);
  });
});

describe('a move between SQLite and PostgreSQL', { skip: noPostgres }, () => {
  let postgres: Databases;
  before(async () => {
    postgres = await sharedPostgres();
    clusters.push(postgres);
  });

  it('takes keys, API keys, quotas and metrics to PostgreSQL and back', async () => {
    const embedded = newFolder();
    const apiKey = await issueApiKey(embedded, COMMON, 'research');
    const other = await issueApiKey(embedded, COMMON, 'enterprise');
    const first = await start(embedded, COMMON);
    const made = await makeKeys(first, apiKey, 10);
    await makeKeys(first, other, 3);
    const metrics = await metricsOf(first, apiKey);
    assert.equal(await first.stop(), 0);

    const shared = { ...COMMON, PHM_DATABASE_URL: await postgres.createDatabase('service') };
    await phmJson(['migrate'], embedded, shared);
    await pipe(embedded, COMMON, newFolder(), shared);
    const second = await start(newFolder(), shared);
    assert.deepEqual(await metricsOf(second, apiKey), metrics);
    assert.equal(await remaining(second, apiKey), 1_000 - 11);
    await assertValid(second, apiKey, made);
    made.push(...(await makeKeys(second, apiKey, 5)));
    const afterwards = await metricsOf(second, apiKey);
    assert.equal((await metricsOf(second, other)).performance.total_keys_generated, 3);
    assert.equal(await second.stop(), 0);

    const back = newFolder();
    const file = join(back, 'export.ndjson');
    const exported = await phmJson(['export', file], back, shared);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const dataDir = newFolder();
    assert.deepEqual(await phmJson(['import', file], dataDir, COMMON), exported);
    const third = await start(dataDir, COMMON);
    assert.deepEqual(await metricsOf(third, apiKey), afterwards);
    assert.equal(await remaining(third, apiKey), 1_000 - 11 - 20 - 5 - 1);
    await assertValid(third, apiKey, made);
    const refused = await runPhm(['import', file], dataDir, COMMON);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /needs an empty ledger/);
    const foreign = await runPhm(['serve'], dataDir, {
      ...COMMON,
      PHM_MASTER_KEY: 'a5'.repeat(32),
    });
    assert.match(foreign.stderr, /master secret is not the one/);
  });

  it('leaves the backup of PostgreSQL to pg_dump', async () => {
    const env = { ...COMMON, PHM_DATABASE_URL: postgres.url('service') };
    const { code, stderr } = await runPhm(['ledger', 'backup', 'x'], newFolder(), env);
    assert.equal(code, 1);
    assert.match(stderr, /pg_dump/);
    assert.ok(!stderr.includes(PASSWORD));
  });
});

/** `phm export | phm import -` */
async function pipe(from: string, fromEnv: Environment, to: string, toEnv: Environment) {
  const spawnPhm = (args: string[], dataDir: string, env: Environment, input: 'ignore' | 'pipe') =>
    spawn(process.execPath, [MAIN, ...args], {
      env: { PATH: process.env.PATH ?? '', PHM_DATA_DIR: dataDir, ...env },
      stdio: [input, 'pipe', 'inherit'],
    });
  const source = spawnPhm(['export'], from, fromEnv, 'ignore');
  const target = spawnPhm(['import', '-', '--json'], to, toEnv, 'pipe');
  source.stdout?.pipe(target.stdin as NodeJS.WritableStream);
  const codes = await Promise.all([once(source, 'exit'), once(target, 'exit')]);
  assert.deepEqual(
    codes.map(([code]) => code),
    [0, 0],
  );
}

const tools = findInstalled(['initdb', 'postgres', 'pg_dump', 'pg_restore']);

describe('pg_dump and pg_restore', {
  skip: tools === null && 'no server with its pg_dump, 15 or newer, is in /usr/lib/postgresql',
}, () => {
  it('restore a database on which a server starts and keys validate', async () => {
    const bin = tools ?? '';
    // A server of its own, of the version of pg_dump.
    const postgres = await Postgres.start(bin);
    clusters.push(postgres);
    const dataDir = newFolder();
    const env = { ...COMMON, PHM_DATABASE_URL: await postgres.createDatabase('original') };
    await phmJson(['migrate'], dataDir, env);
    const apiKey = await issueApiKey(dataDir, env, 'research');
    const first = await start(dataDir, env);
    const made = await makeKeys(first, apiKey, 5);
    const metrics = await metricsOf(first, apiKey);
    const dump = join(newFolder(), 'phm.dump');
    const login = {
      PGPASSWORD: PASSWORD,
      PGHOST: '127.0.0.1',
      PGPORT: String(postgres.port),
      PGUSER: 'phm',
    };
    // The server continues to run.
    await run(join(bin, 'pg_dump'), ['-Fc', '--no-owner', `--file=${dump}`, 'original'], {
      env: login,
    });
    const [lost] = (await makeKeys(first, apiKey, 1)) as [Made];
    assert.equal(await first.stop(), 0);

    const restored = { ...COMMON, PHM_DATABASE_URL: await postgres.createDatabase('restored') };
    await run(
      join(bin, 'pg_restore'),
      ['--no-owner', '--exit-on-error', '--single-transaction', '--dbname=restored', dump],
      { env: login },
    );
    const second = await start(dataDir, restored);
    assert.deepEqual(await metricsOf(second, apiKey), metrics);
    assert.equal(await remaining(second, apiKey), 1_000 - 6);
    await assertValid(second, apiKey, made);
    assert.equal((await second.validate({ key: lost.key }, apiKey)).body.valid, false);
    await makeKeys(second, apiKey, 2);
  });
});
