/** The spectrum of a sequence, as the discrete Fourier transform test sees it (SP 800-22 §2.6). */
import { square } from '../../../../sp800-22/src/elementary.ts';
import {
  type Constants,
  DFT_T2_OVER_N,
  fourierTransform,
  grouped,
  unpackBits,
} from '../../../../sp800-22/src/index.ts';
import {
  drawing,
  figure,
  legend,
  linearScale,
  linePath,
  marks,
  niceTicks,
  type Point,
  px,
  type Scale,
  shortNumber,
} from './chart.ts';
import { type Content, type Markup, markup } from './markup.ts';

/** Longest transform, in bits: half a second and 100 MB at most. Of a longer sequence only the start is used. */
export const SPECTRUM_MAX_BITS = 2 ** 20;

/** Up to this many values are drawn as points; more are grouped in columns. */
const MAX_POINTS = 2000;
const MAX_COLUMNS = 192;
const COLUMN_VALUES = 20;

/** Peaks named in the caption. */
const NAMED_PEAKS = 3;

/** Upper edge of the picture, in √n: one sound sequence of 2^20 bits in 100,000 has a value above. */
const TOP_SIZE = 5;

/** A value of |S_k| / √n, at the frequency of k periods in n bits. */
interface Peak {
  readonly k: number;
  readonly size: number;
}

interface SpectrumColumn {
  readonly least: number;
  readonly quarter: number;
  readonly threeQuarters: number;
  /** 95 % of the values are below this: the column's counterpart of T. */
  readonly most95: number;
  readonly most: number;
}

/** Sizes are in units of √n. */
interface Spectrum {
  /** n: the bits transformed. */
  readonly bits: number;
  /** §2.6.4 (4): T / √n. */
  readonly threshold: number;
  /** §2.6.4 (6): the number of values below T; and (5): its expected value, 0.95 n/2. */
  readonly N_1: number;
  readonly N_0: number;
  /** Every value, if there are few. */
  readonly sizes: readonly number[];
  /** The columns, if there are many values. */
  readonly columns: readonly SpectrumColumn[];
  /** The largest values above the picture, largest first, and the number of all such values. */
  readonly peaks: readonly Peak[];
  readonly peakCount: number;
}

/** `bytes` hold at least `bits` bits, the most significant first. */
export function measureSpectrum(
  bytes: Uint8Array,
  bits: number,
  constants: Constants = 'exact',
): Spectrum {
  const n = Math.min(bits, SPECTRUM_MAX_BITS);
  const sizes = spectrumSizes(bytes, n);
  const threshold = Math.sqrt(DFT_T2_OVER_N[constants]);
  const peaks = peaksAbove(TOP_SIZE, sizes);
  const few = sizes.length <= MAX_POINTS;
  return {
    bits: n,
    threshold,
    N_1: sizes.filter((size) => size < threshold).length,
    N_0: (0.95 * n) / 2,
    sizes: few ? [...sizes] : [],
    columns: few ? [] : toColumns(sizes),
    peaks: peaks.slice(0, NAMED_PEAKS),
    peakCount: peaks.length,
  };
}

/** §2.6.4 (1) to (3): returns |S_k| / √n, S = DFT(X), for the first n/2 bins. Leaves no copy of the bits. */
function spectrumSizes(bytes: Uint8Array, n: number): Float64Array {
  const unpacked = unpackBits(bytes, n);
  const re = Float64Array.from(unpacked, (bit) => 2 * bit - 1);
  const im = new Float64Array(n);
  const bins = Math.floor(n / 2);
  const S = fourierTransform(re, im, bins);
  const sizes = new Float64Array(bins);
  for (let k = 0; k < bins; k++) sizes[k] = Math.sqrt((square(S.re[k]) + square(S.im[k])) / n);
  for (const buffer of [unpacked, re, im, S.re, S.im]) buffer.fill(0);
  return sizes;
}

/** Returns the peaks above `limit`, largest first. */
function peaksAbove(limit: number, sizes: Float64Array): Peak[] {
  const peaks: Peak[] = [];
  for (const [k, size] of sizes.entries()) if (size > limit) peaks.push({ k, size });
  return peaks.sort((a, b) => b.size - a.size);
}

function toColumns(sizes: Float64Array): SpectrumColumn[] {
  const count = Math.min(MAX_COLUMNS, Math.floor(sizes.length / COLUMN_VALUES));
  return Array.from({ length: count }, (_, column) => {
    const start = Math.floor((column * sizes.length) / count);
    const end = Math.floor(((column + 1) * sizes.length) / count);
    const sorted = sizes.slice(start, end).sort();
    const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))];
    return {
      least: at(0),
      quarter: at(0.25),
      threeQuarters: at(0.75),
      most95: at(0.95),
      most: at(1),
    };
  });
}

const [WIDTH, HEIGHT] = [480, 290];
const [LEFT, RIGHT, TOP, BOTTOM] = [72, 456, 34, 250];

