/** What each archive of a release holds. */
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Entry, gzip, tar } from './tar.ts';
import { readTree, type Tree } from './tree.ts';

/** A file of a release. */
export interface Artefact {
  readonly file: string;
  readonly bytes: Uint8Array;
  /** The archive before its compression. */
  readonly tar?: Uint8Array;
}

/** Workspaces that are packages of their own. */
export const PACKAGES = [
  'packages/agent',
  'packages/ais-20-31',
  'packages/lab',
  'packages/sealing',
  'packages/sp800-22',
  'packages/sp800-90b',
  'packages/tlog',
  'sdk',
];

/** Committed files that are no part of the service's archive: its tests, measurements and their settings. */
const NOT_SHIPPED = /^(?:test|bench|\.ci|packages\/[^/]+\/(?:bench|test)|sdk\/python\/tests)\//;

/** What `npm ci` builds, and the service loads. */
const BUILT = [
  'build/dashboard',
  'build/docs',
  'build/kernels',
  'build/testbench',
  'packages/sp800-22/build',
];

/** What differs from the release keeps the server from starting. */
const MANIFEST = 'build/manifest.sha256';

const DOCKERFILE = 'deploy/docker/Dockerfile';

function filesBelow(tree: Tree, folder: string): string[] {
  const names = readdirSync(join(tree.folder, folder), { recursive: true, encoding: 'utf8' });
  return names
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .filter((file) => lstatSync(join(tree.folder, file)).isFile());
}

function entries(tree: Tree, files: readonly string[], prefix: string): Entry[] {
  return files.map((file) => {
    if (!lstatSync(join(tree.folder, file)).isFile()) throw new Error(`${file} is no plain file`);
    const isProgram = tree.programs.has(file);
    return { name: `${prefix}${file}`, bytes: readTree(tree, file), isProgram };
  });
}

function archive(tree: Tree, file: string, content: readonly Entry[]): Artefact {
  for (const { name, bytes } of content) {
    // Builds may write the path of their folder into what they make.
    if (Buffer.from(bytes).includes(tree.folder)) throw new Error(`${name} names ${tree.folder}`);
  }
  const packed = tar(content, tree.time);
  return { file, bytes: gzip(packed), tar: packed };
}

/** The service: sources, documents, `deploy/` and everything built. It needs `npm ci --omit=dev`, and no compiler. */
export function serviceArchive(tree: Tree, version: string): Artefact {
  const name = `phm-key-service-${version}`;
  const files = tree.files.filter((file) => !NOT_SHIPPED.test(file));
  const built = BUILT.flatMap((folder) => filesBelow(tree, folder));
  tree.run('node', ['scripts/write-manifest.ts']);
  const all = [...files, ...built, MANIFEST];
  return archive(tree, `${name}.tar.gz`, entries(tree, all, `${name}/`));
}

/** What `docker build -f deploy/docker/Dockerfile` reads, with the files at the root, as Docker takes an archive. */
export function imageContext(tree: Tree, version: string): Artefact {
  const copied = copiedPaths(readTree(tree, DOCKERFILE).toString());
  const files = tree.files.filter(
    (file) =>
      [DOCKERFILE, '.dockerignore'].includes(file) ||
      copied.some((path) => file === path || file.startsWith(`${path}/`)),
  );
  return archive(tree, `phm-key-service-${version}-image-context.tar.gz`, entries(tree, files, ''));
}

/** The paths of the context that a Dockerfile copies. */
export function copiedPaths(dockerfile: string): string[] {
  return [...dockerfile.matchAll(/^COPY (?!--from)(.*)$/gm)].flatMap(([, words = '']) =>
    words.split(' ').slice(0, -1),
  );
}

/** A package as npm packs it, but for the headers of the archive, which depend on npm's version. */
export function packageArchive(tree: Tree, workspace: string): Artefact {
  tree.run('npm', ['run', '--silent', 'prepack'], workspace);
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const printed = JSON.parse(tree.run('npm', args, workspace)) as PackOutput;
  // npm 12 prints an object by name instead of a list.
  const [packed] = Object.values(printed);
  if (packed === undefined) throw new Error(`npm pack names no package in ${workspace}`);
  const content = packed.files.map(({ path }) => ({
    name: `package/${path}`,
    bytes: readTree(tree, `${workspace}/${path}`),
    isProgram: false,
  }));
  return archive(tree, packed.filename, content);
}

type PackOutput = readonly {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}[];
