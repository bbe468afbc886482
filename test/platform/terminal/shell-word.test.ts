/** Words for commands that users paste: a shell reads back the word, and no character of it acts on the reader. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { quote } from '../../../packages/platform/src/terminal/shell-word.ts';
import { visible } from '../../../packages/platform/src/terminal/visible.ts';

const HOSTILE = [
  'new\nline.xz',
  "it's\n\\041.xz",
  'bell\u0007\u001b[2K',
  'right\u202eto left é',
  '\u{e0041}1',
];

describe('a word for a shell', () => {
  it('is plain if it needs no quotes, and in single quotes otherwise', () => {
    assert.deepEqual(['a/b-1.xz', "it's é"].map(quote), ['a/b-1.xz', "'it'\\''s é'"]);
  });

  const none = spawnSync('bash', ['-c', ':']).error ? 'bash is not installed' : false;
  it('shows what is invisible, and names the same file', { skip: none }, () => {
    for (const word of [...HOSTILE, "it's é"]) {
      assert.equal(visible(quote(word)), quote(word));
      const { stdout } = spawnSync('bash', ['-c', `printf %s ${quote(word)}`]);
      assert.equal(stdout.toString(), word);
    }
  });
});
