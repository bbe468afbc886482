/**
 * The statements that insert the rows of `ledger` and `validated_keys`, with the values that they take.
 */
import type { SQLInputValue } from 'node:sqlite';
import type { LedgerRow, RecordedEvidence } from '../ledger-row.ts';
import type { MeteredRequest } from '../store.ts';
import { insertion } from './insertion.ts';

export const INSERT_LEDGER = insertion(
  'INTO ledger',
  `key_id, fingerprint, commitment, secret_version, account_id, api_key_id, security_level,
   modulation, source, created_ms, latency_us, entropy_bits, entropy_job_id, gate_p, tests_passed,
   total_tests, evidence_definition, sealed_to, sealed_digest, key_commitment, salt, strength_bits,
   sources, software_id, labels, expires_ms`,
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
  const { commitment, evidence, sealed, receipt } = row;
  return [
    row.keyId,
    commitment.fingerprint,
    commitment.digest,
    commitment.version,
    accountId,
    apiKeyId,
    row.securityLevel,
    row.modulation,
    row.source,
    row.createdMs,
    row.latencyUs,
    row.entropyBits,
    row.entropyJobId,
    evidence?.gateP ?? null,
    evidence?.testsPassed ?? null,
    evidence?.totalTests ?? null,
    evidence?.definition ?? null,
    sealed?.recipient ?? null,
    sealed?.digest ?? null,
    receipt?.keyCommitment ?? null,
    receipt?.salt ?? null,
    receipt?.strengthBits ?? null,
    receipt?.sources ?? null,
    receipt?.softwareId ?? null,
    row.labels,
    row.expiresMs,
  ];
}

/** Returns the values of `INSERT_VALIDATED`. */
export function validatedValues(
  accountId: string,
  keyId: Uint8Array,
  { pValues, definition }: RecordedEvidence,
): SQLInputValue[] {
  return [accountId, keyId, pValues, definition];
}
