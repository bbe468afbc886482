/** A network path to PostgreSQL that can be cut, shut or stalled while data is on it. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** The message that ends a request to PostgreSQL. */
const SYNC = Buffer.from([0x53, 0, 0, 0, 4]);

/** The message that ends an answer, without its last byte, the state of the transaction. */
const READY = Buffer.from([0x5a, 0, 0, 0, 5]);

export class WayToServer {
  /**
   * Cuts the path of the next batch, once: on its way out, on the way back, or on its way out while the batch
   * is kept for later delivery.
   */
  cut: 'answer' | 'request' | 'delay' | null = null;
  /** Delivers the kept batch, and resolves when the server has answered it. */
  deliver: (() => Promise<void>) | null = null;
  /** Shut: new connections are closed at once. Stalled: nothing passes, without notice. */
  state: 'open' | 'shut' | 'stalled' = 'open';
  /** Where new connections go; open ones stay where they are. */
  serverPort: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(serverPort: number) {
    this.serverPort = serverPort;
    this.#server = createServer((near) => this.#join(near));
  }

  /** Opens a path to a server on this machine. */
  static async start(serverPort: number): Promise<WayToServer> {
    const way = new WayToServer(serverPort);
    way.#server.listen(0, '127.0.0.1');
    await once(way.#server, 'listening');
    return way;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  cutAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): void {
    this.cutAll();
    this.#server.close();
  }

  #join(near: Socket): void {
    if (this.state === 'shut') {
      near.destroy();
      return;
    }
    const far = connect(this.serverPort, '127.0.0.1');
    const end = () => {
      near.destroy();
      far.destroy();
    };
    let isCommit = false;
    let isWhole = true;
    let answerEnd = Buffer.alloc(0);
    for (const socket of [near, far]) {
      this.#sockets.add(socket);
      socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket));
    }
    near.on('close', () => this.deliver ?? end());
    far.on('close', end);
    near.on('data', (chunk: Buffer) => {
      // The statement's text is sent once per connection; its values identify a batch.
      // A large batch comes in several chunks.
      isCommit = chunk.includes('"at_ms":') || (isCommit && !isWhole);
      isWhole = chunk.subarray(-SYNC.length).equals(SYNC);
      if (isCommit && this.cut === 'request') {
        this.cut = null;
        end();
      } else if (isCommit && this.cut === 'delay') {
        this.cut = null;
        this.#keep(chunk, far);
        near.destroy();
      } else if (this.state !== 'stalled') far.write(chunk);
    });
    far.on('data', (chunk: Buffer) => {
      if (isCommit && isWhole && this.cut === 'answer') {
        // The server sends a large answer in pieces, the first of them before it commits. Without a client it gives up.
        answerEnd = Buffer.concat([answerEnd, chunk]).subarray(-READY.length - 1);
        if (!answerEnd.subarray(0, -1).equals(READY)) return;
        this.cut = null;
        end();
      } else if (this.state !== 'stalled') near.write(chunk);
    });
  }

  #keep(chunk: Buffer, far: Socket): void {
    this.deliver = async () => {
      this.deliver = null;
      const answered = once(far, 'data');
      far.write(chunk);
      await answered;
      far.destroy();
    };
  }
}
