/**
 * Turns errors into HTTP: status, headers and problem body (RFC 9457). No other module does this.
 * An unexpected error becomes a bare 500, because its text may hold secrets.
 */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { quotaPeriod, secondsToNextMonth } from '../../accounts/index.ts';
import type { Clock } from '../../clock.ts';
import { formatTimestamp } from '../../clock.ts';
import { AppError, ERRORS, type ErrorCode, type FieldError } from '../../errors.ts';
import type { Usage } from '../../ledger/index.ts';
import { MISSING, summarize, toFieldErrors } from './field-errors.ts';
import type { ProblemBody } from './responses.ts';
import { givenInsteadOf, unknownFieldErrors } from './unknown-fields.ts';

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** `Retry-After` in seconds for a temporary failure that names no time. */
const DEFAULT_RETRY_SECONDS = 1;

/** Most entries of "errors": a body of 32 KiB can have thousands of wrong fields. */
const MAX_FIELD_ERRORS = 16;

interface Occurrence {
  readonly requestId: string;
  readonly nowMs: number;
}

/** Returns the problem body of an error. */
export function problemBody(error: AppError, occurrence: Occurrence): ProblemBody {
  const { status, title } = ERRORS[error.code];
  const { fields, members } = error.details;
  return {
    success: false,
    type: `urn:phm:error:${error.code}`,
    title,
    status,
    detail: detailOf(error, occurrence),
    // Names the occurrence by the request ID: an unknown path may hold anything.
    instance: `urn:phm:request:${occurrence.requestId}`,
    code: error.code,
    help: helpOf(error.code),
    request_id: occurrence.requestId,
    timestamp: formatTimestamp(occurrence.nowMs),
    ...(fields && { errors: listed(fields) }),
    ...members,
  };
}

/** Returns where the documentation explains a code, relative to the base URL of the service: the server cannot know it behind a proxy. */
function helpOf(code: ErrorCode): string {
  return `docs/errors#${code}`;
}

/** Says what is wrong and what to do, for readers who see no other member of the problem. */
function detailOf(error: AppError, { requestId }: Occurrence): string {
  const { detail, fields, remedy = ERRORS[error.code].remedy } = error.details;
  if (detail === undefined && fields) return summarize(fields);
  const seconds = retryAfter(error);
  const advice = remedy
    .replace('{wait}', seconds === 1 ? '1 second' : `${seconds} seconds`)
    .replace('{request_id}', requestId);
  return detail === undefined ? advice : `${detail} ${advice}`;
}

function retryAfter({ details }: AppError): number {
  return details.retryAfterSeconds ?? DEFAULT_RETRY_SECONDS;
}

/** Returns the first errors of a request; the last entry counts the others. */
function listed(fields: readonly FieldError[]): FieldError[] {
  if (fields.length <= MAX_FIELD_ERRORS) return [...fields];
  const first = fields.slice(0, MAX_FIELD_ERRORS - 1);
  const more = fields.length - first.length;
  const pointer = fields.at(-1)?.pointer.slice(0, 1) ?? '#';
  return [...first, { pointer, message: `has ${more} more errors` }];
}

/** Returns the headers that the status of an error requires. */
export function problemHeaders(error: AppError): Record<string, string> {
  const { status } = ERRORS[error.code];
  const headers: Record<string, string> = { 'cache-control': 'no-store' };
  if (status === 401) headers['www-authenticate'] = 'ApiKey realm="phm", header="X-API-Key"';
  if (status === 405) headers.allow = error.details.allow?.join(', ') ?? '';
  if (status === 415) {
    // RFC 9110 §12.5.1, §12.5.3: what a further request may hold.
    headers.accept = 'application/json';
    headers['accept-encoding'] = 'identity';
  }
  // A smaller batch may be sent at once.
  if (error.code === 'quota_exceeded' && error.details.members?.max_count) return headers;
  if (status === 429 || status === 503 || error.code === 'idempotency_in_progress') {
    headers['retry-after'] = String(retryAfter(error));
  }
  return headers;
}

/** Sends the problem of an error. */
export function sendProblem(
  request: FastifyRequest,
  reply: FastifyReply,
  error: AppError,
  clock: Clock,
): void {
  const occurrence = { requestId: request.id, nowMs: clock.nowMs() };
  reply
    .code(ERRORS[error.code].status)
    .headers(problemHeaders(error))
    .header('x-request-id', request.id)
    .header('content-type', PROBLEM_TYPE)
    .send(JSON.stringify(problemBody(error, occurrence)));
}

