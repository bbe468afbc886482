/** PNG (ISO/IEC 15948) with one bit per pixel: zeros are transparent, ones have the colour. */
import { crc32, deflateSync } from 'node:zlib';

export interface Bitmap {
  /** A multiple of 8, so that rows are whole bytes. */
  readonly width: number;
  readonly height: number;
  /** Row by row from the top, the leftmost pixel in the most significant bit. */
  readonly pixels: Uint8Array;
}

export type Rgb = readonly [red: number, green: number, blue: number];

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/** Returns the file. Throws `RangeError` unless `pixels` has `width` × `height` bits in whole bytes. */
export function encodePng({ width, height, pixels }: Bitmap, colour: Rgb): Buffer {
  const rowBytes = width / 8;
  if (!Number.isInteger(rowBytes) || pixels.length !== rowBytes * height) {
    throw new RangeError(
      `"pixels" expected ${width} × ${height} bits in whole bytes, got length=${pixels.length}`,
    );
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // One bit per pixel, colour type 3: an index into the palette.
  header.set([1, 3], 8);
  return Buffer.concat([
    Buffer.from(SIGNATURE),
    chunk('IHDR', header),
    chunk('PLTE', [0, 0, 0, ...colour]),
    chunk('tRNS', [0]),
    chunk('IDAT', deflateSync(scanlines(pixels, rowBytes), { level: 9 })),
    chunk('IEND', []),
  ]);
}

/** Puts a byte that means "no filter" before each row. */
function scanlines(pixels: Uint8Array, rowBytes: number): Buffer {
  const height = pixels.length / rowBytes;
  const lines = Buffer.alloc(pixels.length + height);
  for (let row = 0; row < height; row++) {
    lines.set(pixels.subarray(row * rowBytes, (row + 1) * rowBytes), row * (rowBytes + 1) + 1);
  }
  return lines;
}

function chunk(type: string, data: Uint8Array | readonly number[]): Buffer {
  const bytes = Buffer.alloc(data.length + 12);
  bytes.writeUInt32BE(data.length, 0);
  bytes.write(type, 4, 'latin1');
  bytes.set(data, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, -4)), data.length + 8);
  return bytes;
}
