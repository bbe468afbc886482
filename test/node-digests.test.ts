/** The Node that npm installed is the one whose digest is kept (`scripts/node-digests.ts` has the other platforms). */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { test } from 'node:test';

const ROOT = resolve(import.meta.dirname, '..');
const LIST = readFileSync(join(ROOT, 'scripts/node-digests.txt'), 'utf8');
const BUNDLED: Record<string, string> = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
).optionalDependencies;

/** The digest of a platform's program in the list. */
function listed(name: string, version: string): string | undefined {
  const platform = name.replace(/^node-(?:bin-)?/, '');
  const file =
    platform === 'win-x64' ? 'win-x64/node.exe' : `node-v${version}-${platform}/bin/node`;
  return LIST.split('\n')
    .find((line) => line.endsWith(`  ${file}`))
    ?.slice(0, 64);
}

test('the list of digests is of the bundled version, for each platform', () => {
  const versions = new Set(Object.values(BUNDLED));
  assert.equal(versions.size, 1, [...versions].join(' '));
  const [version] = versions;
  assert.ok(LIST.includes(`https://nodejs.org/dist/v${version}/SHASUMS256.txt`), version);
  for (const name of Object.keys(BUNDLED)) {
    assert.match(listed(name, version) ?? '', /^[0-9a-f]{64}$/, name);
  }
});

test('the installed Node has the digest of the list', async (t) => {
  const bin = process.platform === 'win32' ? 'bin/node.exe' : 'bin/node';
  const found = Object.keys(BUNDLED).filter((name) =>
    existsSync(join(ROOT, 'node_modules', name, bin)),
  );
  if (found.length === 0) {
    t.skip('no bundled Node is installed (npm ci --omit=optional, or another platform)');
    return;
  }
  for (const name of found) {
    const digest = createHash('sha256');
    await pipeline(createReadStream(join(ROOT, 'node_modules', name, bin)), digest);
    assert.equal(digest.digest('hex'), listed(name, BUNDLED[name]), name);
  }
});
