/** The name, the version and the build of `phm-lab`, for its reports. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Software } from './report/trace.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));

/** Holds the laboratory and its libraries, in the project and in the package. */
const PACKAGES = join(HERE, '../..');

const NAME = 'phm-lab';

/** What the reports depend on. */
const PARTS = ['ais-20-31', 'lab', 'platform', 'sp800-22', 'sp800-90b'];

/** Digits of the digest in the name of a build. */
const DIGITS = 16;

/** Returns the version that the package file states: that above this folder. Throws if it is not there. */
export function readVersion(from: string = HERE): string {
  for (let folder = from; ; folder = dirname(folder)) {
    const path = join(folder, 'package.json');
    const { name, version } = existsSync(path)
      ? (JSON.parse(readFileSync(path, 'utf8')) as PackageFile)
      : {};
    if (name === NAME && version !== undefined) return version;
    if (dirname(folder) === folder)
      throw new Error(`there is no package.json of ${NAME} above ${from}: install it again`);
  }
}

interface PackageFile {
  readonly name?: string;
  readonly version?: string;
}

/**
 * Returns `phm-lab <version>` and the build `phm-lab/<version>+<16 hexadecimal digits>`. The digits begin the SHA-256 of a list
 * in the form of sha256sum, with a line for each file of the program, sorted by the bytes of the path. `packages` is the folder
 * of the parts.
 */
export function labSoftware(version: string, packages: string = PACKAGES): Software {
  const lines = PARTS.flatMap((part) => filesOf(packages, `${part}/src`))
    .sort()
    .map((path) => `${sha256(readFileSync(join(packages, path)))}  ${path}\n`);
  const digest = sha256(lines.join('')).slice(0, DIGITS);
  return { program: `${NAME} ${version}`, build: `${NAME}/${version}+${digest}` };
}

function filesOf(packages: string, folder: string): string[] {
  return readdirSync(join(packages, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(packages, join(entry.parentPath, entry.name)).replaceAll(sep, '/'));
}

function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
