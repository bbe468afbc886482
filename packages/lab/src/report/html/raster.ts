/** The first bits of a sequence as a picture, one pixel per bit. */

import { log2 } from '../../../../sp800-22/src/elementary.ts';
import { grouped } from '../../../../sp800-22/src/index.ts';
import { figure } from './chart.ts';
import { type Markup, markup } from './markup.ts';
import { encodePng, type Rgb } from './png.ts';

/** Largest size in pixels. Random bits cannot be compressed, so more would make the page heavy. */
const [MAX_WIDTH, MAX_HEIGHT] = [256, 384];

/** Visible on white and on black. */
const ONES: Rgb = [0x2f, 0x7f, 0xc9];

interface RasterSize {
  readonly width: number;
  readonly height: number;
}

/** Returns about a square, its width a power of two from 8 up. Bits of an incomplete row are left out. */
export function rasterSize(bits: number): RasterSize {
  const width = Math.min(MAX_WIDTH, Math.max(8, 2 ** Math.round(log2(bits) / 2)));
  return { width, height: Math.min(MAX_HEIGHT, Math.floor(bits / width)) };
}

/** `bytes` hold at least `bits` bits of the sequence, the most significant first. Its name is such as "sequence 1". */
export function rasterFigure(bytes: Uint8Array, bits: number, name: string): Markup {
  const { width, height } = rasterSize(bits);
  const png = encodePng({ width, height, pixels: bytes.subarray(0, (width * height) / 8) }, ONES);
  const shown = grouped(width * height);
  return figure(
    markup`<img class="raster" width="${width}" height="${height}" alt="The first ${shown} bits of ${name} as pixels" src="data:image/png;base64,${base64(png)}">`,
    markup`The first ${shown} bits of ${name}, ${width} per row, from left to right and from top to bottom. Coloured pixels are 1. Stripes, blocks and other textures are structure. Random bits look like noise, but so do many predictable ones.`,
    markup`<h3>Bits of ${name}</h3>`,
  );
}

function base64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}
