/** Distinguishes responses of the service, its errors, and responses of other servers. */
import {
  type FieldError,
  PhmApiError,
  PhmKeyLostError,
  PhmResponseError,
  type Problem,
} from './errors.ts';
import { isRequestId } from './options.ts';
import { readRetryAfter } from './retry.ts';
import { findMismatch } from './shapes.ts';
import type { Call } from './transport.ts';
import type { ErrorCode } from './types.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Parses a response: a JSON object of the shape that the call expects. Throws `PhmApiError` for an error of the
 * service, and `PhmResponseError` for anything else.
 */
export function readAnswer(response: Response, text: string, call: Call): JsonObject {
  const { status, headers } = response;
  const body = parseObject(text);
  const isOurs = body !== undefined && isAnswer(response, body, call);
  const mismatch = isOurs ? findMismatch(body, call.shape) : undefined;
  if (isOurs && mismatch === undefined) return body;
  const stated = headers.get('x-request-id');
  const requestId = isRequestId(stated) ? stated : (call.requestId ?? null);
  const common = { status, requestId, retryAfterSeconds: readRetryAfter(headers, Date.now()) };
  if (body && isProblem(body)) {
    throw apiError(body, common);
  }
  throw new PhmResponseError(describe(response, call.url, mismatch), common);
}

function isAnswer({ ok, status }: Response, body: JsonObject, { alsoAnswers }: Call): boolean {
  if (ok) return body.success === true;
  return status === alsoAnswers && body.success === false && !isProblem(body);
}

/** Returns undefined if the text is not a JSON object. The parser's own message would quote the text, which may hold a key. */
function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as JsonObject) : undefined;
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
  { code, title, detail, errors, key_id, key_ids, max_count }: ProblemBody,
  common: Pick<Problem, 'status' | 'requestId' | 'retryAfterSeconds'>,
): PhmApiError {
  const problem: Problem = {
    ...common,
    code,
    title,
    detail,
    errors: listOf(errors).filter(isFieldError),
    keyIds: [key_id, ...listOf(key_ids)].filter((one) => typeof one === 'string'),
    maxCount: typeof max_count === 'number' ? max_count : null,
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

/** Describes a response that is not the service's. `mismatch` is the wrong member of one that otherwise looks like it. */
function describe(
  { ok, status, type, headers }: Response,
  url: URL,
  mismatch: string | undefined,
): string {
  const address = url.origin + url.pathname;
  if (mismatch !== undefined) {
    return `this client does not know the response of ${address} (status ${status}): ${mismatch}: check baseUrl, and that client and service have the same version`;
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
