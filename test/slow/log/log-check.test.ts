/** `phm log check`: the monitor finds and names each change, and a sound log has none. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ED25519_COSIGNATURE, formatVerifierKey, keyIdMessage, readKeyId } from '#tlog';
import { DEMO_ACCOUNTS } from '../../../src/accounts/index.ts';
import type { CliContext } from '../../../src/cli/context.ts';
import { defaultSeenFile } from '../../../src/cli/log/seen.ts';
import { auditEntry } from '../../../src/keys/index.ts';
import { FolderServer } from '../../support/folder-server.ts';
import { killAtCommit } from '../../support/kill-at-commit.ts';
import { LogLedger } from '../../support/log-ledger.ts';
import { type HeldKey, ORIGIN } from '../../support/log-writer.ts';
import { runPhm } from '../../support/server.ts';

/** More than one full tile. */
const KEYS = 300;

const UNKNOWN = Buffer.alloc(32, 7);

let ledger: LogLedger;
let keys: HeldKey[];
before(async () => {
  ledger = await LogLedger.create();
  keys = await ledger.addKeys(KEYS);
  await ledger.publish();
  ledger.backUp();
});
after(() => ledger.remove());

interface CheckJson {
  readonly findings: readonly { readonly problem: string; readonly examples: readonly string[] }[];
}

/** Runs the check, and returns its findings as lines. */
async function findings(...args: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await ledger.run('log', 'check', '--json', ...args);
  const found = (JSON.parse(stdout) as CheckJson).findings;
  assert.equal(code, found.length === 0 ? 0 : 1, stderr);
  assert.doesNotMatch(stderr, /\n {4}at /);
  return found.map(({ problem, examples }) => `${problem}: ${examples.join(', ')}`);
}

