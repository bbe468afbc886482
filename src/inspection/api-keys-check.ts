/** Checks API keys against the audit records of their issue, rotation and revocation, and of the deletion of their account. */
import { DEMO_ACCOUNTS } from '../accounts/index.ts';
import type { FindingKind, Findings } from '../ledger/admin.ts';
import {
  ApiKeyHistories,
  type ApiKeyRecord,
  type LedgerStore,
  type LogRecord,
} from '../ledger/index.ts';
import { allAudits } from './accounts-check.ts';

interface ApiKeysOrder {
  readonly store: LedgerStore;
  readonly logs: readonly LogRecord[];
  readonly findings: Findings;
}

const REMEDY =
  'The table was changed in the database. Revoke these API keys and issue others, or restore a backup.';

const CHANGED: FindingKind = {
  problem: 'API keys that differ from their audit records',
  remedy: REMEDY,
};
const INSERTED: FindingKind = {
  problem: 'API keys without an audit record of their issue',
  remedy: REMEDY,
};

/** Checks every API key, and that each API key with records is there. */
export async function checkApiKeys(order: ApiKeysOrder, histories: ApiKeyHistories): Promise<void> {
  const first = await judge(order, histories);
  if (first.size === 0) return;
  // A command may have changed an API key since the records were read.
  const again = new ApiKeyHistories();
  for await (const record of allAudits(order.store)) again.note(record);
  for (const [apiKeyId, kind] of await judge(order, again)) {
    if (first.has(apiKeyId)) order.findings.add(kind, apiKeyId);
  }
}

/** Returns what is wrong, by ID of the API key. */
async function judge(
  { store, logs }: ApiKeysOrder,
  histories: ApiKeyHistories,
): Promise<Map<string, FindingKind>> {
  const apiKeys = await store.listApiKeys();
  const loggedMs = logs[0]?.startedMs ?? 0;
  const wrong = new Map(histories.wrong(apiKeys).map((apiKeyId) => [apiKeyId, CHANGED]));
  for (const apiKey of apiKeys) {
    const { apiKeyId, createdMs } = apiKey;
    // Records of before the log may be missing: older programs wrote none.
    const needsRecord = createdMs >= loggedMs && !isDemo(apiKey);
    if (needsRecord && !histories.knows(apiKeyId)) wrong.set(apiKeyId, INSERTED);
  }
  return wrong;
}

/** Reports whether a server adds this API key, which makes no record. */
function isDemo({ apiKeyId, accountId }: ApiKeyRecord): boolean {
  return DEMO_ACCOUNTS.some((demo) => demo.apiKeyId === apiKeyId && demo.accountId === accountId);
}
