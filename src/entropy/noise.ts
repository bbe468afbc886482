/**
 * What a background source is made of: a reader of raw samples.
 *
 * A reader only fetches. Health tests, conditioning, pooling, retries with back-off and the latch
 * are the same for all of them and stand around it (`noise-pump.ts`).
 */

/** Raw samples in the order in which the health tests are to see them, one symbol a byte. */
export interface NoiseBatch {
  /** Symbols below 2^bitsPerSample, at least one. The receiver owns them and MUST wipe them. */
  readonly samples: Uint8Array;
  /** The hardware job they come from: 1 to 64 characters of `[A-Za-z0-9_-]`; null for other sources. */
  readonly jobId: string | null;
}

export interface NoiseReader {
  /** Bits per symbol, 1…8. */
  readonly bitsPerSample: number;
  /**
   * Min-entropy in bits a sample, 0 < H ≤ bitsPerSample: what the cutoffs of the health tests are
   * computed from (SP 800-90B §4.4). It is no credit: that is decided where the source is opened.
   */
  readonly minEntropyPerSample: number;
  /** Bytes of tested (and, with `extract`, extracted) samples that are conditioned into one draw. */
  readonly bytesPerDraw: number;
  /**
   * One batch of fresh samples. Rejects with `NoiseFailure` when the source cannot deliver. It MUST
   * settle soon after `signal` aborts, and calls never overlap.
   */
  read(signal: AbortSignal): Promise<NoiseBatch>;
  /**
   * A test of the source's own (SP 800-90B §4.5): what is wrong with a batch that passed the others,
   * or null. It counts as an intermittent failure.
   */
  test?(samples: Uint8Array): string | null;
  /** An extractor between health tests and conditioning, in memory of its own. */
  extract?(samples: Uint8Array): Uint8Array;
  /** Releases what is held; cancels a job under way. */
  close(): Promise<void>;
}

/**
 * A source that did not deliver, for a reason that may pass. `message` is shown to operators: it
 * MUST NOT hold credentials, samples or what a remote server wrote.
 */
export class NoiseFailure extends Error {
  /** How long the source asked to be left alone, if it did: an hour at most. */
  readonly retryAfterMs: number | null;

  constructor(message: string, { retryAfterMs = null, cause }: NoiseFailureOptions = {}) {
    super(message, { cause });
    this.name = 'NoiseFailure';
    this.retryAfterMs = retryAfterMs;
  }
}

export interface NoiseFailureOptions {
  readonly retryAfterMs?: number | null;
  readonly cause?: unknown;
}
