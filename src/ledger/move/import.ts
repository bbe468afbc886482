/**
 * Reads the file of `export.ts` into an empty store, in one transaction. It commits only if the trailer
 * matches and the store holds the rows and sums of the file.
 */
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { SetupError } from '../../errors.ts';
import {
  accountOf,
  batchRows,
  mayBeAbsent,
  type RowCounts,
  TABLE_NAMES,
  type TableName,
  type Value,
} from '../tables.ts';
import type { MoveReport } from './export.ts';
import { FORMAT, FORMAT_VERSION, noRows, OLDEST_VERSION, sameCounts } from './format.ts';
import { readLines } from './lines.ts';
import type { EmptyStore, MovableStore } from './movable-store.ts';
import { Section } from './section.ts';
import { Tally } from './tally.ts';

const BATCH_ROWS = 5_000;

/**
 * Imports a file. `plans` are the plans that an account may have, unless it is deleted. Rejects with `SetupError`, which
 * names the line, if the file is incomplete or a value is invalid, and with the reason of `signal`. The store is then
 * unchanged.
 */
export async function importLedger(
  store: MovableStore,
  source: AsyncIterable<Uint8Array>,
  plans: readonly string[],
  signal: AbortSignal,
): Promise<MoveReport> {
  return store.load(async (empty) => {
    const reader = new Import(empty, plans);
    for await (const lines of readLines(source)) {
      signal.throwIfAborted();
      for (const line of lines) {
        reader.take(line);
        if (reader.isFull) await reader.flush();
      }
    }
    return reader.finish();
  });
}

/** Reads one file, line by line. */
class Import {
  readonly #store: EmptyStore;
  readonly #plans: ReadonlySet<string>;
  readonly #hash = createHash('sha256');
  readonly #rows = noRows();
  readonly #tallies = new Map<TableName, Tally>();
  readonly #accounts = new Set<string>();
  #line = 0;
  #announced: RowCounts | null = null;
  /** Reports whether the file may lack a table. */
  #mayLack: (table: TableName) => boolean = () => false;
  /** The tables in the file. A file of an earlier release has fewer. */
  #tables: readonly TableName[] = TABLE_NAMES;
  #section: Section | null = null;
  #sha256: string | null = null;
  #batch: Value[][] = [];
  #batchTable: TableName = 'accounts';
  #lastRow = 0;
  /** Settles when the previous batch is inserted. */
  #inserted: Promise<void> = Promise.resolve();

  constructor(store: EmptyStore, plans: readonly string[]) {
    this.#store = store;
    this.#plans = new Set(plans);
  }

