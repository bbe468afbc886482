/** Generators that are linear over GF(2), and their scrambled kin. */
import { halves, seeds, type ZooGenerator } from './generator.ts';

const MASK_64 = (1n << 64n) - 1n;
const rotl = (x: bigint, k: bigint): bigint => ((x << k) | (x >> (64n - k))) & MASK_64;
const rotl32 = (x: number, k: number): number => (x << k) | (x >>> (32 - k));

function xorshift32(): () => number {
  let x = 2463534242;
  return () => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return x >>> 0;
  };
}

function xorshift64(): () => bigint {
  let x = 88172645463325252n;
  return () => {
    x ^= (x << 13n) & MASK_64;
    x ^= x >> 7n;
    x ^= (x << 17n) & MASK_64;
    return x;
  };
}

function xorshift128(): () => number {
  let [x, y, z, w] = [123456789, 362436069, 521288629, 88675123];
  return () => {
    const t = x ^ (x << 11);
    [x, y, z] = [y, z, w];
    w = w ^ (w >>> 19) ^ t ^ (t >>> 8);
    return w >>> 0;
  };
}

function xorshift128plus(): () => bigint {
  let [a, b] = [0x123456789abcdefn, 0xfedcba987654321n];
  return () => {
    let x = a;
    const y = b;
    a = y;
    x ^= (x << 23n) & MASK_64;
    b = x ^ y ^ (x >> 17n) ^ (y >> 26n);
    return (b + y) & MASK_64;
  };
}

function xoroshiro128plus(): () => bigint {
  let [a, b] = [0x123456789abcdefn, 0xfedcba987654321n];
  return () => {
    const result = (a + b) & MASK_64;
    b ^= a;
    a = rotl(a, 24n) ^ b ^ ((b << 16n) & MASK_64);
    b = rotl(b, 37n);
    return result;
  };
}

function xoroshiro64(output: (a: number) => number): () => number {
  let [a, b] = [0x12345678, 0x9abcdef];
  return () => {
    const result = output(a) >>> 0;
    b ^= a;
    a = rotl32(a, 26) ^ b ^ (b << 9);
    b = rotl32(b, 13);
    return result;
  };
}

/** MT19937 with the initialisation of 2002. */
export function mt19937(seed: number): () => number {
  const mt = new Uint32Array(624);
  mt[0] = seed;
  for (let i = 1; i < 624; i++) {
    mt[i] = Math.imul(1812433253, mt[i - 1] ^ (mt[i - 1] >>> 30)) + i;
  }
  let i = 0;
  return () => {
    const y = (mt[i] & 0x80000000) | (mt[(i + 1) % 624] & 0x7fffffff);
    mt[i] = mt[(i + 397) % 624] ^ (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0);
    let x = mt[i];
    i = (i + 1) % 624;
    x ^= x >>> 11;
    x ^= (x << 7) & 0x9d2c5680;
    x ^= (x << 15) & 0xefc60000;
    return (x ^ (x >>> 18)) >>> 0;
  };
}

function well512(): () => number {
  const next = seeds();
  const s = Uint32Array.from({ length: 16 }, next);
  let i = 0;
  return () => {
    let a = s[i];
    const c = s[(i + 13) & 15];
    const b = a ^ c ^ (a << 16) ^ (c << 15);
    let d = s[(i + 9) & 15];
    d ^= d >>> 11;
    a = s[i] = b ^ d;
    const e = a ^ ((a << 5) & 0xda442d24);
    i = (i + 15) & 15;
    const f = s[i];
    s[i] = f ^ b ^ e ^ (f << 2) ^ (b << 18) ^ (d << 28);
    return s[i];
  };
}

function lfsr113(): () => number {
  let [a, b, c, d] = [987654321, 987654321, 987654321, 987654321];
  return () => {
    a = ((a & 0xfffffffe) << 18) ^ (((a << 6) ^ a) >>> 13);
    b = ((b & 0xfffffff8) << 2) ^ (((b << 2) ^ b) >>> 27);
    c = ((c & 0xfffffff0) << 7) ^ (((c << 13) ^ c) >>> 21);
    d = ((d & 0xffffff80) << 13) ^ (((d << 3) ^ d) >>> 12);
    return (a ^ b ^ c ^ d) >>> 0;
  };
}