/** A change of the database, and what the check says about it. */
const TAMPERINGS: readonly [
  string,
  (key: HeldKey) => Promise<void> | void,
  (key: HeldKey) => RegExp,
][] = [
  [
    'a changed row',
    ({ id }) => ledger.execute('UPDATE ledger SET source = ? WHERE key_id = ?', 'qrng', id),
    ({ keyId }) => new RegExp(`^rows that differ from their entry in the log: ${keyId}$`),
  ],
  [
    'a changed receipt column',
    ({ id }) => ledger.execute('UPDATE ledger SET salt = ? WHERE key_id = ?', UNKNOWN, id),
    ({ keyId }) => new RegExp(`^rows that differ .*: ${keyId}$`),
  ],
  [
    'a column of another form',
    ({ id }) => ledger.execute('UPDATE ledger SET sources = ? WHERE key_id = ?', '?', id),
    ({ keyId }) => new RegExp(`^rows that differ .*: ${keyId}$`),
  ],
  [
    'a deleted row',
    ({ id }) => ledger.execute('DELETE FROM ledger WHERE key_id = ?', id),
    ({ keyId }) => new RegExp(`^entries without their row: ${keyId}$`),
  ],
  [
    'an inserted row with a forged entry',
    async () => {
      const [key] = await ledger.addKeys(1);
      ledger.execute(
        'UPDATE log_pending SET mac = ? WHERE entry_id = ?',
        UNKNOWN,
        key?.id ?? UNKNOWN,
      );
      await ledger.publish();
    },
    () =>
      /^rows without an entry in the log: phm_\d+\n(?:.*\n)*entries that were set aside: .*: 1$/,
  ],
  [
    'an inserted row without a statement',
    async () => {
      const [key] = await ledger.addKeys(1);
      const id = key?.id ?? UNKNOWN;
      ledger.execute('DELETE FROM log_pending WHERE entry_id = ?', id);
      ledger.execute(
        'UPDATE ledger SET key_commitment = NULL, salt = NULL, strength_bits = NULL, software_id = NULL, sources = NULL WHERE key_id = ?',
        id,
      );
    },
    () => /^rows without a statement: phm_\d+$/,
  ],
  [
    'a changed entry',
    () => ledger.execute('UPDATE log_entries SET entry = ? WHERE entry_index = 42', UNKNOWN),
    () => /^entries of the log do not match their tile: entry 42\n/,
  ],
  [
    'a deleted entry',
    () => ledger.execute('DELETE FROM log_entries WHERE entry_index = 42'),
    () => /^entries of the log cannot be read: entry 0 and those after it/,
  ],
  [
    'a changed tile',
    () => ledger.execute('UPDATE log_tiles SET hashes = zeroblob(8192) WHERE level = 0'),
    () => /^entries of the log do not match their tile: entry 0, entry 1, /,
  ],
  [
    'a changed tile of a higher level',
    () => ledger.execute('UPDATE log_tiles SET hashes = zeroblob(32) WHERE level = 1'),
    () => /^tiles of the log do not match its entries: tile\/1\/000.p\/1$/,
  ],
  [
    'a deleted tile',
    () => ledger.execute('DELETE FROM log_tiles WHERE level = 0'),
    () => /^tiles of the log do not match its entries: tile\/0\/000$/,
  ],
  [
    'a changed root',
    () => ledger.execute('UPDATE logs SET root = ?', UNKNOWN),
    () =>
      /^the root of the entries is not the stored one: keys\.example\/log\nheads that no server sealed: /,
  ],
  [
    'an entry that a writer of the database appended, with a tree to match',
    () => ledger.appendUnsealed(),
    () => /^heads that no server sealed: keys\.example\/log: 302 entries with root /,
  ],
  [
    'a seal under a version that no server has',
    () => ledger.execute('UPDATE logs SET head_version = 9'),
    () => /^heads that no server sealed: keys\.example\/log: 301 entries /,
  ],
  [
    'a changed checkpoint',
    () => ledger.execute("UPDATE log_checkpoints SET note = replace(note, '301', '300')"),
    () => /^checkpoints without a valid signature of the log: .* is wrong$/,
  ],
  [
    'a checkpoint without one of its signatures',
    () => {
      const signed = readFileSync(ledger.stateFile, 'utf8').split('\n');
      ledger.execute('UPDATE log_checkpoints SET note = ?', `${signed.slice(0, 5).join('\n')}\n`);
    },
    () => /^checkpoints without a valid signature of the log: .*no signature with ML-DSA-44$/,
  ],
  [
    'a changed audit record',
    () => ledger.execute("UPDATE audit SET details = '{}'"),
    () => /^audit records that differ from their entry in the log: log_started /,
  ],
  [
    'a deleted audit record',
    () => ledger.execute('DELETE FROM audit'),
    () => /^entries without their audit record: entry 0$/,
  ],
  [
    'a changed fingerprint',
    ({ id }) => ledger.execute('UPDATE ledger SET fingerprint = 7 WHERE key_id = ?', id),
    ({ keyId }) => new RegExp(`^rows that differ .*: ${keyId}$`),
  ],
  [
    'a logged row without its receipt columns, dated before the log',
    ({ id }) =>
      ledger.execute(
        'UPDATE ledger SET key_commitment = NULL, salt = NULL, created_ms = 1 WHERE key_id = ?',
        id,
      ),
    ({ keyId }) => new RegExp(`^rows that differ .*: ${keyId}$`),
  ],
  [
    'an inserted row whose entry stands behind the end of the tree',
    async () => {
      await ledger.addKeys(1);
      ledger.execute(`INSERT INTO log_entries
        SELECT log_id, 1024, entry, entry_id, kind FROM log_pending`);
      ledger.execute('DELETE FROM log_pending');
    },
    () => /^rows that differ from their entry in the log: phm_\d+$/,
  ],
  [
    'an inserted row whose entry waits for a log that does not exist',
    async () => {
      await ledger.addKeys(1);
      ledger.execute('UPDATE log_pending SET log_id = 99');
    },
    () => /^waiting entries that the log will refuse: phm_\d+$/,
  ],
  [
    'an inserted row whose waiting entry no server made',
    async () => {
      await ledger.addKeys(1);
      ledger.execute('UPDATE log_pending SET mac = ?', UNKNOWN);
    },
    () => /^waiting entries that the log will refuse: phm_\d+$/,
  ],
  [
    'a row that was changed while its entry waits',
    async () => {
      const [key] = await ledger.addKeys(1);
      ledger.execute("UPDATE ledger SET source = 'qrng' WHERE key_id = ?", key?.id ?? UNKNOWN);
    },
    () => /^waiting entries that the log will refuse: phm_\d+$/,
  ],
  [
    'a first entry that is passed off as the link to an earlier log',
    () => {
      ledger.execute(
        "UPDATE log_entries SET entry_id = NULL, kind = 'start' WHERE entry_index = 0",
      );
      ledger.execute('DELETE FROM audit');
    },
    () => /^entries without a statement: entry 0$/,
  ],
  [
    'a deleted checkpoint',
    () => ledger.execute('DELETE FROM log_checkpoints'),
    () => /^logs with entries, but without a stored checkpoint: keys\.example\/log$/,
  ],
  [
    'a log that one statement closed',
    () => ledger.execute('UPDATE logs SET closed_ms = started_ms + 1'),
    () => /^rows of logs that no server .*: keys\.example\/log is closed, but no log follows it$/,
  ],
  [
    'a changed time of the start of a log',
    () => ledger.execute('UPDATE logs SET started_ms = started_ms + 1'),
    () => /^logs whose row differs from the audit record .*: keys\.example\/log: the time of its /,
  ],
  [
    'changed verifier keys',
    () => ledger.execute("UPDATE logs SET verifier_keys = verifier_keys || '\n'"),
    () =>
      /^logs whose row differs from the audit record .*: keys\.example\/log: its verifier keys$/,
  ],
  [
    'pending entries that no turn takes',
    async () => {
      await ledger.addKeys(2, Date.now() - 120_000);
    },
    () => /^entries that wait for more than a minute: keys\.example\/log: 2, the oldest from /,
  ],
];

