/** The runner of the tiers (`scripts/test.ts`), as a developer calls it for one file. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';

const ROOT = resolve(import.meta.dirname, '..');

function one(...args: string[]) {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const words = [join(ROOT, 'scripts/test.ts'), 'one', ...args];
  return spawnSync(process.execPath, words, { cwd: ROOT, env, encoding: 'utf8' });
}

describe('npm run test:one', () => {
  it('runs the tests of a file whose names contain a text', () => {
    const { status, stdout } = one('test/shell-word.test.ts', '--name', 'invisible');
    assert.equal(status, 0);
    assert.match(stdout, /^ {2}✔ shows what is invisible/m);
    assert.doesNotMatch(stdout, /is plain if it needs no quotes/);
  });

  it('fails if no test has the text in its name', () => {
    const { status, stderr } = one('test/shell-word.test.ts', '--name', 'no such words');
    assert.equal(status, 1);
    assert.equal(stderr, 'no test has "no such words" in its name\n');
  });

  it('refuses what is no test file', () => {
    const { status, stderr } = one('test/gone.test.ts');
    assert.equal(status, 2);
    assert.match(stderr, /^test\/gone\.test\.ts is no test file/);
  });
});
