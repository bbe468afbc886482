/** Known answers of the suite, checked at startup and while keys are generated. */
import type { SuiteReport } from '#sp800-22';
import { concatBytes } from '../bytes.ts';
import { CtrDrbg, MAX_REQUEST_BITS } from '../drbg/index.ts';
import { type EvidenceTest, runEvidenceSuite } from './evidence-suite.ts';

export interface SelfTestResult {
  readonly name: string;
  readonly passed: boolean;
  /** True if this platform lacks what is tested. */
  readonly skipped?: boolean;
}

export const SUITE_SELF_TEST = 'SP 800-22 suite: known answers on 2^20 bits';

/**
 * Known answer of the suite: the smallest p-value of each test on the first 2^20 bits of a DRBG
 * instantiated with all-zero inputs. The published figures in the tests show that the suite is right; this
 * shows that it still computes the same on this machine.
 */
const SUITE_ANSWER: Readonly<Record<EvidenceTest, number>> = {
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
 * Number of runs at startup. The engine recompiles the kernels during use; after these runs the optimised code is
 * tested and ready for the first key.
 */
const START_UP_RUNS = 12;

/** Runs the suite `runs` times on a fixed stream and compares every test with its known answer. */
export function suiteSelfTest(runs = START_UP_RUNS): SelfTestResult {
  const drbg = CtrDrbg.instantiate({
    entropyInput: Buffer.alloc(32),
    nonce: Buffer.alloc(16),
  });
  const partBytes = MAX_REQUEST_BITS / 8;
  const stream = concatBytes(drbg.generate(partBytes), drbg.generate(partBytes));
  drbg.destroy();
  let passed = true;
  for (let run = 0; run < runs; run++) passed &&= isKnownAnswer(runEvidenceSuite(stream));
  return { name: SUITE_SELF_TEST, passed };
}

function isKnownAnswer({ tests }: SuiteReport): boolean {
  return tests.every(
    (test) =>
      test.applicable &&
      Math.abs(Math.min(...test.pValues) - SUITE_ANSWER[test.name as EvidenceTest]) <=
        SUITE_TOLERANCE,
  );
}
