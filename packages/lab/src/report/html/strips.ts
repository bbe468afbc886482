/** Charts with one strip per test, its rows from top to bottom within the strip. */
import { type Point, px, type Scale } from './chart.ts';
import { type Markup, markup } from './markup.ts';

export const STRIPS_WIDTH = 1000;
export const STRIPS_LEFT = 196;
export const STRIPS_RIGHT = 988;
export const STRIPS_TOP = 34;

const GAP = 6;

/** Height of a strip: room for its name, and enough per row to distinguish neighbours. */
const MIN_HEIGHT = 20;
const ROW_HEIGHT = 1.4;

export interface Strip {
  readonly test: string;
  /** The p-values of the test in one sequence. */
  readonly rows: number;
  readonly top: number;
  readonly height: number;
}

export interface Strips {
  readonly strips: readonly Strip[];
  readonly bottom: number;
}

/** `tests` are pairs of a test and the number of its rows. */
export function layOutStrips(tests: Iterable<readonly [string, number]>): Strips {
  let top = STRIPS_TOP;
  const strips = Array.from(tests, ([test, rows]): Strip => {
    const height = Math.max(MIN_HEIGHT, Math.round(rows * ROW_HEIGHT));
    const strip = { test, rows, top, height };
    top += height + GAP;
    return strip;
  });
  return { strips, bottom: top - GAP };
}

/** Returns the y of row `index` (from 0); `within` is the position inside the row, from 0 to 1. */
export function rowY({ top, height, rows }: Strip, index: number, within = 0.5): number {
  return top + (height * (index + within)) / rows;
}

/** Draws the name and a light background of each strip. */
export function stripGrounds({ strips }: Strips): Markup[] {
  return strips.map(
    ({ test, top, height }) =>
      markup`<path class="ground" d="M${STRIPS_LEFT} ${top}H${STRIPS_RIGHT}v${height}H${STRIPS_LEFT}z"/><text class="end" x="${STRIPS_LEFT - 8}" y="${px(top + height / 2 + 4)}">${test}</text>`,
  );
}

/** Draws vertical lines with their labels below. */
export function stripAxis(
  { bottom }: Strips,
  ticks: readonly number[],
  x: Scale,
  text: (tick: number) => string | Markup,
): Markup[] {
  return ticks.map(
    (tick) =>
      markup`<path class="grid" d="M${px(x(tick))} ${STRIPS_TOP}V${bottom + 4}"/><text class="middle" x="${px(x(tick))}" y="${bottom + 19}">${text(tick)}</text>`,
  );
}

export function axisTitle({ bottom }: Strips, title: string): Markup {
  return markup`<text class="middle" x="${(STRIPS_LEFT + STRIPS_RIGHT) / 2}" y="${bottom + 37}">${title}</text>`;
}

/** Returns the height of a drawing with axis and title. */
export function stripsHeight({ bottom }: Strips): number {
  return bottom + 44;
}

/** Points, grouped by the kind of their mark. */
export class PointSets<Kind extends string> {
  readonly #sets = new Map<Kind, Point[]>();

  add(kind: Kind, point: Point): void {
    const set = this.#sets.get(kind);
    if (set) set.push(point);
    else this.#sets.set(kind, [point]);
  }

  get(kind: Kind): readonly Point[] {
    return this.#sets.get(kind) ?? [];
  }
}
