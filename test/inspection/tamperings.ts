/** Changes of a database with a log, in SQL that both databases understand, and what the check says about each. */
import { formatKeyId } from '../../src/keys/index.ts';
import { keyIdMs } from '../../src/ledger/key-time.ts';
import { signCheckpoint } from '../../src/log/index.ts';
import { makeKeyId, NOW } from '../ledger/contract.ts';
import { type HeldKey, ORIGIN } from '../support/ledgers/log-writer.ts';
import type { CheckOptions, LoggedStore, Value } from './logged-store.ts';

export const UNKNOWN = Buffer.alloc(32, 7);

/** The size of the log: its start and the keys. More than one full tile. */
export const KEYS = 260;
const SIZE = KEYS + 1;

interface Tampering {
  readonly name: string;
  /** Changes the database, and returns how the check is done. */
  readonly change: (logged: LoggedStore, key: HeldKey) => Promise<CheckOptions | undefined>;
  /** The findings. A line that ends with … may go on. */
  readonly found: (key: HeldKey) => readonly string[];
}

const DIFFERS = 'rows that differ from their entry in the log';
const REFUSED = 'waiting entries that the log will refuse';

/** Returns a change by one statement. The key's ID is its last value, if the statement has a place for it. */
function statement(sql: string, ...values: readonly Value[]): Tampering['change'] {
  return async (logged, { id }) => {
    await logged.execute(sql, ...values, ...(sql.endsWith('key_id = ?') ? [id] : []));
    return undefined;
  };
}

/** The row digest covers every column. */
const CHANGED_COLUMNS: readonly (readonly [column: string, value: string])[] = [
  ['source', "'qrng'"],
  ['sources', "'none'"],
  ['sources', "'os:512'"],
  ['security_level', '128'],
  ['account_id', "'acct_other'"],
  ['created_ms', 'created_ms + 1'],
  ['secret_version', '2'],
  ['gate_p', '1.0'],
  ['fingerprint', '7'],
  ['labels', "'{}'"],
];

const ROWS: readonly Tampering[] = [
  ...CHANGED_COLUMNS.map(([column, value]) => ({
    name: `a row whose ${column} became ${value}`,
    change: statement(`UPDATE ledger SET ${column} = ${value} WHERE key_id = ?`),
    found: ({ keyId }: HeldKey) => [`${DIFFERS}: ${keyId}`],
  })),
  ...[
    ...['commitment', 'key_commitment', 'salt'],
    ...['sealed_to', 'sealed_digest', 'further_seals', 'delivery_id', 'delivery_context'],
  ].map((column) => ({
    name: `a row with another ${column}`,
    change: statement(`UPDATE ledger SET ${column} = ? WHERE key_id = ?`, UNKNOWN),
    found: ({ keyId }: HeldKey) => [`${DIFFERS}: ${keyId}`],
  })),
  {
    name: 'a logged row without its receipt columns, dated before the log',
    change: statement(
      'UPDATE ledger SET key_commitment = NULL, salt = NULL, created_ms = 1 WHERE key_id = ?',
    ),
    found: ({ keyId }) => [`${DIFFERS}: ${keyId}`],
  },
  {
    name: 'a deleted row',
    change: statement('DELETE FROM ledger WHERE key_id = ?'),
    found: ({ keyId }) => [`entries without their row: ${keyId}`],
  },
  {
    name: 'an inserted row',
    async change(logged, { id }) {
      const [row = {}] = await logged.execute('SELECT * FROM ledger WHERE key_id = ?', id);
      const made = { ...row, key_id: insertedId(id), commitment: UNKNOWN };
      const columns = Object.keys(made);
      await logged.execute(
        `INSERT INTO ledger (${columns}) VALUES (${columns.map(() => '?')})`,
        ...(Object.values(made) as Value[]),
      );
      return undefined;
    },
    found: ({ id }) => [`rows without an entry in the log: ${formatKeyId(insertedId(id))}`],
  },
  {
    name: 'an inserted row with a forged entry, which the log set aside',
    async change(logged) {
      const [key] = await logged.addKeys(1, NOW);
      await logged.execute('UPDATE log_pending SET mac = ?', UNKNOWN);
      await logged.publish();
      await logged.execute('UPDATE ledger SET key_id = ? WHERE key_id = ?', LAST_ID, key?.id ?? '');
      return undefined;
    },
    found: () => [
      `rows without an entry in the log: ${LAST}`,
      `entries that were set aside: ${ORIGIN}: 1`,
    ],
  },
  {
    name: 'an inserted row without a statement',
    async change(logged) {
      await addRow(logged);
      await logged.execute('DELETE FROM log_pending');
      await removeStatement(logged);
      return undefined;
    },
    found: () => [`rows without a statement: ${LAST}`],
  },
  {
    name: 'no row without a statement from before a given time',
    async change(logged) {
      await addRow(logged);
      await logged.execute('DELETE FROM log_pending');
      await removeStatement(logged);
      return { sinceMs: NOW + 1 };
    },
    found: () => [],
  },
  {
    name: 'an inserted row whose entry stands behind the end of the tree',
    async change(logged) {
      await addRow(logged);
      await logged.execute(`INSERT INTO log_entries (log_id, entry_index, entry, entry_id, kind)
        SELECT log_id, 1024, entry, entry_id, kind FROM log_pending`);
      await logged.execute('DELETE FROM log_pending');
      return undefined;
    },
    found: () => [`${DIFFERS}: ${LAST}`],
  },
];

