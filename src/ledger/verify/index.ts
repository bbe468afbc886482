/**
 * Verifies a whole ledger in one snapshot, beside running servers: the database's own check, each row,
 * counters and sums. It uses no master secret, so it cannot tell whether a commitment belongs to a key.
 * Memory grows with the accounts and API keys, not with the rows.
 */
import { MINUTE_MS } from '../../clock.ts';
import { keyIdMs } from '../key-time.ts';
import type { StoreLocation } from '../location.ts';
import { noRows } from '../move/format.ts';
import type { Snapshot } from '../move/movable-store.ts';
import { openMovableStore } from '../move/open.ts';
import { type RunningCheck, startCheck } from '../sqlite/check.ts';
import { requireWritable } from '../sqlite/files.ts';
import { findWalDamage } from '../sqlite/wal.ts';
import { columnsOf, type RowCounts, TABLE_NAMES, type TableName, type Value } from '../tables.ts';
import { checkApiKeys } from './api-keys.ts';
import { type Finding, type FindingKind, Findings } from './findings.ts';
import { MonthChecks } from './months.ts';
import { EXTRA_COLUMNS, RowChecks } from './rows.ts';
import { checkSums } from './sums.ts';

export { type Finding, type FindingKind, Findings } from './findings.ts';

export interface Verification {
  readonly rows: RowCounts;
  /** False if rows or sums could not be read. `rows` then counts those that were read before. */
  readonly isComplete: boolean;
  readonly findings: readonly Finding[];
  /**
   * The time of the oldest row in milliseconds, by the younger of its two times, as retention counts; null
   * without rows.
   */
  readonly oldestRowMs: number | null;
  /** Keys in the sums that have no row: retention removed it, or it was lost. */
  readonly keysWithoutRow: number;
}

interface VerifyOptions {
  readonly nowMs: number;
  readonly signal: AbortSignal;
  /** Called at the start of each part, and as rows are read. */
  readonly onProgress: (part: TableName | 'pages' | 'sums', rows: number) => void;
}

const RESTORE = 'restore a backup: docs/incidents.md, "A damaged database"';

const UNREADABLE: FindingKind = {
  problem: 'part of the database could not be read',
  remedy: RESTORE,
};
const DAMAGED: FindingKind = { problem: 'the file is damaged', remedy: RESTORE };
const UNCHECKED: FindingKind = {
  problem: 'the pages of the file could not be checked',
  remedy: 'run this as the user of the server, who can write to its directory',
};

const CREATED_MS = columnsOf('ledger').findIndex(({ name }) => name === 'created_ms');

/**
 * Verifies the ledger. Rejects with `SetupError` if the store cannot be read, and with the reason of
 * `signal`.
 */
export async function verifyLedger(
  location: StoreLocation,
  options: VerifyOptions,
): Promise<Verification> {
  const findings = new Findings();
  const store = await openMovableStore(location);
  if (location.kind === 'sqlite') {
    requireWritable(location.path);
    await checkPages(location.path, findings, options);
  }
  const state: State = {
    part: TABLE_NAMES[0],
    rows: noRows(),
    oldestRowMs: null,
    newestMs: options.nowMs,
  };
  let keysWithoutRow = 0;
  let isComplete = true;
  await store.dump('verify', async (snapshot) => {
    const guarded = async (work: () => Promise<void>): Promise<void> => {
      try {
        await work();
      } catch (error) {
        options.signal.throwIfAborted();
        // A damaged file is read as far as possible.
        if (location.kind !== 'sqlite' || findings.list.length === 0) throw error;
        findings.add(UNREADABLE, `${state.part}: ${reasonOf(error)}`);
        isComplete = false;
      }
    };
    await guarded(() => checkRows(snapshot, findings, options, state));
    await guarded(async () => {
      state.part = 'sums';
      options.onProgress('sums', 0);
      await checkSums((sql) => snapshot.ask(sql), state, findings);
      await checkApiKeys((sql) => snapshot.ask(sql), findings);
      if (isComplete) keysWithoutRow = (await countKeys(snapshot)) - state.rows.ledger;
    });
  });
  const { rows, oldestRowMs } = state;
  return { rows, isComplete, findings: findings.list, oldestRowMs, keysWithoutRow };
}

/** Returns SQLite's message without the words around it. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? cause.message : message;
}

async function checkPages(
  path: string,
  findings: Findings,
  { signal, onProgress }: VerifyOptions,
): Promise<void> {
  onProgress('pages', 0);
  const inLog = findWalDamage(`${path}-wal`);
  if (inLog !== null) findings.add(DAMAGED, inLog);
  const running: RunningCheck = startCheck(path, 'integrity_check');
  const stop = (): void => running.stop();
  signal.addEventListener('abort', stop);
  const { result } = await running.report;
  signal.removeEventListener('abort', stop);
  signal.throwIfAborted();
  if (result.kind === 'damaged') findings.add(DAMAGED, result.found);
  if (result.kind === 'failed') findings.add(UNCHECKED, result.reason);
}

interface State {
  /** The part being read. */
  part: TableName | 'sums';
  readonly rows: RowCounts;
  oldestRowMs: number | null;
  newestMs: number;
}

async function checkRows(
  snapshot: Snapshot,
  findings: Findings,
  { signal, onProgress }: VerifyOptions,
  state: State,
): Promise<void> {
  const checks = new RowChecks(findings);
  const months = new MonthChecks(findings);
  for (const table of TABLE_NAMES) {
    state.part = table;
    for await (const batch of snapshot.rawRows(table, EXTRA_COLUMNS[table])) {
      signal.throwIfAborted();
      for (const raw of batch) {
        const row = checks.check(table, raw);
        if (row) take(table, row, months, state);
      }
      state.rows[table] += batch.length;
      onProgress(table, state.rows[table]);
    }
  }
  months.end();
}

/** Keeps what later checks need. */
function take(table: TableName, row: readonly Value[], months: MonthChecks, state: State): void {
  if (table === 'usage') months.addCounter(row);
  if (table === 'rollup_hour') {
    const [accountId, hour, , , , , metered] = row;
    months.addHour(String(accountId), Number(hour), Number(metered));
  }
  if (table === 'rollup_minute') {
    state.newestMs = Math.max(state.newestMs, Number(row[1]) * MINUTE_MS);
  }
  if (table === 'ledger') {
    const youngerMs = Math.max(keyIdMs(row[0] as Uint8Array), Number(row[CREATED_MS]));
    state.oldestRowMs = Math.min(state.oldestRowMs ?? Infinity, youngerMs);
  }
}

async function countKeys(snapshot: Snapshot): Promise<number> {
  const [row] = await snapshot.ask('SELECT coalesce(sum(keys), 0) AS keys FROM rollup_hour');
  return Number(row?.keys);
}
