/** Results of elementary tests, and the rules that turn them into a verdict. */

/** The elementary tests, in the order of KS2011 §2.4.4. T_irn has other tests by the names T3 and T4. */
export type TestName = 'T0' | 'T1' | 'T2' | 'T3' | 'T4' | 'T5' | 'T6' | 'T7' | 'T8';

export type Statistics = Readonly<Record<string, number | readonly number[]>>;

/** The outcome of one elementary test. */
export interface ElementaryTest {
  readonly name: TestName;
  /** What it was applied to, such as "sequence 12" or "after 01". */
  readonly on: string;
  readonly statistics: Statistics;
  /** What the statistics must meet, such as "9,654 < ones < 10,346". */
  readonly limit: string;
  readonly passed: boolean;
}

export type Procedure = 'A' | 'B';

/** One pass of a procedure, or one trial of a suite, over fresh bits. */
export interface ProcedureRun {
  readonly tests: readonly ElementaryTest[];
  readonly failed: number;
  /** Bits of the input that the pass used. */
  readonly bits: number;
  /** False if the input ended before the last test. */
  readonly complete: boolean;
  /** Set if the bits ended in one of steps 2 to 4 of procedure B, or before the second trial of T_irn; says how far it came. */
  readonly stopped?: string;
  /** Set if more bits of the same kind would not complete the run; says why. */
  readonly reason?: string;
}

/** What a run says of its early end. */
export type IncompleteRun = Pick<ProcedureRun, 'stopped' | 'reason'>;

/**
 * `undecided`: the input ended too early. Either a run is incomplete and at most one of its tests failed, or exactly one
 * test failed and there are too few bits for the repetition that the rule asks for.
 */
export type Verdict = 'passed' | 'failed' | 'undecided';

export interface ProcedureResult {
  readonly procedure: Procedure;
  /** The first run and, if exactly one of its tests failed, the repetition. */
  readonly runs: readonly ProcedureRun[];
  readonly verdict: Verdict;
}

export interface SuiteResult {
  readonly suite: 'T_irn';
  /** The first trial and, if a test failed, the second. */
  readonly runs: readonly ProcedureRun[];
  readonly verdict: Verdict;
}

/** Runs a procedure or a trial from bit `from` on. */
type RunOnce = (from: number) => ProcedureRun;

/**
 * The evaluation rule (KS2011 §2.4.4): the procedure is passed if no elementary test fails, and failed if more than one
 * does. If exactly one fails, the procedure is repeated once with new bits, and then every test must pass.
 */
export function evaluate(procedure: Procedure, runOnce: RunOnce): ProcedureResult {
  const first = runOnce(0);
  if (first.failed > 1) return { procedure, runs: [first], verdict: 'failed' };
  if (!first.complete) return { procedure, runs: [first], verdict: 'undecided' };
  if (first.failed === 0) return { procedure, runs: [first], verdict: 'passed' };
  return { procedure, ...repeated(first, runOnce) };
}

/**
 * The rule of T_irn (PS2024 §4.6): the suite is passed if no test fails. After a failure, of one test or of more, there is
 * one second trial with new bits, in which every test must pass.
 */
export function evaluateTrials(runOnce: RunOnce): SuiteResult {
  const first = runOnce(0);
  if (first.failed === 0) return { suite: 'T_irn', runs: [first], verdict: 'passed' };
  return { suite: 'T_irn', ...repeated(first, runOnce) };
}

/** Runs once more with the bits that follow; now every test must pass. */
function repeated(
  first: ProcedureRun,
  runOnce: RunOnce,
): { readonly runs: readonly ProcedureRun[]; readonly verdict: Verdict } {
  const second = runOnce(first.bits);
  const runs = [first, second];
  if (second.failed > 0) return { runs, verdict: 'failed' };
  return { runs, verdict: second.complete ? 'passed' : 'undecided' };
}

/** Returns the run that these tests make up. `incomplete` is null if the input sufficed for all of them. */
export function runOf(
  tests: readonly ElementaryTest[],
  bits: number,
  incomplete: IncompleteRun | null = null,
): ProcedureRun {
  const failed = tests.filter(({ passed }) => !passed).length;
  return { tests, failed, bits, complete: incomplete === null, ...incomplete };
}
