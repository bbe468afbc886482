/**
 * Limits connections. A connection gets one of `max` places with its first request and keeps it until it closes. Another
 * `REFUSED_CONNECTIONS` connections may be open without a place: their requests are refused, but health checks are answered.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { monotonicMs } from '../clock.ts';
import { REFUSED_CONNECTIONS } from '../files/open-files.ts';
import type { ConnectionCounts } from '../telemetry/index.ts';
import { SUMMARY_EVERY_MS } from './access-log.ts';

/** Shortest idle time after which a connection with a valid API key may be closed: a recent one is about to be used again. */
const IDLE_MS = 5_000;

/** Maximum number of pipelined requests that may wait behind the one in progress. They are served one at a time. */
const MAX_PIPELINED = 16;

const NONE: readonly Exchange[] = [];

export interface ConnectionsOptions {
  readonly max: number;
  readonly reserve?: number;
  readonly idleMs?: number;
  /** Called at most once per `SUMMARY_EVERY_MS`, with the counts since the last call. */
  readonly onTurnedAway?: (counts: TurnedAway) => void;
}

type TurnedAway = Pick<ConnectionCounts, 'answered' | 'dropped' | 'displaced'>;

interface Connection {
  readonly socket: Socket;
  readonly address: string;
  hasPlace: boolean;
  idleSinceMs: number;
  /** The request in progress. */
  current: Exchange | undefined;
  /** Requests behind it. */
  pipelined: readonly Exchange[];
  /** Listens for the end of each response. One function for all of them, set with the first request. */
  ended: (() => void) | undefined;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** True if the connection had no place. */
  isRefused: boolean;
  /** True if the request has a valid API key. */
  isKeyed: boolean;
}

export class Connections {
  readonly #max: number;
  readonly #reserve: number;
  readonly #idleMs: number;
  /** A TLS socket is not the accepted socket, but has the same addresses. */
  readonly #byAddress = new Map<string, Connection>();
  readonly #bySocket = new WeakMap<Socket, Connection>();
  /** Connections without a place; the oldest first. */
  readonly #waiting = new Set<Connection>();
  /** Connections with a place and without a request; the longest idle first. */
  readonly #idle = new Set<Connection>();
  /** Idle connections whose last request had no valid API key. */
  readonly #unkeyed = new Set<Connection>();
  readonly #onTurnedAway: ((counts: TurnedAway) => void) | undefined;
  #turnedAway: TurnedAway = { answered: 0, dropped: 0, displaced: 0 };
  #summary: NodeJS.Timeout | undefined;

  constructor({
    max,
    reserve = REFUSED_CONNECTIONS,
    idleMs = IDLE_MS,
    onTurnedAway,
  }: ConnectionsOptions) {
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

  /** Registers an accepted connection. If there are too many, it closes the one that has waited longest. */
  accept(socket: Socket): void {
    const address = addressOf(socket);
    // The socket has already closed.
    if (address === null) return;
    if (this.#byAddress.size >= this.#max + this.#reserve) this.#drop();
    const connection: Connection = {
      socket,
      address,
      hasPlace: false,
      idleSinceMs: 0,
      current: undefined,
      pipelined: NONE,
      ended: undefined,
    };
    this.#byAddress.set(address, connection);
    this.#waiting.add(connection);
    socket.once('close', () => this.#forget(connection));
  }

  /** Returns a listener that passes the requests of each connection to `handle`, one at a time. */
  serve(handle: RequestListener): RequestListener {
    return (request, response) => {
      const connection = this.#connectionOf(request.socket);
      if (!connection || request.socket.destroyed) return;
      connection.ended ??= () => this.#end(connection, handle);
      const exchange = { request, response, isRefused: false, isKeyed: false };
      if (!connection.current) this.#begin(connection, exchange, handle);
      else if (connection.pipelined.length === MAX_PIPELINED) request.socket.destroy();
      else connection.pipelined = [...connection.pipelined, exchange];
    };
  }

  /** True if the connection of a request has no place. */
  isRefused(request: IncomingMessage): boolean {
    return this.#exchangeOf(request)?.isRefused ?? false;
  }

  /** Counts a refused request. */
  noteRefusal(): void {
    this.#count('answered');
  }

  /** Notes that a request has a valid API key. */
  noteKeyed(request: IncomingMessage): void {
    const exchange = this.#exchangeOf(request);
    if (exchange) exchange.isKeyed = true;
  }

  /** Returns the exchange of a request in progress; undefined for a request that no connection brought. */
  #exchangeOf(request: IncomingMessage): Exchange | undefined {
    const exchange = this.#bySocket.get(request.socket)?.current;
    return exchange?.request === request ? exchange : undefined;
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

  #begin(connection: Connection, exchange: Exchange, handle: RequestListener): void {
    const { request, response } = exchange;
    connection.current = exchange;
    this.#wake(connection);
    response.once('close', connection.ended as () => void);
    if (this.#hasPlace(connection)) {
      handle(request, response);
      return;
    }
    exchange.isRefused = true;
    // Closing a connection with unread data resets it, and the client loses the response. A client that waits for 100
    // (Continue) has not sent its body, so it can have the response at once.
    if (request.headers.expect === undefined) {
      request.once('end', () => handle(request, response)).resume();
    } else {
      handle(request, response);
    }
  }

  #end(connection: Connection, handle: RequestListener): void {
    const { current: done, pipelined } = connection;
    connection.current = undefined;
    if (!done || done.request.socket.destroyed) return;
    const next = pipelined[0];
    if (next) {
      connection.pipelined = pipelined.slice(1);
      this.#begin(connection, next, handle);
    } else if (connection.hasPlace) {
      connection.idleSinceMs = monotonicMs();
      this.#idle.add(connection);
      if (!done.isKeyed) this.#unkeyed.add(connection);
    }
  }

  /** Gives a connection a place if one is free. Returns true if it has one. */
  #hasPlace(connection: Connection): boolean {
    if (connection.hasPlace) return true;
    if (this.#places >= this.#max && !this.#displace()) return false;
    this.#waiting.delete(connection);
    connection.hasPlace = true;
    return true;
  }

  /**
   * Closes an idle connection. Returns false if there is none to close. Connections without a valid API key come first,
   * however briefly they have been idle: otherwise they could keep all places from other clients with requests that cost nothing.
   */
  #displace(): boolean {
    const [unkeyed] = this.#unkeyed;
    const oldest = unkeyed ?? this.#longestIdle();
    if (!oldest) return false;
    this.#count('displaced');
    this.#close(oldest);
    return true;
  }

  /** Returns the connection that has been idle longest, if for at least `idleMs`. */
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

/** Returns the addresses that identify an open connection; null if it has closed. */
function addressOf({ localAddress, remoteAddress, remotePort }: Socket): string | null {
  return remoteAddress === undefined ? null : `${localAddress} ${remoteAddress} ${remotePort}`;
}
