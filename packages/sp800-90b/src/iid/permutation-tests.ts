/**
 * The permutation tests: SP 800-90B §5.1. Each statistic of the samples is ranked among those of up
 * to 10,000 permutations; a rank at either end fails.
 *
 * Like NIST's program, a statistic is counted until it can no longer fail, and the permutations end
 * with the last one. Results are counted in the order of the permutations, whichever thread is first,
 * so that the counts depend on the seed alone.
 */
import {
  assertInteger,
  assertNumbers,
  assertObject,
  assertUint8Array,
  callback,
  wrongType,
} from '../../../sp800-22/src/arguments.ts';
import { nextState, type ShuffleState, seededState, shuffle } from './_shuffle.ts';
import { STATISTIC_NAMES, type StatisticName, Statistics } from './statistics.ts';

/** §5.1: permutations of the samples. */
export const PERMUTATIONS = 10_000;

/** §5.1 step 5: a statistic fails if at most this many permutations reach it from one side. */
export const FAILING_RANK = 5;

/** Milliseconds that a job should take, so that its message costs little and its result is soon counted. */
const JOB_MS = 40;

const LONGEST_JOB = 50;

/** Most jobs at once. */
const MOST_JOBS = 1_024;

/** Where the samples stand among their permutations, by one statistic. */
export interface PermutationCounts {
  /** t: the statistic of the samples. */
  readonly statistic: number;
  /** C_0, C_1 and C_2: permutations with a greater, equal and smaller statistic. */
  readonly greater: number;
  readonly equal: number;
  readonly less: number;
  readonly passed: boolean;
}

export interface PermutationResult {
  readonly seed: string;
  /** Permutations made: fewer than 10,000 if every statistic passed earlier. */
  readonly permutations: number;
  readonly statistics: Readonly<Record<StatisticName, PermutationCounts>>;
  readonly passed: boolean;
}

/** Consecutive permutations to make, and which statistics to compute of them. */
export interface PermutationJob {
  readonly count: number;
  /** State of the first permutation. */
  readonly state: ShuffleState;
  readonly wanted: readonly boolean[];
}

/** Runs jobs, as many at once as `parallel` says. */
export interface PermutationRunner {
  readonly parallel: number;
  /** Resolves with the statistics of each permutation, in order. */
  run(job: PermutationJob): Promise<readonly Float64Array[]>;
  close(): Promise<void>;
}

/** Makes permutations of one data set. The caller MUST call `wipe` at the end. */
export class Permuter {
  readonly #samples: Uint8Array;
  readonly #permuted: Uint8Array;
  readonly #statistics: Statistics;

  /** The caller owns `samples`. */
  constructor(samples: Uint8Array) {
    assertUint8Array('samples', samples);
    this.#samples = samples;
    this.#permuted = new Uint8Array(samples.length);
    this.#statistics = new Statistics(samples);
  }

  get mean(): number {
    return this.#statistics.mean;
  }

  get median(): number {
    return this.#statistics.median;
  }

  /** Returns the statistics of the samples as they are. */
  original(): Float64Array {
    const all = STATISTIC_NAMES.map(() => true);
    return this.#statistics.compute(this.#samples, all);
  }

  run(job: PermutationJob): Float64Array[] {
    assertJob(job);
    const { count, state, wanted } = job;
    let current = state;
    return Array.from({ length: count }, () => {
      this.#permuted.set(this.#samples);
      shuffle(this.#permuted, current);
      current = nextState(current);
      return this.#statistics.compute(this.#permuted, wanted);
    });
  }

  wipe(): void {
    this.#permuted.fill(0);
    this.#statistics.wipe();
  }
}

function assertJob(job: PermutationJob): void {
  assertObject('job', job, 'count', 'state', 'wanted');
  assertInteger('job.count', job.count, 0, PERMUTATIONS);
  assertNumbers('job.state', job.state, 'words of 32 bits', Number.isInteger);
  assertInteger('job.state.length', job.state.length, 4, 4);
  if (!Array.isArray(job.wanted)) throw wrongType('job.wanted', 'an array', job.wanted);
  assertInteger(
    'job.wanted.length',
    job.wanted.length,
    STATISTIC_NAMES.length,
    STATISTIC_NAMES.length,
  );
}

/** Throws unless `openRunner` returned a runner. One that runs no jobs would never end. */
export function assertRunner(runner: PermutationRunner): void {
  assertObject('openRunner', runner, 'parallel', 'run', 'close');
  assertInteger('openRunner.parallel', runner.parallel, 1, MOST_JOBS);
  callback('openRunner.run', runner.run);
  callback('openRunner.close', runner.close);
}

/** Runs a job, and throws unless it has a list of statistics for each permutation. */
async function statisticsOf(
  job: PermutationJob,
  runner: PermutationRunner,
): Promise<readonly Float64Array[]> {
  const all: unknown = await runner.run(job);
  const isRight = (one: unknown): boolean =>
    one instanceof Float64Array && one.length === STATISTIC_NAMES.length;
  if (Array.isArray(all) && all.length === job.count && all.every(isRight)) return all;
  const expected = `${job.count} arrays of ${STATISTIC_NAMES.length} statistics`;
  throw wrongType('openRunner.run', expected, all);
}

/** Counts permutations against the statistics of the samples. */
export class PermutationTally {
  readonly #original: Float64Array;
  readonly #greater: Int32Array;
  readonly #equal: Int32Array;
  readonly #less: Int32Array;
  /** Whether each statistic may still fail. */
  readonly open: boolean[];
  permutations = 0;

