/** Judges one sample of a broken generator or of a broken modulation, without the service around it. */
import { gate, type PValueReport, type SuiteReport, type TestName } from '#sp800-22';
import { gatherEvidence } from '../../src/keys/evidence.ts';
import { runEvidenceSuite } from '../../src/keys/evidence-suite.ts';
import { Generator } from '../../src/keys/generator.ts';
import { Modulator, PHASES_BYTES } from '../../src/modulation/index.ts';
import { parts } from '../support/servers/fakes.ts';
import { BrokenDrbg } from './broken-drbg.ts';
import type { Defect } from './defects.ts';
import type { ModulationDefect } from './modulation-defects.ts';
import { Noise } from './weak-sources.ts';

/** Length of the keys whose streams are sampled: 256 bits. */
const KEY_BYTES = 32;

const CARRIER_BYTES = 131_072;

export interface Sighting {
  readonly passed: boolean;
  /** Test of the gate with the smallest corrected p-value. */
  readonly smallest: TestName;
  readonly gateP: number;
  /** Report on the carrier if there are two streams. */
  readonly report: PValueReport;
}

/** The sample of a stream or the sample between keys, drawn as in the service. */
export type SampleKind = 'stream' | 'between keys';

/** Runs the whole suite on a sample of 2^20 bits. */
export function judgeSample(defect: Defect, seed: number, kind: SampleKind = 'stream'): Sighting {
  const generator = new Generator(parts({ drbg: new BrokenDrbg(defect, seed, true) }));
  const sample =
    kind === 'stream' ? generator.requestSample(KEY_BYTES, 'os').sample : generator.takeSample();
  if (!sample) throw new Error(`no sample: ${generator.latched?.cause}`);
  return toSighting(runEvidenceSuite(sample));
}

/**
 * Judges a broken modulation over a sound carrier: the gate of the service, with its four quick tests on the
 * modulated sample, and the whole suite on that sample for comparison.
 */
export function judgeModulation(
  { breaks }: ModulationDefect,
  seed: number,
): { readonly quick: Sighting; readonly whole: Sighting } {
  const noise = new Noise(seed, 'modulation');
  const carrier = noise.bytes(CARRIER_BYTES);
  const modulated = new Modulator('phase', noise.bytes(PHASES_BYTES)).modulate(carrier, 0);
  breaks(modulated, carrier);
  const { passed, gate: verdict, carrier: report } = gatherEvidence(carrier, modulated);
  const quick = { passed, smallest: verdict.weakest.test, gateP: verdict.p, report };
  return { quick, whole: toSighting(runEvidenceSuite(modulated)) };
}

function toSighting(report: SuiteReport): Sighting {
  const { p, verdict, weakest } = gate(report);
  return { passed: verdict === 'PASS', smallest: weakest.test, gateP: p, report };
}
