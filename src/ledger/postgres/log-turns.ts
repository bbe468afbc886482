/** Changes of a log in PostgreSQL, each within a transaction that the caller begins and ends. */
import type { PendingEntry } from '../ledger-row.ts';
import type {
  Edge,
  Extend,
  Extension,
  LogEntry,
  LogRecord,
  LogStart,
  Turn,
  TurnOutcome,
} from '../log-store.ts';
import {
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
  HEAD_COLUMNS,
  SELECT_PENDING,
  selectLogs,
  toHead,
  toLogRecord,
  toPendingEntry,
} from '../recorded-row.ts';
import { counted, countOf } from './audit.ts';
import { type Run, toBuffer } from './connection.ts';
import { droppedRow } from './disturbances.ts';

/** A head, and whether the database moved, as `LogRecord` describes. */
type PlacedHead = Head & Pick<LogRecord, 'isMoved'>;

/** An entry to append. */
type NewEntry = Pick<LogEntry, 'entry' | 'entryId' | 'kind'>;

const IS_MOVED = 'home <> (SELECT ledger_home())';

export const SELECT_LOGS = selectLogs(IS_MOVED);

export const SELECT_ENTRIES = `SELECT entry FROM log_entries
  WHERE log_id = $1 AND entry_index >= $2 AND entry_index < $3 ORDER BY entry_index`;

/** Starts a log, as `LogStore.startLog` describes. */
export async function startLog(run: Run, start: LogStart): Promise<LogRecord> {
  // Waits for turns, which lock rows of this table, and lets readers pass.
  await run('LOCK TABLE logs IN EXCLUSIVE MODE', []);
  const open = await findLog(run, 'closed_ms IS NULL');
  if (open?.origin === start.origin && open.verifierKeys === start.verifierKeys) return open;
  if (await findLog(run, 'origin = $1', start.origin)) refuseOrigin(start.origin);
  const { closes } = start;
  if (closes && (open?.logId !== closes.logId || open.size !== closes.size)) {
    refuseFollowing(closes.size, open?.logId === closes.logId ? open : null);
  }
  return insertLog(run, start, open);
}

async function findLog(
  run: Run,
  condition: string,
  ...values: string[]
): Promise<LogRecord | undefined> {
  const { rows } = await run(`${SELECT_LOGS} WHERE ${condition}`, values);
  return rows[0] && toLogRecord(rows[0]);
}

async function insertLog(
  run: Run,
  start: LogStart,
  open: LogRecord | undefined,
): Promise<LogRecord> {
  const { origin, verifierKeys, startedMs, first, tree } = start;
  const closed = await run('UPDATE logs SET closed_ms = $1 WHERE closed_ms IS NULL', [startedMs]);
  requireCount('logs', open ? 1 : 0, closed);
  const added = await run(
    `INSERT INTO logs (log_id, origin, verifier_keys, started_ms, closed_ms, size, root, head_mac,
       head_version)
     SELECT coalesce(max(log_id), 0) + 1, $1, $2, $3, NULL, 0, $4, $5, $6 FROM logs`,
    [origin, verifierKeys, startedMs, emptyRoot(), toBuffer(tree.seal.mac), tree.seal.version],
  );
  requireCount('logs', 1, added);
  const started = (await findLog(run, 'closed_ms IS NULL')) as LogRecord;
  if (first === null) return started;
  const entry = { entry: first, entryId: null, kind: 'start' } as const;
  await append(run, started.logId, started, tree, [entry]);
  return { ...started, size: tree.size, root: tree.root };
}

