/** Autocorrelation with the kernels. A supplement: not part of SP 800-22. */
import type { KernelModule } from './module.ts';

/** The lags of the kernel, and the places of its transforms. */
export const KERNEL_LAGS = 2 ** 16;

/** Nodes of the last level of the kernel's tree. */
const NODES = KERNEL_LAGS / 2;

/** g, g² and g³ of each node, real and imaginary parts. Made on first use, and the same for all lengths. */
let factors: Float32Array<ArrayBuffer> | undefined;

/** Returns A(1) to A(2^16) of the sequence of `n` bits that `module` holds. */
export function correlate(module: KernelModule, n: number): Int32Array {
  factors ??= makeFactors();
  const memory = module.behind(n, module.exports.AUTOCORRELATION_SIZE.value);
  const base = memory.byteOffset;
  const tables = new Float32Array(memory.buffer, base, factors.length);
  tables.set(factors);
  module.exports.correlate(n, base);
  const offset = base + module.exports.AUTOCORRELATION_SUMS.value;
  const halves = new Float32Array(memory.buffer, offset, 2 * KERNEL_LAGS);
  const sums = Int32Array.from({ length: KERNEL_LAGS }, (_, i) => {
    const d = i + 1;
    // Coefficient d of x^N − 1 plus that of x^N + 1; for d = N, coefficient 0 and the difference.
    const sum =
      d === KERNEL_LAGS ? halves[0] - halves[KERNEL_LAGS] : halves[d] + halves[KERNEL_LAGS + d];
    return nearestOfParity(sum / (2 * KERNEL_LAGS), n - d);
  });
  halves.fill(0);
  tables.fill(0);
  return sums;
}

/** Returns the integer nearest to `x` with the parity of `like`. A sum of m terms ±1 has the parity of m. */
function nearestOfParity(x: number, like: number): number {
  const odd = like % 2;
  return 2 * Math.round((x - odd) / 2) + odd;
}

/** Returns e^(−2πi·jt) for j = 1, 2, 3, where bit i of the node's number, times two, adds 2^−(i+2) to t. */
function makeFactors(): Float32Array<ArrayBuffer> {
  const table = new Float32Array(6 * NODES);
  for (let node = 0; node < NODES; node++) {
    let t = 0;
    for (let i = 0; node >>> i !== 0; i++) t += ((node >>> i) & 1) * 2 ** -(i + 3);
    for (let j = 1; j <= 3; j++) {
      table[6 * node + 2 * j - 2] = Math.cos(2 * Math.PI * j * t);
      table[6 * node + 2 * j - 1] = -Math.sin(2 * Math.PI * j * t);
    }
  }
  return table;
}
