/** Commands of the operator, and where keys go. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { runCommand, type Words, wordsOf } from '../../src/psk/command.ts';
import { commandConfirm, commandInstaller, fileInstaller } from '../../src/psk/installers.ts';
import { newFolder } from '../support/folders.ts';

const PATH = process.env.PATH ?? '';
const NEVER = new AbortController().signal;
const KEY = new Uint8Array(32).fill(7);
const ID = '3c1f0a52-7c1e-4a0b-9f55-0d8f6a2b9e11';

/** A program of a test, which Node runs. */
function script(text: string): Words {
  const file = join(newFolder(), 'script.cjs');
  writeFileSync(file, text);
  return [process.execPath, file];
}

describe('the words of a command', () => {
  it('are separated by spaces, and quotes keep spaces', () => {
    const cases: [string, readonly string[] | null][] = [
      ['wg set wg0', ['wg', 'set', 'wg0']],
      ['  wg   set ', ['wg', 'set']],
      [`a 'b c' "d 'e'" f'g h'i`, ['a', 'b c', "d 'e'", 'fg hi']],
      [`a '' ""`, ['a', '', '']],
      ['a $HOME `b` \\n | c', ['a', '$HOME', '`b`', '\\n', '|', 'c']],
      ['', null],
      ['   ', null],
      [`a 'b`, null],
      [`a "b' c`, null],
    ];
    for (const [line, words] of cases) assert.deepEqual(wordsOf(line), words, line);
  });
});

describe('a command', () => {
  it('gets the key on its standard input, and its arguments as they are', async () => {
    const out = join(newFolder(), 'out');
    const words = script(`
      const { readFileSync, writeFileSync } = require('node:fs');
      // By its name, as wg opens it: that needs a pipe.
      const input = readFileSync('/dev/stdin', 'utf8');
      const seen = { input, args: process.argv.slice(2), env: process.env };
      writeFileSync(${JSON.stringify(out)}, JSON.stringify(seen));`);
    await commandInstaller([...words, 'a $HOME `b`'] as unknown as Words, PATH, 'hex').install(
      KEY,
      ID,
    );
    const { input, args, env } = JSON.parse(readFileSync(out, 'utf8'));
    assert.deepEqual([input, args], [`${'07'.repeat(32)}\n`, ['a $HOME `b`']]);
    const set = Object.keys(env).filter((name) => !['_', 'OLDPWD', 'PWD', 'SHLVL'].includes(name));
    assert.deepEqual(set, ['PATH']);
    assert.ok(KEY.every((byte) => byte === 7));
  });

  it('fails by its exit code, a signal, its time, or because it is not there', async () => {
    const reason = (text: string, mostMs?: number) =>
      runCommand(script(text), { path: PATH, signal: NEVER, ...(mostMs && { mostMs }) });
    assert.equal(await reason(''), null);
    assert.equal(await reason('process.exit(3)'), 'it exited with code 3');
    assert.equal(await reason("process.kill(process.pid, 'SIGKILL')"), 'it ended by SIGKILL');
    assert.equal(await reason('setInterval(() => {}, 1000)', 100), 'it took over 100 ms');
    assert.equal(
      await runCommand(['/no/such'], { path: PATH, signal: NEVER }),
      'it cannot be started: ENOENT',
    );
    for (const [words, code] of [
      [script('process.exit(1)'), 1],
      [['/no/such'], 127],
    ] as const) {
      await assert.rejects(commandInstaller(words, PATH, 'hex').install(KEY, ID), {
        name: 'InstallError',
        message: `the command failed: it exited with code ${code}`,
      });
    }
  });

  it('may end without reading, and its children end with it', async () => {
    const out = join(newFolder(), 'pid');
    const input = new Uint8Array(1_000_000);
    assert.equal(await runCommand(script(''), { input, path: PATH, signal: NEVER }), null);
    const words = script(`
      const child = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e3)']);
      require('node:fs').writeFileSync(${JSON.stringify(out)}, String(child.pid));
      setInterval(() => {}, 1000);`);
    const end = new AbortController();
    const ended = runCommand(words, { path: PATH, signal: end.signal });
    while (!readdirSync(join(out, '..')).includes('pid') || readFileSync(out, 'utf8') === '') {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    end.abort();
    assert.equal(await ended, 'it was ended');
    const pid = Number(readFileSync(out, 'utf8'));
    // It is gone, or waits for its new parent to notice.
    const state = (): string => {
      try {
        return /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1] ?? 'Z';
      } catch {
        return 'Z';
      }
    };
    while (!'XZ'.includes(state())) await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(await runCommand(words, { path: PATH, signal: end.signal }), 'it was ended');
  });

  it('confirms by exit code 0', async () => {
    assert.equal(await commandConfirm(script(''), PATH)(NEVER), true);
    assert.equal(await commandConfirm(script('process.exit(1)'), PATH)(NEVER), false);
  });
});

describe('a file', () => {
  it('is replaced as a whole, for its owner alone', async () => {
    const folder = newFolder();
    const file = join(folder, 'key');
    writeFileSync(file, 'old', { mode: 0o644 });
    const installer = fileInstaller(file, 'hex');
    for (let i = 0; i < 2; i += 1) await installer.install(KEY, ID);
    assert.equal(readFileSync(file, 'utf8'), `${'07'.repeat(32)}\n`);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(folder), ['key']);
  });

  it('that cannot be written is an error without the key', async () => {
    const folder = newFolder();
    mkdirSync(join(folder, 'key'));
    await assert.rejects(fileInstaller(join(folder, 'key'), 'hex').install(KEY, ID), {
      name: 'InstallError',
      message: `${folder}/key cannot be written: it is a directory`,
    });
    chmodSync(folder, 0o700);
    await assert.rejects(fileInstaller(join(folder, 'no', 'key'), 'hex').install(KEY, ID), {
      name: 'InstallError',
      message: `${folder}/no/key cannot be written: there is no such directory`,
    });
  });
});
