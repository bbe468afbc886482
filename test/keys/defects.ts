/**
 * The table of broken generators. Each row replaces the sound CTR_DRBG. The tests count its released keys,
 * and `docs/evidence/defects.md` publishes the counts.
 *
 * A row changes the output of a working DRBG, request by request, with a fixed seed. So every run is the
 * same, and the parts around the DRBG work as in operation.
 */
import { createHash } from 'node:crypto';
import {
  type Alter,
  bits,
  bytes,
  javaRandom,
  lfsr31,
  mathRandom,
  mersenneTwister,
  Noise,
  pieces,
  randLowByte,
  randu,
  rc4,
} from './weak-sources.ts';

/**
 * How a defect is found.
 *
 * `sample`: the suite finds it in one sample of 2^20 bits, or in two samples in a row.
 * `rate`: it is near the limit of one sample; the page says how often the suite finds it.
 * `tally`: few samples show it; the third failure within about 1,000 verdicts latches.
 * `repeat`: no sample shows it, but a key repeats, and the ledger refuses it.
 * `key`: no sample shows it; the test for repeated blocks in a key's carrier finds it at once.
 * `none`: no statistical test of the output can find it, or no test of this suite does.
 */
export type Sight = 'sample' | 'rate' | 'tally' | 'repeat' | 'key' | 'none';

export interface Defect {
  readonly name: string;
  /** Description of the defect. */
  readonly does: string;
  /** How the sample of a stream shows it, for keys with evidence; also for plain keys unless `plain` is given. */
  readonly sight: Sight;
  /** How the sample between keys shows it, for plain keys, if it differs. */
  readonly plain?: Sight;
  /** Reason why no sample shows it; null if one does. */
  readonly because: string | null;
  /** Changes the output of each request. */
  readonly breaks?: (seed: number) => Alter;
  /** Changes reseeding. */
  readonly reseeding?: 'skipped' | 'constant';
  /** The only request after a reseed that it breaks; default all. */
  readonly request?: 1 | 2;
  /** Share of reseeds after which it breaks the output until the next reseed; default all. */
  readonly share?: number;
}

const BLOCK_BYTES = 16;

/** A key takes requests of at most 32 bytes, the phases of a stream one of 64. */
const PHASES_BYTES = 64;

/** A key of 256 bits is one request of this length. */
const KEY_BYTES = 32;

/** Sends each group of `size` bytes twice: the second half of a request's output is never sent. */
function twice(size: number): Alter {
  return (output) => {
    const sent = Buffer.from(output);
    for (let at = 0; at < output.length; at += size) {
      const from = size * Math.floor(at / (2 * size));
      sent.copy(output, at, from, from + size);
    }
    sent.fill(0);
  };
}

/** Each bit differs from the one before with probability `flip`, across requests as well. */
function markov(flip: number): (seed: number) => Alter {
  return (seed) => {
    const noise = new Noise(seed, 'markov');
    let last = 0;
    return bits(() => {
      last ^= noise.bit(flip);
      return last;
    });
  };
}

function biased(p: number): (seed: number) => Alter {
  return (seed) => {
    const noise = new Noise(seed, 'biased');
    return bits(() => noise.bit(p));
  };
}

/** The stream repeats with a period of `lengthBytes`, across requests. */
function period(lengthBytes: number): (seed: number) => Alter {
  return (seed) => {
    const cycle = new Noise(seed, 'period').bytes(lengthBytes);
    return pieces(() => cycle);
  };
}

const masked = (mask: (byte: number, index: number) => number) => (): Alter => (output) => {
  for (let i = 0; i < output.length; i++) output[i] = mask(output[i], i);
};

/** One bit in each `every` bytes is always zero. */
const stuck = (every: number) => masked((byte, i) => (i % every === 0 ? byte & 0x7f : byte));

function evenParity(byte: number): number {
  const folded = byte ^ (byte >> 4);
  return byte ^ ((0x6996 >> (folded & 15)) & 1);
}

/** Converts the output as other software did, and cuts it to the requested length. */
function converted(convert: (sound: Buffer) => Buffer): (seed: number) => Alter {
  return (seed) => {
    const noise = new Noise(seed, 'converted');
    return pieces(() => convert(noise.bytes(4_096)));
  };
}

