/**
 * The two special functions of SP 800-22 Rev. 1a §5.5.3: erfc and igamc.
 *
 * Both are upper tails and are computed as such. Where a complement 1 − x appears, x is at most about
 * 0.9, so at most one decimal digit is lost. The relative error is below 1e-13 for results down to
 * 1e-100, and below 3e-13 down to 1e-300, where the rounding of the exponent alone causes it; a from 1/2
 * to 2^18. `test/sp800-22/special-functions.test.ts` checks this against 50-digit figures.
 *
 * igamc(a, x) = Q(a, x) = Γ(a, x) / Γ(a). DLMF chapters 7 and 8, https://dlmf.nist.gov.
 */
import { assertNumber, wrongType } from './arguments.ts';
import { exp, log1p } from './elementary.ts';

/** Below this `a` the Stirling series is too inaccurate; Q is then a sum of at most 20 terms. */
const STIRLING_MINIMUM = 20;

/** Coefficients of DLMF 5.11.1: B_2k / (2k (2k − 1)). With a ≥ 20 the next term is below 1e-17. */
const STIRLING = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188];

/** From this x on, erfc is smaller than the smallest double. */
const ERFC_ZERO = 28;

/** Coefficients of the numerator and denominator of a rational function, highest power first. */
type Rational = readonly [numerator: readonly number[], denominator: readonly number[]];

/**
 * W. J. Cody, "Rational Chebyshev Approximations for the Error Function", Math. Comp. 23 (1969),
 * tables II and III with the digits of his program CALERF. With them erf(x) = x · CENTRE(x²) for
 * |x| ≤ 0.46875, e^(x²) erfc(x) = MIDDLE(x) up to 4, and (1/√π − OUTER(1/x²) / x²) / x beyond.
 */
const CENTRE: Rational = [
  [
    0.18577770618460315, 3.1611237438705655, 113.86415415105016, 377.485237685302,
    3209.3775891384694,
  ],
  [1, 23.601290952344122, 244.02463793444417, 1282.6165260773723, 2844.236833439171],
];
const MIDDLE: Rational = [
  [
    2.1531153547440383e-8, 0.5641884969886701, 8.883149794388377, 66.11919063714163,
    298.6351381974001, 881.952221241769, 1712.0476126340707, 2051.0783778260716, 1230.3393547979972,
  ],
  [
    1, 15.744926110709835, 117.6939508913125, 537.1811018620099, 1621.3895745666903,
    3290.7992357334597, 4362.619090143247, 3439.3676741437216, 1230.3393548037495,
  ],
];
const OUTER: Rational = [
  [
    0.016315387137302097, 0.30532663496123236, 0.36034489994980445, 0.12578172611122926,
    0.016083785148742275, 0.0006587491615298378,
  ],
  [
    1, 2.568520192289822, 1.8729528499234673, 0.5279051029514285, 0.06051834131244132,
    0.0023352049762686918,
  ],
];
const CENTRE_END = 0.46875;
const MIDDLE_END = 4;

/** Returns the complementary error function, within [0, 2]. Throws `RangeError` on NaN. */
export function erfc(x: number): number {
  if (typeof x !== 'number') throw wrongType('x', 'a number', x);
  if (Number.isNaN(x)) throw new RangeError('"x" expected a number, got NaN');
  if (x < 0) return 2 - erfc(-x);
  if (x >= ERFC_ZERO) return 0;
  if (x <= CENTRE_END) return 1 - erfOfSmall(x);
  return expMinusSquare(x) * scaledErfc(x);
}

/** Returns the upper tail 1 − Φ(x) of the standard normal distribution. */
export function normalTail(x: number): number {
  return erfc(x * Math.SQRT1_2) / 2;
}

function isHalfDegrees(a: number): boolean {
  return a > 0 && Number.isInteger(2 * a);
}

function isNotNegative(x: number): boolean {
  return x >= 0;
}

/**
 * Returns the regularised upper incomplete gamma function Q(a, x) for x ≥ 0 and a multiple a > 0 of 1/2,
 * half the degrees of freedom of a χ² test. Throws `RangeError` on other arguments, including NaN.
 */
export function igamc(a: number, x: number): number {
  assertNumber('a', a, 'a multiple of 1/2 above 0', isHalfDegrees);
  assertNumber('x', x, 'a number from 0', isNotNegative);
  if (x === 0) return 1;
  if (x === Infinity) return 0;
  // Rounding may leave the sum slightly above 1.
  if (a <= STIRLING_MINIMUM) return Math.min(1, finiteSum(a, x));
  const prefix = gammaPrefix(a, x);
  // The series gives P, the fraction Q; each is used on the side of the median where it is fast.
  if (x < a + 1) return prefix === 0 ? 1 : Math.max(0, 1 - prefix * lowerSeries(a, x));
  return prefix === 0 ? 0 : prefix * a * upperFraction(a, x);
}

/** Returns erf(x) for |x| ≤ 0.46875. */
function erfOfSmall(x: number): number {
  return x * evaluate(CENTRE, x * x);
}

