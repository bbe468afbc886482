/** What became of each mutant, in a file: by commit, so that a run goes on where an earlier one ended. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { GROUPS, type Mutant, type Tier } from './list.ts';

export interface Outcome {
  /** What noticed the mutant, or null. */
  readonly caught: 'types' | Tier | null;
  /** The test file that noticed it. */
  readonly by?: string;
  /** The first test that failed, or the first error of the compiler. */
  readonly first?: string;
  /** Test files that ran and noticed nothing. */
  readonly passed: readonly string[];
  /** Named tests that fail, or test nothing, without the mutant too: they say nothing. */
  readonly unusable?: readonly string[];
  /** Digest of the mutant. */
  readonly mutant: string;
}

/** A test file, or `types of` a project, without a mutant. */
interface Sound {
  readonly passed: boolean;
  readonly seconds: number;
}

export interface Commit {
  readonly sound: Record<string, Sound>;
  readonly mutants: Record<string, Outcome>;
}

export class Results {
  readonly #path: string;
  readonly #commits: Record<string, Commit>;

  constructor(path: string) {
    this.#path = path;
    this.#commits = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
  }

  of(commit: string): Commit {
    this.#commits[commit] ??= { sound: {}, mutants: {} };
    return this.#commits[commit];
  }

  save(): void {
    const partial = `${this.#path}.partial`;
    writeFileSync(partial, `${JSON.stringify(this.#commits, null, 1)}\n`);
    renameSync(partial, this.#path);
  }
}

/** Identifies what a mutant changes. */
export function digestOf({ file, find, replace }: Mutant): string {
  const text = JSON.stringify([file, find, replace]);
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

/** Returns the outcome of a mutant, unless the mutant has changed since. */
export function outcomeOf(commit: Commit, mutant: Mutant): Outcome | undefined {
  const outcome = commit.mutants[mutant.name];
  return outcome?.mutant === digestOf(mutant) ? outcome : undefined;
}

const COLUMNS = ['types', 'fast', 'slow', 'campaign', 'survived', 'not run'] as const;

/** Returns a Markdown table of the mutants by group and by what caught them. */
export function statusTable(commit: Commit, mutants: readonly Mutant[]): string {
  const columnOf = (mutant: Mutant) => {
    const outcome = outcomeOf(commit, mutant);
    return outcome === undefined ? 'not run' : (outcome.caught ?? 'survived');
  };
  const row = (name: string, members: readonly Mutant[]) => {
    const counts = COLUMNS.map(
      (column) => members.filter((mutant) => columnOf(mutant) === column).length,
    );
    return `| ${[name, members.length, ...counts].join(' | ')} |`;
  };
  return [
    `| Group | mutants | ${COLUMNS.join(' | ')} |`,
    `|${'---|'.repeat(COLUMNS.length + 2)}`,
    ...GROUPS.map((group) =>
      row(
        group,
        mutants.filter((mutant) => mutant.group === group),
      ),
    ),
    row('all', mutants),
  ].join('\n');
}