describe('phm log check beside a database', () => {
  it('finds nothing in a sound ledger, and counts what it compared', async () => {
    const { code, stdout } = await ledger.run('log', 'check', '--json');
    const { logs, rows, audit_records, pending, set_aside } = JSON.parse(stdout);
    assert.equal(code, 0);
    assert.deepEqual(
      logs.map(({ origin, size }: { origin: string; size: number }) => [origin, size]),
      [[ORIGIN, KEYS + 1]],
    );
    assert.deepEqual(rows, { logged: KEYS, pending: 0, older: 0, pruned: 0, recovered: 0 });
    assert.deepEqual([audit_records, pending, set_aside], [1, 0, 0]);
  });

  it('is counted in the summary of an export, with its entries', async () => {
    const { stderr } = await ledger.run('export', join(ledger.folder, 'moved'));
    assert.match(stderr, /^Exported .*, 300 ledger rows, 1 log, 301 log entries; SHA-256 /m);
  });

  it('compares the checkpoint that a witness showed and the server kept', async () => {
    const shown = `${ledger.stateFile}.seen`;
    cpSync(ledger.stateFile, shown);
    assert.deepEqual(await findings(), []);
    writeFileSync(shown, readFileSync(shown, 'utf8').replace('\n301\n', '\n302\n'));
    assert.match((await findings()).join(), /^a known checkpoint does not fit .*\.seen: /);
    rmSync(shown);
  });

  it('compares the checkpoint of --state, and replaces it by the newest', async () => {
    const state = join(ledger.folder, 'seen');
    cpSync(ledger.stateFile, state);
    await ledger.addKeys(1);
    await ledger.publish();
    assert.deepEqual(await findings('--state', state), []);
    assert.deepEqual(readFileSync(state), readFileSync(ledger.stateFile));
    ledger = await ledger.restore();
    ledger.restoreState();
    assert.match(
      (await findings('--state', state)).join(),
      /^a known checkpoint does not fit .* but the database has 301$/,
    );
    for (const [text, expected] of [
      ['?', /: no checkpoint$/],
      [
        readFileSync(state, 'utf8').replaceAll(ORIGIN, 'other.example/log'),
        /: of the log other\.example\/log$/,
      ],
    ] as const) {
      writeFileSync(state, text);
      assert.match((await findings('--state', state)).join(), expected);
    }
  });

  it('is what phm ledger verify suggests for a row that is missing', async () => {
    ledger.execute('DELETE FROM ledger WHERE key_id = ?', keys[100]?.id ?? UNKNOWN);
    const { stderr } = await ledger.run('ledger', 'verify');
    ledger = await ledger.restore();
    ledger.restoreState();
    assert.match(
      stderr,
      /^1 key in the sums has no row, perhaps because retention removed .* To compare .* log check$/m,
    );
  });

  for (const [name, change, expected] of TAMPERINGS) {
    it(`finds ${name}`, async () => {
      const key = keys[100] as HeldKey;
      await change(key);
      const found = (await findings()).join('\n');
      ledger = await ledger.restore();
      ledger.restoreState();
      assert.match(found, expected(key));
    });
  }
});

