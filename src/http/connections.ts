/**
 * The bound on connections. A connection gets one of `max` places with its first request and keeps it until it closes.
 * Beyond that there is room for `RESERVE` connections without a place: there requests are read to be refused, and probes
 * to be answered.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { monotonicMs } from '../clock.ts';
import type { ConnectionCounts } from '../telemetry/index.ts';
import { SUMMARY_EVERY_MS } from './access-log.ts';
import { boundPieces } from './wire/read-body.ts';

/** Connections without a place that are kept open when every place is taken. */
export const RESERVE = 512;

/** A connection with a valid API key that has been idle for less is about to be used again: it makes no room. */
const IDLE_MS = 5_000;

/** Requests that a client may send ahead of their answers. They are served one after the other. */
const MAX_PIPELINED = 16;

export interface ConnectionsOptions {
  readonly max: number;
  readonly reserve?: number;
  readonly idleMs?: number;
  /** Told, now and then, what was turned away since the last time. */
  readonly onTurnedAway?: (counts: TurnedAway) => void;
}

export type TurnedAway = Pick<ConnectionCounts, 'answered' | 'dropped' | 'displaced'>;

interface Connection {
  readonly socket: Socket;
  readonly address: string;
  hasPlace: boolean;
  idleSinceMs: number;
  /** The request under way, and those that were sent ahead. */
  readonly requests: { readonly request: IncomingMessage; readonly response: ServerResponse }[];
}

export class Connections {
  readonly #max: number;
  readonly #reserve: number;
  readonly #idleMs: number;
  /** A TLS socket is not the one that was accepted, but has its addresses. */
  readonly #byAddress = new Map<string, Connection>();
  readonly #bySocket = new WeakMap<Socket, Connection>();
  /** Without a place; the oldest first. */
  readonly #waiting = new Set<Connection>();
  /** With a place and without a request; the longest idle first. */
  readonly #idle = new Set<Connection>();
  /** Those of them whose last request had no valid API key. */
  readonly #unkeyed = new Set<Connection>();
  readonly #refused = new WeakSet<IncomingMessage>();
  readonly #keyed = new WeakSet<IncomingMessage>();
  readonly #onTurnedAway: ((counts: TurnedAway) => void) | undefined;
  #turnedAway: TurnedAway = { answered: 0, dropped: 0, displaced: 0 };
  #summary: NodeJS.Timeout | undefined;

  constructor({ max, reserve = RESERVE, idleMs = IDLE_MS, onTurnedAway }: ConnectionsOptions) {
    this.#onTurnedAway = onTurnedAway;
    this.#max = max;
    this.#reserve = reserve;
    this.#idleMs = idleMs;
  }

  get counts(): ConnectionCounts {
    return {
      max: this.#max,
      active: this.#places - this.#idle.size,
      idle: this.#idle.size,
      waiting: this.#waiting.size,
      ...this.#turnedAway,
    };
  }

  /** Takes in a connection that was just accepted. If there are too many, the one that has waited longest closes. */
  accept(socket: Socket): void {
    const address = addressOf(socket);
    // It is closed already.
    if (address === null) return;
    if (this.#byAddress.size >= this.#max + this.#reserve) this.#drop();
    const connection = { socket, address, hasPlace: false, idleSinceMs: 0, requests: [] };
    this.#byAddress.set(address, connection);
    this.#waiting.add(connection);
    socket.once('close', () => this.#forget(connection));
  }

  /** Hands the requests of each connection on, one after the other. */
  serve(handle: RequestListener): RequestListener {
    return (request, response) => {
      const connection = this.#connectionOf(request.socket);
      if (!connection || request.socket.destroyed) return;
      const { requests } = connection;
      if (requests.length > MAX_PIPELINED) {
        request.socket.destroy();
        return;
      }
      boundPieces(request);
      requests.push({ request, response });
      if (requests.length === 1) this.#begin(connection, handle);
    };
  }

  /** True of a request whose connection has no place. */
  isRefused(request: IncomingMessage): boolean {
    return this.#refused.has(request);
  }

  /** Notes that a refused request is answered so. */
  noteRefusal(): void {
    this.#count('answered');
  }

  /** Notes that a request has a valid API key. */
  noteKeyed(request: IncomingMessage): void {
    this.#keyed.add(request);
  }

  get #places(): number {
    return this.#byAddress.size - this.#waiting.size;
  }

  #connectionOf(socket: Socket): Connection | undefined {
    const known = this.#bySocket.get(socket);
    if (known) return known;
    const connection = this.#byAddress.get(addressOf(socket) ?? '');
    if (connection) this.#bySocket.set(socket, connection);
    return connection;
  }

