/** The scripts behind docs/evidence/ run, and what is published is what they print. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';

const ROOT = resolve(import.meta.dirname, '../..');

function run(...args: string[]): string {
  return execFileSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
}

/** The published text under a line with its command. */
function assertPublished(file: string): void {
  const text = readFileSync(join(ROOT, 'docs/evidence', file), 'utf8');
  const [command, ...rest] = text.split('\n');
  const [, ...args] = /^\$ node (scripts\/.*)$/.exec(command) ?? assert.fail(command);
  assert.equal(run(...args[0].split(' ')), rest.slice(1).join('\n'));
}

describe('the scripts of docs/evidence/', () => {
  it('compute the published tails', () => assertPublished('gate-tails.txt'));
});
