/** Accounts and API keys beside the audit records that commands have written. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { DEMO_ACCOUNTS } from '../../src/accounts/index.ts';
import { checkDatabase } from '../../src/inspection/index.ts';
import type { LedgerStore } from '../../src/ledger/index.ts';
import { LogLedger } from '../support/ledgers/log-ledger.ts';
import { linesOf } from './logged-store.ts';
import { UNKNOWN } from './tamperings.ts';

let ledger: LogLedger;
before(async () => {
  ledger = await LogLedger.create();
});
after(() => ledger.remove());

async function findings(store: LedgerStore = ledger.store): Promise<string[]> {
  const { macs } = ledger;
  const logs = await store.logs();
  const report = await checkDatabase({
    ...{ store, logs, macs, known: [], sinceMs: null, nowMs: logs[0]?.startedMs ?? 0 },
    intervalMs: 100,
    signal: new AbortController().signal,
    onProgress: () => {},
  });
  return linesOf(report.findings.list);
}

const phm = async (...args: string[]) => {
  const { code, stdout, stderr } = await ledger.run(...args, '--json');
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as Record<string, string>;
};

const create = async () =>
  String((await phm('account', 'create', '--name', 'n', '--plan', 'research')).account_id);

/** Returns the store, which does `work` before it answers one method for the first time. */
function interrupted(method: 'listAccounts' | 'listApiKeys', work: () => Promise<unknown>) {
  let isDone = false;
  return new Proxy(ledger.store, {
    get(store, name) {
      const found = Reflect.get(store, name);
      if (typeof found !== 'function') return found;
      return async (...args: unknown[]) => {
        if (name === method && !isDone) {
          isDone = true;
          await work();
        }
        return found.apply(store, args);
      };
    },
  });
}

/** Keeps a table as it is now. */
const save = (table: string) => ledger.execute(`CREATE TABLE saved AS SELECT * FROM ${table}`);

/** Puts columns of a table back, by the first column. */
function restore(table: string, key: string, columns: readonly string[]): void {
  for (const column of columns) {
    ledger.execute(
      `UPDATE ${table} SET ${column} = (SELECT ${column} FROM saved WHERE saved.${key} = ${table}.${key})`,
    );
  }
}

const STATE = ['suspended_ms', 'deleted_ms', 'state_audit_id'];

/** A change of the state of a suspended account or of one that was resumed. */
const ACCOUNT_CHANGES: readonly (readonly [
  name: string,
  sql: string,
  which: 'suspended' | 'resumed',
])[] = [
  [
    'a suspension that was removed',
    'UPDATE accounts SET suspended_ms = NULL, state_audit_id = NULL WHERE account_id = ?',
    'suspended',
  ],
  [
    'a suspension that was lifted without a record',
    'UPDATE accounts SET suspended_ms = NULL WHERE account_id = ?',
    'suspended',
  ],
  [
    'a state that was put back to an earlier record',
    `UPDATE accounts SET (suspended_ms, state_audit_id) = (SELECT at_ms, audit_id FROM audit
       WHERE action = 'account_suspended' AND details LIKE '%' || accounts.account_id || '%')
     WHERE account_id = ?`,
    'resumed',
  ],
  [
    'a suspension with the record of another account',
    `UPDATE accounts SET (suspended_ms, state_audit_id) = (SELECT suspended_ms, state_audit_id
       FROM accounts WHERE suspended_ms IS NOT NULL) WHERE account_id = ?`,
    'resumed',
  ],
  [
    'another time of a suspension',
    'UPDATE accounts SET suspended_ms = 7 WHERE account_id = ?',
    'suspended',
  ],
];

describe('the states of accounts', () => {
  const ids = { suspended: '', resumed: '' };
  before(async () => {
    ids.suspended = await create();
    ids.resumed = await create();
    for (const id of Object.values(ids)) await phm('account', 'suspend', id, '--reason', 'a test');
    await phm('account', 'resume', ids.resumed);
    const deleted = await create();
    await phm('account', 'delete', deleted, '--confirm', deleted);
    save('accounts');
  });
  after(() => ledger.execute('DROP TABLE saved'));

  const CHANGED = 'accounts whose state is not that of their last audit record';

  it('have no finding as commands have changed them, before and after their entries', async () => {
    assert.deepEqual(await findings(), []);
    await ledger.publish();
    assert.deepEqual(await findings(), []);
  });

  for (const [name, sql, which] of ACCOUNT_CHANGES) {
    it(`are found with ${name}`, async () => {
      ledger.execute(sql, ids[which]);
      const found = await findings();
      restore('accounts', 'account_id', STATE);
      assert.deepEqual(found, [`${CHANGED}: ${ids[which]}`]);
    });
  }

  it('have no finding if a command changes one after its records were read', async () => {
    const id = await create();
    const suspend = () => phm('account', 'suspend', id, '--reason', 'a test');
    assert.deepEqual(await findings(interrupted('listAccounts', suspend)), []);
    assert.deepEqual(await findings(), []);
  });

  it('are found with a removed account', async () => {
    ledger.execute('DELETE FROM accounts WHERE account_id = ?', ids.suspended);
    const found = await findings();
    ledger.execute('INSERT INTO accounts SELECT * FROM saved WHERE account_id = ?', ids.suspended);
    assert.deepEqual(found, [`${CHANGED}: ${ids.suspended}`]);
    assert.deepEqual(await findings(), []);
  });
});

