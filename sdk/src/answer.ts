/** Distinguishes responses of the service, its errors, and responses of other servers. */
import { LARGEST_BODY } from './body.ts';
import {
  type FieldError,
  PhmApiError,
  PhmKeyLostError,
  PhmResponseError,
  type Problem,
} from './errors.ts';
import { repeatedName } from './json.ts';
import { isKeyId, isRequestId } from './options.ts';
import { readRetryAfter } from './retry.ts';
import { findMismatch } from './shapes.ts';
import type { Call } from './transport.ts';
import type { ErrorCode } from './types.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Parses a response: a JSON object of the shape that the call expects, which belongs to the attempt with this
 * `X-Request-Id`. Throws `PhmApiError` for an error of the service, and `PhmResponseError` for anything else.
 */
export function readAnswer(
  response: Response,
  text: string,
  call: Call,
  requestId: string,
): JsonObject {
  const { status, headers } = response;
  const body = parseObject(text);
  const isOurs = body !== undefined && isAnswer(response, body, call);
  const isError = body !== undefined && isProblem(body);
  const stated = headers.get('x-request-id');
  const isEcho = stated === requestId || (isError && stated === null) || isRaw(response);
  const common = {
    status,
    requestId: isRequestId(stated) && (isEcho || !(isOurs || isError)) ? stated : requestId,
    retryAfterSeconds: readRetryAfter(headers, Date.now()),
  };
  if ((isOurs || isError) && !isEcho) throw strangerError(response, call, requestId);
  if (isError) throw apiError(body, common);
  const mismatch = isOurs
    ? (findMismatch(body, call.shape) ?? call.belongs?.(body, headers))
    : undefined;
  if (isOurs && mismatch === undefined) return body;
  throw new PhmResponseError(describe(response, call.url, mismatch), common);
}

/**
 * Reports whether the service may have refused the request before it could read its `X-Request-Id`: it then closes the
 * connection. A proxy removes this header, so that the answer cannot be another request's.
 */
function isRaw({ ok, headers }: Response): boolean {
  return !ok && headers.get('connection')?.toLowerCase() === 'close';
}

/** The error for an answer that does not repeat the `X-Request-Id` of its request. It says nothing about this request. */
export function strangerError({ status, headers }: Response, { url }: Call, requestId: string) {
  const isNameless = !headers.has('x-request-id');
  const what = isNameless ? 'has no X-Request-Id' : 'has the X-Request-Id of another request';
  return new PhmResponseError(
    `the response of ${url.origin + url.pathname} ${what} (status ${status}), so nothing shows that it answers this call: a proxy on the way mixes up responses, or does not pass X-Request-Id on`,
    { status, requestId, retryAfterSeconds: readRetryAfter(headers, Date.now()) },
    { outcomeUnknown: true },
  );
}

function isAnswer({ ok, status }: Response, body: JsonObject, { alsoAnswers }: Call): boolean {
  if (ok) return body.success === true;
  return status === alsoAnswers && body.success === false && !isProblem(body);
}

/** Returns undefined if the text is not a JSON object, or has a member twice. The parser's own message would quote the text, which may hold a key. */
function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject && repeatedName(text) === undefined ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

interface ProblemBody extends JsonObject {
  readonly code: ErrorCode;
  readonly title: string;
  readonly detail: string;
}

function isProblem(body: JsonObject): body is ProblemBody {
  const { success, code, title, detail } = body;
  return (
    success === false &&
    typeof code === 'string' &&
    typeof title === 'string' &&
    typeof detail === 'string'
  );
}

function apiError(
  { code, title, detail, errors, help, key_id, key_ids, max_count }: ProblemBody,
  common: Pick<Problem, 'status' | 'requestId' | 'retryAfterSeconds'>,
): PhmApiError {
  const problem: Problem = {
    ...common,
    code,
    title,
    detail,
    errors: listOf(errors).filter(isFieldError),
    help: typeof help === 'string' ? help : null,
    keyIds: [key_id, ...listOf(key_ids)].filter(isKeyId),
    maxCount: Number.isSafeInteger(max_count) ? (max_count as number) : null,
  };
  return code === 'key_already_made' ? new PhmKeyLostError(problem) : new PhmApiError(problem);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isFieldError(value: unknown): value is FieldError {
  const { pointer, message } = (value ?? {}) as JsonObject;
  return typeof pointer === 'string' && typeof message === 'string';
}

/** The error for a response after a redirect, which a replacement of `fetch` followed against its orders. */
export function redirectedError({ status, url }: Response, call: Call, requestId: string) {
  const address = call.url.origin + call.url.pathname;
  const message = `fetch followed a redirect of ${address}${redirectTarget(url, call.url)}, which may have taken the API key elsewhere: it must heed redirect: 'manual'`;
  const outcome = { outcomeUnknown: true };
  return new PhmResponseError(message, { status, requestId, retryAfterSeconds: null }, outcome);
}

/** The error for a response whose body is longer than the bound. */
export function tooLargeError({ status }: Response, { url }: Call, requestId: string) {
  const address = url.origin + url.pathname;
  const message = `the response of ${address} is longer than ${LARGEST_BODY / 2 ** 20} MiB (status ${status}): it does not come from the PHM key service`;
  return new PhmResponseError(message, { status, requestId, retryAfterSeconds: null });
}

/** Describes a response that is not the service's. `mismatch` is the wrong member of one that otherwise looks like it. */
function describe(
  { ok, status, type, headers }: Response,
  url: URL,
  mismatch: string | undefined,
): string {
  const address = url.origin + url.pathname;
  if (mismatch !== undefined) {
    return `this client does not accept the response of ${address} (status ${status}): ${mismatch}: check baseUrl, a proxy if there is one, and that client and service have the same version`;
  }
  if (type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    const to = redirectTarget(headers.get('location'), url);
    return `${address} redirects${to}; redirects are not followed: set baseUrl to the address of the service itself`;
  }
  const kind = headers.get('content-type') ?? 'no content type';
  const what = ok ? 'is not JSON of the PHM key service' : 'does not come from the PHM key service';
  return `the response of ${address} ${what} (status ${status}, ${kind}): check baseUrl, and the proxy if there is one`;
}

/** Names the target without user, password, query and fragment, which may be secret. */
function redirectTarget(location: string | null, base: URL): string {
  if (location === null || !URL.canParse(location, base)) return '';
  const { origin, pathname } = new URL(location, base);
  return ` to ${origin}${pathname}`;
}
