/** A reader of quantum random number generators over HTTP. One row of `PROFILES` adds a protocol. */
import type { QrngProfileName } from '../../config/index.ts';
import { type NoiseBatch, NoiseFailure, type NoiseReader } from '../noise.ts';
import { assertHeaderValue, requestJson, serviceUrl } from './_json-request.ts';
import { type Ask, type FetchBlock, QRNG_SERVICE, type QrngProfile } from './_qrng-profile.ts';
import { ANU } from './qrng-anu.ts';
import { OPEN_API } from './qrng-open-api.ts';
import { OUTSHIFT } from './qrng-outshift.ts';

const PROFILES: Readonly<Record<QrngProfileName, QrngProfile>> = {
  'open-api': OPEN_API,
  anu: ANU,
  outshift: OUTSHIFT,
};

export interface QrngSettings {
  readonly profile: QrngProfileName;
  /**
   * The address without the protocol's paths; null for the provider's own, which `open-api` lacks.
   */
  readonly url: string | null;
  /** Null if the service needs none. */
  readonly apiKey: string | null;
}

interface QrngLimits {
  /** Timeout of one request. */
  readonly requestMs: number;
}

const QRNG_LIMITS: QrngLimits = { requestMs: 15_000 };

/**
 * Opens the reader. The first `read` sends the first request. Throws `RangeError` and `TypeError`.
 */
export function openQrng(settings: QrngSettings, limits: QrngLimits = QRNG_LIMITS): NoiseReader {
  const { profile: name, apiKey } = settings;
  const profile = PROFILES[name];
  const address = settings.url ?? profile.url;
  if (address === null) throw new TypeError(`"url" expected the address of the service, got null`);
  if (apiKey !== null) assertHeaderValue('apiKey', apiKey);
  else if (profile.needsApiKey) {
    throw new TypeError(`"apiKey" expected the API key that profile "${name}" needs, got null`);
  }
  const url = serviceUrl('url', address);
  const credentials = apiKey === null ? {} : profile.credentials(apiKey);
  return new QrngReader(profile.open(asker(url, credentials, limits.requestMs)));
}

function asker(url: string, credentials: Readonly<Record<string, string>>, timeoutMs: number): Ask {
  return (method, path, { json, ...details }) =>
    requestJson({
      service: QRNG_SERVICE,
      url: `${url}${path}`,
      method,
      headers: {
        ...credentials,
        ...(json !== undefined && { 'content-type': 'application/json' }),
      },
      ...(json !== undefined && { body: JSON.stringify(json) }),
      timeoutMs,
      ...details,
    });
}

class QrngReader implements NoiseReader {
  readonly bitsPerSample = 8;
  /**
   * A claim for monitoring. These services deliver conditioned bytes, near 8 bits each as seen from
   * outside. At 6 the health tests detect a stuck or repeating service within a few bytes. The
   * claim does not say who else knows the bytes.
   */
  readonly minEntropyPerSample = 6;
  /** 288 bits by that claim, more than the generator's strength of 256. */
  readonly bytesPerDraw = 48;
  readonly #fetchBlock: FetchBlock;
  readonly #closed = new AbortController();

  constructor(fetchBlock: FetchBlock) {
    this.#fetchBlock = fetchBlock;
  }

  async read(signal: AbortSignal): Promise<NoiseBatch> {
    const stop = AbortSignal.any([signal, this.#closed.signal]);
    if (stop.aborted) throw new NoiseFailure('the source was stopped before it sent a request');
    return { samples: await this.#fetchBlock(stop), jobId: null };
  }

  /** Aborts a request in progress. */
  async close(): Promise<void> {
    this.#closed.abort();
  }
}
