/** A flood of requests with well-formed, unknown API keys, and clients with valid ones. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { hashApiKey, newApiKey } from '../../../src/accounts/index.ts';
import { monthlyQuotas, PUBLISHED_PLANS } from '../../../src/config/index.ts';
import { openStore, type StoreLocation } from '../../../src/ledger/index.ts';
import type { Server } from '../servers/server.ts';

const CONNECTIONS = 100;

/** Number of requests that a server accepts on one connection before it has answered them. */
const PIPELINED = 16;

/** Number of API keys made before the flood, because making them meanwhile would slow it down. */
const KEYS = 10_000;

export class UnknownKeys {
  /** Responses by status and code, such as `401 invalid_api_key`. */
  readonly answers = new Map<string, number>();
  readonly #ended: Promise<unknown>;
  readonly #keys = Array.from({ length: KEYS }, () => newApiKey('live'));
  #next = 0;
  #running = true;

  /** Starts the flood: each connection sends its next requests when all before are answered. */
  constructor(server: Server) {
    const flows = Array.from({ length: CONNECTIONS }, () => this.#flow(server));
    this.#ended = Promise.all(flows);
  }

  get answered(): number {
    return [...this.answers.values()].reduce((sum, count) => sum + count, 0);
  }

  async stop(): Promise<void> {
    this.#running = false;
    await this.#ended;
  }

  async #flow(server: Server): Promise<void> {
    const { hostname, port } = new URL(server.address);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    let text = '';
    let open = 0;
    socket.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
      const answers = text.split(/(?=HTTP\/1\.1 \d{3} )/);
      // The last response may be incomplete: a complete body ends with a brace.
      text = answers.at(-1)?.endsWith('}') ? '' : (answers.pop() ?? '');
      for (const answer of answers) this.#note(answer);
      open -= answers.length;
      if (open === 0 && this.#running) open = this.#send(socket, hostname);
      else if (open === 0) socket.end();
    });
    open = this.#send(socket, hostname);
    await once(socket, 'close');
    assert.equal(open, 0, 'a connection of the flood closed before its requests were answered');
  }

  #send(socket: { write(text: string): unknown }, host: string): number {
    const requests = Array.from({ length: PIPELINED }, () => {
      const apiKey = this.#keys[this.#next++ % KEYS];
      return `GET /api/v2/metrics HTTP/1.1\r\nHost: ${host}\r\nX-API-Key: ${apiKey}\r\n\r\n`;
    });
    socket.write(requests.join(''));
    return PIPELINED;
  }

  #note(answer: string): void {
    const status = /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1];
    const name = [status, /"code":"([a-z_]+)"/.exec(answer)?.[1]].filter(Boolean).join(' ');
    this.answers.set(name, (this.answers.get(name) ?? 0) + 1);
  }
}

/** API keys of one account: one that the server has seen, and others that it has not. */
interface KeyedAccount {
  readonly seen: string;
  readonly seenId: string;
  readonly unseen: readonly [string, string];
}

/** Creates an account with a rate limit too high to matter, while other programs use the database. */
export async function makeAccount(location: StoreLocation): Promise<KeyedAccount> {
  const store = await openStore(location, monthlyQuotas(PUBLISHED_PLANS));
  const createdMs = Date.now();
  const accountId = `acct_${randomUUID()}`;
  const issue = async () => {
    const [apiKey, apiKeyId] = [newApiKey('live'), `key_${randomUUID()}`];
    const record = { apiKeyId, accountId, hint: '', createdMs, revokedMs: null };
    assert.ok(await store.addApiKey(record, hashApiKey(apiKey)));
    return { apiKey, apiKeyId };
  };
  try {
    const account = { accountId, name: 'valid', plan: 'enterprise', demo: false, createdMs };
    assert.ok(await store.addAccount(account));
    const [seen, one, other] = [await issue(), await issue(), await issue()];
    return { seen: seen.apiKey, seenId: seen.apiKeyId, unseen: [one.apiKey, other.apiKey] };
  } finally {
    await store.close();
  }
}

/** Returns the database of a SQLite server. */
export function sqliteIn(dataDir: string): StoreLocation {
  return { kind: 'sqlite', path: join(dataDir, 'phm.db') };
}

/**
 * Floods a server until it has answered `requests` of the flood. Asserts that every response to a valid API key
 * is 200: to one in use, and to ones that the server has never seen, from the flood's address and from another.
 */
export async function outlastFlood(
  server: Server,
  { seen, unseen }: KeyedAccount,
  requests: number,
): Promise<UnknownKeys> {
  assert.equal(await statusFrom('127.0.0.1', server, seen), 200);
  const flood = new UnknownKeys(server);
  const statuses: number[] = [];
  // Linux answers on all of 127.0.0.0/8.
  const elsewhere = process.platform === 'linux' ? '127.0.0.2' : '127.0.0.1';
  for (const [address, apiKey] of [
    ['127.0.0.1', unseen[0]],
    [elsewhere, unseen[1]],
  ] as const) {
    statuses.push(await statusFrom(address, server, apiKey));
  }
  while (flood.answered < requests) statuses.push(await statusFrom('127.0.0.1', server, seen));
  await flood.stop();
  assert.deepEqual(new Set(statuses), new Set([200]));
  assert.deepEqual([...flood.answers.keys()].sort(), ['401 invalid_api_key', '429 rate_limited']);
  return flood;
}

/** Returns the status of a request from one of this machine's addresses. */
async function statusFrom(
  localAddress: string,
  { address }: Server,
  apiKey: string,
): Promise<number> {
  const { hostname, port } = new URL(address);
  const socket = connect({ host: hostname, port: Number(port), localAddress });
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  socket.write(
    `GET /api/v2/metrics HTTP/1.1\r\nHost: ${hostname}\r\nX-API-Key: ${apiKey}\r\nConnection: close\r\n\r\n`,
  );
  await once(socket, 'close');
  return Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]);
}
