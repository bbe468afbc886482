/**
 * The suite on packed bits. WebAssembly kernels count if the engine has SIMD.
 */
import {
  assertInteger,
  assertOptions,
  assertUint8Array,
  integer,
  type Members,
  options,
  wrongType,
} from './arguments.ts';
import { withUnpacked } from './bits.ts';
import { KERNEL_DIGESTS } from './kernels/digests.ts';
import {
  compileBuild,
  type KernelBuild,
  KernelModule,
  knownBuild,
  obtainBuild,
} from './kernels/module.ts';
import { SuiteKernels } from './kernels/suite.ts';
import { platform } from './platform.ts';
import { runSuite, SUITE_OPTIONS, type SuiteOptions, type SuiteReport } from './suite.ts';

/** Longest sequence for the kernels: up to here every sum of squares is exact in a double. */
export const KERNEL_MAXIMUM_BITS = 2 ** 26;

/** The bits of the sequence, and the tests to run. */
export interface PackedSuiteOptions extends SuiteOptions {
  /** Length of the sequence; default: all bits after `offsetBits`. */
  readonly bits?: number;
  /** Bits before the sequence. */
  readonly offsetBits?: number;
}

const PACKED_OPTIONS: Members<PackedSuiteOptions> = {
  ...SUITE_OPTIONS,
  bits: integer(0, Number.MAX_SAFE_INTEGER),
  offsetBits: integer(0, Number.MAX_SAFE_INTEGER),
};

/** The kernels of this thread, created on first use; `null` on an engine without SIMD. */
let ofThisThread: ThreadKernels | null | undefined;

interface ThreadKernels {
  readonly build: KernelBuild;
  readonly module: WebAssembly.Module;
  readonly suite: SuiteKernels;
}

function instantiate(build: KernelBuild, module: WebAssembly.Module): ThreadKernels {
  return { build, module, suite: new SuiteKernels(new KernelModule(module)) };
}

function kernels(): ThreadKernels | null {
  if (ofThisThread === undefined) {
    const build = knownBuild();
    ofThisThread = build ? instantiate(build, compileBuild(build)) : null;
  }
  return ofThisThread;
}

/** Where the kernels come from. */
export interface ReadyOptions {
  /** Bytes of the package's `build/*.wasm`, for programs that have them in memory. Their digests are checked. */
  readonly kernels?: { readonly [build in 'relaxed-simd' | 'simd']?: Uint8Array };
}

/** The checks of where the kernels come from. */
export const READY_OPTIONS: Members<ReadyOptions> = {
  kernels: options<NonNullable<ReadyOptions['kernels']>>({
    'relaxed-simd': assertUint8Array,
    simd: assertUint8Array,
  }),
};

/**
 * Loads the kernels of this thread. Browsers need it before `runPackedSuite`; Node loads them at first use. Rejects with
 * `KernelsError` if they are missing or damaged.
 */
export async function ready(options: ReadyOptions = {}): Promise<void> {
  assertOptions('options', options, READY_OPTIONS);
  const { kernels: given = {} } = options;
  const build = knownBuild();
  const bytes = build && given[build];
  if (ofThisThread !== undefined || !build || (!bytes && platform().readFile)) {
    kernels();
    return;
  }
  const module = await obtainBuild(build, bytes);
  ofThisThread ??= instantiate(build, module);
}

/** Returns the loaded module for other threads, or `null` on an engine without SIMD. */
export function kernelModule(): object | null {
  return kernels()?.module ?? null;
}

/** Gives this thread the module that another thread has loaded. */
export function adoptKernelModule(module: object | null): void {
  if (module !== null && !(module instanceof WebAssembly.Module)) {
    throw wrongType('module', 'what "kernelModule" returns', module);
  }
  const build = knownBuild();
  ofThisThread ??= build && module ? instantiate(build, module) : null;
}

/** Returns the build of the kernels that this engine runs, or `plain` if it runs none. */
export function kernelBuild(): 'relaxed-simd' | 'simd' | 'plain' {
  return kernels()?.build ?? 'plain';
}

/** SHA-256 of each build of the kernels. All give the same results, so reports do not say which one an engine ran. */
export const KERNELS_SHA256: readonly string[] = Object.values(KERNEL_DIGESTS);

/**
 * Runs every test that applies to a sequence of packed bits, the most significant bit of each byte
 * first. Neither changes nor keeps the bytes, and zeroes the kernels' memory afterwards. Uses the plain
 * suite on an engine without SIMD and for more than `KERNEL_MAXIMUM_BITS`.
 * Throws `TypeError` unless `bytes` is a `Uint8Array`, `RangeError` if it holds too few bits or if the
 * constants or a test are unknown, and `KernelsError` if the kernels are not built.
 */
export function runPackedSuite(bytes: Uint8Array, options: PackedSuiteOptions = {}): SuiteReport {
  assertUint8Array('bytes', bytes);
  assertOptions('options', options, PACKED_OPTIONS);
  const { bits, offsetBits = 0, ...others } = options;
  assertInteger('offsetBits', offsetBits, 0, bytes.length * 8);
  const n = bits ?? bytes.length * 8 - offsetBits;
  assertInteger('bits', n, 0, bytes.length * 8 - offsetBits);
  const suite = n <= KERNEL_MAXIMUM_BITS ? kernels()?.suite : undefined;
  const sequence = { bytes, n, offsetBits };
  return suite?.run(sequence, others) ?? withUnpacked(sequence, (plain) => runSuite(plain, others));
}
