/**
 * SQLite's knowledge of the time: its newest row, and the last check of a trusted clock. A file has no
 * clock.
 */

import type { Clock } from '../../clock.ts';
import { MINUTE_MS } from '../../clock.ts';
import { type ClockCheck, type ClockReading, judgeByRows, witnessedMs } from '../clock-check.ts';
import { keyIdBound, keyIdMs } from '../key-time.ts';
import type { SqliteConnection } from './connection.ts';

/** A row at most this far ahead may come from a correct clock. */
const AHEAD_MS = MINUTE_MS;

interface Known {
  readonly check: ClockCheck | null;
  readonly newestMs: number | null;
  readonly reading: ClockReading;
}

/** Compares a clock with what is known. Changes nothing. */
export function readClockBySqlite(connection: SqliteConnection, clock: Clock): ClockReading {
  return connection.guarded(() => look(connection, clock.nowMs()).reading);
}

/** Compares a clock with what is known, and records the result. */
export function noteClockInSqlite(connection: SqliteConnection, clock: Clock): ClockReading {
  return connection.guarded(() => {
    const nowMs = clock.nowMs();
    const { check, newestMs, reading } = look(connection, nowMs);
    let acceptedUntilMs = check?.acceptedUntilMs ?? null;
    if (reading.doubt !== null) {
      const seenMs = witnessedMs(check, newestMs);
      keep(connection, { seenMs, doubtedMs: check?.doubtedMs ?? nowMs, acceptedUntilMs });
    } else if (newestMs !== null) {
      // Without a row there is nothing to lose, and no evidence for this clock. Rows ahead of it come
      // from a wrong clock.
      if (newestMs > nowMs + AHEAD_MS) acceptedUntilMs = newestMs;
      keep(connection, { seenMs: nowMs, doubtedMs: null, acceptedUntilMs });
    }
    return reading;
  });
}

/**
 * Trusts a clock from now on. Rows ahead of it come from a wrong clock and no longer count against it.
 */
export function acceptClockInSqlite(connection: SqliteConnection, clock: Clock): void {
  connection.guarded(() => {
    const nowMs = clock.nowMs();
    const newestMs = newestRowMs(connection);
    const isAhead = newestMs !== null && newestMs > nowMs + AHEAD_MS;
    keep(connection, {
      seenMs: nowMs,
      doubtedMs: null,
      acceptedUntilMs: isAhead ? newestMs : null,
    });
  });
}

function look(connection: SqliteConnection, nowMs: number): Known {
  const row = connection.get(
    `SELECT seen_ms AS seenMs, doubted_ms AS doubtedMs, accepted_until_ms AS acceptedUntilMs
     FROM clock_check`,
  );
  const check = (row as ClockCheck | undefined) ?? null;
  const untilMs = check?.acceptedUntilMs ?? null;
  const allMs = newestRowMs(connection);
  const isAccepted = allMs !== null && untilMs !== null && allMs <= untilMs;
  const newestMs = isAccepted ? newestRowMs(connection, nowMs + AHEAD_MS) : allMs;
  return { check, newestMs, reading: judgeByRows(check, newestMs, nowMs) };
}

/** Returns the time of the newest row, or of the newest before a time; null without one. */
function newestRowMs(connection: SqliteConnection, beforeMs?: number): number | null {
  const row =
    beforeMs === undefined
      ? connection.get('SELECT max(key_id) AS keyId FROM ledger')
      : connection.get(
          'SELECT max(key_id) AS keyId FROM ledger WHERE key_id < ?',
          keyIdBound(beforeMs),
        );
  return row?.keyId instanceof Uint8Array ? keyIdMs(row.keyId) : null;
}

function keep(connection: SqliteConnection, check: ClockCheck): void {
  const { seenMs, doubtedMs, acceptedUntilMs } = check;
  connection.run(
    `INSERT INTO clock_check (id, seen_ms, doubted_ms, accepted_until_ms) VALUES (1, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET seen_ms = excluded.seen_ms, doubted_ms = excluded.doubted_ms,
       accepted_until_ms = excluded.accepted_until_ms`,
    seenMs,
    doubtedMs,
    acceptedUntilMs,
  );
}
