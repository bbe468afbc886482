/** Example files to try, made by the page with a fixed generator: one without a defect, and two with a known one. */
import { byId, element } from './dom.ts';

/** Sequences of 10,000 bits: 100 of them show the spread of the p-values, and take a few seconds. */
const BITS_IN_SEQUENCE = 10_000;
const BYTES = 125_000;

/** Bytes after which the periodic example repeats. */
const PERIOD_BYTES = 512;

interface Example {
  readonly name: string;
  readonly label: string;
  readonly text: string;
  make(): Uint8Array<ArrayBuffer>;
}

/** Returns the 32-bit words of sfc32 (Chris Doty-Humphrey, PractRand) from a fixed state. */
function generator(): () => number {
  let [a, b, c, counter] = [0x9e3779b9, 0x243f6a88, 0xb7e15162, 2];
  const next = () => {
    const word = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + word) | 0;
    return word >>> 0;
  };
  for (let i = 0; i < 16; i++) next();
  return next;
}

function sound(): Uint8Array<ArrayBuffer> {
  const next = generator();
  return Uint8Array.from({ length: BYTES }, () => next() >>> 24);
}

/** Each bit is 1 with a probability of 52 %. */
function biased(): Uint8Array<ArrayBuffer> {
  const next = generator();
  const limit = 0.52 * 2 ** 32;
  const byte = () => {
    let bits = 0;
    for (let i = 0; i < 8; i++) bits = (bits << 1) | (next() < limit ? 1 : 0);
    return bits;
  };
  return Uint8Array.from({ length: BYTES }, byte);
}

function periodic(): Uint8Array<ArrayBuffer> {
  const block = sound().subarray(0, PERIOD_BYTES);
  return Uint8Array.from({ length: BYTES }, (_, i) => block[i % PERIOD_BYTES] as number);
}

const EXAMPLES: readonly Example[] = [
  {
    name: 'sound.bin',
    label: 'Sound',
    text: 'A good generator: the source passes, and 0 of 7 rows fail.',
    make: sound,
  },
  {
    name: 'biased.bin',
    label: 'Biased',
    text: '52 of 100 bits are 1, too few to notice by eye: the source fails, in 6 of 7 rows.',
    make: biased,
  },
  {
    name: 'periodic.bin',
    label: 'Periodic',
    text: '512 bytes, again and again: the source fails, in 6 of 7 rows. With 4,096 bits per row, the raster shows stripes.',
    make: periodic,
  },
];

/** Fills the list of examples. A press opens the file and runs the tests. */
export function showExamples(open: (file: File) => Promise<boolean>): void {
  const tryOut = async ({ name, make }: Example) => {
    if (!(await open(new File([make()], name)))) return;
    const bits = document.querySelector<HTMLInputElement>('#form [name="bits"]');
    if (!bits) return;
    bits.value = String(BITS_IN_SEQUENCE);
    bits.dispatchEvent(new Event('input', { bubbles: true }));
    byId<HTMLButtonElement>('start').click();
  };
  byId('examples').append(
    ...EXAMPLES.map((example) => {
      const button = element('button', { type: 'button' }, `Try: ${example.label}`);
      button.onclick = () => void tryOut(example);
      return element('li', {}, button, element('span', { class: 'note' }, example.text));
    }),
  );
}
