/** What this page works out of the second level's rows; statistics and verdicts are the service's. */
import type { RandomnessRow } from '../api.ts';
import { groupByTest, MODULATION_TEXT, type TestGroup, testText } from '../tests.ts';

/** SP 800-22 §4.2.2: with fewer samples the second level says nothing. */
export const MINIMUM_KEYS = 55;

/** §4.2.2: below it the p-values of one row are called not uniform. */
export const UNIFORMITY_ALPHA = 1e-4;

const ALPHA = 0.01;

/** Identifies a row within an answer. */
export function rowId({ stream, test, label }: RandomnessRow): string {
  return `${stream}/${test}/${label}`;
}

/** Tests after modulation say so; all others judge the generator's output. */
export function testTitle({ stream, test }: Pick<RandomnessRow, 'stream' | 'test'>): string {
  const { title } = testText(test);
  return stream === 'modulated' ? `${title}, after modulation` : title;
}

/** Of a row: its test, and its label where the test has several. */
export function rowTitle(row: RandomnessRow): string {
  return `${testTitle(row)} ${row.label}`.trim();
}

/** The rows that judge the generator. */
export function carrierRows(rows: readonly RandomnessRow[]): readonly RandomnessRow[] {
  return rows.filter(({ stream }) => stream === 'carrier');
}

/** The rows of one test on one stream. */
export type TestRows = readonly [RandomnessRow, ...RandomnessRow[]];

/** The tests of the generator's output in their groups; those of the modulation come last. */
export function groupRows(rows: readonly RandomnessRow[]): TestGroup<TestRows>[] {
  const groups = groupByTest(byTest(carrierRows(rows)), ([{ test }]) => test);
  const modulated = byTest(rows.filter(({ stream }) => stream === 'modulated'));
  return modulated.length === 0
    ? groups
    : [...groups, { title: MODULATION_TEXT.title, items: modulated }];
}

function byTest(rows: readonly RandomnessRow[]): TestRows[] {
  return Object.values(Object.groupBy(rows, ({ test }) => test)).flatMap(
    ([first, ...others]): TestRows[] => (first ? [[first, ...others]] : []),
  );
}

/** Whether the proportion is outside of the interval of §4.2.1; false where it is not judged. */
export function isOutside({ proportion, proportion_min, proportion_max }: RandomnessRow): boolean {
  if (proportion === null || proportion_min === null || proportion_max === null) return false;
  return proportion < proportion_min || proportion > proportion_max;
}

/** How many of the judged rows are outside of their interval, on average, when the source is sound. */
export function expectedOutside(rows: readonly RandomnessRow[]): number {
  const bySamples = new Map<number, number>();
  let sum = 0;
  for (const { samples, proportion_min: low, proportion_max: high } of rows) {
    if (low === null || high === null) continue;
    const known = bySamples.get(samples) ?? outsideProbability(samples, low, high);
    bySamples.set(samples, known);
    sum += known;
  }
  return sum;
}

/** Probability that of m samples, each failing with probability α, the share that passes leaves the interval. */
function outsideProbability(m: number, low: number, high: number): number {
  let within = 0;
  let failures = (1 - ALPHA) ** m;
  for (let k = 0; k <= m; k++) {
    const proportion = (m - k) / m;
    if (proportion >= low && proportion <= high) within += failures;
    failures *= ((m - k) / (k + 1)) * (ALPHA / (1 - ALPHA));
  }
  return Math.max(0, 1 - within);
}

/** The histograms of rows, added up. */
export function pooledHistogram(rows: readonly RandomnessRow[]): number[] {
  return Array.from({ length: 10 }, (_, bin) =>
    rows.reduce((sum, { histogram }) => sum + (histogram[bin] ?? 0), 0),
  );
}
