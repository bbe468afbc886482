/**
 * Compares batches, sealed keys and requests with an Idempotency-Key with single requests for plain keys, in one run.
 *
 *   node bench/batches.ts [--seconds N] [--connections N] [--rounds N] [--data-dir D] [--save]
 *
 * The cases take turns, round after round, so that a disturbance of the machine affects all. A round's ratio compares
 * keys per second with another case of the same round; the report has the median of the ratios. Only complete answers
 * with status 200 count.
 */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { encodeBase64Url, newRecipient, type SealSuiteName } from '#sealing';
import { drive } from './drive.ts';
import {
  addAccount,
  check,
  type Load,
  NOISE_LIMIT,
  PLAIN,
  percentile,
  post,
  type Round,
  serverEnvironment,
  spread,
  startServer,
  type Target,
  WITH_EVIDENCE,
} from './load.ts';
import { diskSync, machine, median } from './results.ts';
import { type Finding, type LoadOptions, readLoadOptions, runBenchmark } from './run.ts';

const PLAIN_BATCH = 1_000;
const SEALED_BATCH = 100;
const VALIDATED_BATCH = 1_000;

/** A suite worker takes one key at a time: more connections only lengthen the queue. */
const SUITE_CONNECTIONS = 8;
const BATCH_CONNECTIONS = 4;

interface Case extends Load {
  readonly name: string;
  /** Keys per answer. */
  readonly keys: number;
  /** Name of the case to compare keys per second with, and the ratio that the design asks for. */
  readonly than: string | null;
  readonly goal: number | null;
}

async function makeCases(connections: number): Promise<Case[]> {
  const single = { path: '/api/v2/generate', keys: 1, connections, body: PLAIN };
  // Each request has a header of its own in all cases of single plain keys, because the load generator pays for it.
  const bare: Case = { ...single, name: 'plain', than: null, goal: null, ownHeader: 'x-unused' };
  const few = Math.min(connections, SUITE_CONNECTIONS);
  const sealed = { ...single, path: '/api/v2/generate/sealed', than: 'plain', goal: null };
  const batch = { ...single, path: '/api/v2/generate/batch', connections: BATCH_CONNECTIONS };
  const hybrid = await sealedBody('MLKEM768-X25519');
  return [
    bare,
    {
      ...bare,
      name: 'plain, Idempotency-Key',
      ownHeader: 'idempotency-key',
      than: 'plain',
      goal: 0.85,
    },
    {
      ...batch,
      name: `plain, batch of ${PLAIN_BATCH}`,
      keys: PLAIN_BATCH,
      than: 'plain',
      goal: 5,
      body: JSON.stringify({ security_level: 256, count: PLAIN_BATCH }),
    },
    { ...sealed, name: 'sealed, MLKEM768-X25519', body: JSON.stringify(hybrid) },
    {
      ...sealed,
      name: 'sealed, Idempotency-Key',
      body: JSON.stringify(hybrid),
      ownHeader: 'idempotency-key',
    },
    {
      ...sealed,
      name: 'sealed, ML-KEM-1024',
      body: JSON.stringify(await sealedBody('ML-KEM-1024')),
    },
    {
      ...sealed,
      name: `sealed, batch of ${SEALED_BATCH}`,
      path: '/api/v2/generate/sealed/batch',
      keys: SEALED_BATCH,
      connections: BATCH_CONNECTIONS,
      body: JSON.stringify({ ...hybrid, count: SEALED_BATCH }),
    },
    { ...single, name: 'validated', body: WITH_EVIDENCE, connections: few, than: null, goal: null },
    {
      ...batch,
      name: `validated, batch of ${VALIDATED_BATCH}`,
      keys: VALIDATED_BATCH,
      connections: 1,
      than: 'validated',
      goal: 0.95,
      body: JSON.stringify({
        security_level: 256,
        enable_nist_validation: true,
        count: VALIDATED_BATCH,
      }),
    },
  ];
}

async function sealedBody(name: SealSuiteName): Promise<Record<string, unknown>> {
  const { suite, publicKey } = await newRecipient(name);
  return { security_level: 256, seal_to: { suite, public_key: encodeBase64Url(publicKey) } };
}

/** Checks one answer of each case, so that the right thing is timed. */
async function verify(server: Target, cases: readonly Case[]): Promise<void> {
  for (const { name, path, body, keys } of cases) {
    const answer = await post(server, path, body);
    const all = (answer.keys as Record<string, unknown>[] | undefined) ?? [answer];
    check(all.length === keys, `${name}: ${keys} keys in an answer`);
    check(new Set(all.map((one) => one.key_id)).size === keys, `${name}: key IDs differ`);
    const isSealed = path.includes('sealed');
    check(
      all.every((one) => (isSealed ? one.sealed_key : one.key) !== undefined),
      `${name}: each key is ${isSealed ? 'sealed' : 'in plaintext'}`,
    );
  }
}

