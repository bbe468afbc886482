/** What a column of the ledger is, and the check of each value that comes from outside, as in a move. `key-columns.ts` and `tables.ts` have the columns. */
import { keyIdMs } from './key-time.ts';
import { LATENCY_BUCKETS } from './latency.ts';

export type Value = string | number | boolean | Uint8Array | null;

export interface Column {
  readonly name: string;
  /** `int64`: an integer that a number cannot hold. */
  readonly kind: 'text' | 'integer' | 'real' | 'flag' | 'bytes' | 'int64';
  /** Converts a JSON value; returns undefined if it is not what `expected` describes. */
  readonly read: (json: unknown) => Value | undefined;
  readonly expected: string;
  /** The value of rows from files older than the column. A column without it must be in every file. */
  readonly absent?: Value;
  /**
   * The schema version that programs must know to work with a row whose value differs from `absent`; without it, those of the
   * baseline can. `needed-program.ts` reads it.
   */
  readonly needs?: number;
  /** True if the sums of the column are compared after a move. */
  readonly summed?: true;
}

export const INT32_MAX = 2 ** 31 - 1;

/** The last millisecond of the year 9999. */
export const TIME_MAX = 253_402_300_799_999;

export function id(name: string): Column {
  return token(name, 100);
}

/** Visible ASCII characters. */
export function token(name: string, longest: number): Column {
  return {
    name,
    kind: 'text',
    read: (json) =>
      typeof json === 'string' && json.length <= longest && /^[\x21-\x7e]+$/.test(json)
        ? json
        : undefined,
    expected: `1 to ${longest} ASCII characters without spaces`,
  };
}

export function text(name: string, longest: number): Column {
  return {
    name,
    kind: 'text',
    read: (json) => (typeof json === 'string' && isPrintable(json, longest) ? json : undefined),
    expected: `1 to ${longest} printable characters`,
  };
}

/** Text of one line or more. */
export function lines(name: string, longest: number): Column {
  return {
    name,
    kind: 'text',
    read: (json) =>
      typeof json === 'string' && isPrintable(json.replaceAll('\n', ' '), longest)
        ? json
        : undefined,
    expected: `1 to ${longest} printable characters and line ends`,
  };
}

export function oneOf(name: string, values: readonly string[]): Column {
  return {
    name,
    kind: 'text',
    read: (json) => (typeof json === 'string' && values.includes(json) ? json : undefined),
    expected: `one of ${values.join(', ')}`,
  };
}

/** A text that fulfils a condition. */
export function matching(
  name: string,
  condition: (text: string) => boolean,
  expected: string,
): Column {
  return {
    name,
    kind: 'text',
    read: (json) => (typeof json === 'string' && condition(json) ? json : undefined),
    expected,
  };
}

export function integer(name: string, largest = Number.MAX_SAFE_INTEGER): Column {
  return {
    name,
    kind: 'integer',
    read: (json) =>
      Number.isSafeInteger(json) && Number(json) >= 0 && Number(json) <= largest
        ? Number(json)
        : undefined,
    expected: `a whole number from 0 to ${largest}`,
  };
}

export function summed(name: string): Column {
  return { ...integer(name), summed: true };
}

export function real(name: string, largest: number): Column {
  return {
    name,
    kind: 'real',
    read: (json) => (typeof json === 'number' && json >= 0 && json <= largest ? json : undefined),
    expected: `a number from 0 to ${largest}`,
  };
}

export function flag(name: string): Column {
  return {
    name,
    kind: 'flag',
    read: (json) => (typeof json === 'boolean' ? json : undefined),
    expected: 'true or false',
  };
}

export function bytes(name: string, length: number): Column {
  return {
    name,
    kind: 'bytes',
    read: (json) => readBytes(json, length),
    expected: `${2 * length} hexadecimal digits, lower-case`,
  };
}

