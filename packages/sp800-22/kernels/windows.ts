/**
 * Counts of windows of any length up to 17 bits: for parameters of the templates, the serial test and approximate
 * entropy other than the default ones, which have faster kernels. SP 800-22 Rev. 1a §2.7, §2.11, §2.12.
 */
import { bitsAt } from './bits';
import { INPUT, PATTERNS, PATTERNS_END } from './memory';
import { closeRing, openRing } from './patterns';

/** u32 for each pattern; bit 0 of a pattern is its first bit. The caller zeroes them, because others need zeros here. */
export const WINDOW_COUNTS: usize = PATTERNS;
/** Longest window. */
export const WINDOW_MAXIMUM: i32 = 17;
// A mistake in the sizes above is a compile-time error.
if (WINDOW_COUNTS + (4 << WINDOW_MAXIMUM) > PATTERNS_END) ERROR('windows need more memory');

/** Counts the `windows` of `m` bits that begin at bit `first` and after it, on the ring of `n` bits. */
export function countWindows(n: i32, first: i32, windows: i32, m: i32): void {
  closeRing(n);
  memory.fill(WINDOW_COUNTS, 0, 4 << m);
  const mask = (<usize>1 << m) - 1;
  const end = <usize>(first + windows);
  for (let i = <usize>first; i < end; i++) {
    const p = WINDOW_COUNTS + ((<usize>bitsAt(INPUT, i) & mask) << 2);
    store<u32>(p, load<u32>(p) + 1);
  }
  openRing(n);
}
