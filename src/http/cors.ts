/** Cross-origin requests of web pages (Fetch standard, "CORS protocol"): off unless origins are named. */
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** What a page may read beside the body. */
const EXPOSED_HEADERS =
  'RateLimit, RateLimit-Policy, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, X-Request-Id, Preference-Applied';

/** What a page may send beside what needs no leave. */
const ALLOWED_HEADERS = 'X-API-Key, Content-Type, X-Request-Id, Prefer';

/** How long a browser may remember the answer to a preflight. */
const PREFLIGHT_SECONDS = 600;

/** Headers of an answer, by the request's `Origin`; none at all while no origin is allowed. */
export type CorsHeaders = (origin: string | undefined) => Readonly<Record<string, string>>;

/**
 * An allowed origin is named alone, and every answer says that it depends on `Origin`, for caches.
 * Credentials stay off: the API key is a header that the page sets, and there are no cookies.
 */
export function corsHeaders(origins: readonly string[]): CorsHeaders {
  const others = origins.length === 0 ? {} : { vary: 'Origin' };
  const byOrigin = new Map(
    origins.map((origin) => [
      origin,
      {
        ...others,
        'access-control-allow-origin': origin,
        'access-control-expose-headers': EXPOSED_HEADERS,
      },
    ]),
  );
  return (origin) => byOrigin.get(origin ?? '') ?? others;
}

/** Marks every answer, errors included: what a page cannot read it cannot act upon. */
export function addCorsHook(app: FastifyInstance, headersOf: CorsHeaders): void {
  app.addHook('onRequest', async ({ headers }, reply) => {
    reply.headers(headersOf(headers.origin));
  });
}

/** Whether a browser asks on behalf of an allowed page what it may send. */
export function isPreflight({ method, headers }: FastifyRequest, headersOf: CorsHeaders): boolean {
  return (
    method === 'OPTIONS' &&
    headers['access-control-request-method'] !== undefined &&
    'access-control-allow-origin' in headersOf(headers.origin)
  );
}

/** The headers of a preflight's answer, for an address that takes these methods. */
export function preflightHeaders(methods: readonly string[]): Record<string, string> {
  return {
    'access-control-allow-methods': methods.join(', '),
    'access-control-allow-headers': ALLOWED_HEADERS,
    'access-control-max-age': String(PREFLIGHT_SECONDS),
  };
}
