/** Checks all variables at once. */
import { type Finding, failed, ok, warning } from './finding.ts';
import type { Site } from './site.ts';

export function checkConfiguration({ reading }: Site): Finding[] {
  const problems = reading.ok ? [] : reading.problems.map((problem) => failed(problem));
  const warnings = reading.warnings.map((text) => warning(text));
  const found = [...problems, ...warnings];
  return found.length > 0 ? found : [ok('all variables are valid')];
}
