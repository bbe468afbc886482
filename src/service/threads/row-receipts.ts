/** Receipt columns of new rows: the key worker computes a key's entry before it records the key. */
import type { KeyToRecord } from '../../keys/order.ts';
import { keyEntry } from '../../keys/statement.ts';
import type { LedgerRow, RecordedReceipt, RowReceipt } from '../../ledger/index.ts';
import type { Keyring } from '../../proof/index.ts';
import type { LogBinding, Requester } from '../messages.ts';

export class RowReceipts {
  readonly #log: LogBinding;
  readonly #keyring: Keyring;

  constructor(log: LogBinding, keyring: Keyring) {
    this.#log = log;
    this.#keyring = keyring;
  }

  /**
   * Returns the receipt columns of a new row, with its pending entry and the MAC under the current version of the
   * master secret. Returns null for a key that was generated without a log.
   */
  receiptOf(
    { accountId, apiKeyId }: Requester,
    columns: Omit<LedgerRow, 'receipt'>,
    { receipt: fixed, securityStrengthBits: strengthBits }: KeyToRecord,
  ): RowReceipt | null {
    if (!fixed) return null;
    const { logId, origin, software, softwareId } = this.#log;
    const receipt: RecordedReceipt = { ...fixed, strengthBits, software };
    const entry = keyEntry({ ...columns, accountId, apiKeyId, receipt }, origin);
    const { currentVersion: secretVersion } = this.#keyring;
    const entryId = columns.keyId;
    const mac = this.#keyring.logMac(secretVersion, entryId, entry);
    const pending = { entryId, logId, kind: 'key', entry, mac, secretVersion } as const;
    return { ...fixed, strengthBits, softwareId, pending };
  }
}
