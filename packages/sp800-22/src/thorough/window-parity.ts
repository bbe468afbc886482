/**
 * Parities in windows of 16 bits. Not part of SP 800-22.
 *
 * Is the sum mod 2 of some bits of a window more often 0 or 1? All 2^15 sums that contain the newest bit of the window are
 * judged, in the stream and in each bit plane of its words. For a sound source the terms of such a sum are independent,
 * although windows overlap: each contains a bit that no earlier one has. So the bound of each p-value, and the smallest of
 * them times their number, are super-uniform at every length.
 */
import type { Statistics, TestResult } from '../result.ts';
import { corrected, signSumBound } from './bounds.ts';
import { WORD_BITS } from './planes.ts';

const WINDOW = 16;
const PATTERNS = 2 ** WINDOW;

interface Found {
  readonly p: number;
  readonly width: number;
  readonly place: number;
  readonly mask: number;
  readonly z: number;
}

export function windowParity(bytes: Uint8Array, widths = [0, ...WORD_BITS]): TestResult {
  let least: Found | undefined;
  let streams = 0;
  const counts = new Int32Array(PATTERNS);
  const consider = (n: number, width: number, place: number): void => {
    streams++;
    const found = { ...largest(counts, n), width, place };
    if (!least || Math.abs(found.z) > Math.abs(least.z)) least = found;
    counts.fill(0);
  };
  for (const width of widths) {
    if (width === 0) consider(countStream(bytes, counts), 0, 0);
    for (let place = 0; place < width; place++) {
      consider(countPlane(bytes, width, place, counts), width, place);
    }
  }
  const { p, ...where } = least as Found;
  return {
    pValues: [corrected(p, streams * 2 ** (WINDOW - 1))],
    statistics: { streams, ...where } as Statistics,
  };
}

/** Counts the windows of the stream, and returns their number. */
function countStream(bytes: Uint8Array, counts: Int32Array): number {
  let window = (bytes[0] << 8) | bytes[1];
  counts[window]++;
  for (let i = 2; i < bytes.length; i++) {
    const ahead = (window << 8) | bytes[i];
    for (let shift = 7; shift >= 0; shift--) counts[(ahead >>> shift) & (PATTERNS - 1)]++;
    window = ahead & (PATTERNS - 1);
  }
  return 8 * bytes.length - WINDOW + 1;
}

/** Counts the windows of a plane, and returns their number. */
function countPlane(bytes: Uint8Array, width: number, place: number, counts: Int32Array): number {
  const step = width / 8;
  const shift = 7 - (place & 7);
  let window = 0;
  let at = place >>> 3;
  for (let i = 1; i < WINDOW; i++, at += step) window = (window << 1) | ((bytes[at] >>> shift) & 1);
  let n = 0;
  for (; at < bytes.length; at += step, n++) {
    window = ((window << 1) | ((bytes[at] >>> shift) & 1)) & (PATTERNS - 1);
    counts[window]++;
  }
  return n;
}

/** Returns the parity that is farthest from even among those with the newest bit, the lowest of the mask. */
function largest(counts: Int32Array, n: number): { p: number; mask: number; z: number } {
  transform(counts);
  let mask = 1;
  for (let m = 1; m < PATTERNS; m += 2) if (Math.abs(counts[m]) > Math.abs(counts[mask])) mask = m;
  return { p: signSumBound(counts[mask], n), mask, z: counts[mask] / Math.sqrt(n) };
}

/** Walsh–Hadamard: counts become Σ counts[w] · (−1)^(parity of w & mask), by mask. */
export function transform(counts: Int32Array): void {
  for (let half = 1; half < counts.length; half *= 2) {
    for (let i = 0; i < counts.length; i += 2 * half) {
      for (let j = i; j < i + half; j++) {
        const [a, b] = [counts[j], counts[j + half]];
        counts[j] = a + b;
        counts[j + half] = a - b;
      }
    }
  }
}
