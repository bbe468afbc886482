/** `phm receipt verify` and `phm audit`: what they accept, and one clear sentence for each bad input. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { encodeBase64, type Receipt } from '#tlog';
import { newLogKeysText, parseLogKeys } from '../../src/log/index.ts';
import { LogLedger } from '../support/ledgers/log-ledger.ts';
import type { HeldKey } from '../support/ledgers/log-writer.ts';
import { type RunResult, runCommand, runCommandOn } from '../support/servers/run-command.ts';

let ledger: LogLedger;
let key: HeldKey;
let receipt: Receipt;
let policy: string;
before(async () => {
  ledger = await LogLedger.create();
  const [, held] = await ledger.addKeys(7);
  key = held as HeldKey;
  await ledger.publish();
  receipt = await ledger.receiptOf(key);
  policy = join(ledger.folder, 'policy');
  writeFileSync(policy, (await ledger.run('log', 'show', '--policy')).stdout);
  writeFileSync(join(ledger.folder, 'key'), `${key.key.toString('hex')}\n`);
});
after(() => ledger.remove());

const path = (name: string): string => join(ledger.folder, name);

function put(name: string, content: unknown): string {
  writeFileSync(path(name), typeof content === 'string' ? content : JSON.stringify(content));
  return path(name);
}

const verify = (content: unknown, ...args: string[]): Promise<RunResult> =>
  runCommand(['receipt', 'verify', put('given', content), ...args]);

/** Returns the problems of a receipt, which must not be valid under the policy. */
async function problemsOf(content: unknown, ...args: string[]): Promise<string[]> {
  const result = await verify(content, '--policy', policy, '--json', ...args);
  assert.equal(result.code, 1, result.stderr);
  assert.equal(result.stderr, '');
  const { valid, problems } = JSON.parse(result.stdout);
  assert.equal(valid, false);
  for (const problem of problems) assert.match(problem, /^[A-Z][^\n]*\.$/);
  return problems;
}

/** Returns why a receipt, or what comes with it, cannot be read. It gets no verdict. */
async function reasonOf(content: unknown, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await verify(content, '--policy', policy, '--json', ...args);
  assert.deepEqual([code, stdout], [2, '']);
  const [, reason = ''] = /^phm: ([A-Z].*\.)\n$/.exec(stderr) ?? [];
  assert.notEqual(reason, '', stderr);
  return reason;
}

/** Either of the two. */
async function refusalOf(content: unknown): Promise<string> {
  const { code } = await verify(content, '--policy', policy);
  return code === 2 ? reasonOf(content) : ((await problemsOf(content))[0] ?? '');
}

const withProof = (change: (proof: string) => string): Receipt => ({
  ...receipt,
  proof: change(receipt.proof),
});

