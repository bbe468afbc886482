/**
 * The door to the kernels: the suite on packed bits, counted by WebAssembly where the engine has SIMD.
 */
import { withUnpacked } from './bits.ts';
import { type KernelBuild, knownBuild, loadKernels } from './kernels/module.ts';
import { SuiteKernels } from './kernels/suite.ts';
import { assertInteger } from './result.ts';
import { runSuite, type SuiteOptions, type SuiteReport } from './suite.ts';

/** Longer sequences go to the plain suite: up to here every sum of squares is exact in a double. */
export const KERNEL_MAXIMUM_BITS = 2 ** 26;

/** Which bits of the bytes are the sequence, and what is run on it. */
export interface PackedSuiteOptions extends SuiteOptions {
  /** The length of the sequence; all bits behind `offsetBits` unless given. */
  readonly bits?: number;
  /** Bits before the sequence. */
  readonly offsetBits?: number;
}

/** Of this thread, made when first asked for; `null` on an engine without SIMD. */
let ofThisThread: ThreadKernels | null | undefined;

interface ThreadKernels {
  readonly build: KernelBuild;
  readonly suite: SuiteKernels;
}

function kernels(): ThreadKernels | null {
  if (ofThisThread === undefined) {
    const build = knownBuild();
    ofThisThread = build ? { build, suite: new SuiteKernels(loadKernels(build)) } : null;
  }
  return ofThisThread;
}

/** The build of the kernels that this engine runs, or `plain` when it runs none. */
export function kernelBuild(): 'relaxed-simd' | 'simd' | 'plain' {
  return kernels()?.build ?? 'plain';
}

/**
 * Runs every test that applies to a sequence of packed bits, the most significant bit of each byte
 * first. The bytes are neither changed nor kept; the kernels' memory is zero again afterwards. On an
 * engine without SIMD, and beyond `KERNEL_MAXIMUM_BITS`, the plain suite does the work.
 * Throws `TypeError` unless `bytes` is a `Uint8Array`, `RangeError` when it holds fewer bits than
 * asked for, on unknown constants or tests, and `KernelsError` when the
 * kernels have not been built.
 */
export function runPackedSuite(
  bytes: Uint8Array,
  { bits, offsetBits = 0, ...options }: PackedSuiteOptions = {},
): SuiteReport {
  if (!(bytes instanceof Uint8Array)) {
    throw new TypeError(`"bytes" expected Uint8Array, got ${typeof bytes}`);
  }
  assertInteger('offsetBits', offsetBits, 0, bytes.length * 8);
  const n = bits ?? bytes.length * 8 - offsetBits;
  assertInteger('bits', n, 0, bytes.length * 8 - offsetBits);
  const suite = n <= KERNEL_MAXIMUM_BITS ? kernels()?.suite : undefined;
  const sequence = { bytes, n, offsetBits };
  return (
    suite?.run(sequence, options) ?? withUnpacked(sequence, (plain) => runSuite(plain, options))
  );
}
