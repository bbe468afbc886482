/** The log's part of the PostgreSQL store. A turn is one transaction that locks the row of its log. */
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
  edgeTiles,
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
import { PostgresAccountStore } from './accounts.ts';
import { type Run, toBuffer } from './connection.ts';

/** An entry to append. */
type NewEntry = Pick<LogEntry, 'entry' | 'entryId' | 'kind'>;

/** Attempts to register a name while other servers register theirs. */
const MAX_ATTEMPTS = 10;

export class PostgresLogStore extends PostgresAccountStore implements LogStore {
  async logs(): Promise<LogRecord[]> {
    return (await this.connection.all(`${SELECT_LOGS} ORDER BY log_id`)).map(toLogRecord);
  }

  startLog(start: LogStart): Promise<LogRecord> {
    return this.#change(async (run) => {
      // Waits for turns, which lock rows of this table, and lets readers pass.
      await run('LOCK TABLE logs IN EXCLUSIVE MODE', []);
      const open = await findLog(run, 'closed_ms IS NULL');
      if (open?.origin === start.origin && open.verifierKeys === start.verifierKeys) return open;
      if (await findLog(run, 'origin = $1', start.origin)) refuseOrigin(start.origin);
      const { closes } = start;
      if (closes && (open?.logId !== closes.logId || open.size !== closes.size)) {
        refuseFollowing(closes.size, open?.logId === closes.logId ? open : null);
      }
      return insertLog(run, start);
    });
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
      `SELECT size, root, closed_ms AS "closedMs" FROM logs
       WHERE log_id = $1 AND NOT EXISTS (SELECT FROM log_pending WHERE log_id = $1)`,
      logId,
    );
    return row ? outcomeAt(row as unknown as Head) : null;
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
      this.connection.commit(
        `UPDATE log_pending AS old SET log_id = new.log_id, entry = new.entry, mac = new.mac,
           secret_version = new.secret_version
         FROM unnest($1::bytea[], $2::integer[], $3::bytea[], $4::bytea[], $5::integer[])
           AS new (entry_id, log_id, entry, mac, secret_version)
         JOIN logs ON logs.log_id = new.log_id AND logs.closed_ms IS NULL
         WHERE old.entry_id = new.entry_id AND old.log_id <> new.log_id`,
        [
          entries.map(({ entryId }) => toBuffer(entryId)),
          entries.map(({ logId }) => logId),
          entries.map(({ entry }) => toBuffer(entry)),
          entries.map(({ mac }) => toBuffer(mac)),
          entries.map(({ secretVersion }) => secretVersion),
        ],
      ),
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
    await this.connection.guarded(() =>
      this.connection.commit(
        `INSERT INTO log_checkpoints AS old (log_id, kind, size, note) VALUES ($1, $2, $3, $4)
         ON CONFLICT (log_id, kind) DO UPDATE SET size = excluded.size, note = excluded.note
           WHERE old.size <= excluded.size`,
        [logId, kind, size, note],
      ),
    );
  }

  async logCounts(logId: number): Promise<LogCounts> {
    const row = await this.connection.get(
      `SELECT (SELECT count(*) FROM log_pending WHERE log_id = $1) AS pending,
         (SELECT entry_id FROM log_pending WHERE log_id = $1 ORDER BY entry_id LIMIT 1) AS oldest,
         (SELECT count(*) FROM log_set_aside WHERE log_id = $1) AS "setAside"`,
      logId,
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
    return this.#change(async (run) => {
      const head = await lockHead(run, logId);
      const extension = extended(extend, await edgeAt(run, logId, head), entries);
      const waiting = await takeWaitingWith(run, entries);
      const appended = entries.map((entry): NewEntry => {
        const found = waiting.get(hexOf(entry));
        waiting.delete(hexOf(entry));
        return found ?? { entry, entryId: null, kind: 'recovered' };
      });
      await append(run, logId, head, extension, appended);
    });
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

  /** Runs `work` in one transaction. */
  async #change<T>(work: (run: Run) => Promise<T>): Promise<T> {
    try {
      return await this.connection.transact(work);
    } catch (error) {
      throw asRejection(error);
    }
  }
}

