/** Headers of requests and responses in the OpenAPI document. */

const text = { type: 'string' };

/** Request headers; all are optional. */
export const HEADER_PARAMETERS = {
  Prefer: {
    name: 'Prefer',
    in: 'header',
    required: false,
    description:
      '`handling=strict` (RFC 7240) refuses unknown fields of the body and the query with 400 `invalid_request`. Without it they are ignored, and `warnings` names them.',
    schema: text,
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'Label of this request for repetitions: 1 to 255 visible ASCII characters, such as a new UUID, also in double quotes. The same request with the same value within 24 hours generates no second key (draft-ietf-httpapi-idempotency-key-header).',
    schema: {
      type: 'string',
      pattern: String.raw`^([!#-~][!-~]{0,254}|"([!#-\[\]-~]|\\["\\]){1,255}")$`,
    },
  },
  RequestId: {
    name: 'X-Request-Id',
    in: 'header',
    required: false,
    description:
      'Label of this request: 1 to 128 letters, digits, ".", "_" or "-". The response and the log repeat it. The service replaces a missing or unusable one.',
    schema: text,
  },
};

/** Response headers, by name. A header that is not required may be absent. */
export const RESPONSE_HEADERS = {
  'X-Request-Id': {
    required: true,
    description: 'Label of the request, as in the log.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$' },
  },
  'RateLimit-Policy': {
    description:
      'The limits: q requests in w seconds. "rate" is the bucket of the API key, "quota" the month of the account (draft-ietf-httpapi-ratelimit-headers).',
    schema: text,
    example: '"rate";q=20;w=2, "quota";q=1000;w=2678400',
  },
  RateLimit: {
    description:
      'What remains of the limits: r requests, and t seconds until they are whole again. `X-RateLimit-Limit`, `-Remaining` and `-Reset` repeat "rate".',
    schema: text,
    example: '"rate";r=19;t=1, "quota";r=999;t=43200',
  },
  'Preference-Applied': {
    description: '`handling=strict` or `handling=lenient`, if `Prefer` of the request sets it.',
    schema: text,
    example: 'handling=strict',
  },
  'Retry-After': {
    required: true,
    description: 'Seconds to wait before the next attempt.',
    schema: { type: 'integer', minimum: 0 },
    example: 1,
  },
  'Idempotent-Replayed': {
    description:
      '`true` if the response is that of an earlier request with the same `Idempotency-Key`.',
    schema: text,
    example: 'true',
  },
  'WWW-Authenticate': {
    required: true,
    description: 'Names the header for the API key.',
    schema: text,
    example: 'ApiKey realm="phm", header="X-API-Key"',
  },
};

type HeaderName = keyof typeof RESPONSE_HEADERS;

/** Statuses of responses before the API key, and so its limits, are known. */
const BEFORE_LIMITS = [401, 408, 417, 431];

const reference = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });

/** Operations that generate keys, and so take `Idempotency-Key`. */
const GENERATES = /^generate/;

/** Operations that can answer an earlier response again. */
const REPLAYS = /^generateSealed/;

/** The seconds to wait, on a status that not all of its errors have. */
const RETRY_AFTER = {
  description: 'Seconds to wait before the next attempt; with idempotency_in_progress.',
  schema: { type: 'integer', minimum: 0 },
};

/** Returns the headers of an operation's response with this status. */
export function headersOf(
  status: number,
  operationId: string,
  { isKeyed, takesFields }: { readonly isKeyed: boolean; readonly takesFields: boolean },
): Record<string, unknown> {
  const names: HeaderName[] = ['X-Request-Id'];
  if (isKeyed && !BEFORE_LIMITS.includes(status)) names.push('RateLimit-Policy', 'RateLimit');
  if (takesFields) names.push('Preference-Applied');
  if (status === 429 || status === 503) names.push('Retry-After');
  if (status === 401) names.push('WWW-Authenticate');
  if (status === 200 && REPLAYS.test(operationId)) names.push('Idempotent-Replayed');
  const headers = Object.fromEntries(names.map((name) => [name, reference('headers', name)]));
  return status === 409 ? { ...headers, 'Retry-After': RETRY_AFTER } : headers;
}

/** Returns the header parameters of an operation. Preferences concern the fields of bodies and queries. */
export function headerParametersOf(operationId: string, takesFields: boolean): { $ref: string }[] {
  const names = takesFields ? ['Prefer', 'RequestId'] : ['RequestId'];
  if (GENERATES.test(operationId)) names.push('IdempotencyKey');
  return names.map((name) => reference('parameters', name));
}
