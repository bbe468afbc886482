/** Recognises texts and compressed data, which look like a broken generator if they are read as binary. */
import type { TextFormat } from './bits.ts';

/** Bytes at the start of an input that decide. */
const HEAD_BYTES = 64;

/** Fewer bytes decide nothing: 13 hold the 100 bits that the shortest test needs. */
const MINIMUM_HEAD_BYTES = 13;

const BYTE_ORDER_MARK = '\u00ef\u00bb\u00bf';
const ASCII = /^[01\t-\r ]*[01][01\t-\r ]*$/;
const HEX = /^[0-9a-fx\t-\r ,:_-]*[0-9a-f][0-9a-fx\t-\r ,:_-]*$/i;

/**
 * Returns what the first bytes of an input look like, or `null` for anything else. Random bytes look like a text or
 * gzip with a probability below 10^-9: 9 · 10^-11 for gzip, and at most 4 · 10^-12 for hex, because 34 of 256 bytes occur
 * in it. Numbers that may be decimal, or that may lack leading zeros, are no hexadecimal digits: their bits would be wrong.
 */
export function guessFormat(head: Uint8Array): TextFormat | 'gzip' | null {
  if (head.length < MINIMUM_HEAD_BYTES) return null;
  if (isGzip(head)) return 'gzip';
  const text = String.fromCharCode(...head.subarray(0, HEAD_BYTES));
  const digits = text.startsWith(BYTE_ORDER_MARK) ? text.slice(BYTE_ORDER_MARK.length) : text;
  if (ASCII.test(digits)) return 'ascii';
  return HEX.test(digits) && isHex(digits) ? 'hex' : null;
}

/** True for digits with a letter or `0x` among them, in one group or in groups of one length above 1. */
function isHex(digits: string): boolean {
  const bare = digits.replace(/0x/gi, ' ');
  const groups = bare.split(/[\s,:_-]+/).filter((group) => group !== '');
  const length = groups[0]?.length ?? 0;
  // The end of the head or of the input may cut the last group off.
  const last = groups.pop()?.length ?? 0;
  const isEven = length > 1 && last <= length && groups.every((group) => group.length === length);
  return isEven && !/x/i.test(bare) && (bare !== digits || /[a-f]/i.test(bare));
}

/** RFC 1952 §2.3: deflate, no reserved flag, and 0, 2 or 4 for the effort of the compressor. */
function isGzip([id1, id2, method, flags, , , , , effort]: Uint8Array): boolean {
  return id1 === 0x1f && id2 === 0x8b && method === 8 && flags < 32 && [0, 2, 4].includes(effort);
}
