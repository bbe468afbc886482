/** The client: one method for each endpoint. */
import type { RequestEvent, RetryEvent } from './hooks.ts';
import { type Limits, NO_LIMITS } from './limits.ts';
import {
  assertBoolean,
  assertFunction,
  assertObject,
  assertRequestId,
  assertSignal,
  checkApiKey,
  readDurations,
  resolveBase,
} from './options.ts';
import { keyShape, SHAPES, type Shape } from './shapes.ts';
import { type Call, type Fetch, send, type TransportOptions } from './transport.ts';
import { Turns } from './turns.ts';
import type {
  GeneratedKey,
  GenerateRequest,
  Health,
  Metrics,
  MetricsQuery,
  MetricsSeries,
  PlainKey,
  PlainRequest,
  Randomness,
  RandomnessQuery,
  ReportedKey,
  ReportedRequest,
  SeriesQuery,
  ValidatedKey,
  ValidatedRequest,
  ValidateRequest,
  ValidationResult,
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
  /**
   * How often a call is tried again, 0…100. Default 3. Refusals by a rate limit do not count, because the
   * client waits for its next turn. With 0 each call is sent once, whatever the answer.
   */
  readonly maxRetries?: number | undefined;
  /**
   * Default true: calls wait in a queue, so that they keep to the API key's rate limit. False sends each call
   * at once; a refusal then counts as any other failure.
   */
  readonly pace?: boolean | undefined;
  /**
   * Default true: the service refuses a call with a field that it does not know. False accepts such a call
   * and names the field in the answer's `warnings`.
   */
  readonly strict?: boolean | undefined;
  /** Called before each request. What it throws is ignored. */
  readonly onRequest?: ((event: RequestEvent) => void) | undefined;
  /** Called before each wait for a retry. What it throws is ignored. */
  readonly onRetry?: ((event: RetryEvent) => void) | undefined;
  /** Stands in for the global `fetch`. It must heed `signal` and `redirect: 'manual'`. */
  readonly fetch?: Fetch | undefined;
}

export interface CallOptions {
  /** Ends the call at once when it is aborted; the call rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Label for `X-Request-Id`: 1 to 128 letters, digits, `.`, `_` or `-`. Retries have the same. */
  readonly requestId?: string | undefined;
}

/** What an endpoint is sent. */
interface Endpoint {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: object;
  readonly query?: object;
  readonly shape: Shape;
  readonly repeatable: boolean;
  readonly alsoAnswers?: number;
  /** Whether it needs no API key, and has no rate limit. */
  readonly open?: boolean;
}

/**
 * A client of one service with one API key. Methods resolve with the service's answer and reject with a
 * `PhmError`, or with the reason of the signal. They may be called at the same time.
 */
export class PhmClient {
  readonly #base: string;
  readonly #transport: TransportOptions;
  readonly #credential: Readonly<Record<string, string>>;
  readonly #strict: boolean;
  #lastLimits: Limits = NO_LIMITS;

