/**
 * Mutation check of the health tests (SP 800-90B §4.4): it breaks sources at a known sample and prints, as a
 * table in Markdown, how many samples later the tests fail.
 *
 *     node packages/lab/studies/health-delays.ts
 *
 * A sound source is as bad as its claim allows: independent samples, symbol 0 with probability 2^-H, the other
 * symbols equally likely. It runs for one to two windows, so that the fault begins anywhere in a window.
 */
import { binomialUpper } from '../../sp800-22/src/binomial.ts';
import {
  adaptiveProportionCutoff,
  adaptiveProportionWindow,
  repetitionCountCutoff,
} from '../../sp800-90b/src/health/cutoffs.ts';
import { ALPHA_LOG2, type AlarmLevel } from '../../sp800-90b/src/health/levels.ts';
import { NoiseTests } from '../../sp800-90b/src/health/noise-tests.ts';

export interface Source {
  readonly bitsPerSample: number;
  readonly H: number;
}

/** The distribution of the samples after the fault. */
export type Fault =
  | { readonly kind: 'stuck' }
  /** Symbol 0 has probability p; the others are equally likely. */
  | { readonly kind: 'bias'; readonly p: number }
  /** `length` different symbols in turn; a binary source repeats a block that is half zeros. */
  | { readonly kind: 'period'; readonly length: number }
  /** The sound distribution without entropy: a generator whose seed is known. */
  | { readonly kind: 'generator' };

/** Number of faulty samples until each level was reached, including the last one; null if never reached. */
export type Delays = Readonly<Record<AlarmLevel, number | null>>;

const LIMIT_SAMPLES = 100_000;
/** Batch size, small enough that no batch crosses the cutoffs of two levels. */
const BATCH_SAMPLES = 4;

const SOURCES: readonly Source[] = [
  { bitsPerSample: 1, H: 0.5 },
  { bitsPerSample: 1, H: 1 },
  { bitsPerSample: 8, H: 1 / 8 },
  { bitsPerSample: 8, H: 1 },
  { bitsPerSample: 8, H: 8 },
];

export function measureDelays(source: Source, fault: Fault, seed: number): Delays {
  const uniform = seededUniform(seed);
  const W = adaptiveProportionWindow(source.bitsPerSample);
  const tests = new NoiseTests({
    bitsPerSample: source.bitsPerSample,
    minEntropyPerSample: source.H,
  });
  const honestSamples = W + Math.floor(uniform() * W);
  const honest = biased(2 ** -source.H, source, uniform);
  const before = Uint8Array.from({ length: honestSamples }, honest);
  if (tests.check(before).level !== 'passed') throw new Error(`seed ${seed}: a false alarm`);
  const faulty = samplesOf(fault, source, uniform);
  const batch = new Uint8Array(BATCH_SAMPLES);
  let intermittent: number | null = null;
  for (let sample = 0; sample < LIMIT_SAMPLES; sample += BATCH_SAMPLES) {
    for (let i = 0; i < BATCH_SAMPLES; i++) batch[i] = faulty(sample + i);
    const verdict = tests.check(batch);
    if (verdict.level === 'passed') continue;
    const delay = verdict.sample - honestSamples + 1;
    intermittent ??= delay;
    if (verdict.level === 'permanent') return { intermittent, permanent: delay };
  }
  return { intermittent, permanent: null };
}

function samplesOf(
  fault: Fault,
  source: Source,
  uniform: () => number,
): (sample: number) => number {
  switch (fault.kind) {
    case 'stuck':
      return () => 0;
    case 'bias':
      return biased(fault.p, source, uniform);
    case 'generator':
      return biased(2 ** -source.H, source, uniform);
    case 'period': {
      const block = periodOf(fault.length, source, uniform);
      return (sample) => block[sample % block.length];
    }
  }
}

function biased(p: number, { bitsPerSample }: Source, uniform: () => number): () => number {
  const others = 2 ** bitsPerSample - 1;
  return () => {
    const u = uniform();
    return u < p ? 0 : 1 + Math.min(others - 1, Math.floor(((u - p) / (1 - p)) * others));
  };
}

function periodOf(length: number, { bitsPerSample }: Source, uniform: () => number): Uint8Array {
  if (bitsPerSample > 1) return Uint8Array.from({ length }, (_, i) => i);
  const block = Uint8Array.from({ length }, (_, i) => i % 2);
  for (let i = length - 1; i > 0; i--) {
    const j = Math.floor(uniform() * (i + 1));
    [block[i], block[j]] = [block[j], block[i]];
  }
  return block;
}

/** Returns uniform numbers on [0, 1) that are the same in every run: Marsaglia's xorshift32, 16 steps after the seed. */
function seededUniform(seed: number): () => number {
  let state = Math.imul(seed + 1, 0x9e37_79b1) | 1;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  for (let i = 0; i < 16; i++) next();
  return next;
}

