/** The client of this page: the SDK, with the address of the page. */
import { PhmClient } from '../../sdk/src/client.ts';
import type { Health, verifyReceipt } from '../../sdk/src/index.ts';

export { PhmClient } from '../../sdk/src/client.ts';
export {
  PhmApiError,
  PhmConnectionError,
  PhmError,
  PhmResponseError,
  PhmTimeoutError,
} from '../../sdk/src/errors.ts';
export type {
  EvidenceReport,
  GeneratedKey,
  GeneratedSealedKey,
  GenerateRequest,
  GenerateSealedRequest,
  Health,
  KeyInfo,
  KeyList,
  KeyListQuery,
  Limit,
  Limits,
  NistReport,
  ReceiptVerdict,
  RevocationReason,
  ValidationResult,
} from '../../sdk/src/index.ts';
export { parseReceiptText } from '../../sdk/src/receipt/json.ts';

/** True if a text can be sent as an API key: printable ASCII without spaces. */
export function isSendable(apiKey: string): boolean {
  return /^[\x21-\x7e]+$/.test(apiKey);
}

const TIMEOUT_MS = 30_000;

/** Returns a client that does not retry: the page shows the error, and the reader decides. */
export function makeClient(apiKey: string): PhmClient {
  return new PhmClient({ baseUrl: './', apiKey, timeoutMs: TIMEOUT_MS, maxRetries: 0 });
}

const anonymous = new PhmClient({ baseUrl: './', timeoutMs: 10_000, maxRetries: 0 });

/** Reads `/health`, without an API key. It also resolves if the server is not ready. */
export function readHealth(signal: AbortSignal): Promise<Health> {
  return anonymous.health({ signal });
}

/** Returns the demo key that the server admits from this page, or null. */
export async function findDemoKey(signal: AbortSignal): Promise<string | null> {
  const answer = await fetch('./', { headers: { accept: 'application/json' }, signal });
  const { demo_api_key: key } = (await answer.json()) as { demo_api_key?: unknown };
  return typeof key === 'string' ? key : null;
}

/**
 * Loads the part of the SDK that verifies receipts, once. The other views do without it. Throws `Error` with a sentence
 * for the reader.
 */
export async function loadVerifier(): Promise<typeof verifyReceipt> {
  try {
    return (await import('../../sdk/src/receipt/verify.ts')).verifyReceipt;
  } catch {
    throw new Error('The part of this page that verifies did not load. Reload the page.');
  }
}

/** Returns the policy that this server publishes. Throws `Error` with a sentence for the reader. */
export async function fetchPolicy(): Promise<string> {
  const answer = await fetch('./log/policy', { signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(
    () => undefined,
  );
  if (answer?.ok) return answer.text();
  const why =
    answer?.status === 404
      ? 'This server keeps no transparency log'
      : 'This server does not return its policy';
  throw new Error(`${why}. Choose a policy of your own, or try again later.`);
}

export type Series = Awaited<ReturnType<PhmClient['metricsSeries']>>['series'];
export type SeriesPoint = Series['points'][number];
export type Randomness = Awaited<ReturnType<PhmClient['randomness']>>['randomness'];
export type RandomnessRow = Randomness['rows'][number];
