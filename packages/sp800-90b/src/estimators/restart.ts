/**
 * The restart tests: NIST SP 800-90B §3.1.4, on the first 1000 samples of each of 1000 restarts.
 * https://doi.org/10.6028/NIST.SP.800-90B
 */
import {
  assertNumber,
  assertObject,
  assertOptions,
  assertUint8Array,
  callback,
  checkedLater,
  type Members,
} from '../../../sp800-22/src/arguments.ts';
import { exp, exp2, expm1, log, log1p } from '../../../sp800-22/src/elementary.ts';
import {
  ASSESSMENT_SAMPLES,
  assertSamples,
  BITS_PER_SYMBOL,
  bitsOfGreatest,
  estimate,
  mapDown,
  type OnProgress,
  type Outcomes,
  progressOf,
  smallest,
} from './non-iid.ts';

/** §3.1.4.1: r restarts of c samples each. */
export const RESTARTS = 1_000;

/** §3.1.4.3: probability that sound samples fail, over all rows and columns. */
export const FALSE_ALARM = 0.01;

/** The same probability for one row or column. The text rounds it to 0.000005. */
const ALPHA = -expm1(log1p(-FALSE_ALARM) / (2 * RESTARTS));

/** Result of the sanity check of §3.1.4.3. */
export interface SanityCheck {
  /** X_max: the greatest count of the most common value of any row or column. */
  readonly maxCount: number;
  /** Greatest count that passes. */
  readonly cutoff: number;
  readonly passed: boolean;
  /** The text's figure Pr(X ≥ X_max) for binomial X. `cutoff` does not follow from it. */
  readonly binomialTail: number;
}

/** The award of restart tests, the same on both tracks. */
export interface RestartAward {
  readonly bitsPerSymbol: number;
  readonly alphabetSize: number;
  /** H_I, as given. */
  readonly initialMinEntropy: number;
  readonly sanityCheck: SanityCheck;
  /** H_r and H_c in bits per symbol. */
  readonly hRows: number;
  readonly hColumns: number;
  /** §3.1.4.2: true if neither is below H_I / 2. */
  readonly validationPassed: boolean;
  /** min(H_r, H_c, H_I), or 0 if a check failed: then no entropy is awarded. */
  readonly minEntropyPerSymbol: number;
}

export interface RestartAssessment extends RestartAward {
  /** Outcomes on the matrix read row by row, that is restart by restart. */
  readonly rows: Outcomes;
  /** Outcomes on the matrix read column by column. */
  readonly columns: Outcomes;
}

export interface RestartOptions {
  /** 1 to 8. The default is the width of the greatest sample. */
  readonly bitsPerSymbol?: number;
  /** H_I of §3.1.3, above 0 and at most `bitsPerSymbol`. */
  readonly initialMinEntropy: number;
  readonly onProgress?: OnProgress;
}

/** What the restart tests accept as options. */
export const RESTART_OPTIONS: Members<RestartOptions> = {
  bitsPerSymbol: BITS_PER_SYMBOL,
  // `assertMatrix` checks it with the width.
  initialMinEntropy: checkedLater,
  onProgress: callback,
};

/**
 * Assesses a matrix of 1000 × 1000 samples, one per byte, row by row. Throws `RangeError` if it has
 * another size, a sample does not fit or H_I is out of range. Copies are wiped.
 */
export function assessRestarts(matrix: Uint8Array, options: RestartOptions): RestartAssessment {
  assertObject('options', options, 'initialMinEntropy');
  assertOptions('options', options, RESTART_OPTIONS);
  const progress = progressOf(options.onProgress, 2);
  const restarts = readRestarts(matrix, options);
  const { symbols, transposed, alphabetSize } = restarts;
  try {
    // §3.1.4.2. As in NIST's program, only on the symbols, not on their bits.
    const rows = estimate(symbols, alphabetSize, (name) => progress(name, 'rows'));
    const columns = estimate(transposed, alphabetSize, (name) => progress(name, 'columns'));
    return { rows, columns, ...awardOf(restarts, smallest(rows), smallest(columns)) };
  } finally {
    wipeRestarts(restarts);
  }
}

/** A matrix, with its symbols renumbered without gaps. */
interface Restarts {
  readonly bitsPerSymbol: number;
  readonly initialMinEntropy: number;
  readonly alphabetSize: number;
  readonly symbols: Uint8Array;
  readonly transposed: Uint8Array;
}

/** Throws as `assessRestarts` does. The caller MUST call `wipeRestarts`. */
export function readRestarts(matrix: Uint8Array, options: RestartOptions): Restarts {
  assertUint8Array('matrix', matrix);
  const { bitsPerSymbol = bitsOfGreatest(matrix), initialMinEntropy } = options;
  assertMatrix(matrix, bitsPerSymbol, initialMinEntropy);
  const { symbols, alphabetSize } = mapDown(matrix);
  const transposed = transpose(symbols);
  return { bitsPerSymbol, initialMinEntropy, alphabetSize, symbols, transposed };
}

export function wipeRestarts({ symbols, transposed }: Restarts): void {
  symbols.fill(0);
  transposed.fill(0);
}

