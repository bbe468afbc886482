/**
 * The tables that a move takes along, the same for both stores. A column added by a migration is one line here, with its
 * value for rows from older files; one of `ledger` is a line of `key-columns.ts`.
 */
import { ERASED_NAME } from './account-states.ts';
import { isRangeList, isRecipientList, isScopeList, MAX_API_KEY_NAME } from './api-keys.ts';
import {
  bytes,
  bytesUpTo,
  COUNTS,
  type Column,
  flag,
  HASHES,
  INT32_MAX,
  id,
  integer,
  isTorn,
  KEY_ID,
  known,
  lines,
  matching,
  nullable,
  oneOf,
  positionsOf,
  real,
  summed,
  TIME_MAX,
  text,
  token,
  type Value,
} from './column-kinds.ts';
import { COPY_STATES, type CopyState, isInBox } from './deliveries.ts';
import {
  DEFINITION,
  keyMisfit,
  LEDGER_COLUMNS,
  P_VALUES,
  P_VALUES_LENGTHS,
} from './key-columns.ts';
import { REVOCATION_REASONS, REVOKED_STATES } from './key-records.ts';
import { SEALED_ONLY } from './store.ts';

export type { Column, Value } from './column-kinds.ts';

export interface Table {
  /** All columns. The first `keyLength` form the primary key, which orders the rows. */
  readonly columns: readonly Column[];
  readonly keyLength: number;
  /** The version of the format that brought the table. Files of earlier ones, and databases, may lack it. */
  readonly since?: number;
  /** How many short rows count as one of this table, if its rows are long. */
  readonly weight?: number;
  /** Returns what is wrong with a row of valid values; undefined if nothing is. */
  readonly misfit?: (row: readonly Value[]) => string | undefined;
}

/** Limit of the length of a checkpoint with its signatures (c2sp.org/signed-note has none). */
const MAX_NOTE = 2 ** 20;

/** Weight of rows of up to 8 KiB, and of rows that may hold a body. */
const WIDE = 50;
const HUGE = 500;

/** Limits of an idempotency record. The ledger's callers keep to them. */
const MAX_BODY = 4 * 2 ** 20;
const MAX_KEYS = 1_000;

type Part = (row: readonly Value[]) => readonly Value[];

/** Columns of `key_states` that are set together: those of a revocation. */
const revocationIn: Part = partOf('key_states', 'state', 'audit_id');

/** What `delivery_copies` says of a copy. */
const copyIn: Part = partOf('delivery_copies', 'state', 'sealed_key');

/** The state of an account. */
const stateIn: Part = partOf('accounts', 'suspended_ms', 'state_audit_id');

/** Limit of a sealed key as a JSON text: with `ML-KEM-1024` and eight recipients it has some 5,000 characters. */
const MAX_SEALED_KEY = 16_384;

const LOG_ID = integer('log_id', INT32_MAX);

const PENDING_COLUMNS = [
  LOG_ID,
  oneOf('kind', ['key', 'audit']),
  bytes('entry', 32),
  bytes('mac', 32),
  integer('secret_version', INT32_MAX),
];

const ROLLUP: Table = {
  keyLength: 2,
  columns: [
    id('account_id'),
    integer('period', TIME_MAX),
    summed('keys'),
    summed('latency_us'),
    summed('streams'),
    summed('streams_passed'),
    summed('metered'),
    summed('failures'),
    nullable(COUNTS),
  ],
};

