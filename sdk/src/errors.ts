/**
 * Errors of a call, besides the reason of its own AbortSignal. No message and no cause holds the API key or a key. They
 * repeat only those parts of a body that the service quotes in `detail` and `errors`. A message shows every character of
 * them, because an error that nobody catches is printed on a terminal, which must not obey a server.
 */
import type { ErrorCode } from './types.ts';
import { visible } from './visible.ts';

/** One wrong field of a request, `#/<field>` or `?<parameter>`, and what it must be. */
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
  /** Request ID to give to the operator: from the response, otherwise your own; null if there is none. */
  readonly requestId: string | null;
  /** True if the service may have executed the call: the response to one of its requests was lost. */
  readonly outcomeUnknown: boolean;
  /**
   * The `Idempotency-Key` of the call, or null. The same call with this `idempotencyKey` is a repetition that the service
   * recognises.
   */
  readonly idempotencyKey: string | null = null;

  constructor(message: string, { requestId, outcomeUnknown, cause }: Circumstances) {
    super(
      visible(requestId === null ? message : `${message} (request ${requestId})`),
      cause === undefined ? {} : { cause },
    );
    this.requestId = requestId;
    this.outcomeUnknown = outcomeUnknown;
  }
}

/** Adds to an error what its call knows: its `Idempotency-Key`, and that an earlier request may have been executed. */
export function describeCall(
  error: PhmError,
  call: { readonly idempotencyKey: string | null; readonly mayHaveRun: boolean },
): void {
  const { outcomeUnknown } = error;
  // The service has said what became of an earlier request.
  const isKnown = error instanceof PhmKeyLostError;
  const isUnknown = outcomeUnknown || (call.mayHaveRun && !isKnown);
  Object.assign(error, { outcomeUnknown: isUnknown, idempotencyKey: call.idempotencyKey });
}

/** An error as the response describes it (RFC 9457). */
export interface Problem {
  readonly status: number;
  readonly code: ErrorCode;
  readonly title: string;
  readonly detail: string;
  readonly errors: readonly FieldError[];
  readonly help: string | null;
  readonly keyIds: readonly string[];
  readonly maxCount: number | null;
  readonly requestId: string | null;
  readonly retryAfterSeconds: number | null;
}

/** The service refused the call. Decide by `code`. */
export class PhmApiError extends PhmError {
  override readonly name: string = 'PhmApiError';
  /** HTTP status. */
  readonly status: number;
  /** Stable name of the error. A newer service may have codes that this type does not list. */
  readonly code: ErrorCode;
  readonly title: string;
  /** What is wrong and what to do. */
  readonly detail: string;
  /** The wrong fields, for `invalid_request`; otherwise empty. */
  readonly errors: readonly FieldError[];
  /** Where the service documents the code, relative to its base URL; null if the response does not say. */
  readonly help: string | null;
  /** The keys that an earlier request generated, for `key_already_made`; otherwise empty. */
  readonly keyIds: readonly string[];
  /** Largest `count` that the service accepts, for `batch_too_large`; otherwise null. */
  readonly maxCount: number | null;
  /** Seconds to wait before the next attempt; null if the response names none. */
  readonly retryAfterSeconds: number | null;

  constructor(problem: Problem) {
    const { status, code, title, detail, errors, requestId, retryAfterSeconds } = problem;
    // The detail already names one wrong field, usually the first.
    const named = errors.findIndex(({ message }) => detail.includes(message));
    const fields = errors
      .filter((_, i) => i !== named)
      .map(({ pointer, message }) => ` ${sentence(`${pointer} ${message}`)}`)
      .join('');
    // A failed commit may still have counted the request (docs/ledger.md, "Unknown outcome").
    const outcomeUnknown = code === 'ledger_unavailable';
    super(`${code}: ${title}. ${detail}${fields}`, { requestId, outcomeUnknown });
    this.status = status;
    this.code = code;
    this.title = title;
    this.detail = detail;
    this.errors = errors;
    this.help = problem.help;
    this.keyIds = problem.keyIds;
    this.maxCount = problem.maxCount;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/**
 * An earlier request with the same `Idempotency-Key` generated `keyIds` in plaintext (`key_already_made`). The service
 * cannot send these keys again, and it generated no others. If you do not have them, they are lost: discard them, and call
 * again. After a retry of the client, that earlier request was the client's own, and its response was lost.
 */
export class PhmKeyLostError extends PhmApiError {
  override readonly name = 'PhmKeyLostError';
}

function sentence(text: string): string {
  return /[.?!]$/.test(text) ? text : `${text}.`;
}

/**
 * A response that is not the service's answer to this call: a proxy's page, a redirect, broken JSON, JSON without a promised
 * member, or the answer to another request.
 */
export class PhmResponseError extends PhmError {
  override readonly name = 'PhmResponseError';
  /** HTTP status; 0 for a redirect that a browser does not show. */
  readonly status: number;
  /** Seconds to wait before the next attempt; null if the response names none. */
  readonly retryAfterSeconds: number | null;

  constructor(
    message: string,
    {
      status,
      requestId,
      retryAfterSeconds,
    }: Pick<Problem, 'status' | 'requestId' | 'retryAfterSeconds'>,
    // Redirects, refusals and 503 come from a server that did not pass the request on.
    { outcomeUnknown } = {
      outcomeUnknown: (status >= 200 && status < 300) || (status >= 500 && status !== 503),
    },
  ) {
    super(message, { requestId, outcomeUnknown });
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** No response, or an incomplete one. `outcomeUnknown` is false if the request was never sent. */
export class PhmConnectionError extends PhmError {
  override readonly name = 'PhmConnectionError';
}

/** No response in time, or no turn under the rate limit. In the second case nothing was sent: `outcomeUnknown` is false. */
export class PhmTimeoutError extends PhmError {
  override readonly name = 'PhmTimeoutError';
  /** Timeout of the last attempt in milliseconds; for a call without a turn, `timeoutMs` of the client. */
  readonly timeoutMs: number;

  constructor(
    message: string,
    { timeoutMs, ...circumstances }: Circumstances & { readonly timeoutMs: number },
  ) {
    super(message, circumstances);
    this.timeoutMs = timeoutMs;
  }
}
