/**
 * The file format of a move, newline-delimited JSON:
 *
 *   {"format":"phm-ledger","version":6,"taken_at":…,"rows":{"accounts":2,…}}     the header
 *   {"table":"accounts","columns":["account_id",…]}                              then, for each table,
 *   ["acct_1",…]                                                                 a line for each row
 *   {"end":"phm-ledger","rows":{"accounts":2,…},"sha256":…}                      the trailer
 *
 * Files of version 1 have no tables of the transparency log. Those of version 2 have no recipients and no idempotency
 * records, those of version 3 no states of keys, those of version 4 no usage of API keys, and those of version 5 no
 * deliveries.
 *
 * `sha256` covers all lines before the trailer. It detects damage; it is not a signature. Bytes are
 * lower-case hexadecimal.
 */
import { type RowCounts, TABLE_NAMES, type Value } from '../tables.ts';

export const FORMAT = 'phm-ledger';
export const FORMAT_VERSION = 6;

/** The oldest version that can be read. */
export const OLDEST_VERSION = 1;

/** Limit of the length of a line, with its line end. The longest one holds a body of 4 MiB as a string. */
export const MAX_LINE_BYTES = 2 ** 24;

export interface Header {
  readonly format: typeof FORMAT;
  readonly version: typeof FORMAT_VERSION;
  /** When the snapshot was taken, ISO 8601. */
  readonly taken_at: string;
  readonly rows: RowCounts;
}

export interface Trailer {
  readonly end: typeof FORMAT;
  readonly rows: RowCounts;
  readonly sha256: string;
}

export function writeValue(value: Value): string | number | boolean | null {
  return value instanceof Uint8Array
    ? Buffer.from(value.buffer, value.byteOffset, value.length).toString('hex')
    : value;
}

/** Returns true if both hold the same number of rows for every table. */
export function sameCounts(one: RowCounts, other: RowCounts): boolean {
  return TABLE_NAMES.every((table) => one[table] === other[table]);
}

export function noRows(): RowCounts {
  return Object.fromEntries(TABLE_NAMES.map((table) => [table, 0])) as RowCounts;
}
