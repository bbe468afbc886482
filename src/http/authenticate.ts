/**
 * Authentication and rate limit of a request, before its body is read. What is found is kept with
 * the request: the handlers take the principal from there.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  type DemoKeysPolicy,
  hashApiKey,
  isPlanName,
  isWellFormedApiKey,
  monthLengthSeconds,
  PLANS,
  quotaMonth,
  type RateDecision,
  RateLimiter,
  secondsToNextMonth,
} from '../accounts/index.ts';
import { type Clock, monotonicMs } from '../clock.ts';
import { isLoopback } from '../config/index.ts';
import { AppError } from '../errors.ts';
import type { KeyService } from '../keys/index.ts';
import type { Principal, Usage } from '../ledger/index.ts';

export interface AuthenticatorOptions {
  readonly service: KeyService;
  readonly clock: Clock;
  readonly demoKeys: DemoKeysPolicy;
  readonly demoApiKey: string | null;
  readonly rateLimits: boolean;
}

/** Headers by which proxies say that a request was not made to this server. */
const PROXY_HEADER =
  /^(?:forwarded|via|x-forwarded-.*|x-real-ip|x-client-ip|true-client-ip|cf-connecting-ip)$/;

export class Authenticator {
  readonly #options: AuthenticatorOptions;
  readonly #limiter = new RateLimiter();
  readonly #principals = new WeakMap<FastifyRequest, Principal>();

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
  }

  /** The hook: throws `missing_api_key`, `invalid_api_key` or `rate_limited`. */
  async check(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const principal = await this.#identify(request);
    this.#principals.set(request, principal);
    const decision = this.#options.rateLimits ? this.#take(principal) : undefined;
    writeLimitHeaders(
      reply,
      principal,
      this.#options.service.usageOf(principal),
      decision,
      this.#now(),
    );
    if (decision && !decision.allowed) {
      throw new AppError('rate_limited', { retryAfterSeconds: decision.retryAfterSeconds });
    }
  }

  /** The principal of a request that passed `check`. */
  principal(request: FastifyRequest): Principal {
    const principal = this.#principals.get(request);
    if (!principal) throw new Error('the route was reached without authentication');
    return principal;
  }

  /** Renews the quota headers when a request has moved the counter. */
  noteUsage(reply: FastifyReply, usage: Usage): void {
    const quota = quotaLimit(usage, this.#now());
    if (quota) mergeQuota(reply, quota.current);
  }

  async #identify(request: FastifyRequest): Promise<Principal> {
    const given = request.headers['x-api-key'];
    if (given === undefined || given === '') throw new AppError('missing_api_key');
    if (typeof given !== 'string' || !isWellFormedApiKey(given))
      throw new AppError('invalid_api_key');
    const principal = await this.#options.service.authenticate(hashApiKey(given));
    if (!principal || (principal.demo && !this.admitsDemo(request))) {
      throw new AppError('invalid_api_key');
    }
    return principal;
  }

  /**
   * Whether demo keys are admitted in this request. A forwarded one came from beyond the proxy,
   * whatever address the proxy has; one for another host came from a page that a browser was led to
   * (DNS rebinding).
   */
  admitsDemo(request: FastifyRequest): boolean {
    const { demoKeys } = this.#options;
    if (demoKeys !== 'admit-direct') return demoKeys === 'admit';
    if (!isLoopback(request.hostname)) return false;
    return !Object.keys(request.headers).some((name) => PROXY_HEADER.test(name));
  }

  /** The demo key to offer in the answer; null where none is admitted, or it is not valid any more. */
  async demoKeyFor(request: FastifyRequest): Promise<string | null> {
    const { demoApiKey, service } = this.#options;
    if (demoApiKey === null || !this.admitsDemo(request)) return null;
    try {
      return (await service.authenticate(hashApiKey(demoApiKey))) ? demoApiKey : null;
    } catch (error) {
      // Nobody could use it now either, and the addresses are worth having without it.
      if (error instanceof AppError) return null;
      throw error;
    }
  }

  #take(principal: Principal): RateDecision {
    const { plan } = principal;
    if (!isPlanName(plan)) throw new Error(`account ${principal.accountId} has an unknown plan`);
    // Monotonic: a wall clock that is set back would shut every caller out until it catches up.
    return this.#limiter.take(principal.apiKeyId, PLANS[plan], monotonicMs());
  }

  #now(): number {
    return this.#options.clock.nowMs();
  }
}

/**
 * `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers): "rate" is the API key's
 * bucket on this replica, "quota" the account's month. `X-RateLimit-*` repeat the bucket.
 */
function writeLimitHeaders(
  reply: FastifyReply,
  { plan }: Principal,
  usage: Usage,
  decision: RateDecision | undefined,
  nowMs: number,
): void {
  const policies: string[] = [];
  const current: string[] = [];
  if (decision && isPlanName(plan)) {
    const windowSeconds = Math.ceil(PLANS[plan].burst / PLANS[plan].ratePerSecond);
    policies.push(`"rate";q=${decision.limit};w=${windowSeconds}`);
    current.push(`"rate";r=${decision.remaining};t=${decision.resetSeconds}`);
    reply.header('x-ratelimit-limit', decision.limit);
    reply.header('x-ratelimit-remaining', decision.remaining);
    reply.header('x-ratelimit-reset', decision.resetSeconds);
  }
  const quota = quotaLimit(usage, nowMs);
  if (quota) {
    policies.push(quota.policy);
    current.push(quota.current);
  }
  if (policies.length === 0) return;
  reply.header('ratelimit-policy', policies.join(', '));
  reply.header('ratelimit', current.join(', '));
}

function quotaLimit(usage: Usage, nowMs: number): { policy: string; current: string } | undefined {
  if (usage.quota === null) return undefined;
  // What was seen before the month turned does not count any more.
  const used = usage.month === quotaMonth(nowMs) ? usage.used : 0;
  const remaining = Math.max(0, usage.quota - used);
  return {
    policy: `"quota";q=${usage.quota};w=${monthLengthSeconds(nowMs)}`,
    current: `"quota";r=${remaining};t=${secondsToNextMonth(nowMs)}`,
  };
}

function mergeQuota(reply: FastifyReply, current: string): void {
  const before = String(reply.getHeader('ratelimit') ?? '');
  const others = before.split(', ').filter((one) => one !== '' && !one.startsWith('"quota"'));
  reply.header('ratelimit', [...others, current].join(', '));
}
