/** Shared parts of the charts: scales, ticks, marks and legends. Units are those of the SVG's viewBox. */

import { decimalExponent, powerOfTen } from '../../../../sp800-22/src/elementary.ts';
import { grouped } from '../../../../sp800-22/src/index.ts';
import { type Content, type Markup, markup, NOTHING } from './markup.ts';

export type Scale = (value: number) => number;

/** Returns a linear scale from the domain to the range. */
export function linearScale(
  [low, high]: readonly [number, number],
  [start, end]: readonly [number, number],
): Scale {
  const factor = (end - start) / (high - low);
  return (value) => start + (value - low) * factor;
}

/** Rounds to a tenth of a unit: finer steps are invisible and make the page heavy. */
export function px(value: number): number {
  return Math.round(value * 10) / 10;
}

/** Returns at most `most` multiples of 1, 2 or 5 times a power of ten within [low, high]. */
export function niceTicks(low: number, high: number, most: number): number[] {
  const magnitude = powerOfTen(decimalExponent((high - low) / most));
  const steps = [1, 2, 5, 10, 20].map((factor) => factor * magnitude);
  const countOf = (step: number): number => Math.floor(high / step) - Math.ceil(low / step) + 1;
  const step = steps.find((one) => countOf(one) <= most) ?? high - low;
  const first = Math.ceil(low / step);
  // Rounded because 3 · 0.1 is not 0.3; 0 + x turns −0 into 0.
  return Array.from(
    { length: countOf(step) },
    (_, i) => 0 + Number(((first + i) * step).toPrecision(12)),
  );
}

/** Writes 200,000 and 20 M, with a minus sign as wide as a digit. */
export function shortNumber(value: number): string {
  const text = Math.abs(value) >= 1e6 ? `${value / 1e6} M` : grouped(value);
  return text.replace('-', '−');
}

export type Point = readonly [x: number, y: number];

/** Returns the path of a line through the points. */
export function linePath(points: readonly Point[]): string {
  return points.map(([x, y], i) => `${i === 0 ? 'M' : 'L'}${px(x)} ${px(y)}`).join('');
}

/** The form of a point, which also has a colour of its own. */
export type MarkKind = 'dot' | 'ring' | 'cross';

const MARK_PATHS: Readonly<Record<MarkKind, string>> = {
  dot: 'h0',
  ring: 'm-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0',
  cross: 'm-3.5-3.5l7 7m0-7l-7 7',
};

/** Draws all points of one kind as one path. */
export function marks(kind: MarkKind, points: readonly Point[]): Markup {
  const path = points.map(([x, y]) => `M${px(x)} ${px(y)}${MARK_PATHS[kind]}`).join('');
  return markup`<path class="${kind}" d="${path}"/>`;
}

/** One sample of a legend: a mark, or a class of line or area. */
interface LegendItem {
  readonly sample: MarkKind | 'line' | 'dashed' | 'dotted' | 'area' | 'core';
  readonly text: string;
}

const LEGEND_SAMPLE = 24;

/** Average width of a character. */
const CHARACTER = 7.2;

/** Draws a line of samples and labels. */
export function legend(items: readonly LegendItem[], left: number, y: number): Markup[] {
  let x = left;
  return items.map(({ sample, text }) => {
    const start = x;
    x += LEGEND_SAMPLE + text.length * CHARACTER + 16;
    return markup`${legendSample(sample, start, y)}<text x="${start + LEGEND_SAMPLE}" y="${y + 4}">${text}</text>`;
  });
}

function legendSample(sample: LegendItem['sample'], x: number, y: number): Markup {
  if (sample === 'dot' || sample === 'ring' || sample === 'cross') {
    return marks(sample, [[x + 12, y]]);
  }
  if (sample === 'area' || sample === 'core') {
    return markup`<path class="${sample}" d="M${x} ${y - 5}h18v10h-18z"/>`;
  }
  return markup`<path class="${sample}" d="M${x} ${y}h18"/>`;
}

/** Returns a drawing; screen readers read `label`. */
export function drawing(
  width: number,
  height: number,
  label: string,
  content: Content,
  className = 'chart',
): Markup {
  return markup`<svg class="${className}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${label}"><title>${label}</title>${content}</svg>`;
}

/** Returns a drawing with the caption below it. */
export function figure(picture: Markup, caption: Content, heading: Content = NOTHING): Markup {
  return markup`<figure>${heading}<div class="scroll" tabindex="0">${picture}</div>
<figcaption>${caption}</figcaption></figure>
`;
}
