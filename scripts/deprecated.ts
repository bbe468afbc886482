/**
 * Fails if a package of `package-lock.json` is deprecated, and says who depends on it: `npx node scripts/deprecated.ts`.
 *
 * npm writes a registry's word on a version into the lock file when it chooses the version. What is deprecated later
 * shows only when the registry is asked again. npm does that for a lock file of its first format, which has no such
 * words: so it gets a copy that claims to be one. A registry that does not answer, or does not tell, is no failure: the
 * script says so.
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** What `package-lock.json` says of a package, by its path. */
interface Locked {
  readonly version?: string;
  readonly deprecated?: string;
  readonly link?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}
type Packages = Readonly<Record<string, Locked>>;

/** Deprecated since 2020. A registry that does not say so does not tell. */
const KNOWN = 'request@2.88.2';

/** Long enough for a slow registry to be asked about some hundred packages. */
const LIMIT_MS = 180_000;

const MODULES = 'node_modules/';

function readLock(folder: string): Packages {
  return JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')).packages;
}

async function npm(folder: string, ...words: string[]): Promise<string> {
  const options = ['--fetch-retries=0', '--fetch-timeout=30000', '--loglevel=warn'];
  const { stdout, stderr } = await promisify(execFile)('npm', [...words, ...options], {
    cwd: folder,
    timeout: LIMIT_MS,
    shell: process.platform === 'win32',
  });
  if (stderr.includes('Could not fetch metadata')) throw new Error(stderr);
  return stdout.trim();
}

/** Asks the registry about every locked version. Returns its words, or the reason why there are none. */
async function ask(folder: string): Promise<Packages | string> {
  const copy = mkdtempSync(join(tmpdir(), 'deprecated-'));
  try {
    if ((await npm(copy, 'view', KNOWN, 'deprecated')) === '') {
      return `the registry does not tell: it has no word on ${KNOWN}, which is deprecated`;
    }
    const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
    const own = Object.keys(lock.packages).filter((path) => !path.includes(MODULES));
    for (const path of own) {
      cpSync(join(folder, path, 'package.json'), join(copy, path, 'package.json'));
    }
    writeFileSync(join(copy, 'package-lock.json'), JSON.stringify({ ...lock, lockfileVersion: 1 }));
    await npm(copy, 'install', '--package-lock-only', '--ignore-scripts', '--no-audit');
    return readLock(copy);
  } catch (error) {
    const lines = (error as Error).message.split('\n').filter((line) => /\S/.test(line));
    return `the registry does not answer: ${lines.slice(0, 3).join(' | ')}`;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** The path of what a package at `from` gets when it imports `name`. */
function resolvePath(packages: Packages, from: string, name: string): string | undefined {
  for (let folder = from; ; ) {
    const path = `${folder}${folder && '/'}${MODULES}${name}`;
    if (packages[path]) return path;
    if (folder === '') return undefined;
    const end = folder.lastIndexOf(`/${MODULES}`);
    folder = end < 0 ? '' : folder.slice(0, end);
  }
}

function nameOf(packages: Packages, path: string): string {
  if (path === '') return 'this project';
  const name = path.slice(path.lastIndexOf(MODULES) + MODULES.length);
  return path.includes(MODULES) ? `${name}@${packages[path].version}` : path;
}

function dependents(packages: Packages, path: string): string[] {
  const name = path.slice(path.lastIndexOf(MODULES) + MODULES.length);
  return Object.entries(packages)
    .filter(([from, its]) => {
      const groups = [
        its.dependencies,
        its.devDependencies,
        its.optionalDependencies,
        its.peerDependencies,
      ];
      return groups.some((group) => group?.[name]) && resolvePath(packages, from, name) === path;
    })
    .map(([from]) => nameOf(packages, from));
}

async function main(folder: string): Promise<number> {
  const locked = readLock(folder);
  const told = await ask(folder);
  const words = (path: string) =>
    (typeof told === 'object' && told[path]?.deprecated) || locked[path].deprecated;
  const deprecated = Object.keys(locked).filter(words);
  for (const path of deprecated) {
    const users = dependents(locked, path).join(', ');
    process.stdout.write(`${nameOf(locked, path)} is deprecated: ${words(path)}\n`);
    process.stdout.write(`  needed by ${users}\n`);
  }
  const found = `deprecated packages: ${deprecated.length} of ${Object.keys(locked).length}`;
  process.stdout.write(
    typeof told === 'string' ? `${found} by package-lock.json alone: ${told}\n` : `${found}\n`,
  );
  return deprecated.length > 0 ? 1 : 0;
}

process.exitCode = await main(process.argv[2] ?? fileURLToPath(new URL('../', import.meta.url)));
