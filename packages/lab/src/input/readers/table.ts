/**
 * The forms that are read. A row says how a form is named, what it is for, and how it is opened: help, documentation, page and
 * library take it from here.
 */
import { outOfRange } from '../../../../sp800-22/src/arguments.ts';
import { Base64Decoder } from './base64.ts';
import { BitWordDecoder, parseBitWords } from './bit-words.ts';
import { CsvDecoder } from './csv.ts';
import type { Decoder, DecoderUse } from './decoder.ts';
import { IntegerDecoder, parseIntegers } from './integers.ts';
import { IntelHexDecoder } from './intel-hex.ts';
import { ListingDecoder } from './listing.ts';
import { NpyDecoder } from './npy.ts';
import { NumbersDecoder } from './numbers.ts';
import { parseNumerals } from './numerals.ts';
import { PackedDecoder, parsePacked } from './packed.ts';
import { SRecordDecoder } from './s-records.ts';
import { parseWav, WavDecoder } from './wav.ts';

/** How a chosen form is read. */
export type Reading =
  | { readonly kind: 'plain'; readonly format: 'binary' | 'ascii' | 'hex' }
  | { readonly kind: 'gzip'; readonly content: Reading | null }
  | DecodedReading;

export interface DecodedReading {
  readonly kind: 'decoded';
  readonly format: string;
  readonly newDecoder: (use: DecoderUse) => Decoder;
  /** Bytes may be a form again, which is looked at unless the format ends with `:binary`. */
  readonly holds: 'samples' | 'bytes' | 'bytes as they are';
}

export interface Form {
  readonly name: string;
  /** What the page calls it. */
  readonly label: string;
  /** As it is written: what stands in brackets may be left out, capitals stand for numbers. */
  readonly syntax: string;
  readonly example: string;
  readonly reads: string;
  /** What is a sample for `assess-entropy`. */
  readonly sample: string;
  /** How the form is recognised and read without being chosen: the name that `recogniseForm` gives it. */
  readonly recognised?: string;
  /** Returns null for another form, or options that the form does not have. */
  readonly parse: (text: string) => Reading | null;
}

type Make = (use: DecoderUse) => Decoder;

function samples(format: string, newDecoder: Make): DecodedReading {
  return { kind: 'decoded', format, newDecoder, holds: 'samples' };
}

/** A form of bytes, with `:binary` for a content that is not looked at. */
function bytesIn(name: string, newDecoder: Make): Form['parse'] {
  return (text) => {
    if (text !== name && text !== `${name}:binary`) return null;
    const holds = text === name ? 'bytes' : 'bytes as they are';
    return { kind: 'decoded', format: text, newDecoder, holds };
  };
}

function plain(format: 'binary' | 'ascii' | 'hex'): Form['parse'] {
  return (text) => (text === format ? { kind: 'plain', format } : null);
}

