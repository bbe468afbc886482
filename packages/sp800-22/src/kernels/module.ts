/**
 * The WebAssembly module of the kernels (`kernels/` of this package) and its one memory.
 *
 * There are two builds of one source. `relaxed-simd` has fused multiply-add, which makes the transform of
 * the DFT test faster and more precise. An engine without it takes `simd`.
 */
import { log2 } from '../elementary.ts';
import { compileBytes, compileKernels, fetchKernels } from '../wasm.ts';
import { KERNEL_DIGESTS } from './digests.ts';

/** In order of preference: the first that the engine supports is used. */
const BUILDS = ['relaxed-simd', 'simd'] as const;
export type KernelBuild = (typeof BUILDS)[number];

/** Size of a page of WebAssembly memory. */
const PAGE_BYTES = 65_536;

/** Names of addresses in memory, which packages/sp800-22/kernels/memory.ts explains. */
type AddressName =
  | 'APART_FACTORS'
  | 'BIN_ROTATIONS'
  | 'BYTE_SUMS'
  | 'COMPLEXITIES'
  | 'EXCURSIONS'
  | 'HIGH_PEAKS'
  | 'INPUT'
  | 'LAG_COUNTS'
  | 'LANE_FACTORS'
  | 'LOG_SUM'
  | 'LOGARITHMS'
  | 'LONGEST_RUNS'
  | 'NODE_FACTORS_1'
  | 'NODE_FACTORS_2'
  | 'NODE_FACTORS_3'
  | 'ONES_AND_RUNS'
  | 'OVERLAPS'
  | 'PAIR_FACTORS'
  | 'PATTERN_COUNTS'
  | 'PEAK_LIST'
  | 'PEAKS'
  | 'RANKS'
  | 'SCAN_LEVELS'
  | 'SCAN_TOTALS'
  | 'SQUARES'
  | 'TEMPLATE_COUNTS'
  | 'TWISTS'
  | 'WALK'
  | 'WINDOW_COUNTS';

/** The exports of the module. `n` is always the length of the sequence in bits. */
interface KernelExports extends Readonly<Record<AddressName, WebAssembly.Global>> {
  readonly memory: WebAssembly.Memory;
  /** Bytes that memory MUST have after the sequence. */
  readonly INPUT_PAD: WebAssembly.Global;
  /** Bytes that `correlate` uses from its base on, and where its sums are. */
  readonly AUTOCORRELATION_SIZE: WebAssembly.Global;
  readonly AUTOCORRELATION_SUMS: WebAssembly.Global;
  /** Number of entries of `LOGARITHMS`. */
  readonly LOGARITHM_LIMIT: WebAssembly.Global;
  /** Number of entries of `PEAK_LIST`. */
  readonly PEAK_LIST_LIMIT: WebAssembly.Global;
  /** Longest window, in bits. */
  readonly WINDOW_MAXIMUM: WebAssembly.Global;
  /** Bytes per job of the transform. */
  readonly LANE_FACTORS_SIZE: WebAssembly.Global;
  readonly TWISTS_SIZE: WebAssembly.Global;
  ingest(n: number, offsetBits: number): void;
  wipe(n: number): void;
  wipeWithoutScratch(n: number): void;
  countOnesAndRuns(n: number): void;
  sumOfBlocks(n: number, M: number): number;
  findExtremes(n: number): void;
  classifyLongestRuns(n: number, M: number, shortest: number, longest: number): void;
  classifyRanks(n: number): void;
  countTemplates(n: number): void;
  classifyOverlaps(n: number): void;
  sumLogDistances(L: number, Q: number, K: number): void;
  countPatterns(n: number): void;
  countWindows(n: number, first: number, windows: number, m: number): void;
  countExcursions(n: number): void;
  countComplexities(n: number, M: number): void;
  countLags(n: number): void;
  scanWindows(n: number): void;
  correlate(n: number, base: number): void;
  countPeaks(n: number, low: number, high: number, peak: number): void;
  binSquared(n: number): number;
}

/**
 * Code of a function that uses one instruction of the build, `i8x16.popcnt` or `i8x16.relaxed_swizzle`, so
 * that the probe of an engine does not depend on the state of our files.
 */
const PROBES: Readonly<Record<KernelBuild, readonly number[]>> = {
  simd: [0x41, 0, 0xfd, 0x0f, 0xfd, 0x62, 0x0b],
  'relaxed-simd': [0x41, 0, 0xfd, 0x0f, 0x41, 0, 0xfd, 0x0f, 0xfd, 0x80, 0x02, 0x0b],
};

/** Returns the best build for this engine, or `undefined` if it has no SIMD. */
export function knownBuild(): KernelBuild | undefined {
  return BUILDS.find((build) => WebAssembly.validate(probeModule(PROBES[build])));
}

