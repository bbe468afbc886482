/** Hooks of a caller. They never see the API key, a body or a response. */
import type { PhmError } from './errors.ts';

/** A request that is about to be sent. */
export interface RequestEvent {
  readonly method: 'GET' | 'POST';
  /** Path of the URL, with the base path and without the query. */
  readonly path: string;
  /** 1 for the first request of a call, 2 for its first retry, and so on. */
  readonly attempt: number;
  /** Milliseconds for which this request waited for its turn under the rate limit. */
  readonly waitMs: number;
  /** Your own label of the call, or null. */
  readonly requestId: string | null;
}

/** A request that failed and is about to be sent again. */
export interface RetryEvent {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Number of the failed request: 1 for the first request of a call. */
  readonly attempt: number;
  /** Milliseconds until the retry; under a rate limit at least that long. */
  readonly waitMs: number;
  readonly error: PhmError;
  readonly requestId: string | null;
}

/** Calls a hook. Ignores what it throws or rejects with: a broken logger must not lose a key. */
export function notify<T>(hook: ((event: T) => void) | undefined, event: T): void {
  if (hook === undefined) return;
  (async () => hook(event))().catch(() => undefined);
}
