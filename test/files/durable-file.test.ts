/** Files are complete or absent, whichever step of writing them fails. */

import assert from 'node:assert/strict';
import fs, {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, it, type TestContext } from 'node:test';
import {
  DurableFile,
  removeLeftovers,
  writeDurably,
  writeFailure,
} from '../../packages/platform/src/files/durable-file.ts';
import { writeNewFile } from '../../src/files/new-file.ts';

const root = mkdtempSync(join(tmpdir(), 'phm-durable-'));
after(() => rmSync(root, { recursive: true }));

const newFolder = () => mkdtempSync(join(root, 'f-'));

type Call = (...args: never[]) => unknown;

/** Replaces a function of `fs` until the test ends. */
function replaceCall(
  test: TestContext,
  name: keyof typeof fs & string,
  make: (real: Call) => Call,
): void {
  const real = fs[name] as Call;
  test.mock.method(fs, name as 'fsyncSync', make(real) as typeof fs.fsyncSync);
  syncBuiltinESMExports();
  test.after(() => {
    test.mock.restoreAll();
    syncBuiltinESMExports();
  });
}

function failure(code: string, syscall = 'call'): Error {
  return Object.assign(new Error(`${code}: words of Node, ${syscall} '/secret/path'`), {
    code,
    syscall,
  });
}

function failingWith(error: Error): () => Call {
  return () => () => {
    throw error;
  };
}

/** Records the synced paths in `steps`, in order. */
function noteSteps(test: TestContext, steps: string[]): void {
  const names = new Map<number, string>();
  replaceCall(test, 'openSync', (real) => (...args: never[]) => {
    const file = real(...args) as number;
    names.set(file, statSync(args[0]).isDirectory() ? 'directory' : 'file');
    return file;
  });
  replaceCall(test, 'fsyncSync', (real) => (...args: never[]) => {
    steps.push(`sync ${names.get(args[0])}`);
    return real(...args);
  });
  for (const name of ['linkSync', 'renameSync'] as const) {
    replaceCall(test, name, (real) => (...args: never[]) => {
      steps.push(name);
      return real(...args);
    });
  }
}

describe('a durable file', () => {
  it('is readable by its owner only, also when it replaces a file that others could read', () => {
    const path = join(newFolder(), 'x');
    writeDurably(path, 'one', { replace: false });
    assert.deepEqual([readFileSync(path, 'utf8'), statSync(path).mode & 0o777], ['one', 0o600]);
    fs.chmodSync(path, 0o644);
    writeDurably(path, Buffer.from('two'), { replace: true });
    assert.deepEqual([readFileSync(path, 'utf8'), statSync(path).mode & 0o777], ['two', 0o600]);
    assert.deepEqual(readdirSync(dirname(path)), ['x']);
  });

  it('keeps an existing file without `replace`', () => {
    const path = join(newFolder(), 'x');
    writeFileSync(path, 'old');
    assert.throws(() => writeDurably(path, 'new', { replace: false }), { code: 'EEXIST' });
    assert.equal(readFileSync(path, 'utf8'), 'old');
    assert.deepEqual(readdirSync(dirname(path)), ['x']);
  });

  it('is synced before it gets its name, and its directory afterwards', (test) => {
    const path = join(newFolder(), 'x');
    const steps: string[] = [];
    noteSteps(test, steps);
    writeDurably(path, 'one', { replace: false });
    assert.deepEqual(steps.splice(0), ['sync file', 'linkSync', 'sync directory']);
    writeDurably(path, 'two', { replace: true });
    assert.deepEqual(steps, ['sync file', 'renameSync', 'sync directory']);
  });

  it('never follows a symbolic link', () => {
    const folder = newFolder();
    const [elsewhere, link] = [join(folder, 'elsewhere'), join(folder, 'link')];
    symlinkSync(elsewhere, link);
    assert.throws(() => writeDurably(link, 'new', { replace: false }), { code: 'EEXIST' });
    assert.deepEqual([readlinkSync(link), existsSync(elsewhere)], [elsewhere, false]);
    writeDurably(link, 'new', { replace: true });
    assert.deepEqual([readFileSync(link, 'utf8'), existsSync(elsewhere)], ['new', false]);
    assert.equal(fs.lstatSync(link).isFile(), true);
  });

  it('accepts the longest possible file name', () => {
    const folder = newFolder();
    const names = ['x'.repeat(255), '€'.repeat(85)];
    for (const name of names) writeDurably(join(folder, name), 'one', { replace: false });
    assert.deepEqual(readdirSync(folder).sort(), names.sort());
  });

  it('has a private temporary file beside it, named after it', () => {
    const path = join(newFolder(), 'x');
    const file = new DurableFile(path);
    assert.match(file.temporary.slice(path.length), /^\.[0-9a-f]{16}\.new$/);
    assert.equal(statSync(file.temporary).mode & 0o777, 0o600);
    file.discard();
    file.discard();
    assert.deepEqual(readdirSync(dirname(path)), []);
  });

  it('leaves a temporary file behind only until the leftovers are removed, a minute later', () => {
    const folder = newFolder();
    const path = join(folder, 'x'.repeat(60));
    const killed = new DurableFile(path);
    const others = ['x.new', `${'x'.repeat(50)}.0.new`, `y.${'0'.repeat(16)}.new`];
    for (const name of others) writeFileSync(join(folder, name), '');
    removeLeftovers(path, Date.now() + 50_000);
    assert.ok(existsSync(killed.temporary), 'a process may still be writing it');
    removeLeftovers(path, Date.now() + 61_000);
    assert.deepEqual(readdirSync(folder).sort(), others.sort());
    removeLeftovers(join(folder, 'none', 'x'), Date.now());
  });
});

