/** What a check finds: cases of problems, with a few examples of each. */

/** A kind of finding. */
export interface FindingKind {
  /** What is wrong, as a sentence without the number of cases. */
  readonly problem: string;
  /** What an operator does about it. */
  readonly remedy: string;
}

export interface Finding extends FindingKind {
  /** Number of cases. */
  readonly count: number;
  /** The first cases. */
  readonly examples: readonly string[];
}

/** Examples kept of each finding. */
const MAX_EXAMPLES = 5;

export class Findings {
  readonly #byProblem = new Map<string, { count: number; examples: string[]; remedy: string }>();

  /** Adds one case of a problem. `example` names it. */
  add({ problem, remedy }: FindingKind, example: string): void {
    const found = this.#byProblem.get(problem) ?? { count: 0, examples: [], remedy };
    found.count++;
    if (found.examples.length < MAX_EXAMPLES) found.examples.push(example);
    this.#byProblem.set(problem, found);
  }

  get list(): Finding[] {
    return [...this.#byProblem].map(([problem, found]) => ({ problem, ...found }));
  }
}

const REMEDY =
  'No program of this service writes this: the disk or memory is faulty, or the database was changed by hand. Compare ' +
  'with a backup (docs/incidents.md, "What verify finds")';

/** Remedy for findings that a server with a wrong clock also causes. */
export const CLOCK_REMEDY =
  'A server whose clock was wrong, or was set during a request, causes this (docs/incidents.md, "A wrong clock"). ' +
  'If no clock was wrong, the disk or memory is faulty, or the database was changed by hand: compare with a backup ' +
  '(docs/incidents.md, "What verify finds")';

/** Returns the kind of a problem in rows or sums that the database itself considers sound. */
export function unsound(problem: string): FindingKind {
  return { problem, remedy: REMEDY };
}
