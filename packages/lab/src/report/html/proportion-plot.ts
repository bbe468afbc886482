/** The proportion of sequences that pass, row by row, and the interval of SP 800-22 §4.2.1. */

import {
  ALPHA,
  grouped,
  type JudgedRow,
  type SecondLevelVerdict,
} from '../../../../sp800-22/src/index.ts';
import { rowName } from '../second-level-text.ts';
import {
  drawing,
  figure,
  legend,
  linearScale,
  type MarkKind,
  marks,
  niceTicks,
  px,
  type Scale,
} from './chart.ts';
import { type Markup, markup } from './markup.ts';
import {
  axisTitle,
  layOutStrips,
  PointSets,
  rowY,
  STRIPS_LEFT,
  STRIPS_RIGHT,
  STRIPS_TOP,
  STRIPS_WIDTH,
  type Strip,
  type Strips,
  stripAxis,
  stripGrounds,
  stripsHeight,
} from './strips.ts';

/** At most this many rows outside their interval get a name beside the mark; more would overlap. */
const NAMED_ROWS = 12;

const NAME_HEIGHT = 11;

export function proportionFigure(secondLevel: SecondLevelVerdict): Markup {
  const rows = secondLevel.rows.filter((row) => row.judged);
  // The last row of a test has the highest index.
  const layout = layOutStrips(new Map(rows.map(({ test, index }) => [test, index])));
  const { domain, below, x } = scale(rows);
  const { rowsJudged, rowsOutsideInterval, checkAlpha } = secondLevel;
  const label = `Proportions of ${rowsJudged} rows; outside their interval: ${rowsOutsideInterval}`;
  const picture = [
    stripGrounds(layout),
    bands(rows, layout, x),
    stripAxis(layout, niceTicks(domain[0], 1, 6), x, String),
    below ? belowText(layout) : [],
    axisTitle(layout, `proportion of sequences with p ≥ ${ALPHA}`),
    markup`<path class="dashed" d="M${px(x(1 - ALPHA))} ${STRIPS_TOP}V${layout.bottom}"/>`,
    rowMarks(rows, layout, x, checkAlpha),
    rowsOutsideInterval <= NAMED_ROWS ? names(rows, layout, x) : [],
    legend(LEGEND, STRIPS_LEFT, 14),
  ];
  return figure(
    drawing(STRIPS_WIDTH, stripsHeight(layout), label, picture, 'chart wide'),
    markup`Each point is one of ${grouped(rowsJudged)} rows. The band is the interval of §4.2.1, p̂ ± 3 √(p̂ (1 − p̂) / m), where p̂ = ${1 - ALPHA} and m is the number of sequences to which the test applied. It is a limit for one row. Rows outside: ${rowsOutsideInterval} of ${grouped(rowsJudged)}; expected for a sound source: ${secondLevel.expectedOutsideInterval.toFixed(2)}. A row can also fail by the uniformity of its p-values, which the section of all rows shows.`,
  );
}

/** The scale begins at most so many times as far from 1 as the lowest interval: a row far below would squeeze it. */
const MOST_INTERVALS = 3;

/** Width of the area left of the scale, for smaller proportions. */
const BELOW_WIDTH = 52;

interface ProportionScale {
  readonly domain: readonly [low: number, high: number];
  /** Whether rows are left of the scale. */
  readonly below: boolean;
  readonly x: Scale;
}

function scale(rows: readonly JudgedRow[]): ProportionScale {
  const lowest = Math.min(...rows.map(({ interval }) => interval[0]));
  const least = Math.min(lowest, ...rows.map(({ proportion }) => proportion));
  const start = Math.max(least, 1 - MOST_INTERVALS * (1 - lowest));
  const domain = [start - 0.05 * (1 - start), 1 + 0.02 * (1 - start)] as const;
  const below = least < domain[0];
  const inside = linearScale(domain, [STRIPS_LEFT + (below ? BELOW_WIDTH : 0), STRIPS_RIGHT]);
  const x: Scale = (p) => (p < domain[0] ? STRIPS_LEFT + BELOW_WIDTH / 2 : inside(p));
  return { domain, below, x };
}

function belowText({ bottom }: Strips): Markup {
  return markup`<text class="middle" x="${STRIPS_LEFT + BELOW_WIDTH / 2}" y="${bottom + 19}">less</text>`;
}

const LEGEND = [
  { sample: 'dot', text: 'inside' },
  { sample: 'ring', text: 'outside' },
  { sample: 'cross', text: 'FAILED by proportion' },
  { sample: 'area', text: '±3σ' },
  { sample: 'dashed', text: `${1 - ALPHA}, expected` },
] as const;

function bands(rows: readonly JudgedRow[], { strips }: Strips, x: Scale): Markup[] {
  return strips.map(({ test, top, height }) => {
    const [low, high] = rows.find((row) => row.test === test)?.interval ?? [0, 1];
    return markup`<path class="area" d="M${px(x(low))} ${top}H${px(x(high))}v${height}H${px(x(low))}z"/>`;
  });
}

function stripOf({ strips }: Strips, { test }: JudgedRow): Strip {
  return strips.find((strip) => strip.test === test) as Strip;
}

function rowMarks(
  rows: readonly JudgedRow[],
  layout: Strips,
  x: Scale,
  checkAlpha: number,
): Markup[] {
  const sets = new PointSets<MarkKind>();
  for (const row of rows) {
    const check = row.proportionCheck;
    const failed = check.judged && check.p < checkAlpha;
    const kind = failed ? 'cross' : row.inInterval ? 'dot' : 'ring';
    sets.add(kind, [x(row.proportion), rowY(stripOf(layout, row), row.index - 1)]);
  }
  return (['dot', 'ring', 'cross'] as const).map((kind) => marks(kind, sets.get(kind)));
}

/** Writes names towards the middle of the picture, where there is room, and no two on one line. */
function names(rows: readonly JudgedRow[], layout: Strips, x: Scale): Markup[] {
  const middle = (STRIPS_LEFT + STRIPS_RIGHT) / 2;
  let free = 0;
  return rows
    .filter(({ inInterval, label }) => !inInterval && label !== '')
    .map((row) => {
      const at = x(row.proportion);
      const side = at < middle ? 'start' : 'end';
      const y = Math.max(free, rowY(stripOf(layout, row), row.index - 1) + 4);
      free = y + NAME_HEIGHT;
      return markup`<text class="${side} name" x="${px(side === 'start' ? at + 8 : at - 8)}" y="${px(y)}">${row.label}<title>${rowName(row)}</title></text>`;
    });
}
