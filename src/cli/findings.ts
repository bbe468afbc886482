/** Collects the findings of a check, with a few examples of each, and describes them. */
import type { Finding } from '../ledger/admin.ts';
import type { WriteLines } from './output.ts';

/** Examples kept of each finding. */
const MAX_EXAMPLES = 5;

/** A kind of finding: the problem, and what an operator does about it. */
export interface FindingKind {
  readonly problem: string;
  readonly remedy: string;
}

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

/** Writes each finding with its examples and its remedy. */
export function tellFindings(err: WriteLines, findings: readonly Finding[]): void {
  for (const { problem, count, examples, remedy } of findings) {
    const more = count > examples.length ? ', …' : '';
    err(`${problem}: ${count.toLocaleString('en')} (${examples.join(', ')}${more})\n`);
    err(`  ${remedy}\n`);
  }
}
