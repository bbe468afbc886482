/** What the sources are built to has the digests that the repository keeps, wherever it is built. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { KERNEL_DIGESTS } from '../../src/wasm-digests.ts';

const ROOT = resolve(import.meta.dirname, '../..');

for (const [target, entry] of [
  ['simd', 'index'],
  ['relaxed-simd', 'index'],
  ['modulation', 'modulation'],
] as const) {
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
      const digest = createHash('sha256').update(readFileSync(outFile)).digest('hex');
      assert.equal(digest, KERNEL_DIGESTS[target], 'after a change of kernels/: "npm run digests"');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}
