/** Real servers and commands behind a real PgBouncer, in each of its pool modes. 15 s. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Databases } from '../../support/ledgers/databases.ts';
import { noPostgres, PASSWORD, serverUser } from '../../support/ledgers/postgres.ts';
import { sharedPostgres } from '../../support/ledgers/shared-postgres.ts';
import { connects, freePort } from '../../support/run/free-port.ts';
import { until } from '../../support/run/until.ts';
import {
  type Environment,
  lastReason,
  makeDataDir,
  phmJson,
  removeDataDir,
  runPhm,
  Server,
} from '../../support/servers/server.ts';

type Mode = 'session' | 'transaction' | 'statement';

/** Debian's folder of servers is not in every PATH. */
const PATH = `${process.env.PATH}:/usr/sbin`;
const isMissing = spawnSync('pgbouncer', ['--version'], { env: { PATH } }).error !== undefined;

describe('behind PgBouncer', {
  skip: noPostgres || (isMissing && 'pgbouncer is not installed'),
}, () => {
  const dataDir = makeDataDir();
  let folder: string;
  let postgres: Databases;
  let port: number;
  let bouncer: ChildProcess | undefined;
  let env: Environment;

  before(async () => {
    postgres = await sharedPostgres();
    await postgres.createLedger('pooled');
    folder = mkdtempSync(join(tmpdir(), 'phm-pgbouncer-'));
    port = await freePort();
    env = {
      PHM_DATABASE_URL: postgres.url('pooled', port),
      PHM_MASTER_KEY: '5a'.repeat(32),
      PHM_TRANSPARENCY_LOG: 'off',
    };
  });
  after(async () => {
    await stop();
    await postgres.remove();
    rmSync(folder, { recursive: true, force: true });
    removeDataDir(dataDir);
  });

  async function stop(): Promise<void> {
    if (!bouncer || bouncer.exitCode !== null) return;
    const exit = once(bouncer, 'exit');
    bouncer.kill('SIGKILL');
    await exit;
  }

  /** Starts PgBouncer in this mode, in the place of the one before. It refuses to run as root. */
  async function pool(mode: Mode): Promise<void> {
    await stop();
    const files = {
      'users.txt': `"phm" "${PASSWORD}"\n`,
      'pgbouncer.ini': `[databases]
        ${postgres.nameOf('pooled')} = host=127.0.0.1 port=${postgres.port} user=phm password=${PASSWORD}
        [pgbouncer]
        listen_addr = 127.0.0.1
        listen_port = ${port}
        unix_socket_dir =
        auth_type = trust
        auth_file = ${join(folder, 'users.txt')}
        pool_mode = ${mode}\n`.replaceAll(/^ +/gm, ''),
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const owned = [folder, ...Object.keys(files).map((name) => join(folder, name))];
    if (serverUser) for (const path of owned) chownSync(path, serverUser.uid, serverUser.gid);
    bouncer = spawn('pgbouncer', [join(folder, 'pgbouncer.ini')], {
      ...serverUser,
      cwd: folder,
      env: { PATH },
      stdio: 'ignore',
    });
    await until('PgBouncer answers', () => connects(port));
  }

  for (const mode of ['transaction', 'statement'] as const) {
    it(`in pool mode ${mode}, no server starts and no command works`, async () => {
      await pool(mode);
      // With statement, the lost backend may show first, and looks as with transaction.
      const named = mode === 'statement' ? '(?:statement|transaction)' : mode;
      const words = new RegExp(`pool_mode = ${named}:.* Set pool_mode = session`);
      const [serve, list, move, doctor] = await Promise.all(
        [['serve'], ['account', 'list'], ['export', join(folder, mode)], ['doctor']].map((args) =>
          runPhm(args, dataDir, env),
        ),
      );
      assert.deepEqual([serve?.code, list?.code, move?.code, doctor?.code], [1, 1, 1, 1]);
      assert.match(lastReason(serve?.stderr ?? ''), words);
      assert.match(list?.stderr ?? '', words);
      assert.match(move?.stderr ?? '', words);
      assert.match(doctor?.stdout ?? '', words);
    });
  }

  it('in pool mode session, a server works, and is unready as soon as the mode is another', async () => {
    await pool('session');
    const direct = { ...env, PHM_DATABASE_URL: postgres.url('pooled') };
    const create = ['account', 'create', '--name', 'a', '--plan', 'research', '--json'];
    const { account_id } = await phmJson<{ account_id: string }>(create, dataDir, direct);
    const issue = ['api-key', 'issue', '--account', account_id, '--json'];
    const { api_key } = await phmJson<{ api_key: string }>(issue, dataDir, direct);
    const server = await Server.start(dataDir, env);
    try {
      const order = { security_level: 256 };
      const isReady = async () => (await server.request('/readyz')).status === 200;
      assert.equal((await server.generate(order, api_key)).status, 200);
      await pool('transaction');
      await until('it is unready', async () => !(await isReady()));
      assert.equal((await server.generate(order, api_key)).status, 503);
      await pool('session');
      await until('it is ready', isReady);
      assert.equal((await server.generate(order, api_key)).status, 200);
    } finally {
      await server.stop();
    }
  });
});
