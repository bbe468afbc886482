/** What a server says when it cannot read the signing keys of its log. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { readLogKeys } from '../../src/setup/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'phm-log-keys-'));
after(() => rmSync(folder, { recursive: true }));

it('a file of log keys that cannot be used is named once, with the reason and the remedy', () => {
  const [missing, text] = [join(folder, 'none'), join(folder, 'text')];
  writeFileSync(text, 'SECRET');
  for (const [path, reason] of [
    [missing, 'there is no such file; copy the file from another server or a backup, or generate'],
    [join(text, 'below'), 'there is no such file; copy the file from another server'],
    [folder, 'it is a directory; restore the file from its backup'],
    [text, 'expected '],
  ] as const) {
    assert.throws(
      () => readLogKeys({ kind: 'file', path }),
      ({ message }: Error) => {
        assert.ok(
          message.startsWith(`cannot use the keys of the log in ${path}: ${reason}`),
          message,
        );
        return !message.includes('SECRET');
      },
    );
  }
});