/** A change of the states of two keys: the first is compromised, the second expires. */
const STATE_CHANGES: readonly [
  string,
  (revoked: HeldKey, expiring: HeldKey) => Promise<void> | void,
  (revoked: HeldKey, expiring: HeldKey) => RegExp,
][] = [
  [
    'a removed revocation',
    ({ id }) => ledger.execute('DELETE FROM key_states WHERE key_id = ?', id),
    // Both records of the key: of its deactivation, and of its compromise.
    ({ keyId }) =>
      new RegExp(`^revocations that are no state of their key any more: ${keyId}, ${keyId}$`),
  ],
  [
    'a weakened revocation',
    ({ id }) => ledger.execute("UPDATE key_states SET state = 'deactivated' WHERE key_id = ?", id),
    ({ keyId }) =>
      new RegExp(
        `^revocations that are no .*\\nrevocations that differ from their audit record.*: ${keyId}$`,
      ),
  ],
  [
    'an earlier revocation put back',
    ({ id }) =>
      ledger.execute(
        `UPDATE key_states SET (state, reason, revoked_ms, audit_id) = (
           SELECT 'deactivated', 'superseded', at_ms, audit_id FROM audit
           WHERE action = 'key_revoked' ORDER BY at_ms LIMIT 1) WHERE key_id = ?`,
        id,
      ),
    ({ keyId }) => new RegExp(`^revocations that are no state of their key any more: ${keyId}$`),
  ],
  [
    'an inserted revocation',
    (_, { id }) =>
      ledger.execute(
        `UPDATE key_states SET state = 'compromised', reason = 'unspecified', revoked_ms = 7,
           audit_id = (SELECT audit_id FROM audit ORDER BY audit_id DESC LIMIT 1) WHERE key_id = ?`,
        id,
      ),
    (_, { keyId }) => new RegExp(`^revocations that differ from their audit record.*: ${keyId}$`),
  ],
  [
    'a postponed expiry',
    (_, { id }) =>
      ledger.execute('UPDATE key_states SET expires_ms = expires_ms + 1 WHERE key_id = ?', id),
    (_, { keyId }) => new RegExp(`^states of keys that differ from the row of the key: ${keyId}$`),
  ],
  [
    'a removed expiry',
    (_, { id }) => ledger.execute('DELETE FROM key_states WHERE key_id = ?', id),
    (_, { keyId }) => new RegExp(`^keys that expire but have no state: ${keyId}$`),
  ],
  [
    'a state that was moved to another commitment',
    ({ id }) =>
      ledger.execute('UPDATE key_states SET commitment = ? WHERE key_id = ?', UNKNOWN, id),
    ({ keyId }) => new RegExp(`^states of keys that differ from the row of the key: ${keyId}$`),
  ],
  [
    'an expiry that was changed in the row too',
    (_, { id }) => {
      for (const table of ['ledger', 'key_states']) {
        ledger.execute(`UPDATE ${table} SET expires_ms = expires_ms + 1 WHERE key_id = ?`, id);
      }
    },
    (_, { keyId }) => new RegExp(`^rows that differ from their entry in the log: ${keyId}$`),
  ],
  [
    'changed labels',
    (_, { id }) => ledger.execute("UPDATE ledger SET labels = '{}' WHERE key_id = ?", id),
    (_, { keyId }) => new RegExp(`^rows that differ from their entry in the log: ${keyId}$`),
  ],
];

describe('phm log check of the states of keys', () => {
  for (const [name, change, expected] of STATE_CHANGES) {
    it(`finds ${name}`, async () => {
      const expiry = { expiresMs: Date.now() + 1e9, labels: '{"env":"prod"}' };
      const [expiring] = await ledger.addKeys(1, Date.now(), expiry);
      const [revoked] = await ledger.addKeys(1);
      if (!expiring || !revoked) throw new Error('there are two keys');
      await ledger.revoke(revoked, 'deactivated', Date.now() - 5);
      await ledger.revoke(revoked, 'compromised');
      await ledger.publish();
      assert.deepEqual(await findings(), []);
      await change(revoked, expiring);
      const found = (await findings()).join('\n');
      ledger = await ledger.restore();
      ledger.restoreState();
      assert.match(found, expected(revoked, expiring));
    });
  }
});

/** A change of the state of a suspended account or of one that was resumed. */
const ACCOUNT_CHANGES: readonly [string, (suspended: string, resumed: string) => void][] = [
  [
    'a suspension that was removed',
    (suspended) =>
      ledger.execute(
        'UPDATE accounts SET suspended_ms = NULL, state_audit_id = NULL WHERE account_id = ?',
        suspended,
      ),
  ],
  [
    'a suspension that was lifted without a record',
    (suspended) =>
      ledger.execute('UPDATE accounts SET suspended_ms = NULL WHERE account_id = ?', suspended),
  ],
  [
    'a state that was put back to an earlier record',
    (_, resumed) =>
      ledger.execute(
        `UPDATE accounts SET (suspended_ms, state_audit_id) = (SELECT at_ms, audit_id FROM audit
           WHERE action = 'account_suspended' AND details LIKE ?) WHERE account_id = ?`,
        `%${resumed}%`,
        resumed,
      ),
  ],
  [
    'a suspension with the record of another account',
    (_, resumed) =>
      ledger.execute(
        `UPDATE accounts SET (suspended_ms, state_audit_id) = (SELECT suspended_ms, state_audit_id
           FROM accounts WHERE suspended_ms IS NOT NULL) WHERE account_id = ?`,
        resumed,
      ),
  ],
  [
    'another time of a suspension',
    (suspended) =>
      ledger.execute('UPDATE accounts SET suspended_ms = 7 WHERE account_id = ?', suspended),
  ],
  [
    'a removed account',
    (suspended) => ledger.execute('DELETE FROM accounts WHERE account_id = ?', suspended),
  ],
];

