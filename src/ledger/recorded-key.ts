/** What an operator looks up of one recorded key. */
import { type Row, SEAL_PLACES, selection, toRecipients } from './recorded-row.ts';

/** Fields of one recorded key that an operator can look up. */
export interface RecordedKey {
  readonly accountId: string;
  /** Null if the ledger has no such account. */
  readonly accountName: string | null;
  readonly apiKeyId: string;
  readonly createdMs: number;
  readonly securityLevel: number;
  readonly modulation: string;
  /** True for a validated key. */
  readonly hasEvidence: boolean;
  /** Thumbprints of the recipients, 32 bytes each, in the order of the request; none for a key that was returned in plaintext. */
  readonly recipients: readonly Uint8Array[];
}

/** The columns of `toRecordedKey`, of the tables `ledger` and `accounts`. */
export const RECORDED_KEY_COLUMNS: string = `ledger.account_id AS "accountId", accounts.name AS "accountName",
  ledger.api_key_id AS "apiKeyId", ledger.created_ms AS "createdMs", ledger.security_level AS "securityLevel",
  ledger.modulation AS modulation, ledger.gate_p IS NOT NULL AS "hasEvidence", ${selection(SEAL_PLACES)}`;

export function toRecordedKey(row: Row): RecordedKey {
  return {
    accountId: String(row.accountId),
    accountName: row.accountName as string | null,
    apiKeyId: String(row.apiKeyId),
    createdMs: Number(row.createdMs),
    securityLevel: Number(row.securityLevel),
    modulation: String(row.modulation),
    hasEvidence: Boolean(row.hasEvidence),
    recipients: toRecipients(row),
  };
}
