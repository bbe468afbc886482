/** A directory for keys is complete only if each file is as the service gave it. */
import assert from 'node:assert/strict';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { CommandError } from '../../packages/platform/src/commands/command-error.ts';
import { digestOf, KeyDirectory } from '../../src/cli/client/batch/directory.ts';

const KEYS = ['phm_1', 'phm_2'].map((keyId) => ({ keyId, content: Buffer.from(`${keyId}\n`) }));
const LISTED = KEYS.map(({ keyId, content }) => ({ keyId, digest: digestOf(content) }));

describe('a directory for keys', () => {
  let folder: string;
  let directory: KeyDirectory;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'phm-keys-'));
    directory = KeyDirectory.open(join(folder, 'keys'), '.key');
    directory.write(KEYS);
    directory.list(LISTED);
  });
  afterEach(() => {
    directory.close();
    rmSync(folder, { recursive: true });
  });

  it('is complete with all files, also after a line of the list was written twice or by half', () => {
    directory.requireAll(2);
    directory.list(LISTED.slice(1));
    appendFileSync(join(directory.path, 'batch.keys'), 'phm_3 0123');
    directory.list(LISTED.slice(0, 1));
    directory.requireAll(2);
  });

  it('is not complete with a file that was changed, replaced, removed or never listed', () => {
    const path = directory.fileOf('phm_2');
    writeFileSync(path, 'phm_9\n');
    assert.throws(
      () => directory.requireAll(2),
      /one is missing or was changed since, such as .*phm_2/,
    );
    rmSync(path);
    assert.throws(() => directory.requireAll(2), /one is missing/);
    directory.write(KEYS);
    directory.requireAll(2);
    writeFileSync(directory.fileOf('phm_3'), 'phm_3\n');
    assert.throws(() => directory.requireAll(3), /batch\.keys lists 2/);
    directory.removeList();
    assert.throws(() => directory.requireAll(2), /batch\.keys lists 0/);
  });

  it('is not made where others could replace it', { skip: process.platform === 'win32' }, () => {
    const shared = join(folder, 'shared');
    mkdirSync(shared);
    chmodSync(shared, 0o777);
    const path = join(shared, 'keys');
    assert.throws(() => KeyDirectory.open(path, '.key'), CommandError);
    assert.equal(existsSync(path), false);
  });

  it('replaces a file that is not what the service gave', () => {
    writeFileSync(directory.fileOf('phm_1'), 'planted\n');
    directory.write(KEYS);
    assert.equal(readFileSync(directory.fileOf('phm_1'), 'utf8'), 'phm_1\n');
  });
});
