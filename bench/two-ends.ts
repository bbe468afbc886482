/**
 * What two ends cost: an agent that hands out keys from its pool, the opening of sealed keys, and the service that seals each key to
 * two recipients. Linux only.
 *
 *   node bench/two-ends.ts [--seconds N] [--rounds N] [--rate N] [--connections N] [--data-dir D] [--save]
 *
 * - The agent has one core, mutual TLS on kept connections, and a pool of 1,000 keys, of which a round takes 750. The service is stopped during a round, so that only the
 *   agent is measured. Requests are sent at fixed times, whatever the answers.
 * - Openings are those of the TypeScript client in this process, with the receipt, one after another.
 * - The service gets batches of 100 keys for two recipients, without and with deliveries, in turns, and shares the cores with the load
 *   generator.
 */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { encodeBase64Url } from '#sealing';
import {
  formatRecipient,
  newRecipient,
  openSealedKey,
  type RecipientKey,
  SEAL_SUITES,
} from '../sdk/src/index.ts';
import { AgentProcess, type Answers, READY } from './agent-process.ts';
import { threadTimes } from './cpu.ts';
import {
  check,
  type Environment,
  phm,
  positive,
  post,
  serverEnvironment,
  startServer,
  type Target,
} from './load.ts';
import { diskSync, machine, median } from './results.ts';
import {
  type Finding,
  type LoadOptions,
  loadArguments,
  runBenchmark,
  toLoadOptions,
} from './run.ts';

const BATCH = 100;

/** Keys whose openings are timed, for each suite. */
const OPENINGS = 300;

const GOAL_P99_MS = 5;
const GOAL_SEALED = 2_000;

interface Site {
  readonly server: Target;
  readonly apiKey: string;
  readonly policy: string;
  readonly recipients: readonly [RecipientKey, RecipientKey];
}

async function startSite(folder: string): Promise<Site> {
  const env: Environment = {
    ...serverEnvironment(join(folder, 'data')),
    PHM_BOX_COPIES: '1000000',
    PHM_BOX_MIB: '4096',
  };
  const create = ['account', 'create', '--init', '--name', 'bench', '--plan', 'enterprise'];
  const { account_id: account = '' } = phm(env, create);
  const recipients = [await newRecipient(), await newRecipient()] as const;
  for (const [i, recipient] of recipients.entries()) {
    const name = `site-${i === 0 ? 'a' : 'b'}`;
    const file = join(folder, name);
    writeFileSync(file, formatRecipient(recipient));
    phm(env, ['recipient', 'add', name, '--account', account, '--public-key', file]);
  }
  const { api_key: apiKey = '' } = phm(env, ['api-key', 'issue', '--account', account]);
  const headers = { 'content-type': 'application/json', 'x-api-key': apiKey };
  const server = await startServer(env, headers, join(folder, 'log'));
  const policy = await (await fetch(`${server.address}/log/policy`)).text();
  return { server, apiKey, policy, recipients };
}

const at = ({ latenciesMs }: Answers, share: number): number =>
  latenciesMs[Math.min(latenciesMs.length - 1, Math.floor(latenciesMs.length * share))] ??
  Number.NaN;

/** Measures the agent: median over the rounds of the median and of the 99th percentile. */
async function measureAgent(
  site: Site,
  rounds: number,
  rate: number,
  folder: string,
): Promise<Finding> {
  const { server, apiKey, policy, recipients } = site;
  const [own, peer] = recipients;
  const agent = await AgentProcess.start({
    folder,
    url: server.address,
    apiKey,
    policy,
    own,
    peer,
  });
  const answers: Answers[] = [];
  try {
    for (let i = 0; i < rounds; i += 1) {
      await agent.isFilled();
      process.kill(server.pid, 'SIGSTOP');
      try {
        answers.push(await agent.take(rate, READY));
      } finally {
        process.kill(server.pid, 'SIGCONT');
      }
    }
  } finally {
    await agent.stop();
  }
  const [p50, p99] = [0.5, 0.99].map((share) => median(answers.map((one) => at(one, share))));
  const failures = answers.flatMap((one) => one.failures);
  const text = [
    `An agent on one core, ${rate} requests per second, a key each, ${rounds} rounds of ${READY}:`,
    `  p50 ${p50?.toFixed(2)} ms, p99 ${p99?.toFixed(2)} ms (goal ≤ ${GOAL_P99_MS}); ${failures.length} failed`,
    ...failures.slice(0, 3).map((one) => `  WARNING: ${one}`),
  ].join('\n');
  return { text, sound: failures.length === 0 };
}

