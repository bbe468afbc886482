/**
 * What `npm ci` and `npm install` end with: builds what is not kept in the repository. Without the
 * development dependencies there is no compiler; then what was built before must be there, from the
 * same sources.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { compileKernels, KernelsError } from '../src/wasm.ts';
import { KERNEL_DIGESTS, type KernelName } from '../src/wasm-digests.ts';

const root = new URL('../', import.meta.url);

/** What the server looks for to know that the dashboard and the documentation are there. */
const PAGES = ['build/dashboard/index.html', 'build/docs/index.html'];

/** Whether the service would load them. */
function isBuilt(name: KernelName): boolean {
  try {
    compileKernels(name);
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
  const names = Object.keys(KERNEL_DIGESTS) as KernelName[];
  const kernels = names
    .filter((name) => !isBuilt(name))
    .map((name) => `build/kernels/${name}.wasm`);
  const pages = PAGES.filter((page) => !existsSync(new URL(page, root)));
  const missing = [...kernels, ...pages];
  if (missing.length > 0) {
    process.stderr.write(
      `${missing.join(', ')}: not built from these sources, and no compiler here to build them: run "npm ci" once with the development dependencies, then "npm ci --omit=dev"\n`,
    );
    process.exitCode = 1;
  }
}
