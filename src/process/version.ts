/** The project's version, from its package file, and the name of the installed program. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fileDigests, treeDigest } from '#platform/files';
import packageFile from '../../package.json' with { type: 'json' };
import { SetupError } from '../errors.ts';

export const PROJECT_VERSION: string = packageFile.version;

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

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
 * image and a clone of the same sources have the same name. The first call reads the files, which takes some tens of
 * milliseconds; later calls return the same text. A server makes it first, before it waits for anything.
 */
export function softwareName(): string {
  name ??= nameOfFiles();
  return name;
}

const CHANGED = "the program's files have changed since the server started: restart the server";

/**
 * For a thread or process that starts long after its server: it loads whatever is in the program's folder by then, and other
 * code could migrate the ledger that the server has in use. `software` is the server's `softwareName()`. Throws `SetupError`.
 */
export function requireProgram(software: string): void {
  if (softwareName() !== software) throw new SetupError(CHANGED);
}

/**
 * Returns why a thread or process of this server may have failed: the program's files are no longer those of `softwareName`.
 * Null if they are, or cannot be read, as without free file descriptors. Other code can fail in any way, and need not have
 * `requireProgram`. Reads the files anew.
 */
export function changedProgram(): string | null {
  try {
    return nameOfFiles() === softwareName() ? null : CHANGED;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? CHANGED : null;
  }
}

function nameOfFiles(): string {
  return `phm-key-service/${PROJECT_VERSION}+${digestOfFiles()}`;
}

function digestOfFiles(): string {
  const packages = readdirSync(join(ROOT, 'packages'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => `packages/${entry.name}/src`);
  return treeDigest(fileDigests(ROOT, ['src', ...packages], ['package.json']));
}
