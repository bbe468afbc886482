/** The log's part of the PostgreSQL store. A turn is one transaction that locks the row of its log. */
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
  HEAD_COLUMNS,
  SELECT_AUDITS,
  SELECT_LOGGED_RECORDS,
  SELECT_PENDING,
  SELECT_RECORDS,
  toAuditRecord,
  toHead,
  toLogged,
  toLogRecord,
  toPendingEntry,
  toRecordedRow,
} from '../recorded-row.ts';
import { PostgresAccountStore } from './accounts.ts';
import { counted, countOf } from './audit.ts';
import { type Run, toBuffer } from './connection.ts';
import { droppedRow } from './disturbances.ts';
import {
  joined,
  outcomeAt,
  recoverEntries,
  SELECT_ENTRIES,
  SELECT_LOGS,
  startLog,
  takeTurn,
} from './log-turns.ts';

const RESTAMP = counted(
  [
    `new AS (
       SELECT asked.* FROM unnest($1::bytea[], $2::integer[], $3::bytea[], $4::bytea[], $5::integer[])
         AS asked (entry_id, log_id, entry, mac, secret_version)
       JOIN logs ON logs.log_id = asked.log_id AND logs.closed_ms IS NULL)`,
    `old AS (SELECT log_pending.entry_id FROM log_pending JOIN new USING (entry_id)
       WHERE log_pending.log_id <> new.log_id FOR UPDATE OF log_pending)`,
    `restamped AS (UPDATE log_pending SET log_id = new.log_id, entry = new.entry, mac = new.mac,
         secret_version = new.secret_version
       FROM new JOIN old USING (entry_id) WHERE log_pending.entry_id = new.entry_id RETURNING 1)`,
  ],
  'SELECT FROM restamped',
  [['log_pending', countOf('old'), countOf('restamped')]],
);

/** Attempts to register a name while other servers register theirs. */
const MAX_ATTEMPTS = 10;

export class PostgresLogStore extends PostgresAccountStore implements LogStore {
  async logs(): Promise<LogRecord[]> {
    return (await this.connection.all(`${SELECT_LOGS} ORDER BY log_id`)).map(toLogRecord);
  }

  startLog(start: LogStart): Promise<LogRecord> {
    return this.#change((run) => startLog(run, start));
  }

  async takeTurn(turn: Turn): Promise<TurnOutcome> {
    return (await this.#idleOutcome(turn.logId)) ?? this.#change((run) => takeTurn(run, turn));
  }

  /**
   * Returns the outcome of a turn without entries; null if entries wait. It takes no lock, and writes
   * nothing for standbys to confirm.
   */
  async #idleOutcome(logId: number): Promise<TurnOutcome | null> {
    const row = await this.connection.get(
      `SELECT ${HEAD_COLUMNS} FROM logs
       WHERE log_id = $1 AND NOT EXISTS (SELECT FROM log_pending WHERE log_id = $1)`,
      logId,
    );
    return row ? outcomeAt(toHead(row)) : null;
  }

  async recordHome(logId: number): Promise<void> {
    const { rowCount } = await this.connection.guarded(() =>
      this.connection.commit('UPDATE logs SET home = ledger_home() WHERE log_id = $1', [logId]),
    );
    if (rowCount !== 1) throw droppedRow('logs');
  }

  async strandedEntries(openLogId: number, limit: number): Promise<PendingEntry[]> {
    const rows = await this.connection.all(
      `${SELECT_PENDING} FROM log_pending WHERE log_id <> $1 ORDER BY entry_id LIMIT $2`,
      openLogId,
      limit,
    );
    return rows.map(toPendingEntry);
  }

  async restamp(entries: readonly PendingEntry[]): Promise<void> {
    if (entries.length === 0) return;
    await this.connection.guarded(() =>
      this.connection.commit(RESTAMP, [
        entries.map(({ entryId }) => toBuffer(entryId)),
        entries.map(({ logId }) => logId),
        entries.map(({ entry }) => toBuffer(entry)),
        entries.map(({ mac }) => toBuffer(mac)),
        entries.map(({ secretVersion }) => secretVersion),
      ]),
    );
  }

  async readTile(logId: number, level: number, index: number): Promise<Uint8Array | null> {
    const row = await this.connection.get(
      'SELECT hashes FROM log_tiles WHERE log_id = $1 AND level = $2 AND tile_index = $3',
      logId,
      level,
      index,
    );
    return (row?.hashes as Uint8Array | undefined) ?? null;
  }

  async readEntries(logId: number, from: number, to: number): Promise<Uint8Array> {
    return joined(await this.connection.all(SELECT_ENTRIES, logId, from, to));
  }

