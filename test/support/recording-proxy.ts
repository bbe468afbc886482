/** A TCP proxy that keeps every byte in both directions, and can lose answers. */
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
  /** Number of lost answers. */
  lost = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #recordings: Recording[] = [];

  private constructor(serverPort: number) {
    this.#server = createServer((near) => this.#join(near, connect(serverPort, '127.0.0.1')));
  }

  /** Starts a proxy in front of a server at this address. */
  static async start(address: string): Promise<RecordingProxy> {
    const proxy = new RecordingProxy(Number(new URL(address).port));
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
      far.write(chunk);
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
