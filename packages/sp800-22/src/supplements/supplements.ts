/**
 * Supplements to the suite: tests that are not part of SP 800-22. Their results stand beside those of the suite and are
 * never counted with them.
 */
import { assertName } from '../arguments.ts';
import type { SupplementDefinition } from '../definition.ts';
import { grouped } from '../grouped.ts';
import { ALPHA, testLevelP } from '../pass-rule.ts';
import type { Statistics, TestResult } from '../result.ts';
import { autocorrelationSupplement } from './autocorrelation.ts';
import { byteDistributionSupplement } from './byte-distribution.ts';
import { spectralPeakSupplement } from './spectral-peak.ts';

/** How each supplement runs, in the order of reports. */
export const SUPPLEMENTS = {
  autocorrelation: autocorrelationSupplement,
  spectral_peak: spectralPeakSupplement,
  byte_distribution: byteDistributionSupplement,
} as const satisfies Readonly<Record<string, SupplementDefinition>>;

export type SupplementName = keyof typeof SUPPLEMENTS;

/** The names of the supplements, in the order of reports. */
export const SUPPLEMENT_NAMES: readonly SupplementName[] = Object.keys(
  SUPPLEMENTS,
) as SupplementName[];

/** What every report says of the supplements. */
export const NOT_OF_STANDARD = 'not part of SP 800-22';

/** The outcome of a supplement that applies. */
export interface ApplicableSupplement {
  readonly name: SupplementName;
  readonly applicable: true;
  readonly pValues: readonly number[];
  readonly statistics: Statistics;
  /** True if p is at least `ALPHA`. */
  readonly passed: boolean;
}

/** A supplement for which the sequence is too short. */
interface InapplicableSupplement {
  readonly name: SupplementName;
  readonly applicable: false;
  readonly reason: string;
}

export type SupplementOutcome = ApplicableSupplement | InapplicableSupplement;

/** Returns the shortest sequence, in bits, to which a supplement applies. */
export function supplementMinimumBits(name: SupplementName): number {
  assertName('name', name, SUPPLEMENT_NAMES);
  return SUPPLEMENTS[name].minimumBits;
}

/** Computes one supplement by the readable code. */
export function runSupplement(name: SupplementName, bits: Uint8Array): TestResult {
  return SUPPLEMENTS[name].run(bits);
}

/** Returns the names in order. Throws `RangeError` on an unknown one. */
function supplementNames(which: readonly SupplementName[] | 'all'): readonly SupplementName[] {
  if (which === 'all') return SUPPLEMENT_NAMES;
  for (const name of which) {
    if (!SUPPLEMENT_NAMES.includes(name)) {
      throw new RangeError(`"supplements" expected names of supplements, got ${String(name)}`);
    }
  }
  return SUPPLEMENT_NAMES.filter((name) => which.includes(name));
}

/** Returns the outcomes of the supplements on `n` bits. `run` is called only for those that apply. */
export function runSupplements(
  n: number,
  which: readonly SupplementName[] | 'all',
  run: (name: SupplementName) => TestResult,
): readonly SupplementOutcome[] {
  return supplementNames(which).map((name) => {
    const minimum = supplementMinimumBits(name);
    if (n < minimum) {
      const reason = `needs at least ${grouped(minimum)} bits, got ${grouped(n)}`;
      return { name, applicable: false, reason };
    }
    const { pValues, statistics } = run(name);
    return { name, applicable: true, pValues, statistics, passed: testLevelP(pValues) >= ALPHA };
  });
}
