/** The bytes of a file, unpacked from gzip, base64 or CSV as they are read. */
import { Base64Decoder } from '../decode/base64.ts';
import { CsvDecoder } from '../decode/csv.ts';
import { decoding } from '../decode/decoder.ts';
import type { Recipe } from './messages.ts';

/** Returns the bytes of the format that the package reads: binary, ASCII or hexadecimal. */
export function openSource(file: Blob, recipe: Recipe): ReadableStream<Uint8Array> {
  const { gzip, encoding, column, bitsPerValue } = recipe;
  const stream: ReadableStream<Uint8Array<ArrayBuffer>> = gzip
    ? file.stream().pipeThrough(new DecompressionStream('gzip'))
    : file.stream();
  if (encoding === 'base64') return stream.pipeThrough(decoding(new Base64Decoder()));
  if (encoding !== 'csv') return stream;
  return stream.pipeThrough(decoding(new CsvDecoder({ column, bits: bitsPerValue })));
}

/** Returns whether `phm assess` reads the file as it is. */
export function isPlain({ gzip, encoding }: Recipe): boolean {
  return !gzip && encoding !== 'base64' && encoding !== 'csv';
}

/** Returns the name of the format in reports. */
export function formatName({ gzip, encoding, column, bitsPerValue }: Recipe): string {
  const text =
    encoding === 'csv' ? `csv, column ${column}, ${bitsPerValue} bits per value` : encoding;
  return gzip ? `${text}, in gzip` : text;
}

/** Returns the first bytes of a file, unpacked if it is gzip. */
export async function readHead(file: Blob, gzip: boolean, limit: number): Promise<Uint8Array> {
  if (!gzip) return new Uint8Array(await file.slice(0, limit).arrayBuffer());
  const reader = file.stream().pipeThrough(new DecompressionStream('gzip')).getReader();
  try {
    return (await reader.read()).value?.slice(0, limit) ?? new Uint8Array(0);
  } finally {
    await reader.cancel().catch(() => {});
  }
}