/**
 * Returns the error for a request beyond the account's monthly quota, or beyond the limit of its API key. A batch takes
 * `count` requests: while fewer remain, it says how many, and a smaller one needs no wait.
 */
export function quotaExceeded(usage: Usage, nowMs: number, count = 1): AppError {
  const retryAfterSeconds = secondsToNextMonth(usage, nowMs);
  const isOfApiKey = usage.counterId !== undefined;
  const left = Math.max(0, (usage.quota ?? 0) - quotaPeriod(usage, nowMs).used);
  if (count === 1 || left === 0) {
    return new AppError('quota_exceeded', {
      ...(isOfApiKey && {
        detail: `This API key has used its own limit of ${usage.quota} requests for this month.`,
        remedy: `Wait for the next calendar month (UTC), or ${ANOTHER_API_KEY}.`,
      }),
      retryAfterSeconds,
    });
  }
  const remain = left === 1 ? '1 remains' : `${left} remain`;
  const whose = isOfApiKey ? "API key's own monthly limit" : "account's monthly quota";
  return new AppError('quota_exceeded', {
    members: { max_count: left },
    detail: `A batch of ${count} keys takes ${count} requests of the ${whose}, and ${remain}.`,
    remedy: `Send a batch of at most ${left}, wait for the next calendar month (UTC), or ${isOfApiKey ? ANOTHER_API_KEY : 'move to a larger plan'}.`,
  });
}

const ANOTHER_API_KEY = 'ask the operator for an API key with a higher limit';

/** RFC 9110 §8.3.1, limited to what a response may repeat. */
const MEDIA_TYPE = /^[a-z]{1,20}\/[a-z0-9.+-]{1,40}(?=[;\s]|$)/i;

/** Errors of the table for error codes of the framework, whose own messages can quote the body. */
const FRAMEWORK_CODES: Readonly<Record<string, readonly [ErrorCode, detail?: string]>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type'],
  FST_ERR_BAD_URL: ['malformed_request', 'The path is not correctly percent-encoded.'],
  FST_ERR_MAX_PARAM_LENGTH: ['not_found'],
};

/** Maps any error to one of the table. An unknown error becomes `internal_error`, with the error as its cause. */
export function toAppError(error: unknown, request?: FastifyRequest): AppError {
  if (error instanceof AppError) return error;
  const { code, statusCode, validation, validationContext } = error as Partial<FastifyError>;
  if (validation) {
    const inQuery = validationContext === 'querystring';
    const wrong = toFieldErrors(
      validation,
      inQuery ? request?.query : request?.body,
      inQuery ? '?' : '#',
    );
    const unknown = request ? unknownFieldErrors(request) : [];
    return new AppError('invalid_request', {
      fields: [...withGuesses(wrong, request), ...unknown],
    });
  }
  const [known, detail] = FRAMEWORK_CODES[code ?? ''] ?? [];
  if (known === 'unsupported_media_type') return wrongMediaType(request);
  if (known) return new AppError(known, detail === undefined ? {} : { detail });
  if (statusCode === 400) return new AppError('malformed_json');
  // From the static files of a page: a path that leaves their folder does not exist here.
  if (statusCode === 403 || statusCode === 404) return new AppError('not_found');
  return new AppError('internal_error', { cause: error });
}

/** Names an unknown field that a client may have sent instead of a missing one. */
function withGuesses(fields: readonly FieldError[], request: FastifyRequest | undefined) {
  return fields.map(({ pointer, message }) => {
    const instead = request && message === MISSING ? givenInsteadOf(request, pointer) : undefined;
    return { pointer, message: instead ? `${message}; got ${instead} instead` : message };
  });
}

function wrongMediaType(request: FastifyRequest | undefined): AppError {
  const given = request?.headers['content-type'];
  if (given === undefined) {
    return new AppError('unsupported_media_type', { detail: 'The request has no Content-Type.' });
  }
  const [type] = MEDIA_TYPE.exec(given) ?? [];
  const detail = `The Content-Type is ${type ?? 'something else'}, not application/json.`;
  return new AppError('unsupported_media_type', { detail });
}
