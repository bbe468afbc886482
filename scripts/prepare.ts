/**
 * What `npm ci` and `npm install` end with: builds what is not kept in the repository. Without the
 * development dependencies there is no compiler; then what was built before must be there, from the
 * same sources.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { KERNEL_DIGESTS } from '../packages/sp800-22/src/kernels/digests.ts';
import { compileKernels, KernelsError } from '../packages/sp800-22/src/wasm.ts';
import { KERNEL_DIGEST } from '../src/modulation/kernel-digest.ts';

const root = new URL('../', import.meta.url);

/** The WebAssembly modules, and the bytes that their sources give. */
const KERNELS: Readonly<Record<string, string>> = {
  'build/kernels/modulation.wasm': KERNEL_DIGEST,
  'packages/sp800-22/build/relaxed-simd.wasm': KERNEL_DIGESTS['relaxed-simd'],
  'packages/sp800-22/build/simd.wasm': KERNEL_DIGESTS.simd,
};

/** What the server looks for to know that the dashboard and the documentation are there. */
const PAGES = ['build/dashboard/index.html', 'build/docs/index.html'];

/** Whether the service would load them. */
function isBuilt(path: string, digest: string): boolean {
  try {
    compileKernels(new URL(path, root), digest);
    return true;
  } catch (error) {
    if (error instanceof KernelsError) return false;
    throw error;
  }
}

if (existsSync(new URL('node_modules/.bin/asc', root))) {
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], {
    cwd: fileURLToPath(root),
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  process.exitCode = status ?? 1;
} else {
  const kernels = Object.keys(KERNELS).filter((path) => !isBuilt(path, KERNELS[path]));
  const pages = PAGES.filter((page) => !existsSync(new URL(page, root)));
  const missing = [...kernels, ...pages];
  if (missing.length > 0) {
    process.stderr.write(
      `${missing.join(', ')}: not built from these sources, and no compiler here to build them: run "npm ci" once with the development dependencies, then "npm ci --omit=dev"\n`,
    );
    process.exitCode = 1;
  }
}
