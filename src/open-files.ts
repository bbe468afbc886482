/** Holds the bound on connections to the files that this process may open: each connection is one. */
import { readFileSync } from 'node:fs';

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

/** The connections that a limit leaves, at most `max`, with `reserve` more to refuse others on. At least 1. */
export function connectionsWithin(limit: number | null, max: number, reserve: number): number {
  return limit === null ? max : Math.max(1, Math.min(max, limit - reserve - OTHER_FILES));
}
