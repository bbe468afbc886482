/** Counters through hashes, bad seeding, defects of hardware, and sound controls. */
import { createCipheriv, createHash } from 'node:crypto';
import { halves, seeds, type ZooGenerator } from './generator.ts';
import { glibcRandom } from './lagged.ts';
import { mt19937 } from './registers.ts';

/** Bytes of a cipher in counter mode, as a source of sound words. */
function cipherWords(cipher: 'aes-256-ctr' | 'chacha20', key: number): () => number {
  const stream = createCipheriv(cipher, Buffer.alloc(32, key), Buffer.alloc(16));
  const zeros = Buffer.alloc(1 << 16);
  let [block, at] = [Buffer.alloc(0), 0];
  return () => {
    if (at === block.length) [block, at] = [stream.update(zeros), 0];
    at += 4;
    return block.readUInt32LE(at - 4);
  };
}

/** Bits that are 1 with the probability that `share` returns for each place. */
function biased(share: (place: number) => number, key = 7): () => number {
  const next = cipherWords('aes-256-ctr', key);
  let place = 0;
  return () => (next() < share(place++) * 2 ** 32 ? 1 : 0);
}

function counter(hash: (i: number) => number): () => () => number {
  return () => {
    let i = 0;
    return () => hash(i++);
  };
}

function fnv1a(i: number): number {
  let h = 0x811c9dc5;
  for (let shift = 0; shift < 32; shift += 8) h = Math.imul(h ^ ((i >>> shift) & 255), 0x01000193);
  return h >>> 0;
}

function oneAtATime(i: number): number {
  let h = 0;
  for (let shift = 0; shift < 32; shift += 8) {
    h = (h + ((i >>> shift) & 255)) | 0;
    h = (h + (h << 10)) | 0;
    h ^= h >>> 6;
  }
  h = (h + (h << 3)) | 0;
  h ^= h >>> 11;
  return (h + (h << 15)) >>> 0;
}

function crc32(i: number): number {
  let c = ~0;
  for (let shift = 0; shift < 32; shift += 8) {
    c ^= (i >>> shift) & 255;
    for (let bit = 0; bit < 8; bit++) c = (c >>> 1) ^ (c & 1 ? 0xedb88320 : 0);
  }
  return ~c >>> 0;
}

