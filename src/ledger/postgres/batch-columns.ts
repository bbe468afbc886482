/** Requests and rows in the form that `COMMIT_BATCH` reads. */
import { latencyBucket } from '../latency.ts';
import type { RowReceipt } from '../ledger-row.ts';
import type { FailedRequest, MeteredRequest } from '../store.ts';
import { bytea } from './connection.ts';

export function requestColumns(request: MeteredRequest, position: number): Record<string, unknown> {
  const { accountId, apiKeyId, atMs, keys, counts, idempotency, apiKeyLimit } = request;
  return {
    position,
    account_id: accountId,
    api_key_id: apiKeyId,
    at_ms: atMs,
    keys: keys.length,
    streams: counts.streams,
    streams_passed: counts.streamsPassed,
    idempotency_key: idempotency?.key,
    counter_id: apiKeyLimit?.counterId,
    api_key_limit: apiKeyLimit?.limit,
  };
}

export function keyColumns({ keys }: MeteredRequest, position: number): Record<string, unknown>[] {
  return keys.map((row) => ({
    position,
    key_id: bytea(row.keyId),
    fingerprint: String(row.commitment.fingerprint),
    commitment: bytea(row.commitment.digest),
    secret_version: row.commitment.version,
    security_level: row.securityLevel,
    modulation: row.modulation,
    source: row.source,
    created_ms: row.createdMs,
    latency_us: row.latencyUs,
    latency_bucket: latencyBucket(row.latencyUs),
    entropy_bits: row.entropyBits,
    entropy_job_id: row.entropyJobId,
    gate_p: row.evidence?.gateP ?? null,
    tests_passed: row.evidence?.testsPassed ?? null,
    total_tests: row.evidence?.totalTests ?? null,
    p_values: row.evidence && bytea(row.evidence.pValues),
    evidence_definition: row.evidence?.definition ?? null,
    sealed_to: row.sealed && bytea(row.sealed.recipient),
    sealed_digest: row.sealed && bytea(row.sealed.digest),
    // Absent if null: JSON leaves them out.
    labels: row.labels ?? undefined,
    expires_ms: row.expiresMs ?? undefined,
    ...(row.receipt && receiptColumns(row.receipt)),
  }));
}

/** The entry ID is the key ID. */
function receiptColumns(receipt: RowReceipt): Record<string, unknown> {
  const { keyCommitment, salt, strengthBits, sources, softwareId, pending } = receipt;
  return {
    key_commitment: bytea(keyCommitment),
    salt: bytea(salt),
    strength_bits: strengthBits,
    sources,
    software_id: softwareId,
    ...(pending && {
      log_id: pending.logId,
      entry: bytea(pending.entry),
      mac: bytea(pending.mac),
      mac_version: pending.secretVersion,
    }),
  };
}

export function failureColumns({
  accountId,
  atMs,
  counts,
}: FailedRequest): Record<string, unknown> {
  return {
    account_id: accountId,
    at_ms: atMs,
    streams: counts.streams,
    streams_passed: counts.streamsPassed,
  };
}
