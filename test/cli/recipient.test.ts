/** `phm recipient` and `phm account set`: files, refusals, registered recipients and their audit records. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { findSuite, parseRecipient, parseRecipientKey, SEAL_SUITES, thumbprintOf } from '#sealing';
import { commandJson, runCommand } from '../support/servers/run-command.ts';
import { makeDataDir, removeDataDir } from '../support/servers/server.ts';

const FOLDER = mkdtempSync(join(tmpdir(), 'recipient-'));
const dataDir = makeDataDir();
const env = { PHM_DATA_DIR: dataDir, PHM_PORT: '0' };
const inFolder = (name: string): string => join(FOLDER, name);
const phm = (...args: string[]) => runCommand(args, env);

let account: string;
before(async () => {
  const create = ['account', 'create', '--init', '--name', 'Ada', '--plan', 'research'];
  ({ account_id: account } = await commandJson<{ account_id: string }>(create, env));
  await phm('recipient', 'new', '--output', inFolder('ada'));
});
after(() => {
  rmSync(FOLDER, { recursive: true, force: true });
  removeDataDir(dataDir);
});

const read = (name: string): string => readFileSync(inFolder(name), 'utf8');

function put(name: string, content: string): string {
  writeFileSync(inFolder(name), content);
  return inFolder(name);
}

/** Returns the thumbprint of a public file as the commands print it. */
async function thumbprintIn(name: string): Promise<string> {
  return Buffer.from(await thumbprintOf(parseRecipient(read(name)).publicKey)).toString('base64');
}

/** Runs a command that fails with one sentence on standard error, after the name of the store. */
async function refusal(expected: number, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await phm(...args);
  assert.deepEqual([code, stdout], [expected, ''], stderr);
  assert.doesNotMatch(stderr, /\n {4}at /);
  return stderr;
}

describe('phm recipient new', () => {
  for (const { name: suite } of SEAL_SUITES) {
    it(`writes a key pair of ${suite} that belongs together`, async () => {
      const name = inFolder(suite);
      const made = await phm('recipient', 'new', '--output', name, '--suite', suite);
      assert.equal(made.code, 0, made.stderr);
      const pair = parseRecipientKey(read(`${suite}.recipient-key`));
      assert.deepEqual(pair.publicKey, parseRecipient(read(`${suite}.recipient`)).publicKey);
      assert.equal(pair.privateKey.length, findSuite(suite)?.privateKeyBytes);
      assert.equal(made.stdout, `${await thumbprintIn(`${suite}.recipient`)}\n`);
      for (const ending of ['', '-key']) {
        assert.equal(statSync(`${name}.recipient${ending}`).mode & 0o777, 0o600);
      }
    });
  }

  it('replaces files only with --force, and leaves none of a pair', async () => {
    const old = put('half.recipient', 'old');
    const stderr = await refusal(1, 'recipient', 'new', '--output', inFolder('half'));
    assert.match(stderr, /half\.recipient exists: name another file, or use --force/);
    assert.deepEqual(
      readdirSync(FOLDER).filter((name) => /^half/.test(name)),
      ['half.recipient'],
    );
    const forced = await phm('recipient', 'new', '--output', inFolder('half'), '--force', '--json');
    const { suite, thumbprint, ...files } = JSON.parse(forced.stdout);
    assert.deepEqual(
      [suite, thumbprint],
      ['MLKEM768-X25519', await thumbprintIn('half.recipient')],
    );
    assert.deepEqual(files, { public_file: old, secret_file: `${old}-key` });
  });

  it('refuses a name that is none, and an unknown suite', async () => {
    const folder = await refusal(2, 'recipient', 'new', '--output', `${FOLDER}/`);
    assert.match(folder, /--output needs a name for the files/);
    const suite = ['--suite', 'RSA'];
    const unknown = await refusal(2, 'recipient', 'new', '--output', inFolder('x'), ...suite);
    assert.match(unknown, /MLKEM768-X25519, ML-KEM-1024/);
    const nowhere = await refusal(1, 'recipient', 'new', '--output', inFolder('none/x'));
    assert.match(nowhere, /none\/x\.recipient-key cannot be written: there is no such directory/);
  });
});

describe('phm recipient show', () => {
  it('prints the thumbprint of either file', async () => {
    const expected = await thumbprintIn('ada.recipient');
    for (const name of ['ada.recipient', 'ada.recipient-key']) {
      const { code, stdout, stderr } = await phm('recipient', 'show', inFolder(name));
      assert.deepEqual([code, stdout, stderr], [0, `${expected}\n`, 'Suite: MLKEM768-X25519\n']);
    }
  });
});

