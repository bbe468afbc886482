/**
 * Startup tests: known answers of every stage before the first key (SP 800-90A §11.3), and the suite on
 * a live stream without modulation, because modulation could hide a broken carrier.
 */
import { gate } from '#sp800-22';
import { wipe } from '../bytes.ts';
import { drbgSelfTest } from '../drbg/index.ts';
import { modulationSelfTest } from '../modulation/index.ts';
import { proofSelfTest } from '../proof/index.ts';
import { algorithmSelfTest } from './algorithm-self-test.ts';
import { runWholeEvidence, type SampleVerdict } from './evidence-suite.ts';
import { FailuresInARow } from './failures-in-a-row.ts';
import type { Generator } from './generator.ts';
import { gateDefect } from './latch.ts';
import { type SelfTestResult, suiteSelfTest } from './suite-self-test.ts';

/** Runs the known-answer tests of algorithms, DRBG, modulation and proof. Throws `KernelsError` if the kernels are not built. */
export function runSelfTests(): SelfTestResult[] {
  return [...algorithmSelfTest(), ...stageTests()];
}

function stageTests(): SelfTestResult[] {
  return [...drbgSelfTest(), ...modulationSelfTest(), ...proofSelfTest()];
}

/** Throws if a known answer of an algorithm is wrong: before anything of this process uses it. */
export function requireAlgorithms(): void {
  require(algorithmSelfTest());
}

/** Throws if a known-answer test of a stage fails or cannot run, so that nothing is generated. */
export function requireSelfTests(): void {
  require(stageTests());
}

/** Throws if the suite does not return its known p-values. */
export function requireSuiteSelfTest(): void {
  require([suiteSelfTest()]);
}

function require(results: readonly SelfTestResult[]): void {
  const failed = results.filter((result) => !result.passed).map((result) => result.name);
  if (failed.length > 0) throw new Error(`self-test failed: ${failed.join(', ')}`);
}

const JUDGED = 'streams of suite workers between keys';

/**
 * Runs the suite on streams of a suite worker's generator that no key is cut from, at startup and later, and latches the
 * process if two in a row fail. These streams begin like keys without a sample of their own, such as second halves of
 * 384-bit keys.
 */
export function screenLiveCarrier(generator: Generator): void {
  const failures = new FailuresInARow();
  for (;;) {
    const sample = generator.takeSample();
    if (!sample) return;
    const judged = judgeSample(sample);
    generator.judged(judged, JUDGED);
    if (judged.gate.verdict === 'PASS') return;
    if (failures.add(false)) {
      generator.latch(gateDefect(judged.gate, JUDGED));
      return;
    }
  }
}

/** Judges a sample by the whole suite, and always wipes it. */
export function judgeSample(sample: Uint8Array): SampleVerdict {
  try {
    const { report, counts } = runWholeEvidence(sample);
    return { gate: gate(report), counts };
  } finally {
    wipe(sample);
  }
}
