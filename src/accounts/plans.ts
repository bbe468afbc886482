/** The limits of an account. The interface specification sets the monthly quotas. */
export interface Plan {
  readonly label: string;
  /** Metered requests per UTC calendar month; null is unlimited. */
  readonly monthlyQuota: number | null;
  /** Sustained requests per second, per API key and replica. */
  readonly ratePerSecond: number;
  /** Requests allowed at once after a pause, per API key and replica. */
  readonly burst: number;
}

export const PLANS = {
  research: { label: 'Research', monthlyQuota: 1_000, ratePerSecond: 10, burst: 20 },
  professional: { label: 'Professional', monthlyQuota: 100_000, ratePerSecond: 100, burst: 200 },
  enterprise: { label: 'Enterprise', monthlyQuota: null, ratePerSecond: 1_000, burst: 2_000 },
} as const satisfies Record<string, Plan>;

export type PlanName = keyof typeof PLANS;

export const PLAN_NAMES = Object.keys(PLANS) as PlanName[];

export function isPlanName(name: string): name is PlanName {
  return Object.hasOwn(PLANS, name);
}

/** Monthly quota by plan name, as the ledger takes it. */
export const MONTHLY_QUOTAS: Readonly<Record<string, number | null>> = Object.fromEntries(
  PLAN_NAMES.map((name) => [name, PLANS[name].monthlyQuota]),
);
