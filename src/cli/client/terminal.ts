/** What a person at a terminal is shown beside the data. */
import { styleText } from 'node:util';
import type { GeneratedKey } from '../../../sdk/src/index.ts';
import type { CliContext } from '../context.ts';

/** Writes what the service says of a key, under the key itself. NO_COLOR and the like are heeded. */
export function writeDetails({ err }: CliContext, generated: GeneratedKey): void {
  const rows: [string, string][] = [
    ['key id', generated.key_id],
    ['level', `${generated.security_level} bits`],
    ['strength', `${generated.security_strength_bits} bits`],
    ['entropy', `${generated.entropy_bits} bits`],
    ['source', generated.source],
    ['tests', testsOf(generated)],
    ['latency', `${generated.latency_ms} ms`],
  ];
  for (const [name, value] of rows) {
    err(`${styleText('dim', name.padEnd(8), { stream: process.stderr })} ${value}\n`);
  }
}

function testsOf(generated: GeneratedKey): string {
  const { nist_validation: found } = generated;
  if (!found) return 'not run (--validate runs them)';
  const { tests_passed, total_tests, certification_status, compliance_level } = found;
  return `${tests_passed} of ${total_tests} passed, gate ${certification_status} (label: ${compliance_level})`;
}

const BARS = '▁▂▃▄▅▆▇█';

/** Counts as a line of bars, the largest one full; nothing is a space. */
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
