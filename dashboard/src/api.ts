/** The service as this page meets it: the SDK with the address of the page. */
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
  type ValidationResult,
} from '../../sdk/src/index.ts';

/** Whether a text can be sent as an API key at all: printable ASCII without spaces. */
export function isSendable(apiKey: string): boolean {
  return /^[\x21-\x7e]+$/.test(apiKey);
}

const TIMEOUT_MS = 30_000;

/** A client with an API key. It does not retry: the page shows the error, and the reader decides. */
export function makeClient(apiKey: string): PhmClient {
  return new PhmClient({ baseUrl: './', apiKey, timeoutMs: TIMEOUT_MS, maxRetries: 0 });
}

const anonymous = new PhmClient({ baseUrl: './', timeoutMs: 10_000, maxRetries: 0 });

/** Needs no API key. A server that is not ready is an answer, not an error. */
export function readHealth(signal: AbortSignal): Promise<Health> {
  return anonymous.health({ signal });
}

/** The demo key that this server admits in requests from this page, or null. */
export async function findDemoKey(signal: AbortSignal): Promise<string | null> {
  const answer = await fetch('./', { headers: { accept: 'application/json' }, signal });
  const { demo_api_key: key } = (await answer.json()) as { demo_api_key?: unknown };
  return typeof key === 'string' ? key : null;
}

export type Series = Awaited<ReturnType<PhmClient['metricsSeries']>>['series'];
export type SeriesPoint = Series['points'][number];
export type Randomness = Awaited<ReturnType<PhmClient['randomness']>>['randomness'];
export type RandomnessRow = Randomness['rows'][number];
