/** A store with a log and its rows in either database, for tests that change it as someone who writes to the database. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type pg from 'pg';
import {
  checkDatabase,
  type DatabaseReport,
  type KnownCheckpoint,
} from '../../src/inspection/index.ts';
import type { Finding } from '../../src/ledger/admin.ts';
import { type LedgerStore, type LogRecord, openSqliteStore } from '../../src/ledger/index.ts';
import { openPostgresStore } from '../../src/ledger/postgres/store.ts';
import { newLogKeysText, parseLogKeys } from '../../src/log/index.ts';
import { deriveLogMacKeys, LogMacKeys } from '../../src/proof/index.ts';
import { startLog } from '../../src/setup/index.ts';
import { NOW, QUOTAS } from '../ledger/contract.ts';
import type { Databases } from '../support/ledgers/databases.ts';
import { LogWriter, ORIGIN } from '../support/ledgers/log-writer.ts';
import { secretOfTests } from '../support/servers/key-service.ts';

const MINUTE_MS = 60_000;

/** When the log began: before all keys. */
const STARTED = NOW - 100 * MINUTE_MS;

export type Value = string | number | bigint | Uint8Array;

/** A connection beside the store's. */
interface Writer {
  /** Runs one statement with `?` for each value. */
  execute(sql: string, values: readonly Value[]): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

/** The tables that tests change, each after those that it refers to. */
const TABLES = [
  ...['accounts', 'api_keys', 'ledger', 'key_states', 'logs', 'log_checkpoints', 'log_pending'],
  ...['log_entries', 'log_tiles', 'log_set_aside', 'audit'],
];

export interface CheckOptions {
  readonly known?: readonly KnownCheckpoint[];
  /** The logs as they were read; by default they are read now. */
  readonly logs?: readonly LogRecord[];
  readonly sinceMs?: number;
  readonly nowMs?: number;
  /** Keys for MACs; null without the master secret. */
  readonly macs?: LogMacKeys | null;
}

export class LoggedStore extends LogWriter {
  readonly keys = parseLogKeys(newLogKeysText(ORIGIN));
  readonly #writer: Writer;
  readonly #remove: () => void;

  private constructor(store: LedgerStore, writer: Writer, remove: () => void) {
    super(store, new LogMacKeys(deriveLogMacKeys(secretOfTests().versions)));
    this.#writer = writer;
    this.#remove = remove;
  }

  static async sqlite(): Promise<LoggedStore> {
    const folder = mkdtempSync(join(tmpdir(), 'phm-inspection-'));
    const path = join(folder, 'phm.db');
    const store = openSqliteStore({ path, quotas: QUOTAS });
    return new LoggedStore(store, sqliteWriter(path), () => rmSync(folder, { recursive: true }));
  }

  /** The caller removes the databases. */
  static async postgres(databases: Databases, name: string): Promise<LoggedStore> {
    const url = await databases.createLedger(name);
    const store = await openPostgresStore({ url, quotas: QUOTAS });
    const writer = postgresWriter(await databases.connect(name));
    return new LoggedStore(store, writer, () => {});
  }

  /** Starts the log, whose first entry is the record of it, and registers the version of the master secret. */
  async begin(): Promise<void> {
    await this.store.registerSecret(1, Buffer.alloc(32, 1), STARTED);
    const start = { keys: this.keys, macs: this.macs, version: 1, nowMs: STARTED };
    await startLog(this.store, { ...start, follows: null });
    await this.takeTurn();
    await this.addAccount();
  }

  publish(): Promise<string> {
    return this.publishWith(this.keys, NOW);
  }

  execute(sql: string, ...values: readonly Value[]): Promise<Record<string, unknown>[]> {
    return this.#writer.execute(sql, values);
  }

  /** Keeps what `restore` puts back. */
  async save(): Promise<void> {
    for (const table of TABLES) {
      await this.execute(`CREATE TABLE saved_${table} AS SELECT * FROM ${table}`);
    }
  }

  /** Puts these tables back as they were saved: by default all that tests change, but accounts and API keys. */
  async restore(tables: readonly string[] = TABLES.slice(2)): Promise<void> {
    await this.execute('BEGIN');
    for (const table of tables) {
      await this.execute(`DELETE FROM ${table}`);
      await this.execute(`INSERT INTO ${table} SELECT * FROM saved_${table}`);
    }
    await this.execute('COMMIT');
  }

  async check(options: CheckOptions = {}): Promise<DatabaseReport> {
    const { known = [], sinceMs = null, nowMs = NOW, macs = this.macs } = options;
    const { store } = this;
    const logs = options.logs ?? (await store.logs());
    return await checkDatabase({
      ...{ store, logs, known, macs, sinceMs, nowMs, intervalMs: 100 },
      signal: new AbortController().signal,
      onProgress: () => {},
    });
  }

  /** Returns the findings of a check as lines. */
  async findings(options?: CheckOptions): Promise<string[]> {
    return linesOf((await this.check(options)).findings.list);
  }

  async remove(): Promise<void> {
    this.macs.destroy();
    await this.#writer.close();
    await this.store.close();
    this.#remove();
  }
}

/** Returns a line for each finding: the problem, and the examples. */
export function linesOf(findings: readonly Finding[]): string[] {
  return findings.map(({ problem, examples }) => `${problem}: ${examples.join(', ')}`);
}

/** Compares lines. An expected one that ends with … may go on. */
export function assertFound(found: readonly string[], expected: readonly string[]): void {
  const shown = found.map((line, i) => {
    const start = expected[i]?.endsWith('…') ? expected[i].slice(0, -1) : null;
    return start !== null && line.startsWith(start) ? `${start}…` : line;
  });
  assert.deepEqual(shown, expected);
}

function sqliteWriter(path: string): Writer {
  const database = new DatabaseSync(path, { enableForeignKeyConstraints: false });
  database.exec('PRAGMA synchronous = OFF');
  return {
    async execute(sql, values) {
      const statement = database.prepare(sql);
      statement.setReadBigInts(true);
      return statement.all(...values);
    },
    close: async () => database.close(),
  };
}

function postgresWriter(client: pg.Client): Writer {
  return {
    async execute(sql, values) {
      let count = 0;
      const text = sql.replaceAll('?', () => `$${++count}`);
      return (await client.query(text, [...values])).rows;
    },
    close: () => client.end(),
  };
}
