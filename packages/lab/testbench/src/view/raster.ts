/** The first bits as pixels, in rows of a chosen width: structure with a period shows at one width only. */
import { grouped } from '../../../../sp800-22/src/index.ts';
import { element } from './dom.ts';

const MAX_ROWS = 1024;
const MAX_WIDTH = 4096;
const DEFAULT_WIDTH = 256;

/** Little-endian RGBA: visible on white and on black. */
const ONE = 0xffc97f2f;

/** Returns the section. `bytes` begin with the first bit of the first sequence. */
export function rasterSection(bytes: Uint8Array): HTMLElement {
  const canvas = element('canvas', { role: 'img' });
  const input = element('input', {
    type: 'number',
    id: 'width',
    min: 8,
    max: MAX_WIDTH,
    step: 1,
    value: DEFAULT_WIDTH,
  });
  const draw = (): void => {
    if (input.validity.valid && input.value !== '') drawRows(canvas, bytes, Number(input.value));
  };
  input.oninput = draw;
  draw();
  return element(
    'section',
    { id: 'raster' },
    element('h2', {}, 'Bits in rows of a chosen width'),
    element(
      'p',
      {},
      'Coloured pixels are 1. A structure with a period shows as stripes if the width is a multiple of it.',
    ),
    element(
      'div',
      { class: 'field width' },
      element('label', { for: 'width' }, 'Bits per row'),
      input,
    ),
    element('div', { class: 'frame', tabindex: 0, role: 'group', 'aria-label': 'Raster' }, canvas),
  );
}

function drawRows(canvas: HTMLCanvasElement, bytes: Uint8Array, width: number): void {
  const rows = Math.min(MAX_ROWS, Math.floor((bytes.length * 8) / width));
  canvas.width = width;
  canvas.height = Math.max(1, rows);
  const shown = grouped(rows * width);
  canvas.setAttribute('aria-label', `The first ${shown} bits as pixels, ${width} per row`);
  const context = canvas.getContext('2d');
  if (!context || rows === 0) return;
  const image = context.createImageData(width, rows);
  const pixels = new Uint32Array(image.data.buffer);
  for (let i = 0; i < pixels.length; i++) {
    if (((bytes[i >>> 3] as number) >>> (7 - (i & 7))) & 1) pixels[i] = ONE;
  }
  context.putImageData(image, 0, 0);
}
