/**
 * Simulates the evidence over many samples (src/keys/accumulated-evidence.ts): how often sound samples reach a limit, and how
 * many samples a small defect takes to the limit.
 *
 *   node scripts/accumulated-rates.ts sound SAMPLES [SEED]
 *   node scripts/accumulated-rates.ts defects [RUNS]
 *
 * `sound` draws the counts of SAMPLES sound samples of 2^20 bits from their exact binomial distribution, for each statistic.
 * It reports the largest R, and in how many blocks of a million samples R reached lower limits, beside the bound. `defects`
 * draws the count that shows a defect, from the normal distribution, RUNS times to the limit. Both print text for
 * docs/evidence/accumulated.txt.
 */
import { createCipheriv, createHash } from 'node:crypto';
import { LAGS } from '#sp800-22';
import {
  ACCUMULATED_LIMIT,
  ACCUMULATED_TESTS,
  AccumulatedEvidence,
  DEVIATIONS,
  likelihoodRatio,
} from '../src/keys/accumulated-evidence.ts';
import { SAMPLE_BITS } from '../src/keys/sample.ts';

const BLOCK_SAMPLES = 1_000_000;
const LIMITS = [1e6, 1e7, 1e8, 1e9, 1e10];

/** Counts farther than this from the mean are left out: 10^-15 of a binomial distribution. */
const STANDARD_DEVIATIONS = 8;

/** Uniform words of 32 bits from AES-256-CTR, the same for each seed. */
class Words {
  readonly #cipher;
  #words = new Uint32Array(0);
  #at = 0;

  constructor(seed: string) {
    const key = createHash('sha256').update(seed).digest();
    this.#cipher = createCipheriv('aes-256-ctr', key, Buffer.alloc(16));
  }

  next(): number {
    if (this.#at === this.#words.length) {
      this.#words = new Uint32Array(this.#cipher.update(Buffer.alloc(2 ** 18)).buffer.slice(0));
      this.#at = 0;
    }
    return this.#words[this.#at++];
  }

  /** Returns a number from 0 to 1, neither included. */
  uniform(): number {
    return (this.next() * 2 ** 21 + (this.next() >>> 11) + 0.5) / 2 ** 53;
  }

  /** Returns a standard normal number, by Box and Muller. */
  normal(): number {
    return Math.sqrt(-2 * Math.log(this.uniform())) * Math.cos(2 * Math.PI * this.uniform());
  }
}

/** Counts of a binomial distribution with probability ½, by Walker's alias method, with the likelihood ratios of each. */
class Counts {
  readonly size: number;
  readonly #threshold: Float64Array;
  readonly #alias: Uint16Array;
  /** For each count, the ratio of each deviation. */
  readonly ratios: Float64Array;

  constructor(n: number) {
    const reach = Math.ceil((STANDARD_DEVIATIONS * Math.sqrt(n)) / 2);
    const first = Math.floor(n / 2) - reach;
    this.size = 2 * reach + 1;
    const weights = Float64Array.from({ length: this.size }, () => 1);
    // P(k + 1) / P(k) = (n − k) / (k + 1), from the middle outwards.
    for (let i = reach + 1; i < this.size; i++) {
      const k = first + i - 1;
      weights[i] = (weights[i - 1] * (n - k)) / (k + 1);
    }
    for (let i = reach - 1; i >= 0; i--) {
      const k = first + i;
      weights[i] = (weights[i + 1] * (k + 1)) / (n - k);
    }
    const total = weights.reduce((sum, weight) => sum + weight);
    this.#threshold = weights.map((weight) => (weight / total) * this.size);
    this.#alias = Uint16Array.from({ length: this.size }, (_, i) => i);
    this.#balance();
    this.ratios = Float64Array.from({ length: this.size * DEVIATIONS.length }, (_, i) => {
      const k = first + Math.floor(i / DEVIATIONS.length);
      return likelihoodRatio(k, n, DEVIATIONS[i % DEVIATIONS.length]);
    });
  }

  draw(words: Words): number {
    // 2^32 is so much larger than the table that the choice is even to 10^-5 of a probability.
    const i = Math.floor((words.next() / 2 ** 32) * this.size);
    return words.uniform() < this.#threshold[i] ? i : this.#alias[i];
  }

