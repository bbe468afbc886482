/**
 * T_irn, the black-box suite of AIS 20/31 version 3.0 for internal random numbers: "A Proposal for Functionality Classes
 * for Random Number Generators", M. Peter, W. Schindler, version 3.0, 10 September 2024 (PS2024), §4.6.3 and §4.6.4.
 *
 * We have not read that text. Limits and rule are those of an open implementation, AnotherAIS31TestTool 3.0.7 by
 * G. Sakurai; quotations of the text by others agree (docs/ais-31.md).
 */
import { assertOptions } from '../../sp800-22/src/arguments.ts';
import { lz78yEstimate } from '../../sp800-90b/src/estimators/lz78y.ts';
import { multiMmcEstimate } from '../../sp800-90b/src/estimators/multi-mmc.ts';
import { BIT_RANGE, type BitRange, unpack } from './bits.ts';
import {
  type ElementaryTest,
  evaluateTrials,
  type ProcedureRun,
  runOf,
  type SuiteResult,
} from './result.ts';
import { prediction } from './tests/prediction.ts';
import { monobit, poker, SEQUENCE_BITS } from './tests/sequence.ts';

/** Bits of T3, and of T4. */
const PREDICTED_BITS = 1_000_000;

interface Part {
  readonly bits: number;
  readonly test: (bits: Uint8Array) => Omit<ElementaryTest, 'on'>;
}

/** The tests in their order. Each takes the bits that follow those of the last one. */
const PARTS: readonly Part[] = [
  { bits: SEQUENCE_BITS, test: monobit },
  { bits: SEQUENCE_BITS, test: poker },
  // SP 800-90B §6.3.9 and §6.3.10, with k = 2 also if the bits are all equal.
  { bits: PREDICTED_BITS, test: (bits) => prediction('T3', multiMmcEstimate(bits, 2)) },
  { bits: PREDICTED_BITS, test: (bits) => prediction('T4', lz78yEstimate(bits, 2)) },
];

/** Bits of one trial. A second trial takes as many again. */
export const SUITE_IRN_BITS: number = PARTS.reduce((sum, { bits }) => sum + bits, 0);

/**
 * Runs T_irn on packed bits, the most significant of each byte first. Throws `TypeError` on other arguments, and
 * `RangeError` on fewer bits than one trial takes.
 */
export function suiteIrn(bytes: Uint8Array, range: BitRange = {}): SuiteResult {
  assertOptions('options', range, BIT_RANGE);
  const bits = unpack(bytes, range, SUITE_IRN_BITS);
  try {
    return evaluateTrials((from) => trial(bits, from));
  } finally {
    bits.fill(0);
  }
}

/** Runs all four tests, also after one that fails, on the bits from `from` on. */
function trial(bits: Uint8Array, from: number): ProcedureRun {
  const left = bits.length - from;
  if (left < SUITE_IRN_BITS) return runOf([], 0, { stopped: tooFew(left) });
  let start = from;
  const tests = PARTS.map((part) => {
    const end = start + part.bits;
    const on = `bits ${grouped(start + 1)} to ${grouped(end)}`;
    const test = { ...part.test(bits.subarray(start, end)), on };
    start = end;
    return test;
  });
  return runOf(tests, SUITE_IRN_BITS);
}

function tooFew(left: number): string {
  return `the second trial needs ${grouped(SUITE_IRN_BITS)} bits, and ${grouped(left)} are left`;
}

function grouped(count: number): string {
  return count.toLocaleString('en-US');
}