describe('phm receipt verify', () => {
  it('says what a receipt shows, and what not', async () => {
    const { code, stdout, stderr } = await verify(receipt, '--policy', policy);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^valid\nShown\n {2}Statement, proof and checkpoint fit together/);
    assert.match(
      stdout,
      /\nNot shown\n {2}That others see the same log: .*\n {2}That you hold the key of this receipt/,
    );
  });

  it('shows with key and opening that the receipt is for the key', async () => {
    const opening = encodeBase64(key.opening);
    const args = ['--policy', policy, '--key-file', path('key')];
    const inFile = await verify({ key_id: key.keyId, receipt, opening }, ...args);
    assert.equal(inFile.code, 0, inFile.stdout);
    assert.match(inFile.stdout, /The given key is the key of this receipt/);
    put('opening', `${opening}\n`);
    put('late', { key_id: key.keyId, receipt: null, opening });
    for (const given of [opening, `@${path('opening')}`, `@${path('late')}`]) {
      assert.equal((await verify(receipt, ...args, '--opening', given)).code, 0);
    }
    const json = put('opened.json', { key: key.key.toString('hex'), opening });
    assert.equal((await verify(receipt, '--policy', policy, '--key-file', json)).code, 0);
    const [foreign] = await problemsOf(
      receipt,
      '--key-file',
      path('key'),
      '--opening',
      encodeBase64(key.key),
    );
    assert.match(foreign ?? '', /^The given key is not the key of this receipt/);
    const short = await reasonOf(receipt, '--key-file', path('key'), '--opening', 'AAAA');
    assert.match(short, /^The opening has the wrong form/);
    const [lone] = await problemsOf(receipt, '--key-file', path('key'));
    assert.match(lone ?? '', /^Only the key was given/);
  });

  it('takes key and opening from the answer of phm generate --json', async () => {
    const opening = encodeBase64(key.opening);
    const answer = { key_id: key.keyId, key: key.key.toString('hex'), opening, receipt };
    const { code, stdout } = await verify(answer, '--policy', policy);
    assert.equal(code, 0, stdout);
    assert.match(
      stdout,
      /The given key is the key of this receipt.*\n {2}Key and opening are from/,
    );
    const late = await verify(
      { ...answer, opening: undefined },
      '--policy',
      policy,
      '--opening',
      opening,
    );
    assert.match(late.stdout, /\n {2}The key is from the file with the receipt\.\n/);
    assert.equal(late.code, 0);
    const other = { ...answer, key: '0'.repeat(64) };
    assert.match((await problemsOf(other))[0] ?? '', /^The given key is not the key/);
    const given = await verify(other, '--policy', policy, '--key-file', path('key'));
    assert.equal(given.code, 0, given.stdout);
    assert.doesNotMatch(given.stdout, /The key is from/);
    assert.match(given.stdout, /\n {2}The opening is from the file with the receipt\.\n/);
  });

  it('gives no verdict on a file that has a member twice, in the receipt or around it', async () => {
    const text = JSON.stringify(receipt);
    const salt = text.replace('"salt"', '"salt":"AA==","salt"');
    for (const content of [salt, `{"receipt":${salt}}`]) {
      assert.equal(
        await reasonOf(content),
        'This is not a receipt: a JSON object has the member "salt" twice.',
      );
    }
    assert.equal(
      await reasonOf(`{"receipt":${text},"receipt":${text}}`),
      'This is not a receipt: a JSON object has the member "receipt" twice.',
    );
  });

  it('skips a byte order mark, and names another encoding', async () => {
    for (const content of [receipt, { receipt }]) {
      const text = `\ufeff${JSON.stringify(content)}`;
      assert.equal((await verify(text, '--policy', policy)).code, 0);
      writeFileSync(path('utf-16'), Buffer.from(text, 'utf16le'));
      const { code, stdout, stderr } = await runCommand(['receipt', 'verify', path('utf-16')]);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, /the receipt cannot be read: .*utf-16: it is UTF-16, not UTF-8/);
    }
  });

  it('reads standard input', async () => {
    const args = ['receipt', 'verify', '-', '--policy', policy];
    assert.equal((await runCommandOn(JSON.stringify(receipt), args)).code, 0);
  });

  it('checks the sums without a policy, and says that nothing shows whose log this is', async () => {
    const { code, stdout } = await verify(receipt);
    assert.equal(code, 1);
    assert.match(
      stdout,
      /^not valid\nProblems\n {2}Without a pinned policy nothing shows whose log this is.*\. Give --policy FILE\.\n/,
    );
    assert.match(stdout, /\nShown\n {2}Statement, proof and checkpoint fit together/);
  });

  it('gives no verdict on a receipt that is cut anywhere, but one sentence', async () => {
    const text = JSON.stringify(receipt);
    for (let length = 0; length < text.length; length += 97) {
      assert.match(await reasonOf(text.slice(0, length)), /^This is not a receipt: it is not JSON/);
    }
    const lines = receipt.proof.split('\n');
    for (let count = 0; count < lines.length; count++) {
      const cut = withProof(() => lines.slice(0, count).join('\n'));
      assert.match(await refusalOf(cut), /^The (?:proof|checkpoint) /);
    }
  });

  it('refuses a receipt that is altered in any member', async () => {
    for (const [name, value] of Object.entries(receipt.statement)) {
      for (const changed of [alter(value), undefined]) {
        const statement = { ...receipt.statement, [name]: changed };
        assert.notEqual(await refusalOf({ ...receipt, statement }), '', name);
      }
    }
    const statement = { ...receipt.statement, more: 1 };
    assert.match(await reasonOf({ ...receipt, statement }), /more/);
  });

  it('refuses a proof for another index, of another tree, and without its signatures', async () => {
    const other = withProof((proof) => proof.replace(/\nindex \d+\n/, '\nindex 0\n'));
    assert.match(await refusalOf(other), /^The proof (?:does not lead from the statement|has \d)/);
    const size = withProof((proof) => proof.replace('\n8\n', '\n9\n'));
    assert.notEqual(await refusalOf(size), '');
    const unsigned = withProof((proof) => proof.replace(/— .*\n$/, ''));
    assert.match((await problemsOf(unsigned))[0] ?? '', /no signature by the key of the policy/);
    const foreign = withProof((proof) => proof.replace(/(— \S+ )(.{12}).(.*\n)$/, '$1$2_$3'));
    assert.notEqual(await refusalOf(foreign), '');
  });

  it('refuses a receipt from another log, and policies that cannot be met or read', async () => {
    const text = readFileSync(policy, 'utf8');
    const cases: [string, RegExp][] = [
      ['quorum none\n', /^The policy does not list the log "keys\.example\/log"/],
      [
        text.replaceAll('keys.example/log', 'other.example/log'),
        /^The policy does not list the log/,
      ],
    ];
    for (const [content, expected] of cases) {
      const args = ['--policy', put('other.policy', content), '--json'];
      const { code, stdout } = await verify(receipt, ...args);
      assert.equal(code, 1);
      assert.match(JSON.parse(stdout).problems[0], expected);
    }
    for (const [content, expected] of [
      [text.replace('quorum none', 'quorum w'), /^The policy cannot be read: .*"w"/],
      ['?', /^The policy cannot be read/],
    ] as const) {
      assert.match(await reasonOf(receipt, '--policy', put('other.policy', content)), expected);
    }
  });

  it('says that cosignatures are missing, not that the receipt is wrong', async () => {
    const { verifierKeys } = parseLogKeys(newLogKeysText('witness.example'));
    const witness = `witness w ${verifierKeys.mlDsa44}\nquorum w\n`;
    const text = readFileSync(policy, 'utf8').replace('quorum none\n', witness);
    const { code, stdout } = await verify(receipt, '--policy', put('witnessed.policy', text));
    assert.equal(code, 1);
    assert.match(stdout, /^not yet cosigned\nProblems\n {2}Not yet cosigned: the policy asks for/);
  });

  it('says how to get a receipt that came too late', async () => {
    const { code, stderr } = await verify({ key_id: key.keyId, receipt: null, opening: 'x' });
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`: bin/phm receipt get ${key.keyId}\\n$`));
  });

  it('exits with code 2 for files that cannot be read, and for wrong usage', async () => {
    const wrong: [string[], RegExp][] = [
      [[path('none')], /^phm: the receipt cannot be read: \S+none: there is no such file\n$/],
      [[path('.')], /^phm: the receipt cannot be read: \S+: it is a directory\n$/],
      [[path('key'), '--policy', path('none')], /the policy cannot be read/],
      [[path('key'), '--key-file', path('none')], /the key cannot be read/],
      [[path('key'), '--opening', 'AAAA'], /--opening needs --key-file/],
      [[policy, '--key-file', policy], /contains no key/],
    ];
    for (const [args, expected] of wrong) {
      const { code, stderr } = await runCommand(['receipt', 'verify', ...args]);
      assert.equal(code, 2, stderr);
      assert.match(stderr, expected);
    }
    const { code, stderr } = await runCommand(['receipt', 'get', 'phm_x']);
    assert.equal(code, 2);
    assert.match(stderr, /KEY_ID is phm_ and a number/);
  });
});

