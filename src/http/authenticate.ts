/**
 * Authenticates requests and applies rate limits, before the body is read. The principal is kept with the request for
 * the handlers.
 */
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import {
  type DemoKeysPolicy,
  hashApiKey,
  isDemoApiKey,
  isWellFormedApiKey,
  quotaPeriod,
  type RateDecision,
  RateLimiter,
} from '../accounts/index.ts';
import { type Clock, monotonicMs } from '../clock.ts';
import { isLoopback, type Plan, type Plans } from '../config/index.ts';
import { AppError, ERRORS } from '../errors.ts';
import type { Principal, Scope, Usage } from '../ledger/index.ts';
import type { KeyApi } from '../service/index.ts';
import {
  isUsable,
  limitsWithin,
  refuseAddress,
  refuseExpired,
  refuseScope,
} from './api-key-rules.ts';
import { addressBlock, type ClientAddress } from './client-address.ts';
import type { Connections } from './connections.ts';
import { leakedKey } from './leaked-key.ts';
import type { RequestObserver } from './observe.ts';

interface AuthenticatorOptions {
  readonly service: KeyApi;
  readonly clock: Clock;
  readonly demoKeys: DemoKeysPolicy;
  readonly demoApiKey: () => string | null;
  readonly haveDemoKeysEnded: () => boolean;
  readonly rateLimits: boolean;
  /** Origins whose pages the operator lets call the API. */
  readonly corsOrigins: readonly string[];
  readonly plans: Plans;
  readonly client: ClientAddress;
  readonly observer: RequestObserver;
  readonly connections: Pick<Connections, 'noteKeyed'>;
}

/** Headers that proxies, load balancers, tunnels and content networks add to forwarded requests. */
const PROXY_HEADER =
  /^(?:forwarded|via|cdn-loop|x-forwarded|x-varnish|x-nginx-proxy|(?:x-)?remote-addr)$|^(?:x-forwarded|x-original|x-envoy|x-amzn|x-amz-cf|x-azure|x-appengine|x-arr|x-vercel|x-proxy|x-proxied|x-ms-forwarded|ngrok|cf|fly|fastly|tailscale)-|(?:^|-)(?:real|client|clientip|proxyuser|remote|connecting|originating|source)-?ip(?:v6)?$/;

/** Rate limit of a client address for requests without a valid API key. */
const UNKEYED = { ratePerSecond: 10, burst: 100 };

/** Limits the refusals of accounts whose plan this server lacks. */
const UNKNOWN_PLAN: Plan = { label: '', monthlyQuota: 0, ratePerSecond: 1, burst: 10 };

/** An operator must act, and the server then restarts or reads the account's new plan. */
const UNKNOWN_PLAN_RETRY_SECONDS = 60;

/** Maximum number of client addresses whose requests without a valid API key are counted. */
const MAX_ADDRESSES = 50_000;

const OWN_KEY = 'Ask the operator to issue an API key with "phm api-key issue".';

