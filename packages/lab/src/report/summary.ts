/** The summary of a run over many sequences, and the interface of its outputs. */

import {
  type AllSequences,
  type Constants,
  judgeLongStreams,
  judgeSecondLevel,
  type LongStreamReport,
  type LongStreams,
  PValueTally,
  type RowCounts,
  type SecondLevel,
  SmallestPValues,
  type SuiteReport,
  type SupplementName,
  type SupplementOutcome,
  sequencePValues,
  TEST_NAMES,
  type TestName,
  type TestParameters,
} from '../../../sp800-22/src/index.ts';
/** The result of a run. */
export interface AssessSummary {
  readonly sequences: number;
  /** False when the run ended early: by Ctrl-C or by an error. */
  readonly complete: boolean;
  readonly tests: readonly TestCounts[];
  /** The counts of each p-value of the tests, also of sources that are not judged. */
  readonly rows: readonly RowCounts<TestName>[];
  readonly secondLevel: SecondLevel;
  /** The verdict on all tests of all sequences: only if there are several, which the second level does not judge. */
  readonly allSequences?: AllSequences;
  /** Only if supplements were run. */
  readonly supplements?: SupplementSummary;
  /** Only if they were wanted, of a complete run. */
  readonly longStreams?: LongStreams;
}

/** The supplements of a run: a group of its own, with a verdict of its own. */
export interface SupplementSummary {
  readonly tests: readonly SupplementCounts[];
  readonly secondLevel: SecondLevel;
  /** As that of the tests. */
  readonly allSequences?: AllSequences;
}

export interface SupplementCounts {
  readonly name: SupplementName;
  readonly applicable: number;
  readonly passed: number;
  /** The smallest p-value, if the supplement ever applied. */
  readonly smallest: number | null;
}

export interface TestCounts {
  readonly name: TestName;
  /** Numbers of sequences to which the test applied, and that passed it. */
  readonly applicable: number;
  readonly passed: number;
}

/**
 * Returns the verdict on the source: false if one of the two groups or a long stream failed, null if no group was judged.
 * A group that the second level does not judge fails if its smallest p-value is too small; else it has no verdict.
 */
export function hasPassed({ supplements, longStreams, ...tests }: AssessSummary): boolean | null {
  if (longStreams?.passed === false) return false;
  const groups = [tests, supplements].map((group) => group && groupPassed(group));
  if (groups.includes(false)) return false;
  return groups.includes(true) ? true : null;
}

function groupPassed({
  secondLevel,
  allSequences,
}: Pick<AssessSummary, 'secondLevel' | 'allSequences'>): boolean | null {
  if (secondLevel.judged) return secondLevel.passed;
  return allSequences?.passed === false ? false : null;
}

/**
 * Returns whether the report says FAILED: of the source if it is judged, or of a test or supplement of a sole sequence.
 */
export function hasFailed(summary: AssessSummary): boolean {
  const passed = hasPassed(summary);
  if (passed !== null) return !passed;
  const all = [...summary.tests, ...(summary.supplements?.tests ?? [])];
  return summary.sequences === 1 && all.some(({ applicable, passed }) => passed < applicable);
}

/** Receives reports in the order of the sequences. `end` comes last, and only after at least one `add`. */
export interface AssessOutput {
  add(report: SuiteReport): void;
  end(summary: AssessSummary): void;
}

/** Counts of a run. Their size grows with the tests, not with the sequences. */
export class RunCounts {
  #supplements: SupplementTally | undefined;
  /** Begins with the first report, whose length and parameters determine the rows. */
  #tally: PValueTally | undefined;
  readonly #tests: ReadonlyMap<TestName, { applicable: number; passed: number }>;
  /** Length and parameters of the sequences, which are the same for all. */
  #bits = 0;
  #parameters: TestParameters = {};
  #constants: Constants = 'exact';
  readonly #smallest = new SmallestPValues();
  #longStreams: LongStreams | undefined;

