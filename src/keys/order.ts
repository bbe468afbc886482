/** What a caller asks of the generation path, and what the path hands on. */
import type { SourceName } from '../entropy/index.ts';
import type { StreamCounts } from '../ledger/index.ts';
import type { ModulationType } from '../modulation/index.ts';
import type { Commitment } from '../proof/index.ts';
import type { ComplianceLevel, Grade } from '../sts/index.ts';

export const SECURITY_LEVELS = [128, 256, 384] as const;
export type SecurityLevel = (typeof SECURITY_LEVELS)[number];

export interface KeyOrder {
  readonly securityLevel: SecurityLevel;
  readonly modulation: ModulationType;
  readonly source: SourceName;
  /** Run the statistical suite on the stream the key is cut from. */
  readonly validate: boolean;
  /** When the request was accepted, on the monotonic clock of `clock.ts`. */
  readonly acceptedMs: number;
}

/** What the statistical suite said of the stream a key was cut from. */
export interface Evidence {
  readonly gateP: number;
  readonly testsPassed: number;
  readonly totalTests: number;
  readonly complianceLevel: ComplianceLevel;
  readonly score: number;
  readonly grade: Grade;
}

/** A key with everything that is said of it. The receiver owns `key` and MUST wipe it. */
export interface GeneratedKey {
  readonly key: Uint8Array;
  readonly entropyBits: number;
  readonly entropyJobId: string | null;
  readonly evidence: Evidence | null;
  readonly hashProof: string;
  readonly commitment: Commitment;
  readonly latencyMs: number;
}

/** Counts streams while a key is being made, so that a failure can be recorded with them. */
export type StreamTally = { -readonly [K in keyof StreamCounts]: StreamCounts[K] };
