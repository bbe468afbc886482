/** An OpenTelemetry collector that keeps what it gets: OTLP over HTTP, in JSON. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { freePort } from '../run/free-port.ts';

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code?: number };
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
}

export class Collector {
  readonly #server: Server;
  /** Bodies as received. */
  readonly bodies: string[] = [];
  readonly headers: IncomingHttpHeaders[] = [];
  readonly paths: string[] = [];

  private constructor(server: Server) {
    this.#server = server;
    server.on('request', async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      this.bodies.push(body);
      this.headers.push(request.headers);
      this.paths.push(request.url ?? '');
      response.setHeader('content-type', 'application/json');
      response.end('{}');
    });
  }

  static async start(): Promise<Collector> {
    const server = createServer();
    server.listen(await freePort(), '127.0.0.1');
    await once(server, 'listening');
    return new Collector(server);
  }

  get address(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  spans(): CollectedSpan[] {
    return this.bodies
      .flatMap((body) => JSON.parse(body).resourceSpans)
      .flatMap(({ scopeSpans }) => scopeSpans)
      .flatMap(({ spans }) => spans);
  }

  /** Resource attributes of the process that sent the first spans. */
  resource(): Record<string, unknown> {
    return attributesOf(JSON.parse(this.bodies[0] ?? '').resourceSpans[0].resource);
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

export function attributesOf({
  attributes,
}: Pick<CollectedSpan, 'attributes'>): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
