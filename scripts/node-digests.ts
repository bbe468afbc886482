/**
 * Compares the bundled Node of every platform with the Node project's own: `npx node scripts/node-digests.ts`.
 *
 * The npm packages hold the program alone, and the project publishes digests of archives. So this compares three
 * things with scripts/node-digests.txt: the program in each package that package-lock.json pins, the published list,
 * and the program in each archive of that list. Downloads 450 MB. The exit code is 1 if something differs, and 2 if
 * nodejs.org does not answer, when only the packages were compared.
 *
 *   --write     writes the file anew, from nodejs.org alone: after an update of Node
 *   --dist URL  a mirror of https://nodejs.org/dist
 *
 * It relies on TLS for the list; to check more, verify the signature of SHASUMS256.txt.asc.
 */
import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

interface Bundled {
  /** The npm package, and the path of Node in it. */
  readonly name: string;
  readonly inPackage: string;
  /** A file of the published list, and the path of Node in it if it is an archive. */
  readonly file: string;
  readonly program: string;
}

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const LIST = join(ROOT, 'scripts/node-digests.txt');
const LARGEST = 2 ** 28;

function bundled(version: string, name: string): Bundled {
  const platform = name.replace(/^node-(?:bin-)?/, '');
  if (platform === 'win-x64') {
    const file = 'win-x64/node.exe';
    return { name, inPackage: 'package/bin/node.exe', file, program: file };
  }
  const stem = `node-v${version}-${platform}`;
  return {
    name,
    inPackage: 'package/bin/node',
    file: `${stem}.tar.gz`,
    program: `${stem}/bin/node`,
  };
}

function parseList(text: string): Map<string, string> {
  const lines = text.matchAll(/^([0-9a-f]{64}) [ *](\S+)$/gm);
  return new Map([...lines].map(([, digest, file]) => [file, digest]));
}

function unpack(archive: Buffer, member: string): Buffer {
  return execFileSync('tar', ['-xzO', '-f', '-', member], { input: archive, maxBuffer: LARGEST });
}

/** Returns the digest of Node in a package of npm, whose bytes package-lock.json pins. */
function packagedDigest(version: string, { name, inPackage }: Bundled, integrity: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'node-digests-'));
  try {
    const args = ['pack', '--silent', `${name}@${version}`];
    const file = execFileSync('npm', args, { cwd: folder, encoding: 'utf8' }).trim();
    const bytes = readFileSync(join(folder, file));
    const found = `sha512-${hash('sha512', bytes, 'base64')}`;
    if (found !== integrity) throw new Error(`${name} is ${found}, not ${integrity}`);
    return hash('sha256', unpack(bytes, inPackage));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Prints the outcome of a comparison, and notes a difference. */
function compare(what: string, found: string, expected: string | undefined): void {
  const same = found === expected;
  process.stdout.write(`${what}: ${same ? 'ok' : `${found} is not ${expected}`}\n`);
  if (!same) process.exitCode = 1;
}

async function download(url: string): Promise<Buffer> {
  const response = await fetch(url, { signal: AbortSignal.timeout(300_000) });
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return Buffer.from(await response.arrayBuffer());
}

/** The digests of the published list that concern us, and of the programs in its archives. */
async function publishedDigests(
  dist: string,
  all: readonly Bundled[],
): Promise<Map<string, string>> {
  const list = parseList((await download(`${dist}/SHASUMS256.txt`)).toString());
  const digests = new Map<string, string>();
  for (const { file, program } of all) {
    const bytes = await download(`${dist}/${file}`);
    const digest = hash('sha256', bytes);
    compare(`${dist}/${file} and the published list`, digest, list.get(file));
    digests.set(file, digest);
    if (program !== file) digests.set(program, hash('sha256', unpack(bytes, program)));
  }
  return digests;
}

function listText(version: string, url: string, digests: ReadonlyMap<string, string>): string {
  const lines = [...digests].map(([file, digest]) => `${digest}  ${file}\n`);
  return `# SHA-256 of Node ${version}, which package.json bundles. Compare and rewrite: npx node scripts/node-digests.ts [--write]
#
# Published at ${url}/SHASUMS256.txt, and of the program in each archive, computed on ${new Date().toISOString().slice(0, 10)}.
${lines.join('')}`;
}

/** Compares with the Node project, and writes the list if asked to and nothing differs. */
async function compareWithProject(
  url: string,
  version: string,
  all: readonly Bundled[],
  write: boolean,
): Promise<void> {
  let published: Map<string, string>;
  try {
    published = await publishedDigests(url, all);
  } catch (error) {
    const { message, cause } = error as Error;
    process.stderr.write(`${url}: not compared: ${message} ${cause ?? ''}\n`);
    process.exitCode ??= 2;
    return;
  }
  if (write && !process.exitCode) writeFileSync(LIST, listText(version, url, published));
  const list = parseList(readFileSync(LIST, 'utf8'));
  for (const [file, digest] of published) {
    compare(`${url} ${file} and this list`, digest, list.get(file));
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      write: { type: 'boolean', default: false },
      dist: { type: 'string', default: 'https://nodejs.org/dist' },
    },
  });
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  const names = Object.keys(packages[''].optionalDependencies);
  const version: string = packages[''].optionalDependencies[names[0]];
  const all = names.map((name) => bundled(version, name));
  await compareWithProject(`${values.dist}/v${version}`, version, all, values.write);
  const list = parseList(readFileSync(LIST, 'utf8'));
  for (const each of all) {
    const { integrity } = packages[`node_modules/${each.name}`];
    const digest = packagedDigest(version, each, integrity);
    compare(`npm ${each.name}@${version} and this list`, digest, list.get(each.program));
  }
}

await main();
