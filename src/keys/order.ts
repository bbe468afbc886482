/** Input and results of the generation path. */
import type { Recipient, SealedKey } from '#sealing';
import type { ComplianceLevel, Gate, Grade, SuiteReport } from '#sp800-22';
import type { SourceName } from '../entropy/index.ts';
import type {
  DeliveryRefused,
  QuotaExceeded,
  RecordedEvidence,
  StreamCounts,
  Usage,
} from '../ledger/index.ts';
import type { ModulationType } from '../modulation/index.ts';
import type { Commitment } from '../proof/index.ts';
import type { KeyReceipt } from './key-receipt.ts';

export type { Recipient };

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
  /** What the caller calls the key, as in `LedgerRow`. */
  readonly labels: string | null;
  /** The key is deactivated from this time on; null: never. */
  readonly expiresMs: number | null;
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
  /** The key ID as text. */
  readonly keyIdText: string;
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
  /** Under the other retained versions of the master secret. They are compared and not stored. */
  readonly otherCommitments: readonly Commitment[];
  /** What the answer must fit: `answerDigest`, 16 bytes. */
  readonly answerDigest: Uint8Array;
  readonly latencyMs: number;
}

/** What the response says about a key besides the key. */
export interface KeyFacts
  extends Pick<
    GeneratedKey,
    'securityStrengthBits' | 'entropyBits' | 'entropyJobId' | 'evidence' | 'report' | 'latencyMs'
  > {
  /** Key ID as text. */
  readonly keyId: string;
}

/** A generated key as it leaves the process, after the commit. The receiver MUST pass it to `wipeKey`. */
export interface ReleasedKey extends KeyFacts, Pick<GeneratedKey, Answered> {}

/** The members of a key that only an answer in plaintext has. */
export type Answered = 'key' | 'opening' | 'hashProof' | 'answerDigest';

/** A sealed key for the response. It holds no secret: only the recipients can open `sealedKeys`. */
export interface SealedResponseKey extends KeyFacts {
  /** One for each recipient, in the order of the request. */
  readonly sealedKeys: readonly SealedKey[];
}

/** Returns what the response says about a key besides the key. */
export function keyFacts(generated: Omit<GeneratedKey, Answered>): KeyFacts {
  // Fields by name: rest and spread of so many fields cost a microsecond a key (bench/key-path.ts).
  return {
    keyId: generated.keyIdText,
    securityStrengthBits: generated.securityStrengthBits,
    entropyBits: generated.entropyBits,
    entropyJobId: generated.entropyJobId,
    evidence: generated.evidence,
    report: generated.report,
    latencyMs: generated.latencyMs,
  };
}

/** Returns what leaves the process of a key. It shares the buffers. */
export function releasedKey(generated: GeneratedKey): ReleasedKey {
  const { key, opening, hashProof, answerDigest } = generated;
  return { ...keyFacts(generated), key, opening, hashProof, answerDigest };
}

/** Data for the ledger: never the key or its opening, and of the report only the summary and the p-values. */
export type KeyToRecord = Omit<GeneratedKey, Answered | 'report'>;

/** Counts judged streams while a key is generated, so that a failure can be recorded with them. */
export type StreamTally = { -readonly [K in keyof StreamCounts]: StreamCounts[K] };

/** A recipient by its public key, or by the name that the account registered. */
export type SealTo = Recipient | { readonly recipient: string };

/** What makes a request safe to retry. */
export interface Idempotency {
  /** The caller's `Idempotency-Key`: 1 to 255 visible ASCII characters. */
  readonly key: string;
  /** SHA-256 of what the request asks for, 32 bytes. */
  readonly requestHash: Uint8Array;
}

/** A request for one key or a batch of equal keys. */
export interface KeyRequest {
  readonly order: KeyOrder;
  /** 1 to 1,000. */
  readonly count: number;
  /** True for the batch endpoints, even if `count` is 1. */
  readonly isBatch: boolean;
  /** One to eight recipients; null for keys in plaintext. */
  readonly sealTo: readonly SealTo[] | null;
  /** Null without an `Idempotency-Key`. */
  readonly idempotency: Idempotency | null;
  /** Null for keys that no recipient fetches here. With it, all recipients are named. */
  readonly delivery: KeyDelivery | null;
}

