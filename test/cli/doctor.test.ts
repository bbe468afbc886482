/** `phm doctor` on real files and a real SQLite database, in this process. `test/campaigns/doctor.test.ts` has servers. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { runCheck } from '../../src/cli/doctor/check.ts';
import { CHECKS } from '../../src/cli/doctor/checks.ts';
import { Site } from '../../src/cli/doctor/site.ts';
import { baselineVersion, readMigrations } from '../../src/ledger/migrations.ts';
import { makeCertificate } from '../support/servers/certificate.ts';
import { runCommand as phm } from '../support/servers/run-command.ts';
import { type Environment, makeDataDir, removeDataDir } from '../support/servers/server.ts';
import { ROOT } from '../support/texts/imports.ts';

interface Checked {
  readonly name: string;
  readonly status: string;
  readonly detail: string;
  readonly do: string | null;
}

let dataDir: string;
before(async () => {
  dataDir = makeDataDir();
  rmSync(dataDir, { recursive: true });
  const create = ['account', 'create', '--init', '--name', 'A', '--plan', 'research'];
  assert.equal((await phm(create, { PHM_DATA_DIR: dataDir })).code, 0);
});
after(() => removeDataDir(dataDir));

/** Runs one check, as the command does. */
async function check(name: string, env: Environment = {}): Promise<Checked[]> {
  const row = CHECKS.find((one) => one.name === name);
  assert.ok(row);
  const site = new Site({ env: { PHM_PORT: '0', PHM_DATA_DIR: dataDir, ...env } } as never);
  try {
    return (await runCheck(row, site)).map((finding) => ({ name, ...finding }));
  } finally {
    await site.close();
  }
}

/** Returns the status of each finding, and asserts that they say something. */
async function statuses(name: string, env: Environment, said: RegExp): Promise<string> {
  const found = await check(name, env);
  assert.match(found.map((one) => `${one.detail}\n${one.do}`).join('\n'), said);
  return found.map(({ status }) => status).join();
}

/** Everything about the files of the directory that a change would alter. */
function snapshot(): unknown[] {
  const files = ['.', ...readdirSync(dataDir)].map((name) => join(dataDir, name));
  return files.map((path) => {
    const { mtimeNs, ctimeNs, size, mode } = statSync(path, { bigint: true });
    const isFile = statSync(path).isFile();
    const hash = isFile && createHash('sha256').update(readFileSync(path)).digest('hex');
    return [path, mtimeNs, ctimeNs, size, mode, hash];
  });
}

