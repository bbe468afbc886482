/** Puts the parts of the log together on a store, for the log worker. */

import { dirname } from 'node:path';
import { removeLeftovers, writeFailure } from '#platform/files';
import { systemClock } from '../../clock.ts';
import type { LedgerStore, LogRecord, StoreLocation } from '../../ledger/index.ts';
import {
  type LogKeys,
  openPolicy,
  openVerifierKey,
  readState,
  signCheckpoint,
  syncState,
  withStateLock,
  writeState,
} from '../../log/index.ts';
import type { LogMacKey, LogMacKeys } from '../../proof/index.ts';
import { toFailure } from '../threads/failures.ts';
import type { EntryMaker } from './audit-record.ts';
import { ClosedLogs } from './closed-logs.ts';
import type { Cosigning } from './cosigning.ts';
import { LogEngine } from './engine.ts';
import { EntryJudge } from './entry-judge.ts';
import { HeadSeals } from './head-seal.ts';
import type { Head, SignedHead } from './heads.ts';
import { firstFault } from './log-rows.ts';
import type { LogNotice } from './notices.ts';
import { openCosigning } from './open-cosigning.ts';
import { Publisher, type StateFile, type StoredHead } from './publisher.ts';
import { type ProvingLog, Receipts } from './receipts.ts';
import { restampStranded } from './restamp.ts';
import { Sequencer } from './sequencer.ts';
import { ShownCheckpoints } from './shown.ts';
import { shownFileAt } from './shown-file.ts';
import { type Halt, LogStopped } from './stopped.ts';
import { StoredTiles } from './tile-source.ts';

export interface LogWorkerData {
  readonly store: StoreLocation;
  readonly log: { readonly logId: number; readonly origin: string };
  /** The verifier keys of the log, Ed25519 first. */
  readonly verifierKeys: readonly string[];
  /** Null if the log cannot sign, and is stopped. */
  readonly keys: LogKeys | null;
  /** Subkeys for the MACs of entries. The worker wipes them. */
  readonly macKeys: readonly LogMacKey[];
  /** Current version of the master secret. */
  readonly version: number;
  readonly stateFile: string;
  /** Policy with the witnesses as text; null without. */
  readonly witnesses: string | null;
  readonly intervalMs: number;
  /** Why the log cannot run; null if it can. */
  readonly stopped: string | null;
  /** Why no key may leave the server from the start; null if keys may. */
  readonly halt: Halt | null;
}

/** Returns the engine of the log, ready to start. */
export function assembleLog(
  store: LedgerStore,
  macs: LogMacKeys,
  data: LogWorkerData,
  notify: (notice: LogNotice) => void,
): LogEngine {
  const { logId, origin } = data.log;
  const verifierKeys = data.verifierKeys.map(openVerifierKey);
  const tiles = new StoredTiles(store, logId);
  const state = stateFileAt(data.stateFile);
  removeLeftovers(data.stateFile, systemClock.nowMs());
  const stored = () => storedLog(store, macs, data.log);
  const save = (kind: 'checkpoint' | 'witnessed') => (head: SignedHead) =>
    store.saveCheckpoint(logId, head.size, head.note, kind);
  const closedLogs = new ClosedLogs(store);
  const maker: EntryMaker = { log: data.log, macs, version: data.version };
  const registered = async () => new Set((await store.secretChecks()).keys());
  const seals = new HeadSeals(maker, registered);
  const publisher = new Publisher({
    origin,
    verifierKeys,
    tiles,
    state,
    stored,
    seals,
    judgeClosed: (note, open) => closedLogs.judge(note, open),
    sign: (head, nowSeconds) => signWith(data.keys, head, nowSeconds),
    save: save('checkpoint'),
    shown: new ShownCheckpoints({
      origin,
      verifierKeys,
      tiles,
      file: shownFileAt(data.stateFile),
    }),
    askWitnesses: async () => (await cosigning?.shown()) ?? [],
    nowMs: systemClock.nowMs,
  });
  const cosigning: Cosigning | null =
    data.witnesses === null
      ? null
      : openCosigning(openPolicy(data.witnesses), {
          tiles,
          origin,
          publisher,
          verifierKeys,
          stored,
          save: save('witnessed'),
          notify,
        });
  const open: ProvingLog = {
    origin,
    headFor: (index) => holding(index, cosigning ? cosigning.witnessed : publisher.published),
    awaitsWitnesses: (index) => cosigning !== null && holding(index, publisher.published) !== null,
  };
  const receipts = new Receipts({
    store,
    logOf: (id) => (id === logId ? Promise.resolve(open) : closedLogs.get(id)),
    onAltered: (keyId, reason) => notify({ kind: 'altered', keyId, reason }),
  });
  const judge = new EntryJudge(macs, registered);
  return new LogEngine({
    publisher,
    sequencer: new Sequencer({ logId, store, publisher, judge, seals }),
    receipts,
    tiles,
    cosigning,
    state,
    intervalMs: data.intervalMs,
    upkeep: (mayWrite) => keepUp(store, maker, notify, mayWrite),
    notify,
    describe: (error) => describe(error, data.stateFile),
    stopped: data.stopped,
    halt: data.halt,
  });
}

function stateFileAt(path: string): StateFile {
  return {
    path,
    read: () => readState(path)?.note ?? null,
    write: (note) => writeState(path, note),
    sync: () => syncState(path),
    alone: (work) => withStateLock(path, work),
  };
}

async function storedLog(
  store: LedgerStore,
  macs: LogMacKeys,
  { logId, origin }: LogWorkerData['log'],
): Promise<LogRecord & Pick<StoredHead, 'fault'>> {
  const logs = await store.logs();
  const record = logs.find((log) => log.logId === logId);
  if (record) return { ...record, fault: await firstFault(logs, store, macs, origin) };
  throw new LogStopped(
    'the database no longer has this log: it was replaced or restored. Restart this server',
  );
}

function signWith(keys: LogKeys | null, head: Head, nowSeconds: number): string {
  if (keys === null) throw new TypeError('"keys" expected signing keys, got null');
  return signCheckpoint(keys, head, nowSeconds);
}

/** Returns the head if it holds the entry. */
function holding(index: number, head: SignedHead | null): SignedHead | null {
  return head && head.size > index ? head : null;
}

async function keepUp(
  store: LedgerStore,
  maker: EntryMaker,
  notify: (notice: LogNotice) => void,
  mayWrite: () => boolean,
): Promise<void> {
  const { logId } = maker.log;
  notify({ kind: 'counts', ...(await store.logCounts(logId)) });
  const logs = await store.logs();
  const isOpen = logs.some((log) => log.logId === logId && log.closedMs === null);
  // A slower server may have added entries to a log that was just closed. Entries for a log that does not exist are made
  // up: in the open log, a turn sets them aside.
  if (isOpen && mayWrite()) await restampStranded(store, maker);
}

function describe(error: unknown, stateFile: string): string {
  const { syscall } = error as NodeJS.ErrnoException;
  if (syscall === undefined) return toFailure(error).reason;
  return (
    `the state file ${stateFile} cannot be read or written: ${writeFailure(error)}. This user must be able to write ` +
    `files in ${dirname(stateFile)}: correct that, or move the file and set PHM_LOG_STATE_FILE`
  );
}
