/** Takes a running server's ledger away for a while, under load, and looks at what clients meet. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type Account, checkBooks, type Query } from './books.ts';
import type { Load } from './mixed-load.ts';
import type { Server } from './server.ts';

const CLIENTS = 8;
const LOST = '503 ledger_unavailable';

/** More than the queue holds, with what is under way. Each has a connection of its own, for which the server needs a place. */
export const FLOOD = 12_000;

/** Connections that are being made at a time: fewer than the kernel keeps for a server. */
const AT_A_TIME = 100;

/** The longest that recovery may take on a machine that is busy otherwise. */
const RECOVERY_MS = 60_000;

export interface Outage {
  readonly server: Server;
  readonly accounts: readonly [Account, ...Account[]];
  readonly query: Query;
  /** Takes the ledger away, under load. */
  readonly begin: () => Promise<unknown> | unknown;
  /** Gives it back. */
  readonly end: () => Promise<unknown> | unknown;
}

/**
 * Every answer while the ledger is away is a success or a 503 with Retry-After; afterwards the same
 * process serves again, every key it released is known, and the books are exact. Returns the longest
 * that a client waited, in milliseconds.
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

/** What the answers to a flood were: how many of each status and code, how many without Retry-After, and when the last came. */
export interface FloodAnswers {
  readonly tookMs: number;
  readonly counts: ReadonlyMap<string, number>;
  readonly withoutRetryAfter: number;
}

/** Sends more generate requests at once than the queue holds, and waits for the answers to all of them. */
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

/** Sends one request, and returns all that comes back. */
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

async function until(what: string, check: () => boolean): Promise<void> {
  const end = Date.now() + RECOVERY_MS;
  while (!check()) {
    assert.ok(Date.now() < end, `${what} within ${RECOVERY_MS} ms`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
