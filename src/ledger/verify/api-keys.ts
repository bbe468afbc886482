/** Compares API keys with their audit records. `phm log check` also checks the records, and finds inserted API keys. */
import { API_KEY_ACTIONS, ApiKeyHistories } from '../api-key-history.ts';
import { SELECT_API_KEYS, toApiKeyRecord } from '../api-keys.ts';
import type { AuditAction } from '../log-store.ts';
import { type Findings, unsound } from './findings.ts';
import type { Ask } from './sums.ts';

const RECORDS = `SELECT at_ms AS "atMs", action, details FROM audit
  WHERE action IN (${API_KEY_ACTIONS.map((action) => `'${action}'`).join(', ')})`;

const DIFFERS = unsound('api_keys: an API key differs from its audit records');

export async function checkApiKeys(ask: Ask, findings: Findings): Promise<void> {
  const histories = new ApiKeyHistories();
  for (const { atMs, action, details } of await ask(RECORDS)) {
    histories.note({
      atMs: Number(atMs),
      action: action as AuditAction,
      details: String(details),
    });
  }
  const apiKeys = (await ask(SELECT_API_KEYS)).map(toApiKeyRecord);
  for (const apiKeyId of histories.wrong(apiKeys)) findings.add(DIFFERS, apiKeyId);
}
