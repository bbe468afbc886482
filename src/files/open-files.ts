/** Keeps the bound on connections within the limit of open files: each connection needs one. */
import { readFileSync } from 'node:fs';
import { SetupError } from '../errors.ts';

/** Files besides connections: databases, pipes, workers, logs and listeners. A server opens about 40. */
const OTHER_FILES = 128;

/** Connections of a listener that stay open without a place when every place is taken: their requests are refused. */
export const REFUSED_CONNECTIONS = 512;

/**
 * Returns this process's limit of open files, which Node has raised as far as it may; null if unlimited or
 * unreadable.
 */
export function openFilesLimit(): number | null {
  try {
    const [, soft] =
      /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? null : Number(soft);
  } catch {
    return null;
  }
}

/**
 * Returns how many connections the limit allows, at most `max`. It sets `reserve` more aside for
 * connections that are refused. Throws `SetupError` if none is left.
 */
export function connectionsWithin(limit: number | null, max: number, reserve: number): number {
  if (limit === null) return max;
  const others = reserve + OTHER_FILES;
  if (limit > others) return Math.min(max, limit - others);
  throw new SetupError(
    `the limit of ${limit} open files leaves none for connections; raise it to ${max + others} ` +
      '(ulimit -n, LimitNOFILE of systemd, ulimits.nofile of compose)',
  );
}
