/** The findings of a verification, grouped by check. */

export interface Finding {
  /** What is wrong, as a sentence without the number of cases. */
  readonly problem: string;
  /** Number of rows or sums concerned. */
  readonly count: number;
  /** The first cases. */
  readonly examples: readonly string[];
  readonly remedy: string;
}

const MAX_EXAMPLES = 5;

/** Remedy for rows and sums that the database itself considers sound. */
const REMEDY =
  'No program of this service writes this: the disk or memory is faulty, or the database was changed by hand. Compare ' +
  'with a backup (docs/incidents.md, "What verify finds")';

/** Remedy for findings that a server with a wrong clock also causes. */
export const CLOCK_REMEDY =
  'A server whose clock was wrong, or was set during a request, causes this (docs/incidents.md, "A wrong clock"). ' +
  'If no clock was wrong, the disk or memory is faulty, or the database was changed by hand: compare with a backup ' +
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
