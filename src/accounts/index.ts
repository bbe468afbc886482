/**
 * Accounts: API keys, quotas and rate limits as pure policy. The ledger stores the data, and `http/`
 * sends the answers.
 */
export { apiKeyHint, hashApiKey, isWellFormedApiKey, newApiKey } from './api-key.ts';
export { DEMO_ACCOUNTS, type DemoKeysPolicy, demoKeysPolicy, isDemoApiKey } from './demo.ts';
export { isExhausted, quotaPeriod, secondsToNextMonth } from './quota-period.ts';
export { type RateDecision, type RateLimit, RateLimiter } from './rate-limit.ts';
