/** Cross-origin requests of web pages (Fetch standard, "CORS protocol"): off unless the operator names origins. */
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** Response headers that a page may read. */
const EXPOSED_HEADERS =
  'RateLimit, RateLimit-Policy, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, X-Request-Id, Preference-Applied, Idempotent-Replayed';

/** Request headers that a page may send, besides those that are always allowed. */
const ALLOWED_HEADERS = 'X-API-Key, Content-Type, X-Request-Id, Prefer, Idempotency-Key';

/** Seconds for which a browser may cache the response to a preflight. */
const PREFLIGHT_SECONDS = 600;

/** Returns the response headers for a request's `Origin`; none while no origin is allowed. */
export type CorsHeaders = (origin: string | undefined) => Readonly<Record<string, string>>;

/**
 * Names an allowed origin alone. Every response has `Vary: Origin`, for caches. Credentials stay off: the page sets the
 * API key as a header, and there are no cookies.
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

/** Adds the headers to every response, also to errors, so that pages can read them. */
export function addCorsHook(app: FastifyInstance, headersOf: CorsHeaders): void {
  app.addHook('onRequest', ({ headers }, reply, done) => {
    reply.headers(headersOf(headers.origin));
    done();
  });
}

/** Reports whether a request is the preflight of an allowed page. */
export function isPreflight({ method, headers }: FastifyRequest, headersOf: CorsHeaders): boolean {
  return (
    method === 'OPTIONS' &&
    headers['access-control-request-method'] !== undefined &&
    'access-control-allow-origin' in headersOf(headers.origin)
  );
}

/** Returns the response headers of a preflight for a path that supports these methods. */
export function preflightHeaders(methods: readonly string[]): Record<string, string> {
  return {
    'access-control-allow-methods': methods.join(', '),
    'access-control-allow-headers': ALLOWED_HEADERS,
    'access-control-max-age': String(PREFLIGHT_SECONDS),
  };
}