export const FORMS: readonly Form[] = [
  {
    name: 'binary',
    label: 'binary',
    syntax: 'binary[:lsb]',
    example: 'binary:lsb',
    reads: 'the bytes as they are, most significant bit first; lsb: least significant bit first',
    sample: 'a byte',
    parse: (text) => {
      if (text !== 'binary:lsb') return plain('binary')(text);
      const form = { bits: null, isLsbFirst: true };
      return samples(text, (use) => new PackedDecoder(form, use));
    },
  },
  {
    name: 'ascii',
    label: 'digits 0 and 1',
    syntax: 'ascii',
    example: 'ascii',
    reads: 'digits 0 and 1',
    sample: 'a digit',
    parse: plain('ascii'),
  },
  {
    name: 'hex',
    label: 'hexadecimal digits',
    syntax: 'hex',
    example: 'hex',
    reads: 'hexadecimal digits, four bits each',
    sample: 'a pair of digits',
    parse: plain('hex'),
  },
  {
    name: 'base64',
    label: 'base64',
    syntax: 'base64',
    example: 'base64',
    reads: 'base64, of either alphabet, in lines of one length but the last',
    sample: 'a byte',
    parse: bytesIn('base64', () => new Base64Decoder()),
  },
  {
    name: 'integers',
    label: 'integers',
    syntax: 'u8, s8, uNle, sNle, uNbe, sNbe[:LOW-HIGH]',
    example: 'u16le:0-7',
    reads:
      'integers of N = 16, 24, 32 or 64 bits, little- or big-endian: all bits, or bits LOW to HIGH, where 0 is the lowest',
    sample: 'an integer, or the bits taken of it, of at most 8 bits',
    parse: parsed(parseIntegers, (form) => (use) => new IntegerDecoder(form, use)),
  },
  {
    name: 'parts',
    label: 'integers that do not fill their words',
    syntax: 'uNinMle, sNinMle, uNinMbe, sNinMbe[:high]',
    example: 's12in16le',
    reads:
      'numbers of N bits in words of M, such as of a converter; in the low bits, or the high ones. Other bits must be zero, or the sign',
    sample: 'a number of at most 8 bits',
    parse: () => null,
  },
  {
    name: 'packed',
    label: 'samples without gaps',
    syntax: 'packedN[:lsb]',
    example: 'packed12',
    reads: 'samples of N bits without gaps; lsb: least significant bit first',
    sample: 'a sample of at most 8 bits',
    parse: parsed(parsePacked, (form) => (use) => new PackedDecoder(form, use)),
  },
  {
    name: 'bits',
    label: 'one bit in each byte or word',
    syntax: 'bit8, bitNle, bitNbe, bitfNle, bitfNbe[:ZERO,ONE]',
    example: 'bit8:0,255',
    reads:
      'one bit in each byte, integer of N = 16, 32 or 64 bits or floating-point number: 0 and 1, or the two values named',
    sample: 'a bit',
    parse: parsed(parseBitWords, (form) => (use) => new BitWordDecoder(form, use)),
  },
  {
    name: 'csv',
    label: 'numbers in columns (CSV)',
    syntax: 'csv[:COLUMN[:BITS|hex]]',
    example: 'csv:2:8',
    reads:
      'whole numbers in a column, from 1: of so many bits each, or hexadecimal. Default: the only column that can be the samples, and the bits of the largest number at the start of the file',
    sample: 'a number of at most 8 bits',
    parse: (text) => {
      const [name, column, numerals, ...more] = text.split(':');
      const chosen = parseNumerals(numerals);
      if (name !== 'csv' || more.length > 0 || chosen === null) return null;
      if (column !== undefined && !/^[1-9]\d{0,3}$/.test(column)) return null;
      const options = {
        column: column === undefined ? undefined : Number(column),
        numerals: chosen,
      };
      return samples(text, (use) => new CsvDecoder(options, use));
    },
  },
  {
    name: 'numbers',
    label: 'numbers, one after another',
    syntax: 'numbers[:BITS]',
    example: 'numbers:8',
    reads: 'whole numbers one after another, also in brackets',
    sample: 'a number of at most 8 bits',
    parse: (text) => {
      const [name, bits, ...more] = text.split(':');
      const numerals = parseNumerals(bits);
      if (name !== 'numbers' || more.length > 0 || numerals === null || numerals === 'hex') {
        return null;
      }
      return samples(text, (use) => new NumbersDecoder(numerals, use));
    },
  },
  {
    name: 'npy',
    label: 'array of NumPy',
    syntax: 'npy[:LOW-HIGH]',
    example: 'npy',
    reads: 'an array of NumPy with one dimension, of integers or bool',
    sample: 'an integer, or the bits taken of it, of at most 8 bits; or a bool',
    recognised: 'npy',
    parse: (text) => {
      const found = /^npy(?::(\d{1,2}-\d{1,2}))?$/.exec(text);
      return found && samples(text, (use) => new NpyDecoder(found[1], use));
    },
  },
  {
    name: 'wav',
    label: 'WAV',
    syntax: 'wav[:CHANNEL|all][:LOW-HIGH]',
    example: 'wav:1',
    reads:
      'a WAV of PCM with 8, 16, 24 or 32 bits: a channel, from 1, or all as they are interleaved',
    sample: 'the bits taken of each sample, at most 8',
    recognised: 'wav',
    parse: parsed(parseWav, (options) => (use) => new WavDecoder(options, use)),
  },
  {
    name: 'ihex',
    label: 'Intel HEX',
    syntax: 'ihex',
    example: 'ihex',
    reads: 'Intel HEX. Checksums, addresses without gaps and the end record are checked',
    sample: 'a byte',
    recognised: 'intel_hex',
    parse: bytesIn('ihex', () => new IntelHexDecoder()),
  },
  {
    name: 'srec',
    label: 'S-records',
    syntax: 'srec',
    example: 'srec',
    reads: 'S-records. Checksums, addresses without gaps, counts and the end record are checked',
    sample: 'a byte',
    recognised: 's_record',
    parse: bytesIn('srec', () => new SRecordDecoder()),
  },
  {
    name: 'listing',
    label: 'listing with offsets',
    syntax: 'listing',
    example: 'listing',
    reads:
      'a listing with offsets in hexadecimal, octal or decimal, of od, hexdump or xxd: bytes or words in hexadecimal, octal or (xxd -b) binary digits. Offsets must follow each other, without lines left out',
    sample: 'a byte',
    recognised: 'listing',
    parse: bytesIn('listing', () => new ListingDecoder()),
  },
  {
    name: 'gzip',
    label: 'gzip',
    syntax: 'gzip[:FORMAT]',
    example: 'gzip:ascii',
    reads:
      'gzip of one member, which holds any of these forms. It is read to its end, where its checksum stands',
    sample: 'as of what it holds',
    recognised: 'gzip',
    parse: (text) => {
      if (text === 'gzip') return { kind: 'gzip', content: null };
      const content = text.startsWith('gzip:') ? readingOf(text.slice('gzip:'.length)) : null;
      return content && content.kind !== 'gzip' ? { kind: 'gzip', content } : null;
    },
  },
];

function parsed<Options>(
  parse: (text: string) => Options | null,
  makerOf: (options: Options) => Make,
): Form['parse'] {
  return (text) => {
    const options = parse(text);
    return options && samples(text, makerOf(options));
  };
}

function readingOf(text: string): Reading | null {
  for (const { parse } of FORMS) {
    const reading = parse(text);
    if (reading) return reading;
  }
  return null;
}

/** Returns how a format is read. Throws `RangeError` if there is none of the name, or without such an option. */
export function parseFormat(format: string): Reading {
  const reading = readingOf(format);
  if (reading) return reading;
  const examples = FORMS.map(({ example }) => `"${example}"`).join(', ');
  throw outOfRange('format', `such as ${examples}`, format);
}

/** Returns the format by which a recognised form is read without being chosen; undefined if it must be chosen. */
export function formatOfRecognised(name: string): string | undefined {
  return FORMS.find(({ recognised }) => recognised === name)?.example.replace(/:.*/, '');
}
