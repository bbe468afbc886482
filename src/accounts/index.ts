/**
 * Accounts: API keys, quotas and rate limits as pure policy. The ledger stores the data, and `http/`
 * sends the answers.
 */
export {
  type ApiKeyEnvironment,
  apiKeyHint,
  hashApiKey,
  isWellFormedApiKey,
  newApiKey,
} from './api-key.ts';
export {
  DEMO_ACCOUNTS,
  type DemoAccount,
  type DemoKeysMode,
  type DemoKeysPolicy,
  demoKeysPolicy,
  isDemoApiKey,
} from './demo.ts';
export {
  isExhausted,
  type QuotaPeriod,
  quotaPeriod,
  secondsToNextMonth,
  type UsageView,
} from './quota.ts';
export { type RateDecision, type RateLimit, RateLimiter } from './rate-limit.ts';
