/** The tables of `bench/scale.ts`. */
import { availableParallelism } from 'node:os';
import { NOISE_LIMIT, percentile, type Round, spread } from './load.ts';
import { diskSync, machine, median } from './results.ts';
import type { Finding, LoadOptions } from './run.ts';
import type { Case } from './scale-cases.ts';
import type { ThreadReport } from './server-watch.ts';

/** Columns of processor time, by the thread names of the operating system. */
export const COLUMNS_OF_THREADS: ReadonlyMap<string, string> = new Map([
  ['node-MainThread', 'main'],
  ['phm-keys', 'keys'],
  ['phm-suite', 'suite'],
  ['phm-log', 'log'],
]);
const COST_COLUMNS = [
  ...COLUMNS_OF_THREADS.values(),
  'others',
  'PostgreSQL',
  'load generator',
] as const;

/** A round at full load, with its microseconds of processor time per request by column. */
export interface FullRound extends Round {
  readonly costUs: ReadonlyMap<string, number>;
  readonly threads: readonly ThreadReport[];
  readonly seconds: number;
}

/** A round at half load, alone and beside validated keys. */
export interface HalfRound {
  readonly alone: Round;
  readonly beside: Round | null;
  readonly validated: Round | null;
}

export interface Measured {
  readonly one: Case;
  readonly full: FullRound[];
  readonly half: HalfRound[];
}

const NAME_WIDTH = 24;

/** Returns a line: a name, and figures of these widths. */
function lineOf(name: string, cells: readonly (readonly [text: string, width: number])[]): string {
  return [name.padEnd(NAME_WIDTH), ...cells.map(([text, width]) => text.padStart(width))].join(' ');
}

function headOf(titles: readonly (readonly [title: string, width: number])[]): string {
  return lineOf('', titles);
}

/** Returns the median of a figure over the rounds. */
function over<Item>(rounds: readonly Item[], figure: (round: Item) => number): number {
  return median(rounds.map(figure));
}

const p50 = (round: Round) => percentile(round, 0.5);
const p99 = (round: Round) => percentile(round, 0.99);
const tail = (round: Round) => p99(round) / p50(round);

/** Processor time of everything but the load generator. */
function costOf({ costUs }: FullRound): number {
  return [...costUs].reduce((sum, [name, us]) => (name === 'load generator' ? sum : sum + us), 0);
}

const FULL_HEAD = `${headOf([
  ['keys/s', 8],
  ['of bare', 8],
  ['p50 ms', 7],
  ['p99 ms', 7],
  ['p99/p50', 7],
  ['spread', 7],
])}   CPU us a request: ${COST_COLUMNS.join(', ')}`;

function fullLine({ one, full }: Measured, bare: Measured | undefined): string {
  const rates = full.map(({ perSecond }) => perSecond);
  const ofBare = bare && median(rates.map((rate, i) => rate / bare.full[i].perSecond));
  const costs = COST_COLUMNS.map((column) => {
    const known = full.map(({ costUs }) => costUs.get(column));
    return known.includes(undefined) ? '-' : median(known.map((us) => us ?? 0)).toFixed(0);
  });
  const figures = lineOf(one.name, [
    [median(rates).toFixed(0), 8],
    [ofBare?.toPrecision(2) ?? '-', 8],
    [over(full, p50).toFixed(2), 7],
    [over(full, p99).toFixed(2), 7],
    [over(full, tail).toFixed(2), 7],
    [`${(100 * spread(rates)).toFixed(0)} %`, 7],
  ]);
  return `${figures}   ${costs.join(' / ')}`;
}

const THREAD_HEAD = headOf([
  ['thread', 12],
  ['pauses/s', 9],
  ['ms/s', 7],
  ['longest ms', 11],
  ['delay p99 ms', 13],
  ['longest ms', 11],
]);

/** Returns a line per thread of a single server. Of suite workers, which share a name, it takes the worst. */
function threadLines({ one, full }: Measured): string[] {
  const names = [...COLUMNS_OF_THREADS.keys()].map((name) =>
    name === 'node-MainThread' ? 'main' : name,
  );
  return names.flatMap((name) => {
    const rounds = full.map(({ threads, seconds }) => {
      const own = threads.filter(({ thread }) => thread === name);
      const most = (figure: (one: ThreadReport) => number) => Math.max(...own.map(figure));
      return { own, most, seconds };
    });
    if (rounds.some(({ own }) => own.length === 0)) return [];
    const worst = (figure: (one: ThreadReport) => number) =>
      over(rounds, ({ most }) => most(figure));
    const { seconds } = full[0];
    return lineOf(one.name, [
      [name, 12],
      [(worst(({ pauses }) => pauses) / seconds).toFixed(1), 9],
      [(worst(({ pausedMs }) => pausedMs) / seconds).toFixed(1), 7],
      [worst(({ longestPauseMs }) => longestPauseMs).toFixed(1), 11],
      [worst(({ delayP99Ms }) => delayP99Ms).toFixed(1), 13],
      [worst(({ longestDelayMs }) => longestDelayMs).toFixed(1), 11],
    ]);
  });
}

