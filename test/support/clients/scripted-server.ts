/** A server that answers by a script over real sockets, also in the part of what stands between client and service. */
import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { AppError, ERRORS, type ErrorCode, type ErrorDetails } from '../../../src/errors.ts';
import { problemBody, problemHeaders } from '../../../src/http/wire/problem.ts';

export type Step = (response: ServerResponse) => void;

interface Received {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly atMs: number;
}

export class ScriptedServer {
  readonly address: string;
  readonly received: Received[] = [];
  readonly #server: Server;

  private constructor(server: Server, steps: readonly Step[]) {
    this.#server = server;
    this.address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const listener: RequestListener = async (request, response) => {
      const { method, url, headers } = request;
      const body = await text(request);
      this.received.push({ method, url, headers, body, atMs: performance.now() });
      steps[Math.min(this.received.length, steps.length) - 1]?.(response);
      this.#server.emit('scripted');
    };
    server.on('request', listener);
  }

  /** Answers the first request by the first step and so on; the last step repeats. */
  static async start(...steps: Step[]): Promise<ScriptedServer> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new ScriptedServer(server, steps);
  }

  /** Resolves when this many requests have arrived. */
  async requests(count: number): Promise<void> {
    while (this.received.length < count) await once(this.#server, 'scripted');
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    if (this.#server.listening) await once(this.#server, 'close');
  }
}

/** A successful response of the service. It repeats the `X-Request-Id` of the request, as the service does. */
export function answers(body: object, headers: Record<string, string> = {}): Step {
  return (response) => {
    response.writeHead(200, {
      'content-type': 'application/json; charset=utf-8',
      ...requestIdOf(response),
      ...headers,
    });
    response.end(JSON.stringify({ success: true, ...body }));
  };
}

/** Returns the `X-Request-Id` of the request as a header. */
export function requestIdOf({ req }: ServerResponse): Record<string, string> {
  const id = req.headers['x-request-id'];
  return typeof id === 'string' ? { 'x-request-id': id } : {};
}

/** An error as the service itself sends it. */
export function fails(
  code: ErrorCode,
  headers: Record<string, string> = {},
  members: ErrorDetails['members'] = {},
): Step {
  const error = new AppError(code, { members });
  return (response) => {
    const named = { 'x-request-id': 'request-of-the-test', ...requestIdOf(response) };
    const requestId = named['x-request-id'];
    response.writeHead(ERRORS[code].status, {
      ...problemHeaders(error),
      'content-type': 'application/problem+json; charset=utf-8',
      ...named,
      ...headers,
    });
    response.end(JSON.stringify(problemBody(error, { requestId, nowMs: Date.now() })));
  };
}

/** An HTML page, as proxies send. */
export function page(status: number, headers: Record<string, string> = {}): Step {
  return (response) => {
    response.writeHead(status, { 'content-type': 'text/html', ...headers });
    response.end(`<html><h1>${status}</h1></html>`);
  };
}

export const breaks: Step = (response) => {
  response.destroy();
};

export const staysSilent: Step = () => {};
