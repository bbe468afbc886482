/** Judges entries that wait for a turn, as the log is going to. */
import type { FindingKind } from '../ledger/admin.ts';
import type { LedgerStore, LogRecord, PendingEntry } from '../ledger/index.ts';
import type { LogMacKeys } from '../proof/index.ts';
import { makes } from './entry-reader.ts';

/** No log has this ID, so that every waiting entry waits for another one. */
const NO_LOG = 0;

/** Entries that are kept in memory. Turns empty the queue several times a second. */
const MAX_ENTRIES = 100_000;

export const MADE_UP: FindingKind = {
  problem: 'waiting entries that the log will refuse',
  remedy:
    'No server made these entries for their rows or records as they are: a writer of the database queued or changed them.',
};

/** `good`: a server made the entry for this row. `unknown`: nothing here can tell. */
type WaitingVerdict = 'good' | 'bad' | 'unknown';

export class WaitingEntries {
  readonly #origins: ReadonlyMap<number, string>;
  readonly #macs: LogMacKeys | null;
  readonly #entries: ReadonlyMap<string, PendingEntry>;

  private constructor(
    logs: readonly LogRecord[],
    macs: LogMacKeys | null,
    entries: readonly PendingEntry[],
  ) {
    this.#origins = new Map(logs.map(({ logId, origin }) => [logId, origin]));
    this.#macs = macs;
    this.#entries = new Map(entries.map((one) => [hexOf(one.entryId), one]));
  }

  /** Reads the entries that wait now. Without MAC keys no verdict is `good`. */
  static async read(
    store: LedgerStore,
    logs: readonly LogRecord[],
    macs: LogMacKeys | null,
  ): Promise<WaitingEntries> {
    return new WaitingEntries(logs, macs, await store.strandedEntries(NO_LOG, MAX_ENTRIES));
  }

  /** Judges the entry with this ID. `make` returns the entry that its row or record has in a log. */
  judge(id: Uint8Array, make: (origin: string) => Buffer): WaitingVerdict {
    const waiting = this.#entries.get(hexOf(id));
    // It came later, or a turn has taken it.
    if (!waiting) return 'unknown';
    const { logId, entry, mac, secretVersion } = waiting;
    const origin = this.#origins.get(logId);
    if (origin === undefined || !makes(entry, () => make(origin))) return 'bad';
    if (!this.#macs?.versions.includes(secretVersion)) return 'unknown';
    return this.#macs.verifies(secretVersion, id, entry, mac) ? 'good' : 'bad';
  }
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
