/** An installation without the output of `npm run build`, as after `npm ci --ignore-scripts`. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, describe, it } from 'node:test';
import { makeDataDir, removeDataDir } from '../../support/servers/server.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

const copy = makeDataDir();
for (const part of [
  'src',
  'sdk/src',
  'packages/ais-20-31/src',
  'packages/sp800-22/src',
  'packages/sp800-90b/src',
  'packages/tlog/src',
  'packages/sealing/src',
  'packages/lab/src',
  'packages/platform/src',
  'docs/examples',
  'package.json',
]) {
  cpSync(join(ROOT, part), join(copy, part), { recursive: true });
}
symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'), 'junction');
after(() => removeDataDir(copy));

interface End {
  readonly code: number | null;
  readonly stderr: string;
}

function run(command: string): Promise<End> {
  const env = {
    PHM_DATA_DIR: join(copy, 'data'),
    PHM_PORT: '0',
    PHM_WORKERS: '2',
    PHM_LOG_FORMAT: 'pretty',
  };
  return new Promise((done) => {
    const child = execFile(
      process.execPath,
      [join(copy, 'src/main.mjs'), command],
      { env },
      (_, __, stderr) => done({ code: child.exitCode, stderr }),
    );
  });
}

describe('an installation without its kernels', () => {
  for (const command of ['serve', 'selftest']) {
    it(`reports the missing kernel, and ${command} exits with code 1`, async () => {
      const { code, stderr } = await run(command);
      assert.equal(code, 1, stderr);
      assert.match(
        stderr,
        /^phm: cannot use \S+modulation\.wasm \(ENOENT.*\): run "npm run build", or install the package again$/m,
      );
      assert.doesNotMatch(stderr, /self-test failed|FAIL/);
    });
  }
});
