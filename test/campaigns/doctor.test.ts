/**
 * `phm doctor` beside running servers, on both stores, and on five induced faults: an expired certificate, a skewed
 * clock, a full disk, a standby in place of the primary, and a secret that others can read.
 */
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server as TcpServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { newLogKeysText } from '../../src/log/index.ts';
import { fillDisk, mountDisk, noMount } from '../support/faults/disk.ts';
import { findInstalled, noPostgres, PASSWORD, Postgres } from '../support/ledgers/postgres.ts';
import { freePort } from '../support/run/free-port.ts';
import { shiftUrl } from '../support/run/shift-clock.ts';
import { makeCertificate } from '../support/servers/certificate.ts';
import {
  type Environment,
  environment,
  MAIN,
  makeDataDir,
  removeDataDir,
  runPhm,
  Server,
} from '../support/servers/server.ts';

interface Checked {
  readonly name: string;
  readonly status: string;
  readonly detail: string;
  readonly do: string | null;
}

interface Doctor {
  readonly code: number;
  readonly output: string;
  readonly checks: ReadonlyMap<string, Checked>;
}

/** Runs `phm doctor --json`; `flags` are for Node. */
async function doctor(
  dataDir: string,
  extra: Environment = {},
  flags: readonly string[] = [],
  user: { readonly uid?: number } = {},
): Promise<Doctor> {
  const env = environment(dataDir, extra);
  const { code, stdout, stderr } = await new Promise<{
    code: number;
    stdout: string;
    stderr: string;
  }>((done) => {
    execFile(
      process.execPath,
      [...flags, MAIN, 'doctor', '--json'],
      { env, ...user },
      (error, out, err) => done({ code: Number(error?.code ?? 0), stdout: out, stderr: err }),
    );
  });
  assert.notEqual(stdout, '', stderr);
  const { checks } = JSON.parse(stdout) as { checks: Checked[] };
  return { code, output: stdout + stderr, checks: new Map(checks.map((one) => [one.name, one])) };
}

/** Asserts the status of a check, what it found and what to do. */
function assertFound({ checks, output }: Doctor, name: string, status: string, said: RegExp): void {
  const found = checks.get(name);
  assert.equal(found?.status, status, output);
  assert.match(`${found?.detail}\n${found?.do}`, said);
}

/** Asserts that nothing but these checks has a warning or failed. */
function assertOnly({ checks, output }: Doctor, names: readonly string[]): void {
  const found = [...checks.values()].filter(({ status }) => /warning|failed/.test(status));
  assert.deepEqual(
    found.map(({ name }) => name),
    names,
    output,
  );
}