/** The ID of an inserted row, made of that of its model. */
function insertedId(id: Uint8Array): Buffer {
  const made = Buffer.from(id);
  made[15] = (made[15] ?? 0) ^ 1;
  return made;
}

/** The ID of the row that a tampering adds. */
const LAST_ID = makeKeyId(NOW);
const LAST = formatKeyId(LAST_ID);

/** Adds a row and its waiting entry. */
async function addRow(logged: LoggedStore): Promise<void> {
  await logged.addKeys(1, keyIdMs(LAST_ID), { keyId: LAST_ID });
}

const removeStatement = (logged: LoggedStore) =>
  logged.execute(
    `UPDATE ledger SET key_commitment = NULL, salt = NULL, strength_bits = NULL, software_id = NULL, sources = NULL
     WHERE key_id = ?`,
    LAST_ID,
  );

/** Entries that wait for their turn. */
const WAITING: readonly Tampering[] = [
  ...(
    [
      ['an inserted row whose entry waits for a log that does not exist', 'log_id', 99],
      ['an inserted row whose waiting entry no server made', 'mac', UNKNOWN],
      ['a waiting entry that was changed', 'entry', UNKNOWN],
    ] as const
  ).map(
    ([name, column, value]): Tampering => ({
      name,
      async change(logged) {
        await addRow(logged);
        await logged.execute(`UPDATE log_pending SET ${column} = ?`, value);
        return undefined;
      },
      found: () => [`${REFUSED}: ${LAST}`],
    }),
  ),
  {
    name: 'a row that was changed while its entry waits',
    async change(logged) {
      await addRow(logged);
      await logged.execute("UPDATE ledger SET source = 'qrng' WHERE key_id = ?", LAST_ID);
      return undefined;
    },
    found: () => [`${REFUSED}: ${LAST}`],
  },
  {
    name: 'a waiting entry that was deleted',
    async change(logged) {
      await addRow(logged);
      await logged.execute('DELETE FROM log_pending');
      return undefined;
    },
    found: () => [`rows without an entry in the log: ${LAST}`],
  },
  {
    name: 'a waiting entry that was moved to another key',
    async change(logged, { id }) {
      await addRow(logged);
      await logged.execute('UPDATE log_pending SET entry_id = ?', insertedId(id));
      return undefined;
    },
    found: () => [`rows without an entry in the log: ${LAST}`],
  },
  {
    name: 'a waiting entry that was moved to a key whose own was deleted',
    async change(logged, { id }) {
      await addRow(logged);
      await logged.execute('DELETE FROM log_entries WHERE entry_id = ?', id);
      await logged.execute('UPDATE log_pending SET entry_id = ?', id);
      return undefined;
    },
    found: ({ keyId }) => [
      'entries of the log cannot be read: entry 0 and those after it',
      `${REFUSED}: ${keyId}`,
      `${DIFFERS}: …`,
      `rows without an entry in the log: ${LAST}`,
    ],
  },
  {
    name: 'no sound entry that waits, with or without the master secret',
    async change(logged) {
      await addRow(logged);
      return { macs: null };
    },
    found: () => [],
  },
  {
    name: 'entries that no turn takes for more than a minute',
    async change(logged) {
      await logged.addKeys(2, NOW);
      return { nowMs: NOW + 60_001 };
    },
    found: () => [`entries that wait for more than a minute: ${ORIGIN}: 2, the oldest from …`],
  },
];

