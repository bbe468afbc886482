/** Describes the findings of a check. */
import type { WriteLines } from '#platform/commands';
import type { Finding } from '../ledger/admin.ts';

/** Writes each finding with its examples and its remedy. */
export function tellFindings(err: WriteLines, findings: readonly Finding[]): void {
  for (const { problem, count, examples, remedy } of findings) {
    const more = count > examples.length ? ', …' : '';
    err(`${problem}: ${count.toLocaleString('en')} (${examples.join(', ')}${more})\n`);
    err(`  ${remedy}\n`);
  }
}
