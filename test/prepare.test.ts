/** What `npm ci --omit=dev` ends with: there is no compiler then. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';

const ROOT = resolve(import.meta.dirname, '..');

test('without a compiler, prepare asks for what was built before, and names the fix', () => {
  const root = mkdtempSync(join(tmpdir(), 'prepare-'));
  try {
    for (const file of ['scripts/prepare.ts', 'src/wasm.ts', 'src/wasm-digests.ts']) {
      cpSync(join(ROOT, file), join(root, file));
    }
    const prepare = () =>
      spawnSync(process.execPath, [join(root, 'scripts/prepare.ts')], { encoding: 'utf8' });
    const missing = prepare();
    assert.equal(missing.status, 1);
    assert.match(
      missing.stderr,
      /simd\.wasm, build\/dashboard\/index\.html, build\/docs\/index\.html: not built from these sources, and no compiler here.* run "npm ci"/,
    );
    mkdirSync(join(root, 'build/kernels'), { recursive: true });
    for (const name of ['modulation', 'relaxed-simd', 'simd']) {
      writeFileSync(join(root, `build/kernels/${name}.wasm`), 'of other sources');
    }
    assert.equal(prepare().status, 1);
    cpSync(join(ROOT, 'build/kernels'), join(root, 'build/kernels'), { recursive: true });
    const noPage = prepare();
    assert.equal(noPage.status, 1);
    assert.match(
      noPage.stderr,
      /^build\/dashboard\/index\.html, build\/docs\/index\.html: not built.* run "npm ci"/,
    );
    for (const page of ['build/dashboard', 'build/docs']) {
      cpSync(join(ROOT, page), join(root, page), { recursive: true });
    }
    const there = prepare();
    assert.deepEqual([there.status, there.stderr], [0, '']);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
