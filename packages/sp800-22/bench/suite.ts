/**
 * Benchmark of the statistical suite: plain against kernels, per test and in total, on one core; and
 * sequences per second on all cores.
 *
 *   node packages/sp800-22/bench/suite.ts [--runs N] [--seconds N] [--threads N] [--save]
 *
 * To use one core, pin it: taskset -c 1 node packages/sp800-22/bench/suite.ts --threads 1. The benchmark
 * compares the outputs first. Figures are medians of N runs (at least 50) after the engine has fully
 * optimised the code; plain and kernels alternate. The total of one core includes everything from
 * packed bytes to the report: copying in, counting, 189 p-values, wiping.
 */
import { createCipheriv, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { machine, saveResult } from '../../../bench/results.ts';
import {
  NIST_PARAMETERS,
  resolveParameters,
  runPackedSuite,
  runSuite,
  SUPPLEMENT_NAMES,
  type SuiteReport,
  TEST_NAMES,
  type TestName,
  type TestParameters,
  unpackBits,
} from '../src/index-node.ts';
import { KernelCounts } from '../src/kernels/counts.ts';
import { DftKernel } from '../src/kernels/dft.ts';
import { type KernelModule, knownBuild, loadKernels } from '../src/kernels/module.ts';
import { SUITE } from '../src/suite.ts';
import { medians } from './medians.ts';

const LENGTHS = [2 ** 20, 1_000_000];
const MINIMUM_RUNS = 50;
const P_VALUE_BOUND = 1e-9;

function sample(n: number): Buffer {
  const cipher = createCipheriv('aes-256-ctr', randomBytes(32), Buffer.alloc(16));
  return cipher.update(Buffer.alloc(Math.ceil(n / 8)));
}

/** Throws unless both give the same verdicts and p-values within 1e-9. */
function assertEqual(n: number): void {
  const bytes = sample(n);
  const [fast, plain] = [runPackedSuite(bytes, { bits: n }), runSuite(unpackBits(bytes, n))];
  const [actual, expected] = [pValues(fast), pValues(plain)];
  const equal =
    actual.length === expected.length &&
    actual.every((p, i) => Math.abs(p - expected[i]) <= P_VALUE_BOUND);
  if (!equal || fast.testsPassed !== plain.testsPassed) {
    throw new Error(`kernels and plain suite disagree on ${bytes.toString('hex', 0, 16)}…`);
  }
}

function pValues({ tests }: SuiteReport): number[] {
  return tests.flatMap((test) => (test.applicable ? test.pValues : []));
}

interface Row {
  readonly name: string;
  readonly plainUs: number;
  readonly kernelsUs: number;
}

/** Times the counting and judging of one test. Counts that tests share are included for each of them. */
function timeTest(name: TestName, n: number, runs: number, module: KernelModule): Row {
  const bytes = sample(n);
  const bits = unpackBits(bytes, n);
  const dft = new DftKernel(module, n);
  const settings = { constants: 'exact', parameters: resolveParameters(n) } as const;
  let counts = new KernelCounts(module, { bytes, n, offsetBits: 0 }, () => dft);
  const prepare = (): void => {
    module.wipe(n);
    module.load(bytes, n, 0);
    counts = new KernelCounts(module, { bytes, n, offsetBits: 0 }, () => dft);
  };
  const works = [
    () => void runSuite(bits, { only: [name] }),
    () => void SUITE[name].count(counts, settings),
  ];
  const [plainUs, kernelsUs] = medians(works, runs, prepare);
  module.wipe(n);
  return { name, plainUs, kernelsUs };
}

function timeTotal(n: number, runs: number): Row {
  const bytes = sample(n);
  const works = [
    () => void runSuite(unpackBits(bytes, n)),
    () => void runPackedSuite(bytes, { bits: n }),
  ];
  const [plainUs, kernelsUs] = medians(works, runs);
  return { name: 'all, from bytes to report', plainUs, kernelsUs };
}

/** Times the suite with the rows of the default parameters against that with the rows of the NIST program. */
function timeAdditionalRows(n: number, runs: number): string {
  const bytes = sample(n);
  const rows = (parameters: TestParameters): number =>
    pValues(runPackedSuite(bytes, { bits: n, parameters })).length;
  const works = [NIST_PARAMETERS, {}].map((parameters) => () => void rows(parameters));
  const [nistUs, allUs] = medians(works, runs);
  return `${rows({})} p-values, ${rows(NIST_PARAMETERS)} with NIST_PARAMETERS: ratio of times ${(allUs / nistUs).toFixed(3)}`;
}

/** Times the whole suite with each supplement, as what it adds to the suite without any. */
function timeSupplements(n: number, runs: number): string[] {
  const bytes = sample(n);
  const works = [[], ...SUPPLEMENT_NAMES.map((name) => [name])].map(
    (supplements) => () => void runPackedSuite(bytes, { bits: n, supplements }),
  );
  const [suite, ...others] = medians(works, runs);
  return others.map((us, i) => `supplement ${SUPPLEMENT_NAMES[i]}: ${(us - suite).toFixed(0)} µs`);
}

/** Times the p-values from existing counts. */
function timePValues(n: number, runs: number, module: KernelModule): number {
  const bytes = sample(n);
  const dft = new DftKernel(module, n);
  const settings = { constants: 'exact', parameters: resolveParameters(n) } as const;
  module.load(bytes, n, 0);
  const counts = new KernelCounts(module, { bytes, n, offsetBits: 0 }, () => dft);
  const made = {
    n,
    onesAndRuns: counts.onesAndRuns,
    excursions: counts.excursions,
    patterns: counts.patterns,
    ...recorded(counts),
  } as unknown as KernelCounts;
  const work = () => {
    for (const name of TEST_NAMES) SUITE[name].count(made, settings);
  };
  const [us] = medians([work], 10 * runs);
  module.wipe(n);
  return us;
}

/** Returns the counts with each method replaced by its present result. */
function recorded(counts: KernelCounts): object {
  const methods = Object.getOwnPropertyNames(KernelCounts.prototype) as (keyof KernelCounts)[];
  const results: [string, () => unknown][] = [];
  for (const name of methods) {
    const value: unknown = counts[name];
    if (typeof value !== 'function' || OTHERS.includes(name)) continue;
    const given = ARGUMENTS[name] ?? [];
    const result: unknown = value.apply(counts, given);
    results.push([name, () => result]);
  }
  return Object.fromEntries(results);
}

/** What counts nothing. With the standard's parameters no test reads the sequence itself. */
const OTHERS: readonly string[] = ['constructor', 'unpacked'];

/** Arguments of the methods that take any. */
const ARGUMENTS: Partial<Record<keyof KernelCounts, readonly number[]>> = {
  longestRuns: [10_000, 10, 16],
  sumOfLogDistances: [7, 1280, 100_000],
  peaksBelow: [3_141_593],
  largestPeak: [3_141_593],
  autocorrelations: [1000],
  sumOfBlocks: [16_384],
  complexities: [500],
  windows: [0, 1000, 9],
  ringPatterns: [9],
};

const WORKER = `
import { randomBytes } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
const { runPackedSuite } = await import(workerData.door);
const bytes = randomBytes(workerData.n / 8);
const run = () => runPackedSuite(bytes, { bits: workerData.n });
for (let i = 0; i < 50; i++) run();
parentPort.postMessage('ready');
parentPort.once('message', (seconds) => {
  const end = performance.now() + 1000 * seconds;
  let sequences = 0;
  for (; performance.now() < end; sequences++) run();
  parentPort.postMessage(sequences);
});
`;

/** Returns the sequences per second of `threads` threads together. */
async function throughput(n: number, threads: number, seconds: number): Promise<number> {
  const door = new URL('../src/index-node.ts', import.meta.url).href;
  const code = new URL(`data:text/javascript,${encodeURIComponent(WORKER)}`);
  const workers = Array.from(
    { length: threads },
    () => new Worker(code, { workerData: { door, n } }),
  );
  await Promise.all(workers.map((worker) => once(worker, 'message')));
  const counts = workers.map((worker) => once(worker, 'message'));
  for (const worker of workers) worker.postMessage(seconds);
  const done = (await Promise.all(counts)).flat() as number[];
  await Promise.all(workers.map((worker) => worker.terminate()));
  return done.reduce((sum, count) => sum + count, 0) / seconds;
}

function line({ name, plainUs, kernelsUs }: Row): string {
  const ratio = (plainUs / kernelsUs).toFixed(plainUs / kernelsUs < 10 ? 1 : 0);
  return `${name.padEnd(28)}${plainUs.toFixed(0).padStart(10)}${kernelsUs.toFixed(1).padStart(12)}${ratio.padStart(9)}`;
}

async function run(runs: number, seconds: number, threads: number): Promise<string> {
  const build = knownBuild();
  if (!build) throw new Error('this engine has no SIMD, so there is nothing to compare');
  const module = loadKernels(build);
  const lines = [machine(), `kernels: ${build}; medians of ${runs} runs`];
  for (const n of LENGTHS) {
    for (let i = 0; i < 5; i++) assertEqual(n);
    lines.push('', `n = ${n.toLocaleString('en-US')}`);
    lines.push('test                          plain µs  kernels µs    ratio');
    for (const name of TEST_NAMES) lines.push(line(timeTest(name, n, runs, module)));
    lines.push(line(timeTotal(n, runs)));
    lines.push(
      `p-values from counts, included above: ${timePValues(n, runs, module).toFixed(1)} µs`,
    );
    lines.push(timeAdditionalRows(n, runs), ...timeSupplements(n, runs));
    const perSecond = await throughput(n, threads, seconds);
    lines.push(`${threads} threads together: ${perSecond.toFixed(0)} sequences/s`);
    process.stderr.write(`${n} bits done\n`);
  }
  return `${lines.join('\n')}\n`;
}

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '5' },
    threads: { type: 'string', default: `${availableParallelism()}` },
    save: { type: 'boolean', default: false },
  },
});
const runs = Math.max(MINIMUM_RUNS, Number(values.runs));
const text = await run(runs, Number(values.seconds), Number(values.threads));
process.stdout.write(text);
if (values.save) saveResult('suite', text);
