/**
 * Compares the rows of the ledger with the entries of its logs, in both directions: each row made since the log began
 * must have the entry that its statement hashes to, and each entry must have its row, unless it was pruned.
 */
import { formatKeyId, keyEntry } from '../keys/terms.ts';
import type { FindingKind, Findings } from '../ledger/admin.ts';
import {
  keyIdMs,
  type LedgerStore,
  type LogEntry,
  type LogPosition,
  type LogRecord,
  type RecordedRow,
} from '../ledger/index.ts';
import type { LogMacKeys } from '../proof/index.ts';
import { checkAudits, type EntryRange, type LogStartFacts } from './audits-check.ts';
import { EntryReader, makes } from './entry-reader.ts';
import { checkExpiries, checkStates } from './states-check.ts';
import { MADE_UP, WaitingEntries } from './waiting-entries.ts';

interface RowsOrder {
  readonly store: LedgerStore;
  /** All logs of the database. */
  readonly logs: readonly LogRecord[];
  readonly findings: Findings;
  /** Rows without a statement are findings from this time on; null: from the first logged key on. */
  readonly sinceMs: number | null;
  /** Keys for MACs of waiting entries; null without the master secret. */
  readonly macs: LogMacKeys | null;
  readonly signal: AbortSignal;
  readonly onProgress: (part: string, count: number) => void;
}

/** Counts of rows and entries. */
export interface RowsReport {
  /** Rows whose entry was compared. */
  logged: number;
  /** Rows whose entry waits for its turn. */
  pending: number;
  /** Rows that were made before the log. */
  older: number;
  /** Entries whose row was pruned. */
  pruned: number;
  /** Entries that were recovered from a copy: their statements are gone. */
  recovered: number;
  /** Audit records whose entry was compared. */
  audits: number;
  /** For each log that says so in its audit record: the last checkpoint of the log before it, without signatures. */
  readonly follows: Map<number, string>;
  /** What the audit records state about the start of each log. */
  readonly starts: Map<number, LogStartFacts>;
}

const PAGE = 1_000;

const INSERTED: FindingKind = {
  problem: 'rows without an entry in the log',
  remedy:
    'The service did not record these keys: the rows were inserted, or the log set their entries aside.',
};
const UNSTATED: FindingKind = {
  problem: 'rows without a statement',
  remedy:
    'These rows were inserted, or a server without the keys of the log made them. If that explains all of them, ' +
    'give the time at which it ended with --since.',
};
const CHANGED: FindingKind = {
  problem: 'rows that differ from their entry in the log',
  remedy: 'These rows were changed. Restore them from a backup.',
};
const DELETED: FindingKind = {
  problem: 'entries without their row',
  remedy:
    'The rows of these keys were deleted, although no pruning reached them. Restore them from a backup. If "phm ledger ' +
    'prune" has just run, check again once the log has its record.',
};
const NO_STATEMENT: FindingKind = {
  problem: 'entries without a statement',
  remedy:
    'Neither a recovery from a copy nor the start of a log explains them: the record of what they state was removed.',
};
const AUDIT_DELETED: FindingKind = {
  problem: 'entries without their audit record',
  remedy: 'These records were deleted. Restore them from a backup.',
};

/** Checks rows, audit records and entries, in this order: a row that appears meanwhile has its entry already. */
export async function checkRows(order: RowsOrder): Promise<RowsReport> {
  const report = {
    logged: 0,
    pending: 0,
    older: 0,
    pruned: 0,
    recovered: 0,
    audits: 0,
    follows: new Map(),
    starts: new Map(),
  };
  const check = new RowsCheck(order, report);
  await check.rows();
  await check.entries();
  await checkStates(order);
  return report;
}

class RowsCheck {
  readonly #order: RowsOrder;
  readonly #report: RowsReport;
  readonly #origins: ReadonlyMap<number, string>;
  readonly #entries: EntryReader;

  constructor(order: RowsOrder, report: RowsReport) {
    this.#order = order;
    this.#report = report;
    this.#origins = new Map(order.logs.map(({ logId, origin }) => [logId, origin]));
    this.#entries = new EntryReader(order.store);
  }

  async rows(): Promise<void> {
    const { store, signal, onProgress } = this.#order;
    const sinceMs = this.#order.sinceMs ?? (await this.#firstKeyMs());
    const waiting = await this.#waiting();
    let after: Uint8Array | null = null;
    for (let checked = 0; ; ) {
      signal.throwIfAborted();
      const page: Awaited<ReturnType<LedgerStore['pageRecords']>> = await store.pageRecords(
        after,
        PAGE,
      );
      for (const { record, logged } of page) {
        if (logged === 'pending') this.#checkWaiting(record, waiting);
        else if (logged !== null) await this.#compareRow(record, logged);
        else if (record.receipt === null) this.#checkUnstated(record, sinceMs);
        else this.#order.findings.add(INSERTED, formatKeyId(record.keyId));
      }
      await checkExpiries(
        this.#order,
        page.map(({ record }) => record),
      );
      checked += page.length;
      onProgress('rows', checked);
      if (page.length < PAGE) return;
      after = page[page.length - 1].record.keyId;
    }
  }

