/**
 * Times the parts of one permutation of the IID track: 1,000,000 samples of 8 bits and of 1 bit.
 *
 *   node packages/sp800-90b/bench/iid.ts
 */
import { randomBytes } from 'node:crypto';
import { seededState, shuffle } from '../src/iid/_shuffle.ts';
import { STATISTIC_NAMES, Statistics } from '../src/iid/statistics.ts';

const SAMPLES = 1_000_000;
const ROUNDS = 9;

/** Returns the median of `ROUNDS` times in milliseconds. */
function medianMs(work: () => void): string {
  const times = Array.from({ length: ROUNDS }, () => {
    const startMs = performance.now();
    work();
    return performance.now() - startMs;
  });
  return times.sort((a, b) => a - b)[ROUNDS >> 1].toFixed(1);
}

const bytes = new Uint8Array(randomBytes(SAMPLES));
const inputs = { '8 bits': bytes, '1 bit': bytes.map((byte) => byte & 1) };
for (const [name, samples] of Object.entries(inputs)) {
  const statistics = new Statistics(samples);
  const isCompression = STATISTIC_NAMES.map((statistic) => statistic === 'compression');
  const isOther = isCompression.map((is) => !is);
  const parts = {
    shuffle: medianMs(() => shuffle(samples, seededState('1'))),
    'statistics except compression': medianMs(() => statistics.compute(samples, isOther)),
    compression: medianMs(() => statistics.compute(samples, isCompression)),
  };
  for (const [part, ms] of Object.entries(parts)) {
    process.stdout.write(`${name}  ${part}: ${ms} ms\n`);
  }
}
