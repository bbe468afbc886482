/** Small disks that can be filled. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atExit } from './at-exit.ts';

const MEBIBYTE = 2 ** 20;

/** Why no small disk can be made here, or false. */
export const noMount: string | false = findObstacle();

function findObstacle(): string | false {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) {
    return 'a small disk is made with mount, which only root may do';
  }
  const directory = mkdtempSync(join(tmpdir(), 'phm-disk-'));
  try {
    mountDisk(directory, '1m')();
    return false;
  } catch (error) {
    return `no small disk can be mounted here: ${(error as Error).message.trim()}`;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** A small disk of its own; the returned function takes it away, and so does the end of this process. */
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

/** Fills what is left of a disk, to the last byte. */
export function fillDisk(ballast: string): void {
  for (let block = MEBIBYTE; block >= 1; block /= 2) {
    try {
      for (;;) appendFileSync(ballast, Buffer.alloc(block, 1));
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC');
    }
  }
}
