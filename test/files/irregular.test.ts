/** Named pipes and devices where a file is expected: none holds the process. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { requireReadable, requireWritable } from '../../src/ledger/sqlite/files.ts';
import { readNote } from '../../src/log/state-file.ts';
import { runCommand } from '../support/servers/run-command.ts';

describe('a named pipe', { skip: process.platform === 'win32' }, () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'phm-irregular-'));
    for (const name of ['phm.db', 'state', 'checkpoint']) {
      execFileSync('mkfifo', ['-m', '600', join(folder, name)]);
    }
  });
  after(() => rmSync(folder, { recursive: true }));

  const refused = /^SetupError: .* is not a regular file/;

  it('is no database, and no state of a log', () => {
    for (const check of [requireReadable, requireWritable]) {
      assert.throws(() => check(join(folder, 'phm.db')), refused);
    }
    assert.throws(() => readNote(join(folder, 'state')), refused);
    symlinkSync('/dev/zero', join(folder, 'zero'));
    assert.throws(() => readNote(join(folder, 'zero')), refused);
  });

  it('in a copy of a log does not hold its check', async () => {
    const { code, stderr } = await runCommand(['log', 'check', folder]);
    assert.equal(code, 1);
    assert.match(stderr, /checkpoint is not a regular file/);
    mkdirSync(join(folder, 'device'));
    symlinkSync('/dev/zero', join(folder, 'device', 'checkpoint'));
    const device = await runCommand(['log', 'check', join(folder, 'device')]);
    assert.match(device.stderr, /checkpoint is not a regular file/);
  });
});