/** Appends pending entries, as `LogStore.takeTurn` describes. */
export async function takeTurn(run: Run, turn: Turn): Promise<TurnOutcome> {
  const head = await lockHead(run, turn.logId);
  if (head.closedMs !== null || head.isMoved) return outcomeAt(head);
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
async function lockHead(run: Run, logId: number): Promise<PlacedHead> {
  const { rows } = await run(
    `SELECT ${HEAD_COLUMNS}, ${IS_MOVED} AS "isMoved" FROM logs WHERE log_id = $1 FOR UPDATE`,
    [logId],
  );
  if (!rows[0]) throw new Error(`the ledger has no log ${logId}`);
  return { ...toHead(rows[0]), isMoved: rows[0].isMoved === true };
}

/**
 * Returns what this statement sees, in a snapshot that is younger than the lock. It starts at the first entry ID, never
 * above the last one seen: rows can become visible out of order.
 */
async function waitingOf(run: Run, { logId, limit }: Turn): Promise<WaitingEntry[]> {
  const { rows } = await run(
    `${SELECT_PENDING}, log_entries.entry_id IS NOT NULL AS "isLogged"
     FROM log_pending LEFT JOIN log_entries ON log_entries.entry_id = log_pending.entry_id
     WHERE log_pending.log_id = $1 ORDER BY log_pending.entry_id LIMIT $2`,
    [logId, limit],
  );
  return rows.map((row) => ({ pending: toPendingEntry(row), isLogged: row.isLogged === true }));
}

/** Removes exactly these entries: others may have become visible since they were read. */
async function removeWaiting(run: Run, waiting: readonly WaitingEntry[]): Promise<void> {
  if (waiting.length === 0) return;
  const removed = await run('DELETE FROM log_pending WHERE entry_id = ANY ($1::bytea[])', [
    waiting.map(({ pending }) => toBuffer(pending.entryId)),
  ]);
  requireCount('log_pending', waiting.length, removed);
}

async function setAside(run: Run, refused: readonly PendingEntry[]): Promise<void> {
  if (refused.length === 0) return;
  const added = await run(
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
  requireCount('log_set_aside', refused.length, added);
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
  { size, root, seal, tiles }: Extension,
  entries: readonly NewEntry[],
): Promise<void> {
  const added = await run(
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
  requireCount('log_entries', entries.length, added);
  if (tiles.length > 0) {
    const written = await run(
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
    requireCount('log_tiles', tiles.length, written);
  }
  const { rowCount } = await run(
    `UPDATE logs SET size = $1, root = $2, head_mac = $3, head_version = $4
     WHERE log_id = $5 AND size = $6 AND closed_ms IS NULL`,
    [size, root, toBuffer(seal.mac), seal.version, logId, head.size],
  );
  if (rowCount !== 1) throw new Error('another turn has moved the head');
}

/** Appends entries of a copy, as `LogStore.recoverEntries` describes. */
export async function recoverEntries(
  run: Run,
  logId: number,
  entries: readonly Uint8Array[],
  extend: Extend,
): Promise<void> {
  const head = await lockHead(run, logId);
  const extension = extended(extend, await edgeAt(run, logId, head), entries);
  const waiting = await takeWaitingWith(run, entries);
  const appended = entries.map((entry): NewEntry => {
    const found = waiting.get(hexOf(entry));
    waiting.delete(hexOf(entry));
    return found ?? { entry, entryId: null, kind: 'recovered' };
  });
  await append(run, logId, head, extension, appended);
}

const TAKE_WAITING = counted(
  [
    `waiting AS (SELECT entry_id FROM log_pending WHERE entry = ANY ($1::bytea[]) AND NOT EXISTS (
       SELECT FROM log_entries WHERE log_entries.entry_id = log_pending.entry_id) FOR UPDATE)`,
    `taken AS (DELETE FROM log_pending USING waiting WHERE log_pending.entry_id = waiting.entry_id
       RETURNING log_pending.entry_id AS "entryId", log_id AS "logId", kind, entry, mac,
         secret_version AS "secretVersion")`,
  ],
  'SELECT * FROM taken',
  [['log_pending', countOf('waiting'), countOf('taken')]],
);

/** Removes the pending rows of these entries and returns them by their entry. */
async function takeWaitingWith(
  run: Run,
  entries: readonly Uint8Array[],
): Promise<Map<string, PendingEntry>> {
  const { rows } = await run(TAKE_WAITING, [entries.map(toBuffer)]);
  return new Map(rows.map(toPendingEntry).map((one) => [hexOf(one.entry), one]));
}

/** Throws if the database dropped rows. */
function requireCount(
  table: string,
  wanted: number,
  { rowCount }: { readonly rowCount: number | null },
): void {
  if (rowCount !== wanted) throw droppedRow(table);
}

/** Returns the outcome of a turn that changes nothing. */
export function outcomeAt({ size, root }: Head): TurnOutcome {
  return { appended: 0, setAside: 0, more: false, size, root };
}

export function joined(rows: readonly Record<string, unknown>[]): Buffer {
  return Buffer.concat(rows.map(({ entry }) => entry as Uint8Array));
}

function hexOf(bytes: Uint8Array): string {
  return toBuffer(bytes).toString('hex');
}
