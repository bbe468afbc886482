/** `phm-lab assess --nist-report` beside the other outputs. */

import assert from 'node:assert/strict';
import { existsSync, linkSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { makeFolder, removeFolder, runCommand } from '../support/run-command.ts';

let folder = '';
before(() => {
  folder = makeFolder();
});
after(() => removeFolder(folder));

describe('phm-lab assess --nist-report', () => {
  it('is written for the finished part of a run that ended early', async () => {
    const file = join(folder, 'fault.txt');
    writeFileSync(file, `${'01'.repeat(150)}x`);
    const report = join(folder, 'early.txt');
    const cut = ['--format', 'ascii', '--bits', '100', '--sequences', 'all'];
    const flags = ['--test', 'frequency', '--threads', '1', '--nist-report', report];
    const { code, stderr } = await runCommand(['assess', file, ...cut, ...flags]);
    assert.equal(code, 2);
    assert.match(stderr, /found "x".*; the report covers the finished part, 3 sequences/);
    assert.match(readFileSync(report, 'utf8'), / 3\/3 +Frequency$/m);
  });

  it('is refused if --html has the same file, under any name', async () => {
    const file = join(folder, 'ones.bin');
    writeFileSync(file, Buffer.alloc(100, 255));
    const path = join(folder, 'same.out');
    const both = ['assess', file, '--html', path, '--nist-report'];
    for (const other of [path, `${folder}/./same.out`]) {
      const { code, stderr, stdout } = await runCommand([...both, other]);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, /--nist-report .* is also the file of --html; name another file/);
      assert.equal(existsSync(path), false);
    }
    writeFileSync(path, 'old');
    const link = join(folder, 'link.out');
    linkSync(path, link);
    const { code } = await runCommand([...both, link]);
    assert.deepEqual([code, readFileSync(path, 'utf8')], [2, 'old']);
  });
});
