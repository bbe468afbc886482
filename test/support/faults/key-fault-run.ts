/** Runs a server with a fault in the path of its keys, and counts what it releases. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeBase64Url, newRecipient } from '#sealing';
import { makeDataDir, phmJson, removeDataDir, Server } from '../servers/server.ts';
import { type FaultName, keyFaultUrl, type StageName } from './inject-key-fault.ts';

/** How keys are asked for. */
type Asked = 'one by one' | 'two at a time' | 'in a batch' | 'sealed';

interface KeyFault {
  readonly stage: StageName;
  readonly fault: FaultName;
  readonly asked: Asked;
}

interface FaultOutcome {
  /** Keys released after the fault began. */
  readonly released: number;
  /** `cause`, `test` of the latch; the detail of the source; or `nothing`. */
  readonly stoppedBy: string;
}

/** Keys that a batch has. */
const BATCH = 4;

/** Starts a server, lets it release a key, begins the fault, and asks for keys until one is refused or `most` are released. */
export async function runKeyFault(
  { stage, fault, asked }: KeyFault,
  most: number,
): Promise<FaultOutcome> {
  const folder = makeDataDir();
  const sign = join(folder, 'the-fault-has-begun');
  let server: Server | undefined;
  try {
    const { account_id } = await phmJson<{ account_id: string }>(
      ['account', 'create', '--init', '--name', 'n', '--plan', 'enterprise'],
      folder,
    );
    const { api_key } = await phmJson<{ api_key: string }>(
      ['api-key', 'issue', '--account', account_id],
      folder,
    );
    server = await Server.start(folder, {
      NODE_OPTIONS: `--import ${keyFaultUrl(stage, fault, sign)}`,
      PHM_RATE_LIMITS: 'off',
    });
    const ask = await asker(server, api_key, asked);
    await ask();
    writeFileSync(sign, '');
    let released = 0;
    for (;;) {
      const keys = await ask();
      released += keys;
      if (keys === 0 || released >= most) break;
    }
    return { released, stoppedBy: await reasonOf(server) };
  } finally {
    await server?.stop('SIGKILL');
    removeDataDir(folder);
  }
}

/** Returns a function that asks for keys and returns how many came. */
async function asker(server: Server, apiKey: string, asked: Asked): Promise<() => Promise<number>> {
  const post = async (path: string, body: object) => {
    const { status, body: answer } = await server.request(`/api/v2/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': apiKey },
      body: JSON.stringify({ security_level: 256, ...body }),
    });
    if (status === 503) return 0;
    if (status !== 200) throw new Error(`unexpected ${status}: ${answer.detail}`);
    return answer.count ?? 1;
  };
  if (asked === 'one by one') return () => post('generate', {});
  if (asked === 'in a batch') return () => post('generate/batch', { count: BATCH });
  if (asked === 'two at a time') {
    return async () => {
      const counts = await Promise.all([post('generate', {}), post('generate', {})]);
      return counts.reduce((sum, count) => sum + count, 0);
    };
  }
  const { suite, publicKey } = await newRecipient();
  const seal_to = { suite, public_key: encodeBase64Url(publicKey) };
  return () => post('generate/sealed', { seal_to });
}

async function reasonOf(server: Server): Promise<string> {
  const { body } = await server.request('/readyz');
  if (body.latch) return `\`${body.latch.cause}\`, \`${body.latch.test}\``;
  return body.checks?.['entropy:os'] === 'unavailable' ? '`entropy:os`' : 'nothing';
}

/** All experiments, in the order of the path. */
export const EXPERIMENTS: readonly KeyFault[] = [
  ...every('carrier, before it is copied', [
    'a stuck bit',
    'a stuck byte',
    'a constant half',
    'all keys the same but for one bit',
    'all keys the same',
  ]),
  { stage: 'carrier lost in the modulation', fault: 'all keys the same', asked: 'one by one' },
  ...every('key, after its modulation'),
  ...every('key, after its proof', ['a stuck bit', 'a constant half', 'one bit flipped']),
  ...every('key, after its commitment', ['a stuck bit', 'one bit flipped']),
  ...every('key, after its modulation', ['a constant half'], 'in a batch'),
  ...every('key, after its modulation', ['a constant half'], 'sealed'),
  ...every('key, before its seal', ['a stuck bit', 'one bit flipped'], 'sealed'),
  ...every('message, as a thread writes it', ['a stuck bit', 'a constant half']),
  ...every('message, as a thread reads it', ['one bit flipped', 'all keys the same']),
  ...every('message, as a thread reads it', ['one bit flipped'], 'in a batch'),
  ...every('answer, as its text is written', ['a stuck bit', 'all keys the same']),
  ...every('answer, as its text is written', ['one bit flipped'], 'in a batch'),
  { stage: 'answers of two requests, swapped', fault: 'one bit flipped', asked: 'two at a time' },
  { stage: 'os, one block', fault: 'all keys the same', asked: 'one by one' },
  { stage: 'os, two blocks in turn', fault: 'all keys the same', asked: 'one by one' },
];

/** Returns an experiment for each fault; for all but the related ones without a list. */
function every(
  stage: StageName,
  faults: readonly FaultName[] = [
    'a stuck bit',
    'a stuck byte',
    'a constant half',
    'one bit flipped',
    'all keys the same but for one bit',
    'all keys the same',
  ],
  asked: Asked = 'one by one',
): KeyFault[] {
  return faults.map((fault) => ({ stage, fault, asked }));
}
