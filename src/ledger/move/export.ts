/** Writes one consistent snapshot of a store in the format that `import.ts` reads. */
import { createHash } from 'node:crypto';
import { formatTimestamp } from '../../clock.ts';
import {
  FORMAT,
  FORMAT_VERSION,
  type Header,
  sameCounts,
  type Trailer,
  writeValue,
} from './format.ts';
import type { MovableStore } from './movable-store.ts';
import { columnsOf, type RowCounts, TABLE_NAMES } from './tables.ts';

export interface MoveReport {
  readonly rows: RowCounts;
  readonly sha256: string;
}

/**
 * Exports the store. `write` resolves when it can take more. Rejects with the reason of `signal` when it
 * aborts.
 */
export async function exportLedger(
  store: MovableStore,
  nowMs: number,
  write: (bytes: Uint8Array) => Promise<void>,
  signal: AbortSignal,
): Promise<MoveReport> {
  return store.dump('export', async (snapshot) => {
    const hash = createHash('sha256');
    const put = async (lines: readonly unknown[]): Promise<void> => {
      signal.throwIfAborted();
      const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
      hash.update(bytes);
      await write(bytes);
    };
    const counts = await snapshot.counts();
    const taken_at = formatTimestamp(nowMs);
    await put([
      { format: FORMAT, version: FORMAT_VERSION, taken_at, rows: counts } satisfies Header,
    ]);
    const rows = { ...counts };
    for (const table of TABLE_NAMES) {
      await put([{ table, columns: columnsOf(table).map(({ name }) => name) }]);
      rows[table] = 0;
      for await (const batch of snapshot.rows(table)) {
        rows[table] += batch.length;
        await put(batch.map((row) => row.map(writeValue)));
      }
    }
    if (!sameCounts(rows, counts)) throw new Error('the snapshot changed while it was read');
    const sha256 = hash.copy().digest('hex');
    await put([{ end: FORMAT, rows, sha256 } satisfies Trailer]);
    return { rows, sha256 };
  });
}
