/** Options of a client, and of its calls. */
import type { RequestEvent, RetryEvent } from './hooks.ts';
import { assertObject, assertRequestId, assertSignal } from './options.ts';
import type { Fetch } from './transport.ts';

export interface PhmClientOptions {
  /**
   * URL of the service, with its base path if it has one: `https://keys.example/phm`. In a browser it may be relative
   * to the page: `./` is the folder of the page.
   */
  readonly baseUrl: string;
  /** Without it, only `health` and `receiptByCommitment` work. */
  readonly apiKey?: string | undefined;
  /** Milliseconds for a whole call with retries and waits, 1…2,147,483,647. Default 60,000. */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds for one attempt, 1…2,147,483,647. Default 30,000. */
  readonly attemptTimeoutMs?: number | undefined;
  /**
   * Maximum number of retries of a call, 0…100. Default 3, and while no connection can be made as many as `timeoutMs` allows.
   * Refusals by a rate limit do not count, because the client waits for its next turn. With 0 each call is sent once.
   */
  readonly maxRetries?: number | undefined;
  /**
   * Default true: calls wait in a queue that keeps to the API key's rate limit. False sends each call at once; a
   * refusal then counts as a retry.
   */
  readonly pace?: boolean | undefined;
  /**
   * Default true: the service refuses a call with an unknown field. False: it accepts the call and names the field in
   * `warnings` of the response.
   */
  readonly strict?: boolean | undefined;
  /** Called before each request. Its exceptions are ignored. */
  readonly onRequest?: ((event: RequestEvent) => void) | undefined;
  /** Called before each wait for a retry. Its exceptions are ignored. */
  readonly onRetry?: ((event: RetryEvent) => void) | undefined;
  /** Replaces the global `fetch`. It MUST support `signal` and `redirect: 'manual'`. */
  readonly fetch?: Fetch | undefined;
}

export interface CallOptions {
  /** Aborts the call at once; the call rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Label for logs: 1 to 100 letters, digits, `.`, `_` or `-`. The `X-Request-Id` of each request begins with it; a dot and a
   * number follow, which is new for each, so that the client recognises the response.
   */
  readonly requestId?: string | undefined;
}

/** Options of a call that generates keys. */
export interface KeyCallOptions extends CallOptions {
  /**
   * Makes the call safe to repeat: the service recognises it by this value for 24 hours and generates no second key, and the
   * client repeats it also after a lost response. `true` is a new UUIDv7. A text is yours: 1 to 255 visible ASCII characters,
   * new for each request. Default: `true` for sealed keys and batches, `false` for `generate`.
   */
  readonly idempotencyKey?: string | boolean | undefined;
}

/** Options of a call for many keys. */
export interface BatchCallOptions extends KeyCallOptions {
  /** Most keys of one batch, 1…1000, with `include` at most 100. Default 100. */
  readonly chunk?: number | undefined;
}

export function assertCallOptions(options: CallOptions): void {
  assertObject('the options of a call', options, '{ signal, requestId }');
  assertSignal(options.signal);
  assertRequestId(options.requestId);
}
