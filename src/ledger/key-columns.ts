/**
 * The columns of a key's row, each once. What the stores write and read, the files of `phm export`, the digest of the row
 * and the rows between threads follow from them.
 */
import {
  bytes,
  bytesUpTo,
  type Column,
  INT32_MAX,
  id,
  integer,
  isTorn,
  KEY_ID,
  known,
  labels,
  nullable,
  positionsOf,
  readBytes,
  real,
  SECURITY_LEVEL,
  TIME_MAX,
  text,
  type Value,
} from './column-kinds.ts';
import type { LedgerRow, RecordedRow } from './ledger-row.ts';
import { MAX_FURTHER_SEALS, SEAL_BYTES } from './row-seals.ts';

/** Members of a row that hold several columns. */
export type RowParts = Pick<RecordedRow, 'commitment' | 'evidence' | 'sealed' | 'receipt'>;

type PlacesOf<Row> = {
  [Member in keyof Row & string]: Member extends keyof RowParts
    ? `${Member}.${keyof NonNullable<Row[Member]> & string}`
    : Member;
}[keyof Row & string];

/** Where a row has the value of a column. */
export type Place = Exclude<
  PlacesOf<LedgerRow> | PlacesOf<RecordedRow>,
  'otherCommitments' | 'receipt.pending'
>;

export interface KeyColumn extends Column {
  /** The column of another table; absent for one of `ledger`. */
  readonly source?: string;
  /**
   * How the digest of a row has a column without a value. `null`, the default: as null. `absent`: not at all, so that rows
   * from before the column keep their digests. `never`: the digest has no value either, because the statement has it.
   */
  readonly digest?: 'null' | 'absent' | 'never';
}

/**
 * Length of the p-values in bytes by the definition of the evidence, 4 each: 188, and from the second on
 * 192.
 */
export const P_VALUES_LENGTHS: ReadonlyMap<Value, number> = new Map([
  [1, 752],
  [2, 768],
  [3, 768],
]);
const P_VALUES_BYTES = [...new Set(P_VALUES_LENGTHS.values())];

export const DEFINITION: Column = {
  name: 'evidence_definition',
  kind: 'integer',
  read: (json) => (json === 1 || json === 2 || json === 3 ? json : undefined),
  expected: '1, 2 or 3',
};

export const P_VALUES: Column = {
  name: 'p_values',
  kind: 'bytes',
  read: (json) =>
    P_VALUES_BYTES.map((length) => readBytes(json, length)).find((one) => one !== undefined),
  expected: `${P_VALUES_BYTES.map((length) => 2 * length).join(' or ')} hexadecimal digits, lower-case`,
};

/** The first 64 bits of the commitment, signed. */
const FINGERPRINT: Column = {
  name: 'fingerprint',
  kind: 'int64',
  read: () => undefined,
  expected: 'the first 64 bits of commitment',
};

/**
 * In the order of the files. The compiler asks for the column of each member of a row. A new one is the last, `nullable`, with
 * `digest`, and with `known` instead if programs that do not know it must not work with the row: its version is that of the migration.
 */
const KEY_COLUMNS: Readonly<Record<Place, KeyColumn>> = {
  keyId: KEY_ID,
  'commitment.fingerprint': FINGERPRINT,
  'commitment.digest': bytes('commitment', 32),
  'commitment.version': integer('secret_version', INT32_MAX),
  accountId: id('account_id'),
  apiKeyId: id('api_key_id'),
  securityLevel: SECURITY_LEVEL,
  modulation: text('modulation', 100),
  source: text('source', 100),
  createdMs: integer('created_ms', TIME_MAX),
  latencyUs: integer('latency_us'),
  entropyBits: real('entropy_bits', Number.MAX_VALUE),
  entropyJobId: nullable(text('entropy_job_id', 1_000)),
  'evidence.gateP': nullable(real('gate_p', 1)),
  'evidence.testsPassed': nullable(integer('tests_passed', INT32_MAX)),
  'evidence.totalTests': nullable(integer('total_tests', INT32_MAX)),
  'evidence.definition': nullable(DEFINITION),
  'evidence.pValues': { ...P_VALUES, source: 'validated_keys.p_values' },
  'receipt.keyCommitment': nullable(bytes('key_commitment', 32)),
  'receipt.salt': nullable(bytes('salt', 32)),
  'receipt.strengthBits': nullable(integer('strength_bits', INT32_MAX)),
  'receipt.sources': nullable(text('sources', 1_000)),
  // The statement has the name, and all columns of a seal.
  'receipt.softwareId': { ...nullable(integer('software_id', INT32_MAX)), digest: 'never' },
  'receipt.software': { ...text('software', 1_000), source: 'software.name' },
  'sealed.recipient': { ...nullable(bytes('sealed_to', 32)), digest: 'never' },
  'sealed.digest': { ...nullable(bytes('sealed_digest', 32)), digest: 'never' },
  labels: { ...nullable(labels('labels', 10_000)), digest: 'absent' },
  expiresMs: { ...nullable(integer('expires_ms', TIME_MAX)), digest: 'absent' },
  'sealed.further': {
    ...known(15, bytesUpTo('further_seals', SEAL_BYTES, MAX_FURTHER_SEALS)),
    digest: 'never',
  },
  'sealed.deliveryId': { ...known(16, bytes('delivery_id', 16)), digest: 'never' },
  'sealed.deliveryContext': { ...nullable(bytes('delivery_context', 32)), digest: 'never' },
};

