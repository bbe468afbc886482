/**
 * The interface of a background source: a reader of raw samples.
 *
 * A reader only fetches. `noise-pump.ts` adds health tests, conditioning, pooling, retries with
 * back-off and the latch, which are the same for all readers.
 */

/** Raw samples in the order of the health tests, one symbol per byte. */
export interface NoiseBatch {
  /** Symbols below 2^bitsPerSample, at least one. The receiver owns them and MUST wipe them. */
  readonly samples: Uint8Array;
  /**
   * The hardware job that gave the samples: 1 to 64 characters of `[A-Za-z0-9_-]`. Null for other
   * sources.
   */
  readonly jobId: string | null;
}

export interface NoiseReader {
  /** Bits per symbol, 1…8. */
  readonly bitsPerSample: number;
  /**
   * Claimed min-entropy in bits per sample, 0 < H ≤ bitsPerSample. The cutoffs of the health tests
   * follow from it (SP 800-90B §4.4). It is no credit; the row of the source decides that.
   */
  readonly minEntropyPerSample: number;
  /**
   * Bytes of tested samples that are conditioned into one draw; with `extract`, of extracted
   * samples.
   */
  readonly bytesPerDraw: number;
  /**
   * Reads one batch of fresh samples. Rejects with `NoiseFailure` if the source cannot deliver. It
   * MUST settle soon after `signal` aborts. Calls never overlap.
   */
  read(signal: AbortSignal): Promise<NoiseBatch>;
  /**
   * The developer-defined test of a source (SP 800-90B §4.5). Returns the fault of a batch that
   * passed the other tests, or null. A fault counts as an intermittent failure.
   */
  test?(samples: Uint8Array): string | null;
  /** Extracts bits between health tests and conditioning. Returns new memory. */
  extract?(samples: Uint8Array): Uint8Array;
  /** Releases resources and cancels a job in progress. */
  close(): Promise<void>;
}

/**
 * The source did not deliver, for a reason that may pass. Operators see `message`: it MUST NOT hold
 * credentials, samples or text of a remote server.
 */
export class NoiseFailure extends Error {
  /** The wait that the source asked for, in milliseconds, at most an hour; null if it did not. */
  readonly retryAfterMs: number | null;

  constructor(message: string, { retryAfterMs = null, cause }: NoiseFailureOptions = {}) {
    super(message, { cause });
    this.name = 'NoiseFailure';
    this.retryAfterMs = retryAfterMs;
  }
}

interface NoiseFailureOptions {
  readonly retryAfterMs?: number | null;
  readonly cause?: unknown;
}
