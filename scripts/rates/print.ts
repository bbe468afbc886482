/** The counts as Markdown: shares with their 95 % intervals. */
import { judgeSecondLevel, NIST_PARAMETERS, type TestName } from '#sp800-22';
import { binomialLower, binomialUpper } from '../../packages/sp800-22/src/binomial.ts';
import { EVIDENCE_TESTS, evidenceTally } from '../../src/keys/evidence-suite.ts';
import { SAMPLE_BITS } from '../../src/keys/sample.ts';
import {
  type Counts,
  GATE_LEVELS,
  type GateCounts,
  GROUP,
  type ModulatedCounts,
  PAIRED_TESTS,
  type PairCounts,
  type Row,
  TEST_LEVELS,
  type TestCounts,
} from './counts.ts';
import { SOURCES } from './streams.ts';

/** Contents of a measurement's file. */
export interface SavedCounts {
  readonly source: string;
  readonly node: string;
  /** Commit of the last run, from `git describe`. */
  readonly commit: string;
  /** Times at which the first and the last thousand streams were done. */
  readonly first: string;
  readonly last: string;
  readonly counts: Counts;
}

/** Half of the probability outside a 95 % interval. */
const OUTSIDE = 0.025;

export function printCounts({ source, node, commit, first, last, counts }: SavedCounts): string {
  const { streams, seconds, carrier, gates, modulated } = counts;
  const perStream = ((1_000 * seconds) / streams).toPrecision(2);
  const sections = [
    [
      `## ${source}: ${grouped(streams)} ${SOURCES[source].describe}`,
      '',
      `Node ${node}, commit ${commit}, ${minute(first)} to ${minute(last)} UTC, ${perStream} ms of processor time a stream.`,
    ],
    ...Object.entries(gates).map(([type, gate]) => gateLines(type, gate)),
    ['Tests of the carrier below a level:', '', ...testLines(EVIDENCE_TESTS, carrier)],
    ...Object.entries(modulated).map((of) => modulatedLines(...of, counts)),
  ];
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function gateLines(type: string, gate: GateCounts): string[] {
  const { streams, tests, below, weakest, smallest, review } = gate;
  const numbers = Object.entries(tests).map(([k, count]) => `k = ${k} in ${grouped(count)}`);
  const byCount = Object.entries(weakest).sort(([, a], [, b]) => b[0] - a[0]);
  return [
    type === 'none'
      ? 'Gate of the carrier alone, as under `none`:'
      : `Gate of carrier and modulated stream, \`${type}\`:`,
    '',
    `- ${numbers.join(', ')}; smallest p ${smallest.toExponential(1)}`,
    `- \`REVIEW\`: ${share(review, streams)}`,
    '',
    ...table(
      ['Gate', 'below', 'share', '95 % interval'],
      GATE_LEVELS.map((level, i) => [
        power(level),
        grouped(below[i]),
        ...shareAndInterval(below[i], streams),
      ]),
    ),
    '',
    ...table(
      ['Test with the smallest p', ...GATE_LEVELS.map(power)],
      byCount.map(([name, counted]) => [name, ...counted.map(String)]),
    ),
  ];
}

function modulatedLines(type: string, of: ModulatedCounts, { rows, streams }: Counts): string[] {
  const { judged, failed, rowsOutside, rowsNotUniform } = of.groups;
  const mean = (count: number) => (count / judged).toFixed(2);
  return [
    `Tests of the modulated stream below a level, \`${type}\`:`,
    '',
    ...testLines(PAIRED_TESTS, of.tests),
    '',
    `p-values of carrier and modulated stream, \`${type}\`:`,
    '',
    ...table(
      ['Test', 'correlation', 'equal', 'both below 0.01', 'expected if independent'],
      PAIRED_TESTS.map((name) => pairCells(name, of.pairs[name])),
    ),
    '',
    `Second levels of ${grouped(GROUP)} streams each, 188 + 4 rows: ${failed} of ${judged} failed; a group has`,
    `${mean(rowsOutside)} rows outside of ±3σ and ${mean(rowsNotUniform)} with P-value_T below 0.0001 on average.`,
    '',
    ...secondLevelLines(streams, [...rows, ...of.rows]),
  ];
}

function testLines(names: readonly TestName[], counts: Record<string, TestCounts>): string[] {
  return table(
    ['Test', 'streams', ...TEST_LEVELS.map(power), 'share below 0.01', '95 % interval'],
    names.map((name) => {
      const { applied, below } = counts[name];
      return [name, grouped(applied), ...below.map(String), ...shareAndInterval(below[0], applied)];
    }),
  );
}

function pairCells(name: TestName, { n, x, y, xx, yy, xy, equal, bothBelowAlpha }: PairCounts) {
  const covariance = xy / n - (x / n) * (y / n);
  const variances = (xx / n - (x / n) ** 2) * (yy / n - (y / n) ** 2);
  const correlation = covariance / Math.sqrt(variances);
  // Of independent p-values it is normal with standard deviation 1/√n; equal ones have 1.
  return [
    name,
    equal === n ? '1' : `${correlation.toFixed(4)} ± ${(1 / Math.sqrt(n)).toFixed(4)}`,
    grouped(equal),
    String(bothBelowAlpha),
    (n * 1e-4).toPrecision(2),
  ];
}

function secondLevelLines(streams: number, rows: readonly Row[]): string[] {
  const labels = [
    ...evidenceTally().rows.map((row) => ({ ...row, stream: 'carrier' })),
    ...evidenceTally(PAIRED_TESTS).rows.map((row) => ({ ...row, stream: 'modulated' })),
  ];
  const verdict = judgeSecondLevel(
    streams,
    labels.map((label, i) => ({ ...label, ...rows[i] })),
    SAMPLE_BITS,
    NIST_PARAMETERS,
  );
  if (!verdict.judged) throw new Error(verdict.reason);
  const failed = verdict.rows.filter((row) => row.judged).filter((row) => !row.passed);
  return [
    `Second level of all ${grouped(streams)}: ${failed.length} of ${verdict.rowsJudged} rows failed.`,
    ...(failed.length === 0 ? [] : ['']),
    ...table(
      ['Row that failed', 'passes', 'p of the proportion', 'p of the uniformity'],
      failed.map(({ stream, test, label, passes, sequences, proportionCheck, uniformityCheck }) => [
        `${stream} ${test} ${label}`.trim(),
        `${grouped(passes)} of ${grouped(sequences)}`,
        ...[proportionCheck, uniformityCheck].map((check) =>
          check.judged ? check.p.toExponential(1) : 'not judged',
        ),
      ]),
    ),
  ];
}

function share(count: number, n: number): string {
  const [percent, interval] = shareAndInterval(count, n);
  return `${grouped(count)}, ${percent} (${interval})`;
}

/** Returns the share and its Clopper-Pearson interval; for no case, below 3/n with 95 % confidence. */
function shareAndInterval(count: number, n: number): [string, string] {
  if (count === 0) return ['0', `below ${percentOf(1 - 0.05 ** (1 / n))}`];
  const low = bisect((q) => binomialUpper(count, n, q) < OUTSIDE);
  const high = count === n ? 1 : bisect((q) => binomialLower(count, n, q) > OUTSIDE);
  return [percentOf(count / n), `${percentOf(low)} to ${percentOf(high)}`];
}

/** Returns the largest q for which the claim holds, given that it holds for all smaller ones. */
function bisect(holds: (q: number) => boolean): number {
  let [low, high] = [0, 1];
  for (let i = 0; i < 50; i++) {
    const middle = (low + high) / 2;
    if (holds(middle)) low = middle;
    else high = middle;
  }
  return low;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return [];
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
}

function percentOf(q: number): string {
  const percent = 100 * q;
  return `${percent >= 0.01 ? percent.toPrecision(3) : percent.toExponential(1)} %`;
}

function power(level: number): string {
  return `10^${Math.round(Math.log10(level))}`;
}

function grouped(count: number): string {
  return count.toLocaleString('en-US');
}

function minute(time: string): string {
  return time.slice(0, 16).replace('T', ' ');
}
