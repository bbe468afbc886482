/** Closed logs of a database, whose entries still have receipts. */
import type { LogRecord, LogStore } from '../../ledger/index.ts';
import { openCheckpoint, openVerifierKey } from '../../log/index.ts';
import type { SignedHead } from './heads.ts';
import type { ProvingLog } from './receipts.ts';

export class ClosedLogs {
  readonly #store: Pick<LogStore, 'logs'>;
  readonly #known = new Map<number, ProvingLog>();

  constructor(store: Pick<LogStore, 'logs'>) {
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