/** Returns e^(x²) erfc(x) for x > 0.46875. */
function scaledErfc(x: number): number {
  if (x <= MIDDLE_END) return evaluate(MIDDLE, x);
  const inverseSquare = 1 / (x * x);
  return (1 / Math.sqrt(Math.PI) - inverseSquare * evaluate(OUTER, inverseSquare)) / x;
}

function evaluate([numerator, denominator]: Rational, x: number): number {
  return horner(numerator, x) / horner(denominator, x);
}

function horner(coefficients: readonly number[], x: number): number {
  let value = 0;
  for (const coefficient of coefficients) value = value * x + coefficient;
  return value;
}

/** Returns e^(−x²). Splits x², so that its rounding error does not reach the exponential. */
function expMinusSquare(x: number): number {
  const head = Math.round(x * 16) / 16;
  return exp(-head * head) * exp(-(x - head) * (x + head));
}

/**
 * DLMF 8.4.10 and 8.8.10: returns Q(a, x) = e^(−x) Σ x^k / Γ(k + 1) over k = a − 1, a − 2, … ≥ 0. For an
 * odd number of degrees of freedom the last k is 1/2, and Q(1/2, x) = erfc(√x) is added.
 */
function finiteSum(a: number, x: number): number {
  // Two half powers, because e^(−x) alone leaves the range of a double before the product does.
  const halfDecay = exp(-x / 2);
  if (halfDecay === 0) return 0;
  if (Number.isInteger(a)) return halfDecay * powerSum(1, 1, a, x) * halfDecay;
  const root = Math.sqrt(x);
  // Γ(3/2) = √π / 2.
  const sum = a === 0.5 ? 0 : powerSum(1.5, (2 * root) / Math.sqrt(Math.PI), a, x);
  if (root <= CENTRE_END) return 1 - erfOfSmall(root) + halfDecay * sum * halfDecay;
  return halfDecay * (scaledErfc(root) + sum) * halfDecay;
}

/** Returns first + first · x/k + first · x²/(k (k + 1)) + …, one term for each k = start … a − 1. */
function powerSum(start: number, first: number, a: number, x: number): number {
  let term = first;
  let sum = first;
  for (let k = start; k < a; k++) {
    term *= x / k;
    sum += term;
  }
  return sum;
}

/**
 * Returns x^a · e^(−x) / Γ(a + 1), the common factor of both tails, for large a.
 *
 * It is e^(−a·φ) / √(2πa) over the Stirling correction, with φ(μ) = μ − ln(1 + μ) and
 * μ = (x − a) / a. The form a·ln x − x − lnΓ(a) would cancel almost all of its digits.
 */
function gammaPrefix(a: number, x: number): number {
  const exponent = a * muMinusLog1p((x - a) / a);
  return exp(-exponent - stirlingCorrection(a)) / Math.sqrt(2 * Math.PI * a);
}

/** Returns ln Γ(a) − ((a − 1/2) ln a − a + ln(2π)/2), DLMF 5.11.1. */
function stirlingCorrection(a: number): number {
  const inverseSquare = 1 / (a * a);
  let sum = 0;
  for (let k = STIRLING.length - 1; k >= 0; k--) sum = sum * inverseSquare + STIRLING[k];
  return sum / a;
}

/**
 * Returns μ − ln(1 + μ) without cancellation near 0.
 * With r = μ / (2 + μ): ln(1 + μ) = 2 artanh r = 2 (r + r³/3 + …), hence μ − ln(1 + μ) =
 * r μ − 2 r³ (1/3 + r²/5 + r⁴/7 + …).
 */
function muMinusLog1p(mu: number): number {
  // Beyond, the exponent is too small for the lost digits to matter, or the result is 1.
  if (mu < -0.5 || mu > 10) return mu - log1p(mu);
  const r = mu / (2 + mu);
  const r2 = r * r;
  let sum = 0;
  let power = 1;
  for (let k = 3; power > 1e-18; k += 2) {
    sum += power / k;
    power *= r2;
  }
  return r * mu - 2 * r * r2 * sum;
}

/** Returns 1 + x/(a+1) + x²/((a+1)(a+2)) + …, DLMF 8.7.1: P(a, x) is the prefix times this. All terms > 0. */
function lowerSeries(a: number, x: number): number {
  let term = 1;
  let sum = 1;
  for (let k = 1; term > sum * 1e-17; k++) {
    term *= x / (a + k);
    sum += term;
  }
  return sum;
}

/**
 * Legendre's continued fraction for Γ(a, x) / (x^a e^(−x)), DLMF 8.9.2 in its even part:
 * 1/(x+1−a+ 1(a−1)/(x+3−a+ 2(a−2)/(x+5−a+ …))).
 *
 * It is evaluated from its tail, so that rounding errors fade instead of adding up. The slowest cases are
 * just above the switch from the series: a = 2^18 needs 578 terms there.
 */
function upperFraction(a: number, x: number): number {
  const terms = 120 + Math.ceil(2 * Math.sqrt(a));
  let fraction = 0;
  for (let k = terms; k >= 1; k--) fraction = (k * (a - k)) / (x + 2 * k + 1 - a + fraction);
  return 1 / (x + 1 - a + fraction);
}
