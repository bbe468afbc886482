/**
 * Counts the sound sources that `phm assess --doubling` fails, by level.
 *
 *   npx node packages/lab/studies/doubling-rates.ts [SOURCES [LEVELS [BITS]]]
 *
 * Each source is an AES-256-CTR stream under a key of its own, so the same arguments give the same counts.
 */
import { runPackedSuite, TEST_NAMES } from '../../sp800-22/src/index-node.ts';
import { Doubling, levelAlpha } from '../src/doubling/doubling.ts';
import { soundSource } from './sound-source.ts';

const [sources = 1000, levels = 7, bits = 2 ** 20] = process.argv.slice(2).map(Number);

/** Returns the level at which source number `number` fails; `levels` if it passes. */
function failingLevel(number: number): number {
  const next = soundSource(number);
  const doubling = new Doubling(TEST_NAMES);
  for (let level = 0; level < levels; level++) {
    while (doubling.sequences < 2 ** level) {
      doubling.add(runPackedSuite(next(Math.ceil(bits / 8)), { bits }));
    }
    if (doubling.judge().failed) return level;
  }
  return levels;
}

const failed = new Array<number>(levels + 1).fill(0);
for (let number = 0; number < sources; number++) failed[failingLevel(number)]++;

process.stdout.write(
  `${sources} sources, sequences of ${bits} bits, up to ${2 ** (levels - 1)} sequences\n`,
);
for (let level = 0; level < levels; level++) {
  const share = ((100 * failed[level]) / sources).toFixed(2);
  const limit = (100 * levelAlpha(level)).toFixed(3);
  process.stdout.write(`level ${level}: ${failed[level]} failed, ${share} %, at most ${limit} %\n`);
}
const all = sources - failed[levels];
process.stdout.write(`all: ${all} failed, ${((100 * all) / sources).toFixed(2)} %, at most 1 %\n`);
