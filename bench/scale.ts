/**
 * Measures rate and tail of keys with a durable row: SQLite, and PostgreSQL with one, two and three servers, beside the
 * bare Fastify route and `pgbench` (one insert per transaction).
 *
 *   node bench/scale.ts [--cases bare,sqlite,postgres,servers] [--loads full,half,validated] [--against DIR]
 *     [--seconds N] [--connections N] [--rounds N] [--data-dir D] [--save]
 *
 * Loads: `full` sends as much as is answered; `half` sends half of that rate at even intervals; `validated` adds clients
 * that request validated keys. `--against` starts the servers of another built checkout too, and reports ratios.
 *
 * All cases share the cores of one machine with the load generator and take turns, round after round, so that a
 * disturbance affects all. Answers are checked before timing. The report also gives processor time per request,
 * garbage collection and event-loop delay by thread. Linux only.
 */
import { parseArgs } from 'node:util';
import { familyTime, threadTimes } from './cpu.ts';
import { drive, drivePaced, generatorTime } from './drive.ts';
import { PLAIN, stopAll, type Target, usage, WITH_EVIDENCE } from './load.ts';
import { median } from './results.ts';
import { type LoadOptions, loadArguments, runBenchmark, toLoadOptions } from './run.ts';
import { type Case, Database, GROUPS, type Group, startCases } from './scale-cases.ts';
import {
  COLUMNS_OF_THREADS,
  type FullRound,
  type HalfRound,
  type Measured,
  report,
} from './scale-report.ts';

const PATH = '/api/v2/generate';
const WARM_UP_SECONDS = 2;

/** Connections that request validated keys besides plain keys: enough to keep a suite worker busy. */
const EVIDENCE_CONNECTIONS = 4;

const LOADS = ['full', 'half', 'validated'] as const;
type LoadName = (typeof LOADS)[number];

interface ScaleOptions extends LoadOptions {
  readonly groups: readonly Group[];
  readonly loads: readonly LoadName[];
  readonly against: string | null;
}

/** Returns the names of a list separated by commas. Throws `RangeError` if one is unknown. */
function readNames<Name extends string>(
  flag: string,
  text: string,
  known: readonly Name[],
): Name[] {
  return text.split(',').map((word) => {
    const name = known.find((one) => one === word);
    if (name === undefined) throw new RangeError(`${flag} takes ${known.join()}; got ${word}`);
    return name;
  });
}

function readOptions(): ScaleOptions {
  const { values } = parseArgs({
    options: {
      ...loadArguments({ connections: '64', rounds: '5' }),
      cases: { type: 'string', default: GROUPS.join() },
      loads: { type: 'string', default: LOADS.join() },
      against: { type: 'string' },
    },
  });
  return {
    ...toLoadOptions(values),
    groups: readNames('--cases', values.cases, GROUPS),
    loads: readNames('--loads', values.loads, LOADS),
    against: values.against ?? null,
  };
}

/** Loads all servers of a case at once, each with its share of the connections. */
async function driveFully(one: Case, connections: number, seconds: number): Promise<FullRound> {
  const share = one.targets.length;
  const load = { path: PATH, body: PLAIN, connections: Math.ceil(connections / share) };
  const before = processorTimes(one);
  for (const { watch } of one.targets) watch?.reset();
  const rounds = await Promise.all(one.targets.map((target) => drive(target, load, seconds)));
  const after = processorTimes(one);
  const threads = await Promise.all(one.targets.map(({ watch }) => watch?.report() ?? []));
  const answers = rounds.reduce((sum, { latenciesMs }) => sum + latenciesMs.length, 0);
  return {
    perSecond: rounds.reduce((sum, round) => sum + round.perSecond, 0),
    latenciesMs: Float64Array.from(rounds.flatMap((round) => [...round.latenciesMs])).sort(),
    problems: rounds.flatMap(({ problems }) => problems),
    costUs: new Map(
      [...after].map(([name, us]) => [name, (us - (before.get(name) ?? 0)) / answers]),
    ),
    threads: threads.flat(),
    seconds,
  };
}

/** Returns the microseconds of processor time so far of everything that works for a case, by column of the report. */
function processorTimes({ targets, postmasterPid }: Case): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { pid } of targets) {
    for (const [name, us] of threadTimes(pid)) {
      const column = COLUMNS_OF_THREADS.get(name) ?? 'others';
      sums.set(column, (sums.get(column) ?? 0) + us);
    }
  }
  if (postmasterPid !== null) sums.set('PostgreSQL', familyTime(postmasterPid));
  return sums.set('load generator', generatorTime());
}

