/**
 * Servers and commands whose master secret comes from a command, with `age` and `sops` where they are installed. 30 s.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { until } from '../../support/run/until.ts';
import {
  type Environment,
  environment,
  lastReason,
  MAIN,
  makeDataDir,
  phmJson,
  removeDataDir,
  runPhm,
  Server,
} from '../../support/servers/server.ts';

const SECRET = 'c3'.repeat(32);

/** A module that makes `spawn` return half a second after the start. */
const SLOW_SPAWN = `data:text/javascript,${encodeURIComponent(`
  import child from 'node:child_process';
  import { syncBuiltinESMExports } from 'node:module';
  const { spawn } = child;
  child.spawn = (...args) => {
    const started = spawn(...args);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
    return started;
  };
  syncBuiltinESMExports();
`)}`;

/** Returns why a program cannot be used, or false. */
function lacks(program: string, argument: string): string | false {
  try {
    execFileSync(program, [argument], { stdio: 'ignore' });
    return false;
  } catch {
    return `${program} is not installed`;
  }
}

const noAge = lacks('age-keygen', '--version') || lacks('age', '--version');
const noSops = noAge || lacks('sops', '--version');
const skip = process.platform === 'win32' ? 'the commands are for a POSIX shell' : false;

/** Returns the names of files below the folder that hold the text. */
function filesWith(text: string, folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => {
    try {
      return readFileSync(join(folder, name)).includes(text);
    } catch {
      return false;
    }
  });
}

