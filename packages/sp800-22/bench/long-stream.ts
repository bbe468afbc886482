/**
 * Benchmark of long streams: their tests against the suite on the same bits, cut into sequences of 2^20, on one core.
 *
 *   node packages/sp800-22/bench/long-stream.ts [--runs N] [--save]
 *
 * Figures are medians of N runs (at least 5), each with the ratio to the suite in the same run: all alternate.
 */
import { createCipheriv, randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { machine, median, saveResult } from '../../../bench/results.ts';
import {
  runLongStream,
  runPackedSuite,
  SUPPLEMENT_NAMES,
  THOROUGH_TESTS,
} from '../src/index-node.ts';

const LENGTHS = [2 ** 20, 2 ** 23, 2 ** 26];
const SEQUENCE_BITS = 2 ** 20;
const MINIMUM_RUNS = 5;

function sample(bits: number): Buffer {
  const cipher = createCipheriv('aes-256-ctr', randomBytes(32), Buffer.alloc(16));
  return cipher.update(Buffer.alloc(bits / 8));
}

function runSequences(bytes: Uint8Array, supplements: typeof SUPPLEMENT_NAMES): void {
  for (let at = 0; at < 8 * bytes.length; at += SEQUENCE_BITS) {
    runPackedSuite(bytes, { bits: SEQUENCE_BITS, offsetBits: at, supplements });
  }
}

/** Returns the median time of each function in ms. They alternate; the first round does not count. */
function alternating(works: readonly (() => void)[], runs: number): number[] {
  const times = works.map(() => [] as number[]);
  for (let round = 0; round <= runs; round++) {
    for (const [i, work] of works.entries()) {
      const begin = performance.now();
      work();
      if (round > 0) times[i].push(performance.now() - begin);
    }
  }
  return times.map(median);
}

function lines(bits: number, runs: number): string[] {
  const bytes = sample(bits);
  const works: [name: string, work: () => void][] = [
    ['the suite', () => runSequences(bytes, [])],
    ['the suite and supplements', () => runSequences(bytes, SUPPLEMENT_NAMES)],
    ...Object.entries(THOROUGH_TESTS).map(([name, test]): [string, () => void] => [
      name,
      () => void test.run(bytes),
    ]),
    ['a long stream, all tests', () => void runLongStream(bytes)],
  ];
  const ms = alternating(
    works.map(([, work]) => work),
    runs,
  );
  return [
    `n = ${bits.toLocaleString('en-US')}`,
    ...works.map(
      ([name], i) =>
        `${name.padEnd(28)}${ms[i].toFixed(0).padStart(8)} ms  ratio ${(ms[i] / ms[0]).toFixed(2)}`,
    ),
  ];
}

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '5' }, save: { type: 'boolean', default: false } },
});
const runs = Math.max(MINIMUM_RUNS, Number(values.runs));
const text = [machine(), ...LENGTHS.flatMap((bits) => ['', ...lines(bits, runs)])].join('\n');
process.stdout.write(`${text}\n`);
if (values.save) saveResult('long-stream', `${text}\n`);
