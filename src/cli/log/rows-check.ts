/**
 * Compares the rows of the ledger with the entries of its logs, in both directions: each row made since the log began
 * must have the entry that its statement hashes to, and each entry must have its row, unless it was pruned.
 */
import { auditEntry, formatKeyId, keyEntry } from '../../keys/index.ts';
import type {
  LedgerStore,
  LogEntry,
  LogPosition,
  LogRecord,
  RecordedRow,
} from '../../ledger/index.ts';
import type { FindingKind, Findings } from '../findings.ts';

export interface RowsOrder {
  readonly store: LedgerStore;
  /** All logs of the database. */
  readonly logs: readonly LogRecord[];
  readonly findings: Findings;
  /** Rows without a statement are findings from this time on; null: from the first logged key on. */
  readonly sinceMs: number | null;
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
}

const PAGE = 1_000;

const INSERTED: FindingKind = {
  problem: 'rows without an entry in the log',
  remedy:
    'Somebody inserted these rows, or the log set their entries aside. The service did not record these keys.',
};
const UNSTATED: FindingKind = {
  problem: 'rows without a statement',
  remedy:
    'Somebody inserted these rows, or a server without the keys of the log made them. If that explains all of them, ' +
    'give the time at which it ended with --since.',
};
const CHANGED: FindingKind = {
  problem: 'rows that differ from their entry in the log',
  remedy: 'These rows were changed. Restore them from a backup.',
};
const DELETED: FindingKind = {
  problem: 'entries without their row',
  remedy:
    'The rows of these keys were deleted, although no pruning reached them. Restore them from a backup.',
};
const AUDIT_CHANGED: FindingKind = {
  problem: 'audit records that differ from their entry in the log',
  remedy: 'These records were changed. Restore them from a backup.',
};
const AUDIT_INSERTED: FindingKind = {
  problem: 'audit records without an entry in the log',
  remedy: 'Somebody inserted these records, or the log set their entries aside.',
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
  };
  const check = new RowsCheck(order, report);
  await check.rows();
  await check.entries();
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
    let after: Uint8Array | null = null;
    for (let checked = 0; ; ) {
      signal.throwIfAborted();
      const page: Awaited<ReturnType<LedgerStore['pageRecords']>> = await store.pageRecords(
        after,
        PAGE,
      );
      for (const { record, logged } of page) {
        if (record.receipt === null) this.#checkUnstated(record, sinceMs);
        else if (logged === null) this.#order.findings.add(INSERTED, formatKeyId(record.keyId));
        else if (logged === 'pending') this.#report.pending++;
        else await this.#compareRow(record, logged);
      }
      checked += page.length;
      onProgress('rows', checked);
      if (page.length < PAGE) return;
      after = page[page.length - 1].record.keyId;
    }
  }

  /** Returns the time of the first logged key; with none, the start of the first log. */
  async #firstKeyMs(): Promise<number> {
    const { store, logs } = this.#order;
    for (const { logId, size } of logs) {
      for (let from = 0; from < size; from += PAGE) {
        const page = await store.pageEntries(logId, from, PAGE);
        const first = page.find(({ kind, entryId }) => kind === 'key' && entryId !== null);
        if (first?.entryId) return timeOf(first.entryId);
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
    const { audited, horizonMs } = await this.#audits();
    for (const { logId, size } of logs) {
      for (let from = 0; from < size; from += PAGE) {
        signal.throwIfAborted();
        const page = await store.pageEntries(logId, from, Math.min(PAGE, size - from));
        await this.#checkKeys(page, horizonMs);
        this.#checkAudits(page, audited);
        onProgress('entries', from + page.length);
      }
    }
  }

  #noteStart(logId: number, details: string): void {
    const { follows } = JSON.parse(details);
    if (typeof follows === 'string') this.#report.follows.set(logId, follows);
  }

  async #checkKeys(page: readonly LogEntry[], horizonMs: number): Promise<void> {
    const { store, findings } = this.#order;
    this.#report.recovered += page.filter(({ kind }) => kind === 'recovered').length;
    const keyIds = page.flatMap(({ kind, entryId }) =>
      kind === 'key' && entryId ? [entryId] : [],
    );
    const rows = await store.findKeys(keyIds);
    for (const [i, keyId] of keyIds.entries()) {
      if (rows[i]) continue;
      if (timeOf(keyId) < horizonMs) this.#report.pruned++;
      else findings.add(DELETED, formatKeyId(keyId));
    }
  }

  #checkAudits(page: readonly LogEntry[], audited: ReadonlySet<string>): void {
    for (const { kind, entryId, index } of page) {
      if (kind !== 'audit' || entryId === null || audited.has(hexOf(entryId))) continue;
      this.#order.findings.add(AUDIT_DELETED, `entry ${index}`);
    }
  }

  /** Compares every audit record with its entry. Returns their IDs, and the time up to which rows were pruned. */
  async #audits(): Promise<{ audited: ReadonlySet<string>; horizonMs: number }> {
    const { store, findings, logs } = this.#order;
    const audited = new Set<string>();
    let horizonMs = 0;
    let after: Uint8Array | null = null;
    for (;;) {
      const page: Awaited<ReturnType<LedgerStore['audits']>> = await store.audits(after, PAGE);
      for (const record of page) {
        audited.add(hexOf(record.auditId));
        const logged = await store.findLogged(record.auditId);
        if (logged === 'pending') continue;
        if (logged === null) {
          // Records from before the log have no entry.
          if (record.atMs >= (logs[0]?.startedMs ?? 0))
            findings.add(AUDIT_INSERTED, describeAudit(record));
          continue;
        }
        const entry = await this.#entries.read(logged);
        const origin = this.#origins.get(logged.logId);
        if (!entry || origin === undefined || !makes(entry, () => auditEntry(record, origin))) {
          findings.add(AUDIT_CHANGED, describeAudit(record));
          continue;
        }
        this.#report.audits++;
        // Only a record that the log confirms excuses missing rows.
        if (record.action === 'pruned') horizonMs = Math.max(horizonMs, horizonOf(record.details));
        if (record.action === 'log_started') this.#noteStart(logged.logId, record.details);
      }
      if (page.length < PAGE) return { audited, horizonMs };
      after = page[page.length - 1].auditId;
    }
  }
}