export class Authenticator {
  readonly #options: AuthenticatorOptions;
  readonly #limiter = new RateLimiter();
  readonly #unkeyed = new RateLimiter(MAX_ADDRESSES);

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
  }

  /**
   * Returns the hook of a route whose API key needs one of these scopes. It judges in this order: the API key (`missing_api_key`,
   * `invalid_api_key`), the client's address (`address_not_allowed`), the rate (`rate_limited`), the account
   * (`account_suspended`), the plan (`unknown_plan`) and the scope (`insufficient_scope`). So the rate also limits the last
   * three, which a client may ignore for days. The hook returns a promise only if the API key must be looked up: nearly
   * all are cached.
   */
  check(scopes: readonly Scope[]): onRequestHookHandler {
    return (request, reply, done) => {
      try {
        const found = this.#find(request);
        if (found instanceof Promise) return this.#admitFound(request, reply, found, scopes);
        this.#admit(request, reply, found, scopes);
      } catch (error) {
        throw this.#limitRefusals(error, request);
      }
      return done();
    };
  }

  async #admitFound(
    request: FastifyRequest,
    reply: FastifyReply,
    found: Promise<Principal | undefined>,
    scopes: readonly Scope[],
  ): Promise<void> {
    try {
      this.#admit(request, reply, await found, scopes);
    } catch (error) {
      throw this.#limitRefusals(error, request);
    }
  }

  #admit(
    request: FastifyRequest,
    reply: FastifyReply,
    principal: Principal | undefined,
    scopes: readonly Scope[],
  ): void {
    if (!principal) throw new AppError('invalid_api_key');
    if (principal.demo) this.#requireDemoAdmitted(request);
    const { rules } = principal;
    if (rules) {
      refuseExpired(rules, this.#options.clock.nowMs());
      refuseAddress(rules, this.#options.client(request));
    }
    request.principal = principal;
    // The connection of a suspended account may be closed first, as one without a valid API key.
    if (!principal.suspended) this.#options.connections.noteKeyed(request.raw);
    const plan = this.#planOf(principal);
    const limits = rules ? limitsWithin(plan, rules) : plan;
    const decision = this.#options.rateLimits ? this.#take(principal, limits) : undefined;
    this.#writeLimits(reply, principal, limits, decision);
    if (decision && !decision.allowed) {
      throw new AppError('rate_limited', { retryAfterSeconds: decision.retryAfterSeconds });
    }
    if (principal.suspended) throw new AppError('account_suspended');
    if (plan === UNKNOWN_PLAN) {
      const reason = `account ${principal.accountId} is on the plan "${principal.plan}", which this server lacks`;
      throw new AppError('unknown_plan', { reason, retryAfterSeconds: UNKNOWN_PLAN_RETRY_SECONDS });
    }
    if (rules) refuseScope(rules, scopes);
    this.#options.service.noteUse(principal);
  }

  /** Returns the hook of a route without an API key: the rate of the client's address limits it. */
  checkAddress(): onRequestHookHandler {
    return (request, _reply, done) => {
      const refusal = this.#options.rateLimits ? this.#takeUnkeyed(request) : null;
      if (refusal) throw refusal;
      done();
    };
  }

  /**
   * Takes the rest of a batch's tokens after `check` has taken one: in all as many as it has keys, but no more than the
   * burst, so that every batch can pass. Throws `rate_limited`.
   */
  takeBatch(request: FastifyRequest, reply: FastifyReply, count: number): void {
    this.takeMore(request, reply, count, `A batch of ${count} keys`);
  }

  /**
   * Takes the rest of a request's places in the rate limit, which has taken one: `count` in all, at most the burst. Throws
   * `rate_limited`, which begins with `what`.
   */
  takeMore(request: FastifyRequest, reply: FastifyReply, count: number, what: string): void {
    if (!this.#options.rateLimits || count === 1) return;
    const principal = this.principal(request);
    const { rules } = principal;
    const plan = rules ? limitsWithin(this.#planOf(principal), rules) : this.#planOf(principal);
    const total = Math.min(count, plan.burst);
    const decision = this.#limiter.takeRest(principal.apiKeyId, plan, monotonicMs(), total);
    this.#writeLimits(reply, principal, plan, decision);
    if (decision.allowed) return;
    const detail = `${what} takes ${total} of the ${plan.burst} requests that this API key may send at once.`;
    throw new AppError('rate_limited', { detail, retryAfterSeconds: decision.retryAfterSeconds });
  }

  #writeLimits(
    reply: FastifyReply,
    principal: Principal,
    plan: Plan,
    decision?: RateDecision,
  ): void {
    const { service } = this.#options;
    writeLimitHeaders(reply, plan, service.usageOf(principal), decision, service.quotaNowMs());
  }

  /** Returns the principal of a request that passed `check`. */
  principal({ principal }: FastifyRequest): Principal {
    if (!principal) throw new Error('the route was reached without authentication');
    return principal;
  }

  /** Updates the quota header after a request has counted. */
  noteUsage(reply: FastifyReply, usage: Usage): void {
    const quota = quotaLimit(usage, this.#options.service.quotaNowMs());
    if (!quota) return;
    mergeQuota(reply, 'ratelimit', quota.current);
    // The account's quota and the limit of its API key can change places.
    if (reply.request.principal?.rules?.monthly)
      mergeQuota(reply, 'ratelimit-policy', quota.policy);
  }

  /** Looks up the API key of a request. Throws if it has none, or none that can be valid. */
  #find(request: FastifyRequest): ReturnType<KeyApi['authenticate']> {
    const given = request.headers['x-api-key'];
    if (given === undefined || given === '') throw missingKey(request);
    if (typeof given !== 'string' || !isWellFormedApiKey(given))
      throw new AppError('invalid_api_key');
    // Before the look-up: after demo keys have ended, the ledger may not have them.
    if (isDemoApiKey(given)) this.#requireDemoAdmitted(request);
    return this.#options.service.authenticate(hashApiKey(given), this.#addressOf(request));
  }

  /** Throws `invalid_api_key` with the reason. Demo keys are public, so the reason reveals nothing. */
  #requireDemoAdmitted(request: FastifyRequest): void {
    const detail = this.#demoRefusal(request);
    if (detail !== null) throw new AppError('invalid_api_key', { detail, remedy: OWN_KEY });
  }

  /**
   * Turns a refusal of the API key, or of its use from this address, into a 429 if the address has had too many. A request
   * with an API key that is valid there is never limited by its address.
   */
  #limitRefusals(error: unknown, request: FastifyRequest): unknown {
    if (!this.#options.rateLimits || !(error instanceof AppError)) return error;
    const { code } = error;
    if (ERRORS[code].status !== 401 && code !== 'address_not_allowed') return error;
    return this.#takeUnkeyed(request) ?? error;
  }

  /** Counts a request without a valid API key. Returns the refusal if its address has sent too many, or null. */
  #takeUnkeyed(request: FastifyRequest): AppError | null {
    const { allowed, retryAfterSeconds } = this.#unkeyed.take(
      this.#addressOf(request),
      UNKEYED,
      monotonicMs(),
    );
    if (allowed) return null;
    this.#options.observer.events?.addressLimited();
    const detail =
      'Your address has sent too many requests without a valid API key. Requests with a valid API key are not affected.';
    return new AppError('rate_limited', { detail, retryAfterSeconds });
  }

  #addressOf(request: FastifyRequest): string {
    return addressBlock(this.#options.client(request));
  }

  /**
   * Reports whether this request may use a demo key. A forwarded request came from beyond the proxy, whatever the
   * proxy's address. A request for another host may come from a malicious page in a browser (DNS rebinding).
   */
  admitsDemo(request: FastifyRequest): boolean {
    return this.#demoRefusal(request) === null;
  }

  /** Returns why this request may not use a demo key, or null if it may. */
  #demoRefusal({ hostname, headers }: FastifyRequest): string | null {
    const { demoKeys } = this.#options;
    if (demoKeys === 'admit') return null;
    if (demoKeys !== 'admit-direct')
      return 'This is a demo key, and this server accepts no demo keys.';
    if (this.#options.haveDemoKeysEnded()) {
      return 'This is a demo key. Demo keys ended on this server when the operator issued the first API key.';
    }
    if (!isLoopback(hostname)) {
      return 'This is a demo key. This server accepts it only if the Host is localhost or a loopback address.';
    }
    const page = this.#foreignPage(headers);
    if (page !== null) return page;
    const header = Object.keys(headers).find((name) => PROXY_HEADER.test(name));
    if (header === undefined) return null;
    return `This is a demo key. This server accepts it only in requests that no proxy forwarded; this request has the header "${header.slice(0, 40)}".`;
  }

  /**
   * Returns why a demo key is refused to the page that sent the request; null if it came from this machine's pages or from
   * no page. A browser names the origin (RFC 6454 §7), or the relation of the sites (Fetch Metadata). Following a link to
   * a page of this server sends no API key.
   */
  #foreignPage({ origin, ...headers }: FastifyRequest['headers']): string | null {
    if (origin !== undefined && this.#options.corsOrigins.includes(origin)) return null;
    const isCross =
      headers['sec-fetch-site'] === 'cross-site' && headers['sec-fetch-mode'] !== 'navigate';
    const host = origin !== undefined && URL.canParse(origin) ? new URL(origin).hostname : null;
    if (!isCross && (origin === undefined || (host !== null && isLoopback(host)))) return null;
    return 'This is a demo key. This server accepts it only from pages of this machine, not from those of other sites.';
  }

  /** Returns the demo key for the response; null if this request may not use one, or it is no longer valid. */
  async demoKeyFor(request: FastifyRequest): Promise<string | null> {
    const { service } = this.#options;
    const demoApiKey = this.#options.demoApiKey();
    if (demoApiKey === null || !this.admitsDemo(request)) return null;
    try {
      const keyHash = hashApiKey(demoApiKey);
      const found = await service.authenticate(keyHash, this.#addressOf(request));
      return found && isUsable(found, this.#options.clock.nowMs()) ? demoApiKey : null;
    } catch (error) {
      // The demo key would not work now; the index of addresses is useful without it.
      if (error instanceof AppError) return null;
      throw error;
    }
  }

  #take(principal: Principal, plan: Plan): RateDecision {
    // Monotonic: if a wall clock were set back, no caller would get in until it catches up.
    return this.#limiter.take(principal.apiKeyId, plan, monotonicMs());
  }

  #planOf({ plan }: Principal): Plan {
    return this.#options.plans.get(plan) ?? UNKNOWN_PLAN;
  }
}

