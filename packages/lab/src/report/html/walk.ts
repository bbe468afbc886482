/** The random walk of a sequence: S_k = X_1 + … + X_k with X_i = 2ε_i − 1 (SP 800-22 §2.13.4). */

import { square } from '../../../../sp800-22/src/elementary.ts';
import { grouped } from '../../../../sp800-22/src/index.ts';
import {
  drawing,
  figure,
  legend,
  linearScale,
  linePath,
  niceTicks,
  type Point,
  px,
  type Scale,
  shortNumber,
} from './chart.ts';
import { type Markup, markup } from './markup.ts';

/** About one column per unit of the picture's width. */
const COLUMNS = 400;

/** The extremes of the walk in columns of equal width: as much as a picture can show. */
interface WalkEnvelope {
  readonly bits: number;
  /** Smallest and largest S_k of each column, including the step into it. */
  readonly low: readonly number[];
  readonly high: readonly number[];
  /** S_n. */
  readonly last: number;
  /** The largest |S_k|. */
  readonly furthest: number;
}

/** `bytes` hold at least `bits` bits, the most significant first. */
export function walkEnvelope(bytes: Uint8Array, bits: number, columns = COLUMNS): WalkEnvelope {
  const count = Math.min(columns, bits);
  const low: number[] = [];
  const high: number[] = [];
  let S = 0;
  let k = 0;
  for (let column = 1; column <= count; column++) {
    const end = Math.floor((column * bits) / count);
    let least = S;
    let most = S;
    for (; k < end; k++) {
      S += ((bytes[k >>> 3] >>> (7 - (k & 7))) & 1) === 1 ? 1 : -1;
      if (S < least) least = S;
      if (S > most) most = S;
    }
    low.push(least);
    high.push(most);
  }
  return { bits, low, high, last: S, furthest: Math.max(...high, -Math.min(...low)) };
}

const [WIDTH, HEIGHT] = [480, 290];
const [LEFT, RIGHT, TOP, BOTTOM] = [72, 456, 34, 250];

/** `name` is such as "sequence 1". */
export function walkFigure(envelope: WalkEnvelope, name: string): Markup {
  const { bits, last, furthest } = envelope;
  const limit = 1.05 * Math.max(furthest, 3 * Math.sqrt(bits));
  const x = linearScale([0, bits], [LEFT, RIGHT]);
  const y = linearScale([-limit, limit], [BOTTOM, TOP]);
  const label = `Random walk of ${name}, ${grouped(bits)} steps: it ends at ${grouped(last)} and is at most ${grouped(furthest)} from 0`;
  const picture = [
    axes(bits, limit, x, y),
    markup`<path class="walk" d="${envelopePath(envelope, x, y)}"/>`,
    rootCurves(2, 'dashed', bits, x, y),
    rootCurves(3, 'dotted', bits, x, y),
    legend(
      [
        { sample: 'area', text: 'S_k' },
        { sample: 'dashed', text: '±2√k' },
        { sample: 'dotted', text: '±3√k' },
      ],
      LEFT,
      14,
    ),
  ];
  return figure(
    drawing(WIDTH, HEIGHT, label, picture),
    markup`The sequence as a walk: one step up for each 1, one down for each 0. At a given step k, the walk of a sound sequence is within ±2√k in 95 % of cases and within ±3√k in 99.7 %; leaving these limits now and then is no defect. This one ends at S_n = ${grouped(last).replace('-', '−')}; its largest distance from 0 is ${grouped(furthest)}, or ${(furthest / Math.sqrt(bits)).toFixed(2)} √n.`,
    markup`<h3>Random walk of ${name}</h3>`,
  );
}

function axes(bits: number, limit: number, x: Scale, y: Scale): Markup[] {
  const across = niceTicks(0, bits, 5).map(
    (k) =>
      markup`<path class="grid" d="M${px(x(k))} ${TOP}V${BOTTOM}"/><text class="middle" x="${px(x(k))}" y="${BOTTOM + 18}">${shortNumber(k)}</text>`,
  );
  const up = niceTicks(-limit, limit, 7).map(
    (S) =>
      markup`<path class="${S === 0 ? 'axis' : 'grid'}" d="M${LEFT} ${px(y(S))}H${RIGHT}"/><text class="end" x="${LEFT - 6}" y="${px(y(S) + 4)}">${shortNumber(S)}</text>`,
  );
  return [
    ...across,
    ...up,
    markup`<text class="middle" x="${(LEFT + RIGHT) / 2}" y="${HEIGHT - 4}">step k (bits)</text>`,
  ];
}

/** Returns a path along the tops of the columns and back along their bottoms. */
function envelopePath({ bits, low, high }: WalkEnvelope, x: Scale, y: Scale): string {
  const at = (column: number): number => x(((column + 0.5) * bits) / high.length);
  const tops = high.map((S, column): Point => [at(column), y(S)]);
  const bottoms = low.map((S, column): Point => [at(column), y(S)]);
  return `${linePath([[x(0), y(0)], ...tops, ...bottoms.reverse()])}Z`;
}

const CURVE_POINTS = 40;

/** Draws the curves ±factor · √k. */
function rootCurves(factor: number, kind: string, bits: number, x: Scale, y: Scale): Markup {
  const curve = (sign: number): string =>
    linePath(
      // The points are close together at the start, where the curve is steep.
      Array.from({ length: CURVE_POINTS + 1 }, (_, i): Point => {
        const k = bits * square(i / CURVE_POINTS);
        return [x(k), y(sign * factor * Math.sqrt(k))];
      }),
    );
  return markup`<path class="${kind}" d="${curve(1)}${curve(-1)}"/>`;
}