function murmur(i: number): number {
  let h = i;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** RC4's first bytes under the keys 0, 1, 2, … */
function rc4Starts(length: number): () => number {
  const next = cipherWords('aes-256-ctr', 9);
  let bytes = new Uint8Array(0);
  let at = 0;
  return () => {
    if (at === bytes.length) {
      const key = Uint8Array.from({ length: 16 }, () => next() & 255);
      [bytes, at] = [rc4(key, length), 0];
    }
    return bytes[at++];
  };
}

function rc4(key: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  const S = Uint8Array.from({ length: 256 }, (_, i) => i);
  for (let i = 0, j = 0; i < 256; i++) {
    j = (j + S[i] + key[i % key.length]) & 255;
    [S[i], S[j]] = [S[j], S[i]];
  }
  const output = new Uint8Array(length);
  for (let k = 0, i = 0, j = 0; k < length; k++) {
    i = (i + 1) & 255;
    j = (j + S[i]) & 255;
    [S[i], S[j]] = [S[j], S[i]];
    output[k] = S[(S[i] + S[j]) & 255];
  }
  return output;
}

function middleSquareWeyl(): () => number {
  const M = (1n << 64n) - 1n;
  let [x, w] = [0n, 0n];
  return () => {
    w = (w + 0xb5ad4eceda1ce2a9n) & M;
    x = (x * x + w) & M;
    x = (x >> 32n) | ((x << 32n) & M);
    return Number(x & 0xffff_ffffn);
  };
}

/** Marsaglia's KISS of 1999, and its parts. */
function kiss99(): () => number {
  let [z, w, jsr, jcong] = [362436069, 521288629, 123456789, 380116160];
  return () => {
    z = (Math.imul(36969, z & 65535) + (z >>> 16)) >>> 0;
    w = (Math.imul(18000, w & 65535) + (w >>> 16)) >>> 0;
    jsr ^= jsr << 17;
    jsr ^= jsr >>> 13;
    jsr ^= jsr << 5;
    jcong = (Math.imul(69069, jcong) + 1234567) >>> 0;
    return ((((z << 16) + w) ^ jcong) + jsr) >>> 0;
  };
}

export const COUNTERS: readonly ZooGenerator[] = [
  { name: 'counter', source: 'the numbers 0, 1, 2, …', width: 32, start: counter((i) => i) },
  {
    name: 'weyl',
    source: 'multiples of 2654435769 mod 2^32 (Knuth’s multiplicative hash of a counter)',
    width: 32,
    start: counter((i) => Math.imul(i, 2654435769) >>> 0),
  },
  {
    name: 'weyl64-top32',
    source: 'multiples of 0x9e3779b97f4a7c15 mod 2^64: bits 32 to 63',
    width: 32,
    start: () => {
      let x = 0n;
      return () => {
        x = (x + 0x9e3779b97f4a7c15n) & ((1n << 64n) - 1n);
        return Number(x >> 32n);
      };
    },
  },
  { name: 'fnv1a-counter', source: 'FNV-1a of a counter', width: 32, start: counter(fnv1a) },
  {
    name: 'one-at-a-time',
    source: 'Jenkins’ one-at-a-time hash of a counter',
    width: 32,
    start: counter(oneAtATime),
  },
  { name: 'crc32-counter', source: 'CRC-32 of a counter', width: 32, start: counter(crc32) },
  {
    name: 'murmur-counter',
    source: 'fmix32 of MurmurHash3 of a counter',
    width: 32,
    start: counter(murmur),
  },
  {
    name: 'sine',
    source: 'fract(43758.5453 sin(12.9898 i)), of many shaders: 24 bits',
    width: 24,
    start: counter((i) => {
      const x = 43758.5453 * Math.sin(12.9898 * i);
      return Math.floor((x - Math.floor(x)) * 2 ** 24);
    }),
  },
  {
    name: 'glibc-srand-counter',
    source: 'the first rand() of glibc after srand(1), srand(2), …: bits 0 to 23',
    width: 24,
    start: counter((i) => glibcRandom(31, 3, i + 1)() & 0xffffff),
  },
  {
    name: 'mt19937-seed-counter',
    source: 'the first output of MT19937 under the seeds 0, 1, 2, …',
    width: 32,
    start: counter(firstOfMt),
  },
  {
    name: 'aes-16-bit-keys',
    source: 'blocks of 4,096 bytes of AES under keys from 16 bits of entropy',
    width: 32,
    start: () => {
      const key = seeds();
      let [next, left] = [() => 0, 0];
      return () => {
        if (left === 0) {
          next = keyed(key() & 65535);
          left = 1024;
        }
        left--;
        return next();
      };
    },
  },
  {
    name: 'rc4-starts',
    source: 'the first 16 bytes of RC4 under random keys',
    width: 8,
    start: () => rc4Starts(16),
  },
  {
    name: 'msws',
    source: 'Widynski (2017), middle-square Weyl',
    width: 32,
    start: middleSquareWeyl,
  },
  { name: 'kiss99', source: 'Marsaglia (1999), KISS', width: 32, start: kiss99 },
  {
    name: 'splitmix64',
    source: 'Steele, Lea and Flood (2014)',
    width: 32,
    start: () => {
      const M = (1n << 64n) - 1n;
      let x = 0n;
      return halves(() => {
        x = (x + 0x9e3779b97f4a7c15n) & M;
        let z = ((x ^ (x >> 30n)) * 0xbf58476d1ce4e5b9n) & M;
        z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & M;
        return z ^ (z >> 31n);
      });
    },
  },
];

/** The first output of MT19937 depends on the words 0, 1 and 397 of its state. */
function firstOfMt(seed: number): number {
  return mt19937(seed)();
}

function keyed(key: number): () => number {
  const bytes = Buffer.alloc(32);
  bytes.writeUInt32LE(key);
  const block = createCipheriv('aes-256-ctr', bytes, Buffer.alloc(16)).update(Buffer.alloc(4096));
  let at = 0;
  return () => {
    at += 4;
    return block.readUInt32LE(at - 4);
  };
}

/** A copy of the bit `lag` places earlier, once in `every` bits on average. */
function copies(lag: number, every: number): () => number {
  const next = cipherWords('aes-256-ctr', 11);
  const past = new Uint8Array(lag);
  let i = 0;
  return () => {
    const word = next();
    if (word >= 2 ** 32 / every) past[i] = word & 1;
    const bit = past[i];
    i = (i + 1) % lag;
    return bit;
  };
}

export const DEFECTS: readonly ZooGenerator[] = [
  {
    name: 'bias-0.501',
    source: 'independent bits, 1 in 50.1 %',
    width: 1,
    start: () => biased(() => 0.501),
  },
  {
    name: 'bias-0.5005',
    source: 'independent bits, 1 in 50.05 %',
    width: 1,
    start: () => biased(() => 0.5005),
  },
  {
    name: 'slow-bias',
    source: 'a share of ones of 0.5 + 0.004 sin(2π i / 10^6)',
    width: 1,
    start: () => biased((i) => 0.5 + 0.004 * Math.sin((2 * Math.PI * i) / 1e6)),
  },
  {
    name: 'hum-bias',
    source: 'a share of ones of 0.5 + 0.004 sin(2π i / 2000)',
    width: 1,
    start: () => biased((i) => 0.5 + 0.004 * Math.sin((2 * Math.PI * i) / 2000)),
  },
  {
    name: 'markov-0.002',
    source: 'each bit equals the one before with probability 0.501',
    width: 1,
    start: () => {
      const next = biased(() => 0.501);
      let bit = 0;
      return () => {
        bit ^= 1 - next();
        return bit;
      };
    },
  },
  {
    name: 'period-2^20',
    source: 'AES, repeated after 2^20 bits',
    width: 32,
    start: () => {
      const next = cipherWords('aes-256-ctr', 5);
      const words = Uint32Array.from({ length: 2 ** 15 }, next);
      let i = 0;
      return () => words[i++ % words.length];
    },
  },
  {
    name: 'copies-1000',
    source: 'one bit in 200 is that 1,000 places earlier',
    width: 1,
    start: () => copies(1000, 200),
  },
  {
    name: 'parity-words',
    source: 'AES, the top bit of each word replaced by the parity of the others',
    width: 32,
    start: () => {
      const next = cipherWords('aes-256-ctr', 6);
      return () => {
        const x = next() & 0x7fffffff;
        let y = x ^ (x >>> 16);
        y ^= y >>> 8;
        y ^= y >>> 4;
        return (x | (((0x6996 >>> (y & 15)) & 1) << 31)) >>> 0;
      };
    },
  },
  {
    name: 'modulo-bias',
    source: 'AES, bytes by (16-bit number) mod 255, a common mistake',
    width: 8,
    start: () => {
      const next = cipherWords('aes-256-ctr', 8);
      return () => (next() & 65535) % 255;
    },
  },
  {
    name: 'no-repeats',
    source: 'AES, a byte equal to the one before is drawn again',
    width: 8,
    start: () => {
      const next = cipherWords('aes-256-ctr', 10);
      let last = -1;
      return () => {
        let byte = next() & 255;
        while (byte === last) byte = next() & 255;
        last = byte;
        return byte;
      };
    },
  },
];

export const CONTROLS: readonly ZooGenerator[] = [
  {
    name: 'aes-256-ctr',
    source: 'FIPS 197, SP 800-38A',
    width: 32,
    sound: true,
    start: () => cipherWords('aes-256-ctr', 1),
  },
  {
    name: 'chacha20',
    source: 'RFC 8439',
    width: 32,
    sound: true,
    start: () => cipherWords('chacha20', 1),
  },
  {
    name: 'sha-256',
    source: 'FIPS 180-4, of a counter',
    width: 32,
    sound: true,
    start: () => {
      let [i, at, block] = [0, 32, Buffer.alloc(32)];
      return () => {
        if (at === 32) [at, block] = [0, createHash('sha256').update(`zoo ${i++}`).digest()];
        at += 4;
        return block.readUInt32LE(at - 4);
      };
    },
  },
];
