/** The command of `PHM_MASTER_KEY_COMMAND`: its limits, its failures, and what it never shows. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type MasterSecretOrigin, readConfig } from '../../src/config/index.ts';
import { SetupError } from '../../src/errors.ts';
import { forgetMasterSecret, readMasterSecret, rotateMasterSecret } from '../../src/setup/index.ts';
import { runSecretCommand, type SecretCommand } from '../../src/setup/secret-command.ts';
import { isAlive } from '../support/run/alive.ts';

const folder = mkdtempSync(join(tmpdir(), 'phm-command-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const SECRET = '5a'.repeat(32);
const skip = process.platform === 'win32' ? 'the commands are for a POSIX shell' : false;

const noSession = spawnSync('setsid', ['true']).error ? 'setsid is not installed' : false;

/** Returns the origin that the configuration makes of a command, and what it says. */
function commandOf(command: string, env: Record<string, string> = {}) {
  const said: string[] = [];
  const result = readConfig(
    { PATH: process.env.PATH, PHM_MASTER_KEY_COMMAND: command, ...env },
    {
      cores: 1,
      knownSources: ['os', 'quantum-simulator'],
      serves: true,
      say: (text) => said.push(text),
    },
  );
  assert.ok(result.ok);
  return { origin: result.config.masterSecret as SecretCommand & MasterSecretOrigin, said };
}

async function failureOf(command: string, limitMs?: number): Promise<SetupError> {
  const failure = await runSecretCommand(commandOf(command).origin, limitMs).then(
    () => null,
    (error: unknown) => error,
  );
  assert.ok(failure instanceof SetupError, `${failure}`);
  return failure;
}

