/**
 * Measures requests per second of the real server, compared with a bare Fastify route that returns the same JSON.
 *
 *   node bench/http.ts [--seconds N] [--connections N] [--rounds N] [--data-dir D] [--save]
 *
 * Both run in separate processes and take turns, round after round, so that a disturbance of the machine affects
 * both. Answers are checked before timing. Only 2xx answers count. The report names other answers, and a server
 * whose own counter differs.
 */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { drive } from './drive.ts';
import {
  addAccount,
  type Load,
  NOISE_LIMIT,
  PLAIN,
  percentile,
  post,
  type Round,
  serverEnvironment,
  spread,
  startBare,
  startServer,
  type Target,
  usage,
  verify,
  WITH_EVIDENCE,
} from './load.ts';
import { diskSync, machine, median } from './results.ts';
import { type Finding, type LoadOptions, readLoadOptions, runBenchmark } from './run.ts';

/** A suite worker takes one request at a time: more connections only lengthen the queue. */
const EVIDENCE_CONNECTIONS = 8;

const SETTLE_MS = 300;

/** One case to measure. */
interface Case extends Load {
  readonly name: string;
  readonly target: Target;
  /** True if the server also counts the answers. */
  readonly metered: boolean;
}

function makeCases(server: Target, bare: Target, key: string, connections: number): Case[] {
  const generate = { target: server, path: '/api/v2/generate', metered: true };
  const few = Math.min(connections, EVIDENCE_CONNECTIONS);
  return [
    { ...generate, name: 'bare route', target: bare, body: PLAIN, connections, metered: false },
    { ...generate, name: 'generate', body: PLAIN, connections },
    {
      ...generate,
      name: 'validate',
      path: '/api/v2/validate',
      body: JSON.stringify({ key }),
      connections,
    },
    { ...generate, name: 'generate, validated', body: WITH_EVIDENCE, connections: few },
  ];
}

/** Waits until the server has finished the requests of the last round, which would slow the next one. */
async function settle(server: Target): Promise<void> {
  // The queue of the suite workers is first in, first out, and its jobs are the long ones.
  await post(server, '/api/v2/generate', WITH_EVIDENCE);
  await setTimeout(SETTLE_MS);
}

/** Runs one round and compares it with the server's own counter, if any. */
async function measure(one: Case, server: Target, seconds: number): Promise<Round> {
  if (!one.metered) return drive(one.target, one, seconds);
  const before = await usage(server);
  const round = await drive(one.target, one, seconds);
  const counted = (await usage(server)) - before;
  await settle(server);
  const answered = round.latenciesMs.length;
  // The server counts requests in progress at the end, and we do not.
  const agrees = counted >= answered && counted <= answered + one.connections;
  const problem = `we count ${answered} answers, the server counts ${counted} requests`;
  return agrees ? round : { ...round, problems: [...round.problems, problem] };
}

interface Summary {
  readonly line: string;
  readonly warnings: readonly string[];
}

function summarise(one: Case, rounds: readonly Round[], bare: readonly Round[]): Summary {
  const rates = rounds.map(({ perSecond }) => perSecond);
  const rate = median(rates);
  const ratio = median(rounds.map(({ perSecond }, i) => perSecond / bare[i].perSecond));
  const differ = spread(rates);
  const latency = (share: number) =>
    median(rounds.map((round) => percentile(round, share))).toFixed(2);
  const cells = [
    one.name.padEnd(20),
    String(one.connections).padStart(5),
    rate.toFixed(rate < 100 ? 1 : 0).padStart(9),
    ratio.toPrecision(2).padStart(8),
    ...[0.5, 0.975, 0.99].map((share) => latency(share).padStart(9)),
    `${(100 * differ).toFixed(0)} %`.padStart(8),
  ];
  const noise = `${one.name}: the rounds differ by ${(100 * differ).toFixed(0)} %, above 10 %: do not trust this figure`;
  const problems = rounds.flatMap((round, i) =>
    round.problems.map((problem) => `${one.name}, round ${i + 1}: ${problem}`),
  );
  return {
    line: cells.join(' '),
    warnings: differ > NOISE_LIMIT ? [...problems, noise] : problems,
  };
}

function heading({ seconds, rounds }: LoadOptions, folder: string): string {
  const cores = availableParallelism();
  return [
    machine(),
    `${rounds} rounds of ${seconds} s, in turns`,
    `server: default settings except rate limits (off) and demo keys (off); its log goes to a file`,
    `disk sync of 4 KiB beside the database: ${diskSync(folder)}`,
    `The load generator shares the ${cores} cores with what it drives` +
      (cores < 4 ? ': with so few, all rates are lower than a server alone would reach.' : '.'),
    '',
    'case                 conns   req/s  of bare    p50 ms  p97.5 ms   p99 ms   spread',
  ].join('\n');
}

async function run(options: LoadOptions, folder: string): Promise<Finding> {
  const env = serverEnvironment(join(folder, 'data'));
  const headers = addAccount(env);
  const server = await startServer(env, headers, join(folder, 'log'));
  const key = await verify(server);
  const bareTarget = await startBare(server, join(folder, 'bare-log'));
  const cases = makeCases(server, bareTarget, key, options.connections);
  const rounds = new Map<Case, Round[]>(cases.map((one) => [one, []]));
  for (const one of cases) await drive(one.target, one, 1);
  await settle(server);
  for (let i = 0; i < options.rounds; i++) {
    for (const [one, done] of rounds) {
      done.push(await measure(one, server, options.seconds));
      process.stderr.write(`round ${i + 1}: ${one.name} ${done[i]?.perSecond.toFixed(1)}/s\n`);
    }
  }
  const bare = rounds.get(cases[0]) ?? [];
  const summaries = [...rounds].map(([one, done]) => summarise(one, done, bare));
  const warnings = summaries.flatMap((summary) => summary.warnings);
  const lines = [
    heading(options, folder),
    ...summaries.map(({ line }) => line),
    ...warnings.map((warning) => `WARNING: ${warning}`),
    'req/s: median of the rounds, 2xx answers only. of bare: median of the ratios round by round.',
    'Latencies: percentiles of each round, then their median, as the load generator sees them.',
  ];
  const sound = [...rounds.values()].flat().every(({ problems }) => problems.length === 0);
  return { text: `${lines.join('\n')}\n`, sound };
}

const options = readLoadOptions({ connections: '32', rounds: '5' });
await runBenchmark('http', options, (folder) => run(options, folder));