/** In the order of a file: a table comes before those that refer to it. */
export const TABLES = {
  accounts: {
    keyLength: 1,
    columns: [
      id('account_id'),
      text('name', 200),
      text('plan', 100),
      flag('demo'),
      integer('created_ms', TIME_MAX),
      { ...oneOf('sealed_only', SEALED_ONLY), absent: 'off' },
      nullable(integer('suspended_ms', TIME_MAX)),
      nullable(integer('deleted_ms', TIME_MAX)),
      nullable(bytes('state_audit_id', 16)),
    ],
    misfit: (row) => {
      const [suspended, deleted, audit] = stateIn(row);
      if (suspended !== null && deleted !== null) return 'suspended_ms and deleted_ms are both set';
      if ((suspended ?? deleted) !== null && audit === null) return 'state_audit_id is missing';
      if (deleted !== null && row[1] !== ERASED_NAME) return 'a deleted account has a name';
      return undefined;
    },
  },
  api_keys: {
    keyLength: 1,
    columns: [
      id('api_key_id'),
      id('account_id'),
      bytes('key_hash', 32),
      text('hint', 100),
      integer('created_ms', TIME_MAX),
      nullable(integer('revoked_ms', TIME_MAX)),
      nullable(text('name', MAX_API_KEY_NAME)),
      nullable(matching('scopes', isScopeList, 'a list of scopes')),
      nullable(integer('expires_ms', TIME_MAX)),
      nullable(matching('address_ranges', isRangeList, 'a list of address ranges')),
      nullable(real('rate_per_second', Number.MAX_VALUE)),
      nullable(integer('burst', INT32_MAX)),
      nullable(integer('monthly_limit')),
      nullable(integer('last_used_hour', INT32_MAX)),
      nullable(id('replaced_by')),
      nullable(id('counter_id')),
      known(16, matching('recipients', isRecipientList, 'a list of names')),
    ],
  },
  usage: {
    keyLength: 2,
    columns: [id('account_id'), integer('month', INT32_MAX), summed('used')],
  },
  secret_checks: {
    keyLength: 1,
    columns: [
      integer('version', INT32_MAX),
      bytes('check_value', 32),
      integer('registered_ms', TIME_MAX),
      nullable(integer('activated_ms', TIME_MAX), 0),
      nullable(integer('retired_ms', TIME_MAX)),
      nullable(integer('compromised_ms', TIME_MAX)),
    ],
  },
  rollup_minute: ROLLUP,
  rollup_hour: ROLLUP,
  software: {
    keyLength: 1,
    since: 2,
    columns: [integer('software_id', INT32_MAX), text('name', 1_000)],
  },
  ledger: {
    keyLength: 1,
    columns: LEDGER_COLUMNS,
    misfit: keyMisfit,
  },
  validated_keys: {
    keyLength: 2,
    since: 2,
    columns: [id('account_id'), KEY_ID, P_VALUES, { ...DEFINITION, absent: 1 }],
    // Such a row would make the account's metrics unreadable.
    misfit: ([, , pValues, definition]) => {
      const length = P_VALUES_LENGTHS.get(definition ?? null);
      if (!(pValues instanceof Uint8Array) || pValues.length === length) return undefined;
      return `p_values must have ${2 * (length ?? 0)} hexadecimal digits with definition ${definition} of the evidence`;
    },
  },
  logs: {
    keyLength: 1,
    since: 2,
    columns: [
      LOG_ID,
      text('origin', 255),
      lines('verifier_keys', 20_000),
      integer('started_ms', TIME_MAX),
      nullable(integer('closed_ms', TIME_MAX)),
      integer('size'),
      bytes('root', 32),
      bytes('head_mac', 32),
      integer('head_version', INT32_MAX),
    ],
  },
  log_checkpoints: {
    keyLength: 2,
    since: 2,
    weight: WIDE,
    columns: [
      LOG_ID,
      oneOf('kind', ['checkpoint', 'witnessed']),
      integer('size'),
      lines('note', MAX_NOTE),
    ],
  },
  log_entries: {
    keyLength: 2,
    since: 2,
    columns: [
      LOG_ID,
      integer('entry_index'),
      bytes('entry', 32),
      nullable(bytes('entry_id', 16)),
      oneOf('kind', ['key', 'audit', 'start', 'recovered']),
    ],
  },
  log_tiles: {
    keyLength: 3,
    since: 2,
    weight: WIDE,
    columns: [LOG_ID, integer('level', 7), integer('tile_index'), HASHES],
  },
  log_pending: {
    keyLength: 1,
    since: 2,
    columns: [bytes('entry_id', 16), ...PENDING_COLUMNS],
  },
  log_set_aside: {
    keyLength: 1,
    since: 2,
    columns: [
      bytes('set_aside_id', 16),
      bytes('entry_id', 16),
      ...PENDING_COLUMNS,
      integer('noted_ms', TIME_MAX),
    ],
  },
  audit: {
    keyLength: 1,
    since: 2,
    columns: [
      bytes('audit_id', 16),
      integer('at_ms', TIME_MAX),
      text('action', 100),
      text('details', 100_000),
      bytes('salt', 32),
    ],
  },
  recipients: {
    keyLength: 2,
    since: 3,
    columns: [
      id('account_id'),
      text('name', 200),
      text('suite', 100),
      bytesUpTo('public_key', 1, 4_096),
      integer('created_ms', TIME_MAX),
    ],
  },
  idempotency: {
    keyLength: 2,
    since: 3,
    weight: HUGE,
    columns: [
      id('account_id'),
      token('idempotency_key', 255),
      integer('made_ms', TIME_MAX),
      bytes('request_hash', 32),
      bytesUpTo('key_ids', 16, MAX_KEYS),
      integer('created_ms', TIME_MAX),
      nullable(lines('body', MAX_BODY)),
    ],
  },
  key_states: {
    keyLength: 1,
    since: 4,
    // Without the fingerprint, as `ledger`.
    columns: [
      KEY_ID,
      bytes('commitment', 32),
      id('account_id'),
      integer('secret_version', INT32_MAX),
      nullable(integer('expires_ms', TIME_MAX)),
      nullable(oneOf('state', REVOKED_STATES)),
      nullable(oneOf('reason', REVOCATION_REASONS)),
      nullable(integer('revoked_ms', TIME_MAX)),
      nullable(bytes('audit_id', 16)),
    ],
    misfit: (row) => {
      const revocation = revocationIn(row);
      if (isTorn(revocation)) return 'only some of state, reason, revoked_ms and audit_id are set';
      if (revocation[0] === null && row[4] === null) return 'neither expires_ms nor state is set';
      return undefined;
    },
  },
  api_key_usage: {
    keyLength: 2,
    since: 5,
    columns: [id('api_key_id'), integer('month', INT32_MAX), integer('used')],
  },
  deliveries: {
    keyLength: 2,
    since: 6,
    columns: [
      id('account_id'),
      { ...bytes('delivery_id', 16), absent: null, needs: 16 },
      KEY_ID,
      integer('until_ms', TIME_MAX),
    ],
  },
  delivery_copies: {
    keyLength: 3,
    since: 6,
    weight: WIDE,
    columns: [
      id('account_id'),
      bytes('delivery_id', 16),
      text('recipient', 200),
      KEY_ID,
      oneOf('state', COPY_STATES),
      integer('until_ms', TIME_MAX),
      nullable(integer('received_ms', TIME_MAX)),
      integer('size', INT32_MAX),
      nullable(text('sealed_key', MAX_SEALED_KEY)),
    ],
    misfit: (row) => {
      const [state, , , size, sealedKey] = copyIn(row);
      const holds = sealedKey !== null;
      if (isInBox(state as CopyState) !== holds) return 'sealed_key does not fit state';
      return holds && String(sealedKey).length !== size
        ? 'size is not that of sealed_key'
        : undefined;
    },
  },
} as const satisfies Record<string, Table>;

