/**
 * Elementary functions by fdlibm (Sun Microsystems, 1993). ECMA-262 leaves the last digit of `Math.exp`, of the other
 * functions here and of `**` to the engine, and engines leave it to libraries that choose by the processor. Reports
 * must not differ, so these functions use only arithmetic of IEEE 754, which is exact to the last bit everywhere.
 *
 * `2 ** k` for an integer k stays: all engines compute it exactly.
 */

type Function = (x: number) => number;

const LN2_HIGH = 0.6931471803691238;
const LN2_LOW = 1.9082149292705877e-10;

const float = new Float64Array(1);
const words = new Int32Array(float.buffer);
const [LOW, HIGH] = new Uint8Array(Int32Array.of(1).buffer)[0] === 1 ? [0, 1] : [1, 0];

/** Returns the upper half of the number: sign, exponent and 20 bits of the significand. */
function highOf(x: number): number {
  float[0] = x;
  return words[HIGH];
}

function withHigh(x: number, high: number): number {
  float[0] = x;
  words[HIGH] = high;
  return float[0];
}

function withoutLow(x: number): number {
  float[0] = x;
  words[LOW] = 0;
  return float[0];
}

/** Returns 2^k for −1022 ≤ k ≤ 1023. */
function powerOfTwo(k: number): number {
  return withHigh(0, 0x3ff00000 + (k << 20));
}

function horner(x: number, coefficients: readonly number[]): number {
  let value = 0;
  for (let i = coefficients.length - 1; i >= 0; i--) value = value * x + coefficients[i];
  return value;
}

/** x = k · ln 2 + high − low, with |high − low| ≤ ln 2 / 2. */
function reduce(x: number): { k: number; high: number; low: number } {
  const size = highOf(x) & 0x7fffffff;
  if (size <= 0x3fd62e42) return { k: 0, high: x, low: 0 };
  const sign = x < 0 ? -1 : 1;
  const k = size < 0x3ff0a2b2 ? sign : Math.trunc(Math.LOG2E * x + sign * 0.5);
  return { k, high: x - k * LN2_HIGH, low: k * LN2_LOW };
}

export const exp: Function = (x) => {
  if (Number.isNaN(x) || x > 709.782712893384) return x > 0 ? Infinity : x;
  if (x < -745.1332191019411) return 0;
  if (x === 1) return Math.E;
  if (Math.abs(x) < 2 ** -28) return 1 + x;
  const { k, high, low } = reduce(x);
  const r = high - low;
  const t = r * r;
  const c = r - t * horner(t, EXP);
  if (k === 0) return 1 - ((r * c) / (c - 2) - r);
  const y = 1 - (low - (r * c) / (2 - c) - high);
  if (k === 1024) return y * 2 * 2 ** 1023;
  return k >= -1021 ? y * powerOfTwo(k) : y * powerOfTwo(k + 1000) * 9.332636185032189e-302;
};

const EXP = [
  0.16666666666666602, -0.0027777777777015593, 6.613756321437934e-5, -1.6533902205465252e-6,
  4.1381367970572385e-8,
];

export const expm1: Function = (x) => {
  if (Number.isNaN(x) || x > 709.782712893384) return x > 0 ? Infinity : x;
  if (x < -56 * Math.LN2) return -1;
  if (Math.abs(x) < 2 ** -54) return x;
  const { k, high, low } = reduce(x);
  const r = high - low;
  const c = k === 0 ? 0 : high - r - low;
  const half = 0.5 * r;
  const halfSquare = r * half;
  const r1 = 1 + halfSquare * horner(halfSquare, EXPM1);
  const t = 3 - r1 * half;
  const e = halfSquare * ((r1 - t) / (6 - r * t));
  return k === 0 ? r - (r * e - halfSquare) : scaleExpm1(k, r, r * (e - c) - c - halfSquare);
};

const EXPM1 = [
  -0.03333333333333313, 0.0015873015872548146, -7.93650757867488e-5, 4.008217827329362e-6,
  -2.0109921818362437e-7,
];

function scaleExpm1(k: number, r: number, e: number): number {
  if (k === -1) return 0.5 * (r - e) - 0.5;
  if (k === 1) return r < -0.25 ? -2 * (e - (r + 0.5)) : 1 + 2 * (r - e);
  if (k <= -2 || k > 56) {
    const y = 1 - (e - r);
    return (k === 1024 ? y * 2 * 2 ** 1023 : y * powerOfTwo(k)) - 1;
  }
  const inverse = powerOfTwo(-k);
  return (k < 20 ? 1 - inverse - (e - r) : r - (e + inverse) + 1) * powerOfTwo(k);
}

const EVEN = [0.3999999999940942, 0.22222198432149784, 0.15313837699209373];
const ODD = [0.6666666666666735, 0.2857142874366239, 0.1818357216161805, 0.14798198605116586];

/** ln(1 + f) = f − f²/2 + s (f²/2 + R), with s = f / (2 + f). Returns R. */
function logRemainder(s: number): number {
  const z = s * s;
  const w = z * z;
  return z * horner(w, ODD) + w * horner(w, EVEN);
}

