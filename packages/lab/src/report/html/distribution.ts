/** The p-values of each test together: a histogram, and the empirical distribution function beside it. */
import { TEST_NAMES, type TestName } from '../../../../sp800-22/src/index.ts';
import { countText } from '../text.ts';
import { drawing, linearScale, linePath, type Point } from './chart.ts';
import { histogram } from './histogram.ts';
import { type Markup, markup, NOTHING } from './markup.ts';

/** Classes of the counts. A function drawn from more would look the same. */
const CLASSES = 100;

/** Classes of the histogram. */
const BARS = 10;

/** Counts the p-values of each test in equal classes from 0 to 1. */
export class PValueClasses {
  readonly #tests = new Map<TestName, number[]>();

  add(name: TestName, pValues: readonly number[]): void {
    const counts = this.#tests.get(name) ?? new Array<number>(CLASSES).fill(0);
    for (const p of pValues) counts[Math.min(CLASSES - 1, Math.floor(p * CLASSES))]++;
    this.#tests.set(name, counts);
  }

  of(name: TestName): readonly number[] | undefined {
    return this.#tests.get(name);
  }
}

/** D of a sound source exceeds this, divided by √m, in 1 of 100 cases (Kolmogorov). */
const KOLMOGOROV_99 = 1.628;

/** `sequences`: the number of sequences to which each test applied. */
export function distributionSection(
  classes: PValueClasses,
  sequences: ReadonlyMap<TestName, number>,
): Markup {
  const cards = TEST_NAMES.map((name) => {
    const counts = classes.of(name);
    return counts ? card(name, counts, sequences.get(name) ?? 0) : NOTHING;
  });
  return markup`<section id="distribution"><h2>Distribution of the p-values</h2>
<p>All p-values of each test: their counts in ten classes, and the share of p-values up to p (the empirical distribution function), which follows the diagonal for a sound source. D is the largest distance from it, in steps of 0.01. The band is ±${KOLMOGOROV_99}/√m for m sequences: the function of a test with one p-value leaves it in at most 1 of 100 sound sources. No verdict rests on it.</p>
<ul class="rows">
${cards}</ul>
</section>
`;
}

function card(name: TestName, counts: readonly number[], sequences: number): Markup {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const shares = cumulated(counts).map((count) => count / total);
  const D = Math.max(...shares.map((share, i) => Math.abs(share - (i + 1) / CLASSES)));
  const limit = KOLMOGOROV_99 / Math.sqrt(sequences);
  const side = D > limit ? markup`<b class="outside">outside</b>` : 'inside';
  return markup`<li><p><b>${breakable(name)}</b></p><div class="pair">${histogram({ histogram: inBars(counts), sequences: total })}${functionPicture(shares, limit, D)}</div><span>${countText(total, 'p-value')}</span><span>D ${D.toFixed(3)}, ${side} ±${limit.toFixed(3)}</span></li>
`;
}

/** Allows a line break after each underscore of a long name. */
function breakable(name: string): Markup[] {
  return name.split(/(?<=_)/).map((part, i) => markup`${i === 0 ? '' : WORD_BREAK}${part}`);
}

const WORD_BREAK = markup`<wbr>`;

function cumulated(counts: readonly number[]): number[] {
  let sum = 0;
  return counts.map((count) => {
    sum += count;
    return sum;
  });
}

function inBars(counts: readonly number[]): number[] {
  const each = CLASSES / BARS;
  return Array.from({ length: BARS }, (_, bar) =>
    counts.slice(bar * each, (bar + 1) * each).reduce((sum, count) => sum + count, 0),
  );
}

const SIZE = 60;

function functionPicture(shares: readonly number[], limit: number, D: number): Markup {
  const x = linearScale([0, 1], [0, SIZE]);
  const y = linearScale([0, 1], [SIZE, 0]);
  const points = [0, ...shares].map((share, i): Point => [x(i / CLASSES), y(share)]);
  const high = Math.min(1, limit);
  const band = linePath([
    [x(0), y(0)],
    [x(0), y(high)],
    [x(1 - high), y(1)],
    [x(1), y(1)],
    [x(1), y(1 - high)],
    [x(high), y(0)],
  ]);
  return drawing(
    SIZE,
    SIZE,
    `empirical distribution function, at most ${D.toFixed(3)} from the diagonal`,
    markup`<path class="area" d="${band}Z"/><path class="diagonal" d="M0 ${SIZE}L${SIZE} 0"/><path class="function" d="${linePath(points)}"/>`,
    'histogram ecdf',
  );
}