/**
 * Sends large batches on each connection until the time is over, and waits for the last answers: the time of a part of a
 * batch counts with its keys.
 */
async function driveBatches(server: Target, load: Case, seconds: number): Promise<Round> {
  const latencies: number[] = [];
  const problems: string[] = [];
  const began = performance.now();
  const isOver = () => performance.now() - began >= seconds * 1_000;
  const connection = async () => {
    do {
      const from = performance.now();
      try {
        await post(server, load.path, load.body);
        latencies.push(performance.now() - from);
      } catch (error) {
        problems.push((error as Error).message);
      }
    } while (!isOver() && problems.length === 0);
  };
  await Promise.all(Array.from({ length: load.connections }, connection));
  return {
    perSecond: latencies.length / ((performance.now() - began) / 1_000),
    latenciesMs: Float64Array.from(latencies).sort(),
    problems,
  };
}

function measure(server: Target, one: Case, seconds: number): Promise<Round> {
  return one.keys === 1 ? drive(server, one, seconds) : driveBatches(server, one, seconds);
}

interface Summary {
  readonly line: string;
  readonly warnings: readonly string[];
}

function summarise(
  one: Case,
  rounds: ReadonlyMap<string, readonly Round[]>,
  cases: readonly Case[],
): Summary {
  const own = rounds.get(one.name) ?? [];
  const rates = own.map(({ perSecond }) => perSecond * one.keys);
  const than = cases.find(({ name }) => name === one.than);
  const base = (than && rounds.get(than.name)?.map(({ perSecond }) => perSecond * than.keys)) ?? [];
  const ratio = than ? median(rates.map((rate, i) => rate / base[i])) : null;
  const isMissed = one.goal !== null && ratio !== null && ratio < one.goal;
  const latency = median(own.map((round) => percentile(round, 0.5)));
  const rate = median(rates);
  const line = [
    ratio === null ? ''.padStart(7) : ratio.toPrecision(3).padStart(7),
    (than?.name ?? '').padEnd(10),
    (one.goal === null ? '' : `≥ ${one.goal}`).padStart(7),
    ` ${one.name}`.padEnd(27),
    String(one.connections).padStart(5),
    rate.toFixed(rate < 100 ? 1 : 0).padStart(8),
    latency.toFixed(2).padStart(9),
    `${(100 * spread(rates)).toFixed(0)} %`.padStart(7),
  ].join(' ');
  const problems = own.flatMap((round, i) =>
    round.problems.map((problem) => `${one.name}, round ${i + 1}: ${problem}`),
  );
  const warnings = [
    ...problems,
    ...(isMissed ? [`${one.name}: the ratio misses its goal`] : []),
    ...(spread(rates) > NOISE_LIMIT ? [`${one.name}: the rounds differ by more than 10 %`] : []),
  ];
  return { line, warnings };
}

function heading({ seconds, rounds }: LoadOptions, folder: string): string {
  return [
    machine(),
    `${rounds} rounds of ${seconds} s, in turns`,
    'server: default settings except rate limits (off) and demo keys (off); its log goes to a file',
    `disk sync of 4 KiB beside the database: ${diskSync(folder)}`,
    `The load generator shares the ${availableParallelism()} cores with the server.`,
    '',
    '  ratio of case         goal  case                       conns   keys/s    p50 ms  spread',
  ].join('\n');
}

async function run(options: LoadOptions, folder: string): Promise<Finding> {
  const env = serverEnvironment(join(folder, 'data'));
  const headers = addAccount(env);
  const server = await startServer(env, headers, join(folder, 'log'));
  const cases = await makeCases(options.connections);
  await verify(server, cases);
  for (const one of cases) await measure(server, one, 1);
  const rounds = new Map<string, Round[]>(cases.map(({ name }) => [name, []]));
  for (let i = 0; i < options.rounds; i++) {
    for (const one of cases) {
      const round = await measure(server, one, options.seconds);
      rounds.get(one.name)?.push(round);
      const rate = (round.perSecond * one.keys).toFixed(1);
      process.stderr.write(`round ${i + 1}: ${one.name} ${rate} keys/s\n`);
    }
  }
  const summaries = cases.map((one) => summarise(one, rounds, cases));
  const warnings = summaries.flatMap((summary) => summary.warnings);
  const lines = [
    heading(options, folder),
    ...summaries.map(({ line }) => line),
    ...warnings.map((warning) => `WARNING: ${warning}`),
    'keys/s: median of the rounds. ratio: median of the ratios round by round. p50: of one request.',
  ];
  const sound = [...rounds.values()].flat().every(({ problems }) => problems.length === 0);
  return { text: `${lines.join('\n')}\n`, sound };
}

const options = readLoadOptions({ connections: '32', rounds: '3' });
await runBenchmark('batches', options, (folder) => run(options, folder));
