import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs, { cpSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { changedProgram, PROJECT_VERSION, softwareName } from '../../src/process/version.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The command in the documentation of `softwareName`. */
const COMMAND = `find package.json src packages -regextype posix-extended -type f \
  -regex 'package.json|(packages/[^/]+/)?src/.+' -not -regex '.+/[.].+' |
  LC_ALL=C sort | xargs sha256sum | sha256sum`;

const isGnu = process.platform === 'linux';

describe('the name of the installed program', () => {
  const copy = mkdtempSync(join(tmpdir(), 'phm-installed-'));
  after(() => rmSync(copy, { recursive: true, force: true }));

  /** Copies what a Docker image has, without tests, benchmarks and documents. */
  function copyProgram(): void {
    for (const path of ['package.json', 'src', 'packages']) {
      cpSync(join(ROOT, path), join(copy, path), { recursive: true });
    }
  }

  it('has the version and 16 hexadecimal digits', () => {
    assert.match(softwareName(), /^phm-key-service\/[0-9a-z.-]+\+[0-9a-f]{16}$/);
    assert.ok(softwareName().startsWith(`phm-key-service/${PROJECT_VERSION}+`));
  });

  it('has the digits that the documented command prints', { skip: !isGnu }, () => {
    const printed = execFileSync('sh', ['-c', COMMAND], { cwd: ROOT, encoding: 'utf8' });
    assert.equal(softwareName().split('+')[1], printed.slice(0, 16));
  });

  it('depends on the sources of the program alone', async () => {
    copyProgram();
    let copies = 0;
    const nameOfCopy = async (): Promise<string> => {
      // Another address is another module, which has remembered no name.
      const loaded = await import(`${join(copy, 'src/process/version.ts')}?${copies++}`);
      return loaded.softwareName();
    };
    assert.equal(await nameOfCopy(), softwareName());
    writeFileSync(join(copy, 'packages/sp800-22/README.md'), 'other');
    writeFileSync(join(copy, 'src/.editor'), 'other');
    assert.equal(await nameOfCopy(), softwareName());
    writeFileSync(join(copy, 'packages/sp800-22/src/labels.ts'), '// other\n');
    assert.notEqual(await nameOfCopy(), softwareName());
  });

  it('tells a running program that its files have changed, in whatever way', async () => {
    copyProgram();
    const loaded = await import(`${join(copy, 'src/process/version.ts')}?running`);
    const started: string = loaded.softwareName();
    const { changedProgram, requireProgram } = loaded;
    assert.equal(changedProgram(), null);
    requireProgram(started);

    const CHANGED = /^the program's files have changed since the server started: restart/;
    const file = join(copy, 'src/clock.ts');
    const text = readFileSync(file);
    writeFileSync(file, '// other\n');
    assert.match(changedProgram(), CHANGED);
    assert.equal(loaded.softwareName(), started);
    const later = await import(`${join(copy, 'src/process/version.ts')}?later`);
    assert.throws(() => later.requireProgram(started), { name: 'SetupError', message: CHANGED });
    writeFileSync(file, text);
    assert.equal(changedProgram(), null);

    const folder = join(copy, 'packages');
    renameSync(folder, `${folder}-away`);
    assert.match(changedProgram(), CHANGED);
    writeFileSync(folder, '');
    assert.match(changedProgram(), CHANGED);
  });

  it('knows no change if it cannot read its files', async (t) => {
    softwareName();
    t.mock.method(fs, 'readFileSync', () => {
      throw Object.assign(new Error(), { code: 'EMFILE' });
    });
    syncBuiltinESMExports();
    const found = changedProgram();
    t.mock.restoreAll();
    syncBuiltinESMExports();
    assert.equal(found, null);
  });
});
