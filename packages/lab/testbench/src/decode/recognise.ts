/** Recognises the format of a file from its first bytes. */
import { HEAD_BYTES, recogniseForm } from '../../../src/input/input-format.ts';
import { looksLikeBase64 } from '../../../src/input/readers/base64.ts';
import { formatOfRecognised } from '../../../src/input/readers/table.ts';
import type { RecognisedForm } from '../../../src/input/recognised-form.ts';

export interface Recognised {
  /** The format, as `phm assess --format` takes it; null if the bytes fit several, or are a text of another kind. */
  readonly format: string | null;
  /** What the bytes look like, as a sentence. */
  readonly reason: string;
}

export { HEAD_BYTES };

const HEX_TEXT = /^[0-9a-fx\s,:_-]*$/i;
const NUMBER = String.raw`"?[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?"?`;
const FIELDS = new RegExp(String.raw`^\s*${NUMBER}(?:\s*[,;\t ]\s*${NUMBER})*\s*[,;]?\s*$`, 'i');

/** Control characters that no text has. */
const NOT_TEXT = /[^\P{Cc}\t-\r]/u;

const SENTENCES = {
  binary: 'It looks like binary data.',
  ascii: 'It looks like digits 0 and 1.',
  hex: 'It looks like hexadecimal digits.',
  base64: 'It looks like base64.',
  csv: 'It looks like numbers in columns.',
} as const;

/** Returns whether the bytes begin a gzip file. */
export function isGzip(head: Uint8Array): boolean {
  return recogniseForm(head)?.name === 'gzip';
}

/** Returns the format of a file, or of what its gzip holds, from its first bytes. */
export function recognise(head: Uint8Array): Recognised {
  if (head.length === 0) return unsure('It is empty.');
  const text = new TextDecoder('latin1').decode(head.subarray(0, HEAD_BYTES)).replace(/^ï»¿/, '');
  const form = recogniseForm(head);
  const guess = form?.name;
  if (form && !IS_TEXT.includes(form.name)) return ofForm(form);
  if (NOT_TEXT.test(text)) return certain('binary');
  if (guess === 'ascii') return certain('ascii');
  if (looksLikeNumbers(text)) {
    if (HEX_TEXT.test(text)) return unsure('It may be decimal numbers or hexadecimal digits.');
    return isOneLine(text) ? unsure('It looks like numbers on one line.') : certain('csv');
  }
  if (guess === 'hex') return certain('hex');
  if (guess === 'decimal') return unsure('It looks like a list of numbers.');
  if (HEX_TEXT.test(text)) return unsure(hexReason(text));
  if (looksLikeBase64(text)) return certain('base64');
  return isPrintable(text)
    ? unsure('It looks like a text, not like random bits.')
    : certain('binary');
}

/** Texts of digits, numbers and base64 are told apart here, because the reader can be asked. */
const IS_TEXT: readonly string[] = ['ascii', 'hex', 'decimal', 'text'];

/** Returns the format that reads the form, or what to do about it. The reader still may choose any. */
function ofForm({ name, says, remedy }: RecognisedForm): Recognised {
  const format = formatOfRecognised(name);
  if (format !== undefined && name !== 'gzip') return { format, reason: `It ${says}.` };
  switch (remedy.kind) {
    case 'format':
    case 'bits':
      return { format: remedy.format, reason: `It ${says}. It is read as ${remedy.format}.` };
    case 'command':
      return unsure(notRead(says, `drop what "${remedy.command}" writes`));
    default:
      return unsure(notRead(says, remedy.advice));
  }
}

function notRead(says: string, how: string): string {
  return `It ${says}, which the page does not read: ${how}.`;
}

/** The package refuses numbers with 0x and of different lengths, and reads those without 0x. */
function hexReason(text: string): string {
  return /0x/i.test(text)
    ? 'It looks like hexadecimal numbers of different lengths. Write leading zeros, such as with "0x%02x".'
    : 'It may be hexadecimal digits, or numbers of any length.';
}

function certain(format: keyof typeof SENTENCES): Recognised {
  return { format, reason: SENTENCES[format] };
}

function unsure(reason: string): Recognised {
  return { format: null, reason };
}

/** True for lines of decimal numbers after at most one line of titles. The last line may be cut off. */
function looksLikeNumbers(text: string): boolean {
  const lines = linesOf(text);
  const body = lines.length > 2 ? lines.slice(1, -1) : lines;
  if (!body.every((line) => FIELDS.test(line))) return false;
  // A sole number without a separator is a string of digits.
  return body.length > 1 || /[,;\t ]/.test(body[0]?.trim() ?? '');
}

function isOneLine(text: string): boolean {
  return linesOf(text).length < 2;
}

function linesOf(text: string): string[] {
  return text.split(/\r\n?|\n/).filter((line) => line.trim() !== '');
}

/** ASCII characters only: random bytes have others after a few characters. */
function isPrintable(text: string): boolean {
  return /^[\t-\r -~]*$/.test(text);
}
