/** One process has a state directory, also among those that start at the same moment or find the lock of a dead one. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { describe, it } from 'node:test';
import { LockedError, lockDirectory } from '../../src/store/lock.ts';
import { newFolder } from '../support/folders.ts';

const SCRIPT = `
import { lockDirectory } from ${JSON.stringify(new URL('../../src/store/lock.ts', import.meta.url).href)};
setInterval(() => {}, 1_000);
lockDirectory(process.argv[1]).then(() => console.log('locked'), (error) => { console.log(error.name); process.exit(); });
`;

function start(folder: string): ChildProcess {
  const args = ['--input-type=module-typescript', '--eval', SCRIPT, folder];
  return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
}

async function firstWord(child: ChildProcess): Promise<string> {
  const [chunk] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  return chunk.toString().trim();
}

async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  if (child.exitCode === null && child.signalCode === null) await ended;
}

describe('the lock of a state directory', () => {
  it('is free again after its release, and leaves nothing', async () => {
    const folder = newFolder();
    const lock = await lockDirectory(folder);
    await assert.rejects(lockDirectory(folder), LockedError);
    await lock.release();
    assert.deepEqual(readdirSync(folder), []);
    await (await lockDirectory(folder)).release();
  });

  it('is taken from a process that was killed, by one of those that want it', async () => {
    const folder = newFolder();
    const first = start(folder);
    assert.equal(await firstWord(first), 'locked');
    await assert.rejects(lockDirectory(folder), LockedError);
    await kill(first);
    const others = await Promise.allSettled(Array.from({ length: 8 }, () => lockDirectory(folder)));
    assert.equal(others.filter(({ status }) => status === 'fulfilled').length, 1);
    for (const other of others) {
      if (other.status === 'fulfilled') await other.value.release();
      else assert.ok(other.reason instanceof LockedError);
    }
    assert.deepEqual(readdirSync(folder), []);
  });
});
