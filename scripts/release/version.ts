/**
 * The version of the project, in every file that names it. All parts have one version: service, packages, clients,
 * dashboard, and the files in `deploy/`. The OpenAPI document takes it from `package.json`.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Three numbers: npm and Python write versions with more than that differently. */
const VERSION = /^\d+\.\d+\.\d+$/;

const LOCK = 'package-lock.json';
const PYTHON = 'sdk/python/pyproject.toml';

/** Where documents and files of `deploy/` name something with a version. */
const TEXTS = ['README.md', 'SECURITY.md', 'deploy', 'docs', 'packages', 'sdk'];
const TEXT_FILE = /(?:\.md|\.yaml|Dockerfile)$/;

/** An image, an archive, a folder or a job of this project, with its version. */
const NAMED =
  /((?:phm-key-service[:-]|\/phm-|newTag: |phm-migrate-|phm[-_]client-|phm-agent-|phm-lab-|ais-20-31-|sp800-22-|sp800-90b-|tlog-|sealing-)v?)(\d{1,3}[.-]\d{1,3}[.-]\d{1,3})\b/g;

interface PackageFile {
  version: string;
  workspaces?: string[];
}

interface LockFile extends PackageFile {
  packages: Record<string, PackageFile>;
}

interface ChangelogHead {
  readonly version: string;
  /** The day of the release, as YYYY-MM-DD; undefined before it. */
  readonly date: string | undefined;
}

function readJson<T>(root: string, file: string): T {
  return JSON.parse(readFileSync(join(root, file), 'utf8')) as T;
}

/** The version in the root's `package.json`, which the others follow. */
export function readVersion(root: string): string {
  return readJson<PackageFile>(root, 'package.json').version;
}

/** The package files of the project, the root's first. */
function packageFiles(root: string): string[] {
  const { workspaces = [] } = readJson<PackageFile>(root, 'package.json');
  return ['package.json', ...workspaces.map((folder) => `${folder}/package.json`)];
}

function textFiles(root: string): string[] {
  return TEXTS.flatMap((path) => {
    if (TEXT_FILE.test(path)) return [path];
    const below = readdirSync(join(root, path), { recursive: true, encoding: 'utf8' });
    return below
      .map((file) => `${path}/${file}`.replaceAll('\\', '/'))
      .filter((file) => TEXT_FILE.test(file) && !/node_modules|\/(?:build|dist)\//.test(file))
      .sort();
  });
}

/** The second heading of the changelog: `## Unreleased / 1.2.3`, or `## 1.2.3, 2026-11-24` once it is released. */
export function changelogHead(text: string): ChangelogHead {
  const [, line = ''] = /^## (.*)$/m.exec(text) ?? [];
  const [, next, released, date] =
    /^(?:Unreleased \/ (\d+\.\d+\.\d+)|(\d+\.\d+\.\d+), (\d{4}-\d\d-\d\d))$/.exec(line) ?? [];
  const version = next ?? released;
  if (version === undefined) {
    throw new Error(
      `CHANGELOG.md: the first heading is "${line}", not "Unreleased / VERSION" or "VERSION, YYYY-MM-DD"`,
    );
  }
  return { version, date };
}

/** Returns every place whose version differs from that in `package.json`, each as a line of text. */
export function versionFaults(root: string): string[] {
  const version = readVersion(root);
  const found: [where: string, version: string][] = packageFiles(root).map((file) => [
    file,
    readJson<PackageFile>(root, file).version,
  ]);
  const lock = readJson<LockFile>(root, LOCK);
  found.push([LOCK, lock.version]);
  for (const file of packageFiles(root)) {
    const key = file.replace(/\/?package\.json$/, '');
    found.push([`${LOCK}, "${key}"`, lock.packages[key]?.version ?? 'none']);
  }
  const [, python = 'none'] =
    /^version = "(.*)"$/m.exec(readFileSync(join(root, PYTHON), 'utf8')) ?? [];
  found.push([PYTHON, python]);
  for (const file of textFiles(root)) {
    for (const [name, , named = ''] of readFileSync(join(root, file), 'utf8').matchAll(NAMED)) {
      found.push([`${file}, ${name}`, named.replaceAll('-', '.')]);
    }
  }
  const head = changelogHead(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'));
  found.push(['CHANGELOG.md', head.version]);
  return found
    .filter(([, one]) => one !== version)
    .map(([where, one]) => `${where}: ${one}, but package.json has ${version}`);
}

/** Writes a version into every file that names one, and into the head of the changelog as unreleased. */
export function writeVersion(root: string, version: string): void {
  if (!VERSION.test(version)) {
    throw new TypeError(`"version" expected three numbers such as 1.2.3, got ${version}`);
  }
  const edit = (file: string, change: (text: string) => string): void => {
    const path = join(root, file);
    const text = readFileSync(path, 'utf8');
    const changed = change(text);
    if (changed !== text) writeFileSync(path, changed);
  };
  for (const file of packageFiles(root)) {
    edit(file, (text) => text.replace(/^( {2}"version": )".*"/m, `$1"${version}"`));
  }
  edit(LOCK, (text) => {
    const lock = JSON.parse(text) as LockFile;
    lock.version = version;
    for (const file of packageFiles(root)) {
      const entry = lock.packages[file.replace(/\/?package\.json$/, '')];
      if (entry) entry.version = version;
    }
    return `${JSON.stringify(lock, null, 2)}\n`;
  });
  edit(PYTHON, (text) => text.replace(/^version = ".*"$/m, `version = "${version}"`));
  for (const file of textFiles(root)) {
    edit(file, (text) =>
      text.replaceAll(NAMED, (_, name: string, old: string) =>
        old.includes('-') ? `${name}${version.replaceAll('.', '-')}` : `${name}${version}`,
      ),
    );
  }
  edit('CHANGELOG.md', (text) => openHead(text, version));
}

/** Renames the head, if it is unreleased; else puts an empty one before it. */
function openHead(text: string, version: string): string {
  const head = changelogHead(text);
  if (head.date === undefined) return text.replace(/^## .*$/m, `## Unreleased / ${version}`);
  if (head.version === version) throw new Error(`CHANGELOG.md: ${version} is released already`);
  return text.replace(/^## /m, `## Unreleased / ${version}\n\n## `);
}

/** Gives the head of the changelog the day of the release. */
export function dateHead(root: string, date: string): void {
  if (!/^\d{4}-\d\d-\d\d$/.test(date) || Number.isNaN(Date.parse(date))) {
    throw new TypeError(`"date" expected YYYY-MM-DD, got ${date}`);
  }
  const path = join(root, 'CHANGELOG.md');
  const text = readFileSync(path, 'utf8');
  const head = changelogHead(text);
  if (head.date !== undefined) throw new Error(`CHANGELOG.md: the head has the date ${head.date}`);
  writeFileSync(path, text.replace(/^## .*$/m, `## ${head.version}, ${date}`));
}
