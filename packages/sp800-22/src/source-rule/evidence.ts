/** What the rule on sources takes of a report: of the tests, and of the supplements, which are a group of their own. */
import { resolveParameters } from '../resolve-parameters.ts';
import { notMeasured } from '../second-level-limits.ts';
import type { SuiteReport } from '../suite.ts';
import { SUPPLEMENTS, type SupplementOutcome } from '../supplements/supplements.ts';
import { boundedPValues } from './bounded-p-values.ts';
import { sequencePValues } from './sequence-p-values.ts';
import type { SequenceEvidence } from './source-rule.ts';

/** Leaves out the p-values of tests whose distribution is not known for the parameters of the report. */
export function testEvidence(report: SuiteReport): SequenceEvidence {
  const { bits, constants, scan } = report;
  const parameters = resolveParameters(bits, report.parameters);
  const tests = sequencePValues(report).filter(
    ({ test }) => notMeasured({ test, index: 1, label: '' }, parameters, constants) === undefined,
  );
  return { bits, bounded: boundedPValues(report), tests, ...(scan && { scan }) };
}

export function supplementEvidence(
  bits: number,
  outcomes: readonly SupplementOutcome[],
): SequenceEvidence {
  const applicable = outcomes.filter((one) => one.applicable);
  return {
    bits,
    bounded: applicable.flatMap(({ name, statistics }) => {
      const { bound } = SUPPLEMENTS[name];
      return bound ? [{ test: name, p: bound(statistics, bits) }] : [];
    }),
    tests: applicable.map(({ name, pValues }) => ({ test: name, p: pValues[0] })),
  };
}
