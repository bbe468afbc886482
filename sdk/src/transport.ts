/** Sends one call: attempts with timeouts, and waits for turns and retries between them. */
import { type JsonObject, readAnswer } from './answer.ts';
import { describeCall, PhmConnectionError, PhmError, PhmTimeoutError } from './errors.ts';
import { notify, type RequestEvent, type RetryEvent } from './hooks.ts';
import { type Limits, readLimits } from './limits.ts';
import { isRateRefusal, mayRetry, type Repeatable, waitMs } from './retry.ts';
import type { Shape } from './shapes.ts';
import type { Turns } from './turns.ts';

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface TransportOptions {
  readonly fetch: Fetch;
  /** Milliseconds for the whole call, with waits. */
  readonly timeoutMs: number;
  /** Milliseconds for one attempt. */
  readonly attemptTimeoutMs: number;
  readonly maxRetries: number;
  /** The queue before the API key's rate limit; null sends at once. */
  readonly turns: Turns | null;
  readonly onLimits: (limits: Limits) => void;
  readonly onRequest: ((event: RequestEvent) => void) | undefined;
  readonly onRetry: ((event: RetryEvent) => void) | undefined;
}

export interface Call {
  readonly method: 'GET' | 'POST';
  /** Without user and password. */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly repeatable: Repeatable;
  /** Places that the call takes of the rate limit; a batch takes one for each key, but at most the burst. */
  readonly places?: number;
  /** Members that the response must have. */
  readonly shape: Shape;
  /** A status besides 2xx whose body is a result and not an error. */
  readonly alsoAnswers?: number;
  readonly signal: AbortSignal | undefined;
  readonly requestId: string | undefined;
}

/**
 * Resolves with the complete response. Rejects with a `PhmError`, or with the reason of the signal as soon as it is
 * aborted.
 */
export function send(call: Call, options: TransportOptions): Promise<JsonObject> {
  return new Sending(call, options).run();
}

/**
 * A request is sent after a wait only if this much of `timeoutMs` remains, or a tenth of `timeoutMs` if that is less.
 * In milliseconds.
 */
const LEAST_MS = 1_000;

class Sending {
  readonly #call: Call;
  readonly #options: TransportOptions;
  readonly #deadlineMs: number;
  /** A request sent later could not get its response in time, so its outcome would be unknown. */
  readonly #lastStartMs: number;
  readonly #ticket: number;
  /** The rate limit's refusal of the last attempt, until the next turn. */
  #refusal: PhmError | undefined;
  #retries = 0;
  /** True if a request of this call may have been executed, although its response was lost. */
  #mayHaveRun = false;

  constructor(call: Call, options: TransportOptions) {
    this.#call = call;
    this.#options = options;
    this.#deadlineMs = performance.now() + options.timeoutMs;
    this.#lastStartMs = this.#deadlineMs - Math.min(LEAST_MS, options.timeoutMs / 10);
    this.#ticket = options.turns?.ticket() ?? 0;
  }