describe('phm log check of the states of accounts', () => {
  const account = async (...args: string[]) => {
    const { code, stdout, stderr } = await ledger.run('account', ...args, '--json');
    assert.equal(code, 0, stderr);
    return String(JSON.parse(stdout).account_id);
  };
  const create = () => account('create', '--name', 'n', '--plan', 'research');
  const suspend = (accountId: string) => account('suspend', accountId, '--reason', 'a test');

  it('finds nothing in states that commands have changed, before and after their entries', async () => {
    const [deleted, again] = [await create(), await create()];
    await account('delete', deleted, '--confirm', deleted);
    for (const change of [suspend, (id: string) => account('resume', id), suspend]) {
      await change(again);
    }
    assert.deepEqual(await findings(), []);
    await ledger.publish();
    assert.deepEqual(await findings(), []);
    ledger = await ledger.restore();
    ledger.restoreState();
  });

  for (const [name, change] of ACCOUNT_CHANGES) {
    it(`finds ${name}`, async () => {
      const [suspended, resumed] = [await create(), await create()];
      await suspend(suspended);
      await suspend(resumed);
      await account('resume', resumed);
      await ledger.publish();
      assert.deepEqual(await findings(), []);
      change(suspended, resumed);
      const found = (await findings()).join('\n');
      ledger = await ledger.restore();
      ledger.restoreState();
      const named = `(${suspended}|${resumed})`;
      assert.match(found, new RegExp(`^accounts whose state is not that of .*: ${named}$`));
    });
  }
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

describe('phm log check of API keys', () => {
  const phm = async (...args: string[]) => {
    const { code, stdout, stderr } = await ledger.run(...args, '--json');
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout) as Record<string, string>;
  };
  const create = async () =>
    String((await phm('account', 'create', '--name', 'n', '--plan', 'research')).account_id);
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
    ledger.execute('CREATE TABLE sound AS SELECT * FROM api_keys');
  });
  after(async () => {
    ledger = await ledger.restore();
    ledger.restoreState();
  });

  it('finds nothing in what commands have written, before and after the entries', async () => {
    assert.deepEqual(await findings(), []);
    await ledger.publish();
    assert.deepEqual(await findings(), []);
  });

  for (const [name, sql, which] of API_KEY_CHANGES) {
    it(`finds ${name}`, async () => {
      const column = sql.replace(/ = .*/, '');
      ledger.execute(`UPDATE api_keys SET ${sql} WHERE api_key_id = ?`, ids[which]);
      const found = await findings();
      ledger.execute(
        `UPDATE api_keys SET ${column} = (
           SELECT ${column} FROM sound WHERE sound.api_key_id = api_keys.api_key_id)`,
      );
      assert.deepEqual(found, [`API keys that differ from their audit records: ${ids[which]}`]);
    });
  }

  it('finds nothing in API keys from before the log, and in those of the demo', async () => {
    const { accountId, apiKeyId } = DEMO_ACCOUNTS[0];
    const demo = { accountId, name: 'Demo', plan: 'research', demo: true, createdMs: Date.now() };
    await ledger.store.addAccount(demo);
    for (const [id, account, createdMs] of [
      ['key_old', 'acct_log', 1],
      [apiKeyId, accountId, Date.now()],
    ] as const) {
      const record = { apiKeyId: id, accountId: account, hint: 'h', createdMs, revokedMs: null };
      assert.ok(await ledger.store.addApiKey(record, Buffer.alloc(32, id)));
    }
    assert.deepEqual(await findings(), []);
    const next = await rotate('key_old', '--overlap', '1d');
    assert.deepEqual(await findings(), []);
    ledger.execute("UPDATE api_keys SET replaced_by = NULL WHERE api_key_id = 'key_old'");
    assert.deepEqual(await findings(), ['API keys that differ from their audit records: key_old']);
    ledger.execute("UPDATE api_keys SET replaced_by = ? WHERE api_key_id = 'key_old'", next);
  });

  it('finds an API key that was inserted, and one that was removed', async () => {
    const columns = 'account_id, hint, created_ms, expires_ms, scopes';
    ledger.execute(
      `INSERT INTO api_keys (api_key_id, key_hash, ${columns})
       SELECT 'key_made_up', ?, ${columns} FROM api_keys WHERE api_key_id = ?`,
      UNKNOWN,
      ids.limited,
    );
    ledger.execute('DELETE FROM api_keys WHERE api_key_id = ?', ids.limited);
    assert.deepEqual((await findings()).sort(), [
      `API keys that differ from their audit records: ${ids.limited}`,
      'API keys without an audit record of their issue: key_made_up',
    ]);
  });
});

