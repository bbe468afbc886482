/**
 * Sources of bits, sound and defective. The same seed always gives the same bits. `source-files.ts` has files of them,
 * with the verdict on each.
 */
import { mersenneTwister, randLowByte, randu } from '../keys/weak-sources.ts';
import { aesStream } from './differential.ts';

interface DefectiveSource {
  readonly name: string;
  /** What is wrong with it. */
  readonly defect: string;
  /** Returns packed bits. Different seeds give different output. */
  readonly generate: (seed: number, lengthBytes: number) => Uint8Array;
}

/** Returns bits that are 1 with probability `shares[i % shares.length]`, decided by 16 bits of noise each. */
function biased(seed: number, lengthBytes: number, shares: readonly number[]): Uint8Array {
  const noise = aesStream(seed, 16 * lengthBytes);
  const limits = Uint32Array.from(shares, (share) => Math.ceil(share * 2 ** 16));
  const bytes = new Uint8Array(lengthBytes);
  let next = 0;
  for (let i = 0, at = 0; i < lengthBytes; i++) {
    for (let mask = 0x80; mask > 0; mask >>= 1, at += 2) {
      if ((noise[at] | (noise[at + 1] << 8)) < limits[next]) bytes[i] |= mask;
      if (++next === limits.length) next = 0;
    }
  }
  return bytes;
}

/** Returns noise in which a bit in a hundred repeats the bit 1,000 places earlier. */
function copies(seed: number, lengthBytes: number): Uint8Array {
  const bytes = aesStream(seed, lengthBytes);
  const choices = aesStream(seed + 1_000_000, 16 * lengthBytes);
  for (let i = 1000; i < 8 * lengthBytes; i++) {
    if ((choices[2 * i] | (choices[2 * i + 1] << 8)) >= 655) continue;
    const mask = 0x80 >>> (i & 7);
    const earlier = (bytes[(i - 1000) >>> 3] >>> (7 - ((i - 1000) & 7))) & 1;
    bytes[i >>> 3] = earlier === 1 ? bytes[i >>> 3] | mask : bytes[i >>> 3] & ~mask;
  }
  return bytes;
}

/** Returns shares of ones that swing around one half once in `period` bits. */
const swing = (amplitude: number, period: number): readonly number[] =>
  Array.from({ length: period }, (_, i) => 0.5 + amplitude * Math.sin((2 * Math.PI * i) / period));

/** Returns noise in which the top bit of every 64th byte is zero. */
function stuck(seed: number, lengthBytes: number): Uint8Array {
  const bytes = aesStream(seed, lengthBytes);
  for (let i = 0; i < lengthBytes; i += 64) bytes[i] &= 0x7f;
  return bytes;
}

/** The C standard's example of `rand`: x ← 1103515245·x + 12345 mod 2^31. Bits 16 to 23 of each x. */
function rand(seed: number): () => number {
  let x = seed;
  return () => {
    x = (Math.imul(x, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return x >>> 16;
  };
}

/** Returns bytes of the lowest eight bits of the generator's values. */
const lowBytes =
  (start: (seed: number) => () => number) =>
  (seed: number, lengthBytes: number): Uint8Array =>
    Uint8Array.from({ length: lengthBytes }, start(seed));

function twister(seed: number, lengthBytes: number): Uint8Array {
  const words = mersenneTwister(seed);
  const pieces: Buffer[] = [];
  for (let length = 0; length < lengthBytes; length += pieces[0].length) pieces.push(words());
  return Buffer.concat(pieces, lengthBytes);
}

const SOURCES: readonly DefectiveSource[] = [
  { name: 'sound', defect: 'none: AES-256 in counter mode', generate: aesStream },
  {
    name: 'drift',
    defect: 'the share of ones swings by 0.006 with a period of 131,072 bits',
    generate: (seed, lengthBytes) => biased(seed, lengthBytes, swing(0.006, 131_072)),
  },
  {
    name: 'period-8000',
    defect: 'the share of ones swings by 0.006 with a period of 8,000 bits',
    generate: (seed, lengthBytes) => biased(seed, lengthBytes, swing(0.006, 8000)),
  },
  {
    name: 'lag-copy',
    defect: 'one bit in a hundred is a copy of the bit 1,000 places earlier',
    generate: copies,
  },
  {
    name: 'bias-0.51',
    defect: 'a bit is one with probability 0.51',
    generate: (seed, lengthBytes) => biased(seed, lengthBytes, [0.51]),
  },
  {
    name: 'bias-0.501',
    defect: 'a bit is one with probability 0.501',
    generate: (seed, lengthBytes) => biased(seed, lengthBytes, [0.501]),
  },
  { name: 'stuck-bit', defect: 'one bit of each 512 is zero', generate: stuck },
  {
    name: 'periodic',
    defect: 'the same 65,536 bits again and again',
    generate: (seed, lengthBytes) => Buffer.alloc(lengthBytes, aesStream(seed, 8192)),
  },
  {
    name: 'lcg-low',
    defect:
      'bits 0 to 7 of x ← 1103515245·x + 12345 mod 2^31, the example of `rand` in the C standard',
    generate: lowBytes(randLowByte),
  },
  { name: 'lcg', defect: 'bits 16 to 23 of the same generator', generate: lowBytes(rand) },
  {
    name: 'randu',
    defect: 'RANDU: bits 23 to 30 of x ← 65539·x mod 2^31',
    generate: lowBytes(randu),
  },
  { name: 'mt19937', defect: 'the Mersenne Twister MT19937, all 32 bits', generate: twister },
];

/** Returns the source of this name. */
export function defectiveSource(name: string): DefectiveSource {
  const source = SOURCES.find((one) => one.name === name);
  if (!source) throw new RangeError(`"name" expected a source, got ${name}`);
  return source;
}