/** Names the deliveries of keys, as their sealed copies state them. */
export interface DeliveryNames {
  /** UUIDs of 16 bytes, one for each key. */
  readonly ids: readonly Uint8Array[];
  /** 32 bytes of the caller; null without. */
  readonly context: Uint8Array | null;
}

/** Keeps a sealed copy of each key for each recipient. */
export interface KeyDelivery extends DeliveryNames {
  readonly forMs: number;
}

/** Returns when the copies of a request expire: no later than its keys. */
export function deliveredUntilMs(
  { order: { expiresMs }, delivery }: Pick<KeyRequest, 'order' | 'delivery'>,
  atMs: number,
): number {
  const endMs = atMs + (delivery?.forMs ?? 0);
  return expiresMs === null ? endMs : Math.min(endMs, expiresMs);
}

/** Most keys of one request. */
export const MAX_BATCH_KEYS = 1_000;

/** Most sealed keys of one response: each key has one for each recipient. */
export const MAX_SEALED_COPIES = MAX_BATCH_KEYS;

/** Keys in plaintext, recorded. The receiver MUST pass each to `wipeKey`. */
export interface GeneratedOutcome {
  readonly kind: 'generated';
  /** The rows' time: when the request was accepted, in ms. */
  readonly createdMs: number;
  /** In the order of their generation. */
  readonly keys: readonly ReleasedKey[];
  readonly usage: Usage;
}

/** Recorded keys that may still have to be withheld. */
export interface Withholdable {
  /**
   * Reports whether no sample of the generator behind these keys has failed since they were made. It MUST be asked after
   * each wait before the answer.
   */
  readonly mayRelease: () => boolean;
  /** Removes the answer that is kept for retries, if there is one: no retry may get what this request did not. */
  readonly withdraw?: () => Promise<void>;
}

/** Sealed keys, recorded now or by an earlier request with the same `Idempotency-Key`. */
export interface SealedOutcome {
  readonly kind: 'sealed';
  readonly createdMs: number;
  readonly keyIds: readonly string[];
  /** The response without receipts, as the first answer had it. */
  readonly body: string;
  readonly usage: Usage;
  readonly replayed: boolean;
}

/** An earlier request with the same `Idempotency-Key` got these keys in plaintext. They cannot be given again. */
export interface KeyAlreadyMade {
  readonly kind: 'key_already_made';
  readonly keyIds: readonly string[];
  readonly createdMs: number;
  readonly usage: Usage;
}

/** Outcome of a request for keys. */
export type GenerateOutcome =
  | (GeneratedOutcome & Withholdable)
  | (SealedOutcome & Withholdable)
  | KeyAlreadyMade
  /** The time of the order's expiry was up when the request was accepted. */
  | { readonly kind: 'expired'; readonly atMs: number }
  /** The account has no recipient of the name at this place of `sealTo`. */
  | { readonly kind: 'unknown_recipient'; readonly index: number }
  /** Both places of `sealTo` name one public key. */
  | { readonly kind: 'same_recipient'; readonly first: number; readonly second: number }
  /** Nothing can be sealed to the public key at this place of `sealTo`. `problem` is one sentence. */
  | { readonly kind: 'invalid_public_key'; readonly index: number; readonly problem: string }
  | BatchTooLarge
  | DeliveryRefused
  | QuotaExceeded;

export interface BatchTooLarge {
  readonly kind: 'batch_too_large';
  /** Largest count that fits, at least 1. */
  readonly maxCount: number;
  /**
   * `validation`: the suite workers cannot judge so many keys within the time limit of a request. `stored_answer`: the
   * response would be too large to keep for retries. `recipients`: there would be more than `MAX_SEALED_COPIES`.
   */
  readonly reason: 'validation' | 'stored_answer' | 'recipients';
}
