/** Usage of a month against a limit: the account's quota, or the monthly limit of an API key. */

export interface Usage {
  /** UTC calendar month in months since year 0, by the clock that the store uses. */
  readonly month: number;
  readonly used: number;
  readonly quota: number | null;
  /** The counter of the API key whose limit this is; absent for the account's quota. */
  readonly counterId?: string;
}

/** Returns the usage that leaves less: the account's, unless the limit of its API key is closer. */
export function tighterUsage(account: Usage, apiKey: Usage | null | undefined): Usage {
  if (!apiKey || apiKey.quota === null) return account;
  if (account.quota === null) return apiKey;
  return apiKey.quota - apiKey.used < account.quota - account.used ? apiKey : account;
}
