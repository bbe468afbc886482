/** The file of `phm generate --output`: its name is claimed before the key is generated, and no other file is lost. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { KeyFile } from '../../src/cli/client/key-file.ts';

const FOLDER = mkdtempSync(join(tmpdir(), 'key-file-'));
after(() => rmSync(FOLDER, { recursive: true, force: true }));

const KEY = Buffer.from('key');

function newPath(): string {
  return join(mkdtempSync(join(FOLDER, 'x-')), 'k');
}

describe('the file of a new key', () => {
  it('is empty and private until the key arrives', () => {
    const path = newPath();
    const file = KeyFile.claim(path, false);
    assert.deepEqual([readdirSync(join(path, '..')), readFileSync(path, 'utf8')], [['k'], '']);
    file.save(KEY);
    assert.deepEqual([readdirSync(join(path, '..')), readFileSync(path, 'utf8')], [['k'], 'key']);
  });

  it('is removed if there is no key', () => {
    const path = newPath();
    KeyFile.claim(path, false).discard();
    assert.deepEqual(readdirSync(join(path, '..')), []);
  });

  for (const action of ['save', 'discard'] as const) {
    it(`does not touch another file that has taken its name: ${action}`, () => {
      const path = newPath();
      const file = KeyFile.claim(path, false);
      writeFileSync(`${path}.other`, 'other');
      renameSync(`${path}.other`, path);
      if (action === 'discard') file.discard();
      else assert.throws(() => file.save(KEY), /another file has replaced/);
      assert.deepEqual(
        [readdirSync(join(path, '..')), readFileSync(path, 'utf8')],
        [['k'], 'other'],
      );
    });
  }

  it('replaces an old file only as a whole, and only if requested', () => {
    const path = newPath();
    writeFileSync(path, 'old');
    assert.throws(() => KeyFile.claim(path, false), /--force/);
    KeyFile.claim(path, true).discard();
    assert.deepEqual([readdirSync(join(path, '..')), readFileSync(path, 'utf8')], [['k'], 'old']);
    KeyFile.claim(path, true).save(KEY);
    assert.deepEqual([readdirSync(join(path, '..')), readFileSync(path, 'utf8')], [['k'], 'key']);
  });
});
