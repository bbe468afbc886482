/** What a caller asks of the generation path, and what the path hands on. */
import type { ComplianceLevel, Gate, Grade, SuiteReport } from '#sp800-22';
import type { SourceName } from '../entropy/index.ts';
import type { QuotaExceeded, RecordedEvidence, StreamCounts, Usage } from '../ledger/index.ts';
import type { ModulationType } from '../modulation/index.ts';
import type { Commitment } from '../proof/index.ts';

export const SECURITY_LEVELS = [128, 256, 384] as const;
export type SecurityLevel = (typeof SECURITY_LEVELS)[number];

export interface KeyOrder {
  readonly securityLevel: SecurityLevel;
  readonly modulation: ModulationType;
  readonly source: SourceName;
  /** Gather statistical evidence: run the suite on the stream the key is cut from, before its modulation. */
  readonly withEvidence: boolean;
  /** With `withEvidence`: hand on the full report, not its summary alone. */
  readonly report: boolean;
  /** When the request was accepted, on the monotonic clock of `clock.ts`. */
  readonly acceptedMs: number;
}

/** What the statistical suite said of the stream a key was cut from, before its modulation. */
export interface Evidence extends RecordedEvidence {
  readonly complianceLevel: ComplianceLevel;
  readonly score: number;
  readonly grade: Grade;
}

/** The full reports on the stream a key was cut from: counts and p-values, no bits. */
export interface StreamReport {
  readonly carrier: SuiteReport;
  /** Four tests on the modulated sample; null without modulation. */
  readonly modulated: SuiteReport | null;
  readonly gate: Gate;
  /** Streams drawn for this key: 2 when the first one failed the gate and was dropped. */
  readonly streamsJudged: number;
}

/** A key with everything that is said of it. The receiver owns `key` and MUST wipe it. */
export interface GeneratedKey {
  readonly key: Uint8Array;
  /** The key's length, or the strength of its generator if that is less. */
  readonly securityStrengthBits: number;
  readonly entropyBits: number;
  readonly entropyJobId: string | null;
  readonly evidence: Evidence | null;
  /** Null unless the order asks for it. */
  readonly report: StreamReport | null;
  readonly hashProof: string;
  readonly commitment: Commitment;
  readonly latencyMs: number;
}

/** What leaves with a key once it is recorded. */
export type ReleasedKey = Omit<GeneratedKey, 'commitment'>;

/** What the ledger stores about a key: never the key itself, and of the report only the summary and the p-values. */
export type KeyToRecord = Omit<GeneratedKey, 'key' | 'report'>;

/** Counts streams while a key is being made, so that a failure can be recorded with them. */
export type StreamTally = { -readonly [K in keyof StreamCounts]: StreamCounts[K] };

/** A generated key that is recorded. The receiver owns `generated.key` and MUST wipe it. */
export type GenerateOutcome =
  | {
      readonly kind: 'generated';
      readonly keyId: string;
      readonly generated: ReleasedKey;
      readonly usage: Usage;
    }
  | QuotaExceeded;
