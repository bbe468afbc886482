/**
 * Writes one consistent snapshot of a store in the format that `import.ts` reads. It checks what it writes as an import
 * does: somebody may find out only after the old store is gone that a file cannot be read.
 */
import { createHash } from 'node:crypto';
import { formatTimestamp } from '../../clock.ts';
import { SetupError } from '../../errors.ts';
import { columnsOf, type RowCounts, TABLE_NAMES, type TableName } from '../tables.ts';
import {
  FORMAT,
  FORMAT_VERSION,
  type Header,
  MAX_LINE_BYTES,
  sameCounts,
  type Trailer,
  writeValue,
} from './format.ts';
import type { MovableStore } from './movable-store.ts';
import { Section } from './section.ts';

export interface MoveReport {
  readonly rows: RowCounts;
  readonly sha256: string;
}

/**
 * Exports the store. `write` resolves when it can take more. Rejects with the reason of `signal` when it
 * aborts, and with `SetupError`, which names the row, if an import would refuse it.
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
      const texts = lines.map((line) => `${JSON.stringify(line)}\n`);
      const bytes = Buffer.from(texts.join(''));
      if (bytes.length > MAX_LINE_BYTES) requireShort(texts);
      hash.update(bytes);
      await write(bytes);
    };
    const counts = await snapshot.counts();
    const taken_at = formatTimestamp(nowMs);
    await put([
      { format: FORMAT, version: FORMAT_VERSION, taken_at, rows: counts } satisfies Header,
    ]);
    const rows = { ...counts };
    const accounts = new Set<unknown>();
    for (const table of TABLE_NAMES) {
      const columns = columnsOf(table).map(({ name }) => name);
      await put([{ table, columns }]);
      rows[table] = 0;
      const check = checkOf(table, columns, accounts);
      for await (const batch of snapshot.rows(table)) {
        rows[table] += batch.length;
        const lines = batch.map((row) => row.map(writeValue));
        lines.forEach(check);
        await put(lines);
      }
    }
    if (!sameCounts(rows, counts)) throw new Error('the snapshot changed while it was read');
    const sha256 = hash.copy().digest('hex');
    await put([{ end: FORMAT, rows, sha256 } satisfies Trailer]);
    return { rows, sha256 };
  });
}

/** Returns a check of the rows of a table, in order. Collects the IDs of `accounts`, which the other tables refer to. */
function checkOf(
  table: TableName,
  columns: readonly string[],
  accounts: Set<unknown>,
): (row: readonly unknown[]) => void {
  let number = 0;
  const refuse = (problem: string): never => {
    throw new SetupError(
      `row ${number} of the table ${table} cannot be exported, because an import refuses it: ${problem}; ` +
        'see phm ledger verify',
    );
  };
  const section = new Section(table, columns, refuse);
  return (row) => {
    number += 1;
    section.read(row);
    const account = row[section.accountColumn];
    if (table === 'accounts') accounts.add(account);
    else if (section.accountColumn >= 0 && !accounts.has(account)) {
      refuse('account_id must be one of the accounts');
    }
  };
}

function requireShort(texts: readonly string[]): void {
  const length = Math.max(...texts.map((text) => Buffer.byteLength(text)));
  if (length <= MAX_LINE_BYTES) return;
  throw new SetupError(
    `a row of ${length} bytes cannot be exported: an import reads lines of up to ${MAX_LINE_BYTES} bytes`,
  );
}
