/**
 * Compiles the kernels: `npm run build:kernels`. Kernels that the same compiler has made of the same sources stay
 * as they are, which saves five to ten seconds.
 */
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { KERNEL_DIGESTS } from '../packages/sp800-22/src/kernels/digests.ts';
import { KERNEL_DIGEST } from '../src/modulation/kernel-digest.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

/** Each folder's `asconfig.json` names the files that its targets are built to. */
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

/** The digest of the compiler, the sources and the kernels that the last run left behind. */
const STAMP = join(ROOT, 'build/kernels.sha256');

/** The compiler optimizes until the code stops shrinking. The known digests are those of the round that ends this. */
const EXPECTED_NOTE = 'Last converge was suboptimal.';

/** The digest of all that the kernels depend on, and of the kernels; null if one is missing. */
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

/** Throws on what the compiler refuses, which it has explained on stderr. */
async function compile({ folder, entry, target }: (typeof KERNELS)[number]): Promise<void> {
  // Loaded only when needed: the compiler takes longer to load than the digests to compare.
  const { default: asc } = await import('assemblyscript/asc');
  const stderr = asc.createMemoryStream();
  const args = [entry, '--baseDir', join(ROOT, folder), '--target', target];
  const { error } = await asc.main(args, { stderr });
  const notes = stderr.toString().trim();
  if (notes !== '' && notes !== EXPECTED_NOTE) process.stderr.write(`${notes}\n`);
  if (error) throw error;
}

/** Says what to do after a change of a kernel: until then the service refuses to load it. */
function reportNewBytes(): void {
  const known = [KERNEL_DIGESTS.simd, KERNEL_DIGESTS['relaxed-simd'], KERNEL_DIGEST];
  const isKnown = (path: string, i: number) =>
    createHash('sha256').update(readFileSync(path)).digest('hex') === known[i];
  if (BUILT.every(isKnown)) return;
  process.stderr.write(
    'The kernels have new bytes: "npm run digests" makes the service accept them.\n',
  );
}

if (!isUpToDate()) {
  for (const kernel of KERNELS) await compile(kernel);
  writeFileSync(STAMP, digestState() ?? '');
  reportNewBytes();
}