describe('phm recipient add, list and remove', () => {
  const add = (name: string, ...args: string[]) =>
    phm('recipient', 'add', name, '--account', account, '--public-key', ...args);

  it('register a public key under a name, with audit records', async () => {
    const thumbprint = await thumbprintIn('ada.recipient');
    const added = await add('backup', inFolder('ada.recipient'));
    assert.equal(added.code, 0, added.stderr);
    assert.ok(added.stderr.endsWith(`MLKEM768-X25519, with the thumbprint ${thumbprint}\n`));
    const { recipients } = await commandJson<{ recipients: Record<string, string>[] }>(
      ['recipient', 'list', '--account', account],
      env,
    );
    const { created_at, ...row } = recipients[0] ?? {};
    assert.match(created_at ?? '', /^\d{4}-/);
    const expected = { account_id: account, name: 'backup', suite: 'MLKEM768-X25519', thumbprint };
    assert.deepEqual(row, expected);
    const table = await phm('recipient', 'list');
    assert.match(table.stdout, /^NAME +ACCOUNT +SUITE +CREATED +THUMBPRINT\nbackup +acct_/);
    assert.match((await add('backup', inFolder('ada.recipient'))).stderr, /backup already: remove/);
    const remove = ['recipient', 'remove', 'backup', '--account', account];
    assert.equal((await phm(...remove)).code, 0);
    assert.match(await refusal(1, ...remove), /has no recipient backup\. To list them: /);
    const { records } = await commandJson<{ records: { action: string; details: object }[] }>(
      ['audit', 'list'],
      env,
    );
    assert.deepEqual(
      records.slice(-2).map(({ action, details }) => [action, details]),
      [
        ['recipient_added', expected],
        ['recipient_removed', { account_id: account, name: 'backup' }],
      ],
    );
  });

  it('refuse names, files and accounts that are none, in one sentence', async () => {
    const file = inFolder('ada.recipient');
    for (const name of ['', '-x', '.', 'a b', 'ä', 'x'.repeat(65)]) {
      const args = ['recipient', 'add', '--account', account, '--public-key', file, '--', name];
      assert.match(await refusal(2, ...args), /a name has 1 to 64 letters/, name);
    }
    const publicKey = JSON.parse(read('ada.recipient'));
    const secret = read('ada.recipient-key');
    const zeros = Buffer.alloc(1216).toString('base64url');
    const cases: [string, RegExp][] = [
      [inFolder('missing'), /missing: there is no such file$/],
      [FOLDER, /it is a directory$/],
      [put('empty', ''), /not a file of phm recipient new: .*JSON/],
      [put('long', 'x'.repeat(70_000)), /longer than the 64 KiB/],
      [put('secret', secret), /holds a private key, which only its owner may have/],
      [put('zeros', JSON.stringify({ ...publicKey, public_key: zeros })), /public_key: /],
      [put('short', JSON.stringify({ ...publicKey, public_key: 'AAAA' })), /public_key: .*1216/],
      [put('suite', JSON.stringify({ ...publicKey, suite: 'RSA' })), /suite: /],
    ];
    for (const [path, words] of cases) {
      const { code, stderr } = await add('x', path);
      assert.equal(code, /cannot be read/.test(stderr) ? 2 : 1, stderr);
      assert.match(stderr.trimEnd(), words);
      assert.doesNotMatch(stderr, /\n {4}at |Ledger:/);
      assert.ok(!stderr.includes(JSON.parse(secret).private_key));
    }
    const other = ['--account', 'acct_1', '--public-key', file];
    const unknown = /there is no account acct_1\. To list them: /;
    assert.match(await refusal(1, 'recipient', 'add', 'x', ...other), unknown);
    assert.match(await refusal(1, 'recipient', 'list', '--account', 'acct_1'), unknown);
    assert.match(await refusal(1, 'recipient', 'remove', 'x', '--account', 'acct_1'), unknown);
  });
});

describe('phm account set --sealed-only', () => {
  it('is shown by account list and recorded', async () => {
    const state = async () => {
      const list = ['account', 'list'];
      const { accounts } = await commandJson<{ accounts: { sealed_only: string }[] }>(list, env);
      const { stdout } = await phm(...list);
      return [accounts[0]?.sealed_only, / {2}(all|sealed .*?) {2}/.exec(stdout)?.[1]];
    };
    assert.deepEqual(await state(), ['off', 'all']);
    const on = await phm('account', 'set', account, '--sealed-only', 'on');
    assert.match(on.stderr, /now gets only sealed keys\. Running servers .* within 2 seconds\.\n$/);
    assert.deepEqual(await state(), ['on', 'sealed only']);
    const registered = await phm('account', 'set', account, '--sealed-only', 'registered');
    assert.match(registered.stderr, /now gets only keys sealed to its registered recipients\./);
    assert.deepEqual(await state(), ['registered', 'sealed to registered recipients']);
    const off = await phm('account', 'set', account, '--sealed-only', 'off', '--json');
    assert.deepEqual(JSON.parse(off.stdout), { account_id: account, sealed_only: 'off' });
    assert.deepEqual(await state(), ['off', 'all']);
    const { stdout } = await phm('audit', 'list');
    assert.equal(stdout.match(/sealed_only_set/g)?.length, 3);
  });

  it('refuses an unknown account or state', async () => {
    const set = (...args: string[]) => ['account', 'set', ...args];
    assert.match(await refusal(1, ...set('acct_1', '--sealed-only', 'on')), /no account acct_1/);
    assert.match(await refusal(2, ...set(account, '--sealed-only', 'yes')), /off, on, registered/);
    assert.match(await refusal(2, ...set(account)), /--sealed-only/);
  });
});
