/**
 * Computes M(t) in WebAssembly (src/modulation/kernel/modulation.ts), which has 64-bit integers.
 */
import { compileKernels } from '#sp800-22/wasm';
import { KERNEL_DIGEST } from './kernel-digest.ts';

const MODULE = new URL('../../build/kernels/modulation.wasm', import.meta.url);

/** Length of the phases: θ_p for the eight primes in ascending order, big-endian 64-bit words. */
export const PHASES_BYTES = 64;

interface KernelExports {
  readonly memory: WebAssembly.Memory;
  readonly PHASES: WebAssembly.Global;
  readonly MASK: WebAssembly.Global;
  readonly MASK_WORDS: WebAssembly.Global;
  fillMask(firstWord: number, count: number): void;
  wipe(): void;
}

export class ModulationKernel {
  /** The whole memory of the module, for tests. */
  readonly memory: WebAssembly.Memory;
  /** Largest number of words for one call of `makeMask`. */
  readonly maskWords: number;
  readonly #exports: KernelExports;
  readonly #phases: Uint8Array;
  readonly #mask: Int32Array;

  constructor() {
    const instance = new WebAssembly.Instance(compileKernels(MODULE, KERNEL_DIGEST));
    this.#exports = instance.exports as KernelExports;
    const { memory, PHASES, MASK, MASK_WORDS } = this.#exports;
    this.memory = memory;
    this.maskWords = MASK_WORDS.value;
    this.#phases = new Uint8Array(memory.buffer, PHASES.value, PHASES_BYTES);
    this.#mask = new Int32Array(memory.buffer, MASK.value, 2 * this.maskWords);
  }

  /**
   * Returns M(t) for `count` words from `firstWord` on, as halves with the high one first. The
   * array is valid until the next call.
   */
  makeMask(phases: Uint8Array, firstWord: number, count: number): Int32Array {
    this.#phases.set(phases);
    this.#exports.fillMask(firstWord, count);
    return this.#mask.subarray(0, 2 * count);
  }

  /** Sets phases and mask to zero. */
  wipe(): void {
    this.#exports.wipe();
  }
}

/** The kernel of this thread, created on first use. */
let ofThisThread: ModulationKernel | undefined;

export function modulationKernel(): ModulationKernel {
  ofThisThread ??= new ModulationKernel();
  return ofThisThread;
}
