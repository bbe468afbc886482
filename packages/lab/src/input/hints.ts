/**
 * Hints: signs at the start of what is tested that it is no stream of bits, although nothing says what it is. They stand in the
 * report, name what would read it right, and never change a verdict.
 *
 * A sound source gets one with a probability below 2 · 10^-8, the sum of the bounds that stand at each: 10^-10 for constant
 * bits, 2 · 10^-10 for signs, 10^-8 for halves, 10^-12 for ranges, 10^-13 for a header and 2 · 10^-12 for blocks.
 */
import { grouped } from '../../../sp800-22/src/index.ts';
import type { InputSequence } from './reader.ts';

/** Bytes that are looked at. */
export const HINT_BYTES = 65_536;

/** Words that decide. A bit of a sound source is the same in 40 words with a probability of 2^-39: 56 bits, 10^-10. */
const FEWEST_WORDS = 40;

const WIDTHS = [8, 16, 32] as const;

/** Collects what is tested. */
export class HintCollector {
  readonly #bytes = new Uint8Array(HINT_BYTES);
  #bits = 0;

  add({ bytes, offsetBits, bits }: InputSequence): void {
    const taken = Math.min(bits, 8 * HINT_BYTES - this.#bits);
    const whole = (offsetBits | this.#bits) % 8 === 0 ? taken >>> 3 : 0;
    this.#bytes.set(bytes.subarray(offsetBits >>> 3, (offsetBits >>> 3) + whole), this.#bits >>> 3);
    this.#addBits(
      { bytes, offsetBits: offsetBits + 8 * whole },
      this.#bits + 8 * whole,
      taken - 8 * whole,
    );
    this.#bits += taken;
  }

  #addBits(
    { bytes, offsetBits }: Pick<InputSequence, 'bytes' | 'offsetBits'>,
    start: number,
    count: number,
  ): void {
    for (let i = 0, from = offsetBits, to = start; i < count; i++, from++, to++) {
      const bit = ((bytes[from >>> 3] as number) >>> (7 - (from & 7))) & 1;
      if (bit === 1) this.#bytes[to >>> 3] = (this.#bytes[to >>> 3] as number) | (128 >>> (to & 7));
    }
  }

  /** Wipes what was collected, and returns what it shows. `offset`: bits that were skipped before it; `format`: how it was read. */
  end(offset: number, format: string): string[] {
    const bytes = this.#bytes.subarray(0, this.#bits >>> 3);
    const hints = hintsOn(bytes, offset, format);
    this.#bytes.fill(0);
    this.#bits = 0;
    return hints;
  }
}

/** Returns what bytes show, as sentences without a full stop. */
export function hintsOn(bytes: Uint8Array, offset = 0, format = 'binary'): string[] {
  if (bytes.length < FEWEST_WORDS || bytes.every((byte) => byte === bytes[0])) return [];
  if (bytes.every(isText)) return ['what is tested begins as a text: give its format'];
  const header = headerBytes(bytes);
  // The hints on what follows a header are not those on the header.
  const body = bytes.subarray(header);
  const hints = [
    headerHint(header, offset),
    rangeHint(body, header === 0 ? offset : 0, format) ??
      widthHint(body, format) ??
      halvesHint(body),
    blocksHint(body, header),
  ];
  return hints.filter((hint) => hint !== null);
}

/** The bits of the numbers that a format reads from text or packs without gaps; null for other formats. */
function numberBits(format: string): number | null {
  const found = /^(?:gzip:)?(?:csv:\d+:|numbers:|packed|u(?=\d+in))(\d+)/.exec(format);
  const bits = Number(found?.[1] ?? 0);
  return bits > 1 && bits <= MOST_NUMBER_BITS ? bits : null;
}

const MOST_NUMBER_BITS = 32;

/** Numbers of `bits` bits have only R values in a row with a probability of at most 2^bits · (R / 2^bits)^n. */
const RANGE_LOG = Math.log(1e-12);

/** Numbers that use only a part of their values, such as those of a die: their bits are uneven for every generator. */
function rangeHint(bytes: Uint8Array, offset: number, format: string): string | null {
  const bits = numberBits(format);
  if (bits === null) return null;
  const { lowest, highest, count } = rangeOf(bytes, bits, (bits - (offset % bits)) % bits);
  const values = highest - lowest + 1;
  if (values === 1) return `every number is ${grouped(lowest)}`;
  if (bits * Math.LN2 + count * Math.log(values / 2 ** bits) >= RANGE_LOG) return null;
  const range = `the numbers of ${bits} bits go from ${grouped(lowest)} to ${grouped(highest)} only`;
  const whole = Math.floor(Math.log2(values));
  return values === 2 ** whole
    ? `${range}: ${lowest === 0 ? '' : `less ${grouped(lowest)} `}they need ${whole} bits`
    : `${range}. These ${grouped(values)} values hold no whole number of bits: leave out all numbers but ${grouped(2 ** whole)} values, and give these as numbers from 0 up, of ${whole} bits`;
}

