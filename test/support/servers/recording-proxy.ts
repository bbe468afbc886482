/** A TCP proxy that keeps every byte in both directions, and can lose requests and answers. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** The bytes of one connection. */
interface Recording {
  readonly sent: Buffer[];
  readonly received: Buffer[];
}

export class RecordingProxy {
  /**
   * Called with the start of each piece of an answer. If it returns true, the answer is lost: the server has sent
   * it, and the client's connection ends without it.
   */
  loses: (answer: Buffer) => boolean = () => false;
  /** Called with the start of each piece of a request. If it returns true, the server gets no more of this connection. */
  losesRequest: (request: Buffer) => boolean = () => false;
  /** Number of lost requests and answers. */
  lost = 0;
  /** Address of the server. One that starts again may have another. */
  target: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #recordings: Recording[] = [];

  private constructor(target: string) {
    this.target = target;
    this.#server = createServer((near) =>
      this.#join(near, connect(Number(new URL(this.target).port), '127.0.0.1')),
    );
  }

  /** Starts a proxy in front of a server at this address. */
  static async start(address: string): Promise<RecordingProxy> {
    const proxy = new RecordingProxy(address);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get address(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Everything that clients sent, connection by connection. */
  get sent(): Buffer {
    return Buffer.concat(this.#recordings.flatMap(({ sent }) => sent));
  }

  /** Everything that the server sent, connection by connection. */
  get received(): Buffer {
    return Buffer.concat(this.#recordings.flatMap(({ received }) => received));
  }

  /** Forgets everything so far. */
  forget(): void {
    for (const { sent, received } of this.#recordings) {
      sent.length = 0;
      received.length = 0;
    }
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #join(near: Socket, far: Socket): void {
    const recording: Recording = { sent: [], received: [] };
    this.#recordings.push(recording);
    const end = () => {
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) {
      this.#sockets.add(socket);
      socket
        .on('error', () => {})
        .on('close', () => {
          this.#sockets.delete(socket);
          end();
        });
    }
    near.on('data', (chunk: Buffer) => {
      recording.sent.push(chunk);
      if (this.losesRequest(chunk)) {
        this.lost += 1;
        end();
      } else far.write(chunk);
    });
    far.on('data', (chunk: Buffer) => {
      recording.received.push(chunk);
      if (this.loses(chunk)) {
        this.lost += 1;
        end();
      } else near.write(chunk);
    });
  }
}
