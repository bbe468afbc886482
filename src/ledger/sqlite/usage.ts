/** Usage and quota of an account, in the reader's transaction. */
import { type Quotas, quotaOfPlan } from '../quota-decision.ts';
import type { SqliteConnection } from './connection.ts';

/** Returns the requests that count against an account's quota of a month. */
export function readUsed(connection: SqliteConnection, accountId: string, month: number): number {
  const row = connection.get(
    'SELECT used FROM usage WHERE account_id = ? AND month = ?',
    accountId,
    month,
  );
  return Number(row?.used ?? 0);
}

/** Returns the monthly quota of an account's plan; null is unlimited, undefined a plan that this server lacks. */
export function readQuota(
  connection: SqliteConnection,
  quotas: Quotas,
  accountId: string,
): number | null | undefined {
  const plan = connection.get('SELECT plan FROM accounts WHERE account_id = ?', accountId)?.plan;
  return quotaOfPlan(quotas, plan);
}