const HALF_HEAD = headOf([
  ['keys/s', 8],
  ['p50 ms', 8],
  ['p99 ms', 8],
  ['+ validated/s', 14],
  ['p50 ms', 8],
  ['p99 ms', 8],
]);

function halfLine({ one, half }: Measured): string {
  const alone = half.map((round) => round.alone);
  const beside = half.flatMap((round) => round.beside ?? []);
  const validated = half.flatMap((round) => round.validated ?? []);
  const perSecond = (round: Round) => round.perSecond;
  return lineOf(one.name, [
    [over(alone, perSecond).toFixed(0), 8],
    [over(alone, p50).toFixed(2), 8],
    [over(alone, p99).toFixed(2), 8],
    [validated.length > 0 ? over(validated, perSecond).toFixed(0) : '-', 14],
    [beside.length > 0 ? over(beside, p50).toFixed(2) : '-', 8],
    [beside.length > 0 ? over(beside, p99).toFixed(2) : '-', 8],
  ]);
}

const RATIO_HEAD = headOf([
  ['keys/s', 8],
  ['p50', 7],
  ['p99', 7],
  ['p99/p50', 8],
  ['CPU', 7],
  ['half p50', 9],
  ['half p99', 9],
]);

/** Returns medians of the ratios round by round: a case of this checkout to the same one of the other. */
function ratioLine(own: Measured, other: Measured): string {
  const ratio = (figure: (round: FullRound) => number) =>
    median(own.full.map((round, i) => figure(round) / figure(other.full[i]))).toFixed(2);
  const halfRatio = (figure: (round: Round) => number) =>
    own.half.length > 0
      ? median(own.half.map(({ alone }, i) => figure(alone) / figure(other.half[i].alone))).toFixed(
          2,
        )
      : '-';
  return lineOf(own.one.name, [
    [ratio(({ perSecond }) => perSecond), 8],
    [ratio(p50), 7],
    [ratio(p99), 7],
    [ratio(tail), 8],
    [ratio(costOf), 7],
    [halfRatio(p50), 9],
    [halfRatio(p99), 9],
  ]);
}

function problemsOf({ one, full, half }: Measured): string[] {
  const paced = half.flatMap(({ alone, beside, validated }) => [alone, beside, validated]);
  return [...full, ...paced]
    .flatMap((round) => round?.problems ?? [])
    .map((problem) => `${one.name}: ${problem}`);
}

function isNoisy({ full }: Measured): boolean {
  return spread(full.map(({ perSecond }) => perSecond)) > NOISE_LIMIT;
}

/** Returns the whole report. */
export function report(
  { seconds, connections, rounds }: LoadOptions,
  folder: string,
  measured: readonly Measured[],
  transactions: readonly number[],
): Finding {
  const bare = measured.find(({ one }) => one.group === 'bare');
  const single = measured.filter(({ one }) => one.group !== 'bare' && one.group !== 'servers');
  const halves = measured.filter(({ half }) => half.length > 0);
  const ratios = measured.flatMap((other) => {
    const own = measured.find(({ one }) => one.name === other.one.comparedWith);
    return own ? [ratioLine(own, other)] : [];
  });
  const problems = measured.flatMap(problemsOf);
  const noisy = measured
    .filter(isNoisy)
    .map(({ one }) => `${one.name}: the rounds differ by more than 10 %`);
  const pgbench =
    transactions.length > 0
      ? [`pgbench, one insert a transaction: ${median(transactions).toFixed(0)} transactions/s`]
      : [];
  const lines = [
    machine(),
    `${rounds} rounds of ${seconds} s in turns, ${connections} connections in all; plain keys of 256 bits`,
    'servers: default settings except rate limits (off) and demo keys (off)',
    `disk sync of 4 KiB beside the database: ${diskSync(folder)}`,
    `Load generator, servers and database share the ${availableParallelism()} cores.`,
    '',
    'full load',
    FULL_HEAD,
    ...measured.map((each) => fullLine(each, bare)),
    ...pgbench,
    '',
    'full load: pauses for garbage collection, and event-loop delay (by which a timer is late)',
    THREAD_HEAD,
    ...single.flatMap(threadLines),
    ...section(
      'half load, at even intervals; then beside 4 clients that request validated keys',
      HALF_HEAD,
      halves.map(halfLine),
    ),
    ...section('this checkout / the other', RATIO_HEAD, ratios),
    '',
    ...[...problems, ...noisy].map((warning) => `WARNING: ${warning}`),
    'Rates and latencies: medians of the rounds, 2xx only. of bare, and ratios: medians of the ratios round by round.',
    'Half load: half of the rate of the same case, for the bare route of the first server. Latency counts from the due time.',
  ];
  return { text: `${lines.join('\n')}\n`, sound: problems.length === 0 };
}

function section(title: string, head: string, lines: readonly string[]): string[] {
  return lines.length > 0 ? ['', title, head, ...lines] : [];
}