const NOT_IN_TREE = 'the root of the entries is not the stored one';
const WRONG_TILE = 'tiles of the log do not match its entries';

const TREE: readonly Tampering[] = [
  {
    name: 'a changed entry',
    change: statement('UPDATE log_entries SET entry = ? WHERE entry_index = 42', UNKNOWN),
    found: () => [
      'entries of the log do not match their tile: entry 42',
      `${NOT_IN_TREE}: ${ORIGIN}`,
      `stored checkpoints that the log does not have: ${ORIGIN}: ${SIZE} entries with root …`,
      `${WRONG_TILE}: tile/1/000.p/1`,
      `${DIFFERS}: …`,
    ],
  },
  {
    name: 'a deleted entry',
    change: statement('DELETE FROM log_entries WHERE entry_index = 42'),
    found: () => [
      'entries of the log cannot be read: entry 0 and those after it',
      'rows without an entry in the log: …',
      `${DIFFERS}: …`,
    ],
  },
  {
    name: 'an entry under the ID of another key',
    async change(logged, { id }) {
      const other = insertedId(id);
      await logged.execute('UPDATE log_entries SET entry_id = ? WHERE entry_id = ?', other, id);
      return undefined;
    },
    found: ({ keyId, id }) => [
      `rows without an entry in the log: ${keyId}`,
      `entries without their row: ${formatKeyId(insertedId(id))}`,
    ],
  },
  {
    name: 'a changed tile',
    change: statement('UPDATE log_tiles SET hashes = ? WHERE level = 0', Buffer.alloc(8_192)),
    found: () => ['entries of the log do not match their tile: entry 0, entry 1, …'],
  },
  {
    name: 'a changed tile of a higher level',
    change: statement('UPDATE log_tiles SET hashes = ? WHERE level = 1', Buffer.alloc(32)),
    found: () => [`${WRONG_TILE}: tile/1/000.p/1`],
  },
  {
    name: 'a deleted tile',
    change: statement('DELETE FROM log_tiles WHERE level = 0'),
    found: () => [`${WRONG_TILE}: tile/0/000`],
  },
];

const UNSEALED = 'heads that no server sealed';