  /** Throws `TypeError` or `RangeError` for options that cannot be used. */
  constructor(options: PhmClientOptions) {
    assertObject('the options', options, "{ baseUrl: 'https://keys.example', apiKey }");
    const { apiKey, onRequest, onRetry, pace = true, strict = true } = options;
    const { fetch = (url, init) => globalThis.fetch(url, init) } = options;
    assertFunction('onRequest', onRequest);
    assertFunction('onRetry', onRetry);
    assertFunction('fetch', fetch);
    assertBoolean('pace', pace);
    assertBoolean('strict', strict);
    this.#transport = {
      ...readDurations(options),
      fetch,
      turns: pace ? new Turns() : null,
      onLimits: (limits) => {
        this.#lastLimits = limits;
      },
      onRequest,
      onRetry,
    };
    this.#strict = strict;
    this.#base = resolveBase(options.baseUrl);
    this.#credential = apiKey === undefined ? {} : { 'X-API-Key': checkApiKey(apiKey) };
  }

  /** Limits as the latest answer told them; all null before the first. */
  get lastLimits(): Limits {
    return this.#lastLimits;
  }

  /**
   * Generates a key. It is tried again only when the service cannot have made one: a call that fails with
   * `outcomeUnknown` may have made, and counted, a key that was lost on its way.
   */
  generate(body: ReportedRequest, options?: CallOptions): Promise<ReportedKey>;
  generate(body: ValidatedRequest, options?: CallOptions): Promise<ValidatedKey>;
  generate(body: PlainRequest, options?: CallOptions): Promise<PlainKey>;
  generate(body: GenerateRequest, options?: CallOptions): Promise<GeneratedKey>;
  async generate(body: GenerateRequest, options: CallOptions = {}): Promise<GeneratedKey> {
    assertObject('the body', body, '{ security_level: 256 }');
    const path = '/api/v2/generate';
    const shape = keyShape(body);
    return this.#send({ method: 'POST', path, body, shape, repeatable: false }, options);
  }

  /** Validates a key. A verdict of either kind counts against the quota, and so may one that got lost. */
  async validate(body: ValidateRequest, options: CallOptions = {}): Promise<ValidationResult> {
    assertObject('the body', body, '{ key }');
    const path = '/api/v2/validate';
    const shape = SHAPES.validate;
    return this.#send({ method: 'POST', path, body, shape, repeatable: true }, options);
  }

  /** Sums of the account over the last hours. */
  async metrics(query: MetricsQuery = {}, options: CallOptions = {}): Promise<Metrics> {
    return this.#read('/api/v2/metrics', query, SHAPES.metrics, options);
  }

  /** The account over time, step by step, quiet steps included. */
  async metricsSeries(query: SeriesQuery = {}, options: CallOptions = {}): Promise<MetricsSeries> {
    return this.#read('/api/v2/metrics/series', query, SHAPES.series, options);
  }

  /** The p-values of the account's last validated keys, judged together. */
  async randomness(query: RandomnessQuery = {}, options: CallOptions = {}): Promise<Randomness> {
    return this.#read('/api/v2/metrics/randomness', query, SHAPES.randomness, options);
  }

  /** State of the replica that answers. One that is not ready is an answer, with `success` false. */
  async health(options: CallOptions = {}): Promise<Health> {
    const kind = { shape: SHAPES.health, repeatable: true, alsoAnswers: 503, open: true };
    return this.#send({ method: 'GET', path: '/health', ...kind }, options);
  }

  #read<Answer>(path: string, query: object, shape: Shape, options: CallOptions): Promise<Answer> {
    assertObject('the query', query, '{ hours: 24 }');
    return this.#send({ method: 'GET', path, query, shape, repeatable: true }, options);
  }

  /** The answer has the members that `shape` names; the other ones are as the service's own document says. */
  async #send<Answer>(endpoint: Endpoint, options: CallOptions): Promise<Answer> {
    assertObject('the options of a call', options, '{ signal, requestId }');
    const { signal, requestId } = options;
    assertSignal(signal);
    assertRequestId(requestId);
    const { method, path, body, query = {}, open, ...kind } = endpoint;
    const url = new URL(this.#base + path);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined && value !== null) url.searchParams.set(name, String(value));
    }
    const strict = this.#strict && (body !== undefined || url.search !== '');
    const headers = {
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(strict ? { Prefer: 'handling=strict' } : {}),
      ...(open ? {} : this.#credential),
      ...(requestId === undefined ? {} : { 'X-Request-Id': requestId }),
    };
    const text = body === undefined ? null : JSON.stringify(body);
    const call: Call = { ...kind, method, url, headers, body: text, signal, requestId };
    const transport = open ? { ...this.#transport, turns: null } : this.#transport;
    return (await send(call, transport)) as Answer;
  }
}