/** Returns a module with one function that has no parameters, this code, and a v128 as its result. */
function probeModule(code: readonly number[]): Uint8Array<ArrayBuffer> {
  const body = [code.length + 1, 0, ...code];
  return Uint8Array.of(
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...[0x01, 5, 1, 0x60, 0, 1, 0x7b],
    ...[0x03, 2, 1, 0],
    ...[0x0a, body.length + 1, 1, ...body],
  );
}

/** Compiles a build. Throws `KernelsError` if it is missing or damaged. */
export function loadKernels(build: KernelBuild): KernelModule {
  return new KernelModule(compileBuild(build));
}

/** Compiles a build where files can be read at once. Throws `KernelsError` if it is missing or damaged. */
export function compileBuild(build: KernelBuild): WebAssembly.Module {
  return compileKernels(fileOf(build), KERNEL_DIGESTS[build]);
}

/** Compiles these bytes of a build, or fetches them. Rejects with `KernelsError` if they are missing or damaged. */
export function obtainBuild(build: KernelBuild, bytes?: Uint8Array): Promise<WebAssembly.Module> {
  const digest = KERNEL_DIGESTS[build];
  return bytes ? compileBytes(bytes, digest, build) : fetchKernels(fileOf(build), digest);
}

function fileOf(build: KernelBuild): URL {
  return new URL(`../../build/${build}.wasm`, import.meta.url);
}

/**
 * An instance of the kernels. To use it: `load` a sequence, run each kernel on it at most once, `wipe`.
 */
export class KernelModule {
  readonly exports: KernelExports;
  readonly #input: number;
  readonly #pad: number;

  constructor(module: WebAssembly.Module) {
    this.exports = new WebAssembly.Instance(module).exports as unknown as KernelExports;
    this.#input = this.exports.INPUT.value;
    this.#pad = this.exports.INPUT_PAD.value;
    this.#tabulateLogarithms();
  }

  /** Copies in the `n` bits that begin `offsetBits` after the first bit of `bytes`. */
  load(bytes: Uint8Array, n: number, offsetBits: number): void {
    // Not `>>> 3`, which would truncate offsets to 32 bits.
    const source = bytes.subarray(Math.floor(offsetBits / 8), Math.ceil((offsetBits + n) / 8));
    this.#reserve(this.#input + source.length + this.#pad);
    new Uint8Array(this.exports.memory.buffer).set(source, this.#input);
    this.exports.ingest(n, offsetBits & 7);
  }

  /** Zeroes everything that `load` of `n` bits and the kernels left in memory: without `hasScratch`, only kernels that use none. */
  wipe(n: number, hasScratch = true): void {
    if (hasScratch) this.exports.wipe(n);
    else this.exports.wipeWithoutScratch(n);
  }

  /** The first `length` bytes of the sequence, the lowest bit of each first. */
  input(length: number): Uint8Array {
    return new Uint8Array(this.#buffer, this.#input, length);
  }

  u32(name: AddressName, length: number, offsetBytes = 0): Uint32Array {
    return new Uint32Array(this.#buffer, this.exports[name].value + offsetBytes, length);
  }

  i32(name: AddressName, length: number, offsetBytes = 0): Int32Array {
    return new Int32Array(this.#buffer, this.exports[name].value + offsetBytes, length);
  }

  f32(name: AddressName, length: number, offsetBytes = 0): Float32Array {
    return new Float32Array(this.#buffer, this.exports[name].value + offsetBytes, length);
  }

  f64(name: AddressName, length: number, offsetBytes = 0): Float64Array {
    return new Float64Array(this.#buffer, this.exports[name].value + offsetBytes, length);
  }

  /** The buffer of the memory; growth replaces it. */
  get #buffer(): ArrayBuffer {
    return this.exports.memory.buffer;
  }

  /** Returns memory behind a sequence of `n` bits, at a multiple of a page. It grows with `load` of longer ones. */
  behind(n: number, bytes: number): DataView<ArrayBuffer> {
    const end = this.#input + Math.ceil(n / 8) + this.#pad;
    const start = Math.ceil(end / PAGE_BYTES) * PAGE_BYTES;
    this.#reserve(start + bytes);
    return new DataView(this.#buffer, start, bytes);
  }

  #reserve(bytes: number): void {
    const missing = bytes - this.#buffer.byteLength;
    if (missing > 0) this.exports.memory.grow(Math.ceil(missing / PAGE_BYTES));
  }

  /** Writes log2(d) · 2^36, rounded, as i64. It is below 2^53, so a double holds it. The array keeps its low 32 bits. */
  #tabulateLogarithms(): void {
    const entries = this.exports.LOGARITHM_LIMIT.value;
    const halves = this.u32('LOGARITHMS', 2 * entries);
    for (let d = 1; d < entries; d++) {
      const value = Math.round(log2(d) * 2 ** 36);
      halves[2 * d] = value;
      halves[2 * d + 1] = Math.floor(value / 2 ** 32);
    }
  }
}