describe('phm doctor', () => {
  it('reports every check as JSON, changes no file, and shows no secret', async () => {
    const before = snapshot();
    const env = { PHM_DATA_DIR: dataDir, PHM_IBM_API_KEY: 'planted-secret', PHM_TYPO: 'planted' };
    const [json, text] = [await phm(['doctor', '--json'], env), await phm(['doctor'], env)];
    assert.deepEqual(snapshot(), before);
    assert.deepEqual([json.code, text.code], [2, 2]);
    const report = JSON.parse(json.stdout) as { ok: boolean; checks: Checked[] };
    assert.equal(report.ok, false);
    assert.deepEqual(
      report.checks.map(({ name }) => name),
      CHECKS.map(({ name }) => name),
    );
    for (const one of report.checks) {
      assert.deepEqual(Object.keys(one), ['name', 'status', 'detail', 'do']);
      assert.match(one.status, /^(ok|warning|failed|skipped)$/);
    }
    assert.equal(report.checks[2]?.detail, 'the configuration is invalid');
    const [, secret = ''] =
      /([0-9a-f]{64})/.exec(readFileSync(join(dataDir, 'master.key'), 'utf8')) ?? [];
    assert.equal(secret.length, 64);
    for (const output of [json, text].map(({ stdout, stderr }) => stdout + stderr)) {
      assert.doesNotMatch(output, /planted/);
      assert.ok(!output.includes(secret));
    }
    assert.match(text.stdout, /^failed +configuration .*PHM_IBM_SERVICE_CRN.*\n +Do: see docs\//m);
    assert.match(text.stderr, /^15 checks, \d+ findings: 1 failed, /);
  });

  it('exits with code 0 on a sound installation, whose files it leaves alone', async () => {
    const before = snapshot();
    const { code, stdout, stderr } = await phm(['doctor'], { PHM_DATA_DIR: dataDir });
    assert.deepEqual([code, snapshot()], [0, before], stdout + stderr);
    for (const name of ['clock', 'database', 'schema', 'master secret', 'kernels']) {
      assert.match(stdout, new RegExp(`^ok +${name} `, 'm'));
    }
  });

  it('leads to pages and headings that exist', () => {
    for (const { page } of CHECKS) {
      const [file = '', anchor] = page.split('#');
      const headings = readFileSync(join(ROOT, file), 'utf8').match(/^#+ .*/gm) ?? [];
      const anchors = headings.map((line) =>
        line
          .replace(/^#+ /, '')
          .toLowerCase()
          .replace(/[^\w -]/g, '')
          .replaceAll(' ', '-'),
      );
      assert.ok(anchor === undefined || anchors.includes(anchor), page);
    }
  });
});

describe('the checks of files', () => {
  it('find a secret that others can read, and a directory that is missing', async () => {
    const secret = join(dataDir, 'master.key');
    chmodSync(secret, 0o644);
    assert.equal(
      await statuses('permissions', {}, /can read the master secret.*chmod 600/),
      'failed',
    );
    chmodSync(secret, 0o600);
    assert.equal(await statuses('permissions', {}, /only the user/), 'ok');
    const gone = { PHM_DATA_DIR: join(dataDir, 'gone') };
    assert.equal(await statuses('permissions', gone, /PHM_DATA_DIR names it/), 'warning');
    const state = { PHM_LOG_STATE_FILE: '/gone/state' };
    assert.equal(await statuses('permissions', state, /no such directory/), 'failed');
  });

  it('find another secret, a version that is missing, and a file that is gone', async () => {
    const other = { PHM_MASTER_KEY: 'ab'.repeat(32) };
    const foreign = /version 1 of the master secret is not the one/;
    assert.equal(await statuses('master secret', other, foreign), 'failed');
    const second = { PHM_MASTER_KEY: `2:${'ab'.repeat(32)}` };
    assert.equal(await statuses('master secret', second, /lacks: restore/), 'failed');
    const gone = { PHM_MASTER_KEY_FILE: join(dataDir, 'gone') };
    assert.equal(await statuses('master secret', gone, /restore the file/), 'failed');
  });

  it('find a certificate that expired, one that soon will, and one of another key', async () => {
    const [certFile, keyFile] = [join(dataDir, 'cert.pem'), join(dataDir, 'key.pem')];
    const env = { PHM_TLS_CERT_FILE: certFile, PHM_TLS_KEY_FILE: keyFile };
    const day = 86_400_000;
    for (const [endMs, status, said] of [
      [
        Date.now() - 1000,
        'failed',
        /expired at .*\n.*PHM_TLS_KEY_FILE, run this again, then restart.*#renew-the-certificate$/,
      ],
      [Date.now() + day, 'warning', /expires at/],
      [Date.now() + 30 * day, 'ok', /localhost.*valid until/],
    ] as const) {
      makeCertificate(certFile, keyFile, endMs);
      assert.equal(await statuses('certificate', env, said), status);
    }
    makeCertificate(join(dataDir, 'other.pem'), keyFile);
    assert.equal(await statuses('certificate', env, /not a certificate with its key/), 'failed');
    assert.equal(await statuses('certificate', {}, /speaks HTTP/), 'skipped');
    chmodSync(keyFile, 0o644);
    const exposed = /can read the certificate's key .*take the place of this server.*chmod 600/;
    assert.equal(await statuses('permissions', env, exposed), 'failed');
    for (const name of ['cert.pem', 'key.pem', 'other.pem']) rmSync(join(dataDir, name));
  });

  it('say what they could not check', async () => {
    const state = { PHM_LOG_STATE_FILE: '/gone/state' };
    assert.equal(await statuses('disk', state, /log in \/gone is unknown/), 'ok,skipped');
    const remote = {
      PHM_ENTROPY_SOURCES: 'os,ibm-quantum',
      PHM_IBM_API_KEY: 'planted',
      PHM_IBM_SERVICE_CRN: 'crn:staged',
      PHM_IBM_BACKEND: 'staged',
    };
    const untried = /ibm-quantum is remote and was not contacted/;
    assert.equal(await statuses('entropy sources', remote, untried), 'ok,skipped');
  });

  it('find a device that is no source, and an enabled log without keys', async () => {
    const device = {
      PHM_ENTROPY_SOURCES: 'os,device',
      PHM_DEVICE_PATH: join(dataDir, 'gone'),
      PHM_DEVICE_MIN_ENTROPY: '1',
    };
    assert.equal(await statuses('entropy sources', device, /device failed/), 'ok,warning');
    const asDefault = { ...device, PHM_ENTROPY_SOURCE: 'device' };
    assert.equal(await statuses('entropy sources', asDefault, /no server is ready/), 'ok,failed');
    const keys = { PHM_LOG_KEY_FILE: join(dataDir, 'gone') };
    assert.equal(await statuses('log', keys, /cannot use the keys of the log/), 'failed');
    assert.equal(await statuses('log', { PHM_TRANSPARENCY_LOG: 'off' }, /is off/), 'skipped');
  });

  it('find a log that one statement closed', async () => {
    const database = new DatabaseSync(join(dataDir, 'phm.db'));
    database.exec(
      `INSERT INTO logs (log_id, origin, verifier_keys, started_ms, closed_ms, size, root, head_mac, head_version)
       VALUES (1, 'log.example', 'key', 1, 2, 0, zeroblob(32), zeroblob(32), 1)`,
    );
    const said = /the log log.example is closed, but no log follows it/;
    assert.equal(await statuses('log', {}, said), 'failed');
    const init = await phm(['log', 'init'], { PHM_DATA_DIR: dataDir });
    assert.deepEqual([init.code, said.test(init.stderr)], [1, true]);
    database.exec('DELETE FROM logs');
    database.close();
  });
});

describe('the checks of the database', () => {
  it('find a lost, a foreign and a damaged file, and skip what depends on it', async () => {
    const folder = makeDataDir();
    const env = { PHM_DATA_DIR: folder };
    try {
      assert.equal(await statuses('database', env, /no database/), 'skipped');
      writeFileSync(join(folder, 'directory.id'), `${'a'.repeat(32)}\n`);
      assert.equal(await statuses('database', env, /no database.*directory\.id/), 'failed');
      const file = new DatabaseSync(join(folder, 'phm.db'));
      file.exec('CREATE TABLE other (a)');
      file.close();
      assert.equal(
        await statuses('database', env, /another program created it|no ledger/),
        'failed',
      );
      writeFileSync(join(folder, 'phm.db'), 'not a database at all');
      assert.equal(await statuses('database', env, /is not a database/), 'failed');
      for (const name of ['clock', 'schema', 'master secret', 'log']) {
        assert.equal(await statuses(name, env, /database cannot be used/), 'skipped', name);
      }
    } finally {
      removeDataDir(folder);
    }
  });

  it('find a schema before the baseline and a newer one', async () => {
    const path = join(dataDir, 'phm.db');
    const copy = readFileSync(path);
    const setVersion = (version: number) => {
      const database = new DatabaseSync(path);
      database.exec(`PRAGMA user_version = ${version}`);
      database.close();
    };
    try {
      setVersion(baselineVersion(readMigrations('sqlite')) - 1);
      const remedy = /needs version \d+[\s\S]*the tag before-baseline: docs\/ledger\.md/;
      assert.equal(await statuses('schema', {}, remedy), 'failed');
      assert.equal(await statuses('clock', {}, /schema does not fit/), 'skipped');
      setVersion(9000);
      assert.equal(await statuses('schema', {}, /newer/), 'failed');
    } finally {
      writeFileSync(path, copy);
    }
  });
});

describe('the check of the server', () => {
  it('tells nothing from another program', async () => {
    const other = createServer((socket) =>
      socket
        .on('error', () => {})
        .resume()
        .end('no HTTP\r\n\r\n'),
    );
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const env = { PHM_PORT: String(port) };
    assert.equal(await statuses('server', env, /does not speak HTTP.*\n.*set PHM_PORT/), 'failed');
    await new Promise((closed) => other.close(closed));
    assert.equal(await statuses('server', env, /nothing listens on/), 'skipped');
  });
});
