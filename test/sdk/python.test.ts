/**
 * Tests of the Python client that need no server and do not wait, where its pinned packages are installed already. All of
 * them run in test/slow/clients/python-client.test.ts, which installs them.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { installedPython } from '../support/programs/python.ts';
import { checkPythonFiles, checkPythonRecipients, writePythonCases } from './python-cases.ts';

const PROJECT = resolve(import.meta.dirname, '../../sdk/python');
const { python, skip } = await installedPython('client');

/** These need a server, an installed package, other processes or seconds. */
const SLOW = ['live', 'types', 'processes', 'pace', 'hostile'];

describe('the Python client', { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'phm python-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('makes the exchanges, and gives the verdicts of this client', async (t) => {
    const env = {
      ...process.env,
      PYTHONPATH: join(PROJECT, 'src'),
      PYTHONDONTWRITEBYTECODE: '1',
      NO_PROXY: '127.0.0.1',
      ...(await writePythonCases(folder)),
    };
    const ignored = SLOW.map((name) => `--ignore=tests/test_${name}.py`);
    const temporary = `--basetemp=${join(folder, 'tmp')}`;
    const pytest = ['-m', 'pytest', '-q', '--color=no', temporary, ...ignored];
    const options = { cwd: PROJECT, env, maxBuffer: 2 ** 24 };
    const { stdout } = await promisify(execFile)(python, pytest, options).catch(
      (error: { stdout?: string }) => assert.fail(`pytest failed:\n${error.stdout ?? error}`),
    );
    const summary = stdout.trim().split('\n').at(-1) ?? '';
    assert.match(summary, /\d{3} passed/);
    await checkPythonRecipients(folder);
    await checkPythonFiles(folder);
    t.diagnostic(summary);
  });
});