  async run(): Promise<JsonObject> {
    try {
      return await this.#repeat();
    } catch (error) {
      const idempotencyKey = this.#call.headers['Idempotency-Key'] ?? null;
      const call = { idempotencyKey, mayHaveRun: this.#mayHaveRun };
      if (error instanceof PhmError) describeCall(error, call);
      throw error;
    }
  }

  async #repeat(): Promise<JsonObject> {
    const { signal } = this.#call;
    const { onRequest, onRetry } = this.#options;
    signal?.throwIfAborted();
    for (let attempt = 1; ; attempt += 1) {
      const waitedMs = await this.#takeTurn();
      try {
        notify(onRequest, { ...this.#event(attempt), waitMs: waitedMs });
        return await this.#attempt();
      } catch (error) {
        const wait = this.#waitBeforeRetry(error);
        if (wait === undefined) throw error;
        if ((error as PhmError).outcomeUnknown) this.#mayHaveRun = true;
        notify(onRetry, { ...this.#event(attempt), waitMs: wait, error: error as PhmError });
        signal?.throwIfAborted();
        // After a refusal by the rate limit, the queue waits.
        if (this.#refusal === undefined) await sleep(wait, signal);
      }
    }
  }

  #event(attempt: number) {
    const { method, url, requestId = null } = this.#call;
    return { method, path: url.pathname, attempt, requestId };
  }

  /** Waits for a turn. Resolves with the milliseconds that this took. */
  async #takeTurn(): Promise<number> {
    const { turns, timeoutMs } = this.#options;
    if (turns === null) return 0;
    const since = performance.now();
    await turns.take({
      ticket: this.#ticket,
      places: this.#call.places ?? 1,
      deadlineMs: this.#lastStartMs,
      signal: this.#call.signal,
      tooLate: (ahead, perSecond) =>
        this.#refusal ?? tooLateError(this.#call, timeoutMs, ahead, perSecond),
    });
    return performance.now() - since;
  }

  async #attempt(): Promise<JsonObject> {
    const { signal } = this.#call;
    const { attemptTimeoutMs, turns } = this.#options;
    const sentAtMs = performance.now();
    const leftMs = Math.max(1, Math.ceil(this.#deadlineMs - sentAtMs));
    const attemptMs = Math.min(attemptTimeoutMs, leftMs);
    const controller = new AbortController();
    const onAbort = (): void => controller.abort();
    const timer = setTimeout(onAbort, attemptMs);
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      // A hook may have aborted the call since its turn.
      signal?.throwIfAborted();
      return await this.#exchange(controller.signal, sentAtMs);
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof PhmError)) throw this.#failure(error, controller.signal, attemptMs);
      if (isRateRefusal(error)) turns?.refused(error.retryAfterSeconds, sentAtMs);
      throw error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      turns?.ended();
    }
  }

  async #exchange(signal: AbortSignal, sentAtMs: number): Promise<JsonObject> {
    const { method, url, headers, body } = this.#call;
    const { fetch, turns, onLimits } = this.#options;
    // Following a redirect would send the API key elsewhere.
    const init: RequestInit = { method, headers, body, redirect: 'manual', signal };
    const response = await fetch(url.href, init);
    const limits = readLimits(response.headers);
    if (limits) onLimits(limits);
    turns?.answered({ ok: response.ok, rate: limits?.rate ?? null }, sentAtMs);
    return readAnswer(response, await response.text(), this.#call);
  }

  #failure(error: unknown, signal: AbortSignal, attemptMs: number): PhmError {
    return signal.aborted
      ? noAnswerError(this.#call, attemptMs)
      : connectionError(this.#call, error);
  }

  /** Returns the milliseconds until the next attempt; undefined if there is none. */
  #waitBeforeRetry(error: unknown): number | undefined {
    const { maxRetries, turns } = this.#options;
    this.#refusal = undefined;
    if (!(error instanceof PhmError) || !mayRetry(error, this.#call.repeatable)) return undefined;
    const backoffMs = waitMs(error, this.#retries, Math.random);
    if (maxRetries === 0 || backoffMs === undefined) return undefined;
    const queued = turns !== null && isRateRefusal(error);
    if (!queued && this.#retries >= maxRetries) return undefined;
    const wait = queued ? turns.pauseMs : backoffMs;
    if (performance.now() + wait >= this.#lastStartMs) return undefined;
    if (queued) this.#refusal = error;
    else this.#retries += 1;
    return wait;
  }
}

/** Returns the URL of a call for messages, without the query. */
function addressOf({ url }: Call): string {
  return url.origin + url.pathname;
}

function tooLateError(
  call: Call,
  timeoutMs: number,
  ahead: number,
  perSecond: number | null,
): PhmTimeoutError {
  const limit = perSecond === null ? '' : `, at ${perSecond} per second`;
  return new PhmTimeoutError(
    `not sent to ${addressOf(call)}: the rate limit does not admit it within ${timeoutMs} ms (calls ahead of it: ${ahead}${limit})`,
    { timeoutMs, requestId: call.requestId ?? null, outcomeUnknown: false },
  );
}

function noAnswerError(call: Call, attemptMs: number): PhmTimeoutError {
  return new PhmTimeoutError(`no response from ${addressOf(call)} within ${attemptMs} ms`, {
    timeoutMs: attemptMs,
    requestId: call.requestId ?? null,
    outcomeUnknown: true,
  });
}

/** Node's error codes for requests that were never sent. Browsers do not report this. */
const NEVER_SENT =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|UNABLE_TO_VERIFY_.+|.*CERT.*|bad port)$/;

/** Node's error codes for connections that were never established, and for connections lost later. */
const UNREACHABLE = /^(?:EHOSTUNREACH|ENETUNREACH)$/;

interface Cause {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly syscall?: unknown;
}

function connectionError(call: Call, error: unknown): PhmConnectionError {
  const cause = (error as { cause?: Cause } | undefined)?.cause;
  const reason = [cause?.code, cause?.message].find((one) => typeof one === 'string') ?? '';
  const neverConnected = UNREACHABLE.test(reason) && cause?.syscall === 'connect';
  const outcomeUnknown = !neverConnected && !NEVER_SENT.test(reason);
  const what = outcomeUnknown
    ? `the connection to ${addressOf(call)} failed before the response was complete`
    : `the service cannot be reached at ${addressOf(call)}`;
  const message = reason === '' ? what : `${what} (${reason})`;
  const requestId = call.requestId ?? null;
  return new PhmConnectionError(message, { requestId, outcomeUnknown, cause: error });
}

/** Waits. Rejects with the signal's reason as soon as it is aborted. */
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