describe('the command of the master secret', { skip }, () => {
  it('writes the text of the file, in a shell, and runs once for all readers', async () => {
    const runs = join(folder, 'runs');
    const { origin, said } = commandOf(`echo x >> '${runs}'; printf '1:%s\\n' ${SECRET} | cat`);
    const read = await Promise.all([readMasterSecret(origin), readMasterSecret(origin)]);
    read.push(await readMasterSecret(origin));
    for (const { versions, currentVersion } of read) {
      assert.deepEqual([versions.length, currentVersion], [1, 1]);
      assert.equal(versions[0]?.secret.toString('hex'), SECRET);
      versions[0]?.secret.fill(0);
    }
    assert.deepEqual([readFileSync(runs, 'utf8'), said], ['x\n', []]);
    await forgetMasterSecret(origin);
    await readMasterSecret(origin);
    assert.equal(readFileSync(runs, 'utf8'), 'x\nx\n');
  });

  it('has no standard input, and the environment without the variables of the secret', async () => {
    const file = join(folder, 'environment');
    const { origin } = commandOf(`cat; env > '${file}'; echo ${SECRET}`, {
      PHM_MASTER_KEY_VERSION: '1',
      AWS_PROFILE: 'phm',
    });
    await readMasterSecret(origin);
    const text = readFileSync(file, 'utf8');
    assert.match(text, /^AWS_PROFILE=phm$/m);
    assert.doesNotMatch(text, /PHM_MASTER_KEY/);
  });

  it('shows what it says, but never what it writes', async () => {
    const words = `echo 'token expires' >&2; echo ${SECRET} >&2; echo AGE-SECRET-KEY-1QQ >&2`;
    const { origin, said } = commandOf(`${words}; echo ${SECRET}`);
    await readMasterSecret(origin);
    assert.deepEqual(said, ['token expires <hidden> <hidden>']);
    const failure = await failureOf(`${words}; echo ${SECRET}; exit 3`);
    assert.match(failure.message, /failed with exit code 3, and said: token expires <hidden>/);
    assert.ok(!failure.message.includes(SECRET));
    const traced = await failureOf(`set -x; echo tr-secret-word; exit 1`);
    assert.ok(!traced.message.includes('tr-secret-word'), traced.message);
    const long = await failureOf('(yes a b | head -c 100000; echo no rights) >&2; exit 1');
    assert.ok(long.message.length < 1_500);
    assert.match(long.message, / a b no rights; run the command/);
  });

  it('may succeed later if it fails, but not if the shell cannot run it', async () => {
    const passing = await failureOf('echo no network >&2; exit 1');
    assert.deepEqual([passing.mayPass, passing.awaits], [true, 'the master secret']);
    for (const command of ['/no/such/program', `'${folder}'`]) {
      const lasting = await failureOf(command);
      assert.equal(lasting.mayPass, false);
      assert.match(lasting.message, /failed with exit code 12[67], and said: .*run the command by/);
    }
    assert.match((await failureOf('kill -9 $$')).message, /was ended by SIGKILL/);
  });

  it('is killed at its time limit with all processes that it started', async () => {
    const file = join(folder, 'pid');
    let late: SetupError | undefined;
    // A loaded machine may need longer to start a shell.
    for (let limitMs = 300; !existsSync(file); limitMs *= 2) {
      late = await failureOf(
        `sleep 600 & echo $! > '${file}.new'; mv '${file}.new' '${file}'; wait`,
        limitMs,
      );
    }
    assert.match(`${late?.message}`, /did not end within [\d.]+ s, so it was stopped, and said/);
    assert.equal(late?.mayPass, true);
    const pid = Number(readFileSync(file, 'utf8'));
    while (isAlive(pid)) await delay(10);
  });

  it('ends at its time limit if a process in a session of its own keeps the output open', {
    skip: noSession,
  }, async () => {
    const file = join(folder, 'apart');
    const start = `setsid sh -c 'echo $$ >> "${file}"; exec sleep 60'`;
    const cases: [command: string, said: RegExp][] = [
      [`${start} & echo ${SECRET}`, /a process that it started kept its output open/],
      [start, /did not end within/],
    ];
    for (const [command, said] of cases) {
      let message = '';
      // A loaded machine may need longer to start two shells.
      for (let limitMs = 300; !said.test(message) || !existsSync(file); limitMs *= 2) {
        const failure = await failureOf(command, limitMs);
        assert.equal(failure.mayPass, true);
        message = failure.message;
      }
      for (const pid of readFileSync(file, 'utf8').split('\n').filter(Boolean).map(Number)) {
        if (isAlive(pid)) process.kill(pid, 'SIGKILL');
      }
      rmSync(file);
    }
  });

  it('is killed if it writes too much', async () => {
    const failure = await failureOf('yes');
    assert.match(failure.message, /wrote more than 65536 bytes/);
    assert.equal(failure.mayPass, false);
  });

  it('is refused if it writes something else, without a quotation', async () => {
    for (const text of ['', 'planted-word', `1:${SECRET} 2:planted-word`]) {
      const { origin } = commandOf(`echo '${text}'`);
      await assert.rejects(readMasterSecret(origin), (error: Error) => {
        assert.match(error.message, /^PHM_MASTER_KEY_COMMAND did not write a master secret: /);
        assert.ok(!error.message.includes('planted') && !error.message.includes(SECRET));
        return error.name === 'SetupError' && !(error as SetupError).mayPass;
      });
    }
  });

  it('cannot be rotated by this program', async () => {
    const { origin } = commandOf(`echo ${SECRET}`);
    await assert.rejects(rotateMasterSecret(origin), /cannot change: add a line "2:<new>"/);
  });

  it('excludes the other variables of the secret', () => {
    const context = { cores: 1, knownSources: ['os', 'quantum-simulator'], serves: true };
    const env = { PHM_MASTER_KEY_COMMAND: 'cat key', PHM_MASTER_KEY_FILE: 'key' };
    const two = readConfig(env, context);
    assert.deepEqual(two.ok || two.problems, [
      'PHM_MASTER_KEY_FILE and PHM_MASTER_KEY_COMMAND are both set: keep one of them',
    ]);
    const three = readConfig({ ...env, PHM_MASTER_KEY: SECRET }, context);
    assert.match(String(three.ok || three.problems), /are all set: keep one of them/);
    const PHM_DATABASE_URL = 'postgres://phm@localhost/phm';
    assert.ok(readConfig({ PHM_MASTER_KEY_COMMAND: 'cat key', PHM_DATABASE_URL }, context).ok);
  });
});
