/** `phm api-key`: settings of API keys, their rotation, and their records in the audit. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { apiKeyHint, DEMO_ACCOUNTS, hashApiKey } from '../../src/accounts/index.ts';
import { MAX_API_KEY_NAME, openSqliteStore } from '../../src/ledger/index.ts';
import { commandJson, runCommand, runCommandUnread } from '../support/servers/run-command.ts';
import { makeDataDir, removeDataDir } from '../support/servers/server.ts';

const DAY_MS = 86_400_000;

const dataDir = makeDataDir();
const env = { PHM_DATA_DIR: dataDir, PHM_PORT: '0' };
const phm = (...args: string[]) => runCommand(args, env);
const phmJson = <T = Record<string, string>>(...args: string[]) => commandJson<T>(args, env);

let account: string;
before(async () => {
  const create = ['account', 'create', '--init', '--name', 'Ada', '--plan', 'professional'];
  ({ account_id: account } = await commandJson<{ account_id: string }>(create, env));
});
after(() => removeDataDir(dataDir));

const issue = (...args: string[]) => phmJson('api-key', 'issue', '--account', account, ...args);

interface Row {
  readonly api_key_id: string;
  readonly [column: string]: unknown;
}

async function rowOf(apiKeyId: string): Promise<Row> {
  const { api_keys: rows } = await phmJson<{ api_keys: Row[] }>('api-key', 'list');
  const row = rows.find(({ api_key_id: id }) => id === apiKeyId);
  assert.ok(row, apiKeyId);
  return row;
}

async function auditsOf(apiKeyId: string) {
  const { records } = await phmJson<{
    records: { action: string; details: Record<string, unknown> }[];
  }>('audit', 'list');
  return records.filter(({ details }) => details.api_key_id === apiKeyId);
}

const SETTINGS = [
  ...['--name', 'CI – build', '--scope', 'read', '--scope', 'generate', '--scope', 'read'],
  ...['--expires-at', '2999-01-31T12:00+01:00', '--rate', '0.5', '--burst', '3'],
  ...['--allow-address', '192.0.2.0/24', '--allow-address', '2001:db8::7'],
  ...['--monthly-limit', '100000'],
];

const SET = {
  name: 'CI – build',
  scopes: ['generate', 'read'],
  expires_at: '2999-01-31T11:00:00.000+00:00',
  address_ranges: ['192.0.2.0/24', '2001:db8::7'],
  rate_per_second: 0.5,
  burst: 3,
  monthly_limit: 100_000,
};

describe('phm key', () => {
  const NOTE =
    'note: "phm key" is now "phm api-key". The keys that "phm generate" gets: phm keys\n';

  it('is the former name: it works, and one note on standard error names the present one', async () => {
    const { stdout, stderr } = await phm('key', 'issue', '--account', account, '--json');
    const { api_key_id: id } = JSON.parse(stdout);
    assert.equal(stderr.split(NOTE).length, 2, stderr);
    const now = await phm('api-key', 'list', '--json');
    assert.ok(now.stdout.includes(id));
    assert.doesNotMatch(now.stderr, /note/);
    assert.equal((await phm('key', 'list', '--json')).stdout, now.stdout);
    const revoked = await phm('key', 'revoke', id);
    assert.equal(revoked.code, 0, revoked.stderr);
    assert.match((await phm('key', 'list', '--help')).stdout, /^Usage: phm api-key list/);
    assert.match((await phm('help', 'key')).stdout, /^Usage: phm api-key /);
    assert.equal((await phm('key', 'frobnicate')).code, 2);
  });

  it('is not in the help', async () => {
    const { stdout } = await phm('--help');
    assert.match(stdout, /^ {2}api-key /m);
    assert.doesNotMatch(stdout, /^ {2}key[ |]/m);
  });
});

describe('phm api-key issue', () => {
  it('says how to revoke an API key that it could not show', async () => {
    const { code, stderr } = await runCommandUnread(
      ['api-key', 'issue', '--account', account],
      env,
    );
    assert.equal(code, 1);
    assert.match(stderr, /^phm: the output cannot be written$/m);
    assert.match(
      stderr,
      /^The API key (key_\w+) is valid but was not shown\. Revoke it and issue another: .+ api-key revoke \1$/m,
    );
  });

  it('keeps the settings, which the list and the audit show', async () => {
    const { api_key_id: id, api_key: apiKey } = await issue(...SETTINGS);
    const row = await rowOf(id);
    const { hint, created_at: createdAt, ...rest } = row;
    assert.deepEqual(rest, {
      ...{ api_key_id: id, account_id: account, state: 'active', ...SET },
      ...{ recipients: null, last_used_hour: null, replaced_by: null, revoked_at: null },
    });
    const [record] = await auditsOf(id);
    assert.equal(record?.action, 'api_key_issued');
    assert.deepEqual(record.details, { api_key_id: id, account_id: account, hint, ...SET });
    const { stdout } = await phm('api-key', 'list', '--account', account, '--wide');
    assert.match(stdout, /^API KEY +ACCOUNT +NAME +STATE +SCOPES +EXPIRES +LAST USED +LIMITS /);
    assert.match(stdout, /CI – build +active +generate,read .* 0\.5\/s, burst 3, 100000\/month/);
    assert.ok(!stdout.includes(apiKey) && typeof createdAt === 'string');
  });

  it('is listed with a note that demo keys have ended, until they are revoked', async () => {
    await issue();
    const store = openSqliteStore({ path: join(dataDir, 'phm.db'), quotas: {} });
    for (const { accountId, name, plan, apiKeyId, apiKey } of DEMO_ACCOUNTS) {
      await store.addAccount({ accountId, name, plan, demo: true, createdMs: 1 });
      const record = {
        apiKeyId,
        accountId,
        hint: apiKeyHint(apiKey),
        createdMs: 1,
        revokedMs: null,
      };
      await store.addApiKey(record, hashApiKey(apiKey));
    }
    await store.close();
    const note = /^note: the demo keys ended .* only a server with PHM_DEMO_KEYS=on accepts them$/m;
    assert.match((await phm('api-key', 'list')).stderr, note);
    assert.doesNotMatch((await phm('api-key', 'list', '--account', account)).stderr, note);
    for (const { apiKeyId } of DEMO_ACCOUNTS) await phm('api-key', 'revoke', apiKeyId);
    assert.doesNotMatch((await phm('api-key', 'list')).stderr, note);
  });

  it('is listed in 100 columns, however long its settings are', async () => {
    const { api_key_id: id } = await issue(...SETTINGS.with(1, 'n'.repeat(MAX_API_KEY_NAME)));
    const database = new DatabaseSync(join(dataDir, 'phm.db'));
    database.prepare('UPDATE api_keys SET last_used_hour = 497000 WHERE api_key_id = ?').run(id);
    database.close();
    const { stdout } = await phm('api-key', 'list');
    for (const line of stdout.split('\n')) assert.ok(line.length <= 100, line);
    const cells = [id, `${account.slice(0, 9)}…`, 'nnnnnnnnnnn…', 'active'];
    const row = stdout.split('\n').find((line) => line.startsWith(id));
    assert.deepEqual(row?.split(/ {2,}/), [...cells, '2026-09-12T08Z', '2999-01-31']);
    assert.match(stdout, /^API KEY +ACCOUNT +NAME +STATE +LAST USED +EXPIRES\n/);
    const wide = (await phm('api-key', 'list', '--wide')).stdout;
    assert.ok(wide.includes(`${id}  ${account}  ${'n'.repeat(MAX_API_KEY_NAME)}  active `), wide);
  });

  it('restricts nothing without options', async () => {
    const { api_key_id: id } = await issue();
    const row = await rowOf(id);
    assert.deepEqual(row.scopes, ['generate', 'validate', 'read', 'receive']);
    const [record] = await auditsOf(id);
    assert.deepEqual(Object.keys(record?.details ?? {}), ['account_id', 'api_key_id', 'hint']);
    assert.match(
      (await phm('api-key', 'list', '--wide')).stdout,
      /- +active +all +- +- +plan +all +all +- /,
    );
  });

  it('counts an expiry from now', async () => {
    const before = Date.now();
    const { api_key_id: id } = await issue('--expires-in', '90d');
    const expires = Date.parse(String((await rowOf(id)).expires_at));
    assert.ok(expires >= before + 90 * DAY_MS && expires <= Date.now() + 90 * DAY_MS);
  });

  for (const [args, words] of [
    [['--name', ' '], /1 to 64 printable/],
    [['--name', 'x'.repeat(65)], /1 to 64 printable/],
    [['--scope', 'admin'], /generate, validate, read/],
    [['--expires-in', '0'], /number of minutes/],
    [['--expires-at', '2020-01-01'], /future/],
    [['--expires-at', '2999-01-01', '--expires-in', '1d'], /cannot be used with/],
    [['--allow-address', '10.0.0.0/0'], /prefix of at least 1/],
    [['--allow-address', '10.0.0.0/33'], /prefix of at least 1/],
    [['--allow-address', '10.0.0.1/8'], /first address of a range/],
    [['--allow-address', '10.0.0.128/24'], /first address of a range/],
    [['--allow-address', '2001:db8::7/32'], /first address of a range/],
    [['--allow-address', '::ffff:10.0.0.1/104'], /first address of a range/],
    [['--allow-address', 'fe80::1%eth0'], /use an address/],
    [Array.from({ length: 17 }, (_, i) => ['--allow-address', `10.0.0.${i}`]).flat(), /at most 16/],
    [['--rate', '0'], /above 0/],
    [['--rate', '101'], /--rate is above the Professional plan: use at most 100/],
    [['--burst', '201'], /--burst is above the Professional plan: use at most 200/],
    [['--monthly-limit', '100001'], /--monthly-limit is above .*: use at most 100000/],
  ] as const) {
    it(`refuses ${args.slice(0, 2).join(' ').slice(0, 40)}`, async () => {
      const { code, stderr } = await phm('api-key', 'issue', '--account', account, ...args);
      assert.equal(code, 2, stderr);
      assert.match(stderr, words);
    });
  }
});

describe('phm api-key rotate', () => {
  const rotate = (id: string, ...args: string[]) => phmJson('api-key', 'rotate', id, ...args);

  it('issues an API key with the same settings, and lets the old one end', async () => {
    const { api_key_id: old, api_key: oldApiKey } = await issue(...SETTINGS);
    const before = Date.now();
    const rotated = await rotate(old, '--overlap', '7d');
    const ends = Date.parse(rotated.replaced_ends_at ?? '');
    assert.ok(ends >= before + 7 * DAY_MS && ends <= Date.now() + 7 * DAY_MS);
    assert.notEqual(rotated.api_key, oldApiKey);
    assert.deepEqual([rotated.replaces, rotated.account_id], [old, account]);
    const [oldRow, row] = [await rowOf(old), await rowOf(rotated.api_key_id ?? '')];
    assert.deepEqual({ ...row, ...SET }, row);
    const { state, replaced_by: by, expires_at: until } = oldRow;
    assert.deepEqual([state, by, until], ['active', rotated.api_key_id, rotated.replaced_ends_at]);
    const [, record] = await auditsOf(old);
    assert.equal(record?.action, 'api_key_rotated');
    assert.deepEqual(record.details, {
      ...{ api_key_id: old, replaced_by: rotated.api_key_id, hint: row.hint, until },
    });
    const store = openSqliteStore({ path: join(dataDir, 'phm.db'), quotas: {}, readOnly: true });
    const found = await store.findApiKey(hashApiKey(rotated.api_key ?? ''));
    assert.equal(found?.apiKeyId, rotated.api_key_id);
    await store.close();
  });

  it('revokes the old one without an overlap, and can set another expiry', async () => {
    const { api_key_id: old } = await issue('--expires-in', '1d');
    const next = await rotate(old, '--overlap', '0', '--expires-at', '2999-01-01');
    assert.equal((await rowOf(old)).state, 'revoked');
    const row = await rowOf(next.api_key_id ?? '');
    assert.equal(row.expires_at, '2999-01-01T00:00:00.000+00:00');
    const { stdout, stderr } = await phm('api-key', 'rotate', row.api_key_id, '--overlap', '12h');
    assert.match(stdout, /^phmsk_live_\w+\n$/);
    assert.match(stderr, /Issued key_\w+, which replaces key_\w+\. .* only once: store it now\.\n/);
    assert.match(stderr, /The old API key works until \d{4}-/);
  });

  it('says how to replace an API key that it could not show', async () => {
    const { api_key_id: old } = await issue(...SETTINGS);
    const { code, stderr } = await runCommandUnread(
      ['api-key', 'rotate', old, '--overlap', '7d'],
      env,
    );
    assert.equal(code, 1);
    const words =
      /^The API key (key_\w+) is valid but was not shown\. Replace it by another: .+ (api-key rotate \1 --overlap 0)$/m;
    const [, lost = '', remedy = ''] = words.exec(stderr) ?? assert.fail(stderr);
    const next = await phmJson(...remedy.split(' '));
    assert.equal(next.replaces, lost);
    const states = await Promise.all([old, lost, next.api_key_id ?? ''].map(rowOf));
    assert.deepEqual(
      states.map(({ state, replaced_by: by }) => [state, by]),
      [
        ['active', lost],
        ['revoked', next.api_key_id],
        ['active', null],
      ],
    );
    const [oldRow, , row] = states;
    assert.deepEqual({ ...row, ...SET }, row);
    const ends = Date.parse(String(oldRow?.expires_at)) - Date.now();
    assert.ok(ends > 6 * DAY_MS && ends <= 7 * DAY_MS, 'the overlap has another end');
  });

  it('refuses an API key that is replaced, revoked or unknown, and needs an overlap', async () => {
    const { api_key_id: replaced } = await issue();
    const { api_key_id: next } = await rotate(replaced, '--overlap', '1h');
    const { api_key_id: revoked } = await issue();
    await phm('api-key', 'revoke', revoked);
    const cases: [string[], RegExp, number][] = [
      [[replaced, '--overlap', '1h'], new RegExp(`was replaced by ${next} already.* ${next}`), 1],
      [[revoked, '--overlap', '1h'], /is revoked\. To issue another: /, 1],
      [['key_none', '--overlap', '1h'], /there is no such API key/, 1],
      [[revoked], /--overlap/, 2],
      [[revoked, '--overlap', '7'], /number of minutes/, 2],
    ];
    for (const [args, words, code] of cases) {
      const refused = await phm('api-key', 'rotate', ...args);
      assert.equal(refused.code, code, refused.stderr);
      assert.match(refused.stderr, words);
      assert.equal(refused.stdout, '');
    }
    assert.equal((await auditsOf(replaced)).length, 2);
  });
});
