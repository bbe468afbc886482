/** Sources of nonrandom bits, each from a fixed seed, for `defects.ts`. */
import { createCipheriv, createHash } from 'node:crypto';

/** Overwrites or changes the output of a request in place. */
export type Alter = (output: Buffer) => void;

const CHUNK_BYTES = 65_536;

/** Sound bits without end: AES-256-CTR under a key derived from a seed and a label. */
export class Noise {
  readonly #cipher;
  #chunk: Buffer = Buffer.alloc(0);
  #at = 0;

  constructor(seed: number, label: string) {
    const key = createHash('sha256').update(`${label} ${seed}`).digest();
    this.#cipher = createCipheriv('aes-256-ctr', key, Buffer.alloc(16));
  }

  bytes(length: number): Buffer {
    return this.#cipher.update(Buffer.alloc(length));
  }

  /** An integer from 0 to 65,535. */
  uint16(): number {
    if (this.#at === this.#chunk.length) {
      this.#chunk = this.bytes(CHUNK_BYTES);
      this.#at = 0;
    }
    const value = this.#chunk.readUInt16BE(this.#at);
    this.#at += 2;
    return value;
  }

  /** Returns 1 with probability `p`, to the nearest 1/65,536. */
  bit(p: number): number {
    return this.uint16() < Math.round(p * 65_536) ? 1 : 0;
  }
}

/** Fills the output with bits from `next`, the most significant bit of a byte first. */
export function bits(next: () => number): Alter {
  return (output) => {
    for (let i = 0; i < output.length; i++) {
      let byte = 0;
      for (let k = 0; k < 8; k++) byte = (byte << 1) | next();
      output[i] = byte;
    }
  };
}

/** Fills the output with bytes from `next`. */
export function bytes(next: () => number): Alter {
  return (output) => {
    for (let i = 0; i < output.length; i++) output[i] = next();
  };
}

/** Fills the output from a stream of pieces; the rest of a piece begins the next request. */
export function pieces(next: () => Buffer): Alter {
  let piece: Buffer = Buffer.alloc(0);
  return (output) => {
    let at = 0;
    while (at < output.length) {
      if (piece.length === 0) piece = next();
      const taken = piece.copy(output, at);
      piece = piece.subarray(taken);
      at += taken;
    }
  };
}

/** Bits of the recurrence of x^31 + x^28 + 1, a primitive trinomial: period 2^31 − 1. */
export function lfsr31(seed: number): () => number {
  let state = (seed & 0x7fff_ffff) | 1;
  return () => {
    const bit = state & 1;
    state = (state >>> 1) | ((bit ^ ((state >>> 3) & 1)) << 30);
    return bit;
  };
}

/** Bytes of MT19937 (Matsumoto and Nishimura, 1998): its 32-bit words, big-endian. */
export function mersenneTwister(seed: number): () => Buffer {
  const mt = new Uint32Array(624);
  mt[0] = seed;
  for (let i = 1; i < 624; i++) mt[i] = Math.imul(1812433253, mt[i - 1] ^ (mt[i - 1] >>> 30)) + i;
  return () => {
    const words = Buffer.alloc(4 * 624);
    for (let i = 0; i < 624; i++) {
      const y = (mt[i] & 0x8000_0000) | (mt[(i + 1) % 624] & 0x7fff_ffff);
      mt[i] = mt[(i + 397) % 624] ^ (y >>> 1) ^ (y & 1 ? 0x9908_b0df : 0);
    }
    for (let i = 0; i < 624; i++) words.writeUInt32BE(temper(mt[i]), 4 * i);
    return words;
  };
}

function temper(word: number): number {
  let y = word ^ (word >>> 11);
  y ^= (y << 7) & 0x9d2c_5680;
  y ^= (y << 15) & 0xefc6_0000;
  return (y ^ (y >>> 18)) >>> 0;
}

/** RANDU (IBM, 1968): x ← 65539·x mod 2^31. Bits 23 to 30 of each x. */
export function randu(seed: number): () => number {
  let x = (seed & 0x7fff_ffff) | 1;
  return () => {
    x = Math.imul(65_539, x) & 0x7fff_ffff;
    return x >>> 23;
  };
}

/** The C standard's example of `rand`: x ← 1103515245·x + 12345 mod 2^31. Its lowest eight bits. */
export function randLowByte(seed: number): () => number {
  let x = seed & 0x7fff_ffff;
  return () => {
    x = (Math.imul(1_103_515_245, x) + 12_345) & 0x7fff_ffff;
    return x & 0xff;
  };
}

/** java.util.Random: a 48-bit linear congruential generator, of which a step gives the top 32 bits. */
export function javaRandom(seed: number): () => Buffer {
  let x = (BigInt(seed) ^ 0x5_deec_e66dn) & 0xffff_ffff_ffffn;
  return () => {
    x = (x * 0x5_deec_e66dn + 0xbn) & 0xffff_ffff_ffffn;
    const word = Buffer.alloc(4);
    word.writeUInt32BE(Number(x >> 16n));
    return word;
  };
}

/** xorshift128+, the generator behind `Math.random` of V8: the top byte of each step. */
export function mathRandom(seed: number): () => number {
  const mask = 0xffff_ffff_ffff_ffffn;
  let s0 = BigInt(seed) + 1n;
  let s1 = (BigInt(seed) + 1n) * 0x9e37_79b9_7f4a_7c15n;
  const step = () => {
    const sum = (s0 + s1) & mask;
    let x = s0;
    s0 = s1 & mask;
    x ^= (x << 23n) & mask;
    s1 = x ^ (x >> 17n) ^ s0 ^ (s0 >> 26n);
    return Number(sum >> 56n);
  };
  for (let i = 0; i < 64; i++) step();
  return step;
}

/** RC4's keystream from its first byte. */
export function rc4(key: Uint8Array): () => number {
  const s = Uint8Array.from({ length: 256 }, (_, i) => i);
  const swap = (a: number, b: number) => {
    const kept = s[a];
    s[a] = s[b];
    s[b] = kept;
  };
  for (let i = 0, j = 0; i < 256; i++) {
    j = (j + s[i] + key[i % key.length]) & 0xff;
    swap(i, j);
  }
  let i = 0;
  let j = 0;
  return () => {
    i = (i + 1) & 0xff;
    j = (j + s[i]) & 0xff;
    swap(i, j);
    return s[(s[i] + s[j]) & 0xff];
  };
}
