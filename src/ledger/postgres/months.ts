/**
 * Makes the months of a batch before the batch. `COMMIT_BATCH` makes a missing one too, but a batch that began to wait for one of
 * its accounts meanwhile waits for the whole transaction, although that has given its locks back. If it makes a month
 * itself, both wait in a circle, until `lock_accounts` ends its wait or PostgreSQL sees a deadlock.
 */
import { utcMonth } from '../../clock.ts';
import { isRefusal, NotSentError, type PostgresConnection } from './connection.ts';

const MAKE = `
  SELECT ensure_ledger_partition(at_ms) FROM unnest($1::bigint[]) AS asked (at_ms)`;

export class Months {
  readonly #connection: PostgresConnection;
  /** The months that were there when this server last looked, as `utcMonth` counts them. */
  readonly #made = new Set<number>();

  constructor(connection: PostgresConnection) {
    this.#connection = connection;
  }

  /**
   * Makes the months of these times, in milliseconds since the Unix epoch, that are missing. Rejects with the driver's error if
   * the database refuses, and with `NotSentError` if there is no answer: whatever became of the month, the batch was not sent.
   */
  async make(timesMs: readonly number[]): Promise<void> {
    const asked = new Map<number, number>();
    for (const atMs of timesMs) {
      const month = utcMonth(atMs);
      if (!this.#made.has(month)) asked.set(month, atMs);
    }
    if (asked.size === 0) return;
    await this.#connection.commit(MAKE, [[...asked.values()]]).catch((cause: Error) => {
      throw isRefusal(cause) ? cause : new NotSentError(cause.message, { cause });
    });
    for (const month of asked.keys()) this.#made.add(month);
  }

  /** Looks again before the next batch: a month may have been dropped, or lost with a server. */
  forget(): void {
    this.#made.clear();
  }
}
