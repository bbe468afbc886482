/** `phm account show`, `suspend`, `resume` and `delete`: results, refusals and audit records. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { commandJson, runCommand } from '../support/servers/run-command.ts';
import { makeDataDir, removeDataDir } from '../support/servers/server.ts';

const dataDir = makeDataDir();
const env = { PHM_DATA_DIR: dataDir, PHM_PORT: '0' };
const phm = (...args: string[]) => runCommand(args, env);
const json = (...args: string[]) => commandJson<Record<string, unknown>>(args, env);

before(async () => {
  await create('First', '--init');
});
after(() => removeDataDir(dataDir));

/** Creates an account with an API key. */
async function create(name: string, ...more: string[]): Promise<string> {
  const { account_id } = await json(
    ...['account', 'create', '--name', name, '--plan', 'research', ...more],
  );
  await json('api-key', 'issue', '--account', String(account_id));
  return String(account_id);
}

async function refusal(expected: number, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await phm(...args);
  assert.deepEqual([code, stdout], [expected, ''], stderr);
  assert.doesNotMatch(stderr, /\n {4}at /);
  return stderr;
}

/** Returns the audit records of an account's states, oldest first. */
async function records(accountId: string) {
  const { records } = (await json('audit', 'list')) as {
    records: { audit_id: string; action: string; details: Record<string, unknown> }[];
  };
  return records.filter(
    ({ action, details }) => action !== 'account_created' && details.account_id === accountId,
  );
}

describe('phm account suspend and resume', () => {
  it('change the state once each, with records that form a chain', async () => {
    const id = await create('Ada');
    const suspended = await json('account', 'suspend', id, '--reason', ' floods  the service ');
    assert.deepEqual(
      [suspended.account_id, suspended.state, suspended.deleted_at, suspended.changed],
      [id, 'suspended', null, true],
    );
    const again = await json('account', 'suspend', id, '--reason', 'another');
    assert.deepEqual(again, { ...suspended, changed: false });
    assert.equal((await json('account', 'show', id)).reason, 'floods  the service');
    const issued = await phm('api-key', 'issue', '--account', id);
    assert.match(issued.stderr, /The account is suspended: servers refuse the API key until/);
    const resumed = await phm('account', 'resume', id);
    assert.match(resumed.stderr, /is active\. Running servers serve its API keys within 2 seconds/);
    const twice = await phm('account', 'resume', id);
    assert.deepEqual([twice.code, twice.stdout], [0, '']);
    assert.match(twice.stderr, /has been active since .*\. Nothing changed\.\n$/);
    const [first, second, ...others] = (await records(id)).filter(
      ({ action }) => action !== 'api_key_issued',
    );
    assert.deepEqual(others, []);
    const reason = 'floods  the service';
    assert.deepEqual(
      [first?.action, first?.details],
      ['account_suspended', { account_id: id, after: null, reason }],
    );
    assert.deepEqual(
      [second?.action, second?.details],
      ['account_resumed', { account_id: id, after: first?.audit_id }],
    );
  });

  it('refuse wrong usage, and accounts that the ledger does not have', async () => {
    assert.match(await refusal(2, 'account', 'suspend', 'acct_1'), /--reason/);
    for (const reason of [' ', 'x'.repeat(501), 'a\u0000b']) {
      const words = await refusal(2, 'account', 'suspend', 'acct_1', '--reason', reason);
      assert.match(words, /--reason needs 1 to 500 printable characters/);
    }
    for (const args of [
      ['suspend', 'acct_1', '--reason', 'r'],
      ['resume', 'acct_1'],
    ]) {
      assert.match(await refusal(1, 'account', ...args), /there is no account acct_1/);
    }
  });
});

describe('phm account delete', () => {
  it('needs the ID twice, and says what it would delete', async () => {
    const id = await create('Ben');
    const told = await refusal(2, 'account', 'delete', id);
    assert.match(told, /nothing was deleted\n/);
    assert.match(told, /delete account acct_\w+, "Ben", for good, with 1 active API key and 0 rec/);
    assert.match(told, new RegExp(`To do it: .*bin/phm account delete ${id} --confirm ${id}\n$`));
    const other = await refusal(2, 'account', 'delete', id, '--confirm', 'acct_2');
    assert.match(other, /--confirm is acct_2, so nothing was deleted/);
    assert.equal((await json('account', 'show', id)).state, 'active');
    assert.match(await refusal(1, 'account', 'delete', 'acct_1'), /there is no account acct_1/);
  });

  it('is final: no command changes the account, and it is shown without its name', async () => {
    const id = await create('Charlie');
    const { deleted_at, changed } = await json('account', 'delete', id, '--confirm', id);
    assert.equal(changed, true);
    const again = await json('account', 'delete', id, '--confirm', id);
    assert.deepEqual([again.deleted_at, again.changed], [deleted_at, false]);
    const shown = await json('account', 'show', id);
    assert.deepEqual(
      [shown.name, shown.state, shown.deleted_at, shown.api_keys, shown.active_api_keys],
      ['(deleted)', 'deleted', deleted_at, 1, 0],
    );
    const listed = await json('api-key', 'list', '--account', id);
    const [apiKey] = listed.api_keys as [{ readonly api_key_id: string }];
    const changes = [
      ['api-key', 'rotate', apiKey.api_key_id, '--overlap', '0'],
      ['account', 'resume', id],
      ['account', 'suspend', id, '--reason', 'r'],
      ['account', 'delete', id],
      ['account', 'set-plan', id, 'enterprise'],
      ['account', 'set', id, '--sealed-only', 'on'],
      ['api-key', 'issue', '--account', id],
    ];
    for (const args of changes) {
      assert.match(await refusal(1, ...args), /account acct_\w+ is deleted/, args.join(' '));
    }
    assert.deepEqual(
      (await records(id)).map(({ action }) => action),
      ['api_key_issued', 'account_deleted'],
    );
  });
});

describe('phm account list', () => {
  it('shows the state of each account, and lists those in one state', async () => {
    const id = await create('Dora');
    await phm('account', 'suspend', id, '--reason', 'r');
    const { stdout } = await phm('account', 'list');
    assert.match(stdout, /^ACCOUNT +PLAN +STATE +KEYS +CREATED +NAME\n/);
    assert.match(stdout, new RegExp(`^${id} +research +suspended +all .*Dora$`, 'm'));
    const { accounts } = await json('account', 'list', '--state', 'suspended');
    const [only, ...others] = accounts as Record<string, unknown>[];
    assert.deepEqual([only?.account_id, only?.state, others], [id, 'suspended', []]);
    await refusal(2, 'account', 'list', '--state', 'lost');
  });

  it('shows an account with the reason of its suspension', async () => {
    const id = await create('Ed');
    await phm('account', 'suspend', id, '--reason', 'invoice 4711');
    const { stdout } = await phm('account', 'show', id);
    assert.match(stdout, /^name +Ed$/m);
    assert.match(stdout, /^state +suspended$/m);
    assert.match(stdout, /^reason +invoice 4711$/m);
    assert.doesNotMatch(stdout, /null|deleted_at/);
  });
});
