/** The digest of a program's files, for the name of its build. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

/** Digits of the digest in a name. */
const DIGITS = 16;

/**
 * Returns the first 16 hexadecimal digits of the SHA-256 of a list in the form of sha256sum, with a line for each of `files` and
 * each file below `folders`, sorted by the bytes of the path from `root`. A path with a part that begins with a dot is left out.
 */
export function treeDigest(
  root: string,
  folders: readonly string[],
  files: readonly string[] = [],
): string {
  const lines = [...files, ...folders.flatMap((folder) => filesBelow(root, folder))]
    .filter((path) => !path.includes('/.'))
    .sort()
    .map((path) => `${sha256(readFileSync(join(root, path)))}  ${path}\n`);
  return sha256(lines.join('')).slice(0, DIGITS);
}

function filesBelow(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll(sep, '/'));
}

function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
