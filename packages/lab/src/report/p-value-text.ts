/** P-values in reports. */

/** Smaller p-values are written with an exponent. */
export const SMALLEST_FIXED = 1e-4;

export function pValueText(p: number): string {
  if (p === 0) return '0';
  return p >= SMALLEST_FIXED ? p.toFixed(6) : p.toExponential(3);
}
