/** An agent as a process on one core, beside a service, and requests to it at fixed times. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { formatRecipientKey, type RecipientKey, thumbprintOf } from '../sdk/src/index.ts';
import {
  alternativeName,
  makeCertificate,
  selfSigned,
} from '../test/support/servers/certificate.ts';

const PROGRAM = resolve(import.meta.dirname, '../packages/agent/src/bin.ts');

/** The last core: the load generator and the service have the others. */
const CORE = '1';

/** Keys of a full pool. The agent refills it once three quarters are left. */
const POOL = 1_000;

/** Keys that the pool holds before a round. */
export const READY = 0.75 * POOL;

interface AgentOptions {
  readonly folder: string;
  readonly url: string;
  readonly apiKey: string;
  readonly policy: string;
  readonly own: RecipientKey;
  readonly peer: RecipientKey;
}

/** Latencies in ms, ascending, and the statuses that were not 200. */
export interface Answers {
  readonly latenciesMs: Float64Array;
  readonly failures: readonly string[];
}

export class AgentProcess {
  readonly #url: string;
  readonly #agent: Agent;
  readonly #process: ChildProcess;

  private constructor(url: string, agent: Agent, child: ChildProcess) {
    this.#url = url;
    this.#agent = agent;
    this.#process = child;
  }

  static async start(options: AgentOptions): Promise<AgentProcess> {
    const place = (name: string): string => join(options.folder, name);
    mkdirSync(place('state'), { recursive: true, mode: 0o700 });
    makeCertificate(place('server.pem'), place('server.key'));
    const client = selfSigned(['router'], [alternativeName.uri('router-a')]);
    writeFileSync(place('clients.pem'), client.certificate);
    const secrets = {
      'recipient-key': formatRecipientKey(options.own),
      'api-key': options.apiKey,
      'log.policy': options.policy,
      'agent.json': JSON.stringify(await configOf(options, place)),
    };
    for (const [name, text] of Object.entries(secrets)) {
      writeFileSync(place(name), text, { mode: 0o600 });
    }
    const args = ['-c', CORE, process.execPath, PROGRAM, 'run', place('agent.json')];
    const child = spawn('taskset', args, { stdio: ['ignore', 'inherit', 'pipe'] });
    const address = await addressOf(child);
    const { certificate: cert, key } = client;
    const agent = new Agent({
      keepAlive: true,
      maxSockets: 32,
      cert,
      key,
      rejectUnauthorized: false,
    });
    return new AgentProcess(`https://${address}/api/v1/keys/router-b`, agent, child);
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  async stop(): Promise<void> {
    this.#agent.destroy();
    if (this.#process.exitCode !== null) return;
    const ended = once(this.#process, 'exit');
    this.#process.kill('SIGTERM');
    await ended;
  }

  /** Resolves once the pool holds `READY` keys. */
  async isFilled(): Promise<void> {
    for (;;) {
      const { text } = await this.#get('status');
      if (JSON.parse(text).stored_key_count >= READY) return;
      await delay(200);
    }
  }

  /** Takes one key with each request, at fixed times. A latency counts from the time at which its request was due. */
  async take(perSecond: number, count: number): Promise<Answers> {
    const failures: string[] = [];
    const began = performance.now();
    const takeOne = async (i: number): Promise<number> => {
      const dueMs = (i * 1_000) / perSecond;
      await delay(Math.max(0, began + dueMs - performance.now()));
      const { status, text } = await this.#get('enc_keys');
      const ms = performance.now() - began - dueMs;
      if (status !== 200) failures.push(`${status} ${text}`);
      return ms;
    };
    const latencies = await Promise.all(Array.from({ length: count }, (_, i) => takeOne(i)));
    return { latenciesMs: Float64Array.from(latencies).sort(), failures };
  }

  #get(rest: string): Promise<{ readonly status: number; readonly text: string }> {
    return new Promise((done, failed) => {
      const sent = request(`${this.#url}/${rest}`, { agent: this.#agent }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          done({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
        );
      });
      sent.on('error', failed);
      sent.end();
    });
  }
}

async function configOf(
  { url, peer }: AgentOptions,
  place: (name: string) => string,
): Promise<object> {
  const thumbprint = Buffer.from(await thumbprintOf(peer.publicKey)).toString('base64');
  const tls = {
    certificate_file: place('server.pem'),
    key_file: place('server.key'),
    client_ca_file: place('clients.pem'),
  };
  return {
    name: 'site-a',
    recipient: 'site-a',
    private_key_file: place('recipient-key'),
    state_dir: place('state'),
    systems: ['router-a'],
    services: [{ url, api_key_file: place('api-key'), policy_file: place('log.policy') }],
    peers: [{ name: 'site-b', recipient: 'site-b', thumbprint, systems: ['router-b'] }],
    access: [{ master: 'router-a', slaves: ['router-b'] }],
    listeners: [{ interface: 'etsi-014', host: '127.0.0.1', port: 0, tls }],
    pools: { least: POOL, most: POOL },
  };
}

/** Resolves with the address of the listener, which the agent logs. */
async function addressOf(child: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: child.stderr as NodeJS.ReadableStream })) {
    const { addresses } = line.startsWith('{') ? JSON.parse(line) : {};
    if (addresses !== undefined) return addresses;
    process.stderr.write(`${line}\n`);
  }
  throw new Error('the agent did not start');
}