/** Returns the sanity check, and the award for estimates on rows and columns. */
export function awardOf(
  restarts: Restarts,
  rowEntropy: number,
  columnEntropy: number,
): RestartAward {
  const { bitsPerSymbol, initialMinEntropy, alphabetSize, symbols, transposed } = restarts;
  const maxCount = Math.max(
    mostCommonOfRows(symbols, alphabetSize),
    mostCommonOfRows(transposed, alphabetSize),
  );
  const sanityCheck = checkSanity(maxCount, initialMinEntropy);
  const hRows = Math.min(bitsPerSymbol, rowEntropy);
  const hColumns = Math.min(bitsPerSymbol, columnEntropy);
  const validationPassed = Math.min(hRows, hColumns) >= initialMinEntropy / 2;
  const isAwarded = sanityCheck.passed && validationPassed;
  return {
    bitsPerSymbol,
    alphabetSize,
    initialMinEntropy,
    sanityCheck,
    hRows,
    hColumns,
    validationPassed,
    minEntropyPerSymbol: isAwarded ? Math.min(hRows, hColumns, initialMinEntropy) : 0,
  };
}

function assertMatrix(matrix: Uint8Array, bitsPerSymbol: number, initialMinEntropy: number): void {
  if (matrix.length !== ASSESSMENT_SAMPLES) {
    throw new RangeError(
      `"matrix" expected ${ASSESSMENT_SAMPLES} samples, ${RESTARTS} of each of ${RESTARTS} restarts, got ${matrix.length}`,
    );
  }
  assertSamples(matrix, bitsPerSymbol);
  const expected = `a number above 0 and at most ${bitsPerSymbol}`;
  assertNumber(
    'initialMinEntropy',
    initialMinEntropy,
    expected,
    (H) => H > 0 && H <= bitsPerSymbol,
  );
}

export function transpose(matrix: Uint8Array): Uint8Array {
  const transposed = new Uint8Array(matrix.length);
  for (let row = 0; row < RESTARTS; row++) {
    for (let column = 0; column < RESTARTS; column++) {
      transposed[column * RESTARTS + row] = matrix[row * RESTARTS + column];
    }
  }
  return transposed;
}

function mostCommonOfRows(matrix: Uint8Array, alphabetSize: number): number {
  const counts = new Int32Array(alphabetSize);
  let most = 0;
  for (let from = 0; from < matrix.length; from += RESTARTS) {
    counts.fill(0);
    for (let i = from; i < from + RESTARTS; i++) counts[matrix[i]]++;
    most = Math.max(most, ...counts);
  }
  return most;
}

/**
 * §3.1.4.3. The text treats the count of the most common value as binomial with p = 2^-H_I,
 * although it is the greatest of several counts: four of five matrices of sound 8-bit samples would
 * fail. NIST's program simulates the greatest count for as many symbols of probability p as
 * possible and one for the rest, and takes its 1 − α quantile. This code computes the same quantile
 * instead of simulating it.
 */
export function checkSanity(maxCount: number, initialMinEntropy: number): SanityCheck {
  const p = exp2(-initialMinEntropy);
  let low = 0;
  let cutoff = RESTARTS;
  while (cutoff - low > 1) {
    const middle = (low + cutoff) >> 1;
    if (1 - probabilityOfAtMost(middle, p) <= ALPHA) cutoff = middle;
    else low = middle;
  }
  const binomialTail = binomialTailAt(maxCount, p);
  return { maxCount, cutoff, passed: maxCount <= cutoff, binomialTail };
}

/**
 * Returns the probability that no symbol occurs more than `most` times in 1000 samples. Independent
 * Poisson counts, given that their sum is 1000, have this joint distribution.
 */
function probabilityOfAtMost(most: number, p: number): number {
  // A p that equals 1/k up to rounding has k symbols and no rest.
  const common = Math.floor(1 / p + 1e-9);
  const rest = Math.max(0, 1 - common * p);
  const one = truncatedPoisson(RESTARTS * p, most);
  let sum = truncatedPoisson(RESTARTS * rest, most);
  // The distribution of the sum of `common` counts, by repeated squaring.
  let power = one;
  for (let left = common; left > 0; left >>= 1) {
    if (left & 1) sum = convolve(sum, power);
    if (left > 1) power = convolve(power, power);
  }
  return sum[RESTARTS] / truncatedPoisson(RESTARTS, RESTARTS)[RESTARTS];
}

/** Returns the probabilities of 0…1000 for this mean, 0 above `most`. */
function truncatedPoisson(mean: number, most: number): Float64Array {
  const law = new Float64Array(RESTARTS + 1);
  let logP = -mean;
  for (let k = 0; k <= most; k++) {
    law[k] = exp(logP);
    logP += log(mean) - log(k + 1);
  }
  return law;
}

/** Returns the distribution of the sum of two counts, up to 1000. */
function convolve(a: Float64Array, b: Float64Array): Float64Array {
  const sum = new Float64Array(RESTARTS + 1);
  for (let i = 0; i <= RESTARTS; i++) {
    if (a[i] === 0) continue;
    for (let j = 0; i + j <= RESTARTS; j++) sum[i + j] += a[i] * b[j];
  }
  return sum;
}

/** Returns Pr(X ≥ count) for binomial X with 1000 trials. */
function binomialTailAt(count: number, p: number): number {
  if (p === 1) return 1;
  let logP = 0;
  let tail = 0;
  for (let k = 0; k <= RESTARTS; k++) {
    if (k >= count) tail += exp(logP + (RESTARTS - k) * log1p(-p));
    logP += log(((RESTARTS - k) / (k + 1)) * p);
  }
  return Math.min(1, tail);
}
