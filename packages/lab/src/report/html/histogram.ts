/** The counts of p-values in classes as a small picture. */
import type { RowCounts } from '../../../../sp800-22/src/index.ts';
import { drawing, px } from './chart.ts';
import { type Markup, markup } from './markup.ts';

const [WIDTH, HEIGHT, BAR] = [100, 30, 10];

/** Draws the histogram. The expected count is at half height, or lower if a class has more than twice as many. */
export function histogram({
  histogram: counts,
  sequences,
}: Pick<RowCounts, 'histogram' | 'sequences'>): Markup {
  const expected = sequences / counts.length;
  const unit = HEIGHT / Math.max(2 * expected, ...counts);
  const bars = counts
    .map((count, i) => `M${i * BAR + 1} ${HEIGHT}v${px(-count * unit)}h${BAR - 2}V${HEIGHT}z`)
    .join('');
  const line = px(HEIGHT - expected * unit);
  return drawing(
    WIDTH,
    HEIGHT,
    `p-values in ten classes: ${counts.join(', ')}`,
    markup`<path class="bars" d="${bars}"/><path class="expected" d="M0 ${line}h${WIDTH}"/>`,
    'histogram',
  );
}
