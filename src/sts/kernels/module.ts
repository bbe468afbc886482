/**
 * The WebAssembly module of the kernels (kernels/ in the root), and the one memory it works in.
 *
 * There are two builds of one source. `relaxed-simd` has fused multiply-add, which the transform of
 * the DFT test is faster and more precise by; an engine that does not know it takes `simd`.
 */
const BUILDS = ['relaxed-simd', 'simd'] as const;
export type KernelBuild = (typeof BUILDS)[number];

/** A page of WebAssembly memory. */
const PAGE_BYTES = 65_536;

type Address = WebAssembly.Global;

/** What the module exports. `n` is the length of the sequence in bits throughout. */
interface KernelExports {
  readonly memory: WebAssembly.Memory;
  readonly INPUT: Address;
  readonly INPUT_PAD: Address;
  readonly RESULTS: Address;
  ingest(n: number, offsetBits: number): void;
  wipe(n: number): void;
}

/**
 * An instance of the kernels. `load` a sequence, call kernels, then `wipe`.
 */
export class KernelModule {
  readonly build: KernelBuild;
  readonly exports: KernelExports;
  readonly #input: number;
  readonly #pad: number;

  constructor(build: KernelBuild, module: WebAssembly.Module) {
    this.build = build;
    this.exports = new WebAssembly.Instance(module).exports as unknown as KernelExports;
    this.#input = this.exports.INPUT.value;
    this.#pad = this.exports.INPUT_PAD.value;
  }

  /** Copies `n` bits in that begin `offsetBits` (at least 0) behind the first of `bytes`. */
  load(bytes: Uint8Array, n: number, offsetBits: number): void {
    const first = offsetBits >>> 3;
    const source = bytes.subarray(first, (offsetBits + n + 7) >>> 3);
    this.#reserve(this.#input + source.length + this.#pad);
    new Uint8Array(this.exports.memory.buffer).set(source, this.#input);
    this.exports.ingest(n, offsetBits & 7);
  }

  #reserve(bytes: number): void {
    const { memory } = this.exports;
    const missing = bytes - memory.buffer.byteLength;
    if (missing > 0) memory.grow(Math.ceil(missing / PAGE_BYTES));
  }
}