describe('a command that is killed at a commit', () => {
  after(async () => {
    ledger = await ledger.restore();
    ledger.restoreState();
  });

  const phm = async (...args: string[]) => {
    const { code, stdout, stderr } = await ledger.run(...args, '--json');
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  };

  /** Returns whether the command was killed. */
  const killed = async (commit: number, when: 'before' | 'after', args: readonly string[]) => {
    const NODE_OPTIONS = killAtCommit(commit, when, 'command');
    const { code, stderr } = await runPhm(args, ledger.dataDir, { ...ledger.env, NODE_OPTIONS });
    assert.ok(code === -1 || code === 0, stderr);
    return code === -1;
  };

  const commands: readonly [string, (account: string, apiKey: string) => readonly string[]][] = [
    ['account suspend', (account) => ['account', 'suspend', account, '--reason', 'a test']],
    ['account delete', (account) => ['account', 'delete', account, '--confirm', account]],
    ['key rotate', (_, apiKey) => ['api-key', 'rotate', apiKey, '--overlap', '1d']],
    ['key revoke', (_, apiKey) => ['api-key', 'revoke', apiKey]],
  ];

  for (const [name, argsOf] of commands) {
    it(`has changed all or nothing: ${name}`, async () => {
      const { account_id } = await phm('account', 'create', '--name', 'n', '--plan', 'research');
      const { api_key_id } = await phm('api-key', 'issue', '--account', account_id);
      const args = argsOf(account_id, api_key_id);
      const records = async () => (await phm('audit', 'list')).records.length;
      const before = await records();
      for (const [when, added] of [
        ['before', 0],
        ['after', 1],
      ] as const) {
        assert.ok(await killed(1, when, args), when);
        assert.equal(await records(), before + added, when);
        assert.deepEqual(await findings(), []);
        // The keys of this ledger name an API key that it lacks.
        const { stderr } = await ledger.run('ledger', 'verify');
        assert.match(stderr, /^Checked \d+ accounts/m);
        assert.doesNotMatch(stderr, /^(?:accounts|api_keys): /m);
      }
    });
  }
});

describe('phm log check after phm ledger prune', () => {
  const DAY_MS = 86_400_000;

  it('counts entries whose rows were pruned, and still finds a deleted one', async () => {
    await ledger.addKeys(5, Date.now() - 90 * DAY_MS);
    const [young] = await ledger.addKeys(1, Date.now() - 20 * DAY_MS);
    await ledger.publish();
    const pruned = await ledger.run('ledger', 'prune', '--older-than', '30', '--accept-clock');
    assert.equal(pruned.code, 0, pruned.stderr);
    for (const step of ['while its record waits', 'and when it is logged']) {
      const { code, stdout, stderr } = await ledger.run('log', 'check', '--json');
      assert.equal(code, 0, `${step}: ${stderr}`);
      assert.equal(JSON.parse(stdout).rows.pruned, 5, step);
      await ledger.publish();
    }
    ledger.execute('DELETE FROM ledger WHERE key_id = ?', young?.id ?? UNKNOWN);
    assert.deepEqual(await findings(), [`entries without their row: ${young?.keyId}`]);
    ledger = await ledger.restore();
    ledger.restoreState();
  });

  const auditId = Buffer.alloc(16, 9);
  const forged = {
    auditId,
    atMs: Date.parse('2100-01-01'),
    action: 'pruned',
    details: '{"before":"2100-01-01T00:00:00.000Z","rows":3}',
    salt: UNKNOWN,
  } as const;
  const forgeries: readonly [string, () => void, RegExp][] = [
    [
      'without an entry',
      () => {},
      /^audit records without an entry in the log: pruned 2100-01-01T00:00:00\.000\+00:00/,
    ],
    [
      'with a waiting entry that no server made',
      () =>
        ledger.execute(
          "INSERT INTO log_pending VALUES (?, 1, 'audit', ?, ?, 1)",
          auditId,
          UNKNOWN,
          UNKNOWN,
        ),
      /^waiting entries that the log will refuse: pruned /,
    ],
    [
      'with an entry behind the end of the tree',
      () =>
        ledger.execute(
          "INSERT INTO log_entries VALUES (1, 1024, ?, ?, 'audit')",
          auditEntry(forged, ORIGIN),
          auditId,
        ),
      /^audit records that differ from their entry in the log: pruned /,
    ],
  ];
  for (const [name, forge, expected] of forgeries) {
    it(`takes no record of pruning ${name}`, async () => {
      await ledger.addKeys(3, Date.now() - 90 * DAY_MS);
      await ledger.publish();
      ledger.execute(
        'DELETE FROM ledger WHERE key_id < ?',
        Buffer.from(keys[0]?.id ?? []).fill(0, 6),
      );
      const { atMs, action, details, salt } = forged;
      ledger.execute(
        'INSERT INTO audit VALUES (?, ?, ?, ?, ?)',
        auditId,
        atMs,
        action,
        details,
        salt,
      );
      forge();
      const found = (await findings()).join('\n');
      ledger = await ledger.restore();
      ledger.restoreState();
      assert.match(found, expected);
      assert.match(found, /\nentries without their row: phm_/);
    });
  }
});

