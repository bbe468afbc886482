/**
 * Errors as HTTP: the only place that turns a code into a status, headers and a problem body
 * (RFC 9457). Unknown errors become a bare 500, because their text may hold what must not leave.
 */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { secondsToNextMonth } from '../../accounts/index.ts';
import type { Clock } from '../../clock.ts';
import { formatTimestamp } from '../../clock.ts';
import { AppError, ERRORS, type ErrorCode, type FieldError } from '../../errors.ts';
import type { Usage } from '../../ledger/index.ts';
import { MISSING, summarize, toFieldErrors } from './field-errors.ts';
import type { ProblemBody } from './responses.ts';
import { givenInsteadOf, unknownFieldErrors } from './unknown-fields.ts';

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** Seconds to wait when a temporary failure names none. */
const DEFAULT_RETRY_SECONDS = 1;

/** Entries of "errors": a body of 16 KiB can have thousands of wrong fields. */
const MAX_FIELD_ERRORS = 16;

interface Occurrence {
  readonly requestId: string;
  readonly nowMs: number;
}

/** The problem body of an error. */
export function problemBody(error: AppError, occurrence: Occurrence): ProblemBody {
  const { status, title } = ERRORS[error.code];
  const { fields } = error.details;
  return {
    success: false,
    type: `urn:phm:error:${error.code}`,
    title,
    status,
    detail: detailOf(error, occurrence),
    // Names the occurrence by its id: the path of an unknown address may hold anything.
    instance: `urn:phm:request:${occurrence.requestId}`,
    code: error.code,
    request_id: occurrence.requestId,
    timestamp: formatTimestamp(occurrence.nowMs),
    ...(fields && { errors: listed(fields) }),
  };
}

/** What is wrong and what to do, for a reader who sees nothing else of the problem. */
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

/** The first errors of a request; the last entry counts those left out. */
function listed(fields: readonly FieldError[]): FieldError[] {
  if (fields.length <= MAX_FIELD_ERRORS) return [...fields];
  const first = fields.slice(0, MAX_FIELD_ERRORS - 1);
  const more = fields.length - first.length;
  const pointer = fields.at(-1)?.pointer.slice(0, 1) ?? '#';
  return [...first, { pointer, message: `has ${more} more errors` }];
}

/** The headers that an error's status obliges to. */
export function problemHeaders(error: AppError): Record<string, string> {
  const { status } = ERRORS[error.code];
  const headers: Record<string, string> = { 'cache-control': 'no-store' };
  if (status === 401) headers['www-authenticate'] = 'ApiKey realm="phm", header="X-API-Key"';
  if (status === 405) headers.allow = error.details.allow?.join(', ') ?? '';
  if (status === 429 || status === 503) {
    headers['retry-after'] = String(retryAfter(error));
  }
  return headers;
}

/** Answers a request with an error's problem. */
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

/** The refusal of a request that no longer fits into the account's month. */
export function quotaExceeded(usage: Usage, nowMs: number): AppError {
  return new AppError('quota_exceeded', { retryAfterSeconds: secondsToNextMonth(usage, nowMs) });
}

/** RFC 9110 §8.3.1, as far as an answer repeats it. */
const MEDIA_TYPE = /^[a-z]{1,20}\/[a-z0-9.+-]{1,40}(?=[;\s]|$)/i;

/** What the framework reports, as an error of the table. Its own messages can quote the body. */
const FRAMEWORK_CODES: Readonly<Record<string, readonly [ErrorCode, detail?: string]>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type'],
  FST_ERR_BAD_URL: ['malformed_request', 'The path is not correctly percent-encoded.'],
  FST_ERR_MAX_PARAM_LENGTH: ['not_found'],
};

/** Any error as one of the table; what is not known is `internal_error` with the cause inside. */
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
  // The page's static files: a path that leads out of their folder is no address of ours.
  if (statusCode === 403 || statusCode === 404) return new AppError('not_found');
  return new AppError('internal_error', { cause: error });
}

/** A field that is missing may have come under another name. */
function withGuesses(fields: readonly FieldError[], request: FastifyRequest | undefined) {
  return fields.map(({ pointer, message }) => {
    const instead = request && message === MISSING ? givenInsteadOf(request, pointer) : undefined;
    return { pointer, message: instead ? `${message}; got ${instead} instead` : message };
  });
}

function wrongMediaType(request: FastifyRequest | undefined): AppError {
  const given = request?.headers['content-type'];
  if (given === undefined) {
    return new AppError('unsupported_media_type', { detail: 'The body has no Content-Type.' });
  }
  const [type] = MEDIA_TYPE.exec(given) ?? [];
  const detail = `The Content-Type of the body is ${type ?? 'something else'}, not application/json.`;
  return new AppError('unsupported_media_type', { detail });
}
