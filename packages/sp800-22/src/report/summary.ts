/** The summary of a run over many sequences, and the interface of its outputs. */
import {
  judgeSecondLevel,
  PValueTally,
  type SecondLevel,
  type SuiteReport,
  TEST_NAMES,
  type TestName,
} from '../index.ts';

/** The result of a run. */
export interface AssessSummary {
  readonly sequences: number;
  /** False when the run ended early: by Ctrl-C or by an error. */
  readonly complete: boolean;
  readonly tests: readonly TestCounts[];
  readonly secondLevel: SecondLevel;
}

export interface TestCounts {
  readonly name: TestName;
  /** Numbers of sequences to which the test applied, and that passed it. */
  readonly applicable: number;
  readonly passed: number;
}

/** Receives reports in the order of the sequences. `end` comes last, and only after at least one `add`. */
export interface AssessOutput {
  add(report: SuiteReport): void;
  end(summary: AssessSummary): void;
}

/** Counts of a run. Their size grows with the tests, not with the sequences. */
export class RunCounts {
  readonly #tally: PValueTally;
  readonly #tests: ReadonlyMap<TestName, { applicable: number; passed: number }>;

  constructor(tests: readonly TestName[]) {
    const selected = TEST_NAMES.filter((name) => tests.includes(name));
    this.#tally = new PValueTally(selected);
    this.#tests = new Map(selected.map((name) => [name, { applicable: 0, passed: 0 }]));
  }

  get sequences(): number {
    return this.#tally.sequences;
  }

  add(report: SuiteReport): void {
    this.#tally.add(report);
    for (const outcome of report.tests) {
      const counts = this.#tests.get(outcome.name);
      if (!counts || !outcome.applicable) continue;
      counts.applicable++;
      if (outcome.passed) counts.passed++;
    }
  }

  summary(complete: boolean): AssessSummary {
    return {
      sequences: this.sequences,
      complete,
      tests: [...this.#tests].map(([name, counts]) => ({ name, ...counts })),
      secondLevel: judgeSecondLevel(this.sequences, this.#tally.rows),
    };
  }
}
