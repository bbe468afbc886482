/**
 * Makes what the package in library/ holds: the statistical suite as JavaScript and types, and the
 * kernels. `npm pack --workspace library` runs it. The folders lie to each other as they do here, so
 * that the suite finds its kernels in both.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = new URL('../', import.meta.url);
const library = new URL('library/', root);

for (const folder of ['dist', 'build']) {
  rmSync(new URL(folder, library), { recursive: true, force: true });
}
execFileSync('tsc', ['-p', fileURLToPath(library)], {
  stdio: 'inherit',
  shell: process.platform === 'win32',
});
for (const build of ['relaxed-simd', 'simd']) {
  const path = `build/kernels/${build}.wasm`;
  cpSync(new URL(path, root), new URL(path, library));
}
cpSync(new URL('LICENSE', root), new URL('LICENSE', library));
