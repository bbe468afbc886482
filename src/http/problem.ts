/**
 * Errors as HTTP: the only place that turns a code into a status, headers and a problem body
 * (RFC 9457). Unknown errors become a bare 500, because their text may hold what must not leave.
 */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { secondsToNextMonth } from '../accounts/index.ts';
import type { Clock } from '../clock.ts';
import { formatTimestamp } from '../clock.ts';
import { AppError, ERRORS, type ErrorCode, type FieldError } from '../errors.ts';
import type { ProblemBody } from './schemas.ts';
import { unknownFieldErrors } from './unknown-fields.ts';

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
  const { status, title, remedy: usual } = ERRORS[error.code];
  const { detail, remedy = usual, fields } = error.details;
  return {
    success: false,
    type: `urn:phm:error:${error.code}`,
    title,
    status,
    detail: detail ? `${detail} ${remedy}` : remedy,
    // Names the occurrence by its id: the path of an unknown address may hold anything.
    instance: `urn:phm:request:${occurrence.requestId}`,
    code: error.code,
    request_id: occurrence.requestId,
    timestamp: formatTimestamp(occurrence.nowMs),
    ...(fields && { errors: listed(fields) }),
  };
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
    headers['retry-after'] = String(error.details.retryAfterSeconds ?? DEFAULT_RETRY_SECONDS);
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
export function quotaExceeded(nowMs: number): AppError {
  return new AppError('quota_exceeded', { retryAfterSeconds: secondsToNextMonth(nowMs) });
}

/** What the framework reports, as an error of the table. Its own messages can quote the body. */
const FRAMEWORK_CODES: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_BODY_TOO_LARGE: 'payload_too_large',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'malformed_request',
  FST_ERR_BAD_URL: 'malformed_request',
  FST_ERR_MAX_PARAM_LENGTH: 'not_found',
};

/** Any error as one of the table; what is not known is `internal_error` with the cause inside. */
export function toAppError(error: unknown, request?: FastifyRequest): AppError {
  if (error instanceof AppError) return error;
  const { code, statusCode, validation, validationContext } = error as Partial<FastifyError>;
  if (validation) {
    const wrong = toFieldErrors(validation, validationContext === 'querystring');
    const unknown = request ? unknownFieldErrors(request) : [];
    return new AppError('invalid_request', { fields: [...wrong, ...unknown] });
  }
  const known = code === undefined ? undefined : FRAMEWORK_CODES[code];
  if (known) return new AppError(known);
  if (statusCode === 400) return new AppError('malformed_json');
  // The page's static files: a path that leads out of their folder is no address of ours.
  if (statusCode === 403 || statusCode === 404) return new AppError('not_found');
  return new AppError('internal_error', { cause: error });
}

type ValidationIssue = NonNullable<FastifyError['validation']>[number];

/** One error a field: where an enumeration fails, its list says more than the type it implies. */
function toFieldErrors(issues: readonly ValidationIssue[], inQuery: boolean): FieldError[] {
  const byPointer = new Map<string, FieldError>();
  for (const issue of issues) {
    const field = toFieldError(issue, inQuery);
    if (!byPointer.has(field.pointer) || issue.keyword === 'enum')
      byPointer.set(field.pointer, field);
  }
  return [...byPointer.values()];
}

/** A validator's complaint in words that name the field and the fix, never the value. */
function toFieldError(
  { keyword, instancePath, params, message }: ValidationIssue,
  inQuery: boolean,
): FieldError {
  const missing = keyword === 'required' ? `/${String(params.missingProperty)}` : '';
  const path = `${instancePath}${missing}`;
  return {
    pointer: inQuery ? `?${path.slice(1)}` : `#${path}`,
    message: describeIssue(keyword, params, message),
  };
}

function describeIssue(
  keyword: string,
  params: ValidationIssue['params'],
  message: string | undefined,
): string {
  if (keyword === 'required') return 'is required';
  if (keyword === 'enum') {
    // null stands for a field that is left out: that is no choice to offer.
    const allowed = (params.allowedValues as readonly unknown[]).filter((one) => one !== null);
    return `must be one of ${allowed.join(', ')}`;
  }
  return message ?? 'is not valid';
}