/** Blocks of a big-endian counter, which begins at a random value with each request. */
function counter(output: Buffer): void {
  const start = output.subarray(0, BLOCK_BYTES).readUInt32BE(12) >>> 1;
  const head = Buffer.from(output.subarray(0, 12));
  for (let at = 0; at < output.length; at += BLOCK_BYTES) {
    const block = Buffer.alloc(BLOCK_BYTES);
    head.copy(block);
    block.writeUInt32BE(start + at / BLOCK_BYTES, 12);
    block.copy(output, at);
  }
}

/** Every request of a length returns the bytes of the first request of that length. */
function sameRequest(): Alter {
  const first = new Map<number, Buffer>();
  return (output) => {
    const kept = first.get(output.length);
    if (kept) kept.copy(output);
    else first.set(output.length, Buffer.from(output));
  };
}

/** Anyone who knows the seed, a number of six digits, knows every key. */
function hashCounter(seed: number): Alter {
  let count = 0;
  return pieces(() => createHash('sha256').update(`${seed} ${count++}`).digest());
}

/** RC4 with a new key for each request, its first bytes not dropped. */
function freshRc4(seed: number): Alter {
  const noise = new Noise(seed, 'rc4');
  return (output) => bytes(rc4(noise.bytes(BLOCK_BYTES)))(output);
}

/** The last 16-byte block of a request is the block before it: two blocks of 8,192 in a sample. */
function lastBlockTwice(output: Buffer): void {
  const at = output.length - BLOCK_BYTES;
  if (at >= BLOCK_BYTES) output.copy(output, at, at - BLOCK_BYTES, at);
}

/** The two halves of a request of 32 bytes are equal: a key of 256 bits has 128 bits at most. */
function halvesEqual(output: Buffer): void {
  if (output.length === KEY_BYTES) output.copy(output, BLOCK_BYTES, 0, BLOCK_BYTES);
}

/** Requests of at most `longest` bytes begin with the same bytes. */
function fixedHead(headBytes: number, longest = Infinity): (seed: number) => Alter {
  return (seed) => {
    const head = new Noise(seed, 'head').bytes(headBytes);
    return (output) => {
      if (output.length <= longest) head.copy(output);
    };
  };
}

/** Key requests are all zero; longer ones are sound. */
function keyZeros(output: Buffer): void {
  if (output.length < PHASES_BYTES) output.fill(0);
}

/** No defect: the control. */
export const SOUND: Defect = row('sound', 'a sound generator', 'none', undefined);

