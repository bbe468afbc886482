/**
 * What is known on the main thread of this machine's clock: the key worker holds it against the ledger with each of its
 * checks, every two seconds.
 */
import type { Worker } from 'node:worker_threads';
import type { ClockReading } from '../ledger/index.ts';
import type { KeyWorkerReply } from './messages.ts';

/** Before the first check. */
const NO_READING: ClockReading = { against: 'rows', skewMs: 0, doubt: null };

export class ClockWatch {
  #reading: ClockReading;

  /** `onChange` is told when the clock is no longer believed, and when it is again; `first` is what the start has found. */
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

  /** The latest knowledge; it stays while the ledger cannot be asked. */
  reading(): ClockReading {
    return this.#reading;
  }

  /** A time of this machine's clock, by the one that quota months go by: with PostgreSQL that of the database. */
  toQuotaTime(nowMs: number): number {
    const { against, skewMs } = this.#reading;
    return against === 'database' ? nowMs - skewMs : nowMs;
  }
}
