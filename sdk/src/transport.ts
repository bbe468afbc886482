/** Sends one call: attempts with time-outs, retries between them, and an answer that is the service's. */
import { readAnswer } from './answer.ts';
import { PhmConnectionError, PhmError, PhmTimeoutError } from './errors.ts';
import { mayRetry, waitMs } from './retry.ts';

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface TransportOptions {
  readonly fetch: Fetch;
  /** Milliseconds for the whole call, waits included. */
  readonly timeoutMs: number;
  /** Milliseconds for one attempt. */
  readonly attemptTimeoutMs: number;
  readonly maxRetries: number;
}

export interface Call {
  /** Whether it may be sent again though the service may have done it. */
  readonly repeatable: boolean;
  /** A status beside 2xx whose body is an answer and no error. */
  readonly alsoAnswers?: number;
  readonly signal: AbortSignal | undefined;
  readonly requestId: string | undefined;
}

/**
 * Resolves with the answer, read whole. Rejects with a `PhmError`, or with the reason of the signal as soon
 * as it is aborted.
 */
export async function send(
  request: Request,
  call: Call,
  options: TransportOptions,
): Promise<Response> {
  const { signal } = call;
  const { method, headers } = request;
  const body = method === 'GET' ? null : await request.text();
  // A redirect would take the API key elsewhere.
  const init: RequestInit = { method, headers, body, redirect: 'manual' };
  const deadline = performance.now() + options.timeoutMs;
  signal?.throwIfAborted();
  for (let retry = 0; ; retry += 1) {
    const leftMs = Math.max(1, Math.ceil(deadline - performance.now()));
    const attemptMs = Math.min(options.attemptTimeoutMs, leftMs);
    try {
      return await attempt(request.url, init, call, { fetch: options.fetch, attemptMs });
    } catch (error) {
      if (!(error instanceof PhmError) || retry >= options.maxRetries) throw error;
      const wait = mayRetry(error, call.repeatable) ? waitMs(error, retry, Math.random) : undefined;
      if (wait === undefined || performance.now() + wait >= deadline) throw error;
      signal?.throwIfAborted();
      await sleep(wait, signal);
    }
  }
}

async function attempt(
  url: string,
  init: RequestInit,
  call: Call,
  { fetch, attemptMs }: { fetch: Fetch; attemptMs: number },
): Promise<Response> {
  const { signal, requestId = null } = call;
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), attemptMs);
  const onAbort = (): void => controller.abort();
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    const response = await fetch(url, { ...init, signal: controller.signal });
    return readAnswer(response, await response.text(), call);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof PhmError) throw error;
    if (controller.signal.aborted) throw new PhmTimeoutError(attemptMs, requestId);
    throw connectionError(error, requestId);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

/** What Node says when there was no connection to send the request on. Browsers do not say. */
const NEVER_SENT =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|UNABLE_TO_VERIFY_.+|.*CERT.*|bad port)$/;

/** What it says of connections that were never made, and of ones that are lost later. */
const UNREACHABLE = /^(?:EHOSTUNREACH|ENETUNREACH)$/;

interface Cause {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly syscall?: unknown;
}

function connectionError(error: unknown, requestId: string | null): PhmConnectionError {
  const cause = (error as { cause?: Cause } | undefined)?.cause;
  const reason = [cause?.code, cause?.message].find((one) => typeof one === 'string') ?? '';
  const unmade = UNREACHABLE.test(reason) && cause?.syscall === 'connect';
  const outcomeUnknown = !unmade && !NEVER_SENT.test(reason);
  const what = outcomeUnknown
    ? 'the connection failed before the whole answer was there'
    : 'the service cannot be reached';
  const message = reason === '' ? what : `${what} (${reason})`;
  return new PhmConnectionError(message, { requestId, outcomeUnknown, cause: error });
}

/** Waits; rejects with the signal's reason as soon as it is aborted. */
function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