const SELECT_ENTRIES = `SELECT entry FROM log_entries
  WHERE log_id = $1 AND entry_index >= $2 AND entry_index < $3 ORDER BY entry_index`;

async function findLog(
  run: Run,
  condition: string,
  ...values: string[]
): Promise<LogRecord | undefined> {
  const { rows } = await run(`${SELECT_LOGS} WHERE ${condition}`, values);
  return rows[0] && toLogRecord(rows[0]);
}

async function insertLog(run: Run, start: LogStart): Promise<LogRecord> {
  const { origin, verifierKeys, startedMs, first, firstExtension } = start;
  await run('UPDATE logs SET closed_ms = $1 WHERE closed_ms IS NULL', [startedMs]);
  await run(
    `INSERT INTO logs (log_id, origin, verifier_keys, started_ms, closed_ms, size, root)
     SELECT coalesce(max(log_id), 0) + 1, $1, $2, $3, NULL, 0, $4 FROM logs`,
    [origin, verifierKeys, startedMs, emptyRoot()],
  );
  const started = (await findLog(run, 'closed_ms IS NULL')) as LogRecord;
  if (first === null || firstExtension === null) return started;
  const entry = { entry: first, entryId: null, kind: 'start' } as const;
  await append(run, started.logId, started, firstExtension, [entry]);
  return { ...started, size: firstExtension.size, root: firstExtension.root };
}

async function takeTurn(run: Run, turn: Turn): Promise<TurnOutcome> {
  const head = await lockHead(run, turn.logId);
  if (head.closedMs !== null) return outcomeAt(head);
  const waiting = await waitingOf(run, turn);
  const { accepted, refused } = judgeAll(waiting, turn);
  await removeWaiting(run, waiting);
  await setAside(run, refused);
  const more = waiting.length === turn.limit;
  const counts = { appended: accepted.length, setAside: refused.length, more };
  if (accepted.length === 0) return { ...outcomeAt(head), ...counts };
  const entries = accepted.map(({ entry }) => entry);
  const extension = extended(turn.extend, await edgeAt(run, turn.logId, head), entries);
  await append(run, turn.logId, head, extension, accepted);
  return { ...counts, size: extension.size, root: extension.root };
}

/** Returns the head. Other turns, on any server, wait from here to the end of the transaction. */
async function lockHead(run: Run, logId: number): Promise<Head> {
  const { rows } = await run(
    'SELECT size, root, closed_ms AS "closedMs" FROM logs WHERE log_id = $1 FOR UPDATE',
    [logId],
  );
  if (!rows[0]) throw new Error(`the ledger has no log ${logId}`);
  return rows[0] as unknown as Head;
}

/** Returns what this statement sees, in a snapshot that is younger than the lock. */
async function waitingOf(run: Run, { logId, limit }: Turn): Promise<WaitingEntry[]> {
  const { rows } = await run(
    `${SELECT_PENDING}, log_entries.entry_id IS NOT NULL AS "isLogged"
     FROM log_pending LEFT JOIN log_entries ON log_entries.entry_id = log_pending.entry_id
     WHERE log_pending.log_id = $1 ORDER BY log_pending.entry_id LIMIT $2`,
    [logId, limit],
  );
  return rows.map(({ isLogged, ...row }) => ({
    pending: toPendingEntry(row),
    isLogged: isLogged === true,
  }));
}

/** Removes exactly these entries: others may have become visible since they were read. */
async function removeWaiting(run: Run, waiting: readonly WaitingEntry[]): Promise<void> {
  if (waiting.length === 0) return;
  const { rowCount } = await run('DELETE FROM log_pending WHERE entry_id = ANY ($1::bytea[])', [
    waiting.map(({ pending }) => toBuffer(pending.entryId)),
  ]);
  if (rowCount !== waiting.length) {
    throw new Error(`${rowCount} of ${waiting.length} entries were removed`);
  }
}