/** Returns another value of the same form where there is one. */
function alter(value: unknown): unknown {
  if (typeof value === 'number') return value + 1;
  if (value === null) return 'AAAA';
  if (Array.isArray(value)) return [];
  const text = String(value);
  return text.replace(/[0-8A-Ya-y](?=[^0-8A-Ya-y]*$)/, (character) =>
    String.fromCharCode(character.charCodeAt(0) + 1),
  );
}

describe('phm audit', () => {
  it('records what the commands change, with the master secret only', async () => {
    const account = JSON.parse(
      (await ledger.run('account', 'create', '--name', 'B', '--plan', 'research', '--json')).stdout,
    ).account_id;
    await ledger.run('account', 'set-plan', account, 'professional');
    const issued = await ledger.run('api-key', 'issue', '--account', account, '--json');
    const { api_key_id: apiKeyId, api_key: apiKey } = JSON.parse(issued.stdout);
    await ledger.run('api-key', 'revoke', apiKeyId);
    const { stdout } = await ledger.run('audit', 'list', '--json');
    const { records } = JSON.parse(stdout);
    assert.deepEqual(
      records.map(({ action }: { action: string }) => action),
      [
        'account_created',
        'log_started',
        'account_created',
        'plan_set',
        'api_key_issued',
        'api_key_revoked',
      ],
    );
    assert.deepEqual(records[5].details, { api_key_id: apiKeyId });
    assert.ok(!stdout.includes(apiKey), 'no record has an API key');
  });

  it('refuses to change anything without the master secret', async () => {
    const env = { ...ledger.env, PHM_MASTER_KEY_FILE: path('none') };
    const args = ['account', 'create', '--name', 'Charlie', '--plan', 'research'];
    const { code, stderr } = await runCommand(args, env);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /needs the master secret: set PHM_MASTER_KEY_FILE, PHM_MASTER_KEY_COMMAND or PHM/,
    );
    const foreign = { ...ledger.env, PHM_MASTER_KEY: '11'.repeat(32) };
    assert.equal((await runCommand(args, foreign)).code, 1);
    assert.ok(!(await ledger.run('account', 'list')).stdout.includes('Charlie'));
  });

  it('exports statements with their proofs, and verifies them', async () => {
    assert.match(
      (await ledger.run('audit', 'verify')).stderr,
      /Verified 1 audit record\. Waiting for a checkpoint: 4\./,
    );
    await ledger.publish();
    const { stdout } = await ledger.run('audit', 'export');
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.equal(lines.length, 6);
    const [older, ...logged] = lines;
    assert.deepEqual([older.statement.service, older.index, older.proof], [null, null, null]);
    for (const { statement, index, proof } of logged) {
      assert.equal(statement.type, 'phm-audit/v1');
      assert.match(proof, new RegExp(`^c2sp.org/tlog-proof@v1\nindex ${index}\n`));
    }
    const { code, stderr } = await ledger.run('audit', 'verify');
    assert.equal(code, 0, stderr);
    assert.match(
      stderr,
      /Verified 5 audit records\. Waiting for a checkpoint: 0\. Older than the log: 1\./,
    );
  });

  it('finds a changed record, and an inserted one', async () => {
    ledger.backUp();
    const changes = [
      "UPDATE audit SET details = replace(details, 'professional', 'enterprise') WHERE action = 'plan_set'",
      "UPDATE audit SET details = '{' WHERE action = 'plan_set'",
      "INSERT INTO audit SELECT randomblob(16), at_ms, 'plan_set', details, salt FROM audit WHERE action = 'plan_set'",
    ];
    for (const change of changes) {
      ledger.execute(change);
      const { code, stderr } = await ledger.run('audit', 'verify');
      assert.equal(code, 1);
      assert.match(
        stderr,
        /records (?:that differ from their entry|without an entry) in the log: 1 \(plan_set /,
      );
      ledger = await ledger.restore();
    }
  });
});
