/**
 * The statements that insert the rows of `ledger` and `validated_keys`, with the values that they take.
 */
import type { SQLInputValue } from 'node:sqlite';
import { NEW_COLUMNS } from '../key-columns.ts';
import type { LedgerRow, RecordedEvidence } from '../ledger-row.ts';
import type { MeteredRequest } from '../store.ts';
import { insertion } from './insertion.ts';

const COLUMNS = NEW_COLUMNS.filter(({ source }) => source === undefined);

export const INSERT_LEDGER = insertion(
  'INTO ledger',
  `account_id, api_key_id, ${COLUMNS.map(({ name }) => name).join(', ')}`,
);

export const INSERT_VALIDATED = insertion(
  'INTO validated_keys',
  'account_id, key_id, p_values, evidence_definition',
);

/** Returns the values of `INSERT_LEDGER`. */
export function ledgerValues(
  { accountId, apiKeyId }: MeteredRequest,
  row: LedgerRow,
): SQLInputValue[] {
  const values = COLUMNS.map(({ valueIn }) => valueIn(row) as SQLInputValue);
  return [accountId, apiKeyId, ...values];
}

/** Returns the values of `INSERT_VALIDATED`. */
export function validatedValues(
  accountId: string,
  keyId: Uint8Array,
  { pValues, definition }: RecordedEvidence,
): SQLInputValue[] {
  return [accountId, keyId, pValues, definition];
}
