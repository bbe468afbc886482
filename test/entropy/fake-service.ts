/** A local HTTP server that plays a remote source and can misbehave on request. */
import assert from 'node:assert/strict';
import {
  createServer,
  type IncomingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { NoiseFailure } from '../../src/entropy/noise.ts';
import { freePort } from '../support/run/free-port.ts';

export interface Received {
  readonly method: string;
  /** Includes the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string is sent unchanged, anything else as JSON. */
  readonly body?: unknown;
}

/**
 * `silent`: no answer. `cut`: the connection ends at once. `cut-body`: it ends within the body.
 * `slow-body`: the body begins and does not end. `endless`: the body never ends, at full speed.
 */
export type Misbehaviour = 'silent' | 'cut' | 'cut-body' | 'slow-body' | 'endless';

type Handler<Route extends string> = (
  request: Received,
) => { readonly route: Route; readonly answer: () => Answer } | null;

/** A test or a suite. The fake ends with it. */
export interface Scope {
  after(end: () => void): void;
}

export class FakeService<Route extends string> {
  readonly url: string;
  /** Implements the protocol. */
  handler: Handler<Route> = () => null;
  /** Requests of each route, in order. */
  readonly received: Partial<Record<Route, Received[]>> = {};
  /** Answer to every request of a route after the planned ones, until it is removed. */
  readonly broken: Partial<Record<Route, Answer | Misbehaviour>> = {};
  readonly #server: Server;
  readonly #planned: Partial<Record<Route, (Answer | Misbehaviour)[]>> = {};
  #waiters: { readonly route: Route; readonly count: number; readonly resolve: () => void }[] = [];

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start<Route extends string>(scope: Scope): Promise<FakeService<Route>> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('error', () => {});
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { method = '', url: path = '', headers } = request;
        const received = { method, path, headers, body: Buffer.concat(chunks).toString() };
        service.#respond(received, service.handler(received), response);
      });
    });
    const port = await freePort();
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    const service = new FakeService<Route>(server);
    scope.after(() => service.leave());
    return service;
  }

  /** Stops listening. */
  leave(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** Listens again at the same address. */
  async comeBack(): Promise<void> {
    const { port } = new URL(this.url);
    await new Promise<void>((resolve) => this.#server.listen(Number(port), '127.0.0.1', resolve));
  }

  /** Plans the answers to the next requests of a route, instead of the protocol's. */
  plan(route: Route, ...answers: readonly (Answer | Misbehaviour)[]): void {
    const planned = this.#planned[route] ?? [];
    planned.push(...answers);
    this.#planned[route] = planned;
  }

  count(route: Route): number {
    return this.received[route]?.length ?? 0;
  }

  /** Resolves when a route has received `count` requests. */
  async reached(route: Route, count: number): Promise<void> {
    if (this.count(route) >= count) return;
    await new Promise<void>((resolve) => this.#waiters.push({ route, count, resolve }));
  }

  #respond(
    received: Received,
    handled: ReturnType<Handler<Route>>,
    response: ServerResponse,
  ): void {
    if (handled === null) {
      send(response, { status: 404, body: { error: 'no such route' } });
      return;
    }
    const { route, answer } = handled;
    const log = this.received[route] ?? [];
    log.push(received);
    this.received[route] = log;
    const planned = this.#planned[route]?.shift() ?? this.broken[route];
    if (typeof planned === 'string') misbehave(response, planned);
    else send(response, planned ?? answer());
    const due = this.#waiters.filter((waiter) => this.count(waiter.route) >= waiter.count);
    this.#waiters = this.#waiters.filter((waiter) => !due.includes(waiter));
    for (const { resolve } of due) resolve();
  }
}

function send(response: ServerResponse, { status = 200, headers = {}, body }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  if (body === undefined) response.end();
  else response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

function misbehave(response: ServerResponse, how: Misbehaviour): void {
  if (how === 'silent') return;
  if (how === 'cut') {
    response.destroy();
    return;
  }
  response.writeHead(200, { 'content-type': 'application/json' });
  response.on('error', () => {});
  response.write('{"data": [1, 2, ', () => {
    if (how === 'cut-body') response.destroy();
    if (how === 'endless') flood(response);
  });
}

function flood(response: ServerResponse): void {
  response.write('0, '.repeat(20_000), (error) => {
    if (!error) setImmediate(flood, response);
  });
}

/**
 * Returns everything that a printed error could show: messages, stacks and fields, with all causes.
 */
function everythingIn(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const fields = JSON.stringify({ ...error });
  return [error.name, error.message, error.stack, fields, everythingIn(error.cause)].join('\n');
}

/** Asserts that `promise` rejects with a `NoiseFailure` of this message that shows no secret. */
export async function assertFails(
  promise: Promise<unknown>,
  message: RegExp,
  secrets: readonly string[],
): Promise<NoiseFailure> {
  const error: unknown = await promise.then(
    () => assert.fail('expected a rejection'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof NoiseFailure, `${error} is no NoiseFailure`);
  assert.match(error.message, message);
  for (const secret of secrets) assert.ok(!everythingIn(error).includes(secret), secret);
  return error;
}
