/** The installed Python client of sdk/python against a real server: its own tests, run by pytest. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import {
  openSealedKey,
  parseRecipientKey,
  UnreadableError,
  verifyReceipt,
} from '../../../sdk/src/index.ts';
import { CASES } from '../../sdk/receipt-cases.ts';
import { NOW } from '../../sdk/receipts.ts';
import { outcomeOf, sealedCases } from '../../sdk/sealed-cases.ts';
import { sealedAnswer } from '../../sdk/sealed-keys.ts';
import { pythonEnvironment } from '../../support/python.ts';
import {
  DEMO_KEY,
  DEMO_PROFESSIONAL_KEY,
  makeDataDir,
  phmJson,
  removeDataDir,
  Server,
} from '../../support/server.ts';

const PROJECT = resolve(import.meta.dirname, '../../../sdk/python');
const { python, skip } = await pythonEnvironment('client', join(PROJECT, 'tests/requirements.txt'));

/** A Research key whose bucket no other test uses. */
async function issueResearchKey(dataDir: string): Promise<string> {
  const create = ['account', 'create', '--name', 'python', '--plan', 'research'];
  const { account_id } = await phmJson<{ account_id: string }>(create, dataDir);
  const issue = ['api-key', 'issue', '--account', account_id];
  return (await phmJson<{ api_key: string }>(issue, dataDir)).api_key;
}

/** Writes receipts with the verdicts of the TypeScript client. Resolves with the path of the file. */
async function writeCases(folder: string): Promise<string> {
  const given = CASES.map(async (one) => {
    const { receipt, policy, key, opening } = one;
    try {
      const options = { policy, key, opening, now: NOW };
      const { statement: _, ...verdict } = await verifyReceipt(receipt, options);
      return { ...one, verdict };
    } catch (error) {
      if (!(error instanceof UnreadableError)) throw error;
      return { ...one, verdict: { unreadable: error.message } };
    }
  });
  const file = join(folder, 'receipts.json');
  const cases = await Promise.all(given);
  writeFileSync(file, JSON.stringify({ now: NOW.getTime() / 1_000, cases }));
  return file;
}

/** Writes sealed keys with the outcomes of the TypeScript client. Resolves with the path of the file. */
async function writeSealedCases(folder: string): Promise<string> {
  const given = (await sealedCases()).map(async (one) => ({
    ...one,
    outcome: await outcomeOf(one),
  }));
  const cases = await Promise.all(given);
  const opened = cases.filter(({ outcome }) => 'key' in outcome);
  assert.ok(opened.length > 10 && opened.length < cases.length / 2);
  const file = join(folder, 'sealed.json');
  writeFileSync(file, JSON.stringify({ now: NOW.getTime() / 1_000, cases }));
  return file;
}

/** Seals keys to the recipients that the Python client generated, and opens them with its private keys. */
async function checkRecipients(folder: string): Promise<void> {
  const files = JSON.parse(readFileSync(join(folder, 'recipient-keys.json'), 'utf8')) as string[];
  assert.equal(files.length, 2);
  for (const file of files) {
    const { answer, key } = await sealedAnswer(parseRecipientKey(file));
    assert.deepEqual(Buffer.from((await openSealedKey(answer, file)).key), key);
  }
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
      PHM_RECEIPT_CASES: await writeCases(installed),
      PHM_SEALED_CASES: await writeSealedCases(installed),
    };
    const pytest = ['-m', 'pytest', '-rA', '--color=no'];
    const options = { cwd: PROJECT, env, maxBuffer: 2 ** 24, timeout: 600_000 };
    const { stdout } = await promisify(execFile)(python, pytest, options).catch(
      (error: { stdout?: string }) => assert.fail(`pytest failed:\n${error.stdout ?? error}`),
    );
    const summary = stdout.trim().split('\n').at(-1) ?? '';
    assert.match(summary, /\d{3} passed in/);
    assert.doesNotMatch(summary, /skipped/);
    await checkRecipients(installed);
    for (const line of stdout.match(/^100 calls: .*$/gm) ?? []) t.diagnostic(line);
    t.diagnostic(summary);
  });
});
