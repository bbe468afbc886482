/** Rows of new keys, with their entries in the log: each thread that generates keys computes the rows of its keys. */
import type { KeyOrder, KeyToRecord } from '../../keys/order.ts';
import { keyEntry } from '../../keys/statement.ts';
import type { LedgerRow, RecordedReceipt, RowReceipt, RowSeal } from '../../ledger/index.ts';
import type { Keyring } from '../../proof/index.ts';
import type { LogBinding, Requester } from './messages.ts';

export class KeyRows {
  readonly #log: LogBinding | null;
  readonly #keyring: Keyring;

  /** `log` is null without a log; rows then have no receipt columns. */
  constructor(log: LogBinding | null, keyring: Keyring) {
    this.#log = log;
    this.#keyring = keyring;
  }

  /** True if keys need what a receipt needs. */
  get hasLog(): boolean {
    return this.#log !== null;
  }

  /** Origin of the log; null without. */
  get origin(): string | null {
    return this.#log?.origin ?? null;
  }

  /** Returns the row of a key. `sealed` is null for a key in plaintext. */
  rowOf(
    requester: Requester,
    order: KeyOrder,
    generated: KeyToRecord,
    sealed: RowSeal | null = null,
  ): LedgerRow {
    const columns: Omit<LedgerRow, 'receipt'> = {
      keyId: generated.keyId,
      commitment: generated.commitment,
      otherCommitments: generated.otherCommitments,
      securityLevel: order.securityLevel,
      modulation: order.modulation,
      source: order.source,
      createdMs: requester.atMs,
      latencyUs: Math.round(generated.latencyMs * 1000),
      entropyBits: generated.entropyBits,
      entropyJobId: generated.entropyJobId,
      evidence: generated.evidence,
      sealed,
      labels: order.labels,
      expiresMs: order.expiresMs,
    };
    return { ...columns, receipt: this.#receiptOf(requester, columns, generated) };
  }

  /**
   * Returns the receipt columns of a new row, with its pending entry and the MAC under the current version of the
   * master secret. Returns null without a log, and for a key that was generated without one.
   */
  #receiptOf(
    { accountId, apiKeyId }: Requester,
    columns: Omit<LedgerRow, 'receipt'>,
    { receipt: fixed, securityStrengthBits: strengthBits, keyIdText }: KeyToRecord,
  ): RowReceipt | null {
    if (!this.#log || !fixed) return null;
    const { logId, origin, software, softwareId } = this.#log;
    const receipt: RecordedReceipt = { ...fixed, strengthBits, software };
    const entry = keyEntry({ ...columns, accountId, apiKeyId, receipt }, origin, keyIdText);
    const { currentVersion: secretVersion } = this.#keyring;
    const entryId = columns.keyId;
    const mac = this.#keyring.logMac(secretVersion, entryId, entry);
    const pending = { entryId, logId, kind: 'key', entry, mac, secretVersion } as const;
    return { ...fixed, strengthBits, softwareId, pending };
  }
}