  async findLogged(entryId: Uint8Array): Promise<Logged> {
    // One statement: between two, a turn could move the entry.
    const row = await this.connection.get(
      `SELECT log_entries.log_id AS "logId", log_entries.entry_index AS "index",
         log_pending.log_id IS NOT NULL AS "isPending"
       FROM (SELECT $1::bytea AS entry_id) AS asked
       LEFT JOIN log_entries ON log_entries.entry_id = asked.entry_id
       LEFT JOIN log_pending ON log_pending.entry_id = asked.entry_id`,
      entryId,
    );
    return toLogged(row ?? {});
  }

  async findRecord(keyId: Uint8Array): Promise<RecordedRow | null> {
    const row = await this.connection.get(`${SELECT_RECORDS} WHERE ledger.key_id = $1`, keyId);
    return row ? toRecordedRow(row) : null;
  }

  async saveCheckpoint(
    logId: number,
    size: number,
    note: string,
    kind: 'checkpoint' | 'witnessed',
  ): Promise<void> {
    const { rowCount } = await this.connection.guarded(() =>
      this.connection.commit(
        `INSERT INTO log_checkpoints AS old (log_id, kind, size, note) VALUES ($1, $2, $3, $4)
         ON CONFLICT (log_id, kind) DO UPDATE SET size = excluded.size, note = excluded.note
           WHERE old.size <= excluded.size`,
        [logId, kind, size, note],
      ),
    );
    if (rowCount === 1) return;
    const newer = 'SELECT FROM log_checkpoints WHERE log_id = $1 AND kind = $2 AND size > $3';
    if (!(await this.connection.get(newer, logId, kind, size))) throw droppedRow('log_checkpoints');
  }

  async logCounts(logId: number): Promise<LogCounts> {
    const row = await this.connection.get(
      `SELECT
         (SELECT count(*) FROM (SELECT FROM log_pending WHERE log_id = $1 LIMIT $2) AS p) AS pending,
         (SELECT entry_id FROM log_pending WHERE log_id = $1 ORDER BY entry_id LIMIT 1) AS oldest,
         (SELECT count(*) FROM (SELECT FROM log_set_aside WHERE log_id = $1 LIMIT $2) AS a)
           AS "setAside"`,
      logId,
      MOST_COUNTED,
    );
    const oldest = row?.oldest as Uint8Array | null | undefined;
    return {
      pending: Number(row?.pending),
      oldestPendingMs: oldest ? keyIdMs(oldest) : null,
      setAside: Number(row?.setAside),
    };
  }

  async pageRecords(
    after: Uint8Array | null,
    limit: number,
  ): Promise<{ record: RecordedRow; logged: Logged }[]> {
    const rows = await this.connection.all(
      `${SELECT_LOGGED_RECORDS} WHERE ledger.key_id > $1 ORDER BY ledger.key_id LIMIT $2`,
      after ?? Buffer.alloc(0),
      limit,
    );
    return rows.map((row) => ({ record: toRecordedRow(row), logged: toLogged(row) }));
  }

  async pageEntries(logId: number, from: number, limit: number): Promise<LogEntry[]> {
    const rows = await this.connection.all(
      `SELECT entry_index AS "index", entry, entry_id AS "entryId", kind FROM log_entries
       WHERE log_id = $1 AND entry_index >= $2 ORDER BY entry_index LIMIT $3`,
      logId,
      from,
      limit,
    );
    return rows as unknown as LogEntry[];
  }

  recoverEntries(logId: number, entries: readonly Uint8Array[], extend: Extend): Promise<void> {
    return this.#change((run) => recoverEntries(run, logId, entries, extend));
  }

  async registerSoftware(name: string): Promise<number> {
    const find = 'SELECT software_id AS id FROM software WHERE name = $1';
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const found = await this.connection.get(find, name);
      if (found) return Number(found.id);
      // Does nothing if another server takes the number or the name.
      await this.connection.changes(
        `INSERT INTO software (software_id, name)
         SELECT coalesce(max(software_id), 0) + 1, $1 FROM software ON CONFLICT DO NOTHING`,
        name,
      );
    }
    throw asRejection(new Error('other servers took each number for this software'));
  }

  async audits(after: Uint8Array | null, limit: number): Promise<AuditRecord[]> {
    const rows = await this.connection.all(
      `${SELECT_AUDITS} WHERE audit_id > $1 ORDER BY audit_id LIMIT $2`,
      after ?? Buffer.alloc(0),
      limit,
    );
    return rows.map(toAuditRecord);
  }

  async lastAudit(action: AuditAction): Promise<AuditRecord | null> {
    const row = await this.connection.get(
      `${SELECT_AUDITS} WHERE action = $1 ORDER BY audit_id DESC LIMIT 1`,
      action,
    );
    return row ? toAuditRecord(row) : null;
  }

  /** Runs `work` in one transaction. */
  async #change<T>(work: (run: Run) => Promise<T>): Promise<T> {
    try {
      return await this.connection.transact(work);
    } catch (error) {
      throw asRejection(error);
    }
  }
}
