/** Congruential generators: linear, with carry, and inversive. */
import { halves, type ZooGenerator } from './generator.ts';

/** x ← a x + c mod 2^32. */
function lcg32(a: number, c: number, output: (x: number) => number, seed = 1): () => () => number {
  return () => {
    let x = seed;
    return () => {
      x = (Math.imul(a, x) + c) | 0;
      return output(x);
    };
  };
}

/** x ← a x + c mod m, for products below 2^53 or by BigInt. */
function lcg(
  a: bigint,
  c: bigint,
  m: bigint,
  output: (x: bigint) => number,
  seed = 1n,
): () => () => number {
  return () => {
    let x = seed;
    return () => {
      x = (a * x + c) % m;
      return output(x);
    };
  };
}

/** MINSTD by Schrage's method, x ← 16807 x mod 2^31 − 1. */
function minstd(output: (x: number) => number): () => () => number {
  return () => {
    let x = 1;
    return () => {
      x = (16807 * x) % 2147483647;
      return output(x);
    };
  };
}

const MASK_64 = (1n << 64n) - 1n;
const LCG_64 = 6364136223846793005n;

function lcg64(output: (x: bigint) => number): () => () => number {
  return () => {
    let x = 1n;
    return () => {
      x = (LCG_64 * x + 1442695040888963407n) & MASK_64;
      return output(x);
    };
  };
}

/** java.util.Random, with the 48 bits of its state in two parts. */
function java(output: (high: number, low: number) => number): () => () => number {
  return () => {
    // 48 bits: high 24, low 24. The multiplier 0x5deece66d is 0x5de and 0xece66d.
    let [high, low] = [0x5de, 0xece66c];
    return () => {
      const product = low * 0xece66d + 0xb;
      const carry = Math.floor(product / 2 ** 24);
      high = (high * 0xece66d + low * 0x5de + carry) % 2 ** 24;
      low = product % 2 ** 24;
      return output(high, low);
    };
  };
}

/** x ← a (x mod 2^16) + (x >> 16): multiply with carry. */
const mwc16 = (a: number, x: number): number => (Math.imul(a, x & 65535) + (x >>> 16)) >>> 0;

function inverse(x: number, m: number): number {
  let [r0, r1, t0, t1] = [m, x, 0, 1];
  while (r1 > 0) {
    const q = Math.floor(r0 / r1);
    [r0, r1, t0, t1] = [r1, r0 - q * r1, t1, t0 - q * t1];
  }
  return t0 < 0 ? t0 + m : t0;
}

