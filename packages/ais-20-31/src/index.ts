/**
 * In: bits of a generator. Out: the verdicts of the suite T_irn of version 3.0, and of test procedures A and B (T0 to T8) of
 * version 2.0, with every statistic.
 * Standard: AIS 20 and AIS 31 of the BSI, by "A Proposal for Functionality Classes for Random Number Generators", version
 * 3.0 of 10 September 2024 (PS2024), §4.6, and version 2.0 of 18 September 2011 (KS2011), §2.4.4.
 */
export { MAXIMUM_WIDTH, procedureA, procedureABits } from './procedure-a.ts';
export { PROCEDURE_B_MINIMUM_BITS, procedureB } from './procedure-b.ts';
export type {
  ElementaryTest,
  Procedure,
  ProcedureResult,
  ProcedureRun,
  Statistics,
  SuiteResult,
  TestName,
  Verdict,
} from './result.ts';
export { SUITE_IRN_BITS, suiteIrn } from './suite-irn.ts';
