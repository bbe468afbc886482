/**
 * Last step of `npm ci` and `npm install`: builds everything that is not in the repository. Without the
 * development dependencies there is no compiler; then it requires an earlier build from the same sources.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { KERNEL_DIGESTS } from '../packages/sp800-22/src/kernels/digests.ts';
import { compileKernels, KernelsError } from '../packages/sp800-22/src/node.ts';
import { KERNEL_DIGEST } from '../src/modulation/kernel-digest.ts';

const root = new URL('../', import.meta.url);

/** The WebAssembly modules and their digests. */
const KERNELS: Readonly<Record<string, string>> = {
  'build/kernels/modulation.wasm': KERNEL_DIGEST,
  'packages/sp800-22/build/relaxed-simd.wasm': KERNEL_DIGESTS['relaxed-simd'],
  'packages/sp800-22/build/simd.wasm': KERNEL_DIGESTS.simd,
};

/** Files that the server checks to find the dashboard, the API documentation and the test bench. */
const PAGES = ['build/dashboard/index.html', 'build/docs/index.html', 'build/testbench/index.html'];

/** Reports whether the service would load them. */
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
      `${missing.join(', ')}: not built from these sources, and there is no compiler. First run "npm ci" with the development dependencies, then "npm ci --omit=dev".\n`,
    );
    process.exitCode = 1;
  }
}