export const CONGRUENTIAL: readonly ZooGenerator[] = [
  {
    name: 'randu-top8',
    source: 'RANDU of IBM, x = 65539 x mod 2^31 (Knuth, TAOCP 2, 3.3.4): bits 23 to 30',
    width: 8,
    start: lcg32(65539, 0, (x) => (x >>> 23) & 255),
  },
  {
    name: 'minstd-top8',
    source: 'Park and Miller, CACM 31 (1988), a = 16807: bits 23 to 30',
    width: 8,
    start: minstd((x) => x >>> 23),
  },
  {
    name: 'minstd-low8',
    source: 'Park and Miller, MINSTD: bits 0 to 7',
    width: 8,
    start: minstd((x) => x & 255),
  },
  {
    name: 'ansi-c-rand',
    source: 'the example of ISO C 7.22.2.1, 1103515245 x + 12345: bits 16 to 23',
    width: 8,
    start: lcg32(1103515245, 12345, (x) => (x >>> 16) & 255),
  },
  {
    name: 'msvc-rand',
    source: 'rand() of Microsoft C, 214013 x + 2531011: bits 16 to 23',
    width: 8,
    start: lcg32(214013, 2531011, (x) => (x >>> 16) & 255),
  },
  {
    name: 'msvc-rand-top8',
    source: 'rand() of Microsoft C: bits 23 to 30',
    width: 8,
    start: lcg32(214013, 2531011, (x) => (x >>> 23) & 255),
  },
  {
    name: 'ranqd1',
    source: 'Numerical Recipes, 1664525 x + 1013904223, all 32 bits',
    width: 32,
    start: lcg32(1664525, 1013904223, (x) => x >>> 0),
  },
  {
    name: 'vb6-rnd',
    source: 'Rnd of Visual Basic 6, 24 bits of state: bits 8 to 23',
    width: 16,
    start: lcg32(0x43fd43fd, 0xc39ec3, (x) => (x >>> 8) & 65535),
  },
  {
    name: 'java-nextint',
    source: 'java.util.Random (JDK documentation), nextInt(): bits 16 to 47 of 48',
    width: 32,
    start: java((high, low) => ((high << 8) | (low >>> 16)) >>> 0),
  },
  {
    name: 'java-low8',
    source: 'java.util.Random: the low 8 bits of nextInt()',
    width: 8,
    start: java((_, low) => low >>> 16),
  },
  {
    name: 'java-top8',
    source: 'java.util.Random: the top 8 bits of nextInt()',
    width: 8,
    start: java((high) => high >>> 16),
  },
  {
    name: 'drand48-top16',
    source: 'drand48 of POSIX, srand48(1): bits 32 to 47',
    width: 16,
    start: lcg(0x5deece66dn, 11n, 1n << 48n, (x) => Number(x >> 32n), (1n << 16n) | 0x330en),
  },
  {
    name: 'delphi-top8',
    source: 'Random of Turbo Pascal and Delphi, 134775813 x + 1 mod 2^32: bits 24 to 31',
    width: 8,
    start: lcg32(134775813, 1, (x) => x >>> 24),
  },
  {
    name: 'lcg64-low32',
    source: 'Knuth, MMIX, 6364136223846793005 x + 1442695040888963407: bits 0 to 31',
    width: 32,
    start: lcg64((x) => Number(x & 0xffff_ffffn)),
  },
  {
    name: 'lcg64-mid32',
    source: 'Knuth, MMIX, mod 2^64: bits 16 to 47',
    width: 32,
    start: lcg64((x) => Number((x >> 16n) & 0xffff_ffffn)),
  },
  {
    name: 'lcg64-top32',
    source: 'Knuth, MMIX, mod 2^64: bits 32 to 63',
    width: 32,
    start: lcg64((x) => Number(x >> 32n)),
  },
  {
    name: 'lcg-prime61',
    source: 'L’Ecuyer and Simard, TestU01: 2^30 − 2^19 times x mod 2^61 − 1, bits 29 to 60',
    width: 32,
    start: lcg(2n ** 30n - 2n ** 19n, 0n, 2n ** 61n - 1n, (x) => Number(x >> 29n), 12345n),
  },
  {
    name: 'mwc16',
    source: 'Marsaglia, multiply with carry 36969: the low 16 bits',
    width: 16,
    start: () => {
      let z = 362436069;
      return () => {
        z = mwc16(36969, z);
        return z & 65535;
      };
    },
  },
  {
    name: 'mwc1616',
    source: 'Marsaglia (1999), the MWC of KISS, and Math.random() of V8 until 2015',
    width: 32,
    start: () => {
      let [z, w] = [362436069, 521288629];
      return () => {
        z = mwc16(36969, z);
        w = mwc16(18000, w);
        return ((z << 16) + (w & 65535)) >>> 0;
      };
    },
  },
  {
    name: 'mwc32',
    source: 'Marsaglia, multiply with carry 4294957665, 64 bits of state: the low 32',
    width: 32,
    start: () => {
      let x = 0x123456789n;
      return () => {
        x = 4294957665n * (x & 0xffff_ffffn) + (x >> 32n);
        return Number(x & 0xffff_ffffn);
      };
    },
  },
  {
    name: 'inversive',
    source: 'Eichenauer and Lehn (1986), x = 1288490188 / x + 1 mod 2^31 − 1: bits 7 to 30',
    width: 24,
    start: () => {
      const m = 2147483647;
      let x = 1;
      return () => {
        const y = inverse(x, m);
        // 1288490188 y in two products below 2^53.
        x = ((((y * 19660) % m) * 65536 + y * 52428 + 1) % m) >>> 0;
        return x >>> 7;
      };
    },
  },
  {
    name: 'pcg32',
    source: 'O’Neill (2014), PCG-XSH-RR 64/32',
    width: 32,
    start: lcg64((x) => {
      const word = Number((((x >> 18n) ^ x) >> 27n) & 0xffff_ffffn);
      const by = Number(x >> 59n);
      return ((word >>> by) | (word << (-by & 31))) >>> 0;
    }),
  },
  {
    name: 'pcg-mcg-64-low',
    source: 'MCG 2^64 of L’Ecuyer (1999), 1181783497276652981 x: bits 24 to 55 in 64-bit steps',
    width: 32,
    start: () => {
      let x = 1n;
      const next = (): bigint => {
        x = (1181783497276652981n * x) & MASK_64;
        return x;
      };
      return halves(next);
    },
  },
];