  #balance(): void {
    const small: number[] = [];
    const large: number[] = [];
    for (const [i, threshold] of this.#threshold.entries()) (threshold < 1 ? small : large).push(i);
    for (;;) {
      const [from, to] = [small.pop(), large.at(-1)];
      if (from === undefined || to === undefined) return;
      this.#alias[from] = to;
      this.#threshold[to] -= 1 - this.#threshold[from];
      if (this.#threshold[to] < 1) small.push(large.pop() ?? 0);
    }
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function sound(samples: number, seed: string): void {
  const words = new Words(seed);
  const reached = LIMITS.map(() => 0);
  let [largest, name] = [0, ''];
  for (const [i, test] of ACCUMULATED_TESTS.entries()) {
    const counts = new Counts(i === 0 ? SAMPLE_BITS : SAMPLE_BITS - LAGS[i - 1]);
    for (let block = 0; block < samples / BLOCK_SAMPLES; block++) {
      const most = largestOfBlock(counts, words);
      for (const [j, limit] of LIMITS.entries()) if (most >= limit) reached[j] += 1;
      if (most > largest) [largest, name] = [most, test];
    }
    process.stderr.write(`${test}: done\n`);
  }
  const blocks = (samples / BLOCK_SAMPLES) * ACCUMULATED_TESTS.length;
  print(
    `${samples} sound samples, seed ${seed}: the largest R is ${largest.toPrecision(2)} (${name}); the limit is 1e16`,
  );
  print('limit    blocks that reached it    at most, by the bound');
  for (const [j, limit] of LIMITS.entries()) {
    const bound = Math.min(blocks, (blocks * BLOCK_SAMPLES) / limit);
    print(
      `${limit.toExponential(0).padEnd(9)}${String(reached[j]).padEnd(26)}${bound.toPrecision(3)} of ${blocks}`,
    );
  }
}

/** Begins R anew, so that the bound holds for each block, and returns its largest mean in a million samples. */
function largestOfBlock(counts: Counts, words: Words): number {
  const R = new Float64Array(DEVIATIONS.length);
  const width = R.length;
  let most = 0;
  for (let sample = 0; sample < BLOCK_SAMPLES; sample++) {
    const at = counts.draw(words) * width;
    let sum = 0;
    for (let j = 0; j < width; j++) {
      R[j] = (1 + R[j]) * counts.ratios[at + j];
      sum += R[j];
    }
    if (sum > most) most = sum;
  }
  return most / width;
}

/** Deviations of the probability of a one, or of a pair that differs. */
const DEFECTS: readonly (readonly [name: string, deviation: number])[] = [
  ['share of ones 0.501', 0.001],
  ['share of ones 0.5005', 0.0005],
  ['share of ones 0.5003', 0.0003],
  ['share of ones 0.50015', 0.00015],
  ['correlation of 0.001 at a lag', 0.0005],
];

function defects(runs: number): void {
  const words = new Words('defects');
  print(`samples to the limit, ${runs} runs each:  median   99 %   most`);
  for (const [name, deviation] of DEFECTS) {
    const samples = Array.from({ length: runs }, () => samplesToLimit(deviation, words));
    samples.sort((a, b) => a - b);
    const at = (share: number) => String(samples[Math.ceil(share * runs) - 1]).padStart(7);
    print(`${name.padEnd(41)}${at(0.5)}${at(0.99)}${at(1)}`);
  }
}

function samplesToLimit(deviation: number, words: Words): number {
  const evidence = new AccumulatedEvidence();
  const differences = LAGS.map((lag) => (SAMPLE_BITS - lag) / 2);
  for (;;) {
    const ones = Math.round(
      SAMPLE_BITS * (0.5 + deviation) + (Math.sqrt(SAMPLE_BITS) / 2) * words.normal(),
    );
    const [found] = evidence.add({ bits: SAMPLE_BITS, ones, differences });
    if (found?.isDefect) return found.samples;
  }
}

const [, , what, count, seed = '1'] = process.argv;
if (what === 'sound' && Number(count) % BLOCK_SAMPLES === 0) sound(Number(count), seed);
else if (what === 'defects') defects(Number(count ?? 2_000));
else {
  process.stderr.write(
    `usage: accumulated-rates.ts sound SAMPLES [SEED] | defects [RUNS]\n  SAMPLES: a multiple of ${BLOCK_SAMPLES}. The limit is ${ACCUMULATED_LIMIT}.\n`,
  );
  process.exitCode = 2;
}
