/** The bytes of a file, unpacked from gzip, base64 or CSV as they are read. */
import { Base64Decoder } from '../decode/base64.ts';
import { CsvDecoder } from '../decode/csv.ts';
import { type Decoder, decoding } from '../decode/decoder.ts';
import { gunzip } from '../decode/gunzip.ts';
import { NumbersDecoder } from '../decode/numbers.ts';
import type { Encoding } from '../decode/recognise.ts';
import type { Recipe } from './messages.ts';

/** Returns the bytes of the format that the package reads: binary, ASCII or hexadecimal. */
export function openSource(file: Blob, recipe: Recipe): ReadableStream<Uint8Array> {
  return open(file, recipe, false);
}

/** Returns the numbers of a file, one in each byte. They have 8 bits at most. */
export function openNumbers(file: Blob, recipe: Recipe): ReadableStream<Uint8Array> {
  return open(file, recipe, true);
}

function open(file: Blob, recipe: Recipe, isSpread: boolean): ReadableStream<Uint8Array> {
  const stream = recipe.gzip ? gunzip(file) : file.stream();
  const decoder = decoderOf(recipe, isSpread);
  return decoder ? stream.pipeThrough(decoding(decoder)) : stream;
}

function decoderOf(
  { encoding, column, bitsPerValue: bits }: Recipe,
  isSpread: boolean,
): Decoder | null {
  switch (encoding) {
    case 'base64':
      return new Base64Decoder();
    case 'csv':
      return new CsvDecoder({ column, bits, isSpread });
    case 'numbers':
      return new NumbersDecoder({ bits, isSpread });
    default:
      return null;
  }
}

/** Returns whether the file holds numbers in decimal. */
export function hasNumbers(encoding: Encoding): boolean {
  return encoding === 'csv' || encoding === 'numbers';
}

/** Returns whether `phm assess` reads the file as it is. */
export function isPlain({ gzip, encoding }: Pick<Recipe, 'gzip' | 'encoding'>): boolean {
  return !gzip && encoding !== 'base64' && !hasNumbers(encoding);
}

/** Returns the name of the format in reports. */
export function formatName({ gzip, encoding, column, bitsPerValue }: Recipe): string {
  const place = encoding === 'csv' ? `, column ${column}` : '';
  const width = hasNumbers(encoding) ? `, ${bitsPerValue} bits per value` : '';
  const text = `${encoding}${place}${width}`;
  return gzip ? `${text}, in gzip` : text;
}

/** Returns the first bytes of a file, unpacked if it is gzip. */
export async function readHead(file: Blob, gzip: boolean, limit: number): Promise<Uint8Array> {
  if (!gzip) return new Uint8Array(await file.slice(0, limit).arrayBuffer());
  const reader = gunzip(file).getReader();
  try {
    return (await reader.read()).value?.slice(0, limit) ?? new Uint8Array(0);
  } finally {
    await reader.cancel().catch(() => {});
  }
}
