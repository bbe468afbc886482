/** Small disks that tests can fill. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atExit } from './random/at-exit.ts';

const MEBIBYTE = 2 ** 20;

/** The reason why this machine cannot mount a small disk, or false. */
export const noMount: string | false = findObstacle();

function findObstacle(): string | false {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) {
    return 'only root on Linux can mount a small disk';
  }
  const directory = mkdtempSync(join(tmpdir(), 'phm-disk-'));
  try {
    mountDisk(directory, '1m')();
    return false;
  } catch (error) {
    return `this machine cannot mount a small disk: ${(error as Error).message.trim()}`;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Mounts a small disk. The returned function unmounts it, and so does the exit of this process. */
export function mountDisk(directory: string, size: string): () => void {
  mkdirSync(directory, { recursive: true });
  const options = ['-t', 'tmpfs', '-o', `size=${size}`, 'phm-test', directory];
  execFileSync('mount', options, { stdio: 'pipe' });
  const unmount = () => execFileSync('umount', ['-l', directory]);
  const forget = atExit(unmount);
  return () => {
    forget();
    unmount();
  };
}

/** Fills the rest of a disk to the last byte. */
export function fillDisk(ballast: string): void {
  for (let block = MEBIBYTE; block >= 1; block /= 2) {
    try {
      for (;;) appendFileSync(ballast, Buffer.alloc(block, 1));
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC');
    }
  }
}
