/**
 * What `npm ci` and `npm install` end with: builds what is not kept in the repository. Without the
 * development dependencies there is no compiler; then what was built before must be there.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = new URL('../', import.meta.url);
const outputs = ['modulation', 'relaxed-simd', 'simd'].map((name) => `build/kernels/${name}.wasm`);

if (existsSync(new URL('node_modules/.bin/asc', root))) {
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], {
    cwd: fileURLToPath(root),
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  process.exitCode = status ?? 1;
} else {
  const missing = outputs.filter((output) => !existsSync(new URL(output, root)));
  if (missing.length > 0) {
    process.stderr.write(
      `${missing.join(', ')} not built, and no compiler here to build them: run "npm ci" once with the development dependencies ("npm run build" builds), then "npm ci --omit=dev"\n`,
    );
    process.exitCode = 1;
  }
}
