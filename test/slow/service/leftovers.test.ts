/**
 * What a run of tests says of what its files leave, and of a test that fails. Each case is a run of one file that is written
 * for it.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { after, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { noPostgres } from '../../support/ledgers/postgres.ts';
import { until } from '../../support/run/until.ts';
import { makeDataDir, removeDataDir } from '../../support/servers/server.ts';

const SUPPORT = resolve(import.meta.dirname, '../../support');
const folder = makeDataDir();
after(() => removeDataDir(folder));

/** Runs a file with this code, which may use the modules of `test/support`, and returns what the run says. */
function runFile(name: string, code: string): { status: number | null; output: string } {
  const file = join(folder, `${name}.test.ts`);
  const imports = {
    'node:assert/strict': 'assert',
    'node:child_process': '{ spawn }',
    'node:fs': '{ writeFileSync }',
    'node:os': '{ tmpdir }',
    'node:test': 'test',
    [urlOf('servers/server.ts')]: '{ makeDataDir, removeDataDir, Server }',
    [urlOf('ledgers/postgres.ts')]: '{ Postgres }',
    [urlOf('ledgers/shared-postgres.ts')]: '{ sharedPostgres }',
  };
  const lines = Object.entries(imports).map(([from, names]) => `import ${names} from '${from}';`);
  writeFileSync(file, `${lines.join('\n')}\n${code}`);
  const preloaded = ['run/compile-cache.mjs', 'run/own-folder.mjs'].map(
    (one) => `--import=${urlOf(one)}`,
  );
  const setup = `--test-global-setup=${join(SUPPORT, 'run/global-setup.ts')}`;
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--test', setup, ...preloaded, file],
    { env: { ...env, TMPDIR: folder, TEST_ENDING_MS: '500' }, encoding: 'utf8' },
  );
  return { status, output: stdout + stderr };
}

function urlOf(file: string): string {
  return pathToFileURL(join(SUPPORT, file)).href;
}

describe('a run of tests', () => {
  it('passes if its files leave nothing, and removes its folder', () => {
    const { status, output } = runFile(
      'tidy',
      `test('tidy', (t) => { const path = makeDataDir(); t.after(() => removeDataDir(path)); t.diagnostic(tmpdir()); });`,
    );
    assert.equal(status, 0, output);
    const [own = ''] = /\S+tidy$/m.exec(output) ?? [];
    assert.ok(own.startsWith(folder), output);
    assert.equal(existsSync(dirname(own)), false);
  });

  it('fails if a file leaves a process or a file, and names the file', {
    skip: process.platform !== 'linux' && 'processes are found in /proc',
  }, async () => {
    const { status, output } = runFile(
      'untidy',
      `test('untidy', () => {
        writeFileSync(tmpdir() + '/crumb', '');
        spawn('sleep', ['600'], { detached: true, stdio: 'ignore', env: { ...process.env, PWD: '/' } }).unref();
      });`,
    );
    assert.equal(status, 1, output);
    assert.match(output, /untidy left process \d+: sleep 600$/m);
    assert.match(output, /untidy left \S+\/crumb$/m);
    const [, pid] = /left process (\d+)/.exec(output) ?? [];
    // A dead process has no command, or is not there at all.
    const command = `/proc/${pid}/cmdline`;
    await until(
      'the process is ended',
      () => !existsSync(command) || readFileSync(command).length === 0,
    );
  });

  it('fails if a file leaves a database or a role in the shared PostgreSQL', {
    skip: noPostgres,
  }, () => {
    const { status, output } = runFile(
      'forgetful',
      `test('forgetful', async () => {
        const databases = await sharedPostgres();
        await databases.createLedger('books');
        await databases.createRole('reader');
      });`,
    );
    assert.equal(status, 1, output);
    assert.match(output, /forgetful_\d+_books in PostgreSQL$/m);
    assert.match(output, /forgetful_\d+_reader in PostgreSQL$/m);
    assert.equal(output.match(/ in PostgreSQL$/gm)?.length, 2);
  });

  it('names the data directory and the log of a server in use by a test that fails, and keeps them', () => {
    const { status, output } = runFile(
      'failing',
      `const serve = async (t) => {
        const path = makeDataDir();
        const server = await Server.start(path);
        t.after(async () => { await server.stop(); removeDataDir(path); });
        return path;
      };
      test('passes', async (t) => t.diagnostic('passed with ' + await serve(t)));
      test('fails', async (t) => { await serve(t); assert.fail('on purpose'); });`,
    );
    assert.equal(status, 1, output);
    const [, path = '', log = ''] = /kept: data directory (\S+), log (\S+)$/m.exec(output) ?? [];
    assert.ok(output.includes(`\nkept, with logs beside it:\n  ${path}\n`), output);
    assert.equal(statSync(path).mode & 0o777, 0o700);
    assert.ok(existsSync(join(path, 'phm.db')));
    assert.equal(statSync(log).mode & 0o777, 0o600);
    assert.match(readFileSync(log, 'utf8'), /"msg":/);
    const [, passed = ''] = /passed with (\S+)$/m.exec(output) ?? [];
    assert.notEqual(passed, '', output);
    assert.equal(existsSync(passed), false);
    assert.doesNotMatch(output, /The run left/);
    rmSync(dirname(dirname(path)), { recursive: true });
  });

  it("names PostgreSQL's logs if a test fails, of the shared server and of the file's own, and keeps them", {
    skip: noPostgres,
  }, () => {
    const { status, output } = runFile(
      'stumbling',
      `test('fails', async (t) => {
        const own = await Postgres.start();
        t.after(() => own.remove());
        const shared = await sharedPostgres();
        for (const one of [own, shared]) await one.query('postgres', 'SELECT no_such_column').catch(() => {});
        assert.fail('on purpose');
      });`,
    );
    assert.equal(status, 1, output);
    const logs = [...output.matchAll(/kept: PostgreSQL's log (\S+)$/gm)].map(
      ([, log]) => log ?? '',
    );
    assert.equal(new Set(logs).size, 2, output);
    for (const log of logs) {
      assert.equal(statSync(log).mode & 0o777, 0o600);
      assert.match(readFileSync(log, 'utf8'), /column "no_such_column" does not exist/);
      assert.match(output.slice(output.lastIndexOf('\nkept, ')), new RegExp(RegExp.escape(log)));
    }
    assert.doesNotMatch(output, /The run left/);
    rmSync(dirname(logs.find((log) => log.endsWith('/postgres.log')) ?? ''), { recursive: true });
  });
});