/** A canonical JSON object of strings, as `LedgerRow.labels`. */
export function labels(name: string, longest: number): Column {
  return {
    name,
    kind: 'text',
    read: (json) =>
      typeof json === 'string' && json.length <= longest && isLabels(json) ? json : undefined,
    expected: `a JSON object of strings, at most ${longest} characters`,
  };
}

function isLabels(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject && Object.values(value).every((one) => typeof one === 'string');
  } catch {
    return false;
  }
}

/** Bytes in units of this length, 1 to `most` of them. */
export function bytesUpTo(name: string, unit: number, most: number): Column {
  return {
    name,
    kind: 'bytes',
    read: (json) => {
      const length = typeof json === 'string' ? json.length / 2 : 0;
      const fits = length > 0 && length <= unit * most && length % unit === 0;
      return fits ? readBytes(json, length) : undefined;
    },
    expected: `1 to ${most} times ${2 * unit} hexadecimal digits, lower-case`,
  };
}

export function nullable(column: Column, absent: Value = null): Column {
  return {
    ...column,
    absent,
    read: (json) => (json === null ? null : column.read(json)),
    expected: `${column.expected}, or null`,
  };
}

/** A nullable column whose values only programs of this schema version and later ones understand. */
export function known(needs: number, column: Column): Column {
  return { ...nullable(column), needs };
}

export function readBytes(json: unknown, length: number): Buffer | undefined {
  if (typeof json !== 'string' || json.length !== 2 * length || !/^[0-9a-f]*$/.test(json)) {
    return undefined;
  }
  return Buffer.from(json, 'hex');
}

function isPrintable(value: string, longest: number): boolean {
  return value !== '' && value.length <= longest && value.isWellFormed() && !/\p{Cc}/u.test(value);
}

function isCounts(value: string): boolean {
  const counts = value.split(',');
  return (
    counts.length <= LATENCY_BUCKETS && counts.every((one) => /^(?:0|[1-9]\d{0,11})$/.test(one))
  );
}

function isKeyId(keyId: Buffer): boolean {
  return (keyId[6] ?? 0) >> 4 === 7 && keyIdMs(keyId) <= TIME_MAX;
}

export const KEY_ID: Column = {
  ...bytes('key_id', 16),
  read: (json) => {
    const id = readBytes(json, 16);
    return id && isKeyId(id) ? id : undefined;
  },
  expected: '32 hexadecimal digits, lower-case, a UUIDv7 of a year up to 9999',
};

export const SECURITY_LEVEL: Column = {
  name: 'security_level',
  kind: 'integer',
  read: (json) => (json === 128 || json === 256 || json === 384 ? json : undefined),
  expected: '128, 256 or 384',
};

/** Hashes of a tile: 1 to 256. */
export const HASHES: Column = {
  name: 'hashes',
  kind: 'bytes',
  read: (json) => {
    const length = typeof json === 'string' ? json.length / 2 : 0;
    const isTile = length > 0 && length <= 8_192 && length % 32 === 0;
    return isTile ? readBytes(json, length) : undefined;
  },
  expected: '1 to 256 hashes of 64 hexadecimal digits, lower-case',
};

export const COUNTS: Column = {
  name: 'latency_counts',
  kind: 'text',
  read: (json) => (typeof json === 'string' && isCounts(json) ? json : undefined),
  expected: `1 to ${LATENCY_BUCKETS} whole numbers separated by commas`,
};

/** Returns the positions of consecutive columns for `slice`. Throws `RangeError` for a name that none has. */
export function positionsOf(
  columns: readonly Column[],
  first: string,
  last: string,
): [number, number] {
  const positionOf = (of: string) => {
    const position = columns.findIndex(({ name }) => name === of);
    if (position === -1) throw new RangeError(`there is no column "${of}"`);
    return position;
  };
  return [positionOf(first), positionOf(last) + 1];
}

/** Reports whether only some of the values are set. */
export function isTorn(values: readonly Value[]): boolean {
  const set = values.filter((value) => value !== null).length;
  return set > 0 && set < values.length;
}