/** Returns the range of the whole numbers that follow each other from bit `from` on. */
function rangeOf(bytes: Uint8Array, bits: number, from: number) {
  const count = Math.floor((8 * bytes.length - from) / bits);
  let [lowest, highest] = [Number.POSITIVE_INFINITY, 0];
  for (let i = 0, at = from; i < count; i++) {
    let number = 0;
    for (const end = at + bits; at < end; at++) {
      number = 2 * number + (((bytes[at >>> 3] as number) >>> (7 - (at & 7))) & 1);
    }
    lowest = Math.min(lowest, number);
    highest = Math.max(highest, number);
  }
  return { lowest, highest, count };
}

type Order = 'le' | 'be';

/** Returns the values of the bits of words: 0 or 1 if all words have it, else 2. Bit 0 is the lowest. */
function bitsOf(bytes: Uint8Array, width: number, order: Order): number[] {
  const size = width / 8;
  const words = Math.floor(bytes.length / size);
  const ones = new Uint8Array(size);
  const zeros = new Uint8Array(size).fill(255);
  for (let at = 0; at < words * size; at++) {
    const place = at % size;
    ones[place] = (ones[place] as number) | (bytes[at] as number);
    zeros[place] = (zeros[place] as number) & (bytes[at] as number);
  }
  return Array.from({ length: width }, (_, bit) => {
    const place = order === 'le' ? bit >>> 3 : size - 1 - (bit >>> 3);
    const mask = 1 << (bit & 7);
    if (((ones[place] as number) & mask) === 0) return 0;
    return ((zeros[place] as number) & mask) === 0 ? 2 : 1;
  });
}

/** Bits that never change, in the narrowest words that have any; or upper bits that repeat the sign. */
function widthHint(bytes: Uint8Array, format: string): string | null {
  for (const width of WIDTHS) {
    if (bytes.length < FEWEST_WORDS * (width / 8)) break;
    // Samples are given the most significant byte first, whatever their order was.
    const orders: readonly Order[] = width === 8 || format !== 'binary' ? ['be'] : ['le', 'be'];
    const hints = orders.map((order) => constantHint(bytes, { width, order, format }));
    const hint = hints.find((one) => one?.isRange) ?? hints[0];
    if (hint) return hint.text;
    for (const order of orders) {
      const sign = signHint(bytes, { width, order, format });
      if (sign) return sign;
    }
  }
  return null;
}

function constantHint(
  bytes: Uint8Array,
  words: Words,
): { readonly text: string; readonly isRange: boolean } | null {
  const { width, order } = words;
  const bits = bitsOf(bytes, width, order);
  const constant = [...bits.keys()].filter((bit) => bits[bit] !== 2);
  if (constant.length === 0) return null;
  const low = bits.indexOf(2);
  const high = bits.lastIndexOf(2);
  const isRange = high - low + 1 === width - constant.length;
  const name = constant.length === 1 ? `bit ${constant[0]}` : `bits ${constant.join(', ')}`;
  const never = `${name} of every ${noun(words)} never ${constant.length === 1 ? 'changes' : 'change'}`;
  const format = isRange ? formatOfBits(words, low, high) : null;
  const text = format
    ? `${never}: the format ${format} leaves ${constant.length === 1 ? 'it' : 'them'} out`
    : `${never}: this is a defect of the generator, or the input has another form`;
  return { text, isRange };
}

/** The two highest bits of 40 words are equal with a probability of 2^-40: 5 kinds of words and 32 widths, 2 · 10^-10. */
function signHint(bytes: Uint8Array, of: Words): string | null {
  const { width, order } = of;
  const size = width / 8;
  const words = Math.floor(bytes.length / size);
  let low = 0;
  for (let i = 0; i < words && low < width - 1; i++) {
    const bitAt = (bit: number): number => {
      const place = order === 'le' ? bit >>> 3 : size - 1 - (bit >>> 3);
      return ((bytes[i * size + place] as number) >>> (bit & 7)) & 1;
    };
    // The lowest bit from which on all are equal to the highest.
    let bit = width - 1;
    while (bit > low && bitAt(bit - 1) === bitAt(width - 1)) bit--;
    low = bit;
  }
  if (low >= width - 1) return null;
  const format = formatOfBits(of, 0, low, true);
  const how = format ? `the format ${format} leaves them out` : 'leave them out';
  return `the upper bits of every ${noun(of)} repeat its sign: ${how}`;
}

