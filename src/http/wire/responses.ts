/** What routes answer: by status, the success of one and the problems that it names. */
import Type, { type Static, type TSchema } from 'typebox';
import { ERRORS, type ErrorCode } from '../../errors.ts';
import { oneOf, Timestamp } from './schemas.ts';

/** Problem details (RFC 9457) with this service's members. */
export const Problem = Type.Object(
  {
    success: Type.Literal(false, { description: 'false: the call failed' }),
    type: Type.String({ description: 'urn:phm:error: and the code' }),
    title: Type.String(),
    status: Type.Integer({ minimum: 400, maximum: 599 }),
    detail: Type.String(),
    instance: Type.String({ description: 'urn:phm:request: and the request id' }),
    code: oneOf(Object.keys(ERRORS) as ErrorCode[], 'string', 'stable code of the error', {
      title: 'ErrorCode',
    }),
    request_id: Type.String({ description: 'the X-Request-Id of this request' }),
    timestamp: Timestamp,
    errors: Type.Optional(
      Type.Array(
        Type.Object(
          {
            pointer: Type.String({ description: '"#/field" in the body, "?name" in the query' }),
            message: Type.String(),
          },
          { title: 'FieldError' },
        ),
      ),
    ),
  },
  { title: 'Problem' },
);

export type ProblemBody = Static<typeof Problem>;

/** The responses of a route: its success and, by status, the problems it can answer. */
export function responses(success: TSchema, codes: readonly ErrorCode[]) {
  const byStatus: Record<string, unknown> = {
    200: { description: 'OK', content: { 'application/json': { schema: success } } },
  };
  for (const status of new Set(codes.map((code) => ERRORS[code].status))) {
    const named = codes.filter((code) => ERRORS[code].status === status);
    byStatus[status] = {
      description: named.map((code) => `${code}: ${ERRORS[code].title}`).join('; '),
      content: { 'application/problem+json': { schema: Problem } },
    };
  }
  return byStatus;
}

/** What any route can answer. */
export const COMMON_ERRORS: readonly ErrorCode[] = [
  'malformed_request',
  'request_timeout',
  'expectation_failed',
  'unsupported_transfer_encoding',
  'headers_too_large',
  'internal_error',
];

/** What any route that needs an API key can answer. */
export const KEYED_ERRORS: readonly ErrorCode[] = [
  ...COMMON_ERRORS,
  'missing_api_key',
  'invalid_api_key',
  'rate_limited',
  'ledger_unavailable',
  'overloaded',
];

/** What any route with a body can answer beside them. */
export const BODY_ERRORS: readonly ErrorCode[] = [
  'invalid_request',
  'malformed_json',
  'payload_too_large',
  'unsupported_media_type',
];