  #begin(connection: Connection, handle: RequestListener): void {
    const [{ request, response }] = connection.requests;
    this.#wake(connection);
    response.once('close', () => this.#end(connection, handle));
    if (this.#hasPlace(connection)) {
      handle(request, response);
      return;
    }
    this.#refused.add(request);
    // A connection that closes on unread data resets it, and the client loses the answer. One that waits to be asked
    // for its body is not: it gets the answer instead.
    if (request.headers.expect === undefined) {
      request.once('end', () => handle(request, response)).resume();
    } else {
      handle(request, response);
    }
  }

  #end(connection: Connection, handle: RequestListener): void {
    const { requests } = connection;
    const [done] = requests.splice(0, 1);
    if (!done || done.request.socket.destroyed) return;
    if (requests.length > 0) {
      this.#begin(connection, handle);
    } else if (connection.hasPlace) {
      connection.idleSinceMs = monotonicMs();
      this.#idle.add(connection);
      if (!this.#keyed.has(done.request)) this.#unkeyed.add(connection);
    }
  }

  /** Gives a connection a place, if it has none and there is one. */
  #hasPlace(connection: Connection): boolean {
    if (connection.hasPlace) return true;
    if (this.#places >= this.#max && !this.#displace()) return false;
    this.#waiting.delete(connection);
    connection.hasPlace = true;
    return true;
  }

  /**
   * Closes an idle connection; false if there is none to close. Those without a valid API key come first and get no time:
   * requests cost them nothing, and would keep all places from other clients.
   */
  #displace(): boolean {
    const [unkeyed] = this.#unkeyed;
    const oldest = unkeyed ?? this.#longestIdle();
    if (!oldest) return false;
    this.#count('displaced');
    this.#close(oldest);
    return true;
  }

  /** The connection that has been idle longest, if that is long enough. */
  #longestIdle(): Connection | undefined {
    const [oldest] = this.#idle;
    return oldest && monotonicMs() - oldest.idleSinceMs >= this.#idleMs ? oldest : undefined;
  }

  #drop(): void {
    const [oldest] = this.#waiting;
    if (!oldest) return;
    this.#count('dropped');
    this.#close(oldest);
  }

  #count(how: keyof TurnedAway): void {
    const before = this.#turnedAway;
    this.#turnedAway = { ...before, [how]: before[how] + 1 };
    this.#summary ??= setTimeout(() => {
      this.#summary = undefined;
      const { answered, dropped, displaced } = this.#turnedAway;
      this.#onTurnedAway?.({
        answered: answered - before.answered,
        dropped: dropped - before.dropped,
        displaced: displaced - before.displaced,
      });
    }, SUMMARY_EVERY_MS).unref();
  }

  #close(connection: Connection): void {
    this.#forget(connection);
    connection.socket.destroy();
  }

  #wake(connection: Connection): void {
    this.#idle.delete(connection);
    this.#unkeyed.delete(connection);
  }

  #forget(connection: Connection): void {
    this.#waiting.delete(connection);
    this.#wake(connection);
    const { address } = connection;
    if (this.#byAddress.get(address) === connection) this.#byAddress.delete(address);
  }
}

/** What tells one open connection from another; null when it is gone already. */
function addressOf({ localAddress, remoteAddress, remotePort }: Socket): string | null {
  return remoteAddress === undefined ? null : `${localAddress} ${remoteAddress} ${remotePort}`;
}
