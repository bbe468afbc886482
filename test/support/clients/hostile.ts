/** A client that exhausts a server: it keeps many connections open, each at a cost to the server. */
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';

const START = 'HTTP/1.1\r\nHost: 127.0.0.1\r\n';

/** What each connection sends. `unread` never reads the response it requested. */
export const TRICKS = {
  silent: () => [],
  idle: () => [`GET /nowhere ${START}\r\n`],
  headers: () => [`GET /nowhere ${START}${headerLines(11_000)}`],
  body: (apiKey) => [`${post(apiKey)}Content-Length: 16384\r\n\r\n${'x'.repeat(16_000)}`],
  chunks: (apiKey) => [
    `${post(apiKey)}Transfer-Encoding: chunked\r\n\r\n`,
    '1\r\nx\r\n'.repeat(16_000),
  ],
  unread: () => [`GET /api/v2/openapi.json ${START}\r\n`.repeat(10)],
} as const satisfies Record<string, (apiKey: string) => readonly string[]>;

export type Trick = keyof typeof TRICKS;

const post = (apiKey: string) =>
  `POST /api/v2/generate ${START}X-API-Key: ${apiKey}\r\nContent-Type: application/json\r\n`;

/** Many short headers without the line that ends them: they take more memory than one long header. */
function headerLines(bytes: number): string {
  let lines = '';
  for (let i = 0; lines.length < bytes; i += 1) lines += `h${i.toString(36)}:\r\n`;
  return lines;
}

/** Number of connections that are being opened at a time. */
const AT_A_TIME = 128;

export class Hostile {
  /** Number of responses by status. */
  readonly answers: Map<number, number> = new Map();
  connected = 0;
  closed = 0;
  /** The highest number of connections open at one time. */
  most = 0;
  readonly #port: number;
  readonly #secure: boolean;
  readonly #writes: readonly string[];
  readonly #reads: boolean;
  readonly #open = new Set<Socket>();
  readonly #connecting = new Set<Socket>();
  #wanted = 0;
  #ended = false;

  constructor(address: string, trick: Trick, apiKey = '') {
    const { port, protocol } = new URL(address);
    this.#port = Number(port);
    this.#secure = protocol === 'https:';
    this.#writes = TRICKS[trick](apiKey);
    this.#reads = trick !== 'unread';
  }

  /** Number of open connections. */
  get open(): number {
    return this.#open.size;
  }

  /** Keeps this many connections open from now on, and replaces those that are closed. */
  hold(wanted: number): void {
    this.#wanted = wanted;
    this.#fill();
  }

  /** Resolves when this many connections were opened in total, or after a timeout. */
  async made(connections: number, atMostMs = Number.POSITIVE_INFINITY): Promise<void> {
    const end = performance.now() + atMostMs;
    while (this.connected < connections && performance.now() < end) await delay(100);
  }

  end(): void {
    this.#ended = true;
    for (const socket of [...this.#open, ...this.#connecting]) socket.destroy();
  }

  #fill(): void {
    const missing = () => this.#wanted - this.#open.size - this.#connecting.size;
    while (!this.#ended && missing() > 0 && this.#connecting.size < AT_A_TIME) this.#connect();
  }

  #connect(): void {
    const address = { host: '127.0.0.1', port: this.#port };
    const socket = this.#secure
      ? connectTls({ ...address, rejectUnauthorized: false })
      : connect(address);
    this.#connecting.add(socket);
    socket.on('error', () => {});
    socket.once(this.#secure ? 'secureConnect' : 'connect', () => {
      this.#connecting.delete(socket);
      this.#open.add(socket);
      this.connected += 1;
      this.most = Math.max(this.most, this.#open.size);
      for (const text of this.#writes) socket.write(text);
      this.#fill();
    });
    if (this.#reads) socket.on('data', (chunk: Buffer) => this.#count(chunk));
    socket.once('close', () => {
      this.#connecting.delete(socket);
      if (this.#open.delete(socket)) this.closed += 1;
      // Waits, so that a server that closes every connection does not cause a tight loop.
      setTimeout(() => this.#fill(), 10);
    });
  }

  #count(chunk: Buffer): void {
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(chunk.toString('latin1', 0, 12))?.[1]);
    if (status) this.answers.set(status, (this.answers.get(status) ?? 0) + 1);
  }
}
