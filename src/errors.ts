/**
 * Every failure that a caller can see, in one table.
 *
 * Each row holds the HTTP status, the public title and the remedy. Only `http/wire/problem.ts` reads the
 * status; it replaces `{wait}` with the seconds to wait and `{request_id}` with the request's id. A test
 * compares the table with `docs/errors.md` and the OpenAPI document. Code inside the process that breaks a
 * contract gets a `TypeError` or `RangeError` instead.
 */
export const ERRORS = {
  invalid_request: {
    status: 400,
    title: 'The request is not valid',
    remedy: 'Correct the fields named in "errors" and send the request again.',
  },
  malformed_json: {
    status: 400,
    title: 'The request body is not valid JSON',
    remedy: 'Send one JSON object as the body, encoded as UTF-8.',
  },
  malformed_request: {
    status: 400,
    title: 'The request is not well-formed HTTP',
    remedy: 'Check the request line, the path and the headers of the request.',
  },
  missing_api_key: {
    status: 401,
    title: 'The request carries no API key',
    remedy: 'Send your API key in the X-API-Key header.',
  },
  invalid_api_key: {
    status: 401,
    title: 'The API key is not valid',
    remedy:
      'Check the API key: it is mistyped, unknown or revoked. The operator can issue a new one.',
  },
  insufficient_scope: {
    status: 403,
    title: 'The API key lacks the scope of this operation',
    remedy:
      'Use an API key with that scope. The operator issues one with "phm api-key issue --scope".',
  },
  address_not_allowed: {
    status: 403,
    title: 'The API key cannot be used from this address',
    remedy:
      'Send the request from an address that the operator allowed for this API key, or ask the operator for another one.',
  },
  account_suspended: {
    status: 403,
    title: 'The account of this API key is suspended',
    remedy:
      'Ask the operator why: only the operator can resume the account, with "phm account resume". The keys of the account stay as they are, and its API keys then work again.',
  },
  sealed_only: {
    status: 403,
    title: 'This account generates sealed keys only',
    remedy:
      'Send the request to /api/v2/generate/sealed, or a batch to /api/v2/generate/sealed/batch, with "seal_to". The operator can lift the rule with "phm account set --sealed-only off".',
  },
  recipient_not_registered: {
    status: 403,
    title: "This account's keys are sealed to registered recipients only",
    remedy:
      'Name a registered recipient: "seal_to": {"recipient": "<name>"}. The operator registers one with "phm recipient add", and can lift the rule with "phm account set --sealed-only on".',
  },
  not_found: {
    status: 404,
    title: 'There is no endpoint at this path',
    remedy:
      'Check the path: /docs lists the endpoints, below the base path if the server has one. The base URL of a client ' +
      'ends before /api/v2.',
  },
  key_not_found: {
    status: 404,
    title: 'The account has no record of this key',
    remedy:
      'Check the key_id. An API key sees only keys that its own account generated, and as long as the ledger keeps their records.',
  },
  receipt_not_found: {
    status: 404,
    title: 'There is no receipt for this key',
    remedy:
      'Check the key_id. An API key reads only receipts for keys that its own account generated.',
  },
  method_not_allowed: {
    status: 405,
    title: 'This path does not support this method',
    remedy: 'Use a method that the Allow header names.',
  },
  request_timeout: {
    status: 408,
    title: 'The request did not arrive in time',
    remedy: 'The server waited too long for the rest of the request. Send it without pauses.',
  },
  idempotency_in_progress: {
    status: 409,
    title: 'A request with this Idempotency-Key is in progress',
    remedy: 'Send the same request again in {wait}, to get the outcome of the first one.',
  },
  key_already_made: {
    status: 409,
    title: 'The first request with this Idempotency-Key has generated its key already',
    remedy:
      'The key is not stored, so it cannot be sent again, and no second one was generated. If the first response is lost, discard the key_id and generate a new key with a new Idempotency-Key. Sealed keys can be sent again.',
  },
  payload_too_large: {
    status: 413,
    title: 'The request body is too large',
    remedy: 'Send a body of at most 16,384 bytes.',
  },
  batch_too_large: {
    status: 413,
    title: 'The batch has too many keys',
    remedy: 'Send a smaller "count", and the rest in further requests.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'The media type of the body is not supported',
    remedy: 'Send a JSON body with the header Content-Type: application/json.',
  },
  expectation_failed: {
    status: 417,
    title: 'The expectation in the Expect header cannot be met',
    remedy: 'Omit the Expect header, or send "100-continue".',
  },
  idempotency_key_reused: {
    status: 422,
    title: 'This Idempotency-Key belongs to a different request',
    remedy:
      'Send a new Idempotency-Key with a new request. Repeat an old one only with the same method, path and fields.',
  },
  headers_too_large: {
    status: 431,
    title: 'The request headers are too large',
    remedy: 'Keep the request line and all headers within 16 KiB together.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests in a short time',
    remedy: 'Send requests at a lower rate, and try again in {wait}.',
  },
  quota_exceeded: {
    status: 429,
    title: 'The monthly quota does not cover the request',
    remedy:
      "The account has used its plan's requests for this month. Wait for the next calendar month (UTC), or move to a larger plan.",
  },
  internal_error: {
    status: 500,
    title: 'The service met an unexpected error',
    remedy: 'Try again. If the error persists, give the request ID {request_id} to the operator.',
  },
  record_altered: {
    status: 500,
    title: 'The record of this key differs from its entry in the transparency log',
    remedy:
      'No receipt can be issued for it. Give the request ID {request_id} to the operator, who must find out who changed the record.',
  },
  method_not_implemented: {
    status: 501,
    title: 'The method of the request is unknown',
    remedy: 'Use GET, HEAD, POST or OPTIONS, in upper case.',
  },
  unsupported_transfer_encoding: {
    status: 501,
    title: 'The transfer encoding of the body is not supported',
    remedy:
      'Send the body with Content-Length, or with Transfer-Encoding: chunked and nothing else.',
  },
  entropy_unavailable: {
    status: 503,
    title: 'The random bit generator is not available',
    remedy:
      'No key was released, because an entropy source or the generator cannot be used at present. Try again in {wait}.',
  },
  ledger_unavailable: {
    status: 503,
    title: 'The ledger cannot be used at present',
    remedy:
      'The database cannot be used at present, so no key and no verdict was released. Try again in {wait}.',
  },
  foreign_ledger: {
    status: 503,
    title: 'The database holds the ledger of another service',
    remedy:
      'The address of the database leads to another ledger than the one of this server, so nothing was read, released or changed. Tell the operator, and try again in {wait}.',
  },
  overloaded: {
    status: 503,
    title: 'The service cannot take more work at present',
    remedy: 'The service is busy. Try again in {wait}.',
  },
  unknown_plan: {
    status: 503,
    title: "This server does not know the account's plan",
    remedy:
      'Tell the operator: the plan of the account is missing from the file in PHM_PLANS_FILE of this server. "phm account set-plan" moves the account to another plan.',
  },
  receipt_pending: {
    status: 503,
    title: 'The receipt is not ready yet',
    remedy:
      'The record of this key is durable, but no published checkpoint covers it yet. Try again in {wait}.',
  },
  log_stopped: {
    status: 503,
    title: 'The transparency log has stopped',
    remedy:
      'The log publishes nothing until the operator has checked it. Keys get their receipts later.',
  },
  http_version_not_supported: {
    status: 505,
    title: 'The HTTP version of the request is not supported',
    remedy: 'Send the request with HTTP/1.1.',
  },
} as const satisfies Record<string, { status: number; title: string; remedy: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** One invalid field of a request: `#/<field>` or `?<parameter>`, and what it must be. */
export interface FieldError {
  pointer: string;
  message: string;
}

/** Members of some problems, for programs. */
interface ProblemMembers {
  /** The key that the first request generated (`key_already_made`). */
  key_id?: string;
  /** The keys that the first request, a batch, generated (`key_already_made`). */
  key_ids?: string[];
  /** Largest `count` that the service accepts for such a batch (`batch_too_large`), or that the quota leaves (`quota_exceeded`). */
  max_count?: number;
}

/** Details of one error beyond its table row. `detail` is public and MUST NOT hold caller secrets. */
export interface ErrorDetails {
  detail?: string;
  /** What the caller should do, instead of the table's remedy. */
  remedy?: string;
  fields?: FieldError[];
  /** Internal cause, for the log. It MUST NOT hold key bytes or request contents. */
  reason?: string;
  retryAfterSeconds?: number;
  /** True if the caller asks for too much of a queue: no failure of the service. */
  ownShare?: boolean;
  allow?: string[];
  /** Members of the problem beyond those of every problem (RFC 9457 §3.2). */
  members?: ProblemMembers;
  cause?: unknown;
}

/** A known failure that the program handles. `message` is the public detail or title; `cause` stays inside the process. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, details: ErrorDetails = {}) {
    super(details.detail ?? ERRORS[code].title, { cause: details.cause });
    this.code = code;
    this.details = details;
  }
}

/** Returns the stack frames of an error, one per line, without its message, which can hold anything. */
export function stackFrames({ stack }: Error): string[] {
  return stack?.split('\n').filter((line) => line.startsWith('    at ')) ?? [];
}

/**
 * A wrong setup that an operator can correct, such as a missing file, a wrong master secret or a newer
 * database. The message names the problem and the remedy. It is printed, never sent to a client.
 */
export class SetupError extends Error {
  override readonly name = 'SetupError';
  /**
   * True if the failure may pass without a restart, for example while a database starts. A server's startup
   * waits for that.
   */
  readonly mayPass: boolean;
  /** What the startup waits for meanwhile. */
  readonly awaits: StartAwaits;

  /** The message, in which a line end was quoted from elsewhere, and the other way out if there is one. */
  readonly lines: readonly string[];

  constructor(
    message: string,
    { cause, mayPass = false, awaits = 'the database', otherwise }: SetupErrorOptions = {},
  ) {
    const lines = otherwise === undefined ? [message] : [message, otherwise];
    super(lines.join('\n'), cause === undefined ? {} : { cause });
    this.lines = lines;
    this.mayPass = mayPass;
    this.awaits = awaits;
  }
}

/** What a startup can wait for. */
export type StartAwaits = 'the database' | 'the master secret';

interface SetupErrorOptions {
  readonly cause?: unknown;
  readonly mayPass?: boolean;
  readonly awaits?: StartAwaits;
  /** Another way out than the message names, in a sentence. */
  readonly otherwise?: string;
}

/** Returns the reason of a known failure, for the log. */
export function reasonOf(error: unknown): string {
  return (error instanceof AppError && error.details.reason) || 'unknown';
}
