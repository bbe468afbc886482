/** Packages of this project as npm packs and installs them. */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const ROOT = resolve(import.meta.dirname, '../../..');

/**
 * Packs a workspace, such as `packages/tlog`, into a folder. Packing empties and fills the workspace's `dist`, and test
 * files run side by side, so each call packs a copy of the sources.
 */
export async function packWorkspace(workspace: string, destination: string): Promise<void> {
  const copy = mkdtempSync(join(tmpdir(), 'packed-'));
  try {
    for (const path of ['package.json', 'tsconfig.json', 'LICENSE', 'scripts', 'packages', 'sdk']) {
      cpSync(join(ROOT, path), join(copy, path), {
        recursive: true,
        filter: (from) => !['dist', 'node_modules'].includes(basename(from)),
      });
    }
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
    const args = ['pack', '--silent', '--workspace', workspace, '--pack-destination', destination];
    await promisify(execFile)('npm', args, { cwd: copy });
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}
