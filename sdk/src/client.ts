/** The client: one method for each endpoint. */
import createClient, { type Client } from 'openapi-fetch';
import { type Limits, NO_LIMITS, readLimits } from './limits.ts';
import type { paths } from './schema.ts';
import { type Call, type Fetch, send, type TransportOptions } from './transport.ts';
import type {
  GeneratedKey,
  GenerateRequest,
  Health,
  Metrics,
  MetricsQuery,
  Randomness,
  RandomnessQuery,
  Series,
  SeriesQuery,
  ValidateRequest,
  Validation,
} from './types.ts';

export interface PhmClientOptions {
  /**
   * Address of the service, with its base path if it has one: `https://keys.example/phm`. In a browser it
   * may be relative to the page: `./` is the folder that the page is in.
   */
  readonly baseUrl: string;
  /** Without it `health` alone is answered. */
  readonly apiKey?: string | undefined;
  /** Milliseconds for a whole call with its retries, 1…2,147,483,647. Default 60,000. */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds for one attempt, 1…2,147,483,647. Default 30,000. */
  readonly attemptTimeoutMs?: number | undefined;
  /** How often a call is tried again, 0…100. Default 3. */
  readonly maxRetries?: number | undefined;
  /** Stands in for the global `fetch`. It must heed `signal` and `redirect: 'manual'`. */
  readonly fetch?: Fetch | undefined;
}

export interface CallOptions {
  /** Ends the call at once when it is aborted; the call rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Label for `X-Request-Id`: 1 to 128 letters, digits, `.`, `_` or `-`. Retries have the same. */
  readonly requestId?: string | undefined;
}

/** Longest time-out that timers take. */
const MAX_MS = 2 ** 31 - 1;
const MAX_RETRIES = 100;

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/**
 * A client of one service with one API key. Methods resolve with the service's answer and reject with a
 * `PhmError`, or with the reason of the signal. They may be called at the same time.
 */
export class PhmClient {
  readonly #transport: TransportOptions;
  readonly #api: Client<paths>;
  readonly #credential: Readonly<Record<string, string>>;
  #lastLimits: Limits = NO_LIMITS;

