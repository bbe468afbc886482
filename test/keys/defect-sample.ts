/** One sample of a broken generator before the suite, without anything around it. */
import { gate, runPackedSuite, type TestName, testLevelP } from '../../src/sts/index.ts';
import { BrokenDrbg } from './broken-drbg.ts';
import type { Defect } from './defects.ts';

const REQUEST_BYTES = 65_536;

export interface Sighting {
  readonly passed: boolean;
  /** The test with the smallest corrected p-value among those that enter the gate. */
  readonly smallest: TestName;
  readonly gateP: number;
}

/** Judges 2^20 bits of two requests after a reseed, as the service takes them. */
export function judgeSample(defect: Defect, seed: number): Sighting {
  const drbg = new BrokenDrbg(defect, seed, true);
  drbg.reseed(Buffer.alloc(48, 1));
  const sample = Buffer.concat([drbg.generate(REQUEST_BYTES), drbg.generate(REQUEST_BYTES)]);
  const report = runPackedSuite(sample);
  const { p, verdict } = gate(report);
  let smallest: TestName = 'frequency';
  let least = 2;
  for (const test of report.tests) {
    if (!test.applicable || !test.prerequisiteMet || test.name.startsWith('random_')) continue;
    const corrected = testLevelP(test.pValues);
    if (corrected >= least) continue;
    least = corrected;
    smallest = test.name;
  }
  return { passed: verdict === 'PASS', smallest, gateP: p };
}