  /** True if `flush` must run before the next line. */
  get isFull(): boolean {
    const most = batchRows(this.#batchTable, BATCH_ROWS);
    return this.#batch.length >= most || this.#batchTable !== this.#section?.table;
  }

  take(line: Uint8Array): void {
    this.#line += 1;
    if (this.#sha256 !== null) this.#refuse('nothing may follow the last line of the format');
    const json = this.#parse(line);
    if (!this.#announced) this.#takeHeader(json);
    else if (Array.isArray(json)) this.#takeRow(json);
    else if (isRecord(json) && Object.hasOwn(json, 'end')) this.#takeTrailer(json);
    else this.#takeSection(json);
    if (this.#sha256 === null) this.#hash.update(line).update('\n');
  }

  /** Inserts the collected rows, after the previous batch. */
  async flush(): Promise<void> {
    await this.#inserted;
    const [table, rows, last] = [this.#batchTable, this.#batch, this.#lastRow];
    if (this.#section) this.#batchTable = this.#section.table;
    if (rows.length === 0) return;
    this.#batch = [];
    this.#inserted = this.#store.insert(table, rows).catch((cause: unknown) => {
      const words = cause instanceof Error ? cause.message : String(cause);
      throw new SetupError(`lines ${last - rows.length + 1} to ${last}: ${words}`);
    });
    // The next flush awaits it and sees the rejection.
    this.#inserted.catch(() => {});
  }

  /** Compares the store with the file. */
  async finish(): Promise<MoveReport> {
    if (this.#sha256 === null) {
      throw new SetupError(
        `the file ends at line ${this.#line} without its trailer: it was cut off; export it again`,
      );
    }
    await this.flush();
    await this.#inserted;
    for (const table of TABLE_NAMES) {
      const tally = this.#tallies.get(table) ?? new Tally(table);
      if (tally.equals(await this.#store.tally(table))) continue;
      throw new SetupError(`the table ${table} differs from the file`);
    }
    return { rows: this.#rows, sha256: this.#sha256 };
  }

  #parse(line: Uint8Array): unknown {
    if (!isUtf8(line)) this.#refuse('this is not UTF-8');
    try {
      return JSON.parse(Buffer.from(line.buffer, line.byteOffset, line.length).toString());
    } catch {
      return this.#refuse('this is not JSON');
    }
  }

  #takeHeader(json: unknown): void {
    if (!isRecord(json) || json.format !== FORMAT) {
      this.#refuse(`this is not the first line of an export, {"format":"${FORMAT}",…}`);
    }
    const { version } = json;
    if (typeof version !== 'number' || version < OLDEST_VERSION || version > FORMAT_VERSION) {
      this.#refuse(
        `this program reads versions ${OLDEST_VERSION} to ${FORMAT_VERSION} of the format`,
      );
    }
    this.#mayLack = (table) => mayBeAbsent(table, version);
    this.#announced = this.#readCounts(json.rows);
    this.#tables = TABLE_NAMES.filter((table) => Object.hasOwn(json.rows as object, table));
  }

  #takeSection(json: unknown): void {
    const table = this.#tables[this.#tallies.size];
    if (!isRecord(json) || table === undefined || json.table !== table) {
      this.#refuse(
        table ? `the table "${table}" is expected here` : 'the last line is expected here',
      );
    }
    this.#section = new Section(table, json.columns, (problem) => this.#refuse(problem));
    this.#tallies.set(table, this.#section.tally);
  }

  #takeRow(json: readonly unknown[]): void {
    const section = this.#section ?? this.#refuse('the name of the table must precede its rows');
    const row = section.read(json);
    if (section.table === 'accounts') this.#takeAccount(row);
    else this.#requireAccount(section, row);
    this.#rows[section.table] += 1;
    this.#batch.push(row);
    this.#lastRow = this.#line;
  }

  #takeAccount(row: readonly Value[]): void {
    const { accountId, plan } = accountOf(row);
    if (plan !== null && !this.#plans.has(plan)) {
      this.#refuse(`plan must be one of ${[...this.#plans].join(', ')}`);
    }
    this.#accounts.add(accountId);
  }

  #requireAccount({ accountColumn }: Section, row: readonly Value[]): void {
    if (accountColumn < 0 || this.#accounts.has(String(row[accountColumn]))) return;
    this.#refuse('account_id must be one of the accounts in the file');
  }

  #takeTrailer(json: Record<string, unknown>): void {
    if (this.#tallies.size < this.#tables.length)
      this.#refuse('tables are missing before this line');
    const counts = this.#readCounts(json.rows);
    for (const announced of [counts, this.#announced ?? noRows()]) {
      if (!sameCounts(announced, this.#rows))
        this.#refuse('rows are missing, or there are too many');
    }
    const sha256 = this.#hash.digest('hex');
    if (json.sha256 !== sha256) {
      this.#refuse(
        'the SHA-256 of the lines before differs: the file was changed; export it again',
      );
    }
    this.#sha256 = sha256;
  }

  #readCounts(json: unknown): RowCounts {
    if (isRecord(json)) {
      const counts = Object.fromEntries(
        TABLE_NAMES.map((table) => [table, json[table] ?? (this.#mayLack(table) ? 0 : undefined)]),
      );
      if (Object.values(counts).every(Number.isSafeInteger)) return counts as RowCounts;
    }
    return this.#refuse(`"rows" must hold the number of rows of ${TABLE_NAMES.join(', ')}`);
  }

  #refuse(problem: string): never {
    throw new SetupError(`line ${this.#line}: ${problem}`);
  }
}

function isRecord(json: unknown): json is Record<string, unknown> {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}