/** Draws the figure. `sequenceBits` is the length of the whole sequence; its name is such as "sequence 1". */
export function spectrumFigure(spectrum: Spectrum, sequenceBits: number, name: string): Markup {
  const { bits, threshold, N_1, N_0, columns } = spectrum;
  const x = linearScale([0, bits / 2], [LEFT, RIGHT]);
  const y = linearScale([0, TOP_SIZE], [BOTTOM, TOP]);
  const label = `Spectrum of ${name}, ${grouped(bits)} bits: ${grouped(N_1)} values below the threshold, ${grouped(N_0)} expected`;
  const picture = [
    axes(bits, x, y),
    columns.length > 0 ? columnPaths(columns, y) : pointMarks(spectrum, x, y),
    markup`<path class="dashed" d="M${LEFT} ${px(y(threshold))}H${RIGHT}"/>`,
    markup`<path class="clipped" d="${clippedPath(spectrum, x)}"/>`,
    legend(columns.length > 0 ? COLUMN_LEGEND : POINT_LEGEND, LEFT, 14),
  ];
  return figure(
    drawing(WIDTH, HEIGHT, label, picture),
    caption(spectrum, sequenceBits, name),
    markup`<h3>Spectrum of ${name}</h3>`,
  );
}

const COLUMN_LEGEND = [
  { sample: 'area', text: 'all' },
  { sample: 'core', text: 'middle half' },
  { sample: 'line', text: '95 % point' },
  { sample: 'dashed', text: 'T' },
] as const;

const POINT_LEGEND = [
  { sample: 'dot', text: 'below T' },
  { sample: 'ring', text: 'at T or above' },
  { sample: 'dashed', text: 'T' },
] as const;

function axes(bits: number, x: Scale, y: Scale): Markup[] {
  const across = niceTicks(0, bits / 2, 5).map(
    (k) => markup`<text class="middle" x="${px(x(k))}" y="${BOTTOM + 18}">${shortNumber(k)}</text>`,
  );
  const up = niceTicks(0, TOP_SIZE, 6).map(
    (size) =>
      markup`<path class="${size === 0 ? 'axis' : 'grid'}" d="M${LEFT} ${px(y(size))}H${RIGHT}"/><text class="end" x="${LEFT - 6}" y="${px(y(size) + 4)}">${size} √n</text>`,
  );
  return [
    ...across,
    ...up,
    markup`<text class="middle" x="${(LEFT + RIGHT) / 2}" y="${HEIGHT - 4}">frequency k (periods in n bits)</text>`,
  ];
}

function columnPaths(columns: readonly SpectrumColumn[], y: Scale): Markup[] {
  const width = (RIGHT - LEFT) / columns.length;
  const at = (column: number): number => LEFT + (column + 0.5) * width;
  const clipped = (size: number): number => y(Math.min(size, TOP_SIZE));
  const bars = (from: keyof SpectrumColumn, to: keyof SpectrumColumn): string =>
    columns
      .map((one, i) => `M${px(at(i))} ${px(clipped(one[from]))}V${px(clipped(one[to]))}`)
      .join('');
  const points95 = columns.map(({ most95 }, i): Point => [at(i), clipped(most95)]);
  return [
    markup`<path class="range" stroke-width="${px(width)}" d="${bars('least', 'most')}"/>`,
    markup`<path class="range-core" stroke-width="${px(width)}" d="${bars('quarter', 'threeQuarters')}"/>`,
    markup`<path class="line" d="${linePath(points95)}"/>`,
  ];
}

function pointMarks({ sizes, threshold }: Spectrum, x: Scale, y: Scale): Markup[] {
  const points = [...sizes.entries()].filter(([, size]) => size <= TOP_SIZE);
  const place = ([k, size]: readonly [number, number]): Point => [x(k), y(size)];
  return [
    marks('dot', points.filter(([, size]) => size < threshold).map(place)),
    marks('ring', points.filter(([, size]) => size >= threshold).map(place)),
  ];
}

/** Draws a triangle at the upper edge for each named peak. */
function clippedPath({ peaks }: Spectrum, x: Scale): string {
  return peaks.map(({ k }) => `M${px(x(k))} ${TOP}l-5 9h10z`).join('');
}

function caption(
  { bits, N_1, N_0, peaks, peakCount }: Spectrum,
  sequenceBits: number,
  name: string,
): Content {
  const which = bits < sequenceBits ? `the first ${grouped(bits)} bits of ${name}` : name;
  const sentences = [
    `|S_k| of ${which}, 0 and 1 read as −1 and 1.`,
    `95 % of the values should be below T = √(n ln 20): N_1 = ${grouped(N_1)} are, N_0 = ${grouped(N_0)} are expected (§2.6).`,
    'A peak at k means a period of n/k bits.',
  ];
  if (bits < sequenceBits) sentences.push('The test itself uses the whole sequence.');
  if (peaks.length === 0) return sentences.join(' ');
  const named = peaks.map(({ k, size }) => `${size.toFixed(1)} √n at k = ${grouped(k)}`).join(', ');
  const more = peakCount > peaks.length ? `, the largest of ${grouped(peakCount)}` : '';
  sentences.push(`Above the picture (▲): ${named}${more}.`);
  if (peaks.some(({ k }) => k === 0)) sentences.push('k = 0 reflects the share of ones.');
  return sentences.join(' ');
}