function xoshiro256(): () => bigint {
  const s = [1n, 2n, 3n, 4n].map((x) => (x * 0x9e3779b97f4a7c15n) & MASK_64);
  return () => {
    const result = (rotl((s[1] * 5n) & MASK_64, 7n) * 9n) & MASK_64;
    const t = (s[1] << 17n) & MASK_64;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 45n);
    return result;
  };
}

export const REGISTERS: readonly ZooGenerator[] = [
  {
    name: 'lfsr32',
    source: 'a register of 32 bits, taps 32, 22, 2, 1, one bit at a time',
    width: 1,
    start: () => {
      let x = 0xace1ace1;
      return () => {
        const bit = x & 1;
        x = (x >>> 1) ^ (bit ? 0x80200003 : 0);
        return bit;
      };
    },
  },
  {
    name: 'xorshift32',
    source: 'Marsaglia, J. Stat. Softw. 8:14 (2003): 13, 17, 5',
    width: 32,
    start: xorshift32,
  },
  {
    name: 'xorshift64',
    source: 'Marsaglia, J. Stat. Softw. 8:14 (2003): 13, 7, 17',
    width: 32,
    start: () => halves(xorshift64()),
  },
  {
    name: 'xorshift128',
    source: 'Marsaglia, J. Stat. Softw. 8:14 (2003): 11, 8, 19',
    width: 32,
    start: xorshift128,
  },
  {
    name: 'xorshift64*-top32',
    source: 'Vigna (2016), xorshift 12, 25, 27 times 2685821657736338717: bits 32 to 63',
    width: 32,
    start: () => {
      let x = 1n;
      return () => {
        x ^= x >> 12n;
        x ^= (x << 25n) & MASK_64;
        x ^= x >> 27n;
        return Number(((x * 2685821657736338717n) & MASK_64) >> 32n);
      };
    },
  },
  {
    name: 'xorshift128+',
    source: 'Vigna (2014), Math.random() of browsers, all 64 bits',
    width: 32,
    start: () => halves(xorshift128plus()),
  },
  {
    name: 'xorshift128+-low8',
    source: 'Vigna (2014), xorshift128+: bits 0 to 7',
    width: 8,
    start: () => {
      const next = xorshift128plus();
      return () => Number(next() & 255n);
    },
  },
  {
    name: 'xoroshiro128+',
    source: 'Blackman and Vigna (2018): 24, 16, 37, all 64 bits',
    width: 32,
    start: () => halves(xoroshiro128plus()),
  },
  {
    name: 'xoroshiro64',
    source: 'Blackman and Vigna (2018): 26, 9, 13, unscrambled',
    width: 32,
    start: () => xoroshiro64((a) => a),
  },
  {
    name: 'xoroshiro64*',
    source: 'Blackman and Vigna (2018), xoroshiro64, times 0x9e3779bb',
    width: 32,
    start: () => xoroshiro64((a) => Math.imul(a, 0x9e3779bb)),
  },
  {
    name: 'mt19937',
    source: 'Matsumoto and Nishimura, TOMACS 8 (1998), seed 5489',
    width: 32,
    start: () => mt19937(5489),
  },
  {
    name: 'mt19937-top8',
    source: 'MT19937, seed 5489: bits 24 to 31',
    width: 8,
    start: () => {
      const next = mt19937(5489);
      return () => next() >>> 24;
    },
  },
  {
    name: 'well512',
    source: 'Panneton, L’Ecuyer and Matsumoto, TOMS 32 (2006), WELL512a',
    width: 32,
    start: well512,
  },
  {
    name: 'lfsr113',
    source: 'L’Ecuyer, Math. Comp. 68 (1999), four combined registers',
    width: 32,
    start: lfsr113,
  },
  {
    name: 'r250',
    source: 'Kirkpatrick and Stoll (1981): x(i − 250) xor x(i − 103)',
    width: 32,
    start: () => {
      const s = Uint32Array.from({ length: 250 }, seeds());
      let i = 0;
      return () => {
        s[i] ^= s[(i + 147) % 250];
        const x = s[i];
        i = (i + 1) % 250;
        return x;
      };
    },
  },
  {
    name: 'xoshiro256**',
    source: 'Blackman and Vigna (2018)',
    width: 32,
    start: () => halves(xoshiro256()),
  },
];