describe('phm log check with an address or a folder', () => {
  let server: FolderServer;
  let copy: string;
  before(async () => {
    copy = join(ledger.folder, 'copy');
    const exported = join(ledger.folder, 'exported');
    await ledger.exportTo(exported);
    server = await FolderServer.start(exported);
  });
  after(() => server.stop());

  it('verifies a log by address, keeps a copy, and checks the copy', async () => {
    const { code, stderr } = await ledger.run('log', 'check', server.address, '--copy', copy);
    assert.equal(code, 0, stderr);
    assert.match(
      stderr,
      /^Log: keys\.example\/log at http:\S+, 301 entries, root \S+\nSigned with ML-DSA-44/,
    );
    assert.match(stderr, /first check of this log here/);
    assert.match(stderr, /The keys came from the log itself/);
    assert.match(stderr, /\nNo problems found\.\n$/);
    const again = await ledger.run('log', 'check', copy);
    assert.equal(again.code, 0, again.stderr);
    assert.match(again.stderr, /It contains the 301 entries of the last check/);
  });

  it('follows the log as it grows, and keeps full tiles only once', async () => {
    await ledger.addKeys(220);
    await ledger.publish();
    await ledger.exportTo(server.folder);
    const { code, stderr } = await ledger.run('log', 'check', server.address, '--copy', copy);
    assert.equal(code, 0, stderr);
    assert.match(
      stderr,
      /, 521 entries, .*\n(?:.*\n)*It contains the 301 entries of the last check/,
    );
    assert.ok(existsSync(join(copy, 'tile/0/001')));
    assert.ok(!existsSync(join(copy, 'tile/0/001.p')));
    assert.ok(existsSync(join(copy, 'tile/0/002.p/9')));
    assert.deepEqual(readFileSync(join(copy, 'tile/1/000.p/2')).length, 64);
    ledger = await ledger.restore();
    ledger.restoreState();
  });

  const damaged: [string, (folder: string) => void, RegExp][] = [
    [
      'a changed entry',
      (folder) => flip(join(folder, 'tile/entries/000'), 40),
      /do not match their tile: 1 \(entry 1\)/,
    ],
    [
      'a cut bundle',
      (folder) => cut(join(folder, 'tile/entries/001')),
      /cannot be read: 1 \(entry 256 and those after it\)/,
    ],
    [
      'a missing bundle',
      (folder) => rmSync(join(folder, 'tile/entries/000')),
      /cannot be read: 1 \(entry 0 /,
    ],
    [
      'a changed tile',
      (folder) => flip(join(folder, 'tile/0/000'), 0),
      /do not match their tile: 1 \(entry 0\)/,
    ],
    [
      'a missing tile',
      (folder) => rmSync(join(folder, 'tile/0/001')),
      /tiles of the log do not match its entries: 1 \(tile\/0\/001\)/,
    ],
    [
      'a changed tile of level 1',
      (folder) => flip(join(folder, 'tile/1/000.p/2'), 33),
      /tiles of the log do not match its entries: 1 \(tile\/1\/000.p\/2\)/,
    ],
    [
      'a changed checkpoint',
      (folder) => edit(join(folder, 'checkpoint'), '521', '520'),
      /^phm: the checkpoint of .*: the signature of keys\.example\/log \(type 6\) on the checkpoint is wrong$/m,
    ],
    [
      'a checkpoint of another log',
      (folder) => edit(join(folder, 'checkpoint'), /keys\.example\/log/g, 'other.example/log'),
      /^phm: .* has the log other\.example\/log, but the policy lists keys\.example\/log\. After a rotation, check the new log with its own --policy, --state and --copy$/m,
    ],
    [
      'a cut checkpoint',
      (folder) => cut(join(folder, 'checkpoint'), 40),
      /the checkpoint of .*: the last signature line needs a final newline/,
    ],
    [
      'no checkpoint',
      (folder) => rmSync(join(folder, 'checkpoint')),
      /there is no log at .*: it has no file "checkpoint"/,
    ],
    [
      'a policy that is none',
      (folder) => edit(join(folder, 'policy'), 'quorum', 'quorom'),
      /is not a policy \(c2sp\.org\/tlog-policy\): .*quorom/,
    ],
    [
      'a policy that cannot be met',
      (folder) => addWitness(join(folder, 'policy')),
      /quorum w of witnesses is not met: cosigned by none/,
    ],
  ];
  for (const [name, damage, expected] of damaged) {
    it(`finds ${name}`, async () => {
      const folder = join(ledger.folder, 'damaged');
      cpSync(copy, folder, { recursive: true });
      damage(folder);
      const state = join(ledger.folder, 'damaged.state');
      const { code, stdout, stderr } = await ledger.run('log', 'check', folder, '--state', state);
      rmSync(folder, { recursive: true });
      // What cannot be read at all is wrong usage.
      const exitCode = name === 'a policy that is none' ? 2 : 1;
      assert.deepEqual([code, stdout], [exitCode, ''], stderr);
      assert.match(stderr, expected);
      assert.doesNotMatch(stderr, /\n {4}at /);
      assert.ok(!existsSync(state), 'a log with findings is not remembered');
    });
  }

  it('finds a log that went back, and one that was rewritten', async () => {
    await ledger.exportTo(server.folder);
    const back = await ledger.run('log', 'check', server.address);
    assert.equal(back.code, 1);
    assert.match(back.stderr, /the log is smaller than before: 1 \(521 entries with root /);
    // The same keys sign another tree of more entries.
    await ledger.addKeys(300);
    await ledger.publish();
    await ledger.exportTo(server.folder);
    const fork = await ledger.run('log', 'check', server.address, '--copy', copy);
    assert.equal(fork.code, 1);
    assert.match(
      fork.stderr,
      /the log does not contain an earlier checkpoint: 2 \(521 entries with root /,
    );
    assert.match(readFileSync(join(copy, 'checkpoint'), 'utf8'), /\n521\n/);
    assert.match(fork.stderr, /files of the copy differ from the log: \d+ \(/);
    ledger = await ledger.restore();
    ledger.restoreState();
  });

  it('refuses a policy of other keys, and accepts a pinned one', async () => {
    await ledger.exportTo(server.folder);
    const state = join(ledger.folder, 'pinned.state');
    const other = join(ledger.folder, 'other.policy');
    writeFileSync(other, 'quorum none\n');
    const check = (policy: string) =>
      ledger.run('log', 'check', server.address, '--state', state, '--policy', policy);
    const refused = await check(other);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /no known key of keys\.example\/log has signed/);
    const { code, stderr } = await check(join(server.folder, 'policy'));
    assert.equal(code, 0, stderr);
    assert.doesNotMatch(stderr, /The keys came from the log itself/);
  });

  it('refuses wrong usage with code 2', async () => {
    const wrong: [string[], RegExp][] = [
      [['no-such-folder'], /is not a folder/],
      [['ftp://keys.example/log'], /the address of the log is not usable/],
      [['https://ada:secret@keys.example/log'], /the address of the log is not usable/],
      [['--copy', 'x'], /--copy and --policy need the address/],
      [[copy, '--since', '2026-11-01'], /--since is for rows of the database/],
      [['--since', 'yesterday'], /use a day such as/],
    ];
    for (const [args, expected] of wrong) {
      const { code, stderr } = await ledger.run('log', 'check', ...args);
      assert.equal(code, 2, args.join(' '));
      assert.match(stderr, expected);
      assert.doesNotMatch(stderr, /secret/);
    }
  });
});

function flip(path: string, offset: number): void {
  const bytes = readFileSync(path);
  bytes[offset] = (bytes[offset] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

function cut(path: string, by = 1): void {
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.subarray(0, bytes.length - by));
}

function edit(path: string, from: string | RegExp, to: string): void {
  writeFileSync(path, readFileSync(path, 'utf8').replace(from, to));
}

/** Adds a witness that never cosigned, and asks for it. */
function addWitness(path: string): void {
  const publicKey = Buffer.alloc(32, 3);
  const [name, type] = ['witness.example', ED25519_COSIGNATURE] as const;
  const digest = createHash('sha256')
    .update(keyIdMessage(name, type, publicKey))
    .digest();
  const witness = formatVerifierKey({ name, type, publicKey, keyId: readKeyId(digest) });
  edit(path, 'quorum none', `witness w ${witness}\nquorum w`);
}

describe('the file of a monitor', () => {
  it('needs a home directory, or a place to take instead', () => {
    const context = (env: Record<string, string>) => ({ env }) as unknown as CliContext;
    const home = process.env.HOME;
    process.env.HOME = '';
    try {
      assert.throws(() => defaultSeenFile(context({}), ORIGIN), /no home directory: .* --state/);
      assert.match(defaultSeenFile(context({ XDG_STATE_HOME: '/s' }), ORIGIN), /^\/s\/phm\/log-/);
      assert.match(defaultSeenFile(context({ HOME: '/h' }), ORIGIN), /^\/h\/\.local\/state\//);
    } finally {
      if (home === undefined) delete process.env.HOME;
      else process.env.HOME = home;
    }
  });
});
