/** The installed Python client of sdk/python against a real server: its own tests, run by pytest. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import {
  checkPythonFiles,
  checkPythonRecipients,
  writePythonCases,
} from '../../sdk/python-cases.ts';
import { sharedPython } from '../../support/programs/python.ts';
import {
  DEMO_KEY,
  DEMO_PROFESSIONAL_KEY,
  makeDataDir,
  phmJson,
  removeDataDir,
  Server,
} from '../../support/servers/server.ts';

const PROJECT = resolve(import.meta.dirname, '../../../sdk/python');
const { python, skip } = await sharedPython('client');

/** A Research key whose bucket no other test uses. */
async function issueResearchKey(dataDir: string): Promise<string> {
  const create = ['account', 'create', '--name', 'python', '--plan', 'research'];
  const { account_id } = await phmJson<{ account_id: string }>(create, dataDir);
  const issue = ['api-key', 'issue', '--account', account_id];
  return (await phmJson<{ api_key: string }>(issue, dataDir)).api_key;
}

describe('the Python client', { skip }, () => {
  const dataDir = makeDataDir();
  const installed = mkdtempSync(join(tmpdir(), 'phm python-'));
  let server: Server;

  before(async () => {
    const pip = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--no-build-isolation'];
    await promisify(execFile)(python, [...pip, '--target', installed, PROJECT]);
    // The demo keys stay valid beside the issued key.
    server = await Server.start(dataDir, { PHM_DEMO_KEYS: 'on' });
  });
  after(async () => {
    await server?.stop();
    removeDataDir(dataDir);
    rmSync(installed, { recursive: true, force: true });
  });

  it('passes its own tests', async (t) => {
    const env = {
      ...process.env,
      PYTHONPATH: installed,
      MYPYPATH: installed,
      PYTHONDONTWRITEBYTECODE: '1',
      NO_PROXY: '127.0.0.1',
      PHM_URL: server.address,
      PHM_API_KEY: DEMO_PROFESSIONAL_KEY,
      PHM_RESEARCH_API_KEY: DEMO_KEY,
      PHM_SHARED_API_KEY: await issueResearchKey(dataDir),
      ...(await writePythonCases(installed)),
    };
    const pytest = ['-m', 'pytest', '-rA', '--color=no', `--basetemp=${join(installed, 'tmp')}`];
    const options = { cwd: PROJECT, env, maxBuffer: 2 ** 24, timeout: 600_000 };
    const { stdout } = await promisify(execFile)(python, pytest, options).catch(
      (error: { stdout?: string }) => assert.fail(`pytest failed:\n${error.stdout ?? error}`),
    );
    const summary = stdout.trim().split('\n').at(-1) ?? '';
    assert.match(summary, /\d{3} passed in/);
    assert.doesNotMatch(summary, /skipped/);
    await checkPythonRecipients(installed);
    await checkPythonFiles(installed);
    for (const line of stdout.match(/^100 calls: .*$/gm) ?? []) t.diagnostic(line);
    t.diagnostic(summary);
  });
});
