/** What a verification has found, gathered by check. */

export interface Finding {
  /** What does not hold, as a sentence without its subject's number. */
  readonly problem: string;
  /** How many rows, or sums, have it. */
  readonly count: number;
  /** The first of them. */
  readonly examples: readonly string[];
  readonly remedy: string;
}

const MAX_EXAMPLES = 5;

/** What to do about rows and sums that SQLite or PostgreSQL holds for sound. */
const REMEDY =
  'A program of this service does not write this: disk or memory is faulty, or the database was changed by hand. Compare ' +
  'with a backup (docs/incidents.md, "What verify finds")';

/** The same, of what a server with a wrong clock leaves as well. */
export const CLOCK_REMEDY =
  'A server whose clock was wrong, or was set while a request was under way, leaves this (docs/incidents.md, "A wrong ' +
  'clock"). If no clock was wrong, disk or memory is faulty, or the database was changed by hand: compare with a backup ' +
  '(docs/incidents.md, "What verify finds")';

export class Findings {
  readonly #found = new Map<string, { count: number; examples: string[]; remedy: string }>();

  add(problem: string, example: string, remedy: string = REMEDY, count = 1): void {
    const entry = this.#found.get(problem) ?? { count: 0, examples: [], remedy };
    entry.count += count;
    if (entry.examples.length < MAX_EXAMPLES) entry.examples.push(example);
    this.#found.set(problem, entry);
  }

  list(): Finding[] {
    return [...this.#found].map(([problem, entry]) => ({ problem, ...entry }));
  }
}
