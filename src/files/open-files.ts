/** Holds the bound on connections to the files that this process may open: each connection is one. */
import { readFileSync } from 'node:fs';
import { SetupError } from '../errors.ts';

/** Files besides connections: databases, pipes, workers, logs, the listeners. A server has some 40 of them. */
const OTHER_FILES = 128;

/** The limit of this process, which Node has raised as far as it may; null where it cannot be read or is none. */
export function openFilesLimit(): number | null {
  try {
    const [, soft] =
      /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? null : Number(soft);
  } catch {
    return null;
  }
}

/** The connections that a limit leaves, at most `max`, with `reserve` more to refuse others on. Throws where it leaves none. */
export function connectionsWithin(limit: number | null, max: number, reserve: number): number {
  if (limit === null) return max;
  const others = reserve + OTHER_FILES;
  if (limit > others) return Math.min(max, limit - others);
  throw new SetupError(
    `the limit of ${limit} open files leaves none for connections: raise it to ${max + others} ` +
      '(ulimit -n, LimitNOFILE of systemd, ulimits.nofile of compose)',
  );
}
