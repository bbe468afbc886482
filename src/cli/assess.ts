/**
 * `phm assess`: the suite of SP 800-22 on the sequences of a file.
 *
 *   input → sequences → worker threads → reports, in order → output, and counts for the second level
 *
 * Reports describe sequences; whatever they say, NIST certifies nothing by SP 800-22.
 */
import {
  type Constants,
  judgeSecondLevel,
  PValueTally,
  type SecondLevel,
  type SuiteReport,
  TEST_NAMES,
  type TestName,
} from '../sts/index.ts';
import type { InputFormat, PackedSequence } from './assess-input.ts';
import { MAX_BITS, openRun } from './assess-run.ts';
import { countText } from './assess-table.ts';
import { CommandError } from './command-error.ts';

export interface AssessOptions {
  /** A path, or `-` for standard input. */
  readonly file: string;
  readonly format: InputFormat;
  readonly constants: Constants;
  /** Bits of each sequence; without it the whole file is one sequence. */
  readonly bits?: number;
  /** How many sequences; as many whole ones as the file holds unless given. Needs `bits`. */
  readonly sequences?: number;
  /** The only tests to run; all of them unless given. */
  readonly tests?: readonly TestName[];
  readonly threads: number;
}

/** What a run came to. */
export interface AssessSummary {
  readonly sequences: number;
  /** False when the run ended early: by Ctrl-C or by an error. */
  readonly complete: boolean;
  readonly tests: readonly TestCounts[];
  readonly secondLevel: SecondLevel;
}

export interface TestCounts {
  readonly name: TestName;
  /** The sequences to which the test applied, and those of them that passed it. */
  readonly applicable: number;
  readonly passed: number;
}

/** Where reports go, in the order of the sequences. `end` comes last, unless there are none. */
export interface AssessOutput {
  add(report: SuiteReport): void;
  end(summary: AssessSummary): void;
}

/** How far a run is. `expected`: the sequences there will be, where that can be told. */
export interface AssessProgress {
  readonly finished: number;
  readonly expected: number | undefined;
}

export interface AssessControl {
  /** Ends the run at once; what is finished is reported. Its reason is a word for the message. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: AssessProgress) => void;
  /** Sees the first sequence before it is tested, which begins with a byte. MUST NOT keep its bytes. */
  readonly onFirstSequence?: (sequence: PackedSequence) => void;
  /** Another worker, for tests. */
  readonly workerUrl?: URL;
}

/**
 * Runs the suite on every sequence. When the run ends early, `output` gets what was finished, and a
 * `CommandError` is thrown: exit code 2 when an option is out of range, else 1.
 */
export async function assess(
  options: AssessOptions,
  output: AssessOutput,
  control: AssessControl = {},
): Promise<void> {
  assertBitsOption(options.bits);
  const counts = new RunCounts(options.tests ?? TEST_NAMES);
  const run = await openRun(options, control);
  try {
    for await (const report of run.reports()) {
      counts.add(report);
      output.add(report);
    }
  } catch (error) {
    if (!(error instanceof CommandError) || counts.sequences === 0) throw error;
    output.end(counts.summary(false));
    const finished = `the report covers what was finished before, ${countText(counts.sequences)}`;
    throw new CommandError(`${error.message}; ${finished}`, error.exitCode);
  }
  output.end(counts.summary(true));
}

/** Counts that grow with the tests, not with the sequences. */
class RunCounts {
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

function assertBitsOption(bits: number | undefined): void {
  if (bits === undefined || (Number.isInteger(bits) && bits >= 1 && bits <= MAX_BITS)) return;
  throw new CommandError(`--bits takes a whole number from 1 to ${MAX_BITS}, got ${bits}`, 2);
}
