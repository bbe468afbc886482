/** Requests and rows in the form that `COMMIT_BATCH` reads. */
import { NEW_COLUMNS } from '../key-columns.ts';
import { latencyBucket } from '../latency.ts';
import type { LedgerRow, PendingEntry } from '../ledger-row.ts';
import { neededByKeys } from '../needed-program.ts';
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
    ...rowColumns(row),
    needs: neededByKeys([row]),
    latency_bucket: latencyBucket(row.latencyUs),
    ...(row.receipt?.pending && entryColumns(row.receipt.pending)),
  }));
}

/** Leaves out what is null: a missing member is the same. */
function rowColumns(row: LedgerRow): Record<string, unknown> {
  const columns: Record<string, unknown> = {};
  for (const { name, valueIn } of NEW_COLUMNS) {
    const value = valueIn(row);
    if (value instanceof Uint8Array) columns[name] = bytea(value);
    else if (value !== null) columns[name] = typeof value === 'bigint' ? String(value) : value;
  }
  return columns;
}

/** The entry ID is the key ID. */
function entryColumns({ logId, entry, mac, secretVersion }: PendingEntry): Record<string, unknown> {
  return { log_id: logId, entry: bytea(entry), mac: bytea(mac), mac_version: secretVersion };
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
