/** Compares the plans of the configuration with those of the accounts, and with those of the server that started last. */
import { canonicalJson, type JsonObject } from '#tlog';
import { type Plans, PUBLISHED_PLANS } from '../config/index.ts';
import { SetupError } from '../errors.ts';
import type { AccountStore, LogStore } from '../ledger/index.ts';

/** Accounts that a message names. */
const MOST_NAMED = 5;

/** Throws `SetupError` if an account is on a plan that the configuration lacks. */
export async function refuseUnknownPlans(
  store: Pick<AccountStore, 'accountsOutside'>,
  plans: Plans,
): Promise<void> {
  const problem = await unknownPlansProblem(store, plans);
  if (problem !== null) throw new SetupError(problem);
}

/** Returns which accounts are on a plan that the configuration lacks, with what to do; null if none is. */
export async function unknownPlansProblem(
  store: Pick<AccountStore, 'accountsOutside'>,
  plans: Plans,
): Promise<string | null> {
  const accounts = await store.accountsOutside([...plans.keys()]);
  if (accounts.length === 0) return null;
  const named = accounts
    .slice(0, MOST_NAMED)
    .map(({ accountId, plan }) => `${accountId} (${plan})`)
    .join(', ');
  const others = accounts.length - MOST_NAMED;
  const rest = others > 0 ? ` and ${others} more` : '';
  return (
    `this configuration lacks the plan of ${named}${rest}: add the plan to the file in PHM_PLANS_FILE, or move the ` +
    'account with phm account set-plan'
  );
}

/** Returns the plans as details of an audit record. */
export function plansDetails(plans: Plans): JsonObject {
  return Object.fromEntries(
    [...plans].map(([name, { label, monthlyQuota, ratePerSecond, burst }]) => [
      name,
      { label, monthly_quota: monthlyQuota, requests_per_second: ratePerSecond, burst },
    ]),
  );
}

/** Returns true if the plans differ from the last recorded ones. Without a record, these are the published ones. */
export async function havePlansChanged(
  store: Pick<LogStore, 'lastAudit'>,
  plans: Plans,
): Promise<boolean> {
  const last = await store.lastAudit('plans_configured');
  const details = last?.details ?? canonicalJson(plansDetails(PUBLISHED_PLANS));
  return details !== canonicalJson(plansDetails(plans));
}
