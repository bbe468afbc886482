/** Input and results of the generation path. */
import type { ComplianceLevel, Gate, Grade, SuiteReport } from '#sp800-22';
import type { SourceName } from '../entropy/index.ts';
import type { QuotaExceeded, RecordedEvidence, StreamCounts, Usage } from '../ledger/index.ts';
import type { ModulationType } from '../modulation/index.ts';
import type { Commitment } from '../proof/index.ts';
import type { KeyReceipt } from './key-receipt.ts';

export const SECURITY_LEVELS = [128, 256, 384] as const;
export type SecurityLevel = (typeof SECURITY_LEVELS)[number];

export interface KeyOrder {
  readonly securityLevel: SecurityLevel;
  readonly modulation: ModulationType;
  readonly source: SourceName;
  /** True to run the suite on the key's stream, before modulation. */
  readonly withEvidence: boolean;
  /** With `withEvidence`, true to return the full report and not only its summary. */
  readonly report: boolean;
  /** True to return the opening of the key's commitment, which a receipt needs. */
  readonly receipt: boolean;
  /** Time at which the request was accepted, on the monotonic clock of `clock.ts`. */
  readonly acceptedMs: number;
}

/** Summary of the statistical suite on a key's stream, before modulation. */
export interface Evidence extends RecordedEvidence {
  readonly complianceLevel: ComplianceLevel;
  readonly score: number;
  readonly grade: Grade;
}

/** Full reports on a key's stream: counts and p-values, no bits. */
export interface StreamReport {
  readonly carrier: SuiteReport;
  /** Four tests on the modulated sample; null without modulation. */
  readonly modulated: SuiteReport | null;
  readonly gate: Gate;
  /** `EVIDENCE_DEFINITION`, which the ledger stores too. */
  readonly definition: number;
  /** Number of streams drawn for this key: 2 if the first one failed the gate. */
  readonly streamsJudged: number;
}

/** A key with its proof, evidence and credit. The receiver owns `key` and `opening` and MUST wipe them. */
export interface GeneratedKey {
  /** UUIDv7, 16 bytes. */
  readonly keyId: Uint8Array;
  readonly key: Uint8Array;
  /** Opens the key's commitment, 32 bytes. Null without a log, and unless the order asks for a receipt. */
  readonly opening: Uint8Array | null;
  /** Null without a log. */
  readonly receipt: KeyReceipt | null;
  /** The lesser of the key's length and the strength of its generator, in bits. */
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

/** A generated key as it leaves the process, after the commit. */
export type ReleasedKey = Omit<GeneratedKey, 'keyId' | 'commitment' | 'receipt'>;

/** Data for the ledger: never the key or its opening, and of the report only the summary and the p-values. */
export type KeyToRecord = Omit<GeneratedKey, 'key' | 'opening' | 'report'>;

/** Counts judged streams while a key is generated, so that a failure can be recorded with them. */
export type StreamTally = { -readonly [K in keyof StreamCounts]: StreamCounts[K] };

/** Outcome of a request for a key: a recorded key or a quota refusal. The receiver MUST pass `generated` to `wipeKey`. */
export type GenerateOutcome =
  | {
      readonly kind: 'generated';
      readonly keyId: string;
      /** The row's time: when the request was accepted, in ms. */
      readonly createdMs: number;
      readonly generated: ReleasedKey;
      readonly usage: Usage;
    }
  | QuotaExceeded;