/** x = 2^k · m with √½ < m < √2; `top` has the upper bits of the significand of x. */
function split(x: number): { k: number; m: number; top: number } {
  const isTiny = x < 2 ** -1022;
  const scaled = isTiny ? x * 2 ** 54 : x;
  const high = highOf(scaled);
  const top = high & 0xfffff;
  const carry = (top + 0x95f64) & 0x100000;
  const k = (high >> 20) - 1023 + (carry >> 20) - (isTiny ? 54 : 0);
  return { k, m: withHigh(scaled, top | (carry ^ 0x3ff00000)), top };
}

/** Returns what every logarithm has at the ends of its domain; undefined within. */
function logAtEnds(x: number): number | undefined {
  if (x === 0) return -Infinity;
  if (!(x > 0)) return NaN;
  return x === Infinity ? x : undefined;
}

export const log: Function = (x) => {
  const end = logAtEnds(x);
  if (end !== undefined) return end;
  const { k, m, top } = split(x);
  const f = m - 1;
  if ((0xfffff & (2 + top)) < 3) return logNearOne(k, f);
  const s = f / (2 + f);
  const R = logRemainder(s);
  if (((top - 0x6147a) | (0x6b851 - top)) > 0) {
    const half = 0.5 * f * f;
    if (k === 0) return f - (half - s * (half + R));
    return k * LN2_HIGH - (half - (s * (half + R) + k * LN2_LOW) - f);
  }
  return k === 0 ? f - s * (f - R) : k * LN2_HIGH - (s * (f - R) - k * LN2_LOW - f);
};

/** |f| < 2^−20. */
function logNearOne(k: number, f: number): number {
  if (f === 0) return k === 0 ? 0 : k * LN2_HIGH + k * LN2_LOW;
  const R = f * f * (0.5 - 0.3333333333333333 * f);
  return k === 0 ? f - R : k * LN2_HIGH - (R - k * LN2_LOW - f);
}

export const log2: Function = (x) => {
  const end = logAtEnds(x);
  if (end !== undefined) return end;
  if (x === 1) return 0;
  const { k, m } = split(x);
  const f = m - 1;
  const half = 0.5 * f * f;
  const s = f / (2 + f);
  const r = s * (half + logRemainder(s));
  const high = withoutLow(f - half);
  const low = f - high - half + r;
  const valueHigh = high * 1.4426950407214463;
  const valueLow = (low + high) * 1.6751713164886512e-10 + low * 1.4426950407214463;
  const sum = k + valueHigh;
  return valueLow + (k - sum + valueHigh) + sum;
};

export const log1p: Function = (x) => {
  const end = logAtEnds(1 + x);
  if (end !== undefined && !(x > -1 && x < 1)) return x === Infinity ? x : end;
  if (Math.abs(x) < 2 ** -29) return Math.abs(x) < 2 ** -54 ? x : x - x * x * 0.5;
  const high = highOf(x);
  if (high < 0x3fda827a && (high > 0 || high <= (0xbfd2bec4 | 0))) return finishLog1p(0, x, 0, 1);
  const u = high < 0x43400000 ? 1 + x : x;
  let k = (highOf(u) >> 20) - 1023;
  const c = high < 0x43400000 ? (k > 0 ? 1 - (u - x) : x - (u - 1)) / u : 0;
  const top = highOf(u) & 0xfffff;
  if (top < 0x6a09e) return finishLog1p(k, withHigh(u, top | 0x3ff00000) - 1, c, top);
  k++;
  return finishLog1p(k, withHigh(u, top | 0x3fe00000) - 1, c, (0x100000 - top) >> 2);
};

/** ln(2^k (1 + f) + error), with c the error over 1 + f. */
function finishLog1p(k: number, f: number, c: number, top: number): number {
  const half = 0.5 * f * f;
  if (top === 0) {
    if (f === 0) return k === 0 ? 0 : k * LN2_HIGH + (c + k * LN2_LOW);
    const R = half * (1 - 0.6666666666666666 * f);
    return k === 0 ? f - R : k * LN2_HIGH - (R - (k * LN2_LOW + c) - f);
  }
  const s = f / (2 + f);
  const z = s * s;
  const R = z * horner(z, LOG1P);
  if (k === 0) return f - (half - s * (half + R));
  return k * LN2_HIGH - (half - (s * (half + R) + (k * LN2_LOW + c)) - f);
}

const LOG1P = [ODD[0], EVEN[0], ODD[1], EVEN[1], ODD[2], EVEN[2], ODD[3]];

/** Returns x², in the place of `x ** 2`. */
export const square: Function = (x) => x * x;

/** Returns 2^x. The relative error is at most two units of the last place. */
export function exp2(x: number): number {
  const k = Math.round(x);
  if (!(Math.abs(k) <= 1074)) return x > 0 ? Infinity : x < 0 ? 0 : x;
  const fraction = exp((x - k) * Math.LN2);
  // In two steps, because 2^k alone may be out of range.
  return fraction * 2 ** (k >> 1) * 2 ** (k - (k >> 1));
}

/** Returns x^y for x > 0. The relative error is about 2^-52 · (1 + |y ln x|). */
export function power(x: number, y: number): number {
  return exp(y * log(x));
}

/** Returns the largest k with 10^k ≤ x, for x > 0. */
export function decimalExponent(x: number): number {
  return Number(x.toExponential().split('e')[1]);
}

/** Returns the double nearest to 10^k, for an integer k. */
export function powerOfTen(k: number): number {
  return Number(`1e${k}`);
}