interface PlacedColumn extends KeyColumn {
  readonly place: Place;
  /** Returns the value in a row; null if the row lacks it or its part. */
  readonly valueIn: (row: object) => Value | bigint;
}

const PLACED: readonly PlacedColumn[] = Object.entries(KEY_COLUMNS).map(([name, column]) => {
  const place = name as Place;
  return { ...column, place, valueIn: readerOf(place) };
});

function readerOf(place: Place): PlacedColumn['valueIn'] {
  const [member, inner] = membersOf(place);
  if (inner === undefined) return (row) => (row as Members)[member] ?? null;
  return (row) => (row as Record<string, Members | null>)[member]?.[inner] ?? null;
}

type Members = Readonly<Record<string, Value | bigint>>;

/** Returns the member of the row, and that of its part if the place is in one. */
function membersOf(place: Place): [string, string?] {
  return place.split('.') as [string, string?];
}

/** Columns whose values the request of a key gives, not its row. */
const OF_REQUEST: readonly Place[] = ['accountId', 'apiKeyId'];

/** The columns of a new row. */
export const NEW_COLUMNS: readonly PlacedColumn[] = PLACED.filter(
  ({ place }) => place !== 'receipt.software' && !OF_REQUEST.includes(place),
);

/** The columns of a recorded row. */
export const RECORDED_COLUMNS: readonly PlacedColumn[] = PLACED.filter(
  ({ place }) => place !== 'receipt.softwareId',
);

/** The columns of `ledger` in a file. The fingerprint follows from the commitment. */
export const LEDGER_COLUMNS: readonly Column[] = PLACED.filter(
  ({ source, kind }) => source === undefined && kind !== 'int64',
);

/** Columns of `ledger` that are set together, by position: of a receipt, and of a sealed key. */
const RECEIPT = positionsOf(LEDGER_COLUMNS, 'key_commitment', 'software_id');
const SEAL = positionsOf(LEDGER_COLUMNS, 'sealed_to', 'sealed_digest');
const SHARED = positionsOf(LEDGER_COLUMNS, 'further_seals', 'delivery_context');

/** Returns what is wrong with a row of `ledger` of valid values; undefined if nothing is. */
export function keyMisfit(row: readonly Value[]): string | undefined {
  if (isTorn(row.slice(...RECEIPT))) {
    return 'only some of key_commitment, salt, strength_bits, sources and software_id are set';
  }
  const [sealedTo] = row.slice(...SEAL);
  if (isTorn(row.slice(...SEAL))) return 'only one of sealed_to and sealed_digest is set';
  const [further, deliveryId, context] = row.slice(...SHARED);
  if (sealedTo === null && further !== null) return 'further_seals is set without sealed_to';
  if (sealedTo === null && deliveryId !== null) return 'delivery_id is set without sealed_to';
  return deliveryId === null && context !== null
    ? 'delivery_context is set without delivery_id'
    : undefined;
}

/** Returns a row with these values in all parts, without other commitments and without an entry. */
export function rowOf(toValue: (column: PlacedColumn) => unknown): LedgerRow {
  const row: Record<string, unknown> = { otherCommitments: [], receipt: { pending: null } };
  for (const column of NEW_COLUMNS) {
    const [member, inner] = membersOf(column.place);
    const value = toValue(column);
    row[member] = inner === undefined ? value : { ...(row[member] as object), [inner]: value };
  }
  return row as unknown as LedgerRow;
}
