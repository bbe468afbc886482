/**
 * Multiply-adds of four lanes of f32, fused in the build that has them: one rounding instead of
 * two, and one instruction. A complex product takes four calls, two for each part.
 */

/** Whether there is fused multiply-add, 1 or 0. */
export const FUSED: i32 = isDefined(FUSED_MULTIPLY_ADD) ? 1 : 0;

/** a·b + c. */
@inline
export function multiplyAdd(a: v128, b: v128, c: v128): v128 {
  return isDefined(FUSED_MULTIPLY_ADD)
    ? f32x4.relaxed_madd(a, b, c)
    : f32x4.add(c, f32x4.mul(a, b));
}

/** c − a·b. */
@inline
export function multiplySubtract(a: v128, b: v128, c: v128): v128 {
  return isDefined(FUSED_MULTIPLY_ADD)
    ? f32x4.relaxed_nmadd(a, b, c)
    : f32x4.sub(c, f32x4.mul(a, b));
}

/** The real part of x·w. */
@inline
export function productRe(xRe: v128, xIm: v128, wRe: v128, wIm: v128): v128 {
  return multiplySubtract(xIm, wIm, f32x4.mul(xRe, wRe));
}

/** The imaginary part of x·w. */
@inline
export function productIm(xRe: v128, xIm: v128, wRe: v128, wIm: v128): v128 {
  return multiplyAdd(xIm, wRe, f32x4.mul(xRe, wIm));
}

/** The real part of y + x·w. */
@inline
export function addProductRe(yRe: v128, xRe: v128, xIm: v128, wRe: v128, wIm: v128): v128 {
  return multiplySubtract(xIm, wIm, multiplyAdd(xRe, wRe, yRe));
}

/** The imaginary part of y + x·w. */
@inline
export function addProductIm(yIm: v128, xRe: v128, xIm: v128, wRe: v128, wIm: v128): v128 {
  return multiplyAdd(xIm, wRe, multiplyAdd(xRe, wIm, yIm));
}

const TWO: usize = memory.data<f32>([2, 2, 2, 2], 16);

/** 2 in all lanes. From memory, as V8 makes a constant anew at each use, in three instructions. */
@inline
export function loadTwo(): v128 {
  return v128.load(TWO);
}
