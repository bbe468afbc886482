/** Generators that combine others, choose among their outputs or change their order, and iterated maps. */
import type { ZooGenerator } from './generator.ts';

/** The generator of the example of ISO C, all 31 bits. */
function isoC(): () => number {
  let x = 12345;
  return () => {
    x = (Math.imul(x, 1103515245) + 12345) & 0x7fffffff;
    return x;
  };
}

/** Bays and Durham: an output chooses which of the last ones comes next. */
function shuffled(next: () => number, places: number): () => number {
  const table = Array.from({ length: places }, next);
  return () => {
    const place = Math.floor((next() / 2 ** 31) * places);
    const value = table[place];
    table[place] = next();
    return value;
  };
}

function wichmannHill(): () => number {
  let [x, y, z] = [1, 2, 3];
  return () => {
    x = (171 * x) % 30269;
    y = (172 * y) % 30307;
    z = (170 * z) % 30323;
    return Math.floor(((x / 30269 + y / 30307 + z / 30323) % 1) * 2 ** 24);
  };
}

/** L’Ecuyer's MRG32k3a, the components' difference mod 2^32 − 209. */
function mrg32k3a(): () => number {
  const [m1, m2] = [4294967087, 4294944443];
  const a = [12345, 12345, 12345];
  const b = [12345, 12345, 12345];
  // Products stay below 2^53, and their differences are exact.
  const mod = (value: number, m: number): number => (value < 0 ? (value % m) + m : value) % m;
  return () => {
    const p = mod(1403580 * a[1] - 810728 * a[0], m1);
    a.push(p);
    a.shift();
    const q = mod(527612 * b[2] - 1370589 * b[0], m2);
    b.push(q);
    b.shift();
    return mod(p - q, m1);
  };
}

/** Marsaglia's xorwow (2003), as CUDA has it: a register plus a counter. */
function xorwow(): () => number {
  const s = [123456789, 362436069, 521288629, 88675123, 5783321];
  let counter = 6615241;
  return () => {
    const t = s[0] ^ (s[0] >>> 2);
    s.push(s[4] ^ (s[4] << 4) ^ (t ^ (t << 1)));
    s.shift();
    counter = (counter + 362437) | 0;
    return (s[4] + counter) >>> 0;
  };
}

/** A register of `length` bits whose new bit is the sum mod 2 of the oldest one and the one `tap` places later. */
function register(length: number, tap: number, state: number): () => number {
  let x = state;
  return () => {
    const bit = x & 1;
    x = (x >>> 1) | (((x ^ (x >>> tap)) & 1) << (length - 1));
    return bit;
  };
}

function geffe(): () => number {
  const [a, b, c] = [register(29, 2, 0x1234567), register(31, 3, 0x2345678), register(23, 5, 1)];
  return () => {
    const [x, y, z] = [a(), b(), c()];
    return x ? y : z;
  };
}

function selfShrinking(): () => number {
  const next = register(31, 3, 0x1234567);
  return () => {
    for (;;) {
      const [choice, bit] = [next(), next()];
      if (choice) return bit;
    }
  };
}

function logistic(): () => number {
  let x = 0.1234567;
  return () => {
    x = 4 * x * (1 - x);
    // Rounding may end at a fixed point.
    if (x <= 0 || x >= 1) x = 0.37;
    return x > 0.5 ? 1 : 0;
  };
}

/** The lowest bit of squares mod a product of two primes of 20 bits. */
function blumBlumShub(): () => number {
  const n = 1048583n * 1048507n;
  let x = 159201n;
  return () => {
    x = (x * x) % n;
    return Number(x & 1n);
  };
}

export const COMBINED: readonly ZooGenerator[] = [
  {
    name: 'bays-durham',
    source: 'Bays and Durham, TOMS 2 (1976), 64 places, of the example of ISO C: bits 16 to 23',
    width: 8,
    start: () => {
      const next = shuffled(isoC(), 64);
      return () => next() >>> 16;
    },
  },
  {
    name: 'wichmann-hill',
    source: 'Wichmann and Hill, Appl. Stat. 31 (1982), once in Excel and Python: 24 bits',
    width: 24,
    start: wichmannHill,
  },
  {
    name: 'mrg32k3a',
    source: 'L’Ecuyer, Oper. Res. 47 (1999)',
    width: 32,
    start: mrg32k3a,
  },
  {
    name: 'xorwow',
    source: 'Marsaglia, J. Stat. Softw. 8:14 (2003), the default of CUDA',
    width: 32,
    start: xorwow,
  },
  {
    name: 'geffe',
    source: 'Geffe (1973), registers of 29, 31 and 23 bits',
    width: 1,
    start: geffe,
  },
  {
    name: 'self-shrinking-31',
    source: 'Meier and Staffelbach (1994), a register of 31 bits',
    width: 1,
    start: selfShrinking,
  },
  {
    name: 'logistic',
    source: 'x ← 4 x (1 − x) in 64-bit floating point, 1 above 1/2',
    width: 1,
    start: logistic,
  },
  {
    name: 'blum-blum-shub-40',
    source: 'Blum, Blum and Shub (1986), a modulus of 40 bits',
    width: 1,
    start: blumBlumShub,
  },
];