/** Names under which other services take an API key in the URL. */
const KEY_PARAMETER = /[?&](?:x-)?(?:api[-_]?key|key|token|access[-_]?token)=/i;

function missingKey({ headers, url }: FastifyRequest): AppError {
  const leaked = leakedKey(url);
  if (leaked) return new AppError('missing_api_key', leaked);
  if (KEY_PARAMETER.test(url)) {
    const detail = 'This service does not read the API key from the URL.';
    return new AppError('missing_api_key', { detail });
  }
  const detail = 'This service does not read the Authorization header.';
  return new AppError('missing_api_key', headers.authorization === undefined ? {} : { detail });
}

/**
 * Writes `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers): "rate" is the API key's
 * bucket on this server, "quota" the month of the account, or of the API key if its own limit leaves less.
 * `X-RateLimit-*` repeats the bucket.
 */
function writeLimitHeaders(
  reply: FastifyReply,
  plan: Plan,
  usage: Usage,
  decision: RateDecision | undefined,
  nowMs: number,
): void {
  let policy = '';
  let current = '';
  if (decision) {
    const windowSeconds = Math.ceil(plan.burst / plan.ratePerSecond);
    policy = `"rate";q=${decision.limit};w=${windowSeconds}`;
    current = `"rate";r=${decision.remaining};t=${decision.resetSeconds}`;
    reply.header('x-ratelimit-limit', decision.limit);
    reply.header('x-ratelimit-remaining', decision.remaining);
    reply.header('x-ratelimit-reset', decision.resetSeconds);
  }
  const quota = quotaLimit(usage, nowMs);
  if (quota) {
    policy = appended(policy, quota.policy);
    current = appended(current, quota.current);
  }
  if (policy === '') return;
  reply.header('ratelimit-policy', policy);
  reply.header('ratelimit', current);
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

/** Replaces the quota in one of the two headers. */
function mergeQuota(reply: FastifyReply, header: 'ratelimit' | 'ratelimit-policy', quota: string) {
  const before = String(reply.getHeader(header) ?? '');
  const others = before.split(', ').filter((one) => one !== '' && !one.startsWith('"quota"'));
  reply.header(header, appended(others.join(', '), quota));
}

/** Returns a list of limits with one more at its end. */
function appended(list: string, limit: string): string {
  return list === '' ? limit : `${list}, ${limit}`;
}
