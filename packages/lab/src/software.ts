/** The name, the version and the build of `phm-lab`, for its reports. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fileDigests, treeDigest } from '../../platform/src/files/index.ts';
import type { Software } from './report/trace.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));

/** Holds the laboratory and its libraries, in the project and in the package. */
const PACKAGES = join(HERE, '../..');

const NAME = 'phm-lab';

/** What the reports depend on. */
const PARTS = ['ais-20-31', 'lab', 'platform', 'sp800-22', 'sp800-90b'];

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
 * Returns `phm-lab <version>` and the build `phm-lab/<version>+<16 hexadecimal digits>`. The digits are the
 * digest of the parts' files, which are in `packages`.
 */
export function labSoftware(version: string, packages: string = PACKAGES): Software {
  const folders = PARTS.map((part) => `${part}/src`);
  const digest = treeDigest(fileDigests(packages, folders));
  return { program: `${NAME} ${version}`, build: `${NAME}/${version}+${digest}` };
}
