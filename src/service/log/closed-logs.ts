/** Closed logs of a database, whose entries still have receipts. */
import type { LogRecord, LogStore } from '../../ledger/index.ts';
import { openCheckpoint, openVerifierKey } from '../../log/index.ts';
import { isConsistent } from './consistency.ts';
import type { SignedHead } from './heads.ts';
import type { ProvingLog } from './receipts.ts';
import { StoredTiles } from './tile-source.ts';

type ClosedLogsStore = Pick<LogStore, 'logs' | 'readEntries' | 'readTile'>;

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
      headFor: (index) => (witnessed && witnessed.size > index ? witnessed : (newest ?? null)),
    };
    this.#known.set(logId, log);
    return log;
  }

  /** Reports whether a note is a checkpoint of a closed log that the log's last tree continues. */
  async continues(note: string): Promise<boolean> {
    for (const record of await this.#store.logs()) {
      const head = record.closedMs === null ? null : openHead(record, note);
      if (!head) continue;
      return isConsistent(new StoredTiles(this.#store, record.logId), head, record);
    }
    return false;
  }
}

function openHead({ origin, verifierKeys }: LogRecord, note: string): SignedHead | null {
  try {
    const keys = verifierKeys.trim().split('\n').map(openVerifierKey);
    const { checkpoint } = openCheckpoint(note, keys);
    const { size, root } = checkpoint;
    return checkpoint.origin === origin ? { size, root, note } : null;
  } catch {
    return null;
  }
}
