/** The log's part of the embedded store. Each change is one transaction behind SQLite's only write lock. */
import { keyIdMs } from '../key-time.ts';
import type { PendingEntry, RecordedRow } from '../ledger-row.ts';
import type {
  AuditAction,
  AuditRecord,
  Extend,
  LogCounts,
  LogEntry,
  Logged,
  LogRecord,
  LogStart,
  LogStore,
  Turn,
  TurnOutcome,
} from '../log-store.ts';
import { asRejection, MOST_COUNTED } from '../log-turn.ts';
import {
  SELECT_AUDITS,
  SELECT_LOGGED_RECORDS,
  SELECT_PENDING,
  SELECT_RECORDS,
  toAuditRecord,
  toLogged,
  toLogRecord,
  toPendingEntry,
  toRecordedRow,
} from '../recorded-row.ts';
import { SqliteAccountStore } from './accounts.ts';
import type { Row } from './connection.ts';
import { outcomeOf, SELECT_LOGS, SqliteTurns } from './log-turns.ts';

export class SqliteLogStore extends SqliteAccountStore implements LogStore {
  readonly #turns = new SqliteTurns(this.connection);

  async logs(): Promise<LogRecord[]> {
    return this.connection.guarded(() =>
      this.connection.all(`${SELECT_LOGS} ORDER BY log_id`).map(toLogRecord),
    );
  }

  async startLog(start: LogStart): Promise<LogRecord> {
    return this.#change(() => this.#turns.startLog(start));
  }

