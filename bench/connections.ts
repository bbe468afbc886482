/**
 * Measures the resident memory of the real server by number of connections, and under clients that make it hold as
 * much as they can.
 *
 *   node bench/connections.ts [--seconds N] [--workers N] [--limit MiB] [--data-dir D] [--save]
 *
 * The first server has no bound and gets more and more idle connections, over HTTP and TLS. Then a server with the
 * default bound meets each trick of `test/support/clients/hostile.ts`: for some seconds a client keeps 8,000 connections open and
 * replaces closed ones, while other clients request plain keys and keys with evidence. With `--limit`, the server runs in
 * a control group with that much memory, which also counts the kernel's socket buffers and ends a process that exceeds
 * it. Memory depends little on the load of the machine; the number of connections made does.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent as PlainAgent, request as plainRequest } from 'node:http';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Hostile, TRICKS, type Trick } from '../test/support/clients/hostile.ts';
import { MemoryGroup } from '../test/support/run/memory-group.ts';
import { makeCertificate } from '../test/support/servers/certificate.ts';
import { Server } from '../test/support/servers/server.ts';
import { addAccount, PLAIN, positive, serverEnvironment, WITH_EVIDENCE } from './load.ts';
import { machine, saveResult } from './results.ts';

const COUNTS = [0, 500, 1_000, 2_000, 4_000, 8_000];
const HELD = 8_000;
const SETTLE_MS = 2_000;
const HONEST_CLIENTS = 16;
const MIB = 2 ** 20;

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '20' },
    workers: { type: 'string', default: '1' },
    limit: { type: 'string' },
    'data-dir': { type: 'string', default: tmpdir() },
    save: { type: 'boolean', default: false },
  },
});
const seconds = positive('--seconds', values.seconds);
const limitBytes = values.limit === undefined ? null : positive('--limit', values.limit) * MIB;
const folder = mkdtempSync(join(values['data-dir'], 'phm-bench-'));
const tls = { PHM_TLS_CERT_FILE: join(folder, 'cert'), PHM_TLS_KEY_FILE: join(folder, 'key') };
makeCertificate(tls.PHM_TLS_CERT_FILE, tls.PHM_TLS_KEY_FILE);
const dataDir = join(folder, 'data');
const account = addAccount(serverEnvironment(dataDir));

interface Running {
  readonly server: Server;
  readonly group: MemoryGroup | null;
}

async function startServer(secure: boolean, more: Record<string, string> = {}): Promise<Running> {
  const env = {
    ...serverEnvironment(dataDir),
    PHM_WORKERS: String(positive('--workers', values.workers)),
    ...(secure && tls),
    ...more,
  };
  const group = limitBytes === null ? null : MemoryGroup.make(limitBytes);
  if (limitBytes !== null && !group)
    throw new Error('cannot create a control group on this machine');
  const begin = () => Server.start(dataDir, env);
  return { server: await (group ? group.start(begin) : begin()), group };
}

async function stop({ server, group }: Running): Promise<void> {
  await server.stop('SIGKILL');
  await group?.remove();
}

/** Returns MiB of `VmRSS` (now) or `VmHWM` (the maximum so far). */
function resident({ pid }: Server, field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1]) / 1024);
}

async function byCount(secure: boolean): Promise<string> {
  const running = await startServer(secure, { PHM_MAX_CONNECTIONS: String(HELD) });
  const hostile = new Hostile(running.server.address, 'idle');
  const cells: string[] = [];
  for (const count of COUNTS) {
    hostile.hold(count);
    await hostile.made(count);
    await delay(SETTLE_MS);
    cells.push(String(resident(running.server, 'VmRSS')).padStart(7));
  }
  hostile.end();
  await stop(running);
  return `${(secure ? 'TLS' : 'HTTP').padEnd(6)}${cells.join('')}`;
}

/** Requests plain keys and keys with evidence alternately until stopped; counts answers by status. */
class Honest {
  readonly statuses: Map<string, number> = new Map();
  #ended = false;
  readonly #clients: Promise<void>[];

  constructor(address: string) {
    this.#clients = Array.from({ length: HONEST_CLIENTS }, (_, i) => this.#work(address, i));
  }

  async end(): Promise<void> {
    this.#ended = true;
    await Promise.all(this.#clients);
  }

  async #work(address: string, start: number): Promise<void> {
    const options = { keepAlive: true, maxSockets: 1, rejectUnauthorized: false, timeout: 20_000 };
    const secure = address.startsWith('https:');
    const agent = secure ? new Agent(options) : new PlainAgent(options);
    for (let i = start; !this.#ended; i += 1) {
      const body = i % 2 === 0 ? PLAIN : WITH_EVIDENCE;
      const status = await this.#ask(`${address}/api/v2/generate`, secure, agent, body);
      this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    }
    agent.destroy();
  }

  #ask(url: string, secure: boolean, agent: PlainAgent, body: string): Promise<string> {
    return new Promise((resolve) => {
      const options = { agent, method: 'POST', headers: account };
      const sent = (secure ? request : plainRequest)(url, options, (answer) => {
        answer
          .on('error', () => resolve('cut off'))
          .on('end', () => resolve(String(answer.statusCode)));
        answer.resume();
      });
      sent.on('error', () => resolve('cut off')).on('timeout', () => sent.destroy());
      sent.end(body);
    });
  }
}

function counts(of: ReadonlyMap<unknown, number>): string {
  return [...of].map(([what, n]) => `${n} x ${what}`).join(', ') || 'none';
}

async function attacked(secure: boolean, trick: Trick): Promise<string> {
  const running = await startServer(secure);
  const { server, group } = running;
  const honest = new Honest(server.address);
  await delay(SETTLE_MS);
  const hostile = new Hostile(server.address, trick, account['x-api-key']);
  hostile.hold(HELD);
  await delay(1_000 * seconds);
  const peak = resident(server, 'VmHWM');
  const { connected, closed, most } = hostile;
  await honest.end();
  hostile.end();
  const live = (await server.request('/livez').catch(() => null))?.status;
  const grouped = group ? String(Math.round(group.peakBytes / MIB)).padStart(9) : '';
  await stop(running);
  const name = `${secure ? 'TLS' : 'HTTP'} ${trick}`.padEnd(14);
  return (
    `${name}${String(peak).padStart(7)}${grouped}  ${connected} made, at most ${most} at a time, ${closed} closed, ` +
    `answers ${counts(hostile.answers)}; others: ${counts(honest.statuses)}; livez afterwards ${live}`
  );
}

process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
const lines: string[] = [];
const say = (line: string) => {
  lines.push(line);
  process.stdout.write(`${line}\n`);
};
try {
  say(machine());
  say(`${values.workers} suite worker, SQLite, rate limits off`);
  say('');
  say('MiB resident by idle connections, PHM_MAX_CONNECTIONS=8000');
  say(`${''.padEnd(6)}${COUNTS.map((count) => String(count).padStart(7)).join('')}`);
  for (const secure of [false, true]) say(await byCount(secure));
  say('');
  say(
    `A client that holds 8000 connections for ${seconds} s, the default bound, and ${HONEST_CLIENTS} clients that ask for keys.`,
  );
  say(
    `MiB: the most resident${limitBytes ? `, the most of the control group (limit ${values.limit})` : ''}`,
  );
  for (const secure of [false, true]) {
    for (const trick of Object.keys(TRICKS) as Trick[]) say(await attacked(secure, trick));
  }
  if (values.save) saveResult('connections', `${lines.join('\n')}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
