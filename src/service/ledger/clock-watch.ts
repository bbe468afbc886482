/**
 * Knows the state of this machine's clock on the main thread. The key worker compares the clock with the ledger in each
 * check, every two seconds.
 */
import type { Worker } from 'node:worker_threads';
import type { ClockReading } from '../../ledger/index.ts';
import type { KeyWorkerReply } from '../threads/messages.ts';

/** Before the first check. */
const NO_READING: ClockReading = { against: 'rows', skewMs: 0, doubt: null };

export class ClockWatch {
  #reading: ClockReading;

  /** Calls `onChange` when a doubt about the clock begins or ends. `first` is the reading at startup. */
  constructor(
    worker: Worker,
    onChange: (reading: ClockReading) => void,
    first: ClockReading = NO_READING,
  ) {
    this.#reading = first;
    worker.on('message', (message: KeyWorkerReply) => {
      if (!('clock' in message)) return;
      const before = this.#reading;
      this.#reading = message.clock;
      if ((before.doubt === null) !== (message.clock.doubt === null)) onChange(message.clock);
    });
  }

  /** Returns the latest reading, which stays while the ledger does not answer. */
  reading(): ClockReading {
    return this.#reading;
  }

  /** Converts a time of this machine's clock to the clock of quota months, which with PostgreSQL is the database's. */
  toQuotaTime(nowMs: number): number {
    const { against, skewMs } = this.#reading;
    return against === 'database' ? nowMs - skewMs : nowMs;
  }
}
