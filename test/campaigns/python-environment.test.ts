/** The Python environments that tests share are complete, or give a reason why they are missing. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { pythonEnvironment } from '../support/programs/python.ts';

const FOLDER = mkdtempSync(join(tmpdir(), 'python-'));
const NOTHING = join(FOLDER, 'nothing.txt');
writeFileSync(NOTHING, '# no package\n');
const NAME = 'test-of-environments';
const first = await pythonEnvironment(NAME, NOTHING);

describe('a test environment for Python programs', { skip: first.skip }, () => {
  after(() => {
    const cached = dirname(dirname(dirname(first.python)));
    for (const path of [FOLDER, cached]) rmSync(path, { recursive: true, force: true });
  });

  it('is created once for concurrent requests, and works', async () => {
    const other = join(FOLDER, 'other.txt');
    writeFileSync(other, '# no package either\n');
    const asked = Array.from({ length: 3 }, () => pythonEnvironment(NAME, other));
    const [one, ...others] = await Promise.all(asked);
    for (const same of others) assert.deepEqual(same, one);
    const prefix = execFileSync(one?.python ?? '', ['-c', 'import sys; print(sys.prefix)']);
    assert.equal(prefix.toString().trim(), dirname(dirname(one?.python ?? '')));
  });

  it('is created again if it lost its interpreter', async () => {
    rmSync(first.python);
    assert.deepEqual(await pythonEnvironment(NAME, NOTHING), first);
    execFileSync(first.python, ['-m', 'pip', '--version']);
  });

  it('is skipped with the reason if pip finds no package or PATH has no Python', async (t) => {
    const missing = join(FOLDER, 'missing.txt');
    writeFileSync(missing, 'httpx==0.0.0\n');
    const { PATH } = process.env;
    t.after(() => {
      delete process.env.PIP_NO_INDEX;
      process.env.PATH = PATH;
    });
    process.env.PIP_NO_INDEX = '1';
    const refused = await pythonEnvironment(NAME, missing);
    assert.match(`${refused.skip}`, /^pip cannot install what is pinned: ERROR: .*httpx==0\.0\.0/);
    process.env.PATH = FOLDER;
    const { skip } = await pythonEnvironment(NAME, NOTHING);
    assert.equal(skip, 'there is no python3 of version 3.10 or newer with venv here');
  });
});
