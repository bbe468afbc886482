/**
 * Makes the files of a release from the commit of this checkout (docs/releasing.md):
 *
 *     npm run release -- --out DIR
 *
 * It clones the commit into a temporary folder, installs what the lock file names, and builds there. The same commit
 * gives the same bytes with the same versions of Node, npm, Python and zlib, which release.json names.
 */
import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import {
  type Artefact,
  imageContext,
  PACKAGES,
  packageArchive,
  serviceArchive,
} from './release/archives.ts';
import { pythonClient } from './release/python-client.ts';
import { sboms } from './release/sbom.ts';
import { makeTree, type Tree } from './release/tree.ts';
import { changelogHead, readVersion, versionFaults } from './release/version.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

function git(...args: string[]): string {
  return execFileSync('git', ['-C', ROOT, ...args], { encoding: 'utf8' });
}

/** Returns what keeps this checkout from being a release, each with what to do. */
function checkoutFaults(): string[] {
  const faults = versionFaults(ROOT);
  if (faults.length > 0)
    faults.push('set one version: npx node scripts/release-version.ts VERSION');
  const version = readVersion(ROOT);
  if (git('status', '--porcelain').trim() !== '') {
    faults.push('there are changes that are not committed: commit them, or release from a clone');
  }
  if (changelogHead(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8')).date === undefined) {
    faults.push(
      `CHANGELOG.md has ${version} as unreleased: npx node scripts/release-version.ts --date YYYY-MM-DD, then commit`,
    );
  }
  const tags = git('tag', '--points-at', 'HEAD', 'v*').split('\n').filter(Boolean);
  if (tags.length > 0 && !tags.includes(`v${version}`)) {
    faults.push(`this commit has the tag ${tags.join(', ')}, not v${version}`);
  }
  const pinned = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).optionalDependencies;
  const node = pinned[`node-${process.platform}-${process.arch}`];
  if (node !== undefined && node !== process.versions.node) {
    faults.push(`this is Node ${process.versions.node}, not ${node}: npm ci, then npm run release`);
  }
  return faults;
}

/** Returns all artefacts, and the description of the release as the last. */
function makeArtefacts(tree: Tree): Artefact[] {
  const version = readVersion(tree.folder);
  const artefacts = [
    serviceArchive(tree, version),
    imageContext(tree, version),
    ...PACKAGES.map((workspace) => packageArchive(tree, workspace)),
    ...sboms(tree, version),
  ];
  const python = pythonClient(tree);
  if (typeof python === 'string') process.stderr.write(`no Python client: ${python}\n`);
  else artefacts.push(...python.artefacts);
  const versions = {
    platform: `${process.platform} ${process.arch}`,
    node: process.versions.node,
    zlib: process.versions.zlib,
    npm: tree.run('npm', ['--version']).trim(),
    python: typeof python === 'string' ? null : python.python,
    python_zlib: typeof python === 'string' ? null : python.zlib,
  };
  const release = {
    name: 'phm-key-service',
    version,
    commit: tree.commit,
    time: new Date(tree.time * 1000).toISOString(),
    built_with: versions,
    skipped: typeof python === 'string' ? { 'phm_client (Python)': python } : {},
    artefacts: artefacts.map(({ file, bytes, tar }) => ({
      file,
      bytes: bytes.length,
      sha256: hash('sha256', bytes),
      ...(tar && { tar_sha256: hash('sha256', tar) }),
    })),
  };
  const text = `${JSON.stringify(release, null, 2)}\n`;
  return [...artefacts, { file: 'release.json', bytes: Buffer.from(text) }];
}

function writeRelease(out: string, artefacts: readonly Artefact[]): void {
  mkdirSync(out, { recursive: true });
  const sums = artefacts.map(({ file, bytes }) => `${hash('sha256', bytes)}  ${file}\n`).sort();
  for (const { file, bytes } of artefacts) writeFileSync(join(out, file), bytes);
  writeFileSync(join(out, 'SHA256SUMS'), sums.join(''));
  process.stdout.write(sums.join(''));
}

function main(): number {
  const { values } = parseArgs({ options: { out: { type: 'string', default: 'build/release' } } });
  const out = resolve(values.out);
  const faults = checkoutFaults();
  if (existsSync(out) && readdirSync(out).length > 0) faults.push(`${out} is not empty`);
  for (const fault of faults) process.stderr.write(`release: ${fault}\n`);
  if (faults.length > 0) return 1;
  process.umask(0o022);
  const tree = makeTree(ROOT);
  try {
    writeRelease(out, makeArtefacts(tree));
    return 0;
  } finally {
    tree.remove();
  }
}

process.exitCode = main();
