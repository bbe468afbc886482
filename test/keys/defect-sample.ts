/** One sample of a broken generator, or of a broken modulation, before its tests and nothing around it. */
import { judgeStream } from '../../src/keys/evidence.ts';
import { Modulator, PHASES_BYTES } from '../../src/modulation/index.ts';
import {
  gate,
  type PValueReport,
  runPackedSuite,
  type SuiteReport,
  type TestName,
} from '../../src/sts/index.ts';
import { BrokenDrbg } from './broken-drbg.ts';
import type { Defect } from './defects.ts';
import type { ModulationDefect } from './modulation-defects.ts';
import { Noise } from './weak-sources.ts';

const REQUEST_BYTES = 65_536;

export interface Sighting {
  readonly passed: boolean;
  /** The test with the smallest corrected p-value among those that enter the gate. */
  readonly smallest: TestName;
  readonly gateP: number;
  /** On the carrier, where there are two streams. */
  readonly report: PValueReport;
}

/** The whole suite on 2^20 bits of two requests after a reseed, as the service takes them. */
export function judgeSample(defect: Defect, seed: number): Sighting {
  const drbg = new BrokenDrbg(defect, seed, true);
  drbg.reseed(Buffer.alloc(48, 1));
  const sample = Buffer.concat([drbg.generate(REQUEST_BYTES), drbg.generate(REQUEST_BYTES)]);
  return toSighting(runPackedSuite(sample));
}

/**
 * A broken modulation over a sound carrier: the gate of the service, with its four quick tests on the
 * modulated sample, and for comparison the whole suite on that sample.
 */
export function judgeModulation(
  { breaks }: ModulationDefect,
  seed: number,
): { readonly quick: Sighting; readonly whole: Sighting } {
  const noise = new Noise(seed, 'modulation');
  const carrier = noise.bytes(2 * REQUEST_BYTES);
  const modulated = new Modulator('phase', noise.bytes(PHASES_BYTES)).modulate(carrier, 0);
  breaks(modulated, carrier);
  const { passed, gate: verdict, carrier: report } = judgeStream(carrier, modulated);
  const quick = { passed, smallest: verdict.weakest.test, gateP: verdict.p, report };
  return { quick, whole: toSighting(runPackedSuite(modulated)) };
}

function toSighting(report: SuiteReport): Sighting {
  const { p, verdict, weakest } = gate(report);
  return { passed: verdict === 'PASS', smallest: weakest.test, gateP: p, report };
}