describe('a durable file whose temporary name was taken by another file', () => {
  it('writes to the file it created, which others cannot read', () => {
    const file = new DurableFile(join(newFolder(), 'x'));
    rmSync(file.temporary);
    writeFileSync(file.temporary, '', { mode: 0o644 });
    file.write('key');
    assert.equal(readFileSync(file.temporary, 'utf8'), '');
    file.discard();
  });
});

describe('a failed step', () => {
  const steps = ['openSync', 'writeFileSync', 'fsyncSync'] as const;
  for (const replace of [true, false]) {
    for (const step of [...steps, replace ? 'renameSync' : 'linkSync'] as const) {
      it(`leaves everything as it was: ${step}, ${replace ? 'replacing' : 'making'} a file`, (test) => {
        const path = join(newFolder(), 'x');
        if (replace) writeFileSync(path, 'old');
        replaceCall(test, step, failingWith(failure('ENOSPC')));
        assert.throws(() => writeDurably(path, 'new', { replace }), { code: 'ENOSPC' });
        test.mock.restoreAll();
        syncBuiltinESMExports();
        assert.deepEqual(readdirSync(dirname(path)), replace ? ['x'] : []);
        if (replace) assert.equal(readFileSync(path, 'utf8'), 'old');
      });
    }
  }

  it('leaves no partly written file', (test) => {
    const path = join(newFolder(), 'x');
    replaceCall(test, 'writeFileSync', (real) => (...args: never[]) => {
      if (args[1] !== 'half') return real(...args);
      real(...([args[0], 'ha', args[2]] as never[]));
      throw failure('EDQUOT');
    });
    assert.throws(() => writeDurably(path, 'half', { replace: false }), { code: 'EDQUOT' });
    assert.deepEqual(readdirSync(dirname(path)), []);
  });

  it('throws if the directory cannot be synced, after the file is in place', (test) => {
    for (const replace of [true, false]) {
      const path = join(newFolder(), 'x');
      failDirectorySync(test, 'EIO');
      assert.throws(() => writeDurably(path, 'new', { replace }), { code: 'EIO' });
      assert.equal(readFileSync(path, 'utf8'), 'new');
      assert.deepEqual(readdirSync(dirname(path)), ['x']);
    }
  });

  it('is ignored for an expendable file if the file system cannot sync a directory', (test) => {
    for (const code of ['EINVAL', 'ENOTSUP', 'EACCES']) {
      const path = join(newFolder(), 'x');
      failDirectorySync(test, code);
      writeDurably(path, 'new', { replace: true, mayBeLost: true });
      assert.equal(readFileSync(path, 'utf8'), 'new');
      assert.throws(() => writeDurably(path, 'new', { replace: true }), { code });
    }
    failDirectorySync(test, 'EIO');
    const path = join(newFolder(), 'x');
    assert.throws(() => writeDurably(path, 'new', { replace: true, mayBeLost: true }), {
      code: 'EIO',
    });
  });

  function failDirectorySync(test: TestContext, code: string): void {
    test.mock.restoreAll();
    replaceCall(test, 'fsyncSync', (real) => (...args: never[]) => {
      if (fs.fstatSync(args[0]).isDirectory()) throw failure(code, 'fsync');
      return real(...args);
    });
  }
});

