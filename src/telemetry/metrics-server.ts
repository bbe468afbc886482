/** The listener for Prometheus, separate from the service: one read-only page with bounded cost. */
import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { monotonicMs } from '../clock.ts';
import { isLoopback } from '../config/index.ts';
import { createServer } from '../node-http.ts';
import { authorityOf, listenError } from '../process/listening.ts';

/** Source of the page. */
interface MetricsPage {
  readonly contentType: string;
  expose(): Promise<string>;
}

interface MetricsServerOptions {
  readonly host: string;
  readonly port: number;
  /** Called, for the log, when a page could not be produced. Service and listener continue. */
  readonly onFailure: (error: Error) => void;
  /** Milliseconds after which an idle connection is closed. Default 30,000. */
  readonly idleMs?: number;
}

/** Concurrent connections: more than a pair of Prometheus servers and a person need. */
const MAX_CONNECTIONS = 16;

/** Milliseconds in which a scraper must send its request. */
const REQUEST_TIMEOUT_MS = 5_000;
const CHECK_EVERY_MS = 1_000;
/** Longer than a page can be delayed by `PacedPage`. */
const IDLE_MS = 30_000;
const MAX_HEADER_BYTES = 8 * 1024;

/** Pause after a page, as a multiple of its duration: the main thread produces pages and also serves keys. */
const PAUSE = 9;

const PLAIN_TEXT = 'text/plain; charset=utf-8';

export class MetricsServer {
  readonly #server: Server;
  /** URL of the page: `http://host:port/metrics`. */
  readonly address: string;

  private constructor(server: Server, address: string) {
    this.#server = server;
    this.address = address;
  }

  /** Starts listening. Throws `SetupError` if the address cannot be used. */
  static async start(page: MetricsPage, options: MetricsServerOptions): Promise<MetricsServer> {
    const { host, port, onFailure, idleMs = IDLE_MS } = options;
    const paced = new PacedPage(page);
    const server = createServer(
      {
        headersTimeout: REQUEST_TIMEOUT_MS,
        requestTimeout: REQUEST_TIMEOUT_MS,
        connectionsCheckingInterval: CHECK_EVERY_MS,
        maxHeaderSize: MAX_HEADER_BYTES,
      },
      (request, response) => {
        answer(paced, request, response).catch((error: Error) => {
          onFailure(error);
          response.destroy();
        });
      },
    );
    server.maxConnections = MAX_CONNECTIONS;
    // A scraper that does not read its answer must not keep the place of another.
    server.timeout = idleMs;
    try {
      server.listen(port, host);
      await once(server, 'listening');
    } catch (cause) {
      throw listenError(cause, {
        problem: 'cannot listen for metrics',
        host,
        port,
        portTaken: 'choose another PHM_METRICS_PORT (0 takes a free one)',
        variables: 'PHM_METRICS',
      });
    }
    server.on('error', onFailure);
    const authority = authorityOf(server.address() as AddressInfo);
    return new MetricsServer(server, `http://${authority}/metrics`);
  }

  /** Closes at once: a scraper repeats a scrape that is cut off. */
  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

/** Shares one page among requests that wait at the same time, and pauses before it produces the next one. */
class PacedPage implements MetricsPage {
  readonly #page: MetricsPage;
  #awaited: Promise<string> | null = null;
  #notBeforeMs = 0;

  constructor(page: MetricsPage) {
    this.#page = page;
  }

  get contentType(): string {
    return this.#page.contentType;
  }

  expose(): Promise<string> {
    this.#awaited ??= this.#make().finally(() => {
      this.#awaited = null;
    });
    return this.#awaited;
  }

  async #make(): Promise<string> {
    await delay(Math.max(0, this.#notBeforeMs - monotonicMs()), undefined, { ref: false });
    const startMs = monotonicMs();
    try {
      return await this.#page.expose();
    } finally {
      const endMs = monotonicMs();
      this.#notBeforeMs = endMs + (endMs - startMs) * PAUSE;
    }
  }
}

async function answer(
  page: MetricsPage,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method = '', url = '' } = request;
  if (isRebound(request)) {
    // RFC 9110 §15.5.20: this server is not the one that the request is for.
    send(response, 421, PLAIN_TEXT, 'Use localhost or a loopback address as the host.\n');
  } else if (url.split('?', 1)[0] !== '/metrics') {
    send(response, 404, PLAIN_TEXT, 'This listener serves only /metrics, for Prometheus.\n');
  } else if (method !== 'GET' && method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD');
    send(response, 405, PLAIN_TEXT, 'Use GET or HEAD.\n');
  } else {
    send(response, 200, page.contentType, await page.expose());
  }
}

/**
 * Reports whether a request over loopback names another host. It may come from a page in a browser of this machine whose
 * name was pointed here (DNS rebinding), and which could then read the page. Over other interfaces, any name may be right.
 */
function isRebound({ socket, headers: { host } }: IncomingMessage): boolean {
  if (!isLoopback(socket.localAddress?.replace(/^::ffff:/i, '') ?? '')) return false;
  if (host === undefined) return false;
  const url = `http://${host}`;
  return !URL.canParse(url) || !isLoopback(new URL(url).hostname);
}

/** Sends an answer. Node omits the body for HEAD. */
function send(response: ServerResponse, status: number, contentType: string, body: string): void {
  response.writeHead(status, {
    'content-type': contentType,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  response.end(body);
}
