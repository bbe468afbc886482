/** The file of `phm testbench --output`, as a separate process writes it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { MAIN, makeDataDir, removeDataDir } from '../../support/servers/server.ts';

describe('phm testbench --output', () => {
  let folder: string;
  before(() => {
    folder = makeDataDir();
  });
  after(() => removeDataDir(folder));

  /** Runs the command in the folder under this mask of file permissions. */
  function write(output: string, umask = '022') {
    const line = `umask ${umask}; exec "$0" "$1" testbench --output "$2"`;
    const words = ['-c', line, process.execPath, MAIN, output];
    return spawnSync('sh', words, { cwd: folder, encoding: 'utf8' });
  }

  it("has the mode of the user's mask, because a web server under another user may read it", () => {
    for (const [umask, mode] of [
      ['022', 0o644],
      ['027', 0o640],
      ['077', 0o600],
    ] as const) {
      const { status, stdout, stderr } = write(`under-${umask}.html`, umask);
      assert.deepEqual([status, stdout, stderr], [0, '', '']);
      assert.equal(statSync(join(folder, `under-${umask}.html`)).mode & 0o777, mode, umask);
    }
  });

  it('replaces an older page, also behind a link, and under the longest name', () => {
    writeFileSync(join(folder, 'older.html'), 'older');
    symlinkSync('older.html', join(folder, 'link.html'));
    const longest = `${'h'.repeat(250)}.html`;
    for (const name of ['link.html', longest]) assert.equal(write(name).status, 0, name);
    assert.ok(lstatSync(join(folder, 'link.html')).isSymbolicLink());
    assert.match(readFileSync(join(folder, 'older.html'), 'utf8'), /^<!DOCTYPE html>/i);
    assert.deepEqual(
      readdirSync(folder).filter((name) => !name.endsWith('.html')),
      [],
    );
  });

  it('refuses what is no regular file, and leaves it as it is', () => {
    spawnSync('mkfifo', [join(folder, 'pipe')]);
    const cases: [output: string, code: number, words: RegExp][] = [
      ['pipe', 1, /pipe cannot be written: it is not a regular file/],
      ['.', 1, /cannot be written: it is a directory/],
      ['none/x.html', 1, /there is no such directory/],
      ['', 2, /--output needs the name of a file, got ""/],
      ['-', 2, /--output needs the name of a file, got "-"/],
    ];
    for (const [output, code, words] of cases) {
      const { status, stderr } = write(output);
      assert.equal(status, code, stderr);
      assert.match(stderr, words);
    }
    assert.ok(lstatSync(join(folder, 'pipe')).isFIFO());
  });

  it('refuses a port for a page that it does not serve', () => {
    const { status, stderr } = spawnSync(
      process.execPath,
      [MAIN, 'testbench', '--output', 'x.html', '--port', '8080'],
      { cwd: folder, encoding: 'utf8' },
    );
    assert.equal(status, 2);
    assert.match(stderr, /--output.*--port/);
  });
});
