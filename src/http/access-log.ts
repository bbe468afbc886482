/**
 * What is written about requests and handshakes that no account answers for, so that a flood of them cannot fill a disk:
 * some lines a second, and now and then a line that counts those left out.
 */
import type { FastifyBaseLogger } from 'fastify';
import { RateLimiter } from '../accounts/index.ts';
import { monotonicMs } from '../clock.ts';
import type { ErrorCode } from '../errors.ts';
import type { HandshakeFailure } from '../telemetry/index.ts';
import type { RequestObserver } from './observe.ts';

/** Lines of each class of statuses and of failed handshakes: a flood of one class does not hide the others. */
const LINES = { ratePerSecond: 10, burst: 100 };

/** A line in the log counts what was left out, or turned away, in this time. */
export const SUMMARY_EVERY_MS = 10_000;

export class AccessLog {
  readonly #logger: FastifyBaseLogger;
  readonly #observer: RequestObserver;
  readonly #lines = new RateLimiter();
  /** Lines left out since the last summary, by status and code, or the word "probe". */
  readonly #leftOut = new Map<string, number>();
  #summary: NodeJS.Timeout | undefined;

  constructor(logger: FastifyBaseLogger, observer: RequestObserver) {
    this.#logger = logger;
    this.#observer = observer;
  }

  /** Whether a line may be written about a request without a valid API key; counts it if not. */
  admits(status: number, what?: ErrorCode | 'probe'): boolean {
    const statusClass = String(Math.floor(status / 100));
    return this.#take(statusClass, what === undefined ? String(status) : `${status} ${what}`);
  }

  /** Whether a line may be written about a TLS handshake that failed; counts it if not. */
  admitsHandshake(reason: HandshakeFailure): boolean {
    const name = `tls ${reason}`;
    return this.#take(name, name);
  }

  #take(lineClass: string, name: string): boolean {
    if (this.#lines.take(lineClass, LINES, monotonicMs()).allowed) return true;
    this.#leftOut.set(name, (this.#leftOut.get(name) ?? 0) + 1);
    this.#observer.logLineLeftOut();
    this.#summary ??= setTimeout(() => this.flush(), SUMMARY_EVERY_MS).unref();
    return false;
  }

  /** Writes the count of what was left out, if anything was. */
  flush(): void {
    clearTimeout(this.#summary);
    this.#summary = undefined;
    if (this.#leftOut.size === 0) return;
    const leftOut = Object.fromEntries(this.#leftOut);
    this.#leftOut.clear();
    this.#logger.info({ leftOut }, 'requests left out of the log');
  }
}
