/** The service as this page meets it: the SDK, told where the page is. */
import { type Health, PhmClient } from '../../sdk/src/index.ts';

export {
  type GeneratedKey,
  type GenerateRequest,
  type Health,
  type Limit,
  type Limits,
  type NistReport,
  PhmApiError,
  PhmClient,
  PhmConnectionError,
  PhmError,
  PhmResponseError,
  PhmTimeoutError,
  type Validation,
} from '../../sdk/src/index.ts';

/** Whether a text can be sent as an API key at all: printable ASCII without spaces. */
export function isSendable(apiKey: string): boolean {
  return /^[\x21-\x7e]+$/.test(apiKey);
}

const TIMEOUT_MS = 30_000;

/** A client with an API key. It tries nothing again by itself: the reader is told, and decides. */
export function makeClient(apiKey: string): PhmClient {
  return new PhmClient({ baseUrl: './', apiKey, timeoutMs: TIMEOUT_MS, maxRetries: 0 });
}

const anonymous = new PhmClient({ baseUrl: './', timeoutMs: 10_000, maxRetries: 0 });

/** Needs no API key. A server that is not ready is an answer, not an error. */
export function readHealth(signal: AbortSignal): Promise<Health> {
  return anonymous.health({ signal });
}

export type Series = Awaited<ReturnType<PhmClient['metricsSeries']>>['series'];
export type SeriesPoint = Series['points'][number];
export type Randomness = Awaited<ReturnType<PhmClient['randomness']>>['randomness'];
export type RandomnessRow = Randomness['rows'][number];