async function setAside(run: Run, refused: readonly PendingEntry[]): Promise<void> {
  if (refused.length === 0) return;
  await run(
    `INSERT INTO log_set_aside (entry_id, log_id, kind, entry, mac, secret_version, noted_ms)
     SELECT *, ledger_clock_ms() FROM unnest($1::bytea[], $2::integer[], $3::text[], $4::bytea[],
       $5::bytea[], $6::integer[])`,
    [
      refused.map(({ entryId }) => toBuffer(entryId)),
      refused.map(({ logId }) => logId),
      refused.map(({ kind }) => kind),
      refused.map(({ entry }) => toBuffer(entry)),
      refused.map(({ mac }) => toBuffer(mac)),
      refused.map(({ secretVersion }) => secretVersion),
    ],
  );
}

async function edgeAt(run: Run, logId: number, head: Head): Promise<Edge> {
  const above = edgeTiles(head.size).slice(1);
  const entries = await run(SELECT_ENTRIES, [logId, edgeStart(head.size), head.size]);
  const { rows } = await run(
    `SELECT log_tiles.level AS level, hashes FROM log_tiles
     JOIN unnest($2::integer[], $3::bigint[]) AS edge (level, tile_index) USING (level, tile_index)
     WHERE log_id = $1`,
    [logId, above.map(({ level }) => level), above.map(({ index }) => index)],
  );
  const stored = new Map(rows.map(({ level, hashes }) => [level, hashes as Uint8Array]));
  return edgeOf(head, joined(entries.rows), ({ level }) => stored.get(level) ?? null);
}

/** Writes entries, tiles and the new head. Throws if another turn has moved the head. */
async function append(
  run: Run,
  logId: number,
  head: Head,
  { size, root, tiles }: Extension,
  entries: readonly NewEntry[],
): Promise<void> {
  await run(
    `INSERT INTO log_entries (log_id, entry_index, entry, entry_id, kind)
     SELECT $1, $2::bigint + position - 1, entry, entry_id, kind
     FROM unnest($3::bytea[], $4::bytea[], $5::text[])
       WITH ORDINALITY AS new (entry, entry_id, kind, position)`,
    [
      logId,
      head.size,
      entries.map(({ entry }) => toBuffer(entry)),
      entries.map(({ entryId }) => entryId && toBuffer(entryId)),
      entries.map(({ kind }) => kind),
    ],
  );
  if (tiles.length > 0) {
    await run(
      `INSERT INTO log_tiles (log_id, level, tile_index, hashes)
       SELECT $1, level, tile_index, hashes
       FROM unnest($2::integer[], $3::bigint[], $4::bytea[]) AS new (level, tile_index, hashes)
       ON CONFLICT (log_id, level, tile_index) DO UPDATE SET hashes = excluded.hashes`,
      [
        logId,
        tiles.map(({ level }) => level),
        tiles.map(({ index }) => index),
        tiles.map(({ hashes }) => toBuffer(hashes)),
      ],
    );
  }
  const { rowCount } = await run(
    'UPDATE logs SET size = $1, root = $2 WHERE log_id = $3 AND size = $4 AND closed_ms IS NULL',
    [size, root, logId, head.size],
  );
  if (rowCount !== 1) throw new Error('another turn has moved the head');
}

/** Removes the pending rows of these entries and returns them by their entry. */
async function takeWaitingWith(
  run: Run,
  entries: readonly Uint8Array[],
): Promise<Map<string, PendingEntry>> {
  const { rows } = await run(
    `DELETE FROM log_pending WHERE entry = ANY ($1::bytea[]) AND NOT EXISTS (
       SELECT FROM log_entries WHERE log_entries.entry_id = log_pending.entry_id)
     RETURNING entry_id AS "entryId", log_id AS "logId", kind, entry, mac,
       secret_version AS "secretVersion"`,
    [entries.map(toBuffer)],
  );
  return new Map(rows.map(toPendingEntry).map((one) => [hexOf(one.entry), one]));
}

function outcomeAt({ size, root }: Head): TurnOutcome {
  return { appended: 0, setAside: 0, more: false, size, root };
}

function joined(rows: readonly Record<string, unknown>[]): Buffer {
  return Buffer.concat(rows.map(({ entry }) => entry as Uint8Array));
}

function hexOf(bytes: Uint8Array): string {
  return toBuffer(bytes).toString('hex');
}
