/** Checks each row by itself and against the accounts, API keys and versions that it names. */

import { MINUTE_MS } from '../../clock.ts';
import { keyIdMs } from '../key-time.ts';
import { writeValue } from '../move/format.ts';
import type { RawRow } from '../move/movable-store.ts';
import { fingerprintOf, hasFingerprint } from '../move/row-values.ts';
import {
  columnsOf,
  keyColumns,
  TABLES,
  type Table,
  type TableName,
  type Value,
} from '../tables.ts';
import { CLOCK_REMEDY, type Findings, unsound } from './findings.ts';

/** A column that only the verification reads, after all others. */
export const EXTRA_COLUMNS: Partial<Record<TableName, string>> = {
  ledger: 'CAST(fingerprint AS text)',
  key_states: 'CAST(fingerprint AS text)',
};

/**
 * How far the time in a key ID may be from the time of its request. A request waits in queues for a minute
 * at most, and a clock may be set in between.
 */
const KEY_TIME_MS = 15 * MINUTE_MS;

/** Checks the rows of all tables, which come in the order of `TABLES`. */
export class RowChecks {
  readonly #findings: Findings;
  readonly #accounts = new Set<string>();
  readonly #deleted = new Set<string>();
  /** Accounts by API key. */
  readonly #apiKeys = new Map<string, string>();
  readonly #versions = new Set<number>();
  readonly #software = new Set<number>();
  readonly #logs = new Set<number>();

  constructor(findings: Findings) {
    this.#findings = findings;
  }

  /** Returns the row with the values' types converted, or undefined if a value is invalid. */
  check(table: TableName, raw: RawRow): readonly Value[] | undefined {
    const columns = columnsOf(table);
    const json = raw.slice(0, columns.length).map(jsonOf);
    const name = nameOf(table, json);
    const row: Value[] = [];
    for (const [i, column] of columns.entries()) {
      const value = column.read(column.kind === 'flag' ? asFlag(json[i]) : json[i]);
      if (value === undefined) {
        this.#findings.add(unsound(`${table}: ${column.name} is not ${column.expected}`), name);
        return undefined;
      }
      row.push(value);
    }
    const misfit = (TABLES[table] as Table).misfit?.(row);
    if (misfit !== undefined) this.#findings.add(unsound(`${table}: ${misfit}`), name);
    this.#checkBetween(table, row, String(raw[columns.length]), name);
    return row;
  }

  #checkBetween(table: TableName, row: readonly Value[], extra: string, name: string): void {
    const found = (problem: string, remedy?: string): void => {
      const kind = unsound(`${table}: ${problem}`);
      this.#findings.add(remedy === undefined ? kind : { ...kind, remedy }, name);
    };
    const read = (column: string): Value | undefined =>
      row[columnsOf(table).findIndex((one) => one.name === column)];
    if (table === 'accounts') this.#noteAccount(read);
    else if (table === 'secret_checks') this.#versions.add(Number(read('version')));
    else if (read('account_id') !== undefined && !this.#accounts.has(String(read('account_id')))) {
      found('account_id names no account');
    }
    if (table === 'software') this.#software.add(Number(read('software_id')));
    if (table === 'logs') this.#logs.add(Number(read('log_id')));
    else if (read('log_id') !== undefined && !this.#logs.has(Number(read('log_id')))) {
      found('log_id names no log');
    }
    if (table === 'api_keys') this.#checkApiKey(read, found);
    if (table === 'recipients' && this.#deleted.has(String(read('account_id')))) {
      found('the account of a recipient is deleted');
    }
    if (table === 'api_key_usage' && !this.#apiKeys.has(String(read('api_key_id')))) {
      found('api_key_id names no API key');
    }
    if (table === 'rollup_minute' || table === 'rollup_hour') checkSums(read, found);
    if (hasFingerprint(table)) this.#checkCommitment(row, read, extra, found);
    if (table === 'ledger') this.#checkKey(read, found);
  }

  #noteAccount(read: (column: string) => Value | undefined): void {
    const accountId = String(read('account_id'));
    this.#accounts.add(accountId);
    if (read('deleted_ms') !== null) this.#deleted.add(accountId);
  }

  #checkApiKey(
    read: (column: string) => Value | undefined,
    found: (problem: string) => void,
  ): void {
    const accountId = String(read('account_id'));
    this.#apiKeys.set(String(read('api_key_id')), accountId);
    if (read('revoked_ms') === null && this.#deleted.has(accountId)) {
      found('the account of an active API key is deleted');
    }
  }

  #checkCommitment(
    row: readonly Value[],
    read: (column: string) => Value | undefined,
    fingerprint: string,
    found: (problem: string) => void,
  ): void {
    if (String(fingerprintOf(row)) !== fingerprint) {
      found('fingerprint is not the first 64 bits of the commitment');
    }
    if (!this.#versions.has(Number(read('secret_version')))) {
      found('secret_version is not a registered version of the master secret');
    }
  }

  #checkKey(
    read: (column: string) => Value | undefined,
    found: (problem: string, remedy?: string) => void,
  ): void {
    const madeMs = keyIdMs(read('key_id') as Uint8Array);
    if (Math.abs(madeMs - Number(read('created_ms'))) > KEY_TIME_MS) {
      found('created_ms differs from the time in the key ID by more than 15 minutes', CLOCK_REMEDY);
    }
    if (this.#apiKeys.get(String(read('api_key_id'))) !== read('account_id')) {
      found('api_key_id names no API key of the account');
    }
    const software = read('software_id') ?? null;
    if (software !== null && !this.#software.has(Number(software))) {
      found('software_id names no software');
    }
    const evidence = ['gate_p', 'tests_passed', 'total_tests'].map((column) => read(column));
    if (new Set(evidence.map((value) => value === null)).size > 1) {
      found('only some of gate_p, tests_passed and total_tests are set');
    } else if (Number(evidence[1]) > Number(evidence[2])) {
      found('tests_passed exceeds total_tests');
    }
  }
}

/**
 * Checks one row of sums. Servers of old releases count no latencies, so the list may cover fewer than all
 * keys.
 */
function checkSums(
  read: (column: string) => Value | undefined,
  found: (problem: string) => void,
): void {
  const number = (column: string): number => Number(read(column));
  if (number('keys') > number('metered')) found('keys exceed metered');
  if (number('streams_passed') > number('streams')) found('streams_passed exceed streams');
  const counts = String(read('latency_counts') ?? '0').split(',');
  const counted = counts.reduce((sum, one) => sum + Number(one), 0);
  if (counted > number('keys')) found('latency_counts exceed keys');
}

function jsonOf(value: RawRow[number] | undefined): unknown {
  if (typeof value !== 'bigint') return writeValue(value ?? null);
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
}

/** SQLite keeps flags as 0 and 1. */
function asFlag(json: unknown): unknown {
  if (json === 0 || json === 1) return json === 1;
  return json;
}

/** Returns the row's primary key, with a key ID as clients see it. A damaged value may hold anything. */
function nameOf(table: TableName, json: readonly unknown[]): string {
  return keyColumns(table)
    .map((column, i) => {
      const text = String(json[i]);
      if (column === 'key_id' && /^[0-9a-f]{32}$/.test(text)) return `phm_${BigInt(`0x${text}`)}`;
      return text.replace(/[^\x20-\x7e]/g, '?').slice(0, 80);
    })
    .join(' ');
}