const HEADS: readonly Tampering[] = [
  {
    name: 'a changed root',
    change: statement('UPDATE logs SET root = ?', UNKNOWN),
    found: () => [`${NOT_IN_TREE}: ${ORIGIN}`, `${UNSEALED}: ${ORIGIN}: ${SIZE} entries with …`],
  },
  {
    name: 'an entry that a writer of the database appended, with a tree to match',
    async change(logged) {
      await logged.appendUnsealed(NOW);
      return undefined;
    },
    found: () => [`${UNSEALED}: ${ORIGIN}: ${SIZE + 1} entries with root …`],
  },
  {
    name: 'a changed seal',
    change: statement('UPDATE logs SET head_mac = ?', UNKNOWN),
    found: () => [`${UNSEALED}: ${ORIGIN}: ${SIZE} entries with root …`],
  },
  {
    name: 'a seal under a version that no server has',
    change: statement('UPDATE logs SET head_version = 9'),
    found: () => [`${UNSEALED}: ${ORIGIN}: ${SIZE} entries with root …`],
  },
  {
    name: 'no seal under a version that this secret lacks and servers have',
    async change(logged) {
      await logged.execute('UPDATE logs SET head_version = 2');
      await logged.store.registerSecret(2, Buffer.alloc(32, 2), NOW);
      return undefined;
    },
    found: () => [],
  },
  {
    name: 'no seal without the master secret',
    async change(logged) {
      await logged.execute('UPDATE logs SET head_mac = ?', UNKNOWN);
      return { macs: null };
    },
    found: () => [],
  },
  {
    name: 'a changed checkpoint',
    change: statement(`UPDATE log_checkpoints SET note = replace(note, '${SIZE}', '${SIZE - 1}')`),
    found: () => [`checkpoints without a valid signature of the log: ${ORIGIN}: the signature …`],
  },
  {
    name: 'a checkpoint without one of its signatures',
    async change(logged) {
      const { checkpoint } = await logged.openLog();
      const note = `${checkpoint?.split('\n').slice(0, 5).join('\n')}\n`;
      await logged.execute('UPDATE log_checkpoints SET note = ?', note);
      return undefined;
    },
    found: () => [
      `checkpoints without a valid signature of the log: ${ORIGIN}: no signature with ML-DSA-44`,
    ],
  },
  {
    name: 'a checkpoint of more entries than the log has, though the log signed it',
    async change(logged) {
      const note = signCheckpoint(logged.keys, { size: SIZE + 1, root: UNKNOWN }, 1);
      await logged.execute('UPDATE log_checkpoints SET note = ?', note);
      return undefined;
    },
    found: () => [
      `stored checkpoints that the log does not have: ${ORIGIN}: ${SIZE + 1} entries with root …`,
    ],
  },
  {
    name: 'a cosigned checkpoint of another tree',
    async change(logged) {
      const note = signCheckpoint(logged.keys, { size: 9, root: UNKNOWN }, 1);
      const witnessed = "VALUES (1, 'witnessed', 9, ?)";
      await logged.execute(
        `INSERT INTO log_checkpoints (log_id, kind, size, note) ${witnessed}`,
        note,
      );
      return undefined;
    },
    found: () => [
      `stored checkpoints that the log does not have: ${ORIGIN}: 9 entries with root …`,
    ],
  },
  {
    name: 'a deleted checkpoint',
    change: statement('DELETE FROM log_checkpoints'),
    found: () => [`logs with entries, but without a stored checkpoint: ${ORIGIN}`],
  },
  {
    name: 'a log that one statement closed',
    change: statement('UPDATE logs SET closed_ms = started_ms + 1'),
    found: () => [
      `rows of logs that no server and no command leaves like that: ${ORIGIN} is closed, but no log follows it`,
    ],
  },
  ...(
    [
      [
        'a changed time of the start of a log',
        'started_ms = started_ms + 1',
        'the time of its start',
      ],
      ['changed verifier keys', "verifier_keys = verifier_keys || '\n'", 'its verifier keys'],
    ] as const
  ).map(([name, assignment, what]) => ({
    name,
    change: statement(`UPDATE logs SET ${assignment}`),
    found: () => [
      `logs whose row differs from the audit record of their start: ${ORIGIN}: ${what}`,
    ],
  })),
];

const AUDITS: readonly Tampering[] = [
  {
    name: 'a changed audit record',
    change: statement("UPDATE audit SET details = '{}'"),
    found: () => ['audit records that differ from their entry in the log: log_started …'],
  },
  {
    name: 'a deleted audit record',
    change: statement('DELETE FROM audit'),
    found: () => ['entries without their audit record: entry 0'],
  },
  {
    name: 'a first entry that is passed off as the link to an earlier log',
    async change(logged) {
      const start = "SET entry_id = NULL, kind = 'start' WHERE entry_index = 0";
      await logged.execute(`UPDATE log_entries ${start}`);
      await logged.execute('DELETE FROM audit');
      return undefined;
    },
    found: () => ['entries without a statement: entry 0'],
  },
];

