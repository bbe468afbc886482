/** Decides which failures to retry, and when. */
import { PhmApiError, type PhmError, PhmResponseError } from './errors.ts';
import type { ErrorCode } from './types.ts';

/** Temporary errors. No key or verdict was released, but a request with `ledger_unavailable` may have counted. */
const PASSING: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'rate_limited',
  'request_timeout',
  'idempotency_in_progress',
  'entropy_unavailable',
  'ledger_unavailable',
  'foreign_ledger',
  'overloaded',
  'receipt_pending',
]);

/** Statuses of a proxy that are temporary. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504]);

const FIRST_BACKOFF_MS = 250;
const LONGEST_BACKOFF_MS = 8_000;

/** Longest `Retry-After` that the client waits for. Longer waits are the caller's decision. */
const LONGEST_RETRY_AFTER_SECONDS = 30;

/**
 * How a request may be repeated: `never` if the service may have executed it, `read` if a second execution is harmless,
 * `recognised` if the service recognises the second one by its `Idempotency-Key`.
 */
export type Repeatable = 'never' | 'read' | 'recognised';

/** Reports whether to send the same request again. */
export function mayRetry(error: PhmError, repeatable: Repeatable): boolean {
  if (error.outcomeUnknown && repeatable === 'never') return false;
  const isRecognised = repeatable === 'recognised';
  if (error instanceof PhmApiError) {
    return PASSING.has(error.code) || (isRecognised && error.code === 'internal_error');
  }
  if (error instanceof PhmResponseError) {
    return PASSING_STATUSES.has(error.status) || (isRecognised && error.status >= 500);
  }
  return true;
}

/** Reports whether a rate limit of the service or of a proxy refused the call. An exhausted quota does not count. */
export function isRateRefusal(error: PhmError): error is PhmApiError | PhmResponseError {
  if (error instanceof PhmApiError) return error.code === 'rate_limited';
  return error instanceof PhmResponseError && error.status === 429;
}

/**
 * Returns the milliseconds to wait before retry number `retry` (from 0): `Retry-After` plus exponential back-off with
 * full jitter. Undefined if `Retry-After` is too long.
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

/** Returns the seconds of a Retry-After header, a number or a date (RFC 9110 §10.2.3); null without one. */
export function readRetryAfter(headers: Headers, nowMs: number): number | null {
  const value = headers.get('retry-after') ?? '';
  if (/^\d+$/.test(value)) return Number(value);
  const at = httpDate(value);
  if (at === null) return null;
  // By the sender's clock, if the response has a Date.
  const now = httpDate(headers.get('date') ?? '') ?? nowMs;
  return Math.max(0, Math.ceil((at - now) / 1000));
}

function httpDate(text: string): number | null {
  const time = text.endsWith('GMT') ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? null : time;
}
