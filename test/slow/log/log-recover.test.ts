/** `phm log init`, `show` and `recover`: a log starts, rotates and continues after a restore, and never forks. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { newLogKeysText, openPolicy, parseLogKeys } from '../../../src/log/index.ts';
import { LogLedger } from '../../support/ledgers/log-ledger.ts';
import { ORIGIN } from '../../support/ledgers/log-writer.ts';
import { runCommand } from '../../support/servers/run-command.ts';
import { makeDataDir, removeDataDir } from '../../support/servers/server.ts';

const NEXT = 'keys.example/log2';

let ledger: LogLedger;
beforeEach(async () => {
  ledger = await LogLedger.create();
});
afterEach(() => ledger.remove());

/** Runs a command that must succeed. */
async function run(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await ledger.run(...args);
  assert.equal(code, 0, stderr);
  return stdout + stderr;
}

/** Runs a command that must fail with one clear message. */
async function refused(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await ledger.run(...args);
  assert.deepEqual([code, stdout], [1, ''], stderr);
  assert.doesNotMatch(stderr, /\n {4}at /);
  return stderr;
}

const stateText = (): string => readFileSync(ledger.stateFile, 'utf8').split('\n\n')[0] ?? '';

/** Loses the last keys: the log publishes them, then the database is restored without them. */
async function loseKeys(): Promise<{ copy: string; published: string }> {
  await ledger.addKeys(260);
  await ledger.publish();
  ledger.backUp();
  await ledger.addKeys(40);
  await ledger.publish();
  const copy = join(ledger.folder, 'copy');
  await ledger.exportTo(copy);
  ledger = await ledger.restore();
  return { copy, published: stateText() };
}

