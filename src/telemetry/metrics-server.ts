/** The listener for Prometheus, apart from that of the service: one page, read only, bounded. */
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { monotonicMs } from '../clock.ts';
import { authorityOf, listenError } from '../listening.ts';

/** What the page is made of. */
export interface MetricsPage {
  readonly contentType: string;
  expose(): Promise<string>;
}

export interface MetricsServerOptions {
  readonly host: string;
  readonly port: number;
  /** Told, for the log, of a page that could not be made. Service and listener go on. */
  readonly onFailure: (error: Error) => void;
  /** Milliseconds after which a connection on which nothing moves is given up. Default 30,000. */
  readonly idleMs?: number;
}

/** Scrapers at a time: more than a pair of Prometheus servers and a person need. */
const MAX_CONNECTIONS = 16;

/** Milliseconds a scraper has for its request. */
const REQUEST_TIMEOUT_MS = 5_000;
const CHECK_EVERY_MS = 1_000;
/** Longer than a page may have to wait for its turn. */
const IDLE_MS = 30_000;
const MAX_HEADER_BYTES = 8 * 1024;

/** Pause after a page, in times of what it took: the main thread makes pages, and it serves keys. */
const PAUSE = 9;

const PLAIN_TEXT = 'text/plain; charset=utf-8';

export class MetricsServer {
  readonly #server: Server;
  /** Where it listens: `http://host:port/metrics`. */
  readonly address: string;

  private constructor(server: Server, address: string) {
    this.#server = server;
    this.address = address;
  }

  /** Listens. Throws `SetupError` when the address cannot be had. */
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
      ({ method = '', url = '' }, response) => {
        answer(paced, { method, url }, response).catch((error: Error) => {
          onFailure(error);
          response.destroy();
        });
      },
    );
    server.maxConnections = MAX_CONNECTIONS;
    // Whoever asks and does not read must not keep the place of one who does.
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

  /** Ends it at once: a scrape that is cut off is repeated by its scraper. */
  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

/** Whoever asks while a page is awaited gets that one, and the next one is made when its time has come. */
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
  { method, url }: { readonly method: string; readonly url: string },
  response: ServerResponse,
): Promise<void> {
  if (url.split('?', 1)[0] !== '/metrics') {
    send(response, 404, PLAIN_TEXT, 'There is only /metrics here, for Prometheus.\n');
  } else if (method !== 'GET' && method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD');
    send(response, 405, PLAIN_TEXT, 'Use GET or HEAD.\n');
  } else {
    send(response, 200, page.contentType, await page.expose());
  }
}

/** Node leaves the body out of answers to HEAD. */
function send(response: ServerResponse, status: number, contentType: string, body: string): void {
  response.writeHead(status, {
    'content-type': contentType,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  response.end(body);
}
