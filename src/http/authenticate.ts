/**
 * Authentication and rate limit of a request, before its body is read. What is found is kept with
 * the request: the handlers take the principal from there.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  type DemoKeysPolicy,
  hashApiKey,
  isDemoApiKey,
  isPlanName,
  isWellFormedApiKey,
  PLANS,
  quotaPeriod,
  type RateDecision,
  RateLimiter,
} from '../accounts/index.ts';
import { monotonicMs } from '../clock.ts';
import { isLoopback } from '../config/index.ts';
import { AppError, ERRORS } from '../errors.ts';
import type { Principal, Usage } from '../ledger/index.ts';
import type { KeyApi } from '../service/index.ts';
import { addressBlock, type ClientAddress } from './client-address.ts';
import type { Connections } from './connections.ts';
import type { RequestObserver } from './observe.ts';

export interface AuthenticatorOptions {
  readonly service: KeyApi;
  readonly demoKeys: DemoKeysPolicy;
  readonly demoApiKey: () => string | null;
  readonly haveDemoKeysEnded: () => boolean;
  readonly rateLimits: boolean;
  readonly client: ClientAddress;
  readonly observer: RequestObserver;
  readonly connections: Pick<Connections, 'noteKeyed'>;
}

/** Headers by which proxies say that a request was not made to this server. */
const PROXY_HEADER =
  /^(?:forwarded|via|x-forwarded-.*|x-real-ip|x-client-ip|true-client-ip|cf-connecting-ip)$/;

/** Requests without a valid API key that one client address may send. */
const UNKEYED = { ratePerSecond: 10, burst: 100 };

/** Client addresses whose requests without a valid API key are counted. */
const MAX_ADDRESSES = 50_000;

/** What to do without a demo key. */
const OWN_KEY = 'Ask an operator to issue an API key: "phm key issue".';

export class Authenticator {
  readonly #options: AuthenticatorOptions;
  readonly #limiter = new RateLimiter();
  readonly #unkeyed = new RateLimiter(MAX_ADDRESSES);
  readonly #principals = new WeakMap<FastifyRequest, Principal>();

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
  }

  /** The hook: throws `missing_api_key`, `invalid_api_key` or `rate_limited`. */
  async check(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const address = this.#addressOf(request);
    const principal = await this.#identify(request, address).catch((error) => {
      throw this.#limitRefusals(error, address);
    });
    this.#principals.set(request, principal);
    this.#options.connections.noteKeyed(request.raw);
    const decision = this.#options.rateLimits ? this.#take(principal) : undefined;
    writeLimitHeaders(
      reply,
      principal,
      this.#options.service.usageOf(principal),
      decision,
      this.#options.service.quotaNowMs(),
    );
    if (decision && !decision.allowed) {
      throw new AppError('rate_limited', { retryAfterSeconds: decision.retryAfterSeconds });
    }
  }

  /** Whether a valid API key came with a request that was checked. */
  isKeyed(request: FastifyRequest): boolean {
    return this.#principals.has(request);
  }

  /** The principal of a request that passed `check`. */
  principal(request: FastifyRequest): Principal {
    const principal = this.#principals.get(request);
    if (!principal) throw new Error('the route was reached without authentication');
    return principal;
  }

  /** Renews the quota headers when a request has moved the counter. */
  noteUsage(reply: FastifyReply, usage: Usage): void {
    const quota = quotaLimit(usage, this.#options.service.quotaNowMs());
    if (quota) mergeQuota(reply, quota.current);
  }

  async #identify(request: FastifyRequest, address: string): Promise<Principal> {
    const given = request.headers['x-api-key'];
    if (given === undefined || given === '') throw missingKey(request);
    if (typeof given !== 'string' || !isWellFormedApiKey(given))
      throw new AppError('invalid_api_key');
    // Before the look-up: where demo keys have ended, the ledger may never have had them.
    if (isDemoApiKey(given)) this.#requireDemoAdmitted(request);
    const principal = await this.#options.service.authenticate(hashApiKey(given), address);
    if (!principal) throw new AppError('invalid_api_key');
    if (principal.demo) this.#requireDemoAdmitted(request);
    return principal;
  }

  /** Demo keys are public: there is nothing to hide. */
  #requireDemoAdmitted(request: FastifyRequest): void {
    const detail = this.#demoRefusal(request);
    if (detail !== null) throw new AppError('invalid_api_key', { detail, remedy: OWN_KEY });
  }

  /**
   * A 401 becomes a 429 when its address has had too many. It is known by then that the request has no
   * valid API key: one that has is never limited by its address.
   */
  #limitRefusals(error: unknown, address: string): unknown {
    if (!this.#options.rateLimits || !(error instanceof AppError)) return error;
    if (ERRORS[error.code].status !== 401) return error;
    const { allowed, retryAfterSeconds } = this.#unkeyed.take(address, UNKEYED, monotonicMs());
    if (allowed) return error;
    this.#options.observer.addressLimited();
    const detail =
      'Too many requests without a valid API key came from your address. Requests with a valid key are answered.';
    return new AppError('rate_limited', { detail, retryAfterSeconds });
  }

  #addressOf(request: FastifyRequest): string {
    return addressBlock(this.#options.client(request));
  }

  /**
   * Whether demo keys are admitted in this request. A forwarded one came from beyond the proxy,
   * whatever address the proxy has; one for another host came from a page that a browser was led to
   * (DNS rebinding).
   */
  admitsDemo(request: FastifyRequest): boolean {
    return this.#demoRefusal(request) === null;
  }

  /** Why demo keys are not admitted in this request; null where they are. */
  #demoRefusal({ hostname, headers }: FastifyRequest): string | null {
    const { demoKeys } = this.#options;
    if (demoKeys === 'admit') return null;
    if (demoKeys !== 'admit-direct') return 'This is a demo key, and this server admits none.';
    if (this.#options.haveDemoKeysEnded()) {
      return 'This is a demo key. Demo keys ended here when an operator issued the first API key of their own.';
    }
    if (!isLoopback(hostname)) {
      return 'This is a demo key. This server admits it only in requests whose Host is localhost or a loopback address.';
    }
    const header = Object.keys(headers).find((name) => PROXY_HEADER.test(name));
    if (header === undefined) return null;
    return `This is a demo key. This server admits it only in requests that came through no proxy; this one has the header "${header.slice(0, 40)}".`;
  }

  /** The demo key to offer in the answer; null where none is admitted, or it is not valid any more. */
  async demoKeyFor(request: FastifyRequest): Promise<string | null> {
    const { service } = this.#options;
    const demoApiKey = this.#options.demoApiKey();
    if (demoApiKey === null || !this.admitsDemo(request)) return null;
    try {
      const keyHash = hashApiKey(demoApiKey);
      return (await service.authenticate(keyHash, this.#addressOf(request))) ? demoApiKey : null;
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
}

function missingKey({ headers }: FastifyRequest): AppError {
  const detail = 'The Authorization header is not read here.';
  return new AppError('missing_api_key', headers.authorization === undefined ? {} : { detail });
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
  const { used, lengthSeconds, secondsLeft } = quotaPeriod(usage, nowMs);
  const remaining = Math.max(0, usage.quota - used);
  return {
    policy: `"quota";q=${usage.quota};w=${lengthSeconds}`,
    current: `"quota";r=${remaining};t=${secondsLeft}`,
  };
}

function mergeQuota(reply: FastifyReply, current: string): void {
  const before = String(reply.getHeader('ratelimit') ?? '');
  const others = before.split(', ').filter((one) => one !== '' && !one.startsWith('"quota"'));
  reply.header('ratelimit', [...others, current].join(', '));
}
