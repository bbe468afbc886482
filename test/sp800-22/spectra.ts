/** Sequences with special spectra, on which a transform in single precision might fail. */
import { aesStream } from './differential.ts';

/** Returns `n` bits, one per element. */
type Spectrum = (n: number) => Uint8Array;

export function randomBits(seed: number, n: number): Uint8Array {
  const bytes = aesStream(seed, (n + 7) >>> 3);
  return Uint8Array.from({ length: n }, (_, i) => (bytes[i >>> 3] >>> (7 - (i & 7))) & 1);
}

export function packBits(bits: Uint8Array): Uint8Array {
  const bytes = new Uint8Array((bits.length + 7) >>> 3);
  for (let i = 0; i < bits.length; i++) bytes[i >>> 3] |= bits[i] << (7 - (i & 7));
  return bytes;
}

function each(bitAt: (i: number, n: number) => number): Spectrum {
  return (n) => {
    const bits = new Uint8Array(n);
    for (let i = 0; i < n; i++) bits[i] = bitAt(i, n);
    return bits;
  };
}

/** Returns bits that are one with probability p(i), from 16 random bits each. */
function biased(seed: number, p: (i: number, n: number) => number): Spectrum {
  return (n) => {
    const random = aesStream(seed, 2 * n);
    return each((i) => (random.readUInt16LE(2 * i) < p(i, n) * 65_536 ? 1 : 0))(n);
  };
}

function repeated(seed: number, part: (n: number) => number): Spectrum {
  return (n) => {
    const length = part(n);
    const bits = randomBits(seed, length);
    return each((i) => bits[i % length])(n);
  };
}

/** Returns the output of the register with the primitive polynomial x^degree + x^tap + 1. */
function shiftRegister(degree: number, tap: number): Spectrum {
  return (n) => {
    const bits = new Uint8Array(n).fill(1, 0, degree);
    for (let i = degree; i < n; i++) bits[i] = bits[i - degree] ^ bits[i - degree + tap];
    return bits;
  };
}

/** Returns bits that are one if i is a square modulo the prime. */
function legendre(prime: number): Spectrum {
  const squares = new Uint8Array(prime);
  for (let i = 1; i <= prime >> 1; i++) squares[(i * i) % prime] = 1;
  return each((i) => squares[i % prime]);
}

function parity(i: number): number {
  let p = i;
  for (let shift = 16; shift > 0; shift >>>= 1) p ^= p >>> shift;
  return p & 1;
}

const PERIODS = [
  2, 3, 4, 5, 7, 8, 16, 25, 31, 64, 100, 125, 127, 1000, 1024, 15_625, 16_384, 62_500,
];
const BIASES = [0.4, 0.45, 0.49, 0.495, 0.497, 0.499, 0.501, 0.503, 0.505, 0.51, 0.55, 0.6];
/** Amplitudes of the tone's probability; |S|² = 64n is at 8/√n = 0.0078. */
const AMPLITUDES = [0.001, 0.003, 0.005, 0.007, 0.009, 0.02, 0.1, 0.5];

export const SPECTRA: Readonly<Record<string, Spectrum>> = {
  'all zeros': each(() => 0),
  'all ones': each(() => 1),
  alternating: each((i) => i & 1),
  'a single one': each((i) => (i === 777_777 ? 1 : 0)),
  'two ones': each((i) => (i === 1 || i === 500_000 ? 1 : 0)),
  'Thue and Morse': each(parity),
  'Rudin and Shapiro': each((i) => parity(i & (i >>> 1))),
  'a Golay mate': each((i, n) => parity(i & (i >>> 1)) ^ (i < n / 2 ? 0 : 1)),
  'an m-sequence of degree 20': shiftRegister(20, 3),
  'an m-sequence of degree 31': shiftRegister(31, 3),
  'a short m-sequence': shiftRegister(15, 1),
  'Legendre, prime above n': legendre(1_048_583),
  'Legendre, prime below n': legendre(999_983),
  'Legendre, short': legendre(65_537),
  'a chirp': each((i, n) => (Math.cos((Math.PI * ((i * i) % (2 * n))) / n) < 0 ? 1 : 0)),
  'two equal halves': repeated(1, (n) => n / 2),
  'four equal quarters': repeated(2, (n) => n / 4),
  'eight equal parts': repeated(3, (n) => n / 8),
  'a half and its complement': (n) => {
    const half = randomBits(4, n / 2);
    return each((i) => half[i % (n / 2)] ^ (i < n / 2 ? 0 : 1))(n);
  },
  'a palindrome': (n) => {
    const half = randomBits(5, n / 2);
    return each((i) => half[Math.min(i, n - 1 - i)])(n);
  },
  'bits twice': (n) => {
    const bits = randomBits(6, n / 2);
    return each((i) => bits[i >> 1])(n);
  },
  'bytes twice': (n) => {
    const bits = randomBits(7, n / 2);
    return each((i) => bits[((i >> 4) << 3) | (i & 7)])(n);
  },
  'equal in steps of n/16': (n) => {
    const bits = randomBits(8, n / 16);
    return each((i) => bits[i % (n / 16)] ^ parity(Math.floor(i / (n / 16))))(n);
  },
  ...Object.fromEntries(
    [0.0001, 0.001, 0.005, 0.02, 0.5].map((share) => [
      `random, then a share of ${share} zeros`,
      (n: number) => randomBits(9, n).fill(0, Math.floor(n * (1 - share))),
    ]),
  ),
  ...Object.fromEntries(PERIODS.map((period) => [`period ${period}`, repeated(10, () => period)])),
  ...Object.fromEntries(BIASES.map((p) => [`ones of probability ${p}`, biased(11, () => p)])),
  ...Object.fromEntries(
    AMPLITUDES.map((amplitude) => [
      `random and a tone of ${amplitude}`,
      biased(12, (i, n) => 0.5 + amplitude * Math.cos((2 * Math.PI * ((i * 123_457) % n)) / n)),
    ]),
  ),
};

/** Changes a few bits so that the sum of ±1 is `S`, and the sum with alternating signs `alternating`. */
export function withSums(bits: Uint8Array, S: number, alternating: number): Uint8Array {
  const changed = Uint8Array.from(bits);
  for (const parity of [0, 1]) {
    const target = parity === 0 ? (S + alternating) / 2 : (S - alternating) / 2;
    let sum = 0;
    for (let i = parity; i < bits.length; i += 2) sum += 2 * bits[i] - 1;
    const wrong = sum > target ? 1 : 0;
    // The changes are spread over the sequence, so that no other peak grows.
    for (let i = parity; sum !== target; i = (i + 2_038) % bits.length) {
      if (changed[i] !== wrong) continue;
      changed[i] = 1 - wrong;
      sum += wrong === 1 ? -2 : 2;
    }
  }
  return changed;
}

/** Returns the sums, plain and with alternating signs, that put bin 0 or n/2 just below or above T. */
export function sumsBesideThreshold(T: number): readonly (readonly [number, number])[] {
  const below = 4 * Math.floor(T / 4);
  return [
    [below, 0],
    [below + 4, 0],
    [0, below],
  ];
}