type Audit = Awaited<ReturnType<LedgerStore['audits']>>[number];

const describeAudit = ({ action, atMs }: Audit): string =>
  `${action} ${new Date(atMs).toISOString()}`;

/** Reports whether `make` returns this entry. A changed row may have no statement at all, and then it throws. */
function makes(entry: Uint8Array, make: () => Buffer): boolean {
  try {
    return make().equals(entry);
  } catch {
    return false;
  }
}

/** Returns the time up to which a run of pruning removed rows, from its details. */
function horizonOf(details: string): number {
  const { before } = JSON.parse(details);
  return typeof before === 'string' ? Date.parse(before) || 0 : 0;
}

/** Returns the milliseconds in a UUIDv7 (RFC 9562 §5.7). */
function timeOf(id: Uint8Array): number {
  return Buffer.from(id).readUIntBE(0, 6);
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** Entries that are read together. */
const BLOCK = 1_024;

/** Blocks that are kept: rows are in the order of their entries, apart from servers that ran ahead. */
const MAX_BLOCKS = 64;

/** Reads single entries in blocks, of which it keeps the last used. */
class EntryReader {
  readonly #store: LedgerStore;
  readonly #blocks = new Map<string, Uint8Array>();

  constructor(store: LedgerStore) {
    this.#store = store;
  }

  async read({ logId, index }: LogPosition): Promise<Uint8Array | null> {
    const first = index - (index % BLOCK);
    const offset = 32 * (index - first);
    const block = await this.#block(logId, first, offset + 32);
    return block.length < offset + 32 ? null : block.subarray(offset, offset + 32);
  }

  async #block(logId: number, first: number, needed: number): Promise<Uint8Array> {
    const name = `${logId}/${first}`;
    const kept = this.#blocks.get(name);
    this.#blocks.delete(name);
    // The log may have grown since the block was read.
    const block =
      kept && kept.length >= needed
        ? kept
        : await this.#store.readEntries(logId, first, first + BLOCK);
    this.#blocks.set(name, block);
    const [oldest] = this.#blocks.keys();
    if (this.#blocks.size > MAX_BLOCKS && oldest !== undefined) this.#blocks.delete(oldest);
    return block;
  }
}
