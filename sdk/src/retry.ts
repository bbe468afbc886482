/** Which failures are tried again, and when. */
import { PhmApiError, type PhmError, PhmResponseError } from './errors.ts';
import type { ErrorCode } from './types.ts';

/** Errors that pass by themselves. No key was released, no verdict given; `ledger_unavailable` may be counted. */
const PASSING: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'rate_limited',
  'request_timeout',
  'entropy_unavailable',
  'ledger_unavailable',
  'overloaded',
]);

/** Statuses of a proxy that pass by themselves. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504]);

const FIRST_BACKOFF_MS = 250;
const LONGEST_BACKOFF_MS = 8_000;

/** A longer wait than this is the caller's decision. */
const LONGEST_RETRY_AFTER_SECONDS = 30;

/**
 * Whether the same request may be sent again. One that is not `repeatable` is, only when the service
 * cannot have done it.
 */
export function mayRetry(error: PhmError, repeatable: boolean): boolean {
  if (error.outcomeUnknown && !repeatable) return false;
  if (error instanceof PhmApiError) return PASSING.has(error.code);
  if (error instanceof PhmResponseError) return PASSING_STATUSES.has(error.status);
  return true;
}

/** Whether a rate limit refused the call, the service's or a proxy's. An exhausted quota is not one. */
export function isRateRefusal(error: PhmError): error is PhmApiError | PhmResponseError {
  if (error instanceof PhmApiError) return error.code === 'rate_limited';
  return error instanceof PhmResponseError && error.status === 429;
}

/**
 * Milliseconds to wait before retry number `retry`, from 0; undefined when the answer asks for a longer
 * wait than is taken. Exponential back-off with full jitter, on top of what the answer asks for.
 */
export function waitMs(error: PhmError, retry: number, random: () => number): number | undefined {
  const asked =
    error instanceof PhmApiError || error instanceof PhmResponseError
      ? (error.retryAfterSeconds ?? 0)
      : 0;
  if (asked > LONGEST_RETRY_AFTER_SECONDS) return undefined;
  const backoff = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** retry);
  return asked * 1000 + random() * backoff;
}

/** The seconds of a Retry-After header, a number or a date (RFC 9110 §10.2.3); null without one. */
export function readRetryAfter(headers: Headers, nowMs: number): number | null {
  const value = headers.get('retry-after') ?? '';
  if (/^\d+$/.test(value)) return Number(value);
  const at = httpDate(value);
  if (at === null) return null;
  // By the clock of whoever wrote it, where it says what it shows.
  const now = httpDate(headers.get('date') ?? '') ?? nowMs;
  return Math.max(0, Math.ceil((at - now) / 1000));
}

function httpDate(text: string): number | null {
  const time = text.endsWith('GMT') ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? null : time;
}
