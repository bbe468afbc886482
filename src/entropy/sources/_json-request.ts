/**
 * One HTTPS request with a JSON answer, bounded in time, size and back-off.
 *
 * The received bytes are wiped. The strings that `JSON.parse` makes of them cannot be.
 *
 * Every failure is a `RequestFailure` whose message says what to do. It has no cause, because
 * errors of `fetch` and `JSON.parse` can quote a header, an address or text of the server.
 */

import { concatBytes, wipe } from '../../bytes.ts';
import { HOUR_MS } from '../../clock.ts';
import { isServiceUrl } from '../../config/index.ts';
import { NoiseFailure } from '../noise.ts';

/** Longest wait that a server can impose by Retry-After. */
const MAX_RETRY_AFTER_MS = HOUR_MS;

// Far above any answer of these protocols without samples: a status, a token, capabilities.
const DEFAULT_MAX_BYTES = 65_536;

/** The service that a request goes to, in the words of messages. */
export interface Service {
  /** For example `IBM Quantum`. */
  readonly name: string;
  /** The variables that hold the credentials, such as `PHM_IBM_API_KEY`. Never the credentials. */
  readonly credentials: string;
  /** The variable that holds the address, such as `PHM_IBM_URL`. */
  readonly address: string;
}

export interface JsonRequest {
  readonly service: Service;
  /** Checked by `serviceUrl`. It MUST NOT hold credentials. */
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Timeout of the whole exchange, including the body. */
  readonly timeoutMs: number;
  readonly maxBytes?: number;
  readonly signal: AbortSignal;
}

/** A request that got no usable answer. */
export class RequestFailure extends NoiseFailure {
  /** Status of the answer; null if there was no answer or it was unreadable. */
  readonly status: number | null;

  constructor(message: string, status: number | null = null, retryAfterMs: number | null = null) {
    super(message, { retryAfterMs });
    this.name = 'RequestFailure';
    this.status = status;
  }

  /** True if the same request may succeed later: no answer, too many requests, or 5xx. */
  get mayPass(): boolean {
    return this.status === null || this.status === 429 || this.status >= 500;
  }
}

/**
 * Returns the address of a service without a trailing slash. Throws `RangeError`, which does not
 * quote the address, unless it is https:, or http: to this machine, and has no credentials, query
 * or fragment.
 */
export function serviceUrl(name: string, text: string): string {
  if (!isServiceUrl(text)) {
    throw new RangeError(
      `"${name}" expected an https: URL, or http: to a loopback address, without credentials, query or fragment`,
    );
  }
  return new URL(text).href.replace(/\/+$/, '');
}

/** Throws `TypeError`, which does not quote the value, unless it is a valid header value. */
export function assertHeaderValue(name: string, value: string): void {
  if (!isHeaderValue(value)) {
    throw new TypeError(`"${name}" expected 1 to 8192 visible ASCII characters without spaces`);
  }
}

export function isHeaderValue(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]{1,8192}$/.test(value);
}

/**
 * Sends a request and returns the parsed answer, or null if it is empty. Rejects only with
 * `RequestFailure`.
 */
export async function requestJson(request: JsonRequest): Promise<unknown> {
  const timeout = AbortSignal.timeout(request.timeoutMs);
  const stop = AbortSignal.any([request.signal, timeout]);
  try {
    const response = await fetch(request.url, {
      method: request.method,
      headers: {
        accept: 'application/json',
        'accept-encoding': 'identity',
        ...request.headers,
      },
      ...(request.body !== undefined && { body: request.body }),
      redirect: 'error',
      signal: stop,
    });
    if (!response.ok) throw await refusal(request.service, response);
    return await readJson(request, response);
  } catch (error) {
    if (error instanceof RequestFailure) throw error;
    throw transportFailure(request, timeout, error);
  }
}

/** Returns the failure for a JSON answer that does not follow the protocol. */
export function unknownForm({ name, address }: Service, what: string): RequestFailure {
  const advice = `check ${address}, and that the service speaks this protocol`;
  return new RequestFailure(`${name} answered ${what} in an unknown form: ${advice}`, 200);
}

async function readJson(request: JsonRequest, response: Response): Promise<unknown> {
  const { service, maxBytes = DEFAULT_MAX_BYTES } = request;
  const bytes = await readBody(response, maxBytes);
  if (bytes === null) {
    throw new RequestFailure(`${service.name} answered with more than ${maxBytes} bytes`, 200);
  }
  try {
    return bytes.length === 0 ? null : JSON.parse(bytes.toString());
  } catch {
    throw new RequestFailure(
      `${service.name} answered with something that is not JSON: check ${service.address}`,
      200,
    );
  } finally {
    wipe(bytes);
  }
}

/** Returns the whole body, or null if it is longer than `maxBytes`. The rest is then not read. */
async function readBody(response: Response, maxBytes: number): Promise<Buffer | null> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    // Leaving the loop cancels the stream.
    for await (const chunk of response.body ?? []) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > maxBytes) return null;
    }
    return concatBytes(...chunks);
  } finally {
    wipe(...chunks);
  }
}

async function refusal(service: Service, response: Response): Promise<RequestFailure> {
  await response.body?.cancel();
  const retryAfterMs = parseRetryAfter(response.headers.get('retry-after'), Date.now());
  return new RequestFailure(
    refusalMessage(service, response.status),
    response.status,
    retryAfterMs,
  );
}

function refusalMessage({ name, credentials, address }: Service, status: number): string {
  if (status === 401 || status === 403) {
    return `${name} refused the credentials (${status}): check ${credentials}`;
  }
  if (status === 429) {
    return `${name} accepts no more requests for now (429): wait, or ask the provider for more`;
  }
  if (status >= 500) return `${name} is out of service (${status}): wait, or ask the provider`;
  return `${name} rejected the request (${status}): check ${address} and the settings of this source`;
}

/**
 * Returns the wait that a Retry-After field asks for (RFC 9110 §10.2.3), in milliseconds, at most
 * an hour; null if the field is unusable.
 */
export function parseRetryAfter(field: string | null, nowMs: number): number | null {
  if (field === null) return null;
  const isSeconds = /^\d{1,9}$/.test(field);
  // The date forms of RFC 9110 §5.6.7 begin with the name of a day.
  if (!isSeconds && !/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(field)) return null;
  const waitMs = isSeconds ? Number(field) * 1000 : Date.parse(field) - nowMs;
  return Number.isNaN(waitMs) ? null : Math.min(Math.max(waitMs, 0), MAX_RETRY_AFTER_MS);
}

function transportFailure(
  { service, timeoutMs, signal }: JsonRequest,
  timeout: AbortSignal,
  error: unknown,
): RequestFailure {
  const { name, address } = service;
  if (signal.aborted) return new RequestFailure(`the request to ${name} was stopped`);
  if (timeout.aborted) {
    return new RequestFailure(
      `${name} did not answer within ${timeoutMs} ms: check the network and the provider's status`,
    );
  }
  return new RequestFailure(
    `${name} could not be reached${reasonOf(error)}: check ${address} and the network`,
  );
}

/**
 * Returns the system's error code if there is one. The rest of such an error may quote anything.
 */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof Error && cause.message === 'unexpected redirect') return ' (it redirects)';
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(code) ? ` (${code})` : '';
}
