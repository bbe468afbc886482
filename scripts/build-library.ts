/**
 * Makes what the package in library/ holds: the statistical suite as JavaScript and types, and the
 * kernels. `npm pack --workspace library` runs it. The folders lie to each other as they do here, so
 * that the suite finds its kernels in both.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, rmSync } from 'node:fs';
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
cpSync(new URL('build/kernels', root), new URL('build/kernels', library), { recursive: true });
copyFileSync(new URL('LICENSE', root), new URL('LICENSE', library));
