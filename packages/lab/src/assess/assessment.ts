/** The result of an assessment. */
import type { AssessSummary } from '../report/summary.ts';
import type { RunTrace } from '../report/trace.ts';

export interface Assessment {
  readonly summary: AssessSummary;
  /** What the result was made from and by. */
  readonly trace: RunTrace;
  /** True if the reports say FAILED. */
  readonly failed: boolean;
}