export type TableName = keyof typeof TABLES;

export const TABLE_NAMES = Object.keys(TABLES) as TableName[];

/** Rows by table. */
export type RowCounts = Record<TableName, number>;

export function columnsOf(table: TableName): readonly Column[] {
  return TABLES[table].columns;
}

/** Returns a function that takes consecutive columns of a table from a row. Their positions are found at the first call. */
function partOf(table: TableName, first: string, last: string): Part {
  let positions: [number, number] | undefined;
  return (row) => {
    positions ??= positionsOf(columnsOf(table), first, last);
    return row.slice(...positions);
  };
}

/** Rows of a table to hold at a time, `most` if they are short. */
export function batchRows(table: TableName, most: number): number {
  return Math.ceil(most / ((TABLES[table] as Table).weight ?? 1));
}

/** Reports whether files of a version of the format may lack the table. */
export function mayBeAbsent(table: TableName, version: number): boolean {
  return ((TABLES[table] as Table).since ?? 0) > version;
}

/** Returns the names of the primary key's columns. */
export function keyColumns(table: TableName): string[] {
  return columnsOf(table)
    .slice(0, TABLES[table].keyLength)
    .map(({ name }) => name);
}

/** Returns the position of the account column, by which sums are grouped; -1 for a table without one. */
export function accountColumn(table: TableName): number {
  return columnsOf(table).findIndex(({ name }) => name === 'account_id');
}

/** Returns ID and plan of a row of `accounts`. The plan of a deleted account is null: no request needs it. */
export function accountOf(row: readonly Value[]): { accountId: string; plan: string | null } {
  const [, deletedMs] = stateIn(row);
  return { accountId: String(row[0]), plan: deletedMs === null ? String(row[2]) : null };
}