describe('phm log init', () => {
  it('generates keys that only their owner can read, and refuses a second log', async () => {
    const file = join(ledger.dataDir, 'log.key');
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.equal(parseLogKeys(readFileSync(file, 'utf8')).origin, ORIGIN);
    assert.match(
      await refused('log', 'init'),
      /the log keys\.example\/log is open[\s\S]*log init --rotate\n$/,
    );
    assert.equal(parseLogKeys(readFileSync(file, 'utf8')).origin, ORIGIN);
  });

  it('prints keys without a ledger', async () => {
    const { code, stdout } = await runCommand(['log', 'init', '--print', '--origin', NEXT]);
    assert.equal(code, 0);
    assert.equal(parseLogKeys(stdout).origin, NEXT);
  });

  it('starts the log of keys that are in place', async () => {
    const dataDir = makeDataDir();
    const env = { PHM_DATA_DIR: dataDir, PHM_LOG_STATE_FILE: `${dataDir}.log-state` };
    const create = ['account', 'create', '--init', '--name', 'A', '--plan', 'research'];
    await runCommand(create, env);
    const { stdout: text } = await runCommand(['log', 'init', '--print', '--origin', NEXT]);
    const { code, stdout } = await runCommand(['log', 'init'], { ...env, PHM_LOG_KEY: text });
    assert.deepEqual([code, stdout], [0, `${NEXT}\n`]);
    removeDataDir(dataDir);
  });

  it('writes the keys of a named file that is missing, first and in a rotation', async () => {
    const dataDir = makeDataDir();
    const file = join(dataDir, 'named.key');
    const env = {
      PHM_DATA_DIR: dataDir,
      PHM_LOG_STATE_FILE: `${dataDir}.log-state`,
      PHM_LOG_KEY_FILE: file,
    };
    const init = (...args: string[]) => runCommand(['log', 'init', ...args], env);
    const create = ['account', 'create', '--init', '--name', 'A', '--plan', 'research'];
    await runCommand(create, env);
    assert.equal((await init('--origin', NEXT)).stdout, `${NEXT}\n`);
    writeFileSync(file, 'damaged');
    const damaged = await init('--rotate');
    assert.match(damaged.stderr, /or move the file away and rotate the log: .*log init --rotate/);
    // Keys of the same name, such as those of another installation, are not the log's.
    writeFileSync(file, newLogKeysText(NEXT));
    assert.match(
      (await init()).stderr,
      /its keys are not here \(those here have the key IDs .* but those of the open log/,
    );
    rmSync(file);
    assert.match((await init()).stderr, /is open, but its keys are not here: copy/);
    assert.equal((await init('--rotate', '--origin', `${NEXT}b`)).stdout, `${NEXT}b\n`);
    assert.equal(parseLogKeys(readFileSync(file, 'utf8')).origin, `${NEXT}b`);
    removeDataDir(dataDir);
  });

  it('rotates: closes the log, links the new one to its last checkpoint, moves waiting entries', async () => {
    await ledger.addKeys(3);
    await ledger.publish();
    await ledger.addKeys(2);
    const old = stateText();
    assert.match(
      await run('log', 'init', '--rotate', '--origin', NEXT),
      /closed the one before it/,
    );
    const [closed, open] = await ledger.store.logs();
    assert.deepEqual([closed?.size, open?.origin, open?.size], [4, NEXT, 1]);
    const first = await ledger.store.readEntries(open?.logId ?? 0, 0, 1);
    assert.deepEqual(Buffer.from(first), createHash('sha256').update(`${old}\n`).digest());
    assert.match(stateText(), /^keys\.example\/log2\n1\n/);
    assert.match(await run('log', 'check'), /Pending: 3\./);
    await ledger.publish();
    assert.match(await run('log', 'check'), /Compared 5 rows and 2 audit records .* Pending: 0\./);
  });

  it('signs every entry of the old log before it rotates', async () => {
    await ledger.addKeys(3);
    await ledger.publish();
    await ledger.addKeys(2);
    const note = readFileSync(ledger.stateFile, 'utf8');
    await ledger.publish();
    // The server stopped between the turn and the checkpoint.
    writeFileSync(ledger.stateFile, note);
    ledger.execute('UPDATE log_checkpoints SET note = ?, size = 4', note);
    await run('log', 'init', '--rotate');
    const [closed] = await ledger.store.logs();
    assert.match(closed?.checkpoint ?? '', /^keys\.example\/log\n6\n/);
    await run('log', 'check');
  });

  it('links a rotation after a restore to the checkpoint that was published', async () => {
    const { published } = await loseKeys();
    await run('log', 'init', '--rotate', '--origin', NEXT);
    const [, open] = await ledger.store.logs();
    const first = await ledger.store.readEntries(open?.logId ?? 0, 0, 1);
    assert.deepEqual(Buffer.from(first), createHash('sha256').update(`${published}\n`).digest());
    await run('log', 'check');
  });

  it('signs no head that no server sealed: closes such a log at its last checkpoint', async () => {
    await ledger.addKeys(3);
    await ledger.publish();
    const published = stateText();
    await ledger.appendUnsealed();
    await run('log', 'init', '--rotate', '--origin', NEXT);
    const [closed, open] = await ledger.store.logs();
    assert.match(closed?.checkpoint ?? '', /^keys\.example\/log\n4\n/);
    const first = await ledger.store.readEntries(open?.logId ?? 0, 0, 1);
    assert.deepEqual(Buffer.from(first), createHash('sha256').update(`${published}\n`).digest());
  });

  it('refuses to rotate behind such a head without a checkpoint', async () => {
    rmSync(ledger.stateFile, { force: true });
    await ledger.appendUnsealed();
    assert.match(await refused('log', 'init', '--rotate'), /has a wrong seal: no server wrote it/);
    assert.equal((await ledger.store.logs()).length, 1);
  });

  it('rotates a log that grows meanwhile, under its last entry', async () => {
    await ledger.addKeys(3);
    await ledger.publish();
    let isDone = false;
    const grow = async () => {
      for (let i = 0; i < 20 && !isDone; i++) {
        await ledger.addKeys(1);
        await ledger.takeTurn();
      }
    };
    const growth = grow();
    await run('log', 'init', '--rotate', '--origin', NEXT);
    isDone = true;
    await growth;
    const [closed] = await ledger.store.logs();
    assert.match(closed?.checkpoint ?? '', new RegExp(`^keys\\.example/log\n${closed?.size}\n`));
  });

  it('refuses an origin that was used, and one that cannot be', async () => {
    assert.match(
      await refused('log', 'init', '--rotate', '--origin', ORIGIN),
      /belongs to an earlier log/,
    );
    const { code, stderr } = await ledger.run('log', 'init', '--origin', 'two words');
    assert.equal(code, 2);
    assert.match(stderr, /expected an origin of 1 to 255 bytes/);
  });

  it('refuses the state file of another ledger', async () => {
    await ledger.publish();
    const text = readFileSync(ledger.stateFile, 'utf8').replaceAll(ORIGIN, 'other.example/log');
    writeFileSync(ledger.stateFile, text);
    const stderr = await refused('log', 'init', '--rotate');
    assert.match(stderr, /is of the log other\.example\/log, which this ledger does not have/);
  });
});

describe('phm log show', () => {
  it('shows the log, and writes a policy that verifiers read', async () => {
    await ledger.addKeys(2);
    await ledger.publish();
    await ledger.addKeys(1);
    const shown = await run('log', 'show');
    assert.match(shown, /^origin {5}keys\.example\/log$/m);
    assert.match(shown, /^pending {4}1, the oldest from 20/m);
    assert.match(shown, /^state file \S+: 3 entries of keys\.example\/log$/m);
    const { stdout } = await ledger.run('log', 'show', '--policy');
    assert.equal(openPolicy(stdout).logs[0]?.key.name, ORIGIN);
    const { logs } = JSON.parse((await ledger.run('log', 'show', '--json')).stdout);
    assert.deepEqual([logs[0].size, logs[0].pending, logs[0].policy], [3, 1, stdout]);
  });
});

describe('phm log recover with the state file of a closed log', () => {
  const kept = (end = '') => readFileSync(`${ledger.stateFile}.closed${end}`, 'utf8');

  it('keeps each such file', async () => {
    const notes: string[] = [];
    for (const origin of [NEXT, `${NEXT}b`]) {
      await ledger.publish();
      const note = readFileSync(ledger.stateFile, 'utf8');
      notes.push(note);
      await run('log', 'init', '--rotate', '--origin', origin);
      for (let i = 0; i < 2; i++) {
        writeFileSync(ledger.stateFile, note);
        assert.match(await run('log', 'recover', '--accept'), /is kept as .*\.closed/);
      }
    }
    assert.deepEqual([kept(), kept('-2')], notes);
    assert.throws(() => kept('-3'), { code: 'ENOENT' });
  });

  it('keeps it with --from, too', async () => {
    await ledger.publish();
    const note = readFileSync(ledger.stateFile, 'utf8');
    await run('log', 'init', '--rotate', '--origin', NEXT);
    const copy = join(ledger.folder, 'copy');
    await run('log', 'copy', copy);
    writeFileSync(ledger.stateFile, note);
    await run('log', 'recover', '--from', copy);
    assert.equal(kept(), note);
  });
});

describe('phm log recover --from', () => {
  it('brings back the entries that a restore lost, and says what is gone', async () => {
    const { copy, published } = await loseKeys();
    assert.match(await refused('log', 'check'), /a known checkpoint does not fit the database/);
    assert.match(
      await run('log', 'recover', '--from', copy),
      /Recovered 40 entries\. The rows and statements of 40 entries are gone/,
    );
    assert.equal(stateText(), published);
    await ledger.publish();
    assert.match(await run('log', 'check'), /\n40 entries were recovered from a copy/);
    assert.match(await run('log', 'recover', '--from', copy), /lacks no entry of the copy/);
  });

  it('counts the entries whose rows are there', async () => {
    await ledger.addKeys(2);
    await ledger.publish();
    await ledger.addKeys(3);
    ledger.backUp();
    await ledger.addKeys(4);
    await ledger.publish();
    const copy = join(ledger.folder, 'copy');
    await ledger.exportTo(copy);
    ledger = await ledger.restore();
    assert.match(
      await run('log', 'recover', '--from', copy),
      /Recovered 7 entries\. 3 of them waited here with their rows\. The rows and statements of 4 entries are gone/,
    );
    assert.match(await run('log', 'check'), /\n4 entries were recovered from a copy/);
  });

  it('keeps keys that waited, and keys that came after the restore', async () => {
    const { copy } = await loseKeys();
    await ledger.addKeys(5);
    await run('log', 'recover', '--from', copy);
    await ledger.publish();
    assert.match(await run('log', 'check'), /Compared 265 rows/);
  });

  it('refuses copies that are cut, changed, of another log, older or forked', async () => {
    const { copy } = await loseKeys();
    const recover = () => refused('log', 'recover', '--from', copy);
    const restore = async (path: string, change: (bytes: Buffer) => Buffer, expected: RegExp) => {
      const before = readFileSync(join(copy, path));
      writeFileSync(join(copy, path), change(Buffer.from(before)));
      assert.match(await recover(), expected);
      writeFileSync(join(copy, path), before);
    };
    await restore(
      'tile/entries/001.p/45',
      (bytes) => bytes.subarray(1),
      /entries of the log cannot be read[\s\S]*nothing was recovered/,
    );
    await restore(
      'tile/entries/001.p/45',
      (bytes) => bytes.fill(1, 200, 210),
      /entries of the log cannot be read/,
    );
    await restore(
      'tile/entries/001.p/45',
      (bytes) => bytes.fill(1, 206, 208),
      /do not match their tile/,
    );
    await restore(
      'checkpoint',
      (bytes) => Buffer.from(bytes.toString().replaceAll(ORIGIN, NEXT)),
      /is no copy of the log keys\.example\/log: no known key of keys\.example\/log2/,
    );
    const [before] = await ledger.store.logs();
    const older = Buffer.from(before?.checkpoint ?? '');
    await restore('checkpoint', () => older, /but this server published 301/);
    rmSync(join(copy, 'checkpoint'));
    assert.match(await recover(), /there is no log at/);
    const [log] = await ledger.store.logs();
    assert.equal(log?.size, 261);
  });

  it('signs no fork if a server takes turns meanwhile', async () => {
    const { copy, published } = await loseKeys();
    let isDone = false;
    const grow = async () => {
      for (let i = 0; i < 20 && !isDone; i++) {
        await ledger.addKeys(1);
        await ledger.takeTurn();
      }
    };
    const recovery = ledger.run('log', 'recover', '--from', copy);
    await setImmediate();
    await grow();
    const { code, stderr } = await recovery;
    isDone = true;
    assert.equal(code, 1, stderr);
    assert.equal(stateText(), published);
  });

  it('refuses a database that went on after the restore', async () => {
    const { copy } = await loseKeys();
    const state = readFileSync(ledger.stateFile);
    await ledger.addKeys(3);
    await ledger.publish();
    writeFileSync(ledger.stateFile, state);
    assert.match(
      await refused('log', 'recover', '--from', copy),
      /the database and the copy disagree/,
    );
  });
});

describe('phm log recover --accept', () => {
  it('writes a lost state file, and says what that means', async () => {
    await ledger.addKeys(3);
    await ledger.publish();
    const published = stateText();
    rmSync(ledger.stateFile);
    assert.match(
      await run('log', 'recover', '--accept'),
      /If a later checkpoint was ever published, this forks the log/,
    );
    assert.equal(stateText(), published);
  });

  it('refuses a database that is behind the state file, also with --json', async () => {
    await loseKeys();
    const before = readFileSync(ledger.stateFile);
    for (const more of [[], ['--json']]) {
      const stderr = await refused('log', 'recover', '--accept', ...more);
      assert.match(stderr, /does not continue a checkpoint that was published: 301 entries/);
      assert.match(stderr, /log init --rotate\n$/);
    }
    assert.deepEqual(readFileSync(ledger.stateFile), before);
  });

  it('refuses a head that no server sealed, and one under a version that the secret lacks', async () => {
    await ledger.addKeys(3);
    await ledger.publish();
    const copy = join(ledger.folder, 'copy');
    await ledger.exportTo(copy);
    const before = readFileSync(ledger.stateFile);
    await ledger.appendUnsealed();
    for (const how of [['--accept'], ['--from', copy]]) {
      assert.match(await refused('log', 'recover', ...how), /5 entries .* has a wrong seal/);
    }
    ledger.execute('UPDATE logs SET head_version = 2');
    assert.match(
      await refused('log', 'recover', '--accept'),
      /was sealed under version 2 of the master secret, which the given secret lacks/,
    );
    assert.deepEqual(readFileSync(ledger.stateFile), before);
  });

  it('needs one of its options, and the keys of the log', async () => {
    assert.equal((await ledger.run('log', 'recover')).code, 2);
    assert.equal((await ledger.run('log', 'recover', '--accept', '--from', 'x')).code, 2);
    const file = join(ledger.dataDir, 'log.key');
    writeFileSync(file, newLogKeysText(parseLogKeys(readFileSync(file, 'utf8')).origin));
    assert.match(
      await refused('log', 'recover', '--accept'),
      /needs the keys of the log .*; those here have the key IDs /,
    );
    rmSync(file);
    assert.match(
      await refused('log', 'recover', '--accept'),
      /needs the keys of the log .* there are none here/,
    );
  });
});
