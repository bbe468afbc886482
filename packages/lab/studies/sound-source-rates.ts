/**
 * Counts the sound sources that `phm assess --fail` fails.
 *
 *   npx node packages/lab/studies/sound-source-rates.ts SOURCES SEQUENCES BITS [TEST…]
 *
 * Each source is an AES-256-CTR stream under a key of its own, so the same arguments give the same counts. Without tests
 * it takes all of them.
 */

import { runPackedSuite, TEST_NAMES } from '../../sp800-22/src/index-node.ts';
import { hasFailed, RunCounts } from '../src/index-node.ts';
import { soundSource } from './sound-source.ts';

const [sources = 1000, sequences = 10, bits = 1000] = process.argv.slice(2, 5).map(Number);
const named = process.argv.slice(5);
const tests = TEST_NAMES.filter((name) => named.length === 0 || named.includes(name));

function isFailed(number: number): boolean {
  const next = soundSource(number);
  const counts = new RunCounts(tests);
  for (let i = 0; i < sequences; i++) {
    counts.add(runPackedSuite(next(Math.ceil(bits / 8)), { bits, only: tests }));
  }
  return hasFailed(counts.summary(true));
}

const failed = Array.from({ length: sources }, (_, number) => isFailed(number)).filter(Boolean);
const share = ((100 * failed.length) / sources).toFixed(2);
process.stdout.write(
  `${sources} sources of ${sequences} sequences of ${bits} bits, ${named.join(', ') || 'all tests'}: ${failed.length} failed, ${share} %\n`,
);