  #waiting(): Promise<WaitingEntries> {
    const { store, logs, macs } = this.#order;
    return WaitingEntries.read(store, logs, macs);
  }

  #checkWaiting(record: RecordedRow, waiting: WaitingEntries): void {
    this.#report.pending++;
    const verdict = waiting.judge(record.keyId, (origin) => keyEntry(record, origin));
    if (verdict === 'bad') this.#order.findings.add(MADE_UP, formatKeyId(record.keyId));
  }

  /** Returns the time of the first logged key; with none, the start of the first log. */
  async #firstKeyMs(): Promise<number> {
    const { store, logs } = this.#order;
    for (const { logId, size } of logs) {
      for (let from = 0; from < size; from += PAGE) {
        const page = await store.pageEntries(logId, from, PAGE);
        const first = page.find(({ kind, entryId }) => kind === 'key' && entryId !== null);
        if (first?.entryId) return keyIdMs(first.entryId);
      }
    }
    return logs[0]?.startedMs ?? 0;
  }

  #checkUnstated(record: RecordedRow, sinceMs: number): void {
    if (record.createdMs < sinceMs) this.#report.older++;
    else this.#order.findings.add(UNSTATED, formatKeyId(record.keyId));
  }

  async #compareRow(record: RecordedRow, position: LogPosition): Promise<void> {
    const origin = this.#origins.get(position.logId);
    const entry = await this.#entries.read(position);
    const isLogged = entry && origin !== undefined && makes(entry, () => keyEntry(record, origin));
    if (isLogged) this.#report.logged++;
    else this.#order.findings.add(CHANGED, formatKeyId(record.keyId));
  }

  /** Checks that each entry has its row or its audit record. */
  async entries(): Promise<void> {
    const { logs, store, signal, onProgress } = this.#order;
    const places = { entries: this.#entries, waiting: await this.#waiting() };
    const audits = await checkAudits(this.#order, places);
    this.#report.audits = audits.verified;
    for (const [logId, text] of audits.follows) this.#report.follows.set(logId, text);
    for (const [logId, start] of audits.starts) this.#report.starts.set(logId, start);
    for (const { logId, size } of logs) {
      for (let from = 0; from < size; from += PAGE) {
        signal.throwIfAborted();
        const page = await store.pageEntries(logId, from, Math.min(PAGE, size - from));
        await this.#checkKeys(page, audits.prunedBeforeMs);
        this.#checkAudits(page, audits.ids);
        this.#checkOthers(page, logId, audits.recoveries.get(logId) ?? []);
        onProgress('entries', from + page.length);
      }
    }
  }

  async #checkKeys(page: readonly LogEntry[], horizonMs: number): Promise<void> {
    const { store, findings } = this.#order;
    const keyIds = page.flatMap(({ kind, entryId }) =>
      kind === 'key' && entryId ? [entryId] : [],
    );
    const rows = await store.findKeys(keyIds);
    for (const [i, keyId] of keyIds.entries()) {
      if (rows[i]) continue;
      if (keyIdMs(keyId) < horizonMs) this.#report.pruned++;
      else findings.add(DELETED, formatKeyId(keyId));
    }
  }

  #checkAudits(page: readonly LogEntry[], audited: ReadonlySet<string>): void {
    for (const { kind, entryId, index } of page) {
      if (kind !== 'audit' || entryId === null || audited.has(hexOf(entryId))) continue;
      this.#order.findings.add(AUDIT_DELETED, `entry ${index}`);
    }
  }

  /** Checks entries that name no row: the first of a log that follows another, and recovered ones. */
  #checkOthers(page: readonly LogEntry[], logId: number, recoveries: readonly EntryRange[]): void {
    const follows = logId !== this.#order.logs[0]?.logId;
    for (const { kind, index, entryId } of page) {
      if (entryId !== null || (follows && kind === 'start' && index === 0)) continue;
      const isKnown = recoveries.some(
        ({ first, count }) => index >= first && index < first + count,
      );
      if (kind === 'recovered' && isKnown) this.#report.recovered++;
      else this.#order.findings.add(NO_STATEMENT, `entry ${index}`);
    }
  }
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
