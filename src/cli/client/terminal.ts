/** Details for a person at a terminal, beside the data. */
import type { GeneratedKey } from '../../../sdk/src/index.ts';
import type { CliContext } from '../context.ts';
import { labelsText } from './labels.ts';

/** Writes details of a key below the key itself. Respects NO_COLOR and similar variables. */
export function writeDetails({ errDetail }: CliContext, generated: GeneratedKey): void {
  const rows: [string, string][] = [
    ['key ID', generated.key_id],
    ['level', `${generated.security_level} bits`],
    ['strength', `${generated.security_strength_bits} bits`],
    ['entropy', `${generated.entropy_bits} bits`],
    ['source', generated.source],
    ['tests', testsOf(generated)],
    ['latency', `${generated.latency_ms} ms`],
  ];
  if (generated.nist_validation) rows.push(['rating', ratingOf(generated)]);
  if (generated.labels) rows.push(['labels', labelsText(generated.labels)]);
  if (generated.expires_at) rows.push(['expires', generated.expires_at]);
  for (const [name, value] of rows) {
    errDetail(name.padEnd(8), value);
  }
}

/** Describes the test results in neutral words: "15 of 15 passed, gate passed (p = 0.33)". */
export function testsOf({
  nist_validation: found,
  nist_report: report,
}: Pick<GeneratedKey, 'nist_validation' | 'nist_report'>): string {
  if (!found) return 'not run (--validate runs them)';
  // A key that failed the gate is never released.
  const gate = report ? ` (p = ${Number(report.gate.p_value.toPrecision(2))})` : '';
  return `${found.tests_passed} of ${found.total_tests} passed, gate passed${gate}`;
}

/** Writes labels and expiry of a key, if it has them. */
export function writeEnds(
  { err }: CliContext,
  { labels, expires_at: expiresAt }: Pick<GeneratedKey, 'labels' | 'expires_at'>,
): void {
  if (labels) err(`Labels: ${labelsText(labels)}\n`);
  if (expiresAt) err(`Expires: ${expiresAt}\n`);
}

/** Returns the verdicts of the API that only restate the test results. */
function ratingOf({ nist_validation: found, nist_score, nist_grade }: GeneratedKey): string {
  const { certification_status, compliance_level } = found ?? {};
  return `${certification_status}, ${compliance_level}, score ${nist_score}, grade ${nist_grade} (this service's own)`;
}

const BARS = '▁▂▃▄▅▆▇█';

/** Draws counts as a line of bars. The largest count fills its bar; zero is a space. */
export function sparkline(counts: readonly number[], width: number): string {
  const size = Math.ceil(counts.length / width);
  const sums: number[] = [];
  for (let i = 0; i < counts.length; i += size) {
    sums.push(counts.slice(i, i + size).reduce((sum, count) => sum + count, 0));
  }
  const largest = Math.max(1, ...sums);
  return sums
    .map((sum) => (sum === 0 ? ' ' : BARS.charAt(Math.ceil((sum / largest) * BARS.length) - 1)))
    .join('');
}