/** A change of `api_keys` and the API key that the check names. */
const API_KEY_CHANGES: readonly [string, string, keyof IssuedApiKeys][] = [
  ['wider scopes', 'scopes = NULL', 'limited'],
  ['a later expiry', 'expires_ms = expires_ms + 1', 'limited'],
  ['a removed expiry of a rotated API key', 'expires_ms = NULL', 'replaced'],
  ['more addresses', "address_ranges = '0.0.0.0/1'", 'limited'],
  ['a higher rate', 'rate_per_second = rate_per_second + 1', 'limited'],
  ['a larger burst', 'burst = burst + 1', 'limited'],
  ['a removed monthly limit', 'monthly_limit = NULL', 'successor'],
  ['wider scopes after a rotation', "scopes = 'generate,validate'", 'successor'],
  ['a later expiry after a rotation', 'expires_ms = expires_ms + 1', 'successor'],
  ['a rotation that was undone', 'replaced_by = NULL', 'replaced'],
  ['another account', "account_id = 'acct_log'", 'limited'],
  ['another time', 'created_ms = created_ms - 1', 'limited'],
  ['a revocation that was undone', 'revoked_ms = NULL', 'revoked'],
  ['a rotation without overlap that was undone', 'revoked_ms = NULL', 'ended'],
  ['a revocation without a record', 'revoked_ms = 7', 'limited'],
  ['an API key of a deleted account that works again', 'revoked_ms = NULL', 'orphan'],
  ['erased data that came back', "name = 'ada'", 'orphan'],
];

interface IssuedApiKeys {
  readonly limited: string;
  readonly replaced: string;
  readonly successor: string;
  readonly ended: string;
  readonly revoked: string;
  readonly orphan: string;
}

const LIMITS = [
  ...['--name', 'ci', '--scope', 'read', '--expires-in', '90d', '--allow-address', '192.0.2.0/24'],
  ...['--rate', '0.5', '--burst', '3', '--monthly-limit', '9'],
];

describe('API keys', () => {
  const issue = async (account: string, ...args: string[]) =>
    String((await phm('api-key', 'issue', '--account', account, ...args)).api_key_id);
  const rotate = async (id: string, ...args: string[]) =>
    String((await phm('api-key', 'rotate', id, ...args)).api_key_id);

  let ids: IssuedApiKeys;
  before(async () => {
    const [kept, deleted] = [await create(), await create()];
    const [limited, replaced, orphan] = [
      await issue(kept, ...LIMITS),
      await issue(kept, ...LIMITS),
      await issue(deleted, ...LIMITS),
    ];
    const [revoked, ended] = [await issue(kept), await issue(kept, '--expires-in', '1h')];
    const successor = await rotate(await rotate(replaced, '--overlap', '7d'), '--overlap', '100d');
    await rotate(ended, '--overlap', '0', '--expires-in', '2d');
    await phm('api-key', 'revoke', revoked);
    await phm('api-key', 'revoke', revoked);
    await phm('account', 'delete', deleted, '--confirm', deleted);
    ids = { limited, replaced, successor, ended, revoked, orphan };
    save('api_keys');
  });

  const CHANGED = 'API keys that differ from their audit records';

  it('have no finding as commands have written them, before and after their entries', async () => {
    assert.deepEqual(await findings(), []);
    await ledger.publish();
    assert.deepEqual(await findings(), []);
  });

  for (const [name, sql, which] of API_KEY_CHANGES) {
    it(`are found with ${name}`, async () => {
      ledger.execute(`UPDATE api_keys SET ${sql} WHERE api_key_id = ?`, ids[which]);
      const found = await findings();
      restore('api_keys', 'api_key_id', [sql.replace(/ = .*/, '')]);
      assert.deepEqual(found, [`${CHANGED}: ${ids[which]}`]);
    });
  }

  it('have no finding if a command changes one after its records were read', async () => {
    const id = await issue(await create());
    const revoke = () => phm('api-key', 'revoke', id);
    assert.deepEqual(await findings(interrupted('listApiKeys', revoke)), []);
    assert.deepEqual(await findings(), []);
  });

  it('from before the log, and those of the demo, need no record', async () => {
    const { accountId, apiKeyId } = DEMO_ACCOUNTS[0];
    const createdMs = (await ledger.openLog()).startedMs + 1;
    const demo = { accountId, name: 'Demo', plan: 'research', demo: true, createdMs };
    await ledger.store.addAccount(demo);
    for (const [id, account, atMs] of [
      ['key_old', 'acct_log', 1],
      [apiKeyId, accountId, createdMs],
    ] as const) {
      const record = { apiKeyId: id, accountId: account, hint: 'h', createdMs: atMs };
      const key = Buffer.alloc(32, id);
      assert.ok(await ledger.store.addApiKey({ ...record, revokedMs: null }, key));
    }
    assert.deepEqual(await findings(), []);
    const next = await rotate('key_old', '--overlap', '1d');
    assert.deepEqual(await findings(), []);
    ledger.execute("UPDATE api_keys SET replaced_by = NULL WHERE api_key_id = 'key_old'");
    assert.deepEqual(await findings(), [`${CHANGED}: key_old`]);
    ledger.execute("UPDATE api_keys SET replaced_by = ? WHERE api_key_id = 'key_old'", next);
  });

  it('are found if one was inserted or removed', async () => {
    const columns = 'account_id, hint, created_ms, expires_ms, scopes';
    ledger.execute(
      `INSERT INTO api_keys (api_key_id, key_hash, ${columns})
       SELECT 'key_made_up', ?, ${columns} FROM api_keys WHERE api_key_id = ?`,
      UNKNOWN,
      ids.limited,
    );
    ledger.execute('DELETE FROM api_keys WHERE api_key_id = ?', ids.limited);
    assert.deepEqual((await findings()).sort(), [
      `${CHANGED}: ${ids.limited}`,
      'API keys without an audit record of their issue: key_made_up',
    ]);
  });
});
