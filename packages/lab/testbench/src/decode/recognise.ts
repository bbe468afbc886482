/** Recognises the format of a file from its first bytes. */
import { HEAD_BYTES, type RecognisedForm, recogniseForm } from '../../../src/input/input-format.ts';

/** The formats of `phm assess`, and three that only the page reads. */
export const ENCODINGS = ['binary', 'ascii', 'hex', 'base64', 'csv', 'numbers'] as const;
export type Encoding = (typeof ENCODINGS)[number];

export interface Recognised {
  /** Null if the bytes fit several formats, or are a text of another kind. */
  readonly encoding: Encoding | null;
  /** What the bytes look like, as a sentence. */
  readonly reason: string;
}

export { HEAD_BYTES };

const BASE64 = /^[A-Za-z0-9+/_-][A-Za-z0-9+/_\-\s]*={0,2}\s*$/;
const HEX_TEXT = /^[0-9a-fx\s,:_-]*$/i;
const NUMBER = String.raw`"?[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?"?`;
const FIELDS = new RegExp(String.raw`^\s*${NUMBER}(?:\s*[,;\t ]\s*${NUMBER})*\s*[,;]?\s*$`, 'i');

/** Control characters that no text has. */
const NOT_TEXT = /[^\P{Cc}\t-\r]/u;

const SENTENCES: Readonly<Record<Encoding, string>> = {
  binary: 'It looks like binary data.',
  ascii: 'It looks like digits 0 and 1.',
  hex: 'It looks like hexadecimal digits.',
  base64: 'It looks like base64.',
  csv: 'It looks like numbers in columns.',
  numbers: 'It looks like numbers.',
};

/** Returns whether the bytes begin a gzip file. */
export function isGzip(head: Uint8Array): boolean {
  return recogniseForm(head)?.name === 'gzip';
}

/** Returns the format of a file, or of what its gzip holds, from its first bytes. */
export function recognise(head: Uint8Array): Recognised {
  if (head.length === 0) return { encoding: null, reason: 'It is empty.' };
  const text = new TextDecoder('latin1').decode(head.subarray(0, HEAD_BYTES)).replace(/^ï»¿/, '');
  const form = recogniseForm(head);
  const guess = form?.name;
  if (form && isUnreadable(form)) return unsure(refusalText(form));
  if (NOT_TEXT.test(text)) return certain('binary');
  if (guess === 'ascii') return certain('ascii');
  if (looksLikeNumbers(text)) {
    if (HEX_TEXT.test(text)) return unsure('It may be decimal numbers or hexadecimal digits.');
    return isOneLine(text) ? unsure('It looks like numbers on one line.') : certain('csv');
  }
  if (guess === 'hex') return certain('hex');
  if (guess === 'decimal') return unsure('It looks like a list of numbers.');
  if (HEX_TEXT.test(text)) return unsure(hexReason(text));
  if (BASE64.test(text.trim())) return certain('base64');
  return isPrintable(text)
    ? unsure('It looks like a text, not like random bits.')
    : certain('binary');
}

/** Texts of digits, numbers and base64 are what the page reads. */
const READABLE: readonly string[] = ['ascii', 'hex', 'decimal', 'text'];

function isUnreadable({ name }: RecognisedForm): boolean {
  return !READABLE.includes(name);
}

/** The reader of the page still may choose a format: then the bits are read by it, whatever they look like. */
function refusalText({ says, remedy }: RecognisedForm): string {
  const how =
    remedy.kind === 'command'
      ? `drop what "${remedy.command}" writes`
      : remedy.kind === 'advice'
        ? remedy.advice
        : `choose ${remedy.format}`;
  return `It ${says}, which the page does not read: ${how}.`;
}

/** The package refuses numbers with 0x and of different lengths, and reads those without 0x. */
function hexReason(text: string): string {
  return /0x/i.test(text)
    ? 'It looks like hexadecimal numbers of different lengths. Write leading zeros, such as with "0x%02x".'
    : 'It may be hexadecimal digits, or numbers of any length.';
}

function certain(encoding: Encoding): Recognised {
  return { encoding, reason: SENTENCES[encoding] };
}

function unsure(reason: string): Recognised {
  return { encoding: null, reason };
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