/** Runs one round of a case and compares it with the servers' own counter. */
async function measure(one: Case, { connections, seconds }: ScaleOptions): Promise<FullRound> {
  if (one.group === 'bare') return driveFully(one, connections, seconds);
  const counters = one.targets.filter(
    ({ headers }, i) => one.targets.findIndex((other) => other.headers === headers) === i,
  );
  const count = async () => {
    const counts = await Promise.all(counters.map((target) => usage(target)));
    return counts.reduce((sum, n) => sum + n, 0);
  };
  const before = await count();
  const round = await driveFully(one, connections, seconds);
  const counted = (await count()) - before;
  const answered = round.latenciesMs.length;
  // The server counts requests in progress at the end, and we do not.
  const agrees = counted >= answered && counted <= answered + connections + one.targets.length;
  const problem = `we count ${answered} answers, the server counts ${counted} requests`;
  return agrees ? round : { ...round, problems: [...round.problems, problem] };
}

/** Measures latency at a rate, and again beside clients that request validated keys if `withValidated`. */
async function measurePaced(
  target: Target,
  rate: number,
  { connections, seconds }: ScaleOptions,
  withValidated: boolean,
): Promise<HalfRound> {
  const plain = { path: PATH, body: PLAIN, connections };
  const alone = await drivePaced(target, plain, seconds, rate);
  if (!withValidated) return { alone, beside: null, validated: null };
  const suites = { path: PATH, body: WITH_EVIDENCE, connections: EVIDENCE_CONNECTIONS };
  const [beside, validated] = await Promise.all([
    drivePaced(target, plain, seconds, rate),
    drive(target, suites, seconds),
  ]);
  return { alone, beside, validated };
}

/** Measures single servers at half of their own rates, and the bare route at half of the first server's. */
async function measureHalf(measured: readonly Measured[], options: ScaleOptions): Promise<void> {
  const single = measured.filter(({ one }) => one.group !== 'servers');
  const rateOf = ({ full }: Measured) => median(full.map(({ perSecond }) => perSecond));
  const first = single.find(({ one }) => one.group !== 'bare');
  for (let i = 0; i < options.rounds; i++) {
    for (const each of inTurn(single, i)) {
      const { one, half } = each;
      const isBare = one.group === 'bare';
      const rate = rateOf((isBare && first) || each) / 2;
      const withValidated = !isBare && options.loads.includes('validated');
      half.push(await measurePaced(one.targets[0], rate, options, withValidated));
    }
    process.stderr.write(`half load, round ${i + 1}\n`);
  }
}

/** Returns a list forwards in even rounds and backwards in odd ones, so that no case always follows the same one. */
function inTurn<Item>(items: readonly Item[], round: number): readonly Item[] {
  return round % 2 === 0 ? items : items.toReversed();
}

async function run(options: ScaleOptions, folder: string, database: Database | null) {
  const cases = await startCases(folder, options.groups, options.against, database);
  const measured: Measured[] = cases.map((one) => ({ one, full: [], half: [] }));
  const transactions: number[] = [];
  for (const one of cases) await driveFully(one, options.connections, WARM_UP_SECONDS);
  for (let i = 0; i < options.rounds; i++) {
    for (const { one, full } of inTurn(measured, i)) {
      const round = await measure(one, options);
      full.push(round);
      process.stderr.write(`round ${i + 1}: ${one.name} ${round.perSecond.toFixed(0)}/s\n`);
    }
    if (!options.groups.includes('servers')) continue;
    const perSecond = await database?.pgbench(options.seconds, folder);
    if (perSecond) transactions.push(perSecond);
  }
  if (options.loads.includes('half')) await measureHalf(measured, options);
  return report(options, folder, measured, transactions);
}

const options = readOptions();
await runBenchmark('scale', options, async (folder) => {
  const needsDatabase = options.groups.some((group) => group === 'postgres' || group === 'servers');
  const database = needsDatabase ? await Database.start() : null;
  try {
    return await run(options, folder, database);
  } finally {
    // End the servers before their database.
    await stopAll();
    await database?.cluster.remove();
  }
});
