/**
 * In: bits of a generator. Out: the verdicts of test procedures A and B (T0 to T8) with every statistic.
 * Standard: AIS 20 and AIS 31 of the BSI, by "A proposal for: Functionality classes for random number generators",
 * W. Killmann, W. Schindler, version 2.0, 18 September 2011 (KS2011), §2.4.4.
 */
export { MAXIMUM_WIDTH, procedureA, procedureABits } from './procedure-a.ts';
export { PROCEDURE_B_MINIMUM_BITS, procedureB } from './procedure-b.ts';
export type {
  ElementaryTest,
  Procedure,
  ProcedureResult,
  ProcedureRun,
  Statistics,
  TestName,
  Verdict,
} from './result.ts';
