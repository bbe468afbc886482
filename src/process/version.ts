/** The project's version, from its package file, and the name of the installed program. */
import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import packageFile from '../../package.json' with { type: 'json' };

export const PROJECT_VERSION: string = packageFile.version;

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Digits of the digest in the name. */
const DIGITS = 16;

let name: string | undefined;

/**
 * Returns the name of the installed program, as statements have it:
 * `phm-key-service/<version>+<16 hexadecimal digits>`.
 *
 * The digits begin the SHA-256 of a list in the form of sha256sum, with a line for `package.json` and for each
 * file in `src/` and `packages/<name>/src/`, sorted by the bytes of the path. A path with a part that begins
 * with a dot is left out. In the folder of the installed program, this command computes the same:
 *
 *     find package.json src packages -regextype posix-extended -type f \
 *       -regex 'package.json|(packages/[^/]+/)?src/.+' -not -regex '.+/[.].+' |
 *       LC_ALL=C sort | xargs sha256sum | sha256sum
 *
 * These files pin the rest of what generates and records a key: the digests of the kernels and the version of
 * each direct dependency. Tests, benchmarks, documents, the dashboard and the client are left out, so a Docker
 * image and a clone of the same sources have the same name. The first call reads the files, which takes some
 * milliseconds; later calls return the same text.
 */
export function softwareName(): string {
  name ??= `phm-key-service/${PROJECT_VERSION}+${digestOfFiles().slice(0, DIGITS)}`;
  return name;
}

function digestOfFiles(): string {
  const packages = readdirSync(join(ROOT, 'packages'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => `packages/${entry.name}/src`);
  const paths = ['package.json', ...['src', ...packages].flatMap(filesOf)];
  const lines = paths
    .filter((path) => !path.includes('/.'))
    .sort()
    .map((path) => `${hash('sha256', readFileSync(join(ROOT, path)))}  ${path}\n`);
  return hash('sha256', lines.join(''));
}

/** Returns the paths of all files below a folder, from the root of the project and with `/`. */
function filesOf(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length).replaceAll(sep, '/'));
}