/** Words of what was read, and the format in which it was. */
interface Words {
  readonly width: number;
  readonly order: Order;
  readonly format: string;
}

function noun({ width, order, format }: Words): string {
  if (width === 8) return 'byte';
  if (format !== 'binary') return `${width}-bit word`;
  return `${width}-bit word (${order === 'le' ? 'little' : 'big'}-endian)`;
}

/** Returns the format that takes some bits of the words; null if the input's form has no such option. */
function formatOfBits(
  { width, order, format }: Words,
  low: number,
  high: number,
  isSigned = false,
): string | null {
  if (format === 'binary') {
    const suffix = width === 8 ? '' : order;
    return isSigned ? `s${high + 1}in${width}${suffix}` : `u${width}${suffix}:${low}-${high}`;
  }
  const found = /^(?:[us](\d+)(?:le|be)?|npy|wav(?::(?:all|\d+))?)$/.exec(format);
  const isOfWidth = found && (found[1] ?? String(width)) === String(width);
  return isOfWidth ? `${format}:${low}-${high}` : null;
}

/**
 * Pairs of half bytes, which a sound source has alike: for each of 16 values, the difference of the two counts is a sum of n
 * independent terms from -1 to 1 with mean 0 and variance v = 2 · 1/16 · 15/16. By Bernstein's inequality it is t or more with a
 * probability of at most exp(-t² / (2 n v + 2 t / 3)) = exp(-L) for the t below. Two comparisons, 16 values and two signs
 * give 64 exp(-L) = 10^-8.
 */
const HALVES_LOG = Math.log(64e8);
const HALVES_VARIANCE = (2 * 15) / 256;

function limitOf(n: number): number {
  const third = HALVES_LOG / 3;
  return third + Math.sqrt(third ** 2 + 2 * n * HALVES_VARIANCE * HALVES_LOG);
}

function halvesHint(bytes: Uint8Array): string | null {
  const upper = (at: number): number => (bytes[at] as number) >>> 4;
  const lower = (at: number): number => (bytes[at] as number) & 15;
  const pairs = bytes.length >>> 1;
  if (
    differ(
      pairs,
      (i) => upper(2 * i),
      (i) => upper(2 * i + 1),
    )
  ) {
    return 'the first and the second byte of 16-bit words are distributed differently, as in samples: formats such as u16le:0-7 take some of their bits';
  }
  if (!differ(bytes.length, upper, lower)) return null;
  return 'the upper and the lower half of the bytes are distributed differently, as in samples or text: formats such as u8:0-3 take some of their bits';
}

function differ(n: number, one: (i: number) => number, other: (i: number) => number): boolean {
  const differences = new Array<number>(16).fill(0);
  for (let i = 0; i < n; i++) {
    const [first, second] = [one(i), other(i)];
    differences[first] = (differences[first] as number) + 1;
    differences[second] = (differences[second] as number) - 1;
  }
  const limit = limitOf(n);
  return differences.some((difference) => Math.abs(difference) > limit);
}

/** Of 256 bytes 100 are printable: 32 in a row have a probability of 9 · 10^-14. */
const FEWEST_CHARACTERS = 32;

function isText(byte: number): boolean {
  return (byte >= 9 && byte <= 13) || (byte >= 32 && byte < 127);
}

/** Returns the length of a text before other bytes, and of the zeros that fill it up; 0 if there is none. */
function headerBytes(bytes: Uint8Array): number {
  const end = bytes.findIndex((byte) => !isText(byte));
  if (end < FEWEST_CHARACTERS) return 0;
  return (
    end +
    Math.max(
      0,
      bytes.subarray(end).findIndex((byte) => byte !== 0),
    )
  );
}

function headerHint(header: number, offset: number): string | null {
  if (header === 0) return null;
  return `what is tested begins with a text of about ${header} characters, such as a header: an offset of about ${offset + 8 * header} bits skips it`;
}

/** Blocks of 8 bytes: 8,192 have 3.4 · 10^7 pairs, of which one is equal with a probability of 2 · 10^-12. */
function blocksHint(bytes: Uint8Array, start: number): string | null {
  const places = new Map<bigint, number>();
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at + 8 <= bytes.length; at += 8) {
    const block = view.getBigUint64(at);
    const before = places.get(block);
    if (before !== undefined) {
      return `the same 8 bytes stand at bytes ${start + before} and ${start + at} of what is tested: the input has copies, padding or a period`;
    }
    places.set(block, at);
  }
  return null;
}
