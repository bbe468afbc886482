/**
 * Start-up tests: known answers of every stage before the first key (SP 800-90A §11.3), and the
 * suite on a live stream without modulation, which could hide a broken carrier.
 */
import { concatBytes, wipe } from '../bytes.ts';
import { CtrDrbg, drbgSelfTest, MAX_REQUEST_BITS } from '../drbg/index.ts';
import { modulationSelfTest } from '../modulation/index.ts';
import { proofSelfTest } from '../proof/index.ts';
import { gate, runPackedSuite, type SuiteReport, type TestName } from '../sts/index.ts';
import type { Generator } from './generator.ts';
import { gateDefect } from './latch.ts';

export interface SelfTestResult {
  readonly name: string;
  readonly passed: boolean;
}

/** Known-answer tests of DRBG, modulation and proof. */
export function runSelfTests(): SelfTestResult[] {
  return [...drbgSelfTest(), ...modulationSelfTest(), ...proofSelfTest()];
}

/**
 * Known answer of the suite: the smallest p-value of each test on the first 2^20 bits of the DRBG
 * instantiated with all-zero inputs. That the suite is right is shown by the published figures in
 * its tests; this shows that it still computes the same on this machine.
 */
const SUITE_ANSWER: Readonly<Record<TestName, number>> = {
  frequency: 0.664583474140126,
  block_frequency: 0.0788530344432936,
  cumulative_sums: 0.803528218822343,
  runs: 0.617204296700651,
  longest_run: 0.419662383056842,
  rank: 0.102164730558904,
  dft: 0.124096951016612,
  non_overlapping_template: 0.00765964955574028,
  overlapping_template: 0.113663983002686,
  universal: 0.524961587466933,
  approximate_entropy: 0.778785613940909,
  random_excursions: 0.188544462005298,
  random_excursions_variant: 0.0304323353212298,
  serial: 0.783350764103616,
  linear_complexity: 0.0107924533082842,
};

const SUITE_TOLERANCE = 1e-9;

/**
 * Runs of the suite's self-test. The engine compiles the kernels anew while they are being used: the
 * answers are to hold for what it ends up with, which then is ready for the first key.
 */
const SUITE_RUNS = 12;

/** Runs the suite on a fixed stream and compares every test with its known answer. */
export function suiteSelfTest(): SelfTestResult {
  const drbg = CtrDrbg.instantiate({
    entropyInput: Buffer.alloc(32),
    nonce: Buffer.alloc(16),
  });
  const partBytes = MAX_REQUEST_BITS / 8;
  const stream = concatBytes(drbg.generate(partBytes), drbg.generate(partBytes));
  drbg.destroy();
  let passed = true;
  for (let run = 0; run < SUITE_RUNS; run++) passed &&= isKnownAnswer(runPackedSuite(stream));
  return { name: 'SP 800-22 suite: known answers on 2^20 bits', passed };
}

function isKnownAnswer({ tests }: SuiteReport): boolean {
  return tests.every(
    (test) =>
      test.applicable &&
      Math.abs(Math.min(...test.pValues) - SUITE_ANSWER[test.name]) <= SUITE_TOLERANCE,
  );
}

/** Throws when a known-answer test fails: nothing may be generated then. */
export function requireSelfTests(): void {
  require(runSelfTests());
}

/** Throws when the suite does not give the known p-values. */
export function requireSuiteSelfTest(): void {
  require([suiteSelfTest()]);
}

function require(results: readonly SelfTestResult[]): void {
  const failed = results.filter((result) => !result.passed).map((result) => result.name);
  if (failed.length > 0) throw new Error(`self-test failed: ${failed.join(', ')}`);
}

/** Streams tried before a start-up failure counts: one alone may be chance. */
const START_UP_STREAMS = 2;

/** Runs the suite on the generator's bare carrier and latches the process when two streams in a row fail. */
export function screenLiveCarrier(generator: Generator): void {
  for (let attempt = 1; ; attempt++) {
    const sample = generator.takeSample();
    if (!sample) return;
    const judged = gate(runPackedSuite(sample));
    wipe(sample);
    if (judged.verdict === 'PASS') return;
    if (attempt === START_UP_STREAMS) {
      generator.latch(gateDefect(judged, 'start-up streams'));
      return;
    }
  }
}
