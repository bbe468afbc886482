/** `scripts/deprecated.ts`, with a registry of our own. npm is the machine's. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';

const SCRIPT = resolve(import.meta.dirname, '../../../scripts/deprecated.ts');

/** Words of the registry on a version; `request` is what the script knows to be deprecated. */
const words: Record<string, string | undefined> = {};
const PACKAGES: Record<string, { version: string; dependencies?: Record<string, string> }> = {
  request: { version: '2.88.2' },
  outer: { version: '1.0.0', dependencies: { inner: '^1.0.0' } },
  inner: { version: '1.2.0' },
};

/** A project that needs `outer`, which needs `inner`. `inLock` is npm's word on `inner` from the time of its choice. */
function project(folder: string, inLock: object): void {
  const own = { name: 'own', version: '1.0.0', dependencies: { outer: '1.0.0' } };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(own));
  const packages = {
    '': own,
    'node_modules/outer': PACKAGES.outer,
    'node_modules/inner': { ...PACKAGES.inner, ...inLock },
  };
  const lock = { name: 'own', version: '1.0.0', lockfileVersion: 3, requires: true, packages };
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
}

describe('the check for deprecated packages', () => {
  let registry: Server;
  let url: string;
  let folder: string;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'deprecated-test-'));
    registry = createServer((request, response) => {
      const name = request.url?.slice(1) ?? '';
      const found = PACKAGES[name];
      if (!found) {
        response.writeHead(404).end('{}');
        return;
      }
      const dist = { tarball: `${url}/${name}.tgz`, shasum: '0'.repeat(40) };
      const manifest = { name, ...found, dist, deprecated: words[name] };
      const versions = { [found.version]: manifest };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ name, versions, 'dist-tags': { latest: found.version } }));
    });
    await new Promise<void>((done) => registry.listen(0, '127.0.0.1', done));
    url = `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;
  });
  after(() => {
    registry.close();
    registry.closeAllConnections();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Runs the script with npm's settings for this registry, and a cache of its own: npm keeps answers. */
  function check(registryUrl = url): Promise<{ code: number; output: string }> {
    const cache = mkdtempSync(join(folder, 'cache-'));
    const env = { ...process.env, npm_config_registry: registryUrl, npm_config_cache: cache };
    return new Promise((done) => {
      execFile(process.execPath, [SCRIPT, folder], { env, timeout: 60_000 }, (error, stdout) =>
        done({ code: error ? Number(error.code) : 0, output: stdout }),
      );
    });
  }

  it('passes if the registry tells and has no word on a locked version', async () => {
    project(folder, {});
    words.request = 'see another';
    assert.deepEqual(await check(), { code: 0, output: 'deprecated packages: 0 of 3\n' });
  });

  it('names what was deprecated after it was locked, and who needs it', async () => {
    project(folder, {});
    Object.assign(words, { request: 'see another', inner: 'no longer kept' });
    assert.deepEqual(await check(), {
      code: 1,
      output:
        'inner@1.2.0 is deprecated: no longer kept\n  needed by outer@1.0.0\ndeprecated packages: 1 of 3\n',
    });
  });

  it('reads the lock file alone if the registry does not tell, and says so', async () => {
    words.request = undefined;
    project(folder, {});
    const silent = await check();
    assert.equal(silent.code, 0);
    assert.match(
      silent.output,
      /^deprecated packages: 0 of 3 by package-lock\.json alone: .*does not tell/,
    );
    project(folder, { deprecated: 'gone' });
    const locked = await check();
    assert.equal(locked.code, 1);
    assert.match(
      locked.output,
      /^inner@1\.2\.0 is deprecated: gone\n {2}needed by outer@1\.0\.0\n/,
    );
  });

  it('is no failure if the registry does not answer, in whole or in part', async () => {
    project(folder, {});
    const none = await check('http://127.0.0.1:9');
    assert.equal(none.code, 0);
    assert.match(none.output, /alone: the registry does not answer: .*ECONNREFUSED/);
    words.request = 'see another';
    const { inner } = PACKAGES;
    delete PACKAGES.inner;
    const part = await check();
    PACKAGES.inner = inner;
    assert.equal(part.code, 0);
    assert.match(part.output, /alone: the registry does not answer/);
  });
});
