/** Every p-value as a point, test by test, on a logarithmic scale, because small ones raise an alarm. */
import {
  decimalExponent,
  expm1,
  log,
  log1p,
  powerOfTen,
} from '../../../../sp800-22/src/elementary.ts';
import { ALPHA, grouped, type TestName } from '../../../../sp800-22/src/index.ts';
import { countText } from '../text.ts';
import {
  drawing,
  figure,
  legend,
  linearScale,
  type MarkKind,
  marks,
  px,
  type Scale,
} from './chart.ts';
import { type Markup, markup, NOTHING } from './markup.ts';
import {
  axisTitle,
  layOutStrips,
  PointSets,
  rowY,
  STRIPS_LEFT,
  STRIPS_RIGHT,
  STRIPS_TOP,
  STRIPS_WIDTH,
  type Strips,
  stripAxis,
  stripGrounds,
  stripsHeight,
} from './strips.ts';

/** The p-values of one test, for each sequence to which it applied. */
export interface TestPValues {
  readonly name: TestName;
  readonly sequences: readonly (readonly number[])[];
}

/** Bounds of the scale's start: the smallest p-value if possible, and low enough for the limits of all tests. */
const [MIN_START, MAX_START] = [1e-12, 5e-5];

/** Width of the area left of the scale, for smaller p-values. */
const BELOW_WIDTH = 52;

/** Draws the figure. `which` names the sequences, such as "the first 54 sequences". */
export function pValueFigure(tests: readonly TestPValues[], which: string): Markup {
  const shown = tests.filter((test) => test.sequences.length > 0);
  if (shown.length === 0) return NOTHING;
  const all = shown.flatMap((test) => test.sequences.flat());
  const start = scaleStart(all);
  const below = all.some((p) => p < start);
  const x = logScale(start, below);
  const layout = layOutStrips(shown.map(({ name, sequences }) => [name, sequences[0].length]));
  const sets = place(shown, layout, x);
  const small = sets.get('ring').length + sets.get('cross').length;
  const label = `${countText(all.length, 'p-value')} of ${countText(shown.length, 'test')}; below ${ALPHA}: ${grouped(small)}; below the limit of the test: ${grouped(sets.get('cross').length)}`;
  const picture = [
    stripGrounds(layout),
    stripAxis(layout, powersOfTen(start), x, powerText),
    below ? belowText(layout) : [],
    axisTitle(layout, 'p-value'),
    limits(layout, x),
    ...(['dot', 'ring', 'cross'] as const).map((kind) => marks(kind, sets.get(kind))),
    legend(LEGEND, STRIPS_LEFT, 14),
  ];
  return figure(
    drawing(STRIPS_WIDTH, stripsHeight(layout), label, picture, 'chart wide'),
    markup`Each point is a p-value of ${which}. For a sound source, one in a hundred is left of α = ${ALPHA} and nine in ten are right of 0.1. Below α here: ${grouped(small)} of ${grouped(all.length)}. A test with m p-values fails if one is below its limit, 1 − (1 − α)^(1/m).`,
  );
}

const LEGEND = [
  { sample: 'dot', text: 'p ≥ α' },
  { sample: 'ring', text: 'p < α' },
  { sample: 'cross', text: 'test FAILED' },
  { sample: 'dashed', text: `α = ${ALPHA}` },
  { sample: 'line', text: 'limit of the test' },
] as const;

function scaleStart(pValues: readonly number[]): number {
  const smallest = pValues.reduce((least, p) => (p > 0 && p < least ? p : least), 1);
  return Math.max(MIN_START, Math.min(MAX_START, powerOfTen(decimalExponent(smallest))));
}

/** Returns the scale. It puts p-values below `start`, including 0, beside it. */
function logScale(start: number, below: boolean): Scale {
  const left = STRIPS_LEFT + 6 + (below ? BELOW_WIDTH : 0);
  const scale = linearScale([log(start), 0], [left, STRIPS_RIGHT - 6]);
  return (p) => (p < start ? STRIPS_LEFT + BELOW_WIDTH / 2 : scale(log(p)));
}

/** Returns the powers of ten from 1 down to `start`, which need not be one. */
function powersOfTen(start: number): number[] {
  const lowest = decimalExponent(start);
  const count = (powerOfTen(lowest) < start ? 0 : 1) - lowest;
  return Array.from({ length: count }, (_, i) => powerOfTen(-i));
}

function powerText(p: number): string | Markup {
  if (p > 1e-5) return String(p);
  return markup`10<tspan class="super" dy="-5">${decimalExponent(p)}</tspan>`;
}

function belowText({ bottom }: Strips): Markup {
  return markup`<text class="middle" x="${STRIPS_LEFT + BELOW_WIDTH / 2}" y="${bottom + 19}">less</text>`;
}

/** Returns the p at which 1 − (1 − p)^m is `ALPHA` (see `testLevelP`). */
export function testLimit(m: number): number {
  return -expm1(log1p(-ALPHA) / m);
}

function limits(layout: Strips, x: Scale): Markup[] {
  const own = layout.strips.map(
    ({ top, height, rows }) => `M${px(x(testLimit(rows)))} ${top}v${height}`,
  );
  return [
    markup`<path class="dashed" d="M${px(x(ALPHA))} ${STRIPS_TOP}V${layout.bottom}"/>`,
    markup`<path class="line" d="${own.join('')}"/>`,
  ];
}

function place(tests: readonly TestPValues[], { strips }: Strips, x: Scale): PointSets<MarkKind> {
  const sets = new PointSets<MarkKind>();
  for (const [i, { sequences }] of tests.entries()) {
    const strip = strips[i];
    const limit = testLimit(strip.rows);
    for (const [j, pValues] of sequences.entries()) {
      for (const [row, p] of pValues.entries()) {
        const kind = p < limit ? 'cross' : p < ALPHA ? 'ring' : 'dot';
        sets.add(kind, [x(p), rowY(strip, row, (j + 0.5) / sequences.length)]);
      }
    }
  }
  return sets;
}
