/**
 * Start-up tests: known answers of every stage before the first key (SP 800-90A §11.3), and the
 * suite on a live stream without modulation, which could hide a broken carrier.
 */
import { type Gate, gate, runPackedSuite } from '#sp800-22';
import { wipe } from '../bytes.ts';
import { drbgSelfTest } from '../drbg/index.ts';
import { modulationSelfTest } from '../modulation/index.ts';
import { proofSelfTest } from '../proof/index.ts';
import type { Generator } from './generator.ts';
import { gateDefect } from './latch.ts';
import { type SelfTestResult, suiteSelfTest } from './suite-self-test.ts';

/** Known-answer tests of DRBG, modulation and proof. Throws `KernelsError` when the kernels have not been built. */
export function runSelfTests(): SelfTestResult[] {
  return [...drbgSelfTest(), ...modulationSelfTest(), ...proofSelfTest()];
}

/** Throws when a known-answer test fails or cannot run: nothing may be generated then. */
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

/** Streams tried before a failure latches: one alone may be chance. */
const MAX_STREAMS = 2;

const JUDGED = 'streams of suite workers between keys';

/**
 * Runs the suite on streams of a suite worker's generator from which no key is cut, at the start and later on, and latches
 * the process when two in a row fail. They begin as keys without a sample of their own do: so do second halves of 384 bits.
 */
export function screenLiveCarrier(generator: Generator): void {
  for (let attempt = 1; ; attempt++) {
    const sample = generator.takeSample();
    if (!sample) return;
    const judged = judgeSample(sample);
    generator.judged(judged, JUDGED);
    if (judged.verdict === 'PASS') return;
    if (attempt === MAX_STREAMS) {
      generator.latch(gateDefect(judged, JUDGED));
      return;
    }
  }
}

/** The sample is wiped, whatever happens. */
function judgeSample(sample: Uint8Array): Gate {
  try {
    return gate(runPackedSuite(sample));
  } finally {
    wipe(sample);
  }
}
