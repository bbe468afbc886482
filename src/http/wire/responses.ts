/** Schemas of responses, by status: the success of a route, and its problems. */
import type { Static, TSchema } from 'typebox';
import { ERRORS, type ErrorCode } from '../../errors.ts';
import { CopyStates } from './delivery-schemas.ts';
import { oneOf, Timestamp } from './schemas.ts';
import { Type } from './type.ts';

/** Problem details (RFC 9457) with this service's members. */
const Problem = Type.Object(
  {
    success: Type.Literal(false, { description: 'false: the call failed' }),
    type: Type.String({ description: '`urn:phm:error:` and the code' }),
    title: Type.String({ description: 'what the code means; for people, may change' }),
    status: Type.Integer({ minimum: 400, maximum: 599, description: 'the HTTP status' }),
    detail: Type.String({
      description: 'what is wrong and what to do; for people, may change',
    }),
    instance: Type.String({ description: '`urn:phm:request:` and the request ID' }),
    code: oneOf(Object.keys(ERRORS) as ErrorCode[], 'string', 'stable code of the error', {
      title: 'ErrorCode',
    }),
    help: Type.String({
      description:
        "where the service's documentation explains the code: a reference relative to the base URL, `docs/errors#` and the code",
    }),
    request_id: Type.String({ description: 'X-Request-Id of this request' }),
    timestamp: Timestamp,
    errors: Type.Optional(
      Type.Array(
        Type.Object(
          {
            pointer: Type.String({
              description: '"#/field" or "#/field/index" in the body, "?name" in the query',
            }),
            message: Type.String({ description: 'what the field must be, and what was received' }),
          },
          { title: 'FieldError' },
        ),
      ),
    ),
    key_id: Type.Optional(
      Type.String({ description: 'with key_already_made: the key of the first request' }),
    ),
    key_ids: Type.Optional(
      Type.Array(Type.String(), {
        description: 'with key_already_made: the keys of the first request, a batch, in its order',
      }),
    ),
    deliveries: Type.Optional(CopyStates),
    max_count: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000,
        description: 'with batch_too_large: the largest count that the service accepts',
      }),
    ),
  },
  { title: 'Problem' },
);

export type ProblemBody = Static<typeof Problem>;

/** Returns the responses of a route: its success, of a media type, and, by status, its problems. */
export function responses(
  success: TSchema,
  codes: readonly ErrorCode[],
  type: 'application/json' | 'text/plain' = 'application/json',
) {
  const byStatus: Record<string, unknown> = {
    200: { description: 'OK', content: { [type]: { schema: success } } },
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

/** Errors of every route. */
export const COMMON_ERRORS: readonly ErrorCode[] = [
  'malformed_request',
  'request_timeout',
  'expectation_failed',
  'method_not_implemented',
  'unsupported_transfer_encoding',
  'http_version_not_supported',
  'headers_too_large',
  'internal_error',
];

/** Errors of every route with an API key. */
export const KEYED_ERRORS: readonly ErrorCode[] = [
  ...COMMON_ERRORS,
  'missing_api_key',
  'invalid_api_key',
  'insufficient_scope',
  'address_not_allowed',
  'account_suspended',
  'rate_limited',
  'ledger_unavailable',
  'foreign_ledger',
  'overloaded',
  'unknown_plan',
];

/** Additional errors of a route with a body. */
export const BODY_ERRORS: readonly ErrorCode[] = [
  'invalid_request',
  'malformed_json',
  'payload_too_large',
  'unsupported_media_type',
];