  /**
   * Reads, judges and hashes before it takes the write lock, for which keys wait too. If another turn came
   * between, it does so again behind the lock.
   */
  async takeTurn(turn: Turn): Promise<TurnOutcome> {
    const early = this.#guarded(() => this.#turns.plan(turn));
    if (early.waiting.length === 0) return outcomeOf(early, turn);
    const outcome = this.#change(() => {
      const plan = this.#turns.isCurrent(early, turn) ? early : this.#turns.plan(turn);
      this.#turns.carryOut(plan, turn);
      return outcomeOf(plan, turn);
    });
    // Here, because this thread has time.
    this.connection.emptyLog();
    return outcome;
  }

  async recordHome(): Promise<void> {}

  async strandedEntries(openLogId: number, limit: number): Promise<PendingEntry[]> {
    return this.connection.guarded(() =>
      this.connection
        .all(
          `${SELECT_PENDING} FROM log_pending WHERE log_id <> ? ORDER BY entry_id LIMIT ?`,
          openLogId,
          limit,
        )
        .map(toPendingEntry),
    );
  }

  async restamp(entries: readonly PendingEntry[]): Promise<void> {
    this.#change(() => {
      for (const { entryId, logId, entry, mac, secretVersion } of entries) {
        this.connection.run(
          `UPDATE log_pending SET log_id = ?, entry = ?, mac = ?, secret_version = ?
           WHERE entry_id = ? AND log_id <> ?
             AND EXISTS (SELECT 1 FROM logs WHERE log_id = ? AND closed_ms IS NULL)`,
          logId,
          entry,
          mac,
          secretVersion,
          entryId,
          logId,
          logId,
        );
      }
    });
  }

  async readTile(logId: number, level: number, index: number): Promise<Uint8Array | null> {
    return this.connection.guarded(() => this.#turns.readTile(logId, level, index));
  }

  async readEntries(logId: number, from: number, to: number): Promise<Uint8Array> {
    return this.connection.guarded(() => this.#turns.readEntries(logId, from, to));
  }

  async findLogged(entryId: Uint8Array): Promise<Logged> {
    return this.connection.guarded(() => {
      // One statement: between two, a turn could move the entry.
      const row = this.connection.get(
        `SELECT log_entries.log_id AS logId, log_entries.entry_index AS "index",
           log_pending.log_id IS NOT NULL AS isPending
         FROM (SELECT ? AS entry_id) AS asked
         LEFT JOIN log_entries ON log_entries.entry_id = asked.entry_id
         LEFT JOIN log_pending ON log_pending.entry_id = asked.entry_id`,
        entryId,
      );
      return toLogged(row ?? {});
    });
  }

  async findRecord(keyId: Uint8Array): Promise<RecordedRow | null> {
    return this.connection.guarded(() => {
      const row = this.connection.get(`${SELECT_RECORDS} WHERE ledger.key_id = ?`, keyId);
      return row ? toRecordedRow(row) : null;
    });
  }

  async saveCheckpoint(
    logId: number,
    size: number,
    note: string,
    kind: 'checkpoint' | 'witnessed',
  ): Promise<void> {
    this.#change(() =>
      this.connection.run(
        `INSERT INTO log_checkpoints (log_id, kind, size, note) VALUES (?, ?, ?, ?)
         ON CONFLICT (log_id, kind) DO UPDATE SET size = excluded.size, note = excluded.note
           WHERE log_checkpoints.size <= excluded.size`,
        logId,
        kind,
        size,
        note,
      ),
    );
  }

  async logCounts(logId: number): Promise<LogCounts> {
    return this.connection.guarded(() => {
      const row = this.connection.get(
        `SELECT
           (SELECT count(*) FROM (SELECT 1 FROM log_pending WHERE log_id = ? LIMIT ${MOST_COUNTED}))
             AS pending,
           (SELECT entry_id FROM log_pending WHERE log_id = ? ORDER BY entry_id LIMIT 1) AS oldest,
           (SELECT count(*) FROM (SELECT 1 FROM log_set_aside WHERE log_id = ? LIMIT ${MOST_COUNTED}))
             AS setAside`,
        logId,
        logId,
        logId,
      );
      return toLogCounts(row);
    });
  }

  async pageRecords(
    after: Uint8Array | null,
    limit: number,
  ): Promise<{ record: RecordedRow; logged: Logged }[]> {
    return this.connection.guarded(() =>
      this.connection
        .all(
          `${SELECT_LOGGED_RECORDS} WHERE ledger.key_id > ? ORDER BY ledger.key_id LIMIT ?`,
          after ?? new Uint8Array(0),
          limit,
        )
        .map((row) => ({ record: toRecordedRow(row), logged: toLogged(row) })),
    );
  }

  async pageEntries(logId: number, from: number, limit: number): Promise<LogEntry[]> {
    return this.connection.guarded(() =>
      this.connection
        .all(
          `SELECT entry_index AS "index", entry, entry_id AS entryId, kind FROM log_entries
           WHERE log_id = ? AND entry_index >= ? ORDER BY entry_index LIMIT ?`,
          logId,
          from,
          limit,
        )
        .map((row) => ({ ...(row as unknown as LogEntry) })),
    );
  }

  async recoverEntries(
    logId: number,
    entries: readonly Uint8Array[],
    extend: Extend,
  ): Promise<void> {
    this.#change(() => this.#turns.recoverEntries(logId, entries, extend));
  }

  async registerSoftware(name: string): Promise<number> {
    const find = (): number | undefined =>
      this.connection.get('SELECT software_id AS id FROM software WHERE name = ?', name)?.id as
        | number
        | undefined;
    const known = this.connection.guarded(find);
    if (known !== undefined) return known;
    return this.#change(() => {
      this.connection.run('INSERT INTO software (name) VALUES (?) ON CONFLICT DO NOTHING', name);
      return Number(find());
    });
  }

  async audits(after: Uint8Array | null, limit: number): Promise<AuditRecord[]> {
    return this.connection.guarded(() =>
      this.connection
        .all(
          `${SELECT_AUDITS} WHERE audit_id > ? ORDER BY audit_id LIMIT ?`,
          after ?? new Uint8Array(0),
          limit,
        )
        .map(toAuditRecord),
    );
  }

  async lastAudit(action: AuditAction): Promise<AuditRecord | null> {
    const row = this.connection.guarded(() =>
      this.connection.get(
        `${SELECT_AUDITS} WHERE action = ? ORDER BY audit_id DESC LIMIT 1`,
        action,
      ),
    );
    return row ? toAuditRecord(row) : null;
  }

  /** Runs `work` in one transaction. */
  #change<T>(work: () => T): T {
    return this.#guarded(() => this.connection.transact(work));
  }

  #guarded<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw asRejection(error);
    }
  }
}

function toLogCounts(row: Row | undefined): LogCounts {
  const oldest = row?.oldest;
  return {
    pending: Number(row?.pending),
    oldestPendingMs: oldest instanceof Uint8Array ? keyIdMs(oldest) : null,
    setAside: Number(row?.setAside),
  };
}
