/** Headers in the OpenAPI document: which ones a request can carry, and which ones an answer has. */

const text = { type: 'string' };

/** Of requests; every one can be left out. */
export const HEADER_PARAMETERS = {
  Prefer: {
    name: 'Prefer',
    in: 'header',
    required: false,
    description:
      '`handling=strict` (RFC 7240) refuses unknown fields of the body and the query with 400 `invalid_request`. Without it they are accepted, and `warnings` names them.',
    schema: text,
  },
  RequestId: {
    name: 'X-Request-Id',
    in: 'header',
    required: false,
    description:
      'Label of this request: 1 to 128 letters, digits, ".", "_" or "-". The answer and the log repeat it. Without one, or with any other, the service makes one.',
    schema: text,
  },
};

/** Of answers, by name. A header that is not required comes when there is something to say. */
export const RESPONSE_HEADERS = {
  'X-Request-Id': {
    required: true,
    description: 'Label of the request, which the log has too.',
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
      'What is left of them: r requests, and t seconds until more. `X-RateLimit-Limit`, `-Remaining` and `-Reset` repeat "rate".',
    schema: text,
    example: '"rate";r=19;t=1, "quota";r=999;t=43200',
  },
  'Preference-Applied': {
    description:
      '`handling=strict` or `handling=lenient`, when `Prefer` of the request asks for it.',
    schema: text,
    example: 'handling=strict',
  },
  'Retry-After': {
    required: true,
    description: 'Seconds to wait before the next try.',
    schema: { type: 'integer', minimum: 0 },
    example: 1,
  },
  'WWW-Authenticate': {
    required: true,
    description: 'Names the header that the API key goes into.',
    schema: text,
    example: 'ApiKey realm="phm", header="X-API-Key"',
  },
};

type HeaderName = keyof typeof RESPONSE_HEADERS;

/** Statuses of answers that come before the API key is known, so that its limits are not either. */
const BEFORE_LIMITS = [401, 408, 417, 431];

const reference = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });

/** The headers of an operation's answer with this status. */
export function headersOf(status: number, isKeyed: boolean): Record<string, unknown> {
  const names: HeaderName[] = ['X-Request-Id'];
  if (isKeyed && !BEFORE_LIMITS.includes(status)) names.push('RateLimit-Policy', 'RateLimit');
  if (isKeyed) names.push('Preference-Applied');
  if (status === 429 || status === 503) names.push('Retry-After');
  if (status === 401) names.push('WWW-Authenticate');
  return Object.fromEntries(names.map((name) => [name, reference('headers', name)]));
}

/** The header parameters of an operation: preferences concern bodies and queries, which keyed ones have. */
export function headerParametersOf(isKeyed: boolean): { $ref: string }[] {
  const names = isKeyed ? ['Prefer', 'RequestId'] : ['RequestId'];
  return names.map((name) => reference('parameters', name));
}