/** Cutoffs of one source at one level. */
export function cutoffsOf({ bitsPerSample, H }: Source, level: AlarmLevel) {
  const W = adaptiveProportionWindow(bitsPerSample);
  const alphaLog2 = ALPHA_LOG2[level];
  return {
    W,
    repetition: repetitionCountCutoff(alphaLog2, H),
    proportion: adaptiveProportionCutoff(alphaLog2, H, W),
  };
}

/** Returns the mean delay that follows from the cutoffs, for the faster of the two tests; Infinity if never. */
export function expectedDelay(source: Source, fault: Fault, level: AlarmLevel): number {
  const { W, repetition, proportion } = cutoffsOf(source, level);
  switch (fault.kind) {
    case 'stuck':
      // The first faulty sample, and C − 1 further ones.
      return repetition;
    case 'bias': {
      const run = expectedRun(fault.p, repetition);
      return Math.min(run, expectedProportion(source, fault.p, W, proportion));
    }
    case 'period': {
      // On average half a window passes before a window begins whose first symbol comes C times.
      const last = (proportion - 1) * fault.length;
      return source.bitsPerSample > 1 && last < W ? W / 2 + last + 1 : Infinity;
    }
    case 'generator':
      return Infinity;
  }
}

/** Returns the mean number of samples until C in a row have the symbol of probability p. */
function expectedRun(p: number, C: number): number {
  return (1 - p ** C) / ((1 - p) * p ** C);
}

/**
 * §4.4.2, over independent windows: a window fails if its first symbol comes C − 1 times again. Half a
 * window passes until the first one begins; the C-th such symbol ends the last one.
 */
function expectedProportion(source: Source, p: number, W: number, C: number): number {
  const failing = windowFailure(source, p, W, C);
  return W / 2 + W * (1 / failing - 1) + Math.min(W, C / p);
}

/** Returns the probability that one window fails. */
export function windowFailure(source: Source, p: number, W: number, C: number): number {
  const rest = (1 - p) / (2 ** source.bitsPerSample - 1);
  return p * binomialUpper(C - 1, W - 1, p) + (1 - p) * binomialUpper(C - 1, W - 1, rest);
}

function faultsOf({ bitsPerSample, H }: Source): readonly (readonly [name: string, Fault])[] {
  const p = 2 ** -H;
  const biases = [0.02, 0.05, 0.6, 0.75, 0.9, 0.97, 0.99].filter((bias) => bias > p);
  return [
    ['stuck', { kind: 'stuck' }],
    ...biases.map((bias) => [`p = ${bias}`, { kind: 'bias', p: bias }] as const),
    ['half of H', { kind: 'bias', p: 2 ** (-H / 2) }],
    ['a quarter of H', { kind: 'bias', p: 2 ** (-H / 4) }],
    ['period 2', { kind: 'period', length: 2 }],
    ['period 4', { kind: 'period', length: 4 }],
    [bitsPerSample > 1 ? 'period 256, a counter' : 'period 256', { kind: 'period', length: 256 }],
    ['a generator', { kind: 'generator' }],
  ];
}

function row(source: Source, name: string, fault: Fault, runs: number): string {
  const delays = Array.from({ length: runs }, (_, seed) => measureDelays(source, fault, seed));
  const cells = (['intermittent', 'permanent'] as const).flatMap((level) => {
    const found = delays.map((delay) => delay[level] ?? Infinity).sort((a, b) => a - b);
    const theory = expectedDelay(source, fault, level);
    const mean = found.reduce((sum, delay) => sum + delay, 0) / runs;
    return [found[runs >> 1], found[Math.ceil(runs * 0.95) - 1], mean, theory].map(figure);
  });
  return `| ${name} | ${cells.join(' | ')} |`;
}

function figure(samples: number): string {
  return samples > LIMIT_SAMPLES ? '–' : Math.round(samples).toLocaleString('en');
}

function table(source: Source, runs: number): string {
  const levels = (['intermittent', 'permanent'] as const).map((level) => cutoffsOf(source, level));
  const [low, high] = levels;
  return [
    `**${source.bitsPerSample} bit${source.bitsPerSample > 1 ? 's' : ''}, H = ${source.H}**: ` +
      `runs of ${low.repetition} and ${high.repetition}, ` +
      `${low.proportion} and ${high.proportion} of ${low.W}`,
    '',
    '| Fault | 2^−30: median | 95 % | mean | theory | 2^−60: median | 95 % | mean | theory |',
    '|---|---|---|---|---|---|---|---|---|',
    ...faultsOf(source).map(([name, fault]) => row(source, name, fault, runs)),
  ].join('\n');
}

if (import.meta.main) {
  const RUNS = 200;
  process.stdout.write(`${SOURCES.map((source) => table(source, RUNS)).join('\n\n')}\n`);
}
