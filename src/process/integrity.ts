/**
 * Whether the program's own files are those that were built. A release has a manifest: a list as sha256sum writes it, which
 * `sha256sum -c build/manifest.sha256` checks as well. A clone has none, because its files change.
 *
 * The manifest is not signed: it finds errors of disks, copies and hands, and nobody who can change the files can be kept from changing
 * it. The packages in `node_modules/` and Node itself are not in it.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type FileDigests, formatDigests, parseDigests, readTextFile } from '#platform/files';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const MANIFEST = 'build/manifest.sha256';

/** What a server loads, serves or is started by. */
const FOLDERS = [
  ...['bin', 'src', 'sdk/src', 'docs/examples', 'packages/sp800-22/build'],
  ...['build/dashboard', 'build/docs', 'build/kernels', 'build/testbench'],
];

/** A package file decides how Node reads the sources beside it. `healthcheck.mjs` is in an image alone. */
const FILES = ['package.json', 'sdk/package.json', 'healthcheck.mjs'];

/** The server reads examples by name: more of them, or what running one leaves, change nothing. */
const MAY_GROW = 'docs/examples/';

/** In the place of a digest: no file has it. */
const UNREADABLE = 'unreadable';

type Integrity =
  /** There is no manifest. */
  | { readonly kind: 'unchecked' }
  | { readonly kind: 'intact'; readonly files: number }
  /** Paths from the root of the installation. What cannot be read is among `changed`, also the manifest itself. */
  | {
      readonly kind: 'changed';
      readonly changed: readonly string[];
      readonly missing: readonly string[];
      readonly added: readonly string[];
    };

/** Compares the files of an installation with its manifest. */
export function checkIntegrity(root: string = ROOT): Integrity {
  if (!existsSync(join(root, MANIFEST))) return { kind: 'unchecked' };
  const wanted = readManifest(join(root, MANIFEST));
  if (wanted === null) return { kind: 'changed', changed: [MANIFEST], missing: [], added: [] };
  const found = programDigests(root);
  const changed = [...wanted.keys()].filter((path) => isOther(found.get(path), wanted.get(path)));
  const missing = [...wanted.keys()].filter((path) => !found.has(path));
  const added = [...found.keys()].filter((path) => !wanted.has(path) && !path.startsWith(MAY_GROW));
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

/** Returns null for a manifest that cannot be read, or is none. */
function readManifest(path: string): FileDigests | null {
  try {
    return parseDigests(readTextFile(path));
  } catch {
    return null;
  }
}

function programDigests(root: string): FileDigests {
  const packages = readdirSync(join(root, 'packages')).map((name) => `packages/${name}`);
  const folders = [...FOLDERS, ...packages.map((one) => `${one}/src`)];
  const files = [...FILES, ...packages.map((one) => `${one}/package.json`)];
  const paths = [
    ...files.filter((file) => existsSync(join(root, file))),
    ...folders.flatMap((folder) => pathsBelow(root, folder)),
  ];
  return new Map(paths.sort().map((path) => [path, digestOf(join(root, path))]));
}

/** Links count by what they lead to. A path with a part that begins with a dot is left out. */
function pathsBelow(root: string, folder: string): string[] {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll(sep, '/'))
    .filter((path) => !path.includes('/.'));
}

function digestOf(path: string): string {
  try {
    return createHash('sha256').update(readFileSync(path)).digest('hex');
  } catch {
    return UNREADABLE;
  }
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
