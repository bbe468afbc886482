/** Additive and subtractive generators with long lags, glibc's random() among them. */
import { seeds, type ZooGenerator } from './generator.ts';

/** x(i) = x(i − r) + x(i − s) mod 2^32, r > s. */
function additive(r: number, s: number): () => number {
  const x = Uint32Array.from({ length: r }, seeds(r));
  x[0] |= 1;
  let i = 0;
  return () => {
    x[i] += x[(i + r - s) % r];
    const value = x[i];
    i = (i + 1) % r;
    return value;
  };
}

/** x(i) = x(i − s) − x(i − r) − borrow mod 2^bits: Marsaglia and Zaman. */
function subtractive(r: number, s: number, bits: number): () => number {
  const modulus = 2 ** bits;
  const x = Array.from({ length: r }, seeds(r)).map((seed) => seed % modulus);
  let [i, borrow] = [0, 0];
  return () => {
    let value = x[(i + r - s) % r] - x[i] - borrow;
    borrow = value < 0 ? 1 : 0;
    if (value < 0) value += modulus;
    x[i] = value;
    i = (i + 1) % r;
    return value;
  };
}

/** glibc's TYPE_1 to TYPE_4: additive, seeded by MINSTD, and the lowest bit dropped. */
export function glibcRandom(degree: number, separation: number, seed = 1): () => number {
  const r = new Int32Array(degree);
  r[0] = seed;
  for (let i = 1; i < degree; i++) {
    const word = 16807 * (r[i - 1] % 127773) - 2836 * Math.trunc(r[i - 1] / 127773);
    r[i] = word < 0 ? word + 2147483647 : word;
  }
  let [front, rear] = [separation, 0];
  const next = (): number => {
    r[front] = r[front] + r[rear];
    const value = r[front] >>> 1;
    front = (front + 1) % degree;
    rear = (rear + 1) % degree;
    return value;
  };
  for (let i = 0; i < 10 * degree; i++) next();
  return next;
}

function glibc(type: number, degree: number, separation: number): ZooGenerator {
  return {
    name: `glibc-type${type}-low8`,
    source: `random() of glibc with TYPE_${type}, lags ${degree} and ${separation}: bits 0 to 7`,
    width: 8,
    start: () => {
      const next = glibcRandom(degree, separation);
      return () => next() & 255;
    },
  };
}

function lagged(r: number, s: number, source: string): ZooGenerator {
  return {
    name: `additive-${r}-${s}`,
    source: `${source}: x(i − ${r}) + x(i − ${s}) mod 2^32`,
    width: 32,
    start: () => additive(r, s),
  };
}

export const LAGGED: readonly ZooGenerator[] = [
  {
    name: 'glibc-type0-low8',
    source: 'random() of glibc with TYPE_0, 1103515245 x + 12345 mod 2^31: bits 0 to 7',
    width: 8,
    start: () => {
      let x = 1;
      return () => {
        x = (Math.imul(1103515245, x) + 12345) & 0x7fffffff;
        return x & 255;
      };
    },
  },
  {
    name: 'glibc-type0-top8',
    source: 'random() of glibc with TYPE_0: bits 23 to 30',
    width: 8,
    start: () => {
      let x = 1;
      return () => {
        x = (Math.imul(1103515245, x) + 12345) & 0x7fffffff;
        return x >>> 23;
      };
    },
  },
  glibc(1, 7, 3),
  glibc(2, 15, 1),
  glibc(3, 31, 3),
  glibc(4, 63, 1),
  {
    name: 'glibc-rand-top8',
    source: 'rand() of glibc (TYPE_3): bits 23 to 30',
    width: 8,
    start: () => {
      const next = glibcRandom(31, 3);
      return () => next() >>> 23;
    },
  },
  lagged(17, 5, 'Marsaglia'),
  lagged(55, 24, 'Mitchell and Moore, 1958 (TAOCP 2, 3.2.2)'),
  lagged(607, 273, 'TAOCP 2, 3.2.2, table 1'),
  {
    name: 'additive-607-273-top8',
    source: 'TAOCP 2, 3.2.2, x(i − 607) + x(i − 273) mod 2^32: bits 24 to 31',
    width: 8,
    start: () => {
      const next = additive(607, 273);
      return () => next() >>> 24;
    },
  },
  lagged(1279, 418, 'TAOCP 2, 3.2.2, table 1'),
  {
    name: 'ran-array',
    source:
      'TAOCP 2, 3.6, ran_array without discarding: x(i − 100) − x(i − 37) mod 2^30: bits 6 to 29',
    width: 24,
    start: () => {
      const x = Uint32Array.from({ length: 100 }, seeds(100));
      let i = 0;
      return () => {
        x[i] = (x[i] - x[(i + 63) % 100]) & 0x3fffffff;
        const value = x[i];
        i = (i + 1) % 100;
        return value >>> 6;
      };
    },
  },
  {
    name: 'ranlux-0',
    source: 'Lüscher (1994), RANLUX at luxury 0: subtract with borrow 24, 10 of 24 bits',
    width: 24,
    start: () => subtractive(24, 10, 24),
  },
  {
    name: 'swb-43-22',
    source: 'Marsaglia and Zaman (1991), subtract with borrow 43, 22: 32 bits',
    width: 32,
    start: () => subtractive(43, 22, 32),
  },
];
