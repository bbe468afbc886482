/** Recognises inputs that hold their bits in another form, and look like a broken or a sound generator if read as binary. */

import { containerOf } from './forms/containers.ts';
import { alphabetOf, areUuids } from './forms/digits.ts';
import { listingOf, listingWithin } from './forms/listings.ts';
import { type SampleForm, sampleFormOf } from './forms/samples.ts';
import { wordFormOf } from './forms/words.ts';
import { looksLikeBase64 } from './readers/base64.ts';
import {
  type Columns,
  columnsOf,
  describeColumns,
  formatOfColumns,
  nameColumn,
} from './readers/columns.ts';
import { proposeNumbers } from './readers/numbers.ts';
import { MAX_SAMPLE_BITS } from './readers/numerals.ts';
import { formatOfRecognised } from './readers/table.ts';
import type { FormatGuess, RecognisedForm, Remedy, TextName } from './recognised-form.ts';

/** Bytes at the start of an input that decide. Shorter numbers among longer ones may be rare. */
export const HEAD_BYTES = 4096;

/** Fewer bytes decide nothing: 13 hold the 100 bits that the shortest test needs. */
const MINIMUM_HEAD_BYTES = 13;

/** As printable characters are 100 of 256 bytes, fewer of them could be random. */
const MINIMUM_TEXT_BYTES = 32;

const BYTE_ORDER_MARK = '\u00ef\u00bb\u00bf';
const UTF_16 = /^(?:\u00ff\u00fe(?:[\t-\r -~]\0)+[\t-\r -~]?|\u00fe\u00ff(?:\0[\t-\r -~])+\0?)$/;
/** Without a byte order mark: digits and base64 only, which samples of two bytes hardly are. */
const UTF_16_DIGITS =
  /^(?:(?:[0-9a-z+/=\t-\r ,:;._-]\0){16,}[0-9a-z+/=\t-\r ,:;._-]?|(?:\0[0-9a-z+/=\t-\r ,:;._-]){16,}\0?)$/i;
const UTF_32 =
  /^(?:(?:\xff\xfe\0\0)?(?:[\t-\r -~]\0{3}){8,}(?:[\t-\r -~]\0{0,2})?|(?:\0\0\xfe\xff)?(?:\0{3}[\t-\r -~]){8,}\0{0,3})$/;
