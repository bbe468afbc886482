/** Servers that share a state file replace it one at a time. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { Worker } from 'node:worker_threads';
import { withStateLock } from '../../src/log/index.ts';

function statePath(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'phm-state-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return join(folder, 'phm.log-state');
}

/** Adds one to the number in a file, many times, in a thread of its own. */
const COUNTER = `
  import { readFileSync, writeFileSync } from 'node:fs';
  import { workerData } from 'node:worker_threads';
  const { door, path, times } = workerData;
  const { withStateLock } = await import(door);
  for (let i = 0; i < times; i++) {
    withStateLock(path, () => writeFileSync(path, String(Number(readFileSync(path, 'utf8')) + 1)));
  }
`;

function count(path: string, times: number): Promise<number> {
  const url = new URL(`data:text/javascript,${encodeURIComponent(COUNTER)}`);
  const door = new URL('../../src/log/index.ts', import.meta.url).href;
  const worker = new Worker(url, { workerData: { door, path, times } });
  return new Promise((resolve, reject) => worker.on('exit', resolve).on('error', reject));
}

describe('the lock of a state file', () => {
  it('keeps every change of two writers', async (t) => {
    const path = statePath(t);
    writeFileSync(path, '0');
    await Promise.all([count(path, 200), count(path, 200)]);
    assert.equal(readFileSync(path, 'utf8'), '400');
  });

  it('ends with its work, also if that fails, and leaves one empty file', (t) => {
    const path = statePath(t);
    assert.throws(() => withStateLock(path, () => assert.fail('staged')), /staged/);
    assert.equal(
      withStateLock(path, () => 7),
      7,
    );
    assert.deepEqual(readdirSync(join(path, '..')), ['phm.log-state.lock']);
    const { size, mode } = statSync(`${path}.lock`);
    assert.deepEqual([size, mode & 0o777], [0, 0o600]);
  });

  it('says what is wrong with the directory or the lock', (t) => {
    const path = statePath(t);
    const isIn = (code: string) => (error: NodeJS.ErrnoException) => error.code === code;
    assert.throws(() => withStateLock(join(path, 'missing'), () => 0), isIn('ENOENT'));
    writeFileSync(`${path}.lock`, 'no lock, but a text that is long enough to be read as a header');
    assert.throws(
      () => withStateLock(path, () => 0),
      (error: NodeJS.ErrnoException) => error.syscall === 'lock' && /lock/.test(error.message),
    );
  });
});
