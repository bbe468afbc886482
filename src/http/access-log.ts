/**
 * Limits log lines about requests and handshakes that belong to no account, so that a flood of them cannot fill a disk.
 * A regular summary line counts the omitted ones.
 */
import type { FastifyBaseLogger } from 'fastify';
import { RateLimiter } from '../accounts/index.ts';
import { monotonicMs } from '../clock.ts';
import type { ErrorCode } from '../errors.ts';
import type { HandshakeFailure } from '../telemetry/index.ts';
import type { RequestObserver } from './observe.ts';

/** Limit for each class of statuses and for failed handshakes, so that a flood of one class does not hide the others. */
const LINES = { ratePerSecond: 10, burst: 100 };

/** Interval of the summary lines about omitted log lines, and about refused connections. */
export const SUMMARY_EVERY_MS = 10_000;

export class AccessLog {
  readonly #logger: FastifyBaseLogger;
  readonly #observer: RequestObserver;
  readonly #lines = new RateLimiter();
  /** Lines omitted since the last summary, by status and code, or the word "probe". */
  readonly #leftOut = new Map<string, number>();
  #summary: NodeJS.Timeout | undefined;

  constructor(logger: FastifyBaseLogger, observer: RequestObserver) {
    this.#logger = logger;
    this.#observer = observer;
  }

  /** Returns true if a request without a valid API key may be logged; otherwise counts it. */
  admits(status: number, what?: ErrorCode | 'probe'): boolean {
    const statusClass = String(Math.floor(status / 100));
    return this.#take(statusClass, what === undefined ? String(status) : `${status} ${what}`);
  }

  /** Returns true if a failed TLS handshake may be logged; otherwise counts it. */
  admitsHandshake(reason: HandshakeFailure): boolean {
    const name = `tls ${reason}`;
    return this.#take(name, name);
  }

  #take(lineClass: string, name: string): boolean {
    if (this.#lines.take(lineClass, LINES, monotonicMs()).allowed) return true;
    this.#leftOut.set(name, (this.#leftOut.get(name) ?? 0) + 1);
    this.#observer.events?.logLineLeftOut();
    this.#summary ??= setTimeout(() => this.flush(), SUMMARY_EVERY_MS).unref();
    return false;
  }

  /** Writes the summary, if any lines were omitted. */
  flush(): void {
    clearTimeout(this.#summary);
    this.#summary = undefined;
    if (this.#leftOut.size === 0) return;
    const leftOut = Object.fromEntries(this.#leftOut);
    this.#leftOut.clear();
    this.#logger.info({ leftOut }, 'requests left out of the log');
  }
}