const ASCII = /^[01\t-\r ]*[01][01\t-\r ]*$/;
const HEX = /^[0-9a-fx\t-\r ,:_-]*[0-9a-f][0-9a-fx\t-\r ,:_-]*$/i;
const DECIMAL = /^[\d\t-\r ,;."()[\]{}+-]*$/;
const TWO_NUMBERS = /\d[^\d.]+\d/;
/** Of ASCII, without line ends, tabs and zero bytes. */
const CONTROLS = /[^\P{Cc}\0\t-\r\u0080-\u009f]/u;

/**
 * Returns what the first bytes of an input look like, or `null` for anything else. Random bytes look like another form with
 * a probability below 10^-9: 6 · 10^-10 for all containers together (`containerOdds`); of the shortest inputs that decide,
 * (34/256)^13 = 4 · 10^-12 for hex, (28/256)^13 = 5 · 10^-13 for decimal numbers, (100/256)^32 = 10^-13 for other texts
 * and 10^-24 for words of two values. Numbers that may be decimal, or that may lack leading zeros, are no hexadecimal
 * digits: their bits would be wrong.
 */
export function recogniseForm(head: Uint8Array): RecognisedForm | null {
  if (head.length < MINIMUM_HEAD_BYTES) return null;
  const start = head.subarray(0, HEAD_BYTES);
  const container = containerOf(start);
  if (container) return formOfContainer(container);
  const words = wordFormOf(start);
  if (words) {
    const remedy: Remedy = { kind: 'format', format: words.format };
    return {
      name: 'bit_words',
      says: `holds one bit in each: ${words.says}`,
      remedy,
      wordBytes: words.bytes,
    };
  }
  const name = guessText(start);
  if (name) return { name, ...TEXTS[name], ...formOfNumerals(name, start), wordBytes: null };
  const samples = sampleFormOf(start);
  return samples && formOfSamples(samples);
}

function formOfSamples({ says, bytes, remedy }: SampleForm): RecognisedForm {
  return { name: 'samples', says: `holds samples: ${says}`, remedy, wordBytes: bytes };
}

/** Returns what reads a text of numbers in columns, or of base64. */
function formOfNumerals(
  name: TextName,
  head: Uint8Array,
): Pick<RecognisedForm, 'says' | 'remedy'> | null {
  if (name !== 'decimal' && name !== 'text') return null;
  const text = String.fromCharCode(...head);
  const others = name === 'text' ? formOfOthers(text) : null;
  if (others) return others;
  const found = columnsOf(text);
  const isOne = found.columns.length === 1;
  // Numbers of one column may be a title and numbers, or a list in lines.
  if (!isOne || name === 'text') {
    const form = formOfColumns(found, name, text);
    if (form) return form;
  }
  if (name === 'decimal') return formOfDecimals(proposeNumbers(text));
  if (!looksLikeBase64(text)) return null;
  return { says: 'looks like base64', remedy: { kind: 'format', format: 'base64' } };
}

/** Returns what is said of decimal numbers that are not read: of none with a width, or wider than a value; else null. */
function formOfDecimals(width: number | null): Pick<RecognisedForm, 'says' | 'remedy'> | null {
  if (width !== null && width <= MAX_SAMPLE_BITS) return null;
  const advice =
    width === null
      ? 'write them as whole numbers from 0 up first'
      : `they need ${width} bits, and a value may have ${MAX_SAMPLE_BITS}: write them as hexadecimal digits, as many of each`;
  return { says: TEXTS.decimal.says, remedy: { kind: 'advice', advice } };
}

/** Returns what is said of a text that is no base64 and no columns, although it may look so. */
function formOfOthers(text: string): Pick<RecognisedForm, 'says' | 'remedy'> | null {
  if (C_ARRAY.test(text)) return OF_C_ARRAY;
  if (areUuids(text)) return OF_UUIDS;
  const alphabet = alphabetOf(text);
  return alphabet && { says: `looks like ${alphabet.is}`, remedy: alphabet.remedy };
}

/** They are no hexadecimal digits either. */
const OF_UUIDS: Pick<RecognisedForm, 'name' | 'says' | 'remedy'> = {
  name: 'uuid',
  says: 'looks like UUIDs, of whose bits at least six are fixed',
  remedy: { kind: 'command', command: "grep -oE '[0-9a-fA-F]{12}' FILE" },
};

/** As `xxd -i` writes it, whose last line is shorter, and what else it writes is no number. */
const C_ARRAY = /\w\[\d*\]\s*=\s*\{\s*0x[0-9a-f]+\s*,/i;

const OF_C_ARRAY: Pick<RecognisedForm, 'says' | 'remedy'> = {
  says: 'looks like an array of C, as xxd -i writes it',
  remedy: {
    kind: 'advice',
    advice:
      "give the bytes that it was made of, or its numbers alone, such as with grep -o '0x[0-9a-f][0-9a-f]', as hex",
  },
};

/** A list of Python or JSON, and one line, has no columns. */
const ONE_LIST = /[()[\]{}]|^[^\r\n]*[\r\n]*$/;

/** Returns what reads a text in columns; null if it has none, or none with numbers. */
function formOfColumns(
  found: Columns,
  name: TextName,
  text: string,
): Pick<RecognisedForm, 'says' | 'remedy'> | null {
  const { columns, uneven } = found;
  if (name === 'decimal' && ONE_LIST.test(text)) return null;
  const format = formatOfColumns(found);
  if (format !== null) {
    const says =
      columns.length === 1
        ? 'looks like numbers in a column'
        : `looks like ${columns.length} columns of numbers; numbers would read all`;
    return { says, remedy: { kind: 'format', format } };
  }
  const hasNumbers = columns.some(({ content, width }) => width !== null || content === 'hex');
  if (uneven !== null || columns.length === 1 || !hasNumbers) return null;
  const says = `looks like ${columns.length} columns: ${describeColumns(found)}`;
  const all = name === 'decimal' && proposeNumbers(text) !== null ? ', or numbers to read all' : '';
  return { says, remedy: { kind: 'advice', advice: `${nameColumn(found)}${all}` } };
}

/** Returns the name of what `recogniseForm` recognises. */
export function guessFormat(head: Uint8Array): FormatGuess | null {
  return recogniseForm(head)?.name ?? null;
}

/**
 * Returns what an input looks like that is said to be a text of digits, if it is none although its characters may be allowed:
 * a listing with addresses, a container, or UTF-16.
 */
export function recogniseNoDigits(head: Uint8Array): RecognisedForm | null {
  const form = recogniseForm(head);
  return form === null || DIGITS.includes(form.name) ? null : form;
}

/** Returns what bytes look like that another form held, if they are no bits: a container, or a listing with addresses. */
export function recogniseNoBytes(head: Uint8Array): RecognisedForm | null {
  const form = recogniseForm(head);
  return form === null || MAY_BE_BYTES.includes(form.name) ? null : form;
}

/** What bytes may look like that are read as they are, because the reader chose their form. */
const MAY_BE_BYTES: readonly FormatGuess[] = [
  'ascii',
  'hex',
  'decimal',
  'octal',
  'text',
  'utf-16',
  'utf-32',
  'bit_words',
  'samples',
];

/** Returns what begins within a part of a text of hexadecimal digits, if its lines have addresses. */
export function recogniseWithinDigits(part: Uint8Array): RecognisedForm | null {
  const name = listingWithin(new TextDecoder('latin1').decode(part));
  return name && { name, ...TEXTS[name], wordBytes: null };
}

/** What may be digits, or is refused at the first character that is none. */
const DIGITS: readonly FormatGuess[] = ['ascii', 'hex', 'decimal', 'text', 'bit_words'];

function formOfContainer({
  name,
  is,
  command,
}: {
  name: string;
  is: string;
  command: string | null;
}): RecognisedForm {
  const format = formatOfRecognised(name);
  const remedy: Remedy =
    format !== undefined
      ? { kind: 'format', format }
      : command
        ? { kind: 'command', command }
        : { kind: 'advice', advice: 'write the bits that it holds to a file of their own' };
  return { name, says: `looks like ${is}`, remedy, wordBytes: null };
}

const WITHOUT_OFFSETS =
  'give the bytes themselves, or list them without offsets, such as with od -An -v -tx1';

const TEXTS: Readonly<Record<TextName, Pick<RecognisedForm, 'says' | 'remedy'>>> = {
  ascii: { says: 'looks like digits 0 and 1', remedy: { kind: 'format', format: 'ascii' } },
  hex: { says: 'looks like hexadecimal digits', remedy: { kind: 'format', format: 'hex' } },
  decimal: {
    says: 'looks like decimal numbers',
    remedy: { kind: 'format', format: 'numbers' },
  },
  text: {
    says: 'looks like text',
    remedy: {
      kind: 'advice',
      advice: 'give the form that it has, such as csv:2:hex, or convert it to binary first',
    },
  },
  'utf-16': {
    says: 'looks like text in UTF-16',
    remedy: { kind: 'advice', advice: 'save it as UTF-8 or ASCII first' },
  },
  'utf-32': {
    says: 'looks like text in UTF-32',
    remedy: { kind: 'advice', advice: 'save it as UTF-8 or ASCII first' },
  },
  octal: {
    says: 'looks like octal numbers, as od writes them',
    remedy: { kind: 'advice', advice: WITHOUT_OFFSETS },
  },
  intel_hex: { says: 'looks like Intel HEX', remedy: { kind: 'format', format: 'ihex' } },
  s_record: { says: 'looks like S-records', remedy: { kind: 'format', format: 'srec' } },
  listing: {
    says: 'looks like a listing with offsets, as of od, hexdump or xxd',
    remedy: { kind: 'format', format: 'listing' },
  },
};

function guessText(head: Uint8Array): TextName | null {
  const text = String.fromCharCode(...head);
  if (UTF_32.test(text)) return 'utf-32';
  if (UTF_16.test(text) || UTF_16_DIGITS.test(text)) return 'utf-16';
  const digits = text.startsWith(BYTE_ORDER_MARK) ? text.slice(BYTE_ORDER_MARK.length) : text;
  if (ASCII.test(digits)) return 'ascii';
  const lead = /^[\t-\r -~]*/.exec(digits)?.[0] ?? '';
  const listing = listingOf(lead, lead.length === digits.length);
  if (listing) return listing;
  if (HEX.test(digits) && isHex(digits)) return 'hex';
  if (isOctal(digits)) return 'octal';
  if (DECIMAL.test(digits) && TWO_NUMBERS.test(digits)) return 'decimal';
  return isText(digits) ? 'text' : null;
}

/** True for numbers of 16 bits, or of 8, of one length with leading zeros, which hexadecimal digits hardly are. */
function isOctal(text: string): boolean {
  const words = /^\s*(?:[01][0-7]{5}\s+){8,}[0-7]{0,6}\s*$/;
  const bytes = /^\s*(?:[0-3][0-7]{2}\s+){16,}[0-7]{0,3}\s*$/;
  // A generator that is stuck writes few digits.
  return (words.test(text) || bytes.test(text)) && new Set(text.match(/\d/g)).size === 8;
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
 * that it has no line ends, which lie below control characters, and no digits and letters without what lies between. In a
 * text of lines, one character in 16 may be none: letters with accents, or a zero byte.
 */
function isText(text: string): boolean {
  // Noise that has codes of line ends and of digits has those between them.
  if (text.length < MINIMUM_TEXT_BYTES || CONTROLS.test(text)) return false;
  const others = text.replace(/[\t-\r -~]/g, '').length;
  const hasLines = /[\t-\r]/.test(text) && /[!-~]/.test(text);
  if (others > 0)
    return hasLines && text.length >= 2 * MINIMUM_TEXT_BYTES && 16 * others <= text.length;
  return hasLines || hasGap(text) || alphabetOf(text) !== null;
}

/** True for digits and letters without what lies between, or for spaces and letters without digits and signs. */
function hasGap(text: string): boolean {
  if (/\d/.test(text) && /[a-z]/i.test(text) && !/[<>?@]/.test(text)) return true;
  return / /.test(text) && /[a-z]/i.test(text) && !/[-+./0-9:;<>?@]/.test(text);
}
