/**
 * The tables of a move, the same for both stores. A column added by a migration is one line here, with its
 * value for rows from older files.
 */

import {
  bytes,
  COUNTS,
  type Column,
  flag,
  HASHES,
  INT32_MAX,
  id,
  integer,
  KEY_ID,
  lines,
  nullable,
  oneOf,
  readBytes,
  real,
  SECURITY_LEVEL,
  summed,
  TIME_MAX,
  text,
  type Value,
} from './columns.ts';

export type { Column, Value } from './columns.ts';

export interface Table {
  /** All columns. The first `keyLength` form the primary key, which orders the rows. */
  readonly columns: readonly Column[];
  readonly keyLength: number;
  /** True if files of version 1 of the format, and databases of earlier releases, may lack the table. */
  readonly absent?: true;
  /** True for rows of several kilobytes, of which fewer are held at a time. */
  readonly isWide?: true;
  /** Returns what is wrong with a row of valid values; undefined if nothing is. */
  readonly misfit?: (row: readonly Value[]) => string | undefined;
}

/** Limit of the length of a checkpoint with its signatures (c2sp.org/signed-note has none). */
const MAX_NOTE = 2 ** 20;

/** How many short rows count as one wide row. */
const WIDE_SHARE = 50;

/**
 * Length of the p-values in bytes by the definition of the evidence, 4 each: 188, and from the second on
 * 192.
 */
const P_VALUES_LENGTHS: ReadonlyMap<Value, number> = new Map([
  [1, 752],
  [2, 768],
]);
const P_VALUES_BYTES = [...P_VALUES_LENGTHS.values()];

const DEFINITION: Column = {
  name: 'evidence_definition',
  kind: 'integer',
  read: (json) => (json === 1 || json === 2 ? json : undefined),
  expected: '1 or 2',
};

const P_VALUES: Column = {
  name: 'p_values',
  kind: 'bytes',
  read: (json) =>
    P_VALUES_BYTES.map((length) => readBytes(json, length)).find((one) => one !== undefined),
  expected: `${P_VALUES_BYTES.map((length) => 2 * length).join(' or ')} hexadecimal digits, lower-case`,
};

/** Position of the first receipt column of `ledger`. The others follow it. */
const RECEIPT_START = 16;

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
    ],
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
    absent: true,
    columns: [integer('software_id', INT32_MAX), text('name', 1_000)],
  },
  ledger: {
    keyLength: 1,
    // Without the fingerprint, which is the first 64 bits of the commitment.
    columns: [
      KEY_ID,
      bytes('commitment', 32),
      integer('secret_version', INT32_MAX),
      id('account_id'),
      id('api_key_id'),
      SECURITY_LEVEL,
      text('modulation', 100),
      text('source', 100),
      integer('created_ms', TIME_MAX),
      integer('latency_us'),
      real('entropy_bits', Number.MAX_VALUE),
      nullable(text('entropy_job_id', 1_000)),
      nullable(real('gate_p', 1)),
      nullable(integer('tests_passed', INT32_MAX)),
      nullable(integer('total_tests', INT32_MAX)),
      nullable(DEFINITION),
      nullable(bytes('key_commitment', 32)),
      nullable(bytes('salt', 32)),
      nullable(integer('strength_bits', INT32_MAX)),
      nullable(text('sources', 1_000)),
      nullable(integer('software_id', INT32_MAX)),
    ],
    misfit: (row) => {
      const set = row.slice(RECEIPT_START).filter((value) => value !== null).length;
      if (set === 0 || set === row.length - RECEIPT_START) return undefined;
      return 'only some of key_commitment, salt, strength_bits, sources and software_id are set';
    },
  },
  validated_keys: {
    keyLength: 2,
    absent: true,
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
    absent: true,
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
    absent: true,
    isWide: true,
    columns: [
      LOG_ID,
      oneOf('kind', ['checkpoint', 'witnessed']),
      integer('size'),
      lines('note', MAX_NOTE),
    ],
  },
  log_entries: {
    keyLength: 2,
    absent: true,
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
    absent: true,
    isWide: true,
    columns: [LOG_ID, integer('level', 7), integer('tile_index'), HASHES],
  },
  log_pending: {
    keyLength: 1,
    absent: true,
    columns: [bytes('entry_id', 16), ...PENDING_COLUMNS],
  },
  log_set_aside: {
    keyLength: 1,
    absent: true,
    columns: [
      bytes('set_aside_id', 16),
      bytes('entry_id', 16),
      ...PENDING_COLUMNS,
      integer('noted_ms', TIME_MAX),
    ],
  },
  audit: {
    keyLength: 1,
    absent: true,
    columns: [
      bytes('audit_id', 16),
      integer('at_ms', TIME_MAX),
      text('action', 100),
      text('details', 100_000),
      bytes('salt', 32),
    ],
  },
} as const satisfies Record<string, Table>;

export type TableName = keyof typeof TABLES;

export const TABLE_NAMES = Object.keys(TABLES) as TableName[];

/** Rows by table. */
export type RowCounts = Record<TableName, number>;

export function columnsOf(table: TableName): readonly Column[] {
  return TABLES[table].columns;
}

/** Rows of a table to hold at a time, `most` if they are short. */
export function batchRows(table: TableName, most: number): number {
  return (TABLES[table] as Table).isWide ? Math.ceil(most / WIDE_SHARE) : most;
}

/** Reports whether an earlier release lacks the table. */
export function mayBeAbsent(table: TableName): boolean {
  return (TABLES[table] as Table).absent === true;
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

/** Returns the fingerprint of a ledger row: the first 64 bits of its commitment, signed. */
export function fingerprintOf(row: readonly Value[]): bigint {
  const [, commitment] = row as [unknown, Uint8Array];
  return new DataView(commitment.buffer, commitment.byteOffset).getBigInt64(0);
}
