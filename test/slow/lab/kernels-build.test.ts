/** A build of the kernels has the digests in the repository, on every machine. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { KERNEL_DIGESTS } from '../../../packages/sp800-22/src/kernels/digests.ts';
import { KERNEL_DIGEST } from '../../../src/modulation/kernel-digest.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

for (const [target, source, expected] of [
  ['simd', 'packages/sp800-22/kernels/index.ts', KERNEL_DIGESTS.simd],
  ['relaxed-simd', 'packages/sp800-22/kernels/index.ts', KERNEL_DIGESTS['relaxed-simd']],
  ['modulation', 'src/modulation/kernel/modulation.ts', KERNEL_DIGEST],
] as const) {
  test(`the ${target} kernels are rebuilt to the same bytes`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'kernels-'));
    try {
      const outFile = join(folder, `${target}.wasm`);
      const config = join(ROOT, dirname(source), 'asconfig.json');
      const asc = join(ROOT, 'node_modules/.bin/asc');
      const options = ['--config', config, '--target', target, '--outFile', outFile];
      execFileSync(asc, [join(ROOT, source), ...options], { cwd: folder, stdio: 'pipe' });
      const digest = createHash('sha256').update(readFileSync(outFile)).digest('hex');
      assert.equal(digest, expected, 'after a change of a kernel: "npm run digests"');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}
