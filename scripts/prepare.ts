/**
 * What `npm ci` and `npm install` end with: builds what is not kept in the repository. Without the
 * development dependencies there is no compiler; then what was built before must be there, from the
 * same sources.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { KERNEL_DIGESTS } from '../src/wasm-digests.ts';

const root = new URL('../', import.meta.url);

function isBuilt([name, digest]: [string, string]): boolean {
  const file = new URL(`build/kernels/${name}.wasm`, root);
  if (!existsSync(file)) return false;
  return createHash('sha256').update(readFileSync(file)).digest('hex') === digest;
}

if (existsSync(new URL('node_modules/.bin/asc', root))) {
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], {
    cwd: fileURLToPath(root),
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  process.exitCode = status ?? 1;
} else {
  const missing = Object.entries(KERNEL_DIGESTS).filter((entry) => !isBuilt(entry));
  if (missing.length > 0) {
    const names = missing.map(([name]) => `build/kernels/${name}.wasm`).join(', ');
    process.stderr.write(
      `${names}: not built from these sources, and no compiler here to build them: run "npm ci" once with the development dependencies, then "npm ci --omit=dev"\n`,
    );
    process.exitCode = 1;
  }
}
