/** The runner of the tiers (`scripts/test.ts`), as a developer calls it for one file. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { failedIn } from '../scripts/tests/failures.ts';
import { isAlive } from './support/run/alive.ts';
import { until } from './support/run/until.ts';

const ROOT = resolve(import.meta.dirname, '..');

const { NODE_TEST_CONTEXT: _, ...ENV } = process.env;

function words(...args: string[]): string[] {
  return [join(ROOT, 'scripts/test.ts'), 'one', ...args];
}

function one(...args: string[]) {
  return spawnSync(process.execPath, words(...args), { cwd: ROOT, env: ENV, encoding: 'utf8' });
}

/** A test that never ends, with a process in its folder. Writes the folder, and the number of the process. */
const ENDLESS = `
  import { spawn } from 'node:child_process';
  import { mkdtempSync } from 'node:fs';
  import { tmpdir } from 'node:os';
  import { test } from 'node:test';
  test('never ends', async () => {
    const folder = mkdtempSync(tmpdir() + '/phm-test-');
    const child = spawn('sleep', ['3600'], { cwd: folder });
    console.log('started', folder, child.pid);
    await new Promise((resolve) => setTimeout(resolve, 3_600_000));
  });
`;

describe('npm run test:one', () => {
  it('runs the tests of a file whose names contain a text', () => {
    const { status, stdout } = one(
      'test/platform/terminal/shell-word.test.ts',
      '--name',
      'invisible',
    );
    assert.equal(status, 0);
    assert.match(stdout, /^ {2}✔ shows what is invisible/m);
    assert.doesNotMatch(stdout, /is plain if it needs no quotes/);
  });

  it('fails if no test has the text in its name', () => {
    const { status, stderr } = one(
      'test/platform/terminal/shell-word.test.ts',
      '--name',
      'no such words',
    );
    assert.equal(status, 1);
    assert.equal(stderr, 'no test has "no such words" in its name\n');
  });

  it('refuses what is no test file', () => {
    const { status, stderr } = one('test/gone.test.ts');
    assert.equal(status, 2);
    assert.match(stderr, /^test\/gone\.test\.ts is no test file/);
  });

  it('lists failures that are read without the folder of a machine', (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'phm-test-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const [asserting, exiting] = [
      join(folder, 'asserting.test.ts'),
      join(folder, 'exiting.test.ts'),
    ];
    writeFileSync(
      asserting,
      "import { test } from 'node:test'; test('passes', () => {}); test('is: wrong', () => { throw new Error(); });",
    );
    writeFileSync(exiting, 'process.exit(3);');
    const { status, stdout } = one(asserting, exiting);
    assert.equal(status, 1);
    assert.deepEqual(failedIn(stdout), [
      `${relative(ROOT, asserting)}: is: wrong`,
      `${relative(ROOT, exiting)}: the file as a whole`,
    ]);
  });

  it('ends its processes and removes its folder at Ctrl-C', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'phm-test-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'endless.test.ts');
    writeFileSync(file, ENDLESS);
    const run = spawn(process.execPath, words(file), { cwd: ROOT, env: ENV });
    const ended = once(run, 'exit');
    let output = '';
    for await (const chunk of run.stdout.setEncoding('utf8')) {
      const before = output;
      output += chunk;
      // The second one is what npm sends on after a terminal's.
      if (!before.includes('started') && /started .*\n/.test(output)) {
        run.kill('SIGINT');
        run.kill('SIGINT');
      }
    }
    const [code] = await ended;
    assert.equal(code, 130, output);
    const [, left = '', pid = ''] = /started (\S+) (\d+)/.exec(output) ?? [];
    assert.equal(existsSync(left), false);
    await until('its process has ended', () => !isAlive(Number(pid)));
  });
});
