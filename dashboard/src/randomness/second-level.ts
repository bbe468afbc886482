/** Helpers for the rows of the second level. Statistics and verdicts come from the service. */
import type { RandomnessRow } from '../api.ts';
import { groupByTest, MODULATION_TEXT, type TestGroup, testText } from '../tests.ts';

/** Minimum number of samples for the second level (SP 800-22 §4.2.2). */
export const MINIMUM_KEYS = 55;

/** P-value_T below which the p-values of one row are not uniform (§4.2.2). */
export const UNIFORMITY_ALPHA = 1e-4;

const ALPHA = 0.01;

/** Returns the ID of a row within an answer. */
export function rowId({ stream, test, label }: RandomnessRow): string {
  return `${stream}/${test}/${label}`;
}

/** Returns the title of a test. Tests after modulation say so; all others judge the generator's output. */
export function testTitle({ stream, test }: Pick<RandomnessRow, 'stream' | 'test'>): string {
  const { title } = testText(test);
  return stream === 'modulated' ? `${title}, after modulation` : title;
}

/** Returns the title of a row: its test, and its label if the test has several. */
export function rowTitle(row: RandomnessRow): string {
  return `${testTitle(row)} ${row.label}`.trim();
}

/** Returns the rows that judge the generator. */
export function carrierRows(rows: readonly RandomnessRow[]): readonly RandomnessRow[] {
  return rows.filter(({ stream }) => stream === 'carrier');
}

/** The rows of one test on one stream. */
export type TestRows = readonly [RandomnessRow, ...RandomnessRow[]];

/** Groups the tests of the generator's output. The tests of the modulation come last. */
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

/** Reports whether the proportion is outside the interval of §4.2.1; false if it is not judged. */
export function isOutside({ proportion, proportion_min, proportion_max }: RandomnessRow): boolean {
  if (proportion === null || proportion_min === null || proportion_max === null) return false;
  return proportion < proportion_min || proportion > proportion_max;
}

/** Returns the mean number of judged rows that are outside their interval for a sound source. */
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

/** Returns the probability that the share of passes of m samples, each failing with probability α, leaves the interval. */
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

/** Adds up the histograms of rows. */
export function pooledHistogram(rows: readonly RandomnessRow[]): number[] {
  return Array.from({ length: 10 }, (_, bin) =>
    rows.reduce((sum, { histogram }) => sum + (histogram[bin] ?? 0), 0),
  );
}