export const DEFECTS: readonly Defect[] = [
  // Constant and short cycles.
  row('zeros', 'all bits are zero', 'sample', () => (output) => output.fill(0)),
  row('constant-55', 'every byte is 0x55', 'sample', () => (output) => output.fill(0x55)),
  row(
    'block-cycle',
    'one 16-byte block over and over: a cipher without its counter',
    'sample',
    () => (output) => output.fill(Buffer.from(output.subarray(0, BLOCK_BYTES))),
  ),
  row('counter', "the DRBG's counter instead of the cipher's output", 'sample', () => counter),
  row('period-2^16', 'the stream repeats every 2^16 bits', 'sample', period(2 ** 13)),
  row('period-2^18', 'the stream repeats every 2^18 bits', 'sample', period(2 ** 15)),
  row('same-request', 'each request gives the bytes of the one before', 'sample', sameRequest),
  // Repetition.
  row('bits-twice', 'every bit is sent twice', 'sample', (seed) => {
    const noise = new Noise(seed, 'bits-twice');
    let last = 0;
    let isSecond = true;
    return bits(() => {
      isSecond = !isSecond;
      if (!isSecond) last = noise.bit(0.5);
      return last;
    });
  }),
  row('bytes-twice', 'every byte is sent twice', 'sample', () => twice(1)),
  row('words-twice', 'every 8-byte word is sent twice', 'sample', () => twice(8)),
  row('blocks-twice', 'every 16-byte block is sent twice', 'sample', () => twice(BLOCK_BYTES)),
  row(
    'half-twice',
    'the second half of each request repeats the first',
    'sample',
    () => (output) => {
      output.copy(output, output.length >> 1, 0, output.length >> 1);
    },
  ),
  // Starts of requests, which keys consist of.
  row(
    'fixed-head-16',
    'every request begins with the same 16 bytes',
    'sample',
    fixedHead(BLOCK_BYTES),
  ),
  row(
    'fixed-head-24',
    'every request of at most 64 bytes begins with the same 24 bytes',
    'sample',
    fixedHead(24, PHASES_BYTES),
  ),
  row(
    'key-zeros',
    'the requests that keys are cut from are all zero, longer ones are sound',
    'sample',
    () => keyZeros,
  ),
  // Dependence of neighbours.
  row(
    'markov-0.40',
    'a bit differs from the one before with probability 0.40',
    'sample',
    markov(0.4),
  ),
  row(
    'markov-0.45',
    'a bit differs from the one before with probability 0.45',
    'sample',
    markov(0.45),
  ),
  row(
    'markov-0.49',
    'a bit differs from the one before with probability 0.49',
    'sample',
    markov(0.49),
  ),
  row(
    'coupled-bits',
    'the lowest bit of each byte copies the bit above it',
    'sample',
    masked((byte) => (byte & 0xfe) | ((byte >> 1) & 1)),
  ),
  // Bias.
  row('or', 'a bit is the OR of two: three of four are ones', 'sample', biased(0.75)),
  row('bias-0.49', 'a bit is one with probability 0.49', 'sample', biased(0.49)),
  row(
    'modulo-100',
    'every byte is a remainder modulo 100',
    'sample',
    masked((byte) => byte % 100),
  ),
  row(
    'modulo-251',
    'every byte is a remainder modulo 251',
    'sample',
    masked((byte) => byte % 251),
  ),
  // Stuck and regular bits.
  row('stuck-byte', 'the top bit of each byte is zero', 'sample', stuck(1)),
  row(
    'stuck-one',
    'the lowest bit of each byte is one',
    'sample',
    masked((byte) => byte | 1),
  ),
  row('stuck-word', 'one bit of each 8-byte word is zero', 'sample', stuck(8)),
  row(
    'alternating-top',
    'the top bit of each byte alternates',
    'sample',
    masked((byte, i) => (byte & 0x7f) | ((i & 1) << 7)),
  ),
  row('parity', 'each byte has even parity', 'sample', masked(evenParity)),
  // Conversions that software gets wrong.
  row(
    'hex-text',
    'the bytes are hexadecimal digits in ASCII',
    'sample',
    converted((sound) => Buffer.from(sound.toString('hex'))),
  ),
  row(
    'base64-text',
    'the bytes are Base64 in ASCII',
    'sample',
    converted((sound) => Buffer.from(sound.toString('base64url'))),
  ),
  row(
    'utf-8',
    'the bytes went through a UTF-8 string',
    'sample',
    converted((sound) => Buffer.from(sound.toString('utf8'))),
  ),
  row(
    'line-ends',
    'each line feed became a carriage return and a line feed',
    'sample',
    converted((sound) => Buffer.from(sound.toString('latin1').replaceAll('\n', '\r\n'), 'latin1')),
  ),
  // Generators that are not ciphers.
  row('lfsr-31', 'a linear feedback shift register of 31 bits', 'sample', (seed) =>
    bits(lfsr31(seed * 7919 + 1)),
  ),
  row(
    'rand-low',
    'the lowest eight bits of the example of rand in the C standard',
    'sample',
    (seed) => bytes(randLowByte(seed)),
  ),
  // Near the limit of one sample.
  row('bias-0.496', 'a bit is one with probability 0.496', 'rate', biased(0.496)),
  row('bias-0.497', 'a bit is one with probability 0.497', 'rate', biased(0.497)),
  row(
    'markov-0.497',
    'a bit differs from the one before with probability 0.497',
    'rate',
    markov(0.497),
  ),
  row('stuck-block', 'one bit of each 16-byte block is zero', 'rate', stuck(16)),
  // Invisible in one sample.
  blind(
    'bias-0.499',
    'a bit is one with probability 0.499',
    biased(0.499),
    'A sample has some 2 standard deviations too few ones; the gate needs more than 5.',
  ),
  blind(
    'stuck-64',
    'one bit of each 64 bytes is zero',
    stuck(64),
    'One bit of 512 is too little for one sample.',
  ),
  {
    ...blind(
      'last-block-twice',
      'the last 16-byte block of a request is the block before it',
      () => lastBlockTwice,
      '50 repeated blocks among 8,192 are too few for one sample.',
    ),
    sight: 'key',
  },
  {
    ...blind(
      'halves-equal',
      'the two halves of a request of 32 bytes are equal',
      () => halvesEqual,
      '45 repeated blocks among 8,192 are too few for one sample.',
    ),
    sight: 'key',
  },
  blind(
    'mt19937',
    'the Mersenne Twister MT19937',
    (seed) => pieces(mersenneTwister(seed)),
    'Its recurrence has 19,937 bits; the suite looks for linear recurrences of up to some 250 bits. 624 words give all others away.',
  ),
  blind(
    'math-random',
    'xorshift128+, the generator behind Math.random of V8',
    (seed) => bytes(mathRandom(seed)),
    'The suite does not look for its structure. A few outputs give all others away.',
  ),
  blind(
    'java-random',
    'java.util.Random',
    (seed) => pieces(javaRandom(seed)),
    'The suite does not look for its structure. Two outputs give all others away.',
  ),
  blind(
    'randu',
    'bits 23 to 30 of RANDU',
    (seed) => bytes(randu(seed * 7919 + 1)),
    'Its triples lie in 15 planes, so its patterns are too evenly spread. One sample is too short to show it.',
  ),
  blind(
    'rc4',
    'RC4 with a new key for each request',
    freshRc4,
    'Its strong biases are in the first bytes of a request. A sample has 54 requests, too few to show them.',
  ),
  blind(
    'known-seed',
    'SHA-256 of a known number and a counter',
    hashCounter,
    'The output is sound; only the seed is known. No test of the output can find that.',
  ),
  {
    ...blind(
      'no-reseed',
      'reseeding does nothing',
      undefined,
      'The output is sound. The known-answer tests of the DRBG check reseeding; this suite cannot.',
    ),
    reseeding: 'skipped',
  },
  {
    ...blind(
      'constant-entropy',
      'every reseed is given the same entropy',
      undefined,
      'The output is sound. The health tests of the source look for a constant; this suite cannot.',
    ),
    reseeding: 'constant',
  },
  {
    ...blind(
      'period-2^20',
      'the stream repeats every 2^20 bits',
      period(2 ** 17),
      'The period is as long as the sample.',
    ),
    sight: 'repeat',
  },
  {
    ...blind(
      'period-2^21',
      'the stream repeats every 2^21 bits',
      period(2 ** 18),
      'The period is longer than the sample.',
    ),
    sight: 'repeat',
  },
  // Defects that only one of the two kinds of samples shows.
  {
    ...blind(
      'second-request-head',
      'the second request after a reseed begins with the same 16 bytes: that of a plain key',
      fixedHead(BLOCK_BYTES),
      'The sample of a stream has nine such requests, too few to show it. A validated key is cut from a later one, which is sound.',
    ),
    plain: 'sample',
    request: 2,
  },
  {
    ...blind(
      'first-request-head',
      'the first request after a reseed begins with the same 16 bytes: phases, and the second half of a 384-bit key',
      fixedHead(BLOCK_BYTES),
      'The sample of a stream has nine such requests, too few to show it; the sample between keys has 72.',
    ),
    plain: 'sample',
    request: 1,
  },
  {
    ...blind(
      'some-reseeds-5%',
      'after 5 % of the reseeds, every byte is sent twice',
      () => twice(1),
      'A sample of a stream has nine reseeds, so 37 % of the streams show it, and no key is cut from those. Of the plain keys that it breaks, 46 % fail an exact test.',
    ),
    sight: 'rate',
    plain: 'rate',
    share: 0.05,
  },
  {
    ...blind(
      'some-reseeds-1%',
      'after 1 % of the reseeds, every byte is sent twice',
      () => twice(1),
      'The same, in 9 % of the streams.',
    ),
    sight: 'tally',
    plain: 'tally',
    share: 0.01,
  },
  {
    ...blind(
      'some-reseeds-parity',
      'after 5 % of the reseeds, each byte has even parity',
      masked(evenParity),
      'The same, in 37 % of the streams. No exact test of a plain key shows it. Eight long parts of a sample between keys follow reseeds of their own.',
    ),
    sight: 'rate',
    plain: 'rate',
    share: 0.05,
  },
];

function row(name: string, does: string, sight: Sight, breaks: Defect['breaks']): Defect {
  return { name, does, sight, because: null, ...(breaks ? { breaks } : {}) };
}

function blind(name: string, does: string, breaks: Defect['breaks'], because: string): Defect {
  return { ...row(name, does, 'none', breaks), because };
}
