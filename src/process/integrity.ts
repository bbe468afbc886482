/**
 * Whether the program's own files are those that were built. A release has a manifest: a list as sha256sum writes it, which
 * `sha256sum -c build/manifest.sha256` checks as well. A clone has none, because its files change.
 *
 * The manifest is not signed: it finds errors of disks, copies and hands, and nobody who can change the files can be kept from changing
 * it. The packages in `node_modules/` and Node itself are not in it.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type FileDigests,
  fileDigests,
  formatDigests,
  parseDigests,
  readTextFile,
} from '#platform/files';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const MANIFEST = 'build/manifest.sha256';

/** What the program loads, serves or is started by. */
const FOLDERS = [
  ...['bin', 'src', 'sdk/src', 'docs/examples', 'packages/sp800-22/build'],
  ...['build/dashboard', 'build/docs', 'build/kernels', 'build/testbench'],
];

type Integrity =
  /** There is no manifest. */
  | { readonly kind: 'unchecked' }
  | { readonly kind: 'intact'; readonly files: number }
  /** Paths from the root of the installation. The manifest itself is among `changed` if it cannot be read. */
  | {
      readonly kind: 'changed';
      readonly changed: readonly string[];
      readonly missing: readonly string[];
      readonly added: readonly string[];
    };

/** Compares the files of an installation with its manifest. Throws the error of the system for a file that cannot be read. */
export function checkIntegrity(root: string = ROOT): Integrity {
  if (!existsSync(join(root, MANIFEST))) return { kind: 'unchecked' };
  const wanted = parseDigests(readTextFile(join(root, MANIFEST)));
  if (wanted === null) return { kind: 'changed', changed: [MANIFEST], missing: [], added: [] };
  const found = programDigests(root);
  const changed = [...wanted.keys()].filter((path) => isOther(found.get(path), wanted.get(path)));
  const missing = [...wanted.keys()].filter((path) => !found.has(path));
  const added = [...found.keys()].filter((path) => !wanted.has(path));
  const isIntact = changed.length + missing.length + added.length === 0;
  return isIntact
    ? { kind: 'intact', files: wanted.size }
    : { kind: 'changed', changed, missing, added };
}

const isOther = (one: string | undefined, other: string | undefined): boolean =>
  one !== undefined && one !== other;

/** Returns the manifest of the files as they are. */
export function manifestOf(root: string): { readonly path: string; readonly text: string } {
  return { path: MANIFEST, text: formatDigests(programDigests(root)) };
}

function programDigests(root: string): FileDigests {
  const packages = readdirSync(join(root, 'packages')).map((name) => `packages/${name}/src`);
  const folders = [...FOLDERS, ...packages].filter((folder) => existsSync(join(root, folder)));
  return fileDigests(root, folders, ['package.json']);
}

/** Returns what differs, a line for each kind: the first files, and how many more there are. */
export function describeChanges({
  changed,
  missing,
  added,
}: Extract<Integrity, { kind: 'changed' }>): string[] {
  const kinds = { changed, missing, 'not of the release': added };
  return Object.entries(kinds).flatMap(([kind, paths]) =>
    paths.length === 0 ? [] : [`${kind}: ${shortList(paths)}`],
  );
}

const SHOWN = 5;

function shortList(paths: readonly string[]): string {
  const more = paths.length > SHOWN ? ` and ${paths.length - SHOWN} more` : '';
  return `${paths.slice(0, SHOWN).join(', ')}${more}`;
}
