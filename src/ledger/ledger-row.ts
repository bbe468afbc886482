/** Rows of keys, as they are written and as they are read, and the log entries that wait beside them. */
import type { Commitment } from '../proof/index.ts';

/** The ledger's record of one generated key. */
export interface LedgerRow {
  /** UUIDv7, 16 bytes. */
  readonly keyId: Uint8Array;
  /** Keyed digest of the key, with the version of the master secret behind it. */
  readonly commitment: Commitment;
  /**
   * Keyed digests of the same key under the other versions of the master secret that the server holds. The store refuses the
   * key if it has a row of any of them, and keeps none.
   */
  readonly otherCommitments: readonly Commitment[];
  readonly securityLevel: number;
  readonly modulation: string;
  readonly source: string;
  readonly createdMs: number;
  readonly latencyUs: number;
  readonly entropyBits: number;
  readonly entropyJobId: string | null;
  /** Null for a plain key. */
  readonly evidence: RecordedEvidence | null;
  /** Null for a key that was returned in plaintext. */
  readonly sealed: RowSeal | null;
  /** What the caller calls the key: a canonical JSON object (RFC 8785) of strings; null without labels. */
  readonly labels: string | null;
  /** The key is deactivated from this time on; null: never. */
  readonly expiresMs: number | null;
  /** Null without a log. */
  readonly receipt: RowReceipt | null;
}

/** The recipients of a sealed key and the digests of what was sent. Independent of a log. */
export interface RowSeal extends RowDelivery {
  /** Thumbprint of the first recipient: SHA-256 of the public key, 32 bytes. */
  readonly recipient: Uint8Array;
  /** SHA-256 of encapsulation and ciphertext for the first recipient, 32 bytes. */
  readonly digest: Uint8Array;
  /** Thumbprint and digest, 64 bytes, of each further recipient; null without one. `sealsOf` splits it. */
  readonly further: Uint8Array | null;
}

/** The delivery of a sealed key: what the sealed copies and the statement say of it. Null without one. */
export interface RowDelivery {
  /** A UUID, 16 bytes. */
  readonly deliveryId: Uint8Array | null;
  /** 32 bytes that the caller gave; null without. */
  readonly deliveryContext: Uint8Array | null;
}

/** The ledger's record of the evidence for a validated key. */
export interface RecordedEvidence {
  /**
   * Which streams were tested and how: `EVIDENCE_DEFINITION` of `keys/evidence.ts` at the time of the key.
   */
  readonly definition: number;
  readonly gateP: number;
  readonly testsPassed: number;
  readonly totalTests: number;
  /** The p-values of both streams, packed by `keys/p-values.ts`. */
  readonly pValues: Uint8Array;
}

/** The part of a ledger row from which, with the rest of the row, its statement can be rebuilt. */
export interface RowReceipt {
  /** 32 bytes. */
  readonly keyCommitment: Uint8Array;
  /** 32 random bytes that blind the entry. */
  readonly salt: Uint8Array;
  readonly strengthBits: number;
  /** Names and credited bits of the entropy sources, such as `os:256,jitter:12.5`. */
  readonly sources: string;
  /** From `registerSoftware`. */
  readonly softwareId: number;
  /** The entry of this key. The store takes its entry ID from the row's key ID. Null: none is logged. */
  readonly pending: PendingEntry | null;
}

/** An entry that waits for a turn. */
export interface PendingEntry {
  /** 16 bytes: the key ID of a key, the audit ID of an audit record. */
  readonly entryId: Uint8Array;
  /** The log that the entry was made for. */
  readonly logId: number;
  readonly kind: 'key' | 'audit';
  /** SHA-256 of the canonical statement, 32 bytes. */
  readonly entry: Uint8Array;
  /** MAC over entry ID and entry under a subkey of the master secret, 32 bytes. */
  readonly mac: Uint8Array;
  /** The version of the master secret behind `mac`. */
  readonly secretVersion: number;
}

/** A stored row: every immutable column, from which its statement is rebuilt. */
export interface RecordedRow extends Omit<LedgerRow, 'receipt' | 'otherCommitments'> {
  readonly accountId: string;
  readonly apiKeyId: string;
  /** Null for a row that was written without a log. `evidence.pValues` is empty if the ledger has none. */
  readonly receipt: RecordedReceipt | null;
}

/** A stored row's receipt columns. */
export interface RecordedReceipt extends Omit<RowReceipt, 'softwareId' | 'pending'> {
  /** The name that `registerSoftware` got. */
  readonly software: string;
}
