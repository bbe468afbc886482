/** Closed logs of a database, whose entries still have receipts. */
import { parseCheckpoint } from '#tlog';
import type { LogRecord, LogStore } from '../../ledger/index.ts';
import { leafHash, openCheckpoint, sha256 } from '../../log/index.ts';
import { isConsistent } from './consistency.ts';
import { type Head, isSameHead, type SignedHead } from './heads.ts';
import { openVerifierKeys } from './own-keys.ts';
import type { ProvingLog } from './receipts.ts';
import { StoredTiles } from './tile-source.ts';

type ClosedLogsStore = Pick<LogStore, 'logs' | 'readEntries' | 'readTile' | 'lastAudit'>;

/** What a checkpoint of a closed log shows about the end of that log. */
export interface ClosedCheckpoint {
  /**
   * `ended`: the log ended there or later. `ahead`: the operator who closed the log did not know its last entries.
   * `differs`: the log ended with another tree.
   */
  readonly kind: 'ended' | 'ahead' | 'differs';
  /** Origin of the closed log. */
  readonly origin: string;
  /** Entries of the checkpoint. */
  readonly size: number;
  /** Entries of the closed log, by the database or by the checkpoint that the next log follows. */
  readonly end: number;
}

export class ClosedLogs {
  readonly #store: ClosedLogsStore;
  readonly #known = new Map<number, ProvingLog>();

  constructor(store: ClosedLogsStore) {
    this.#store = store;
  }

  /** Returns a closed log by its ID; null if there is none, or no checkpoint by its own keys. */
  async get(logId: number): Promise<ProvingLog | null> {
    const known = this.#known.get(logId);
    if (known) return known;
    const record = (await this.#store.logs()).find((log) => log.logId === logId);
    if (!record || record.closedMs === null) return null;
    const [newest, witnessed] = [record.checkpoint, record.witnessed].map((note) =>
      note === null ? null : openHead(record, note),
    );
    const log: ProvingLog = {
      origin: record.origin,
      // No witness cosigns the end of a closed log any more.
      headFor: (index) => [witnessed, newest].find((head) => (head?.size ?? 0) > index) ?? null,
      awaitsWitnesses: () => false,
    };
    this.#known.set(logId, log);
    return log;
  }

  /**
   * Judges a checkpoint of a closed log; null if the note is none. `open` is the head of the open log, after its seal was
   * judged: only that shows which checkpoint the log follows.
   */
  async judge(note: string, open: Head): Promise<ClosedCheckpoint | null> {
    const logs = await this.#store.logs();
    for (const [i, record] of logs.entries()) {
      const head = record.closedMs === null ? null : openHead(record, note);
      if (!head) continue;
      const next = logs[i + 1];
      const last = next?.closedMs === null ? await this.#followed(record, next.logId, open) : null;
      return this.#judge(head, record, last);
    }
    return null;
  }

  /** `last` is what the open log follows; null if that is unknown. */
  async #judge(head: Head, record: LogRecord, last: Head | null): Promise<ClosedCheckpoint> {
    const { origin, size } = record;
    const end = Math.max(size, last?.size ?? 0);
    const found = { origin, size: head.size, end };
    if (head.size > end) return { ...found, kind: 'ahead' };
    // The database lost these entries, which the operator confirmed: only the last root is known.
    const fits =
      head.size > size
        ? last !== null && (head.size < last.size || isSameHead(head, last))
        : await isConsistent(new StoredTiles(this.#store, record.logId), head, record);
    return { ...found, kind: fits ? 'ended' : 'differs' };
  }

  /**
   * Returns the last checkpoint of a log, as the audit record of the open one names it; null if the first entry of the
   * open one does not bind it.
   */
  async #followed(record: LogRecord, openId: number, open: Head): Promise<Head | null> {
    const text = followsOf((await this.#store.lastAudit('log_started'))?.details);
    if (text === null) return null;
    const start = { size: 1, root: leafHash(followingEntry(text)) };
    if (!(await isConsistent(new StoredTiles(this.#store, openId), start, open))) return null;
    const { origin, size, root } = parseCheckpoint(text);
    return origin === record.origin ? { size, root } : null;
  }
}

/** Returns the text of the checkpoint that an audit record names; null if it has none. */
function followsOf(details = '{}'): string | null {
  try {
    const follows = JSON.parse(details)?.follows;
    return typeof follows === 'string' ? follows : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function openHead({ origin, verifierKeys }: LogRecord, note: string): SignedHead | null {
  try {
    const keys = openVerifierKeys(verifierKeys);
    const { checkpoint } = openCheckpoint(note, keys);
    const { size, root } = checkpoint;
    return checkpoint.origin === origin ? { size, root, note } : null;
  } catch {
    return null;
  }
}

/**
 * Returns the first entry of a log that follows another: the hash of the other's last checkpoint, without its signatures,
 * so that later cosignatures do not change it.
 */
export function followingEntry(checkpointText: string): Buffer {
  return sha256(checkpointText);
}