/** Measures the opening of sealed keys with their receipts, by suite. */
async function measureOpenings({ server, policy }: Site): Promise<string> {
  const lines = ['Opening a sealed key with its receipt, in one thread:'];
  for (const { name } of SEAL_SUITES) {
    const own = await newRecipient(name);
    const seal_to = { suite: name, public_key: encodeBase64Url(own.publicKey) };
    const body = { security_level: 256, count: BATCH, seal_to, include: ['receipt'] };
    const times: number[] = [];
    while (times.length < OPENINGS) {
      const { keys } = await post(server, '/api/v2/generate/sealed/batch', JSON.stringify(body));
      for (const answer of keys as readonly { receipt: unknown }[]) {
        if (answer.receipt === null) continue;
        const from = performance.now();
        const { verdict } = await openSealedKey(answer, own, { policy });
        times.push(performance.now() - from);
        check(verdict !== null, 'the receipt was verified');
      }
    }
    lines.push(`  ${name.padEnd(16)} ${median(times).toFixed(2)} ms`);
  }
  return lines.join('\n');
}

interface Sealed {
  readonly perSecond: number;
  /** Microseconds of processor time for each key, by thread. */
  readonly cpuUs: ReadonlyMap<string, number>;
}

/** Sends batches for two recipients on each connection until the time is over. */
async function sealForTwo(
  server: Target,
  options: LoadOptions,
  delivers: boolean,
): Promise<Sealed> {
  const before = threadTimes(server.pid);
  const began = performance.now();
  let keys = 0;
  const connection = async (): Promise<void> => {
    while (performance.now() - began < options.seconds * 1_000) {
      const ids = Array.from({ length: BATCH }, () => randomUUID());
      const seal_to = [{ recipient: 'site-a' }, { recipient: 'site-b' }];
      const deliver = delivers ? { deliver: { ids, for: '60s' } } : {};
      const body = JSON.stringify({ security_level: 256, count: BATCH, seal_to, ...deliver });
      const answer = await post(server, '/api/v2/generate/sealed/batch', body);
      const made = answer.keys as readonly { sealed_keys: readonly unknown[] }[];
      check(
        made.length === BATCH && made.every((one) => one.sealed_keys.length === 2),
        'two copies',
      );
      keys += BATCH;
    }
  };
  await Promise.all(Array.from({ length: options.connections }, connection));
  const perSecond = keys / ((performance.now() - began) / 1_000);
  const after = threadTimes(server.pid);
  const cpuUs = new Map(
    [...after].map(([name, us]) => [name, (us - (before.get(name) ?? 0)) / keys]),
  );
  return { perSecond, cpuUs };
}

async function measureSealing({ server }: Site, options: LoadOptions): Promise<string> {
  const rounds: Record<'without' | 'with', Sealed[]> = { without: [], with: [] };
  for (let i = 0; i < options.rounds; i += 1) {
    rounds.without.push(await sealForTwo(server, options, false));
    rounds.with.push(await sealForTwo(server, options, true));
    await delay(1_000);
  }
  const lines = [
    `Sealing each key to two recipients, batches of ${BATCH}, ${options.connections} connections:`,
  ];
  for (const [name, measured] of Object.entries(rounds)) {
    const rate = median(measured.map(({ perSecond }) => perSecond));
    lines.push(`  ${name} deliveries: ${rate.toFixed(0)} keys/s (goal ≥ ${GOAL_SEALED})`);
    const threads = [...(measured.at(-1)?.cpuUs ?? [])].filter(([, us]) => us >= 5);
    for (const [thread, us] of threads.sort((a, b) => b[1] - a[1])) {
      lines.push(
        `    ${thread.padEnd(18)} ${us.toFixed(0).padStart(5)} µs of processor time for each key`,
      );
    }
  }
  return lines.join('\n');
}

async function run(options: LoadOptions, rate: number, folder: string): Promise<Finding> {
  const site = await startSite(folder);
  const agent = await measureAgent(site, options.rounds, rate, join(folder, 'agent'));
  const openings = await measureOpenings(site);
  const sealing = await measureSealing(site, options);
  const head = [
    machine(),
    `disk sync of 4 KiB beside the database: ${diskSync(folder)}`,
    `The load generator shares the ${availableParallelism()} cores. Figures are medians.`,
  ].join('\n');
  return { text: `${[head, agent.text, openings, sealing].join('\n\n')}\n`, sound: agent.sound };
}

const { values } = parseArgs({
  options: {
    ...loadArguments({ connections: '4', rounds: '5' }),
    rate: { type: 'string', default: '500' },
  },
});
const options = toLoadOptions(values);
const rate = positive('--rate', values.rate);
await runBenchmark('two-ends', options, (folder) => run(options, rate, folder));
