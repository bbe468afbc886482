/**
 * Measures the p-values of long streams on sound bits: counts below 0.1, 0.01 and 0.001, and the verdicts.
 *
 *     node packages/lab/studies/long-stream-rates.ts BITS STREAMS [TEST…]
 *
 * With names, only these of the tests that long streams alone get run. The streams are AES-256 in counter mode under the keys
 * 1, 2, 3, … (the last four bytes hold the length in bits), so all figures are the same in every run.
 * docs/evidence/long-streams.txt has the results.
 */
import { createCipheriv } from 'node:crypto';
import { binomialTwoSided } from '../../sp800-22/src/binomial.ts';
import {
  judgeLongStreams,
  type LongStreamReport,
  runLongStream,
  THOROUGH_TESTS,
} from '../../sp800-22/src/index-node.ts';

const LEVELS = [0.1, 0.01, 0.001];

const [bitsText, streamsText, ...names] = process.argv.slice(2);
const [bits, streams] = [Number(bitsText), Number(streamsText)];
if (!(bits > 0 && streams > 0)) throw new RangeError('"BITS STREAMS" expected two numbers');

function soundStream(seed: number): Buffer {
  const key = Buffer.alloc(32);
  key.writeUInt32BE(seed);
  key.writeUInt32BE(bits, 28);
  return createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(bits / 8));
}

function reportOn(bytes: Uint8Array): LongStreamReport {
  if (names.length === 0) return runLongStream(bytes);
  const chosen = names as (keyof typeof THOROUGH_TESTS)[];
  const results = chosen.map((name) => ({ name, p: THOROUGH_TESTS[name].run(bytes).pValues[0] }));
  return { bits, results };
}

function line(name: string, ps: readonly number[]): string {
  const counts = LEVELS.map((level) => {
    const below = ps.filter((p) => p < level).length;
    return `${below} below ${level} (p ${binomialTwoSided(below, streams, level).toFixed(3)})`;
  });
  return `${name.padEnd(26)} ${counts.join(', ')}; smallest ${Math.min(...ps).toExponential(1)}\n`;
}

const all = new Map<string, number[]>();
for (let seed = 1; seed <= streams; seed++) {
  const report = reportOn(soundStream(seed));
  const verdict = { name: 'all, corrected', p: judgeLongStreams([report]).p };
  for (const { name, p } of [...report.results, verdict])
    all.set(name, [...(all.get(name) ?? []), p]);
}
process.stdout.write(`${streams} streams of ${bits} bits\n`);
for (const [name, ps] of all) process.stdout.write(line(name, ps));
