/** The database's clock, by which servers that share it agree on the time. */
import type { Clock } from '../../clock.ts';
import { type ClockReading, judgeByDatabase, skewBetween } from '../clock-check.ts';
import type { PostgresConnection } from './connection.ts';

/** Returns the database's time in milliseconds since the Unix epoch. */
export async function databaseNowMs(connection: PostgresConnection): Promise<number> {
  const row = await connection.get('SELECT ledger_clock_ms() AS now');
  return Number(row?.now);
}

/** Compares a clock with the database's. */
export async function readClockByDatabase(
  connection: PostgresConnection,
  clock: Clock,
  maxSkewMs: number,
): Promise<ClockReading> {
  const beforeMs = clock.nowMs();
  const databaseMs = await databaseNowMs(connection);
  return judgeByDatabase(skewBetween(beforeMs, clock.nowMs(), databaseMs), maxSkewMs);
}
