/** Asks one host again and again, on a connection of its own, what kind of server it is. */
import { Socket } from 'node:net';
import pg from 'pg';
import type { PostgresAddress, PostgresHost } from '../../config/postgres-address.ts';
import { clientOptions } from './client-options.ts';
import type { SeenTimeline } from './seen-timeline.ts';
import {
  type HostState,
  judgeSession,
  NOTE_CLUSTER,
  SESSION_CHECK,
  type Session,
} from './session-check.ts';

export class HostProbe {
  readonly host: PostgresHost;
  readonly #address: PostgresAddress;
  #client: pg.Client | null = null;
  /** The newest socket, also while its login is not complete. */
  #socket: Socket | null = null;
  /** The look in progress: a host that is silent is asked once at a time. */
  #look: Promise<HostState> | null = null;

  constructor(address: PostgresAddress, host: PostgresHost) {
    this.#address = address;
    this.host = host;
  }

  /** Resolves with what the host is, within the time limit of the address. `seen` is as in `judgeSession`. */
  look(seen: SeenTimeline): Promise<HostState> {
    this.#look ??= this.#ask(seen).finally(() => {
      this.#look = null;
    });
    return this.#look;
  }

  /** Ends the connection. A look in progress fails. */
  close(): void {
    this.#socket?.destroy();
    this.#client = null;
  }

  async #ask(seen: SeenTimeline): Promise<HostState> {
    try {
      this.#client ??= await this.#open();
      const { rows } = await this.#client.query<Session & pg.QueryResultRow>(SESSION_CHECK);
      return judgeSession(rows[0] as Session, this.#address.target, seen);
    } catch (error) {
      this.close();
      return { kind: 'silent', error: error as Error };
    }
  }

  async #open(): Promise<pg.Client> {
    const socket = new Socket();
    const client = new pg.Client({
      ...clientOptions(this.#address, this.host),
      stream: () => socket,
      query_timeout: this.#address.connectTimeoutMs,
    });
    client.on('error', () => {});
    this.#socket = socket;
    try {
      await client.connect();
      await client.query(NOTE_CLUSTER);
    } catch (error) {
      socket.destroy();
      throw error;
    }
    socket.once('close', () => {
      if (this.#client === client) this.#client = null;
    });
    return client;
  }
}
