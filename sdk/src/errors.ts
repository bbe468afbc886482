/**
 * What a call rejects with, beside the reason of its own AbortSignal. No message and no cause holds the
 * API key or a key. Of a body they hold no more than the service quotes in `detail` and `errors`.
 */
import type { ErrorCode } from './types.ts';

/** One field of a request that is wrong, `#/<field>` or `?<parameter>`, and what it must be. */
export interface FieldError {
  readonly pointer: string;
  readonly message: string;
}

interface Circumstances {
  readonly requestId: string | null;
  readonly outcomeUnknown: boolean;
  readonly cause?: unknown;
}

/** Any failure of a call. */
export class PhmError extends Error {
  override readonly name: string = 'PhmError';
  /** The request id to give to the operator: of the answer, else your own; null when there is none. */
  readonly requestId: string | null;
  /** Whether the service may have done what it was asked, though its answer did not arrive. */
  readonly outcomeUnknown: boolean;

  constructor(message: string, { requestId, outcomeUnknown, cause }: Circumstances) {
    super(
      requestId === null ? message : `${message} (request ${requestId})`,
      cause === undefined ? {} : { cause },
    );
    this.requestId = requestId;
    this.outcomeUnknown = outcomeUnknown;
  }
}

/** What an answer says of an error (RFC 9457). */
export interface Problem {
  readonly status: number;
  readonly code: ErrorCode;
  readonly title: string;
  readonly detail: string;
  readonly errors: readonly FieldError[];
  readonly requestId: string | null;
  readonly retryAfterSeconds: number | null;
}

/** The service refused the call, and says why. Decide by `code`. */
export class PhmApiError extends PhmError {
  override readonly name = 'PhmApiError';
  /** HTTP status. */
  readonly status: number;
  /** Stable name of the error. A newer service may have codes that this type does not list. */
  readonly code: ErrorCode;
  readonly title: string;
  /** What to do. */
  readonly detail: string;
  /** The fields that are wrong, for `invalid_request`; else empty. */
  readonly errors: readonly FieldError[];
  /** Seconds to wait before another try; null when the answer names none. */
  readonly retryAfterSeconds: number | null;

  constructor({ status, code, title, detail, errors, requestId, retryAfterSeconds }: Problem) {
    // The detail names one wrong field itself, as a rule the first.
    const told = errors.findIndex(({ message }) => detail.includes(message));
    const fields = errors
      .filter((_, i) => i !== told)
      .map(({ pointer, message }) => ` ${sentence(`${pointer} ${message}`)}`)
      .join('');
    // A commit that fails may have counted the request all the same (docs/ledger.md, "Unknown outcome").
    const outcomeUnknown = code === 'ledger_unavailable';
    super(`${code}: ${title}. ${detail}${fields}`, { requestId, outcomeUnknown });
    this.status = status;
    this.code = code;
    this.title = title;
    this.detail = detail;
    this.errors = errors;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

function sentence(text: string): string {
  return /[.?!]$/.test(text) ? text : `${text}.`;
}

/** An answer that is not the service's: a proxy's page, a redirect, broken JSON, or one that lacks a member. */
export class PhmResponseError extends PhmError {
  override readonly name = 'PhmResponseError';
  /** HTTP status; 0 for a redirect that a browser does not show. */
  readonly status: number;
  /** Seconds to wait before another try; null when the answer names none. */
  readonly retryAfterSeconds: number | null;

  constructor(
    message: string,
    {
      status,
      requestId,
      retryAfterSeconds,
    }: Pick<Problem, 'status' | 'requestId' | 'retryAfterSeconds'>,
  ) {
    // Redirects, refusals and "503" come from who did not pass the request on.
    const outcomeUnknown = (status >= 200 && status < 300) || (status >= 500 && status !== 503);
    super(message, { requestId, outcomeUnknown });
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** No answer, or half of one. `outcomeUnknown` is false when the request was never sent. */
export class PhmConnectionError extends PhmError {
  override readonly name = 'PhmConnectionError';
}

/** No answer in time, or no turn under the rate limit; then `outcomeUnknown` is false: nothing was sent. */
export class PhmTimeoutError extends PhmError {
  override readonly name = 'PhmTimeoutError';
  /** Milliseconds that the last attempt was given; of a call without a turn, `timeoutMs` of the client. */
  readonly timeoutMs: number;

  constructor(
    message: string,
    { timeoutMs, ...circumstances }: Circumstances & { readonly timeoutMs: number },
  ) {
    super(message, circumstances);
    this.timeoutMs = timeoutMs;
  }
}
