/** The Python client's source distribution and wheel, by the pinned build backend in an environment of its own. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Artefact } from './archives.ts';
import type { Tree } from './tree.ts';

const CLIENT = 'sdk/python';
const PINS = 'scripts/release/hatchling.txt';

/** Hatchling takes the time from SOURCE_DATE_EPOCH. It prints what it wrote. */
const BUILD = `
import os, sys, zlib
from hatchling import build
os.makedirs("dist", exist_ok=True)
print(build.build_sdist("dist"), build.build_wheel("dist"), sys.version.split()[0], zlib.ZLIB_RUNTIME_VERSION)
`;

interface PythonClient {
  readonly artefacts: readonly Artefact[];
  /** Versions of Python and of its zlib. */
  readonly python: string;
  readonly zlib: string;
}

/** Returns the two files, or the reason why they cannot be made here. */
export function pythonClient(tree: Tree): PythonClient | string {
  const environment = join(tree.folder, '../python');
  const python = join(environment, process.platform === 'win32' ? 'Scripts/python' : 'bin/python');
  try {
    const isNew = 'import sys; sys.exit(sys.version_info < (3, 10))';
    tree.run('python3', ['-I', '-c', isNew]);
    tree.run('python3', ['-I', '-m', 'venv', environment]);
  } catch {
    return 'there is no python3 of version 3.10 or newer with venv';
  }
  try {
    const pip = ['-I', '-m', 'pip', 'install', '--quiet', '--no-deps', '--only-binary', ':all:'];
    tree.run(python, [...pip, '--require-hashes', '--requirement', join(tree.folder, PINS)]);
  } catch {
    return `pip cannot install what ${PINS} pins`;
  }
  const printed = tree.run(python, ['-I', '-c', BUILD], CLIENT).trim().split(' ');
  const [version = '', zlib = ''] = printed.slice(2);
  const artefacts = printed.slice(0, 2).map((file) => ({
    file,
    bytes: readFileSync(join(tree.folder, CLIENT, 'dist', file)),
  }));
  return { artefacts, python: version, zlib };
}
