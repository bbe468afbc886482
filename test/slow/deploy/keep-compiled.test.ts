/** An image keeps the compiled code of its server: a server and a command that find it compile nothing, in no thread. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { makeDataDir, removeDataDir, runPhm, Server } from '../../support/servers/server.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

/** Returns the files below a folder, with the time of their last change. */
function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .map((path) => `${path} ${statSync(path).mtimeMs}`)
    .sort();
}

describe('the compiled code that scripts/keep-compiled.ts leaves', () => {
  let folder = '';
  let dataDir = '';

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'phm-compiled-'));
    dataDir = makeDataDir();
  });
  after(() => {
    rmSync(folder, { recursive: true });
    removeDataDir(dataDir);
  });

  it('is all that a server and a command need', async () => {
    const args = [join(ROOT, 'scripts/keep-compiled.ts'), ROOT];
    const { PATH, TMPDIR } = process.env;
    const env = { PATH, TMPDIR, NODE_COMPILE_CACHE: folder };
    const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    const kept = filesOf(folder);
    assert.ok(kept.length > 500, `${kept.length} files`);

    const server = await Server.start(dataDir, { NODE_COMPILE_CACHE: folder });
    assert.equal((await server.request('/readyz')).status, 200);
    assert.equal(await server.stop(), 0);
    const command = await runPhm(['account', 'list'], dataDir, { NODE_COMPILE_CACHE: folder });
    assert.equal(command.code, 0, command.stderr);
    assert.deepEqual(filesOf(folder), kept);
  });
});
