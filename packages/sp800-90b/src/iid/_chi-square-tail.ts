/**
 * The upper tail of the χ² distribution: Q(df / 2, χ² / 2), the regularised upper incomplete gamma
 * function (DLMF §8.2, https://dlmf.nist.gov/8.2). The relative error is below 1e-12 for up to
 * 2^16 degrees of freedom (`test/slow/lab/iid.test.ts`).
 */
import { exp, log, log1p } from '../../../sp800-22/src/elementary.ts';

const SMALLEST = Number.MIN_VALUE / Number.EPSILON;

/** Coefficients of DLMF 5.11.1: B_2k / (2k (2k − 1)). */
const STIRLING = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188];

/** From here on the series above has an error below 1e-17. */
const STIRLING_FROM = 20;

/**
 * Returns the probability of a greater χ². It is 1 for no degrees of freedom, as in NIST's program,
 * because there is nothing to test then.
 */
export function chiSquareTail(chiSquare: number, degrees: number): number {
  const a = degrees / 2;
  const x = chiSquare / 2;
  if (a <= 0 || x <= 0) return 1;
  return x < a + 1 ? 1 - lowerSeries(a, x) : upperFraction(a, x);
}

/** DLMF 8.7.1. */
function lowerSeries(a: number, x: number): number {
  let term = 1 / a;
  let sum = term;
  for (let k = 1; term > sum * Number.EPSILON; k++) {
    term *= x / (a + k);
    sum += term;
  }
  return sum * powerTerm(a, x);
}

/** DLMF 8.9.2, evaluated by Lentz's method. */
function upperFraction(a: number, x: number): number {
  let b = x + 1 - a;
  let c = 1 / SMALLEST;
  let d = 1 / b;
  let fraction = d;
  for (let k = 1; ; k++) {
    const numerator = -k * (k - a);
    b += 2;
    d = 1 / nonZero(numerator * d + b);
    c = nonZero(b + numerator / c);
    fraction *= d * c;
    if (Math.abs(d * c - 1) <= Number.EPSILON) return fraction * powerTerm(a, x);
  }
}

function nonZero(value: number): number {
  return Math.abs(value) < SMALLEST ? SMALLEST : value;
}

/** Returns x^a e^−x / Γ(a). For great `a` the powers cancel, so they are joined before `exp`. */
function powerTerm(a: number, x: number): number {
  if (a < STIRLING_FROM) return exp(a * log(x) - x - logGamma(a));
  const relative = (x - a) / a;
  const exponent = a * (log1p(relative) - relative) - stirlingRest(a);
  return exp(exponent) * Math.sqrt(a / (2 * Math.PI));
}

function logGamma(a: number): number {
  let shifted = a;
  let product = 1;
  while (shifted < STIRLING_FROM) product *= shifted++;
  const main = (shifted - 0.5) * log(shifted) - shifted + log(2 * Math.PI) / 2;
  return main + stirlingRest(shifted) - log(product);
}

function stirlingRest(a: number): number {
  return STIRLING.reduceRight((sum, coefficient) => sum / (a * a) + coefficient, 0) / a;
}
