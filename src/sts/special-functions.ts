/**
 * The two special functions of SP 800-22 Rev. 1a §5.5.3: erfc and igamc.
 *
 * Both are upper tails and are computed as such. Where a complement 1 − x appears, x is at most
 * about 0.9, so that at most one decimal digit is lost. The bound, held by
 * `test/sts/special-functions.test.ts` against figures of 50 digits: relative error below 1e-13
 * for results down to 1e-300, a from 1/2 to 2^18.
 *
 * igamc(a, x) = Q(a, x) = Γ(a, x) / Γ(a). DLMF chapters 7 and 8, https://dlmf.nist.gov.
 */

/** Below this `a` the Stirling series is not good enough: Γ is then reached by its recurrence. */
const STIRLING_MINIMUM = 20;

/** Coefficients of DLMF 5.11.1: B_2k / (2k (2k − 1)). With a ≥ 20 the next term is below 1e-17. */
const STIRLING = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188];

/** From here on erfc is smaller than the smallest double. */
const ERFC_ZERO = 28;

/** Complementary error function, within [0, 2]. Throws `RangeError` on NaN. */
export function erfc(x: number): number {
  if (Number.isNaN(x)) throw new RangeError('"x" expected a number, got NaN');
  if (x < 0) return 2 - erfc(-x);
  if (x === 0) return 1;
  if (x >= ERFC_ZERO) return 0;
  // DLMF 7.11.2: √π · erfc(x) = Γ(1/2, x²).
  const prefix = (x * expMinusSquare(x)) / Math.sqrt(Math.PI);
  if (x < 1) return 1 - 2 * prefix * lowerSeries(0.5, x * x);
  return prefix * upperFraction(0.5, x * x);
}

/** The upper tail 1 − Φ(x) of the standard normal distribution. */
export function normalTail(x: number): number {
  return erfc(x * Math.SQRT1_2) / 2;
}

/**
 * Regularised upper incomplete gamma function Q(a, x), for a > 0 and x ≥ 0.
 * Throws `RangeError` outside of that, NaN included.
 */
export function igamc(a: number, x: number): number {
  if (!(a > 0 && a < Infinity && x >= 0)) {
    throw new RangeError(`"a, x" expected a > 0 and x >= 0, got a=${a}, x=${x}`);
  }
  if (x === 0) return 1;
  if (x === Infinity) return 0;
  const prefix = gammaPrefix(a, x);
  // The series is P, the fraction is Q; each is used on the side of the median where it is fast.
  if (x < a + 1) return prefix === 0 ? 1 : Math.max(0, 1 - prefix * lowerSeries(a, x));
  return prefix === 0 ? 0 : prefix * a * upperFraction(a, x);
}

/** e^(−x²). x² is split so that its rounding error does not reach the exponential. */
function expMinusSquare(x: number): number {
  const head = Math.round(x * 16) / 16;
  return Math.exp(-head * head) * Math.exp(-(x - head) * (x + head));
}

/**
 * x^a · e^(−x) / Γ(a + 1), the common factor of both tails.
 *
 * For large a this is e^(−a·φ) / √(2πa) over the Stirling correction, with φ(μ) = μ − ln(1 + μ) and
 * μ = (x − a) / a: the form a·ln x − x − lnΓ(a) would cancel almost all of its digits.
 */
function gammaPrefix(a: number, x: number): number {
  if (a < STIRLING_MINIMUM) {
    // Two half powers, as e^(−x) alone leaves the range of a double before the product does.
    const halfDecay = Math.exp(-x / 2);
    return halfDecay === 0 ? 0 : (x ** a * halfDecay * halfDecay) / gamma(a + 1);
  }
  const exponent = a * muMinusLog1p((x - a) / a);
  return Math.exp(-exponent - stirlingCorrection(a)) / Math.sqrt(2 * Math.PI * a);
}

/** Γ(a) for 0 < a ≤ 21: Γ(a) = Γ(z) / (a (a + 1) … (z − 1)) with z ≥ 20. */
function gamma(a: number): number {
  let z = a;
  let product = 1;
  while (z < STIRLING_MINIMUM) product *= z++;
  // DLMF 5.11.3.
  return (
    (Math.sqrt((2 * Math.PI) / z) * (z / Math.E) ** z * Math.exp(stirlingCorrection(z))) / product
  );
}

/** ln Γ(a) − ((a − 1/2) ln a − a + ln(2π)/2), DLMF 5.11.1. */
function stirlingCorrection(a: number): number {
  const inverseSquare = 1 / (a * a);
  let sum = 0;
  for (let k = STIRLING.length - 1; k >= 0; k--) sum = sum * inverseSquare + STIRLING[k];
  return sum / a;
}

/**
 * μ − ln(1 + μ) without cancellation near 0.
 * With r = μ / (2 + μ): ln(1 + μ) = 2 artanh r = 2 (r + r³/3 + …), hence μ − ln(1 + μ) =
 * r μ − 2 r³ (1/3 + r²/5 + r⁴/7 + …).
 */
function muMinusLog1p(mu: number): number {
  if (Math.abs(mu) > 0.5) return mu - Math.log1p(mu);
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

/** 1 + x/(a+1) + x²/((a+1)(a+2)) + …, DLMF 8.7.1: P(a, x) is the prefix times this. All terms > 0. */
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
 * Evaluated from its tail, which lets rounding errors die out instead of adding up. The slowest cases
 * lie just above the switch from the series: a = 1/2 needs 87 terms there, a = 2^18 needs 578.
 */
function upperFraction(a: number, x: number): number {
  const terms = 120 + Math.ceil(2 * Math.sqrt(a));
  let fraction = 0;
  for (let k = terms; k >= 1; k--) fraction = (k * (a - k)) / (x + 2 * k + 1 - a + fraction);
  return 1 / (x + 1 - a + fraction);
}
