/** The digests of a program's files, for the name of its build and for its manifest: a list as sha256sum writes it. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

/** Digits of the digest in a name. */
const DIGITS = 16;

/** SHA-256 in hexadecimal by path from the root, with slashes, in the order of the paths' bytes. */
export type FileDigests = ReadonlyMap<string, string>;

/**
 * Reads each of `files`, and each file below `folders`. A path with a part that begins with a dot is left out. Throws the error of
 * the system for what cannot be read.
 */
export function fileDigests(
  root: string,
  folders: readonly string[],
  files: readonly string[] = [],
): FileDigests {
  const paths = [...files, ...folders.flatMap((folder) => filesBelow(root, folder))];
  return new Map(
    paths
      .filter((path) => !path.includes('/.'))
      .sort()
      .map((path) => [path, sha256(readFileSync(join(root, path)))]),
  );
}

/** Returns the list that `sha256sum -c` reads. */
export function formatDigests(digests: FileDigests): string {
  return [...digests].map(([path, digest]) => `${digest}  ${path}\n`).join('');
}

/** Returns null for text that is no such list. */
export function parseDigests(text: string): FileDigests | null {
  const lines = text.split('\n');
  if (lines.pop() !== '') return null;
  const rows = lines.map((line) => /^([0-9a-f]{64}) {2}(\S.*)$/.exec(line));
  const digests = rows.flatMap((row) =>
    row === null ? [] : [[row[2], row[1]] as [string, string]],
  );
  return digests.length === lines.length ? new Map(digests) : null;
}

/** Returns the first 16 hexadecimal digits of the SHA-256 of the list of these digests. */
export function treeDigest(digests: FileDigests): string {
  return sha256(formatDigests(digests)).slice(0, DIGITS);
}

function filesBelow(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll(sep, '/'));
}

function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