export const TAMPERINGS: readonly Tampering[] = [...ROWS, ...WAITING, ...TREE, ...HEADS, ...AUDITS];

/** A change of the states of two keys. The first is compromised, and was deactivated before; the second expires. */
interface StateChange {
  readonly name: string;
  readonly change: (logged: LoggedStore, revoked: HeldKey, expiring: HeldKey) => Promise<unknown>;
  readonly found: (revoked: HeldKey, expiring: HeldKey) => readonly string[];
}

const NO_STATE = 'revocations that are no state of their key any more';
const OTHER_RECORD = 'revocations that differ from their audit record, or have none';
const OTHER_STATE = 'states of keys that differ from the row of the key';

export const STATE_CHANGES: readonly StateChange[] = [
  {
    name: 'a removed revocation',
    change: (logged, { id }) => logged.execute('DELETE FROM key_states WHERE key_id = ?', id),
    // Both records of the key: of its deactivation, and of its compromise.
    found: ({ keyId }) => [`${NO_STATE}: ${keyId}, ${keyId}`],
  },
  {
    name: 'a weakened revocation',
    change: (logged, { id }) =>
      logged.execute("UPDATE key_states SET state = 'deactivated' WHERE key_id = ?", id),
    found: ({ keyId }) => [`${NO_STATE}: ${keyId}`, `${OTHER_RECORD}: ${keyId}`],
  },
  {
    name: 'an earlier revocation put back',
    change: (logged, { id }) =>
      logged.execute(
        `UPDATE key_states SET (state, reason, revoked_ms, audit_id) = (
           SELECT 'deactivated', 'superseded', at_ms, audit_id FROM audit
           WHERE action = 'key_revoked' ORDER BY at_ms LIMIT 1) WHERE key_id = ?`,
        id,
      ),
    found: ({ keyId }) => [`${NO_STATE}: ${keyId}`],
  },
  {
    name: 'an inserted revocation',
    change: (logged, _, { id }) =>
      logged.execute(
        `UPDATE key_states SET state = 'compromised', reason = 'unspecified', revoked_ms = 7,
           audit_id = (SELECT audit_id FROM audit ORDER BY at_ms DESC LIMIT 1) WHERE key_id = ?`,
        id,
      ),
    found: (_, { keyId }) => [`${OTHER_RECORD}: ${keyId}`],
  },
  {
    name: 'a postponed expiry',
    change: (logged, _, { id }) =>
      logged.execute('UPDATE key_states SET expires_ms = expires_ms + 1 WHERE key_id = ?', id),
    found: (_, { keyId }) => [`${OTHER_STATE}: ${keyId}`],
  },
  {
    name: 'a removed expiry',
    change: (logged, _, { id }) => logged.execute('DELETE FROM key_states WHERE key_id = ?', id),
    found: (_, { keyId }) => [`keys that expire but have no state: ${keyId}`],
  },
  {
    name: 'a state that was moved to another commitment',
    change: (logged, { id }) =>
      logged.execute('UPDATE key_states SET commitment = ? WHERE key_id = ?', UNKNOWN, id),
    found: ({ keyId }) => [`${OTHER_STATE}: ${keyId}`],
  },
  {
    name: 'an expiry that was changed in the row too',
    async change(logged, _, { id }) {
      for (const table of ['ledger', 'key_states']) {
        await logged.execute(
          `UPDATE ${table} SET expires_ms = expires_ms + 1 WHERE key_id = ?`,
          id,
        );
      }
    },
    found: (_, { keyId }) => [`${DIFFERS}: ${keyId}`],
  },
  {
    name: 'changed labels',
    change: (logged, _, { id }) =>
      logged.execute("UPDATE ledger SET labels = '{}' WHERE key_id = ?", id),
    found: (_, { keyId }) => [`${DIFFERS}: ${keyId}`],
  },
];