  /** Throws `TypeError` or `RangeError` for options that cannot be used. */
  constructor(options: PhmClientOptions) {
    assertObject('the options', options, "{ baseUrl: 'https://keys.example', apiKey }");
    const { fetch = (url, init) => globalThis.fetch(url, init) } = options;
    this.#transport = {
      fetch,
      timeoutMs: whole('timeoutMs', options.timeoutMs ?? 60_000, 1, MAX_MS),
      attemptTimeoutMs: whole('attemptTimeoutMs', options.attemptTimeoutMs ?? 30_000, 1, MAX_MS),
      maxRetries: whole('maxRetries', options.maxRetries ?? 3, 0, MAX_RETRIES),
    };
    this.#api = createClient<paths>({ baseUrl: resolveBase(options.baseUrl) });
    this.#credential = options.apiKey === undefined ? {} : { 'X-API-Key': checked(options.apiKey) };
  }

  /** Limits as the latest answer told them; all null before the first. */
  get lastLimits(): Limits {
    return this.#lastLimits;
  }

  /**
   * Generates a key. It is tried again only when the service cannot have made one: a call that fails with
   * `outcomeUnknown` or a time-out may have made, and counted, a key that nobody got.
   */
  async generate(body: GenerateRequest, options: CallOptions = {}): Promise<GeneratedKey> {
    assertObject('the body', body, '{ security_level: 256 }');
    const call = this.#call(options, { repeatable: false });
    return data(await this.#api.POST('/api/v2/generate', { body, ...call }));
  }

  /** Validates a key. A verdict of either kind counts against the quota, and so may one that got lost. */
  async validate(body: ValidateRequest, options: CallOptions = {}): Promise<Validation> {
    assertObject('the body', body, '{ key }');
    const call = this.#call(options, { repeatable: true });
    return data(await this.#api.POST('/api/v2/validate', { body, ...call }));
  }

  /** Sums of the account over the last hours. */
  async metrics(query: MetricsQuery = {}, options: CallOptions = {}): Promise<Metrics> {
    const call = this.#call(options, { repeatable: true });
    return data(await this.#api.GET('/api/v2/metrics', { params: { query }, ...call }));
  }

  /** The account over time, step by step; quiet steps are there as well. */
  async metricsSeries(query: SeriesQuery = {}, options: CallOptions = {}): Promise<Series> {
    const call = this.#call(options, { repeatable: true });
    return data(await this.#api.GET('/api/v2/metrics/series', { params: { query }, ...call }));
  }

  /** The p-values of the account's last validated keys, judged together. */
  async randomness(query: RandomnessQuery = {}, options: CallOptions = {}): Promise<Randomness> {
    const call = this.#call(options, { repeatable: true });
    return data(await this.#api.GET('/api/v2/metrics/randomness', { params: { query }, ...call }));
  }

  /** State of the replica that answers. One that is not ready is an answer, with `success` false. */
  async health(options: CallOptions = {}): Promise<Health> {
    const call = this.#call(options, { repeatable: true, alsoAnswers: 503 }, {});
    const { data: healthy, error } = await this.#api.GET('/health', call);
    return healthy ?? (error as Health);
  }

  #call(
    { signal, requestId }: CallOptions,
    kind: Pick<Call, 'repeatable' | 'alsoAnswers'>,
    credential = this.#credential,
  ) {
    if (requestId !== undefined && !REQUEST_ID.test(requestId)) {
      throw new TypeError('requestId must be 1 to 128 letters, digits, ".", "_" or "-"');
    }
    const label = requestId === undefined ? {} : { 'X-Request-Id': requestId };
    const call: Call = { ...kind, signal, requestId };
    const fetch = async (request: Request): Promise<Response> => {
      const observed: Fetch = async (url, init) => {
        const response = await this.#transport.fetch(url, init);
        this.#lastLimits = readLimits(response.headers) ?? this.#lastLimits;
        return response;
      };
      return send(request, call, { ...this.#transport, fetch: observed });
    };
    return { headers: { ...credential, ...label }, fetch };
  }
}

/** What `send` let through has a body. */
function data<T>({ data: body }: { data?: T }): T {
  return body as T;
}

/** The address without slashes at its end. */
function resolveBase(baseUrl: string): string {
  const { document, location } = globalThis as {
    document?: { baseURI: string };
    location?: { href: string };
  };
  const page = document?.baseURI ?? location?.href;
  let url: URL;
  try {
    url = new URL(baseUrl === '' && page !== undefined ? './' : baseUrl, page);
  } catch {
    throw new TypeError('baseUrl must be the address of the service, such as https://keys.example');
  }
  const { protocol, username, password, search, hash, origin, pathname } = url;
  if (protocol !== 'https:' && protocol !== 'http:') {
    throw new TypeError(`baseUrl must start with https: or http:, not ${protocol}`);
  }
  if (username || password || search || hash) {
    throw new TypeError('baseUrl must have no user, password, query or fragment');
  }
  return origin + pathname.replace(/\/+$/, '');
}

/** A key that is no header value would be quoted in the error of whoever finds out. */
function checked(apiKey: string): string {
  if (typeof apiKey === 'string' && /^[\x21-\x7e]+$/.test(apiKey)) return apiKey;
  throw new TypeError('apiKey must be printable ASCII without spaces: check for a line end');
}

/** For callers without types. What came is not quoted: it may be a key. */
function assertObject(name: string, value: unknown, example: string): void {
  if (typeof value === 'object' && value !== null) return;
  throw new TypeError(
    `${name} must be an object such as ${example}, got ${value === null ? 'null' : typeof value}`,
  );
}

function whole(name: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new RangeError(
    `${name} must be a whole number from ${min} to ${max}, got ${typeof value === 'number' ? value : typeof value}`,
  );
}
