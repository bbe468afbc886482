/** API keys in SQLite. Changes run within a transaction of the caller. */
import {
  type ApiKeyRecord,
  type NewApiKey,
  type Rotation,
  SELECT_API_KEYS,
  SETTING_COLUMNS,
  settingValues,
  toApiKeyRecord,
} from '../api-keys.ts';
import { neededBySettings } from '../needed-program.ts';
import type { SqliteConnection } from './connection.ts';

/** Columns that a rotation copies. The ledger needs the programs that know their values since they were set. */
const COPIED = SETTING_COLUMNS.replace('expires_ms, ', '');

const END_BY_REVOCATION =
  'UPDATE api_keys SET replaced_by = ?, revoked_ms = ? WHERE api_key_id = ?';

const END_BY_EXPIRY = `UPDATE api_keys SET replaced_by = ?1, expires_ms = min(coalesce(expires_ms, ?2), ?2)
  WHERE api_key_id = ?3`;

export function addApiKey(
  connection: SqliteConnection,
  record: NewApiKey,
  keyHash: Uint8Array,
): boolean {
  const { apiKeyId, accountId, hint, createdMs, revokedMs, ...settings } = record;
  const isAdded = connection.changes(
    `INSERT INTO api_keys (api_key_id, account_id, key_hash, hint, created_ms, revoked_ms,
       ${SETTING_COLUMNS})
     SELECT ?, account_id, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
     FROM accounts WHERE account_id = ? AND deleted_ms IS NULL
     ON CONFLICT DO NOTHING`,
    ...[apiKeyId, keyHash, hint, createdMs, revokedMs, ...settingValues(settings), accountId],
  );
  if (isAdded) connection.requireProgram(neededBySettings(settings));
  return isAdded;
}

export function listApiKeys(connection: SqliteConnection, accountId?: string): ApiKeyRecord[] {
  return connection
    .all(
      `${SELECT_API_KEYS} WHERE ? IS NULL OR account_id = ? ORDER BY created_ms, api_key_id`,
      accountId ?? null,
      accountId ?? null,
    )
    .map(toApiKeyRecord);
}

export function findApiKey(connection: SqliteConnection, keyHash: Uint8Array): ApiKeyRecord | null {
  const row = connection.get(`${SELECT_API_KEYS} WHERE key_hash = ?`, keyHash);
  return row ? toApiKeyRecord(row) : null;
}

export function findApiKeyById(
  connection: SqliteConnection,
  apiKeyId: string,
): ApiKeyRecord | null {
  const row = connection.get(`${SELECT_API_KEYS} WHERE api_key_id = ?`, apiKeyId);
  return row ? toApiKeyRecord(row) : null;
}

export function hasOwnApiKeys(connection: SqliteConnection): boolean {
  const row = connection.get(
    `SELECT 1 FROM api_keys JOIN accounts ON accounts.account_id = api_keys.account_id
     WHERE accounts.demo = 0 LIMIT 1`,
  );
  return row !== undefined;
}

export function revokeApiKey(
  connection: SqliteConnection,
  apiKeyId: string,
  atMs: number,
): boolean {
  const update = 'UPDATE api_keys SET revoked_ms = coalesce(revoked_ms, ?) WHERE api_key_id = ?';
  return connection.changes(update, atMs, apiKeyId);
}

/** Returns false if the old API key cannot be rotated. */
export function rotateApiKey(connection: SqliteConnection, rotation: Rotation): boolean {
  const { apiKeyId, next, keyHash, atMs, untilMs, expiresMs } = rotation;
  const isAdded = connection.changes(
    `INSERT INTO api_keys (api_key_id, account_id, key_hash, hint, created_ms, counter_id, expires_ms, ${COPIED})
     SELECT ?, account_id, ?, ?, ?, coalesce(counter_id, api_key_id),
       CASE WHEN ? THEN expires_ms ELSE ? END, ${COPIED}
     FROM api_keys WHERE api_key_id = ? AND revoked_ms IS NULL AND replaced_by IS NULL
       AND coalesce(expires_ms > ?, true) AND account_id IN (
         SELECT account_id FROM accounts WHERE deleted_ms IS NULL)`,
    ...[next.apiKeyId, keyHash, next.hint, atMs],
    ...[expiresMs === undefined ? 1 : 0, expiresMs ?? null, apiKeyId, atMs],
  );
  if (!isAdded) return false;
  connection.run(
    untilMs <= atMs ? END_BY_REVOCATION : END_BY_EXPIRY,
    ...[next.apiKeyId, untilMs, apiKeyId],
  );
  return true;
}

export function noteApiKeyUses(
  connection: SqliteConnection,
  apiKeyIds: readonly string[],
  hour: number,
): void {
  connection.run(
    `UPDATE api_keys SET last_used_hour = ?1
     WHERE api_key_id IN (SELECT value FROM json_each(?2)) AND coalesce(last_used_hour < ?1, true)`,
    hour,
    JSON.stringify(apiKeyIds),
  );
}

/** Returns the requests that count against the monthly limit of a counter. */
export function readApiKeyUsed(
  connection: SqliteConnection,
  counterId: string,
  month: number,
): number {
  const read = 'SELECT used FROM api_key_usage WHERE api_key_id = ? AND month = ?';
  return Number(connection.get(read, counterId, month)?.used ?? 0);
}

/** Writes counters, within a transaction. */
export function writeApiKeyUsed(
  connection: SqliteConnection,
  counters: Iterable<{
    readonly counterId: string;
    readonly month: number;
    readonly used: number;
  }>,
): void {
  for (const { counterId, month, used } of counters) {
    connection.run(
      `INSERT INTO api_key_usage (api_key_id, month, used) VALUES (?, ?, ?)
       ON CONFLICT (api_key_id, month) DO UPDATE SET used = excluded.used`,
      counterId,
      month,
      used,
    );
  }
}
