/**
 * Makes the months of a batch before the batch. `COMMIT_BATCH` makes a missing one too, but other batches of the same accounts
 * may wait by then: PostgreSQL lets them wait for its whole transaction, although that has given its locks back. A batch that
 * makes a month meanwhile would wait for them in a circle.
 */
import { utcMonth } from '../../clock.ts';
import type { PostgresConnection } from './connection.ts';

const MAKE = `
  SELECT ensure_ledger_partition(at_ms) FROM unnest($1::bigint[]) AS asked (at_ms)`;

export class Months {
  readonly #connection: PostgresConnection;
  /** The months that are known to have been there, as `utcMonth` counts them. */
  readonly #made = new Set<number>();

  constructor(connection: PostgresConnection) {
    this.#connection = connection;
  }

  /** Makes the months of these times, in milliseconds since the Unix epoch, that are missing. Rejects with the driver's error. */
  async make(timesMs: readonly number[]): Promise<void> {
    const asked = new Map<number, number>();
    for (const atMs of timesMs) {
      const month = utcMonth(atMs);
      if (!this.#made.has(month)) asked.set(month, atMs);
    }
    if (asked.size === 0) return;
    await this.#connection.commit(MAKE, [[...asked.values()]]);
    for (const month of asked.keys()) this.#made.add(month);
  }
}
