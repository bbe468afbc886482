/** Recognises texts and compressed data, which look like a broken generator if they are read as binary. */
import type { TextFormat } from './bits.ts';

/** Formats of `assess`, and what a reader must convert before: `decimal` has two numbers or more. */
export type FormatGuess = TextFormat | 'gzip' | 'decimal' | 'text';

/** Bytes at the start of an input that decide. Shorter numbers among longer ones may be rare. */
const HEAD_BYTES = 4096;

/** Fewer bytes decide nothing: 13 hold the 100 bits that the shortest test needs. */
const MINIMUM_HEAD_BYTES = 13;

/** As printable characters are 100 of 256 bytes, fewer of them could be random. */
const MINIMUM_TEXT_BYTES = 32;

const BYTE_ORDER_MARK = '\u00ef\u00bb\u00bf';
const UTF_16 = /^(?:\u00ff\u00fe(?:[\t-\r -~]\0)+[\t-\r -~]?|\u00fe\u00ff(?:\0[\t-\r -~])+\0?)$/;
const ASCII = /^[01\t-\r ]*[01][01\t-\r ]*$/;
const HEX = /^[0-9a-fx\t-\r ,:_-]*[0-9a-f][0-9a-fx\t-\r ,:_-]*$/i;
const DECIMAL = /^[\d\t-\r ,;."()[\]{}+-]*$/;
const TWO_NUMBERS = /\d[^\d.]+\d/;
const PRINTABLE = /^[\t-\r -~]*$/;

/**
 * Returns what the first bytes of an input look like, or `null` for anything else. Random bytes look like a text or
 * gzip with a probability below 10^-9: 9 · 10^-11 for gzip; of the shortest inputs that decide, (34/256)^13 = 4 · 10^-12 for
 * hex, (28/256)^13 = 5 · 10^-13 for decimal numbers and (100/256)^32 = 10^-13 for other texts. Of 64 bytes it is 10^-26.
 * Numbers that may be decimal, or that may lack leading zeros, are no hexadecimal digits: their bits would be wrong.
 */
export function guessFormat(head: Uint8Array): FormatGuess | null {
  if (head.length < MINIMUM_HEAD_BYTES) return null;
  if (isGzip(head)) return 'gzip';
  const text = String.fromCharCode(...head.subarray(0, HEAD_BYTES));
  const digits = text.startsWith(BYTE_ORDER_MARK) ? text.slice(BYTE_ORDER_MARK.length) : text;
  if (ASCII.test(digits)) return 'ascii';
  if (HEX.test(digits) && isHex(digits)) return 'hex';
  if (DECIMAL.test(digits) && TWO_NUMBERS.test(digits)) return 'decimal';
  return isText(digits) ? 'text' : null;
}

/** True for digits with letters or `0x` among them, in one group or in groups of one length above 1. */
function isHex(digits: string): boolean {
  const groups = digits.split(/[\s,:_-]+/).filter((group) => group !== '');
  // The end of the head or of the input may cut the last group off.
  const last = groups.length > 1 ? bare(groups.pop() ?? '') : '';
  const prefixed = groups.filter((group) => /^0x/i.test(group)).length;
  if (prefixed > 1 && prefixed < groups.length) return false;
  const [first = '', ...others] = groups.map(bare);
  const isEven = first.length > 1 && others.every((group) => group.length === first.length);
  const isWhole = last.length <= first.length && !/x/i.test([first, ...others, last].join(''));
  return isEven && isWhole && (prefixed > 0 || (/\d/.test(digits) && /[a-f]/i.test(digits)));
}

function bare(group: string): string {
  return group.replace(/^0x/i, '');
}

/**
 * True for printable characters that samples of one byte hardly are. The codes of a noise around one value have no gap, so
 * that it has no line ends, which lie below control characters, and no digits and letters without what lies between.
 */
function isText(text: string): boolean {
  if (UTF_16.test(text)) return true;
  if (text.length < MINIMUM_TEXT_BYTES || !PRINTABLE.test(text)) return false;
  const hasLines = /[\t-\r]/.test(text) && /[!-~]/.test(text);
  return hasLines || (/\d/.test(text) && /[a-z]/i.test(text) && !/[<>?@]/.test(text));
}

/** RFC 1952 §2.3: deflate, no reserved flag, and 0, 2 or 4 for the effort of the compressor. */
function isGzip([id1, id2, method, flags, , , , , effort]: Uint8Array): boolean {
  return id1 === 0x1f && id2 === 0x8b && method === 8 && flags < 32 && [0, 2, 4].includes(effort);
}
