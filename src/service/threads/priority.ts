/** Threads whose work may wait when cores are scarce. */
import { setPriority } from 'node:os';

/** How far they stand back (setpriority(2)). */
const NICENESS = 10;

/**
 * The suite takes milliseconds of a core, statistics take tens of them, a plain key some microseconds: on
 * a machine that is full, these wait first. On Linux the priority is the thread's own, elsewhere the process's.
 */
export function standBack(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(NICENESS);
  } catch {
    // A sandbox that forbids it costs plain requests some of their speed and nothing else.
  }
}
