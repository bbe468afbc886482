/** The common interface of all entropy sources. */

/** Sources that each generator reads directly, at the moment of the draw. */
export type DirectName = 'os' | 'quantum-simulator';

/** Sources that a separate thread reads into a pool. */
export type BackgroundName = 'jitter' | 'device' | 'ibm-quantum' | 'qrng';

/** Names that a client or operator may write. Each has one row in `registry.ts`. */
export type SourceName = DirectName | BackgroundName;

export type SourceKind = 'system' | 'noise' | 'quantum-simulator' | 'quantum-hardware';

/** One single-use output of a source. The receiver owns `bytes` and MUST wipe them. */
export interface Draw {
  readonly bytes: Buffer;
  /**
   * Min-entropy credited to this draw, in bits. The basis for `os` is computational: the size of the
   * kernel generator's key. For any other credited source it is the operator's word.
   */
  readonly creditBits: number;
  /**
   * True if there is an argument that its noise is separate from the machine's own, so that credits
   * may be added.
   */
  readonly isSeparate: boolean;
  /** The hardware job that gave the draw; null for other sources. */
  readonly jobId: string | null;
}

/**
 * States of a source. `starting`: its startup tests are running. `latched`: it failed permanently.
 */
export const SOURCE_STATES = ['starting', 'delivering', 'failing', 'latched', 'closed'] as const;
export type SourceState = (typeof SOURCE_STATES)[number];

/** The public state of a source. It MUST NOT hold output bytes. */
export interface SourceStatus {
  readonly name: SourceName;
  readonly kind: SourceKind;
  readonly state: SourceState;
  readonly healthy: boolean;
  readonly creditBitsPerDraw: number;
  readonly draws: number;
  readonly failures: number;
  /** Draws in the pool and its capacity; absent for sources that are read directly. */
  readonly pool?: { readonly waiting: number; readonly capacity: number };
  /** Why the source is not healthy. */
  readonly detail?: string;
}

export interface EntropySource {
  readonly name: SourceName;
  readonly kind: SourceKind;
  /**
   * Returns fresh bytes, never a substitute. Throws `AppError('entropy_unavailable')` if there are
   * none.
   */
  draw(): Draw;
  status(): SourceStatus;
  /** Gives a failed source the chance to show that it works again. It does not throw. */
  probe(): void;
  /** Releases what the source holds. Every later draw throws. */
  close(): void;
}
