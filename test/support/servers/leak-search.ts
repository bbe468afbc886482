/**
 * Finds secrets in recorded bytes, in every form in which a program might write them: raw, hexadecimal, base64,
 * base64url, and lists of decimal numbers.
 *
 * Each form is read as a stream of digits that carry 8, 4 or 6 bits. Characters that are not digits are skipped,
 * so that line breaks and separators hide nothing. At every digit the last 64 bits of the stream are looked up
 * among windows of the secrets. A window begins at every fourth byte of a secret, so base64 finds a whole secret
 * at each of its three alignments. A piece of 11 bytes is found raw and in hexadecimal.
 */

export type Form = 'raw' | 'hexadecimal' | 'base64' | 'decimal';

interface Leak {
  readonly secret: string;
  readonly form: Form;
  /** Where the window ends in the searched bytes. */
  readonly end: number;
}

/** Bytes of a window. A chance hit has probability 2^-64 for each window and digit. */
const WINDOW = 8;

/** Distance between windows: prime to 3, the number of alignments of base64. */
const STRIDE = 4;

/** The shortest secret: it has windows at all three alignments. */
const MIN_SECRET = WINDOW + 2 * STRIDE;

const FILTER_BITS = 24;

/** Values of digits by byte; -1 for other characters. */
function digitTable(digits: readonly string[]): Int8Array {
  const table = new Int8Array(256).fill(-1);
  for (const alphabet of digits) {
    for (const [value, digit] of [...alphabet].entries()) table[digit.charCodeAt(0)] = value;
  }
  return table;
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const WORDS = `${LETTERS}${LETTERS.toLowerCase()}0123456789`;
const HEXADECIMAL = digitTable(['0123456789abcdef', '0123456789ABCDEF']);
const BASE64 = digitTable([`${WORDS}+/`, `${WORDS}-_`]);
const RAW = Int16Array.from({ length: 256 }, (_, byte) => byte);

interface Window {
  readonly high: number;
  readonly secret: string;
}

export class LeakSearch {
  /** One bit for each hash of a window. */
  readonly #filter = new Uint8Array(2 ** (FILTER_BITS - 3));
  /** By the last 32 bits of a window. */
  readonly #windows = new Map<number, Window[]>();
  #secrets = 0;

  /** Number of secrets. */
  get size(): number {
    return this.#secrets;
  }

  /** Adds a secret of at least 16 bytes. `name` identifies it in a leak. */
  add(name: string, secret: Uint8Array): void {
    if (secret.length < MIN_SECRET) {
      throw new RangeError(`"secret" expected ${MIN_SECRET} bytes or more, got ${secret.length}`);
    }
    this.#secrets += 1;
    const view = new DataView(secret.buffer, secret.byteOffset, secret.length);
    for (let at = 0; at + WINDOW <= secret.length; at += STRIDE) {
      const [high, low] = [view.getInt32(at), view.getInt32(at + 4)];
      const place = hashOf(high, low);
      this.#filter[place >>> 3] = (this.#filter[place >>> 3] as number) | (1 << (place & 7));
      const others = this.#windows.get(low);
      if (others) others.push({ high, secret: name });
      else this.#windows.set(low, [{ high, secret: name }]);
    }
  }

  /** Returns the leaks in these bytes. */
  search(bytes: Uint8Array): Leak[] {
    const decimals = readDecimals(bytes);
    return [
      ...this.#scan(bytes, RAW, 8, 'raw'),
      ...this.#scan(bytes, HEXADECIMAL, 4, 'hexadecimal'),
      ...this.#scan(bytes, BASE64, 6, 'base64'),
      ...this.#scan(decimals, RAW, 8, 'decimal'),
    ];
  }

  #scan(bytes: Uint8Array, digits: Int8Array | Int16Array, bits: number, form: Form): Leak[] {
    const leaks: Leak[] = [];
    const [filter, rest] = [this.#filter, 32 - bits];
    let high = 0;
    let low = 0;
    for (let i = 0; i < bytes.length; i++) {
      const digit = digits[bytes[i] as number] as number;
      if (digit < 0) continue;
      high = (high << bits) | (low >>> rest);
      low = (low << bits) | digit;
      const place = hashOf(high, low);
      if (((filter[place >>> 3] as number) >>> (place & 7)) & 1) {
        const secret = this.#find(high, low);
        if (secret !== undefined) leaks.push({ secret, form, end: i + 1 });
      }
    }
    return leaks;
  }

  #find(high: number, low: number): string | undefined {
    return this.#windows.get(low)?.find((window) => window.high === high)?.secret;
  }
}

function hashOf(high: number, low: number): number {
  return Math.imul(low ^ Math.imul(high, 0x85eb_ca6b), 0x9e37_79b1) >>> (32 - FILTER_BITS);
}

const [ZERO, NINE, QUOTE] = [0x30, 0x39, 0x22];

/**
 * Returns the decimal numbers below 256 as bytes, as JSON writes a buffer: `[1,2,3]` or `{"0":1,"1":2}`, where the
 * quoted numbers are names.
 */
function readDecimals(bytes: Uint8Array): Uint8Array {
  const numbers = new Uint8Array(bytes.length);
  let count = 0;
  let number = -1;
  for (let i = 0; i <= bytes.length; i++) {
    const byte = bytes[i] ?? 0;
    if (byte >= ZERO && byte <= NINE) {
      number = Math.min(256, Math.max(0, number) * 10 + byte - ZERO);
      continue;
    }
    if (number >= 0 && number < 256 && byte !== QUOTE) numbers[count++] = number;
    number = -1;
  }
  return numbers.subarray(0, count);
}