describe('phm doctor beside a server with SQLite', () => {
  const dataDir = makeDataDir();
  let server: Server;
  let port: number;
  before(async () => {
    port = await freePort();
    server = await Server.start(dataDir, { PHM_PORT: String(port), PHM_RATE_LIMITS: 'off' });
    assert.equal((await server.generate({ security_level: 256 })).status, 200);
  });
  after(async () => {
    await server.stop();
    removeDataDir(dataDir);
  });

  it('finds the server ready, and disturbs neither its keys nor its files', async () => {
    const secret = readFileSync(join(dataDir, 'master.key'));
    const [found, ...answers] = await Promise.all([
      doctor(dataDir, { PHM_PORT: String(port) }),
      ...Array.from({ length: 50 }, () => server.generate({ security_level: 256 })),
    ]);
    assert.ok(answers.every(({ status }) => status === 200));
    assertOnly(found, []);
    assert.equal(found.code, 0);
    for (const name of ['server', 'log', 'database', 'master secret']) {
      assertFound(found, name, 'ok', /./);
    }
    assert.deepEqual(readFileSync(join(dataDir, 'master.key')), secret);
  });

  it('finds a secret that others can read', async () => {
    chmodSync(join(dataDir, 'master.key'), 0o644);
    const found = await doctor(dataDir, { PHM_PORT: String(port) });
    chmodSync(join(dataDir, 'master.key'), 0o600);
    assert.equal(found.code, 1);
    assertOnly(found, ['permissions']);
    assertFound(found, 'permissions', 'failed', /can read the master secret.*Run chmod 600/);
  });

  it('finds a user that is not the one of the server', {
    skip: process.getuid?.() !== 0 && 'only root can become another user',
  }, async () => {
    const found = await doctor(dataDir, {}, [], { uid: 65_534 });
    assert.equal(found.code, 1);
    assertFound(found, 'permissions', 'failed', /may not enter.*\n.*as the user of the server/);
    assertFound(found, 'database', 'failed', /permission denied/);
    assertFound(found, 'master secret', 'skipped', /database cannot be used/);
  });

  it('finds a clock that is ahead of the ledger', async () => {
    const found = await doctor(dataDir, { PHM_PORT: String(port), PHM_RETENTION_DAYS: '90' }, [
      '--import',
      shiftUrl(400 * 86_400_000),
    ]);
    assert.equal(found.code, 1);
    assertFound(found, 'clock', 'failed', /400 days ahead.*\n.*#a-wrong-clock/);
  });

  it('finds a directory above that this user may not enter', {
    skip: process.getuid?.() !== 0 && 'only root can become another user',
  }, async () => {
    const found = await doctor(join(dataDir, 'below'), {}, [], { uid: 65_534 });
    assert.equal(found.code, 1);
    assertFound(found, 'permissions', 'failed', /may not enter.*\n.*as the user of the server/);
    assertFound(found, 'disk', 'skipped', /is unknown/);
  });

  it('finds that the server hangs', async () => {
    process.kill(server.pid, 'SIGSTOP');
    const found = await doctor(dataDir, { PHM_PORT: String(port) });
    process.kill(server.pid, 'SIGCONT');
    assert.equal(found.code, 1);
    assertOnly(found, ['server']);
    assertFound(found, 'server', 'failed', /does not answer within 3 s\n.*#a-process-that-hangs/);
  });

  it('goes on after a file that does not answer', {
    skip: process.platform === 'win32' && 'Windows has no such files',
  }, async () => {
    const file = join(dataDir, 'hangs');
    execFileSync('mkfifo', ['-m', '600', file]);
    // As on a network file system without its server, each attempt to open the file waits.
    const found = await doctor(dataDir, {
      PHM_PORT: String(port),
      PHM_MASTER_KEY_FILE: file,
      PHM_TRANSPARENCY_LOG: 'off',
    });
    assert.equal(found.code, 1);
    assertOnly(found, ['master secret']);
    assertFound(found, 'master secret', 'failed', /no answer within 20 s.*hangs/);
    assertFound(found, 'server', 'ok', /is ready/);
    const unread = await doctor(dataDir, { PHM_DATABASE_URL_FILE: file });
    rmSync(file);
    assert.equal(unread.code, 2);
    assertFound(unread, 'configuration', 'failed', /no answer within 20 s/);
    assertFound(unread, 'server', 'skipped', /configuration cannot be read/);
  });

  it('finds a log whose state file is gone', async () => {
    const state = `${dataDir}.gone`;
    // A new log may be joined without a state file for ten minutes.
    const found = await doctor(dataDir, { PHM_PORT: String(port), PHM_LOG_STATE_FILE: state }, [
      '--import',
      shiftUrl(3_600_000),
    ]);
    assertFound(found, 'log', 'failed', /is missing, but the log.*#the-log-has-stopped/s);
  });
});

describe('phm doctor and TLS', () => {
  it('finds an expired certificate, and that the server still uses it after the renewal', async () => {
    const dataDir = makeDataDir();
    const [certFile, keyFile] = [join(dataDir, 'cert.pem'), join(dataDir, 'key.pem')];
    const port = await freePort();
    const env = {
      PHM_PORT: String(port),
      PHM_TLS_CERT_FILE: certFile,
      PHM_TLS_KEY_FILE: keyFile,
    };
    makeCertificate(certFile, keyFile, Date.now() - 60_000);
    const server = await Server.start(dataDir, env);
    try {
      const expired = await doctor(dataDir, env);
      assert.equal(expired.code, 1);
      assertOnly(expired, ['certificate', 'server']);
      assertFound(expired, 'certificate', 'failed', /expired at.*\n.*run this again, then restart/);
      assertFound(expired, 'server', 'failed', /expired at .*so clients refuse it\n.*#renew-the/);
      makeCertificate(certFile, keyFile, Date.now() + 90 * 86_400_000);
      const renewed = await doctor(dataDir, env);
      assert.equal(renewed.code, 1);
      assertFound(renewed, 'certificate', 'ok', /localhost/);
      assertFound(
        renewed,
        'server',
        'failed',
        /expired.*\n.*another certificate.*\n.*#renew-the-certificate/s,
      );
    } finally {
      await server.stop();
      removeDataDir(dataDir);
    }
  });
});

describe('phm doctor on a full disk', { skip: noMount }, () => {
  it('finds it, also beside the server that is unready', async () => {
    const folder = makeDataDir();
    const unmount = mountDisk(join(folder, 'disk'), '200m');
    const dataDir = join(folder, 'disk/data');
    const env = { PHM_PORT: String(await freePort()) };
    const server = await Server.start(dataDir, env);
    try {
      assertOnly(await doctor(dataDir, env), []);
      writeFileSync(join(dataDir, 'backup.db.0123456789abcdef.new'), '');
      fillDisk(join(folder, 'disk/ballast'));
      const found = await doctor(dataDir, env);
      assert.equal(found.code, 1);
      assertFound(
        found,
        'disk',
        'failed',
        /0\.0 MiB of 200\.0 MiB free for the database.*unfinished files there: backup\.db\.0123456789abcdef\.new.*#a-full-disk/s,
      );
      rmSync(join(folder, 'disk/ballast'));
    } finally {
      await server.stop('SIGKILL');
      unmount();
      removeDataDir(folder);
    }
  });
});

const PROGRAMS = findInstalled(['initdb', 'postgres', 'pg_basebackup']);

describe('phm doctor on PostgreSQL', { skip: noPostgres }, () => {
  const dataDir = makeDataDir();
  let postgres: Postgres;
  let env: Environment;
  before(async () => {
    // A server of its own, which gets a standby.
    postgres = await Postgres.start(PROGRAMS ?? undefined);
    env = {
      PHM_PORT: String(await freePort()),
      PHM_DATABASE_URL: await postgres.createLedger('doctor'),
      PHM_MASTER_KEY: '5a'.repeat(32),
      PHM_LOG_KEY: newLogKeysText('doctor.example/log'),
    };
  });
  after(async () => {
    await postgres?.remove();
    removeDataDir(dataDir);
  });

  it('skips what has not begun, and contains no secret', async () => {
    const found = await doctor(dataDir, env);
    assert.equal(found.code, 0);
    assertFound(found, 'log', 'skipped', /next start/);
    // The tests' own user is a superuser.
    assertFound(found, 'database', 'warning', /superuser/);
    for (const secret of [PASSWORD, '5a5a5a5a', 'PRIVATE']) {
      assert.ok(!found.output.includes(secret));
    }
  });

  it('finds everything sound beside a server', async () => {
    const server = await Server.start(dataDir, env);
    try {
      const found = await doctor(dataDir, env);
      assert.equal(found.code, 0, found.output);
      assertOnly(found, ['database']);
      for (const name of ['clock', 'schema', 'master secret', 'log', 'server']) {
        assertFound(found, name, 'ok', /./);
      }
    } finally {
      await server.stop();
    }
  });

  it('finds a clock that is ahead, and a schema that is missing', async () => {
    const ahead = await doctor(dataDir, env, ['--import', shiftUrl(300_000)]);
    assert.equal(ahead.code, 1);
    assertFound(ahead, 'clock', 'failed', /300 seconds ahead of the database's clock/);
    const empty = { ...env, PHM_DATABASE_URL: await postgres.createDatabase('empty') };
    const found = await doctor(dataDir, empty);
    assert.equal(found.code, 1);
    assertFound(found, 'schema', 'failed', /there is no ledger yet.*\n.*phm migrate/);
    assertFound(found, 'clock', 'skipped', /schema does not fit/);
  });

  it('names the rights that the role of the service lacks', async () => {
    await postgres.createLedger('rights');
    const found = async () =>
      doctor(dataDir, {
        ...env,
        PHM_DATABASE_URL: postgres.url('rights').replace('phm:', 'lesser:'),
      });
    const rights = (sql: string) => postgres.query('rights', sql);
    await rights(`CREATE ROLE lesser LOGIN PASSWORD '${PASSWORD}'`);
    const none = await found();
    assert.equal(none.code, 1);
    assertFound(none, 'database', 'failed', /lesser may not SELECT accounts, .*and \d+ more/);
    assertFound(none, 'schema', 'skipped', /not opened/);
    const tables = await rights(
      "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'",
    );
    for (const { name } of tables) await rights(`ALTER TABLE ${name} OWNER TO lesser`);
    await rights('GRANT CREATE ON SCHEMA public TO lesser');
    const remedy = /cannot migrate .*: ALTER ROUTINE add_counts OWNER TO lesser/s;
    assertFound(await found(), 'database', 'warning', remedy);
    const routines = await rights(
      "SELECT proname AS name FROM pg_proc WHERE pronamespace = 'public'::regnamespace",
    );
    for (const { name } of routines) await rights(`ALTER ROUTINE ${name} OWNER TO lesser`);
    const sound = await found();
    assertFound(sound, 'database', 'ok', /primary/);
    assertFound(sound, 'log', 'skipped', /next start/);
    await rights('REVOKE DELETE ON usage FROM lesser');
    await rights('ALTER TABLE recipients OWNER TO phm');
    await rights('REVOKE CREATE ON SCHEMA public FROM lesser');
    await rights('ALTER ROUTINE add_counts OWNER TO phm');
    await rights('REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA public FROM PUBLIC');
    const less = await found();
    for (const remedy of [
      /superuser: GRANT DELETE ON recipients, usage TO lesser/,
      /ALTER TABLE recipients OWNER TO lesser/,
      /GRANT CREATE ON SCHEMA public TO lesser/,
      /GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO lesser/,
    ]) {
      assertFound(less, 'database', 'failed', remedy);
    }
  });

  it('finds a standby in place of the primary', {
    skip: !PROGRAMS && 'pg_basebackup of PostgreSQL 15 or newer is not installed here',
  }, async () => {
    const standby = await postgres.startStandby('one');
    try {
      const found = await doctor(dataDir, { ...env, PHM_DATABASE_URL: standby.url('doctor') });
      assert.equal(found.code, 1);
      assertFound(found, 'database', 'failed', /is a standby.*\n.*name the primary/s);
    } finally {
      await standby.remove();
    }
  });

  it('names a database that does not answer, and goes on with other checks', async () => {
    const silent: TcpServer = createServer((socket) => socket.on('error', () => {}));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as { port: number };
    try {
      const found = await doctor(dataDir, {
        ...env,
        PHM_DATABASE_URL: postgres.url('doctor', port),
      });
      assert.equal(found.code, 1);
      assertFound(found, 'database', 'failed', /no answer within 5 s|timeout/);
      assertFound(found, 'schema', 'skipped', /database cannot be used/);
      assertFound(found, 'kernels', 'ok', /passed/);
    } finally {
      silent.close();
    }
  });

  it('works without a server', async () => {
    const { code, stdout } = await runPhm(['doctor'], dataDir, env);
    assert.equal(code, 0);
    assert.match(stdout, /^skipped +server +nothing listens/m);
  });
});