  constructor(tests: readonly TestName[]) {
    const selected = TEST_NAMES.filter((name) => tests.includes(name));
    this.#tests = new Map(selected.map((name) => [name, { applicable: 0, passed: 0 }]));
  }

  get sequences(): number {
    return this.#tally?.sequences ?? 0;
  }

  add(report: SuiteReport): void {
    this.#bits = report.bits;
    this.#parameters = report.parameters;
    this.#constants = report.constants;
    this.#smallest.add(sequencePValues(report));
    this.#tally ??= new PValueTally([...this.#tests.keys()], report.bits, report.parameters);
    this.#tally.add(report);
    this.#addSupplements(report);
    for (const outcome of report.tests) {
      const counts = this.#tests.get(outcome.name);
      if (!counts || !outcome.applicable) continue;
      counts.applicable++;
      if (outcome.passed) counts.passed++;
    }
  }

  /** Takes the reports on all long streams. */
  addStreams(reports: readonly LongStreamReport[]): void {
    this.#longStreams = judgeLongStreams(reports);
  }

  #addSupplements({ supplements, bits }: SuiteReport): void {
    if (!supplements) return;
    this.#supplements ??= new SupplementTally(supplements, bits);
    this.#supplements.add(supplements);
  }

  summary(complete: boolean): AssessSummary {
    const secondLevel = judgeSecondLevel(
      this.sequences,
      this.#tally?.rows ?? [],
      this.#bits,
      this.#parameters,
      this.#constants,
    );
    return {
      sequences: this.sequences,
      complete,
      tests: [...this.#tests].map(([name, counts]) => ({ name, ...counts })),
      rows: (this.#tally?.rows ?? []).filter(isOfTest),
      secondLevel,
      ...allOf(this.#smallest, secondLevel, this.sequences),
      ...(this.#supplements && { supplements: this.#supplements.summary() }),
      ...(this.#longStreams && { longStreams: this.#longStreams }),
    };
  }
}

/** Returns the member `allSequences` of a group, if it has one. */
function allOf(
  { verdict }: SmallestPValues,
  { judged }: SecondLevel,
  sequences: number,
): { allSequences?: AllSequences } {
  return judged || sequences < 2 || !verdict ? {} : { allSequences: verdict };
}

function isOfTest(row: RowCounts): row is RowCounts<TestName> {
  return TEST_NAMES.some((name) => name === row.test);
}

/** Counts of the supplements. */
class SupplementTally {
  readonly #tally: PValueTally;
  readonly #counts: Map<SupplementName, SupplementCounts>;
  readonly #bits: number;
  readonly #smallest = new SmallestPValues();

  constructor(outcomes: readonly SupplementOutcome[], bits: number) {
    this.#bits = bits;
    const names = outcomes.map(({ name }) => name);
    this.#tally = new PValueTally(names, bits);
    this.#counts = new Map(
      names.map((name) => [name, { name, applicable: 0, passed: 0, smallest: null }]),
    );
  }

  add(outcomes: readonly SupplementOutcome[]): void {
    this.#tally.add({ tests: outcomes });
    this.#smallest.add(
      outcomes.flatMap((one) => (one.applicable ? [{ test: one.name, p: one.pValues[0] }] : [])),
    );
    for (const outcome of outcomes) {
      const counts = this.#counts.get(outcome.name);
      if (!counts || !outcome.applicable) continue;
      this.#counts.set(outcome.name, {
        name: outcome.name,
        applicable: counts.applicable + 1,
        passed: counts.passed + (outcome.passed ? 1 : 0),
        smallest: Math.min(counts.smallest ?? 1, ...outcome.pValues),
      });
    }
  }

  summary(): SupplementSummary {
    const { sequences, rows } = this.#tally;
    const secondLevel = judgeSecondLevel(sequences, rows, this.#bits);
    return {
      tests: [...this.#counts.values()],
      secondLevel,
      ...allOf(this.#smallest, secondLevel, sequences),
    };
  }
}
