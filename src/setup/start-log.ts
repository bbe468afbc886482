/** Starts a log in the database, for the first start of a server and for `phm log init`. */

import type { LedgerStore, LogRecord } from '../ledger/index.ts';
import { EMPTY_ROOT, extendTree, type LogKeys } from '../log/index.ts';
import {
  type EntryMaker,
  followingEntry,
  newAudit,
  restampStranded,
  sealed,
  verifierKeysText,
} from '../service/offline.ts';

export interface NewLog {
  readonly keys: LogKeys;
  /** MACs of pending entries, and the version of the master secret for new ones. */
  readonly macs: EntryMaker['macs'];
  readonly version: number;
  readonly nowMs: number;
  /**
   * The log that this one follows: its last checkpoint, without signatures, whose SHA-256 is entry 0, and its size in
   * the database. Null for the first log.
   */
  readonly follows: {
    readonly logId: number;
    readonly size: number;
    readonly checkpointText: string;
  } | null;
}

/**
 * Starts a log in the database and closes the open one. Writes the audit record, and moves entries that wait for a
 * closed log to the new one. Throws `SetupError` if the origin belongs to another log of this database.
 */
export async function startLog(store: LedgerStore, start: NewLog): Promise<LogRecord> {
  const { keys, macs, version, nowMs, follows } = start;
  const first = follows && followingEntry(follows.checkpointText);
  const log = await store.startLog({
    origin: keys.origin,
    verifierKeys: verifierKeysText(keys),
    startedMs: nowMs,
    first,
    tree: sealed(
      { log: keys, macs, version },
      extendTree({ size: 0, root: EMPTY_ROOT, tiles: [] }, first ? [first] : []),
    ),
    ...(follows && { closes: { logId: follows.logId, size: follows.size } }),
  });
  const maker = { log, macs, version };
  // Another server may have started the same log a moment ago, with the record.
  if (log.startedMs === nowMs) {
    const { ed25519, mlDsa44 } = keys.verifierKeys;
    const details = {
      origin: keys.origin,
      verifier_keys: [ed25519, mlDsa44],
      follows: follows?.checkpointText ?? null,
    };
    await store.addAudit(newAudit(maker, { atMs: nowMs, action: 'log_started', details }));
  }
  await restampStranded(store, maker);
  return log;
}