describe('writeNewFile', () => {
  it('names the file after the function returns, and returns its result', async () => {
    const path = join(newFolder(), 'x');
    const result = await writeNewFile(path, async (temporary) => {
      assert.equal(existsSync(path), false);
      assert.equal(dirname(temporary), dirname(path));
      writeFileSync(temporary, 'filled');
      return 7;
    });
    assert.deepEqual([result, readFileSync(path, 'utf8')], [7, 'filled']);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(dirname(path)), ['x']);
  });

  it('leaves no file if the function fails, and throws its error', async () => {
    const path = join(newFolder(), 'x');
    const error = new Error('stopped');
    const stopped = writeNewFile(path, async (temporary) => {
      writeFileSync(temporary, 'half');
      throw error;
    });
    await assert.rejects(stopped, (thrown) => thrown === error);
    assert.deepEqual(readdirSync(dirname(path)), []);
  });

  it('replaces no file, whether older or created in the meantime', async () => {
    const path = join(newFolder(), 'x');
    writeFileSync(path, 'old');
    const never = () => assert.fail('the function has no file to fill');
    const exists = { name: 'SetupError', message: /x exists and is never replaced/ };
    await assert.rejects(writeNewFile(path, never), exists);
    rmSync(path);
    const late = writeNewFile(path, async () => writeFileSync(path, 'other'));
    await assert.rejects(late, exists);
    assert.equal(readFileSync(path, 'utf8'), 'other');
    assert.deepEqual(readdirSync(dirname(path)), ['x']);
  });

  it('gives the reason if it cannot write the file', async (test) => {
    const none = join(newFolder(), 'none', 'x');
    const fill = async () => {};
    await assert.rejects(writeNewFile(none, fill), {
      name: 'SetupError',
      message: `cannot write ${none}: there is no such directory`,
    });
    const path = join(newFolder(), 'x');
    replaceCall(test, 'linkSync', failingWith(failure('EPERM', 'link')));
    await assert.rejects(writeNewFile(path, fill), {
      message: `cannot write ${path}: permission denied, or a file system without hard links`,
    });
    assert.deepEqual(readdirSync(dirname(path)), []);
  });
});

describe('writeFailure', () => {
  it('gives the reason without a path', () => {
    const cases: [Error, string][] = [
      [failure('ENOENT'), 'there is no such directory'],
      [failure('EISDIR'), 'it is a directory'],
      [failure('EEXIST'), 'it exists'],
      [failure('EACCES'), 'permission denied'],
      [failure('EPERM', 'open'), 'permission denied'],
      [failure('EROFS'), 'the file system is read-only'],
      [failure('ENOSPC'), 'no space left'],
      [failure('EDQUOT'), 'no space left'],
      [failure('EIO'), 'EIO: words of Node'],
      [new TypeError('a mistake'), 'TypeError: a mistake'],
    ];
    for (const [error, words] of cases) assert.equal(writeFailure(error), words);
  });

  it('matches the errors of the file system', () => {
    const folder = newFolder();
    mkdirSync(join(folder, 'closed'), { mode: 0o500 });
    const cases = [[join(folder, 'none/x'), 'there is no such directory']];
    // Root can write anywhere.
    if (process.getuid?.() !== 0) cases.push([join(folder, 'closed/x'), 'permission denied']);
    for (const [path, words] of cases) {
      assert.throws(
        () => writeDurably(path, 'new', { replace: true }),
        (error) => writeFailure(error) === words,
      );
    }
  });
});
