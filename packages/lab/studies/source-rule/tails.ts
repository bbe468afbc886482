/** How many sound sequences are below each limit of the part "low sequences". */
import { runPackedSuite } from '../../../sp800-22/src/index-node.ts';
import { testEvidence } from '../../../sp800-22/src/source-rule/index.ts';
import { LIMITS } from '../../../sp800-22/src/source-rule/sequence-counts.ts';
import { upperBound } from '../clopper-pearson.ts';
import { namedSource } from './sources.ts';

/** Returns a line for each limit: its count, its share, and the share that the rule assumes at most. */
export function measureTails(bits: number, sequences: number): string[] {
  const next = namedSource(`tails ${bits}`);
  const limits = [...LIMITS.map(({ below }) => below), 1e-5].sort((a, b) => b - a);
  const counts = limits.map(() => 0);
  for (let i = 0; i < sequences; i++) {
    const { tests } = testEvidence(runPackedSuite(next(Math.ceil(bits / 8)), { bits }));
    const p = tests.length * Math.min(...tests.map((one) => one.p));
    for (const [k, below] of limits.entries()) if (p < below) counts[k]++;
  }
  return limits.map((below, k) => {
    const assumed = LIMITS.find((one) => one.below === below)?.probability;
    const cells = [
      bits,
      sequences,
      below,
      counts[k],
      counts[k] / sequences,
      upperBound(counts[k], sequences, 0.025).toExponential(2),
    ];
    return `| ${cells.join(' | ')} | ${assumed ?? ''} |`;
  });
}
