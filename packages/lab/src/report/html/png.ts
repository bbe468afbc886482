/**
 * PNG (ISO/IEC 15948) with one bit per pixel: zeros are transparent, ones have the colour. The pixels are not
 * compressed: random bits cannot be, and so every engine writes the same bytes.
 */
import { crc32 } from '../crc32.ts';

interface Bitmap {
  /** A multiple of 8, so that rows are whole bytes. */
  readonly width: number;
  readonly height: number;
  /** Row by row from the top, the leftmost pixel in the most significant bit. */
  readonly pixels: Uint8Array;
}

export type Rgb = readonly [red: number, green: number, blue: number];

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/** Bytes that a stored block of deflate can hold (RFC 1951 §3.2.4). */
const STORED_BYTES = 65_535;

/** zlib (RFC 1950) with a window of 32 KiB, without a dictionary, at the fastest level. */
const ZLIB_HEADER = [0x78, 0x01];

/** Returns the file. Throws `RangeError` unless `pixels` has `width` × `height` bits in whole bytes. */
export function encodePng({ width, height, pixels }: Bitmap, colour: Rgb): Uint8Array {
  const rowBytes = width / 8;
  if (!Number.isInteger(rowBytes) || pixels.length !== rowBytes * height) {
    throw new RangeError(
      `"pixels" expected ${width} × ${height} bits in whole bytes, got length=${pixels.length}`,
    );
  }
  // One bit per pixel, colour type 3: an index into the palette.
  const header = [...bigEndian(width), ...bigEndian(height), 1, 3, 0, 0, 0];
  return concatenate([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', [0, 0, 0, ...colour]),
    chunk('tRNS', [0]),
    chunk('IDAT', store(scanlines(pixels, rowBytes))),
    chunk('IEND', []),
  ]);
}

/** Puts a byte that means "no filter" before each row. */
function scanlines(pixels: Uint8Array, rowBytes: number): Uint8Array {
  const height = pixels.length / rowBytes;
  const lines = new Uint8Array(pixels.length + height);
  for (let row = 0; row < height; row++) {
    lines.set(pixels.subarray(row * rowBytes, (row + 1) * rowBytes), row * (rowBytes + 1) + 1);
  }
  return lines;
}

/** Returns the bytes in the form of zlib, in stored blocks. */
function store(bytes: Uint8Array): Uint8Array {
  const parts: ArrayLike<number>[] = [ZLIB_HEADER];
  for (let from = 0; from === 0 || from < bytes.length; from += STORED_BYTES) {
    const block = bytes.subarray(from, from + STORED_BYTES);
    const isLast = from + STORED_BYTES >= bytes.length;
    const { length } = block;
    const inverse = ~length;
    parts.push([isLast ? 1 : 0, length & 255, length >>> 8, inverse & 255, (inverse >>> 8) & 255]);
    parts.push(block);
  }
  return concatenate([...parts, bigEndian(adler32(bytes))]);
}

function chunk(type: string, data: ArrayLike<number>): Uint8Array {
  const name = Array.from(type, (letter) => letter.charCodeAt(0));
  const content = concatenate([name, data]);
  return concatenate([bigEndian(data.length), content, bigEndian(crc32(content))]);
}

function concatenate(parts: readonly ArrayLike<number>[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function bigEndian(value: number): number[] {
  return [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255];
}

/** The checksum of RFC 1950 §9. */
function adler32(bytes: Uint8Array): number {
  let [a, b] = [1, 0];
  for (const byte of bytes) {
    a = (a + byte) % 65_521;
    b = (b + a) % 65_521;
  }
  return ((b << 16) | a) >>> 0;
}
