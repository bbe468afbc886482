/**
 * The SQL and the backup of deploy/postgres/ on PostgreSQL as Debian installs it, without a container. 30 s. Expected: a cluster
 * whose superuser is the service's role, as earlier compose files made it, gets a role without privileges while a server
 * works; a backup by the reading role is complete, and a failed one leaves the last good one alone.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ROOT } from '../../deploy/files.ts';
import {
  findInstalled,
  noPostgres,
  PASSWORD,
  Postgres,
  serverUser,
} from '../../support/ledgers/postgres.ts';
import {
  makeDataDir,
  phmJson,
  removeDataDir,
  runPhm,
  Server,
} from '../../support/servers/server.ts';

const bin = findInstalled(['postgres', 'psql', 'pg_dump', 'pg_restore']);
const DATABASE = 'phm_of_the_service';
const BACKUP_PASSWORD = 'another-not-for-any-log';

describe('the roles of the database', {
  skip: noPostgres || (!bin && 'PostgreSQL 15 or newer of Debian is not installed here'),
  timeout: 180_000,
}, () => {
  const folder = makeDataDir();
  const backups = join(folder, 'backup');
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const hba = join(folder, 'pg_hba.conf');
  // Inside a container PostgreSQL trusts the superuser; here by address and name.
  const rules = ['host all phm_move,postgres 127.0.0.1/32 trust', 'host all all all scram-sha-256'];
  const passwords = {
    SERVICE_PASSWORD_FILE: file('service-password', `${PASSWORD}\n`),
    BACKUP_PASSWORD_FILE: file('backup-password', `${BACKUP_PASSWORD}\n`),
  };
  let cluster: Postgres;
  let server: Server;
  let apiKey: string;
  const settings: Record<string, string> = { PHM_MASTER_KEY: '5a'.repeat(32) };

  const run = (command: string, args: string[], more: Record<string, string> = {}) =>
    spawnSync(command, args, {
      encoding: 'utf8',
      env: {
        PATH: `${bin}${delimiter}${process.env.PATH}`,
        PGHOST: '127.0.0.1',
        PGPORT: String(cluster.port),
        PGUSER: 'phm',
        PGPASSWORD: PASSWORD,
        PGDATABASE: DATABASE,
        ...passwords,
        ...more,
      },
    });
  const sql = (name: string, user: string) =>
    run('psql', ['--no-psqlrc', `--file=${join(ROOT, 'deploy/postgres', name)}`], { PGUSER: user });
  const asSuperuser = (query: string) => {
    const { stdout } = run('psql', ['-Atc', query], { PGUSER: 'postgres' });
    return stdout.trim().split('\n');
  };
  const backUp = (...args: string[]) =>
    run('sh', [join(ROOT, 'deploy/postgres/backup.sh'), ...args], {
      PGUSER: 'phm_backup',
      BACKUP_DIR: backups,
    });
  const dumps = () => readdirSync(backups).filter((name) => name.endsWith('.dump'));

  before(async () => {
    file('pg_hba.conf', `${rules.join('\n')}\n`);
    mkdirSync(backups);
    // The cluster's user must reach its rules.
    if (serverUser) spawnSync('chmod', ['0755', folder]);
    cluster = await Postgres.start(bin ?? '', [`hba_file=${hba}`]);
    settings.PHM_DATABASE_URL = await cluster.createLedger(DATABASE);
    const create = ['account', 'create', '--name', 'one', '--plan', 'enterprise'];
    const { account_id } = await phmJson<{ account_id: string }>(create, folder, settings);
    const issue = ['api-key', 'issue', '--account', account_id];
    ({ api_key: apiKey } = await phmJson<{ api_key: string }>(issue, folder, settings));
    server = await Server.start(folder, settings);
  });
  after(async () => {
    await server?.stop('SIGKILL');
    await cluster?.remove();
    removeDataDir(folder);
  });

  const generated = async () => (await server.generate({ security_level: 256 }, apiKey)).status;

  it('become those of the files while a server works', async () => {
    assert.equal(await generated(), 200);
    const moved = sql('leave-superuser.sql', 'phm');
    assert.equal(moved.status, 0, moved.stderr);
    assert.deepEqual(
      asSuperuser('SELECT rolname FROM pg_roles WHERE rolcanlogin AND rolsuper ORDER BY 1'),
      ['postgres'],
    );
    // A backup takes two connections at most, and neither role can do more than log in.
    assert.deepEqual(
      asSuperuser(`SELECT rolname || ' ' || rolconnlimit FROM pg_roles WHERE rolcanlogin AND NOT
         (rolsuper OR rolcreatedb OR rolcreaterole OR rolreplication OR rolbypassrls) ORDER BY 1`),
      ['phm -1', 'phm_backup 2'],
    );
    assert.deepEqual(
      asSuperuser(`SELECT DISTINCT owner::regrole FROM (
         SELECT relowner FROM pg_class WHERE relnamespace = 'public'::regnamespace
         UNION ALL SELECT proowner FROM pg_proc WHERE pronamespace = 'public'::regnamespace
         UNION ALL SELECT typowner FROM pg_type WHERE typnamespace = 'public'::regnamespace
         UNION ALL SELECT datdba FROM pg_database WHERE datname = current_database()
       ) AS objects (owner)`),
      ['phm'],
    );
    assert.equal(await generated(), 200);
    assert.equal(await server.stop(), 0);
    server = await Server.start(folder, settings);
    assert.equal(await generated(), 200);
    assert.equal((await runPhm(['migrate'], folder, settings)).code, 0);
    assert.equal((await runPhm(['ledger', 'verify'], folder, settings)).code, 0);
  });

  it('stay as they are if the file runs again, with new passwords', () => {
    file('backup-password', 'changed');
    assert.equal(sql('roles.sql', 'postgres').status, 0);
    const login = run('psql', ['-Atc', 'SELECT 1'], {
      PGUSER: 'phm_backup',
      PGPASSWORD: 'changed',
    });
    assert.equal(login.stdout, '1\n');
  });

  it('let a backup read everything and change nothing', () => {
    const made = backUp('once');
    assert.equal(made.status, 0, made.stderr);
    assert.equal(dumps().length, 1);
    assert.equal(backUp('check').status, 0);
    const listed = run('pg_restore', ['--list', join(backups, dumps()[0] ?? '')]);
    const tables = asSuperuser(`SELECT count(*) FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`);
    assert.equal(listed.stdout.match(/ TABLE DATA public /g)?.length, Number(tables[0]));
    for (const statement of ['DELETE FROM usage', 'CREATE TABLE mine ()']) {
      const args = ['-c', 'SET default_transaction_read_only = off', '-c', statement];
      const refused = run('psql', args, { PGUSER: 'phm_backup', PGPASSWORD: 'changed' });
      assert.match(refused.stderr, /permission denied/);
    }
  });

  it('keep the last good backup if the next one fails', () => {
    // Another name: a dump within the same second would have this one.
    const good = 'phm-20261001T000000Z.dump';
    renameSync(join(backups, dumps()[0] ?? ''), join(backups, good));
    const old = new Date(Date.now() - 30 * 86_400_000);
    utimesSync(join(backups, good), old, old);
    utimesSync(join(backups, 'last-success'), old, old);
    asSuperuser('ALTER ROLE phm_backup NOLOGIN');
    assert.notEqual(backUp('once').status, 0);
    assert.notEqual(backUp('check').status, 0);
    assert.deepEqual(dumps(), [good]);
    asSuperuser('ALTER ROLE phm_backup LOGIN');
    assert.equal(backUp('once').status, 0);
    assert.equal(existsSync(join(backups, good)), false);
    assert.equal(dumps().length, 1);
  });
});
