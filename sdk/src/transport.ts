/** Sends one call: attempts with timeouts, and waits for turns and retries between them. */
import { onAbort } from './abort.ts';
import {
  type JsonObject,
  readAnswer,
  redirectedError,
  strangerError,
  tooLargeError,
} from './answer.ts';
import { attemptId, type Belongs } from './belonging.ts';
import { readBody, TooLargeError } from './body.ts';
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
  /** True if attempts that find no server do not count as retries: they go on until the time is over. */
  readonly reconnects: boolean;
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
  /** Milliseconds that the service may wait before it answers, beyond the time limits. */
  readonly extraMs?: number;
  /** Members that the response must have. */
  readonly shape: Shape;
  /** What else shows that the response belongs to the request. */
  readonly belongs?: Belongs | undefined;
  /** A status besides 2xx whose body is a result and not an error. */
  readonly alsoAnswers?: number;
  readonly signal: AbortSignal | undefined;
  /** The caller's label, with which the `X-Request-Id` of each attempt begins. */
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
  /** The failure of the last attempt. */
  #failed: PhmError | undefined;
  /** True if that was a refusal by the rate limit: the queue then waits. */
  #isRefused = false;
  #retries = 0;
  /** Attempts that found no server, if these do not count as retries. */
  #reconnects = 0;
  /** True if a request of this call may have been executed, although its response was lost. */
  #mayHaveRun = false;

  constructor(call: Call, options: TransportOptions) {
    this.#call = call;
    this.#options = options;
    this.#deadlineMs = performance.now() + options.timeoutMs + (call.extraMs ?? 0);
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
        if (!this.#isRefused) await sleep(wait, signal);
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
        this.#failed ?? tooLateError(this.#call, timeoutMs, ahead, perSecond),
    });
    return performance.now() - since;
  }

  async #attempt(): Promise<JsonObject> {
    const { signal, extraMs = 0 } = this.#call;
    const { attemptTimeoutMs, turns } = this.#options;
    const sentAtMs = performance.now();
    const leftMs = Math.max(1, Math.ceil(this.#deadlineMs - sentAtMs));
    const attemptMs = Math.min(attemptTimeoutMs + extraMs, leftMs);
    const requestId = attemptId(this.#call.requestId);
    const controller = new AbortController();
    const stop = (): void => controller.abort();
    const cancelTimer = afterUnblocked(attemptMs, stop);
    const leave = onAbort(signal, stop);
    try {
      // A hook may have aborted the call since its turn.
      signal?.throwIfAborted();
      return await this.#exchange(requestId, controller.signal, sentAtMs);
    } catch (error) {
      signal?.throwIfAborted();
      const known = error instanceof PhmError;
      if (!known) throw this.#failure(error, { requestId, attemptMs, signal: controller.signal });
      if (isRateRefusal(error)) turns?.refused(error.retryAfterSeconds, sentAtMs);
      throw error;
    } finally {
      cancelTimer();
      leave();
      turns?.ended();
    }
  }

  async #exchange(requestId: string, signal: AbortSignal, sentAtMs: number): Promise<JsonObject> {
    const { method, url, body } = this.#call;
    const { fetch, turns, onLimits } = this.#options;
    const headers = {
      ...this.#call.headers,
      'X-Request-Id': requestId,
      // A compressed body could be a thousand times longer than what is received. Browsers decide themselves.
      'Accept-Encoding': 'identity',
    };
    // Following a redirect would send the API key elsewhere.
    const init: RequestInit = { method, headers, body, redirect: 'manual', signal };
    const response = await fetch(url.href, init);
    if (response.redirected) throw redirectedError(response, this.#call, requestId);
    const isOther = isOfOther(response, requestId);
    if (isOther && isResult(response)) {
      // Unread, it also closes the connection, whose next answer would be another's too.
      response.body?.cancel().catch(() => undefined);
      throw strangerError(response, this.#call, requestId);
    }
    const limits = isOther ? undefined : readLimits(response.headers);
    if (limits) onLimits(limits);
    turns?.answered({ ok: response.ok, rate: limits?.rate ?? null }, sentAtMs);
    return readAnswer(response, await this.#read(response, requestId), this.#call, requestId);
  }

  async #read(response: Response, requestId: string): Promise<string> {
    try {
      return await readBody(response);
    } catch (error) {
      if (!(error instanceof TooLargeError)) throw error;
      throw tooLargeError(response, this.#call, requestId);
    }
  }

  #failure(
    error: unknown,
    attempt: { requestId: string; attemptMs: number; signal: AbortSignal },
  ): PhmError {
    return attempt.signal.aborted
      ? noAnswerError(this.#call, attempt)
      : connectionError(this.#call, attempt.requestId, error);
  }

  /** Returns the milliseconds until the next attempt; undefined if there is none. */
  #waitBeforeRetry(error: unknown): number | undefined {
    const { maxRetries, reconnects, turns } = this.#options;
    this.#isRefused = false;
    if (!(error instanceof PhmError) || !mayRetry(error, this.#call.repeatable)) return undefined;
    const isReconnect = reconnects && isUnconnected(error);
    const backoffMs = waitMs(error, isReconnect ? this.#reconnects : this.#retries, Math.random);
    if (maxRetries === 0 || backoffMs === undefined) return undefined;
    const queued = turns !== null && isRateRefusal(error);
    if (!queued && !isReconnect && this.#retries >= maxRetries) return undefined;
    const wait = queued ? turns.pauseMs : backoffMs;
    if (performance.now() + wait >= this.#lastStartMs) return undefined;
    this.#failed = error;
    this.#isRefused = queued;
    if (isReconnect) this.#reconnects += 1;
    else if (!queued) this.#retries += 1;
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

function noAnswerError(
  call: Call,
  { requestId, attemptMs }: { requestId: string; attemptMs: number },
): PhmTimeoutError {
  return new PhmTimeoutError(`no response from ${addressOf(call)} within ${attemptMs} ms`, {
    timeoutMs: attemptMs,
    requestId,
    outcomeUnknown: true,
  });
}

/** Reports whether a response may hold a key. */
function isResult({ ok, headers }: Response): boolean {
  return ok && /\bjson\b/i.test(headers.get('content-type') ?? '');
}

/** Reports whether a response states that it belongs to another request. */
function isOfOther({ headers }: Response, requestId: string): boolean {
  const stated = headers.get('x-request-id');
  return stated !== null && stated !== requestId;
}

/** Node's error codes for requests that were never sent. Browsers do not report this. */
const NEVER_SENT =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|UNABLE_TO_VERIFY_.+|.*CERT.*|bad port)$/;

/** Node's error codes for connections that were never established, and for connections lost later. */
const UNREACHABLE = /^(?:EHOSTUNREACH|ENETUNREACH)$/;

/** Those of `NEVER_SENT` that end when a server or a network starts. */
const NOT_YET = /^(?:ECONNREFUSED|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT)$/;

/** Reports whether no connection was made, as while a server restarts. */
function isUnconnected(error: PhmError): boolean {
  if (!(error instanceof PhmConnectionError) || error.outcomeUnknown) return false;
  const { code } = (error.cause as { cause?: Cause } | undefined)?.cause ?? {};
  return typeof code === 'string' && (NOT_YET.test(code) || UNREACHABLE.test(code));
}

interface Cause {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly syscall?: unknown;
}

function connectionError(call: Call, sentId: string, error: unknown): PhmConnectionError {
  const cause = (error as { cause?: Cause } | undefined)?.cause;
  const reason = [cause?.code, cause?.message].find((one) => typeof one === 'string') ?? '';
  const neverConnected = UNREACHABLE.test(reason) && cause?.syscall === 'connect';
  const outcomeUnknown = !neverConnected && !NEVER_SENT.test(reason);
  const what = outcomeUnknown
    ? `the connection to ${addressOf(call)} failed before the response was complete`
    : `the service cannot be reached at ${addressOf(call)}`;
  const message = reason === '' ? what : `${what} (${reason})`;
  const requestId = outcomeUnknown ? sentId : (call.requestId ?? null);
  return new PhmConnectionError(message, { requestId, outcomeUnknown, cause: withoutData(error) });
}

/** Removes from an error and its causes what undici could not parse of a response (`HTTPParserError`): it may be a key. */
function withoutData(error: unknown): unknown {
  let one: unknown = error;
  for (let depth = 0; one instanceof Error && depth < 10; depth += 1) {
    Reflect.deleteProperty(one, 'data');
    one = one.cause;
  }
  return error;
}

/** Waits. Rejects with the signal's reason as soon as it is aborted. */
function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      leave();
      resolve();
    }, ms);
    const leave = onAbort(signal, () => {
      clearTimeout(timer);
      reject(signal?.reason);
    });
  });
}

/** A timer that is this late shows that the program was busy meanwhile. In milliseconds. */
const BLOCKED_MS = 20;

/** How often a timer waits for a busy program. */
const MOST_DELAYS = 50;

/**
 * Calls `work` after `ms`; the result cancels it. If the program was too busy to run the timer in time, a response may have
 * arrived meanwhile and not been read: it is read first.
 */
function afterUnblocked(ms: number, work: () => void): () => void {
  let delays = 0;
  const set = (waitMs: number): ReturnType<typeof setTimeout> => {
    const dueMs = performance.now() + waitMs;
    return setTimeout(() => {
      const isLate = performance.now() - dueMs >= BLOCKED_MS;
      if (!isLate || delays === MOST_DELAYS) work();
      else {
        delays += 1;
        timer = set(BLOCKED_MS);
      }
    }, waitMs);
  };
  let timer = set(ms);
  return () => clearTimeout(timer);
}
