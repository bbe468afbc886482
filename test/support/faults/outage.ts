/** Takes a running server's ledger away under load, and checks what clients see. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Load } from '../clients/mixed-load.ts';
import { type Account, checkBooks, type Query } from '../ledgers/books.ts';
import { until } from '../run/until.ts';
import type { Server } from '../servers/server.ts';

const CLIENTS = 8;
const LOST = '503 ledger_unavailable';

/**
 * More requests than the queue holds in addition to those in progress. Each needs a connection, hence a place
 * at the server.
 */
export const FLOOD = 12_000;

/** Number of connections opened at a time, below the kernel's backlog of a server. */
const AT_A_TIME = 100;

export interface Outage {
  readonly server: Server;
  readonly accounts: readonly [Account, ...Account[]];
  readonly query: Query;
  /** Takes the ledger away under load. */
  readonly begin: () => Promise<unknown> | unknown;
  /** Restores the ledger. */
  readonly end: () => Promise<unknown> | unknown;
}

/**
 * Asserts that every response during the outage is a success or a 503 with Retry-After, and that the same
 * process then serves again, knows every key it released, and has exact books. Returns the longest wait of a
 * client in milliseconds.
 */
export async function outlive(outage: Outage, load: Load): Promise<number> {
  const { server, accounts, query } = outage;
  load.longestMs = 0;
  const before = refusals(load);
  const endLoad = load.start(server, CLIENTS);
  try {
    await until('keys are released', () => load.released.length > 0);
    await outage.begin();
    await until('clients are refused', () => refusals(load) >= before + CLIENTS);
  } finally {
    await outage.end();
  }
  const returned = load.released.length;
  await until('keys are released again', () => load.released.length > returned);
  await endLoad();
  await load.validateReleased(server, accounts[0]);
  await checkBooks(query, load);
  return load.longestMs;
}

function refusals(load: Load): number {
  return load.refused.get(LOST) ?? 0;
}

/**
 * Responses to a flood: the number of each status and code, the number without Retry-After, and the time of the
 * last.
 */
interface FloodAnswers {
  readonly tookMs: number;
  readonly counts: ReadonlyMap<string, number>;
  readonly withoutRetryAfter: number;
}

/** Sends more concurrent generate requests than the queue holds, and waits for all responses. */
export async function flood(server: Server, { apiKey }: Account): Promise<FloodAnswers> {
  const sockets: Socket[] = [];
  while (sockets.length < FLOOD) {
    sockets.push(...(await Promise.all(Array.from({ length: AT_A_TIME }, () => open(server)))));
  }
  const began = performance.now();
  const answers = await Promise.all(sockets.map((socket) => ask(socket, apiKey)));
  const tookMs = performance.now() - began;
  const counts = new Map<string, number>();
  let withoutRetryAfter = 0;
  for (const answer of answers) {
    const status = /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1];
    const name = [status, /"code":"([a-z_]+)"/.exec(answer)?.[1]].filter(Boolean).join(' ');
    counts.set(name, (counts.get(name) ?? 0) + 1);
    if (status !== '200' && !/^retry-after: [1-9]/im.test(answer)) withoutRetryAfter += 1;
  }
  return { tookMs, counts, withoutRetryAfter };
}

async function open({ address }: Server): Promise<Socket> {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  return socket;
}

/** Sends one request and returns everything that comes back. */
async function ask(socket: Socket, apiKey: string): Promise<string> {
  const body = '{"security_level":128}';
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  socket.write(
    `POST /api/v2/generate HTTP/1.1\r\nHost: ${socket.remoteAddress}\r\nX-API-Key: ${apiKey}\r\nConnection: close\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await once(socket, 'close');
  return text;
}
