/**
 * Class probabilities and moments of SP 800-22 Rev. 1a, in two sets.
 *
 * `exact` is the true value, to the precision of a double. `nist` is the value of the NIST program (STS
 * 2.1.2), for comparison with it. A single value belongs to both sets. `packages/lab/studies/sts-constants.ts`
 * recomputes every `exact` figure from first principles, and `test/sp800-22/constants.test.ts` compares
 * this file with the results.
 */
import { type Check, oneOf } from './arguments.ts';
import { log } from './elementary.ts';

export type Constants = 'exact' | 'nist';

/** The check of an option. */
export const CONSTANTS: Check = oneOf('exact', 'nist');

type BothReadings<T> = Readonly<Record<Constants, T>>;

/** One row of §2.4.2 and §2.4.4: block length M and the classes ≤ shortest, …, ≥ longest. */
export interface LongestRunRow {
  readonly M: number;
  readonly minimumBits: number;
  readonly shortest: number;
  readonly longest: number;
  readonly pi: BothReadings<readonly number[]>;
}

/**
 * §2.4.2: M by sequence length, longest first. §3.4: π_i.
 * The text and the program give M = 10^4 to four digits, several of them wrong in the third.
 */
export const LONGEST_RUN_ROWS: readonly LongestRunRow[] = [
  {
    M: 10_000,
    minimumBits: 750_000,
    shortest: 10,
    longest: 16,
    pi: {
      exact: [
        0.08663231107995278, 0.2082006483876034, 0.24841858194169955, 0.19391278674165693,
        0.12145848508900442, 0.06801108930393995, 0.07336609745614298,
      ],
      nist: [0.0882, 0.2092, 0.2483, 0.1933, 0.1208, 0.0675, 0.0727],
    },
  },
  {
    M: 128,
    minimumBits: 6272,
    shortest: 4,
    longest: 9,
    pi: {
      exact: [
        0.11740357883779323, 0.24295595927745486, 0.24936348317907797, 0.17517706034678235,
        0.10270107130405369, 0.1123988470548379,
      ],
      nist: [0.1174035788, 0.242955959, 0.249363483, 0.17517706, 0.102701071, 0.112398847],
    },
  },
  {
    M: 8,
    minimumBits: 128,
    shortest: 1,
    longest: 4,
    pi: {
      exact: [0.21484375, 0.3671875, 0.23046875, 0.1875],
      nist: [0.21484375, 0.3671875, 0.23046875, 0.1875],
    },
  },
];

/**
 * §2.8.4: P(W = 0), …, P(W = 4), P(W ≥ 5) for the template of nine ones in a block of 1032 bits.
 * The program keeps the compound Poisson approximation of §3.8; `exact` agrees with Hamano and
 * Kaneko, "Correction of Overlapping Template Matching Test Included in NIST Randomness Test Suite"
 * (IEICE Trans. Fundamentals E90-A, 2007), which counts the strings.
 */
export const OVERLAPPING_TEMPLATE_PI: BothReadings<readonly number[]> = {
  exact: [
    0.36409105321672786, 0.1856589001062404, 0.1393811304590327, 0.10057114399877812,
    0.07043232634639846, 0.13986544587282249,
  ],
  nist: [
    0.36787944117144233, 0.18393972058572117, 0.13795479043929088, 0.09963401531726562,
    0.06993541459769606, 0.14065661788858397,
  ],
};

/** §3.10: P(T ≤ −2.5), …, P(T > 2.5). The program's 0.01047 is a misprint of 1/96 = 0.010417. */
export const LINEAR_COMPLEXITY_PI: BothReadings<readonly number[]> = {
  exact: [1 / 96, 1 / 32, 1 / 8, 1 / 2, 1 / 4, 1 / 16, 1 / 48],
  nist: [0.01047, 0.03125, 0.125, 0.5, 0.25, 0.0625, 0.020833],
};

/** §2.6.4 (4): T² / n = ln(1 / 0.05). The program rounds it. */
export const DFT_T2_OVER_N: BothReadings<number> = {
  exact: log(20),
  nist: 2.995732274,
};

/** §2.9.4 (5), by L: expected value and variance of one term, as printed in the standard. */
interface UniversalRow {
  readonly minimumBits: number;
  readonly expectedValue: number;
  readonly variance: number;
}

/**
 * §2.9.4 and §2.9.7, L = 1 … 16. Both sets keep the printed digits, which define the test. They are the
 * true values, rounded, except for the variance at L = 8: 3.23866, printed as 3.238. Only the worked
 * example uses L below 6; those rows are from Menezes et al., Handbook of Applied Cryptography, Table
 * 5.3, the standard's source.
 */
export const UNIVERSAL_ROWS: ReadonlyMap<number, UniversalRow> = new Map([
  [1, { minimumBits: 2020, expectedValue: 0.7326495, variance: 0.69 }],
  [2, { minimumBits: 8080, expectedValue: 1.5374383, variance: 1.338 }],
  [3, { minimumBits: 24_240, expectedValue: 2.4016068, variance: 1.901 }],
  [4, { minimumBits: 64_640, expectedValue: 3.3112247, variance: 2.358 }],
  [5, { minimumBits: 161_600, expectedValue: 4.2534266, variance: 2.705 }],
  [6, { minimumBits: 387_840, expectedValue: 5.2177052, variance: 2.954 }],
  [7, { minimumBits: 904_960, expectedValue: 6.1962507, variance: 3.125 }],
  [8, { minimumBits: 2_068_480, expectedValue: 7.1836656, variance: 3.238 }],
  [9, { minimumBits: 4_654_080, expectedValue: 8.1764248, variance: 3.311 }],
  [10, { minimumBits: 10_342_400, expectedValue: 9.1723243, variance: 3.356 }],
  [11, { minimumBits: 22_753_280, expectedValue: 10.170032, variance: 3.384 }],
  [12, { minimumBits: 49_643_520, expectedValue: 11.168765, variance: 3.401 }],
  [13, { minimumBits: 107_560_960, expectedValue: 12.16807, variance: 3.41 }],
  [14, { minimumBits: 231_669_760, expectedValue: 13.167693, variance: 3.416 }],
  [15, { minimumBits: 496_435_200, expectedValue: 14.167488, variance: 3.419 }],
  [16, { minimumBits: 1_059_061_760, expectedValue: 15.167379, variance: 3.421 }],
]);
