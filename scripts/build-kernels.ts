/**
 * Compiles the kernels: `npm run build:kernels`. If compiler and sources are unchanged, it keeps the present kernels,
 * which saves five to ten seconds.
 */
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { KERNEL_DIGESTS } from '../packages/sp800-22/src/kernels/digests.ts';
import { KERNEL_DIGEST } from '../src/modulation/kernel-digest.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

/** The `asconfig.json` of each folder names the output files of its targets. */
const KERNELS = [
  { folder: 'packages/sp800-22/kernels', entry: 'index.ts', target: 'simd' },
  { folder: 'packages/sp800-22/kernels', entry: 'index.ts', target: 'relaxed-simd' },
  { folder: 'src/modulation/kernel', entry: 'modulation.ts', target: 'modulation' },
] as const;

const BUILT = [
  'packages/sp800-22/build/simd.wasm',
  'packages/sp800-22/build/relaxed-simd.wasm',
  'build/kernels/modulation.wasm',
].map((path) => join(ROOT, path));

/** File with the digest of the compiler, the sources and the kernels after the last run. */
const STAMP = join(ROOT, 'build/kernels.sha256');

/** Note of the compiler after its last optimizing round, whose output the known digests describe. */
const EXPECTED_NOTE = 'Last converge was suboptimal.';

/** Returns the digest of the kernels and of everything they depend on, or null if a file is missing. */
function digestState(): string | null {
  const compiler = createRequire(import.meta.url).resolve('assemblyscript/package.json');
  const optimizer = createRequire(compiler).resolve('binaryen/package.json');
  const sources = KERNELS.flatMap(({ folder }) => findSources(join(ROOT, folder)));
  const files = [import.meta.filename, compiler, optimizer, ...sources, ...BUILT];
  if (!files.every((path) => existsSync(path))) return null;
  const digests = files.map((path) => createHash('sha256').update(readFileSync(path)).digest());
  return createHash('sha256').update(Buffer.concat(digests)).digest('hex');
}

function findSources(folder: string): string[] {
  const names = globSync('**/*.{ts,json}', { cwd: folder });
  return names.sort().map((name) => join(folder, name));
}

function isUpToDate(): boolean {
  return existsSync(STAMP) && readFileSync(STAMP, 'utf8') === digestState();
}

/** Compiles one target. Throws if the compiler refuses it; the compiler explains why on standard error. */
async function compile({ folder, entry, target }: (typeof KERNELS)[number]): Promise<void> {
  // Loaded only when needed: loading the compiler takes longer than comparing the digests.
  const { default: asc } = await import('assemblyscript/asc');
  const stderr = asc.createMemoryStream();
  const args = [entry, '--baseDir', join(ROOT, folder), '--target', target];
  const { error } = await asc.main(args, { stderr });
  const notes = stderr.toString().trim();
  if (notes !== '' && notes !== EXPECTED_NOTE) process.stderr.write(`${notes}\n`);
  if (error) throw error;
}

/** Prints what to do after a change of a kernel, because the service refuses to load new bytes. */
function reportNewBytes(): void {
  const known = [KERNEL_DIGESTS.simd, KERNEL_DIGESTS['relaxed-simd'], KERNEL_DIGEST];
  const isKnown = (path: string, i: number) =>
    createHash('sha256').update(readFileSync(path)).digest('hex') === known[i];
  if (BUILT.every(isKnown)) return;
  process.stderr.write(
    'The kernels have new bytes. To let the service load them, run: npm run digests\n',
  );
}

if (!isUpToDate()) {
  for (const kernel of KERNELS) await compile(kernel);
  writeFileSync(STAMP, digestState() ?? '');
  reportNewBytes();
}
