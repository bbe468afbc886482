/** Examines the open log as its server would, for `phm doctor`. Changes nothing. */
import { systemClock } from '../../clock.ts';
import type { LogConfig } from '../../config/index.ts';
import type { LedgerStore, LogCounts, LogRecord } from '../../ledger/index.ts';
import { type LogKeys, readState } from '../../log/index.ts';
import type { LogMacKeys } from '../../proof/index.ts';
import { ClosedLogs } from './closed-logs.ts';
import { HeadSeals } from './head-seal.ts';
import { describeFault, firstFault } from './log-rows.ts';
import { areKeysOf, openVerifierKeys, whyStopped } from './own-keys.ts';
import { Publisher } from './publisher.ts';
import { ShownCheckpoints } from './shown.ts';
import { shownFileAt } from './shown-file.ts';
import { LogStopped } from './stopped.ts';
import { StoredTiles } from './tile-source.ts';

export interface LogFindings extends LogCounts {
  readonly origin: string;
  readonly size: number;
  /** Why the log of this server is stopped, with what to do; null if it runs. */
  readonly stopped: string | null;
  /** False if there is no state file, with which the log could be compared. */
  readonly hasState: boolean;
}

interface LogExamination {
  readonly store: LedgerStore;
  readonly config: LogConfig;
  readonly record: LogRecord;
  /** Null if this server lacks them. */
  readonly keys: LogKeys | null;
  readonly macs: LogMacKeys;
  /** Current version of the master secret. */
  readonly version: number;
}

/**
 * Compares the open log with the keys and the state file of this server. Rejects with the error of the database or the
 * state file.
 */
export async function examineLog(examination: LogExamination): Promise<LogFindings> {
  const { store, config, record, keys, macs } = examination;
  const { logId, origin } = record;
  const counts = await store.logCounts(logId);
  const own = areKeysOf(keys, record) ? origin : null;
  const fault = await firstFault(await store.logs(), store, macs, own);
  const stopped =
    fault === null
      ? (whyStopped(config, record, keys) ?? (await whyNotAdmitted(examination)))
      : describeFault(fault);
  const hasState = readState(config.stateFile) !== null;
  return { ...counts, origin, size: record.size, stopped, hasState };
}

async function whyNotAdmitted(examination: LogExamination): Promise<string | null> {
  try {
    await publisherOf(examination).admit();
    return null;
  } catch (error) {
    if (error instanceof LogStopped) return error.message;
    throw error;
  }
}

/** Returns a publisher that can only look. */
function publisherOf({ store, config, record, macs, version }: LogExamination): Publisher {
  const { logId, origin, verifierKeys } = record;
  const refuse = (): never => {
    throw new TypeError('an examination signs and writes nothing');
  };
  const keys = openVerifierKeys(verifierKeys);
  const tiles = new StoredTiles(store, logId);
  const closedLogs = new ClosedLogs(store);
  const registered = async () => new Set((await store.secretChecks()).keys());
  return new Publisher({
    origin,
    verifierKeys: keys,
    tiles,
    state: {
      path: config.stateFile,
      read: () => readState(config.stateFile)?.note ?? null,
      write: refuse,
      sync: refuse,
      alone: refuse,
    },
    stored: async () => ({
      ...((await store.logs()).find((log) => log.logId === logId) ?? record),
      fault: null,
    }),
    seals: new HeadSeals({ log: { origin }, macs, version }, registered),
    judgeClosed: (note, open) => closedLogs.judge(note, open),
    sign: refuse,
    shown: new ShownCheckpoints({
      origin,
      verifierKeys: keys,
      tiles,
      file: { ...shownFileAt(config.stateFile), write: () => {}, remove: () => {} },
    }),
    askWitnesses: async () => [],
    save: async () => refuse(),
    nowMs: systemClock.nowMs,
  });
}
