/**
 * A small load balancer, as operators put one in front of several servers: it keeps connections open, checks
 * `/readyz` at short intervals, sends requests round robin to ready servers, and never retries.
 */
import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const PROBE_EVERY_MS = 200;

interface Upstream {
  readonly port: number;
  readonly agent: Agent;
  ready: boolean;
}

export class Balancer {
  readonly #upstreams: readonly Upstream[];
  readonly #server = createServer((incoming, outgoing) => this.#forward(incoming, outgoing));
  readonly #timer: NodeJS.Timeout;
  #turn = 0;
  /** Failures between proxy and servers; each one cost a client its request. */
  readonly failures: string[] = [];

  private constructor(ports: readonly number[]) {
    this.#upstreams = ports.map((port) => ({
      port,
      agent: new Agent({ keepAlive: true }),
      ready: false,
    }));
    this.#timer = setInterval(() => this.#probeAll(), PROBE_EVERY_MS);
  }

  /** Starts a proxy in front of the servers on these loopback ports. */
  static async start(ports: readonly number[]): Promise<Balancer> {
    const balancer = new Balancer(ports);
    balancer.#server.listen(0, '127.0.0.1');
    await once(balancer.#server, 'listening');
    return balancer;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Number of servers that get requests. */
  get readyServers(): number {
    return this.#upstreams.filter(({ ready }) => ready).length;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#server.close();
    this.#server.closeAllConnections();
    for (const { agent } of this.#upstreams) agent.destroy();
  }

  #probeAll(): void {
    for (const upstream of this.#upstreams) {
      const probe = request({ port: upstream.port, host: '127.0.0.1', path: '/readyz' });
      probe.on('response', (answer) => {
        upstream.ready = answer.statusCode === 200;
        answer.resume();
      });
      probe.on('error', () => {
        upstream.ready = false;
      });
      probe.end();
    }
  }

  #forward(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const ready = this.#upstreams.filter((one) => one.ready);
    const upstream = ready[this.#turn++ % Math.max(1, ready.length)];
    const fail = (reason: string) => {
      this.failures.push(reason);
      if (!outgoing.headersSent) outgoing.writeHead(502);
      outgoing.end();
    };
    if (!upstream) {
      fail('no server is ready');
      return;
    }
    const { connection: _, ...headers } = incoming.headers;
    const forwarded = request({
      port: upstream.port,
      host: '127.0.0.1',
      agent: upstream.agent,
      method: incoming.method,
      path: incoming.url,
      headers,
    });
    forwarded.on('response', (answer) => {
      // `Connection` concerns the hop between server and proxy only.
      const { connection: _, 'keep-alive': __, ...kept } = answer.headers;
      outgoing.writeHead(answer.statusCode ?? 502, kept);
      answer.pipe(outgoing);
      answer.on('aborted', () => fail(`port ${upstream.port}: an answer broke off`));
    });
    forwarded.on('error', (error) => fail(`port ${upstream.port}: ${error.message}`));
    incoming.pipe(forwarded);
  }
}
