/** The last step of `npm ci --omit=dev`, without a compiler. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';

const ROOT = resolve(import.meta.dirname, '..');

/** The script that `npm ci --omit=dev` runs, and its imports. */
const SOURCES = [
  'scripts/prepare.ts',
  'packages/sp800-22/src/arguments.ts',
  'packages/sp800-22/src/node.ts',
  'packages/sp800-22/src/platform.ts',
  'packages/sp800-22/src/sha256.ts',
  'packages/sp800-22/src/wasm.ts',
  'packages/sp800-22/src/kernels/digests.ts',
  'src/modulation/kernel-digest.ts',
];
const KERNELS = [
  'build/kernels/modulation.wasm',
  'packages/sp800-22/build/relaxed-simd.wasm',
  'packages/sp800-22/build/simd.wasm',
];

test('without a compiler, prepare requires an earlier build and names the fix', () => {
  const root = mkdtempSync(join(tmpdir(), 'prepare-'));
  try {
    for (const file of SOURCES) {
      cpSync(join(ROOT, file), join(root, file));
    }
    const prepare = () =>
      spawnSync(process.execPath, [join(root, 'scripts/prepare.ts')], { encoding: 'utf8' });
    const missing = prepare();
    assert.equal(missing.status, 1);
    assert.match(
      missing.stderr,
      /simd\.wasm, build\/dashboard\/index\.html, build\/docs\/index\.html, build\/testbench\/index\.html: not built from these sources, and there is no compiler.* run "npm ci"/,
    );
    for (const kernel of KERNELS) {
      mkdirSync(join(root, dirname(kernel)), { recursive: true });
      writeFileSync(join(root, kernel), 'of other sources');
    }
    assert.equal(prepare().status, 1);
    for (const kernel of KERNELS) cpSync(join(ROOT, kernel), join(root, kernel));
    const noPage = prepare();
    assert.equal(noPage.status, 1);
    assert.match(
      noPage.stderr,
      /^build\/dashboard\/index\.html, build\/docs\/index\.html, build\/testbench\/index\.html: not built.* run "npm ci"/,
    );
    for (const page of ['build/dashboard', 'build/docs', 'build/testbench']) {
      cpSync(join(ROOT, page), join(root, page), { recursive: true });
    }
    const there = prepare();
    assert.deepEqual([there.status, there.stderr], [0, '']);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
