/**
 * The interface of a protocol for quantum random number generators over HTTP: a row of `qrng.ts`.
 */
import type { JsonRequest, Service } from './_json-request.ts';

export const QRNG_SERVICE: Service = {
  name: 'the QRNG service',
  credentials: 'PHM_QRNG_API_KEY or PHM_QRNG_API_KEY_FILE',
  address: 'PHM_QRNG_URL and PHM_QRNG_PROFILE',
};

/** Sends one request to the service; `path` begins with a slash. Rejects with `RequestFailure`. */
export type Ask = (
  method: 'GET' | 'POST',
  path: string,
  details: Pick<JsonRequest, 'signal'> & { readonly json?: unknown; readonly maxBytes?: number },
) => Promise<unknown>;

/** Fetches fresh bytes into new memory. Calls do not overlap. */
export type FetchBlock = (signal: AbortSignal) => Promise<Uint8Array>;

export interface QrngProfile {
  /** The provider's address; null if there is no single one. */
  readonly url: string | null;
  /** True if the provider refuses requests without an API key. */
  readonly needsApiKey: boolean;
  /** Returns the header that carries the API key. */
  readonly credentials: (apiKey: string) => Readonly<Record<string, string>>;
  readonly open: (ask: Ask) => FetchBlock;
}

// A number with its name and punctuation, such as {"decimal": "255"}, is far below 64 bytes.
const MAX_BYTES_PER_NUMBER = 64;

/** Returns the size limit for an answer of `count` numbers, in bytes. */
export function maxBytesOf(count: number): number {
  return 4_096 + count * MAX_BYTES_PER_NUMBER;
}
