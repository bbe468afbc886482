/** Defects that one sample of 2^20 bits hardly shows, in output that is otherwise sound. */
import { Noise } from './weak-sources.ts';

/** Changes a request's output in place. */
export type SmallDefect = (output: Buffer, noise: Noise) => void;

/** Returns the defect that makes a bit 1 with probability ½ + `deviation`, independently of all others. */
export function moreOnes(deviation: number): SmallDefect {
  const value = deviation > 0 ? 1 : 0;
  return (output, noise) => {
    // Half of these bits have the value already.
    for (const i of places(8 * output.length, 2 * Math.abs(deviation), noise))
      set(output, i, value);
  };
}

/** Returns the defect by which a bit equals the one `lag` places before with probability ½ + `correlation` / 2. */
export function correlated(lag: number, correlation: number): SmallDefect {
  return (output, noise) => {
    for (const i of places(8 * output.length, correlation, noise)) {
      if (i >= lag) set(output, i, bitAt(output, i - lag));
    }
  };
}

/** Returns sound bits with a defect: a sample, the same for each seed. */
export function defectiveSample(seed: number, defect: SmallDefect): Buffer {
  const noise = new Noise(seed, 'small defects');
  const sample = noise.bytes(2 ** 17);
  defect(sample, noise);
  return sample;
}

/** Yields each of `n` places with probability `p`, in ascending order. */
function* places(n: number, p: number, noise: Noise): Generator<number> {
  for (let i = gap(p, noise); i < n; i += 1 + gap(p, noise)) yield i;
}

/** Returns a geometric number of places between two. */
function gap(p: number, noise: Noise): number {
  const uniform = (noise.uint16() * 65_536 + noise.uint16() + 0.5) / 2 ** 32;
  return Math.floor(Math.log(uniform) / Math.log1p(-p));
}

function bitAt(bytes: Buffer, i: number): number {
  return (bytes[i >>> 3] >>> (7 - (i & 7))) & 1;
}

function set(bytes: Buffer, i: number, bit: number): void {
  const mask = 0x80 >>> (i & 7);
  bytes[i >>> 3] = bit ? bytes[i >>> 3] | mask : bytes[i >>> 3] & ~mask;
}
