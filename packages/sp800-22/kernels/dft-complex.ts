/**
 * Multiply-adds of four lanes of f32. The build with fused ones has one rounding instead of two, and
 * one instruction. A complex product takes four calls, two for each part.
 */

/** 1 if the build has fused multiply-add, else 0. */
export const FUSED: i32 = isDefined(FUSED_MULTIPLY_ADD) ? 1 : 0;

/** Returns a·b + c. */
@inline
export function multiplyAdd(a: v128, b: v128, c: v128): v128 {
  return isDefined(FUSED_MULTIPLY_ADD)
    ? f32x4.relaxed_madd(a, b, c)
    : f32x4.add(c, f32x4.mul(a, b));
}

/** Returns c − a·b. */
@inline
export function multiplySubtract(a: v128, b: v128, c: v128): v128 {
  return isDefined(FUSED_MULTIPLY_ADD)
    ? f32x4.relaxed_nmadd(a, b, c)
    : f32x4.sub(c, f32x4.mul(a, b));
}

/** Returns the real part of x·w. */
@inline
export function productRe(xRe: v128, xIm: v128, wRe: v128, wIm: v128): v128 {
  return multiplySubtract(xIm, wIm, f32x4.mul(xRe, wRe));
}

/** Returns the imaginary part of x·w. */
@inline
export function productIm(xRe: v128, xIm: v128, wRe: v128, wIm: v128): v128 {
  return multiplyAdd(xIm, wRe, f32x4.mul(xRe, wIm));
}

/** Returns the real part of y + x·w. */
@inline
export function addProductRe(yRe: v128, xRe: v128, xIm: v128, wRe: v128, wIm: v128): v128 {
  return multiplySubtract(xIm, wIm, multiplyAdd(xRe, wRe, yRe));
}

/** Returns the imaginary part of y + x·w. */
@inline
export function addProductIm(yIm: v128, xRe: v128, xIm: v128, wRe: v128, wIm: v128): v128 {
  return multiplyAdd(xIm, wRe, multiplyAdd(xRe, wIm, yIm));
}

const TWO: usize = memory.data<f32>([2, 2, 2, 2], 16);

/** Returns 2 in all lanes. It comes from memory, because V8 rebuilds a constant at each use, in three instructions. */
@inline
export function loadTwo(): v128 {
  return v128.load(TWO);
}
