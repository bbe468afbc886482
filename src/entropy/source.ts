/** What every entropy source is, whatever stands behind it. */

/** Sources that each generator reads for itself, at the moment of the draw. */
export type DirectName = 'os' | 'quantum-simulator';

/** Sources that are read in a thread of their own, into a pool. */
export type BackgroundName = 'jitter' | 'device' | 'ibm-quantum' | 'qrng';

/** The names a client or operator may write; each has one row in `registry.ts`. */
export type SourceName = DirectName | BackgroundName;

export type SourceKind = 'system' | 'noise' | 'quantum-simulator' | 'quantum-hardware';

/** One single-use output of a source. The receiver owns `bytes` and MUST wipe them. */
export interface Draw {
  readonly bytes: Buffer;
  /** Min-entropy credited to this draw, in bits: a claim of the source's assessment. */
  readonly creditBits: number;
  /** Whether there is an argument that its noise is apart from the machine's own, so that credits may be added. */
  readonly isSeparate: boolean;
  /** The hardware job behind the draw, when there is one. */
  readonly jobId: string | null;
}

/** Where a source stands. `starting`: its start-up tests run. `latched`: it failed for good. */
export const SOURCE_STATES = ['starting', 'delivering', 'failing', 'latched', 'closed'] as const;
export type SourceState = (typeof SOURCE_STATES)[number];

/** What may be shown about a source. It MUST NOT hold output bytes. */
export interface SourceStatus {
  readonly name: SourceName;
  readonly kind: SourceKind;
  readonly state: SourceState;
  readonly healthy: boolean;
  readonly creditBitsPerDraw: number;
  readonly draws: number;
  readonly failures: number;
  /** Draws that wait to be taken, and how many may; sources that are read on demand have none. */
  readonly pool?: { readonly waiting: number; readonly capacity: number };
  /** Why the source is not healthy. */
  readonly detail?: string;
}

export interface EntropySource {
  readonly name: SourceName;
  readonly kind: SourceKind;
  /** Fresh bytes, or `AppError('entropy_unavailable')`; never a silent substitute. */
  draw(): Draw;
  status(): SourceStatus;
  /** Lets a source that failed show that it works again. It does not throw. */
  probe(): void;
  /** Releases what the source holds. Every later draw throws. */
  close(): void;
}
