/** Statements that change API keys in PostgreSQL. */
import { type NewApiKey, type Rotation, SETTING_COLUMNS, settingValues } from '../api-keys.ts';
import { requirement } from '../migrations.ts';
import { neededBySettings } from '../needed-program.ts';
import { counted, countOf, type Statement } from './audit.ts';

/** Columns that a rotation copies. The ledger needs the programs that know their values since they were set. */
const COPIED = SETTING_COLUMNS.replace('expires_ms, ', '');

/** Skips API keys that another session locks: the next hour notes them. */
export const NOTE_USES: string = counted(
  [
    `old AS (SELECT api_key_id FROM api_keys
      WHERE api_key_id = ANY ($1::text[]) AND coalesce(last_used_hour < $2, true)
      FOR NO KEY UPDATE SKIP LOCKED)`,
    `noted AS (UPDATE api_keys SET last_used_hour = $2 FROM old WHERE api_keys.api_key_id = old.api_key_id RETURNING 1)`,
  ],
  'SELECT FROM noted',
  [['api_keys', countOf('old'), countOf('noted')]],
);

export function addition(record: NewApiKey, keyHash: Uint8Array): Statement {
  const { apiKeyId, accountId, hint, createdMs, revokedMs, ...settings } = record;
  const sql = `INSERT INTO api_keys (api_key_id, account_id, key_hash, hint, created_ms, revoked_ms, ${SETTING_COLUMNS})
     SELECT $1, account_id, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13
     FROM accounts WHERE account_id = $14 AND deleted_ms IS NULL FOR SHARE
     ON CONFLICT DO NOTHING RETURNING true AS is_new`;
  const values = [apiKeyId, keyHash, hint, createdMs, revokedMs, ...settingValues(settings)];
  const needed = neededBySettings(settings);
  const also = needed > 0 ? requirement(needed) : undefined;
  return { sql, values: [...values, accountId], also };
}

/**
 * Locks the account and then the old API key, as a deletion does. So a deletion revokes the new API key too, or the rotation
 * finds the account deleted, and of two rotations one finds the API key replaced.
 */
export function rotationStatement(rotation: Rotation): Statement {
  const { apiKeyId, next, keyHash, atMs, untilMs, expiresMs } = rotation;
  const parts = [
    `account AS (
      SELECT account_id FROM accounts
      WHERE account_id = (SELECT account_id FROM api_keys WHERE api_key_id = $1) AND deleted_ms IS NULL
      FOR SHARE)`,
    `old AS (
      SELECT * FROM api_keys WHERE api_key_id = $1 AND revoked_ms IS NULL AND replaced_by IS NULL
        AND coalesce(expires_ms > $5::bigint, true) AND EXISTS (SELECT FROM account)
      FOR UPDATE)`,
    `added AS (
      INSERT INTO api_keys (api_key_id, account_id, key_hash, hint, created_ms, counter_id, expires_ms, ${COPIED})
      SELECT $2, account_id, $3, $4, $5::bigint, coalesce(counter_id, api_key_id),
        CASE WHEN $7::boolean THEN expires_ms ELSE $8::bigint END, ${COPIED}
      FROM old RETURNING 1)`,
  ];
  const sql = `UPDATE api_keys SET replaced_by = $2,
      revoked_ms = CASE WHEN $6::bigint <= $5::bigint THEN $6::bigint END,
      expires_ms = CASE WHEN $6::bigint <= $5::bigint THEN old.expires_ms ELSE least(old.expires_ms, $6::bigint) END
    FROM old WHERE api_keys.api_key_id = old.api_key_id RETURNING true AS is_new`;
  const values = [apiKeyId, next.apiKeyId, keyHash, next.hint, atMs, untilMs];
  return {
    parts,
    sql,
    // The old API key changes, and a new one is added.
    must: ['api_keys', `SELECT 2 * (${countOf('old')}) - (${countOf('added')})`],
    values: [...values, expiresMs === undefined, expiresMs ?? null],
  };
}