  constructor(original: Float64Array) {
    this.#original = original;
    this.#greater = new Int32Array(original.length);
    this.#equal = new Int32Array(original.length);
    this.#less = new Int32Array(original.length);
    this.open = Array.from(original, () => true);
  }

  get isComplete(): boolean {
    return this.permutations === PERMUTATIONS || !this.open.includes(true);
  }

  /** Counts the next permutation, unless the tally is complete. */
  add(statistics: Float64Array): void {
    if (this.isComplete) return;
    this.permutations++;
    for (let i = 0; i < statistics.length; i++) {
      if (!this.open[i]) continue;
      if (statistics[i] > this.#original[i]) this.#greater[i]++;
      else if (statistics[i] === this.#original[i]) this.#equal[i]++;
      else this.#less[i]++;
      this.open[i] = !this.#passes(i);
    }
  }

  result(seed: string): PermutationResult {
    const statistics = STATISTIC_NAMES.map((name, i) => [
      name,
      {
        statistic: this.#original[i],
        greater: this.#greater[i],
        equal: this.#equal[i],
        less: this.#less[i],
        passed: this.#passes(i),
      },
    ]);
    return {
      seed,
      permutations: this.permutations,
      statistics: Object.fromEntries(statistics),
      passed: !this.open.includes(true),
    };
  }

  #passes(i: number): boolean {
    return (
      this.#greater[i] + this.#equal[i] > FAILING_RANK &&
      this.#equal[i] + this.#less[i] > FAILING_RANK
    );
  }
}

/** Counted permutations, and statistics that have passed. */
export interface PermutationProgress {
  readonly permutations: number;
  readonly passed: number;
}

/** Runs the permutation tests with the statistics of the samples. Rejects if the runner does. */
export async function runPermutationTests(
  original: Float64Array,
  runner: PermutationRunner,
  seed: string,
  onProgress?: (progress: PermutationProgress) => void,
): Promise<PermutationResult> {
  const tally = new PermutationTally(original);
  const jobs = new JobQueue(seed, tally);
  /** Jobs under way, in the order of their permutations. */
  const running: Promise<readonly Float64Array[]>[] = [];
  while (!tally.isComplete) {
    while (running.length < runner.parallel) {
      const job = jobs.next();
      if (!job) break;
      const startMs = performance.now();
      const result = statisticsOf(job, runner).finally(() =>
        jobs.learn(job, performance.now() - startMs),
      );
      // Awaited later: a failure before that is not unhandled.
      result.catch(() => {});
      running.push(result);
    }
    for (const statistics of (await running.shift()) ?? []) tally.add(statistics);
    const passed = tally.open.filter((isOpen) => !isOpen).length;
    onProgress?.({ permutations: tally.permutations, passed });
  }
  await Promise.allSettled(running);
  return tally.result(seed);
}

/** Cuts the permutations into jobs of about `JOB_MS`. */
class JobQueue {
  readonly #tally: PermutationTally;
  #state: ShuffleState;
  #left = PERMUTATIONS;
  #size = 1;

  constructor(seed: string, tally: PermutationTally) {
    this.#tally = tally;
    this.#state = seededState(seed);
  }

  next(): PermutationJob | undefined {
    const count = Math.min(this.#size, this.#left);
    if (count === 0) return undefined;
    const job = { count, state: this.#state, wanted: [...this.#tally.open] };
    for (let i = 0; i < count; i++) this.#state = nextState(this.#state);
    this.#left -= count;
    return job;
  }

  learn({ count }: PermutationJob, elapsedMs: number): void {
    const fitting = Math.floor((count * JOB_MS) / Math.max(1, elapsedMs));
    this.#size = Math.max(1, Math.min(fitting, 2 * this.#size, LONGEST_JOB));
  }
}
