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

/** Returns the headers of an operation's response with this status. */
export function headersOf(status: number, isKeyed: boolean): Record<string, unknown> {
  const names: HeaderName[] = ['X-Request-Id'];
  if (isKeyed && !BEFORE_LIMITS.includes(status)) names.push('RateLimit-Policy', 'RateLimit');
  if (isKeyed) names.push('Preference-Applied');
  if (status === 429 || status === 503) names.push('Retry-After');
  if (status === 401) names.push('WWW-Authenticate');
  return Object.fromEntries(names.map((name) => [name, reference('headers', name)]));
}

/** Returns the header parameters of an operation. Preferences concern bodies and queries, which only keyed operations have. */
export function headerParametersOf(isKeyed: boolean): { $ref: string }[] {
  const names = isKeyed ? ['Prefer', 'RequestId'] : ['RequestId'];
  return names.map((name) => reference('parameters', name));
}
