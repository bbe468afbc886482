/** The log's part of the embedded store. Each change is one transaction behind SQLite's only write lock. */
import { keyIdMs } from '../key-time.ts';
import type { PendingEntry, RecordedRow } from '../ledger-row.ts';
import type {
  AuditRecord,
  Edge,
  Extend,
  Extension,
  LogCounts,
  LogEntry,
  Logged,
  LogRecord,
  LogStart,
  LogStore,
  Turn,
  TurnOutcome,
} from '../log-store.ts';
import {
  asRejection,
  edgeOf,
  edgeStart,
  emptyRoot,
  extended,
  type Head,
  judgeAll,
  refuseFollowing,
  refuseOrigin,
  type WaitingEntry,
} from '../log-turn.ts';
import {
  SELECT_AUDITS,
  SELECT_LOGGED_RECORDS,
  SELECT_LOGS,
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

type KindOfEntry = LogEntry['kind'];

/** An entry to append. */
interface NewEntry {
  readonly entry: Uint8Array;
  readonly entryId: Uint8Array | null;
  readonly kind: KindOfEntry;
}

/** What a turn is going to do. */
interface TurnPlan {
  readonly head: Head;
  readonly waiting: readonly WaitingEntry[];
  readonly accepted: readonly PendingEntry[];
  readonly refused: readonly PendingEntry[];
  /** Null if no entry is accepted. */
  readonly extension: Extension | null;
}

export class SqliteLogStore extends SqliteAccountStore implements LogStore {
  async logs(): Promise<LogRecord[]> {
    return this.connection.guarded(() =>
      this.connection.all(`${SELECT_LOGS} ORDER BY log_id`).map(toLogRecord),
    );
  }

  async startLog(start: LogStart): Promise<LogRecord> {
    return this.#change(() => {
      const open = this.#findLog('closed_ms IS NULL');
      if (open?.origin === start.origin && open.verifierKeys === start.verifierKeys) return open;
      if (this.#findLog('origin = ?', start.origin)) refuseOrigin(start.origin);
      const { closes } = start;
      if (closes && (open?.logId !== closes.logId || open.size !== closes.size)) {
        refuseFollowing(closes.size, open?.logId === closes.logId ? open : null);
      }
      return this.#start(start);
    });
  }

  #start({ origin, verifierKeys, startedMs, first, firstExtension }: LogStart): LogRecord {
    this.connection.run('UPDATE logs SET closed_ms = ? WHERE closed_ms IS NULL', startedMs);
    this.connection.run(
      `INSERT INTO logs (log_id, origin, verifier_keys, started_ms, closed_ms, size, root)
       SELECT coalesce(max(log_id), 0) + 1, ?, ?, ?, NULL, 0, ? FROM logs`,
      origin,
      verifierKeys,
      startedMs,
      emptyRoot(),
    );
    const started = this.#findLog('closed_ms IS NULL') as LogRecord;
    if (first === null || firstExtension === null) return started;
    const entry = { entry: first, entryId: null, kind: 'start' } as const;
    this.#append(started.logId, started, firstExtension, [entry]);
    return { ...started, size: firstExtension.size, root: firstExtension.root };
  }

  /**
   * Reads, judges and hashes before it takes the write lock, for which keys wait too. If another turn came
   * between, it does so again behind the lock.
   */
  async takeTurn(turn: Turn): Promise<TurnOutcome> {
    const early = this.#guarded(() => this.#plan(turn));
    if (early.waiting.length === 0) return outcomeOf(early, turn);
    return this.#change(() => {
      const plan = this.#isCurrent(early, turn) ? early : this.#plan(turn);
      this.#carryOut(plan, turn);
      return outcomeOf(plan, turn);
    });
  }

  #plan(turn: Turn): TurnPlan {
    const head = this.#head(turn.logId);
    const waiting = head.closedMs === null ? this.#waiting(turn) : [];
    const { accepted, refused } = judgeAll(waiting, turn);
    if (accepted.length === 0) return { head, waiting, accepted, refused, extension: null };
    const entries = accepted.map(({ entry }) => entry);
    const extension = extended(turn.extend, this.#edge(turn.logId, head), entries);
    return { head, waiting, accepted, refused, extension };
  }

  /** Returns true if the plan is what `#plan` would return now, apart from entries that came later. */
  #isCurrent({ head, waiting }: TurnPlan, { logId }: Turn): boolean {
    const { size, closedMs } = this.#head(logId);
    const last = waiting.at(-1)?.pending.entryId ?? null;
    const found = this.connection.get(
      'SELECT count(*) AS n FROM log_pending WHERE log_id = ? AND entry_id <= ?',
      logId,
      last,
    );
    return size === head.size && closedMs === null && found?.n === waiting.length;
  }

  #carryOut({ head, waiting, accepted, refused, extension }: TurnPlan, { logId }: Turn): void {
    this.#setAside(refused);
    const last = waiting.at(-1);
    if (last) this.#removeWaiting(logId, last.pending.entryId, waiting.length);
    if (extension) this.#append(logId, head, extension, accepted);
  }

  #waiting({ logId, limit }: Turn): WaitingEntry[] {
    const rows = this.connection.all(
      `${SELECT_PENDING}, log_entries.entry_id IS NOT NULL AS isLogged
       FROM log_pending LEFT JOIN log_entries ON log_entries.entry_id = log_pending.entry_id
       WHERE log_pending.log_id = ? ORDER BY log_pending.entry_id LIMIT ?`,
      logId,
      limit,
    );
    return rows.map(({ isLogged, ...row }) => ({
      pending: toPendingEntry(row),
      isLogged: isLogged === 1,
    }));
  }

  /** Removes the entries of a turn: the oldest of the log, up to the last one taken. */
  #removeWaiting(logId: number, lastId: Uint8Array, expected: number): void {
    const removed = this.connection.run(
      'DELETE FROM log_pending WHERE log_id = ? AND entry_id <= ?',
      logId,
      lastId,
    );
    if (removed !== expected) throw new Error(`${removed} of ${expected} entries were removed`);
  }

  #setAside(refused: readonly PendingEntry[]): void {
    for (const { entryId, logId, kind, entry, mac, secretVersion } of refused) {
      this.connection.run(
        `INSERT INTO log_set_aside (entry_id, log_id, kind, entry, mac, secret_version, noted_ms)
         VALUES (?, ?, ?, ?, ?, ?, ?)`,
        entryId,
        logId,
        kind,
        entry,
        mac,
        secretVersion,
        Date.now(),
      );
    }
  }

  #edge(logId: number, head: Head): Edge {
    const entries = this.#entries(logId, edgeStart(head.size), head.size);
    return edgeOf(head, entries, ({ level, index }) => this.#tile(logId, level, index));
  }

  /** Writes entries, tiles and the new head. Throws if another turn has moved the head. */
  #append(
    logId: number,
    head: Head,
    { size, root, tiles }: Extension,
    entries: readonly NewEntry[],
  ): void {
    for (const [i, { entry, entryId, kind }] of entries.entries()) {
      this.connection.run(
        `INSERT INTO log_entries (log_id, entry_index, entry, entry_id, kind)
         VALUES (?, ?, ?, ?, ?)`,
        logId,
        head.size + i,
        entry,
        entryId,
        kind,
      );
    }
    for (const { level, index, hashes } of tiles) {
      this.connection.run(
        `INSERT INTO log_tiles (log_id, level, tile_index, hashes) VALUES (?, ?, ?, ?)
         ON CONFLICT (log_id, level, tile_index) DO UPDATE SET hashes = excluded.hashes`,
        logId,
        level,
        index,
        hashes,
      );
    }
    const moved = this.connection.changes(
      `UPDATE logs SET size = ?, root = ? WHERE log_id = ? AND size = ? AND closed_ms IS NULL`,
      size,
      root,
      logId,
      head.size,
    );
    if (!moved) throw new Error('another turn has moved the head');
  }

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
    return this.connection.guarded(() => this.#tile(logId, level, index));
  }

  async readEntries(logId: number, from: number, to: number): Promise<Uint8Array> {
    return this.connection.guarded(() => this.#entries(logId, from, to));
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
        `SELECT (SELECT count(*) FROM log_pending WHERE log_id = ?) AS pending,
           (SELECT entry_id FROM log_pending WHERE log_id = ? ORDER BY entry_id LIMIT 1) AS oldest,
           (SELECT count(*) FROM log_set_aside WHERE log_id = ?) AS setAside`,
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
    this.#change(() => {
      const head = this.#head(logId);
      const extension = extended(extend, this.#edge(logId, head), entries);
      const waiting = this.#waitingWith(entries);
      const appended = entries.map((entry): NewEntry => {
        const found = waiting.get(hexOf(entry));
        waiting.delete(hexOf(entry));
        if (!found) return { entry, entryId: null, kind: 'recovered' };
        this.connection.run('DELETE FROM log_pending WHERE entry_id = ?', found.entryId);
        return found;
      });
      this.#append(logId, head, extension, appended);
    });
  }

  /** Returns pending entries without an entry in a log, by their entry, of those given. */
  #waitingWith(entries: readonly Uint8Array[]): Map<string, PendingEntry> {
    const rows = this.connection.all(
      `${SELECT_PENDING} FROM log_pending
       WHERE entry IN (SELECT unhex(value) FROM json_each(?))
         AND NOT EXISTS (SELECT 1 FROM log_entries WHERE log_entries.entry_id = log_pending.entry_id)`,
      JSON.stringify(entries.map(hexOf)),
    );
    return new Map(rows.map(toPendingEntry).map((one) => [hexOf(one.entry), one]));
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

  #findLog(condition: string, ...values: string[]): LogRecord | undefined {
    const row = this.connection.get(`${SELECT_LOGS} WHERE ${condition}`, ...values);
    return row && toLogRecord(row);
  }

  #head(logId: number): Head {
    const row = this.connection.get(
      'SELECT size, root, closed_ms AS closedMs FROM logs WHERE log_id = ?',
      logId,
    );
    if (!row) throw new Error(`the ledger has no log ${logId}`);
    return row as unknown as Head;
  }

  #tile(logId: number, level: number, index: number): Uint8Array | null {
    const row = this.connection.get(
      'SELECT hashes FROM log_tiles WHERE log_id = ? AND level = ? AND tile_index = ?',
      logId,
      level,
      index,
    );
    return (row?.hashes as Uint8Array | undefined) ?? null;
  }

  #entries(logId: number, from: number, to: number): Uint8Array {
    const rows = this.connection.all(
      `SELECT entry FROM log_entries WHERE log_id = ? AND entry_index >= ? AND entry_index < ?
       ORDER BY entry_index`,
      logId,
      from,
      to,
    );
    return Buffer.concat(rows.map(({ entry }) => entry as Uint8Array));
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

function outcomeOf(
  { head, waiting, accepted, refused, extension }: TurnPlan,
  turn: Turn,
): TurnOutcome {
  const { size, root } = extension ?? head;
  const more = waiting.length === turn.limit;
  return { appended: accepted.length, setAside: refused.length, more, size, root };
}

function toLogCounts(row: Row | undefined): LogCounts {
  const oldest = row?.oldest;
  return {
    pending: Number(row?.pending),
    oldestPendingMs: oldest instanceof Uint8Array ? keyIdMs(oldest) : null,
    setAside: Number(row?.setAside),
  };
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex');
}
