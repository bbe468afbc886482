/** The builds are what the sources give: to the byte, wherever they are made. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';

const ROOT = resolve(import.meta.dirname, '../..');

for (const [target, entry] of [
  ['simd', 'index'],
  ['relaxed-simd', 'index'],
  ['modulation', 'modulation'],
]) {
  test(`the ${target} kernels are built again to the same bytes`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'kernels-'));
    try {
      const outFile = join(folder, `${target}.wasm`);
      const config = join(ROOT, 'kernels/asconfig.json');
      const asc = join(ROOT, 'node_modules/.bin/asc');
      const source = join(ROOT, `kernels/${entry}.ts`);
      execFileSync(asc, [source, '--config', config, '--target', target, '--outFile', outFile], {
        cwd: folder,
        stdio: 'pipe',
      });
      const kept = readFileSync(join(ROOT, `build/kernels/${target}.wasm`));
      assert.ok(readFileSync(outFile).equals(kept), 'run "npm run build"');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}
