/** The summary of a run over many sequences, and the interface of its outputs. */

import {
  assertInteger,
  assertNames,
  assertObject,
  assertRows,
} from '../../../sp800-22/src/arguments.ts';
import {
  type Constants,
  judgeLongStreams,
  judgeSecondLevel,
  type LongStreamReport,
  type LongStreams,
  PValueTally,
  type RowCounts,
  type SecondLevel,
  type SuiteReport,
  type SupplementName,
  type SupplementOutcome,
  TEST_NAMES,
  type TestName,
  type TestParameters,
} from '../../../sp800-22/src/index.ts';
import {
  PARTS_OF_P_VALUES,
  Repeats,
  SHARES,
  SourceRule,
  type SourceVerdict,
  supplementEvidence,
  testEvidence,
} from '../../../sp800-22/src/source-rule/index.ts';
import { type SmallestRow, SmallestRows } from './smallest-row.ts';
import type { DrawnSequence } from './worst-sequence.ts';

/** The result of a run. */
export interface AssessSummary extends GroupSummary {
  readonly sequences: number;
  /** False when the run ended early: by Ctrl-C or by an error. */
  readonly complete: boolean;
  /** The verdict on the source, as `summary.passed` of the JSON has it: null if no group was judged. */
  readonly passed: boolean | null;
  readonly tests: readonly TestCounts[];
  /** The counts of each p-value of the tests, also of sources that are not judged. */
  readonly rows: readonly RowCounts<TestName>[];
  /** Only if supplements were run. */
  readonly supplements?: SupplementSummary;
  /** Only if they were wanted, of a complete run. */
  readonly longStreams?: LongStreams;
}

/** What is known of a source by the tests, or by the supplements. */
export interface GroupSummary {
  readonly secondLevel: SecondLevel;
  readonly verdict: SourceVerdict;
  /** The smallest p-value of all, not corrected; left out if there is none. */
  readonly smallest?: SmallestRow;
}

/** The supplements of a run: a group of its own, with a verdict of its own. */
export interface SupplementSummary extends GroupSummary {
  readonly tests: readonly SupplementCounts[];
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

/** Returns the verdict on the source: false if one of the two groups or a long stream failed, null if no group was judged. */
function hasPassed({
  verdict,
  supplements,
  longStreams,
}: Omit<AssessSummary, 'passed'>): boolean | null {
  if (longStreams?.passed === false) return false;
  const groups = [verdict.passed, supplements?.verdict.passed];
  if (groups.includes(false)) return false;
  return groups.includes(true) ? true : null;
}

/** Returns whether the report says FAILED. */
export function hasFailed(summary: AssessSummary): boolean {
  return summary.passed === false;
}

/** Receives reports in the order of the sequences. `end` comes last, and only after at least one `add`. */
export interface AssessOutput {
  add(report: SuiteReport): void;
  end(summary: AssessSummary): void;
}

/** Counts of a run. Their size grows with the tests, not with the sequences. */
export class RunCounts {
  readonly #offsetBits: number;
  #supplements: SupplementTally | undefined;
  /** Begins with the first report, whose length and parameters determine the rows. */
  #tally: PValueTally | undefined;
  readonly #tests: ReadonlyMap<TestName, { applicable: number; passed: number }>;
  /** Length and parameters of the sequences, which are the same for all. */
  #bits = 0;
  #parameters: TestParameters = {};
  #constants: Constants = 'exact';
  #longStreams: LongStreams | undefined;
  readonly #rule = new SourceRule();
  readonly #smallest = new SmallestRows();
  /** Begins with the first sequence that is taken. */
  #repeats: Repeats | undefined;

  /** `offsetBits` are the bits of the input before the first sequence. */
  constructor(tests: readonly TestName[], offsetBits = 0) {
    assertNames('tests', tests, TEST_NAMES);
    assertInteger('offsetBits', offsetBits, 0, Number.MAX_SAFE_INTEGER);
    this.#offsetBits = offsetBits;
    const selected = TEST_NAMES.filter((name) => tests.includes(name));
    this.#tests = new Map(selected.map((name) => [name, { applicable: 0, passed: 0 }]));
  }

  get sequences(): number {
    return this.#tally?.sequences ?? 0;
  }

  /** Looks for data that occur twice. Takes each sequence before it is tested, if all tests are run. */
  take({ bytes, bits, offsetBits }: DrawnSequence, index: number): void {
    if (this.#tests.size < TEST_NAMES.length) return;
    this.#repeats ??= new Repeats();
    this.#repeats.add({ bytes, n: bits, offsetBits }, index + 1);
  }

  add(report: SuiteReport): void {
    assertObject('report', report, 'bits', 'constants');
    assertRows('report.tests', report.tests, 'name', 'applicable');
    this.#bits = report.bits;
    this.#parameters = report.parameters;
    this.#constants = report.constants;
    this.#rule.add(testEvidence(report));
    this.#smallest.add(report.tests, report);
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

  #addSupplements(report: SuiteReport): void {
    if (!report.supplements) return;
    this.#supplements ??= new SupplementTally(report.supplements, report.bits);
    this.#supplements.add(report.supplements, report);
  }

  summary(complete: boolean): AssessSummary {
    const { sequences } = this;
    const secondLevel = judgeSecondLevel(
      sequences,
      this.#tally?.rows ?? [],
      this.#bits,
      this.#parameters,
      this.#constants,
      SHARES.second_level,
    );
    const repeat = this.#repeats && (this.#repeats.within(sequences) ?? null);
    const judged = {
      sequences,
      complete,
      tests: [...this.#tests].map(([name, counts]) => ({ name, ...counts })),
      rows: (this.#tally?.rows ?? []).filter(isOfTest),
      secondLevel,
      verdict: this.#rule.judge(secondLevel, repeat),
      ...this.#smallest.member(this.#offsetBits),
      ...(this.#supplements && { supplements: this.#supplements.summary(this.#offsetBits) }),
      ...(this.#longStreams && { longStreams: this.#longStreams }),
    };
    return { ...judged, passed: hasPassed(judged) };
  }
}

function isOfTest(row: RowCounts): row is RowCounts<TestName> {
  return TEST_NAMES.some((name) => name === row.test);
}

/** Counts of the supplements. */
class SupplementTally {
  readonly #tally: PValueTally;
  readonly #counts: Map<SupplementName, SupplementCounts>;
  readonly #bits: number;
  readonly #rule = new SourceRule(PARTS_OF_P_VALUES);
  readonly #smallest = new SmallestRows();

  constructor(outcomes: readonly SupplementOutcome[], bits: number) {
    this.#bits = bits;
    const names = outcomes.map(({ name }) => name);
    this.#tally = new PValueTally(names, bits);
    this.#counts = new Map(
      names.map((name) => [name, { name, applicable: 0, passed: 0, smallest: null }]),
    );
  }

  add(outcomes: readonly SupplementOutcome[], report: SuiteReport): void {
    this.#tally.add({ tests: outcomes });
    this.#rule.add(supplementEvidence(report.bits, outcomes));
    this.#smallest.add(outcomes, report);
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

  summary(offsetBits: number): SupplementSummary {
    const { sequences, rows } = this.#tally;
    const share = SHARES.second_level;
    const secondLevel = judgeSecondLevel(sequences, rows, this.#bits, {}, 'exact', share);
    return {
      tests: [...this.#counts.values()],
      secondLevel,
      verdict: this.#rule.judge(secondLevel),
      ...this.#smallest.member(offsetBits),
    };
  }
}
