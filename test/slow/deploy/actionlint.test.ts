/** The workflows, read by actionlint, which Go builds from the digests in test/interop/actionlint/go.sum. */
import assert from 'node:assert/strict';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { buildGo, noGo, run } from '../../support/programs/go.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const MODULE = join(ROOT, 'test/interop/actionlint');
const COMMAND = 'github.com/rhysd/actionlint/cmd/actionlint';

const reason = noGo();
describe('actionlint', { skip: reason }, () => {
  let folder: string;
  let missing: string | undefined;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'actionlint-'));
    missing = await buildGo(folder, [COMMAND], MODULE);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** Other linters are off: whether the machine has them must not decide. */
  const lint = (...files: string[]) =>
    run(join(folder, 'actionlint'), ['-no-color', '-shellcheck=', '-pyflakes=', ...files], {
      cwd: ROOT,
    });

  it('finds nothing in the workflows', async (t) => {
    if (missing) {
      t.skip(missing);
      return;
    }
    const files = globSync('.github/workflows/*.yml', { cwd: ROOT });
    assert.ok(files.length >= 4, `${files}`);
    assert.deepEqual(await lint(...files), { code: 0, output: '' });
  });

  it('finds a job that needs one that is not there', async (t) => {
    if (missing) {
      t.skip(missing);
      return;
    }
    const text = readFileSync(join(ROOT, '.github/workflows/release.yml'), 'utf8');
    const file = join(folder, 'broken.yml');
    writeFileSync(file, text.replace('needs: [tests,', 'needs: [test,'));
    const { code, output } = await lint(file);
    assert.equal(code, 1);
    assert.match(output, /job "test" which does not exist|needs job "test"/);
  });
});