describe('a server whose master secret comes from a command', { skip }, () => {
  let folder: string;
  let dataDir: string;
  before(() => {
    folder = makeDataDir();
    dataDir = join(folder, 'data');
  });
  after(() => {
    removeDataDir(dataDir);
    removeDataDir(folder);
  });

  /** Starts a server, generates a key, restarts and validates it, and uses the secret in commands. */
  async function useSecret(env: Environment): Promise<void> {
    rmSync(dataDir, { recursive: true, force: true });
    rmSync(`${dataDir}.log-state`, { force: true });
    let server = await Server.start(dataDir, env);
    const { key, hash_proof: proof } = (await server.generate({ security_level: 256 })).body;
    await server.stop();
    const first = server.log;
    server = await Server.start(dataDir, env);
    assert.equal((await server.validate({ key, hash_proof: proof })).body.valid, true);
    const create = ['account', 'create', '--name', 'A', '--plan', 'research'];
    await phmJson(create, dataDir, env);
    const list = await runPhm(['secret', 'list'], dataDir, env);
    assert.match(list.stderr, /^Master secret: PHM_MASTER_KEY_COMMAND$/m);
    assert.match(list.stdout, /^1 +current/m);
    const { stdout } = await runPhm(['doctor', '--json'], dataDir, env);
    const { checks } = JSON.parse(stdout);
    const row = checks.find(({ name }: { name: string }) => name === 'master secret');
    assert.deepEqual([row.status, row.detail], ['ok', 'version 1, current 1, fits the database']);
    const backup = join(folder, `backup-${Date.now()}.db`);
    assert.equal((await runPhm(['ledger', 'backup', backup], dataDir, env)).code, 0);
    await server.stop();
    const restore = await runPhm(['ledger', 'restore', backup, '--replace'], dataDir, env);
    assert.ok(!/warning: the master secret was not compared/.test(restore.stderr), restore.stderr);
    const rotate = await runPhm(['secret', 'rotate'], dataDir, env);
    assert.deepEqual([rotate.code, /cannot change: add a line/.test(rotate.stderr)], [1, true]);
    for (const text of [first, server.log, list.stdout, list.stderr, stdout]) {
      assert.ok(!text.includes(SECRET));
    }
    assert.ok(!existsSync(join(dataDir, 'master.key')));
    assert.deepEqual(filesWith(SECRET, folder), []);
  }

  it('works with age', { skip: noAge }, async (t) => {
    t.diagnostic('age');
    const [identity, encrypted] = [join(folder, 'identity'), join(folder, 'secret.age')];
    execFileSync('age-keygen', ['-o', identity], { stdio: 'ignore' });
    const recipient = execFileSync('age-keygen', ['-y', identity], { encoding: 'utf8' }).trim();
    execFileSync('age', ['-r', recipient, '-o', encrypted], { input: `1:${SECRET}\n` });
    await useSecret({ PHM_MASTER_KEY_COMMAND: `age -d -i '${identity}' '${encrypted}'` });
  });

  it('works with sops', { skip: noSops }, async (t) => {
    t.diagnostic('sops');
    const [identity, encrypted] = [join(folder, 'sops-identity'), join(folder, 'secret.yaml')];
    execFileSync('age-keygen', ['-o', identity], { stdio: 'ignore' });
    const recipient = execFileSync('age-keygen', ['-y', identity], { encoding: 'utf8' }).trim();
    const plain = join(folder, 'plain.yaml');
    writeFileSync(plain, `master_key: "1:${SECRET}"\n`);
    const args = ['encrypt', '--age', recipient, '--output', encrypted, plain];
    execFileSync('sops', args, { stdio: 'ignore' });
    rmSync(plain);
    await useSecret({
      SOPS_AGE_KEY_FILE: identity,
      PHM_MASTER_KEY_COMMAND: `sops decrypt --extract '["master_key"]' '${encrypted}'`,
    });
  });

  it('waits for a command that fails, and logs what it says without the secret', async () => {
    rmSync(dataDir, { recursive: true, force: true });
    rmSync(`${dataDir}.log-state`, { force: true });
    const ready = join(folder, 'ready');
    const command = `echo '${SECRET}' no network >&2; [ -e '${ready}' ] || exit 1; echo ${SECRET}`;
    const env = { PHM_MASTER_KEY_COMMAND: command, PHM_PORT: '0', PHM_LOG_FORMAT: 'json' };
    const child = spawn(process.execPath, [MAIN, 'serve'], { env: environment(dataDir, env) });
    let log = '';
    child.stderr.on('data', (chunk) => {
      log += chunk;
      if (log.includes('startup is waiting for the master secret')) writeFileSync(ready, '');
    });
    await until('it serves', async () => log.includes('"msg":"listening"'));
    child.kill('SIGINT');
    await once(child, 'close');
    assert.match(log, /failed with exit code 1, and said: <hidden> no network/);
    assert.match(log, /the master secret was read: startup continues/);
    assert.match(log, /"text":"<hidden> no network","msg":"the command of the master secret says"/);
    assert.ok(!log.includes(SECRET));
    const none = { ...env, PHM_MASTER_KEY_COMMAND: 'exit 1', PHM_START_WAIT_SECONDS: '0' };
    const { code, stderr } = await runPhm(['serve'], dataDir, none);
    assert.equal(code, 1);
    assert.match(lastReason(stderr), /PHM_MASTER_KEY_COMMAND failed with exit code 1/);
  });

  it('ends the command with itself', async () => {
    rmSync(dataDir, { recursive: true, force: true });
    const file = join(folder, 'pid');
    const env = { PHM_MASTER_KEY_COMMAND: `echo $$ > '${file}'; sleep 600 & wait`, PHM_PORT: '0' };
    const starts = [
      [MAIN, 'serve'],
      [MAIN, 'secret', 'list'],
      // The signal comes before the program goes on after the start of the command.
      ['--import', SLOW_SPAWN, MAIN, 'secret', 'list'],
    ];
    for (const args of starts) {
      rmSync(file, { force: true });
      const child = spawn(process.execPath, args, {
        env: environment(dataDir, env),
        stdio: 'ignore',
      });
      const read = () => (existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0);
      await until('the command runs', async () => read() > 0);
      const end = once(child, 'close');
      child.kill('SIGTERM');
      await end;
      await until('the command has ended', async () => {
        try {
          return !process.kill(-read(), 0);
        } catch {
          return true;
        }
      });
    }
  });
});
