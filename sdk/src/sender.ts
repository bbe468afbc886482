/** Sends the calls of one client, with what they share: the address of the service, the API key, time limits and hooks. */
import type { Belongs } from './belonging.ts';
import { assertCallOptions, type CallOptions, type PhmClientOptions } from './client-options.ts';
import { type Limits, NO_LIMITS } from './limits.ts';
import {
  assertBoolean,
  assertFunction,
  assertObject,
  checkApiKey,
  readDurations,
  resolveBase,
} from './options.ts';
import { withoutProxy } from './proxy.ts';
import type { Repeatable } from './retry.ts';
import type { Shape } from './shapes.ts';
import { type Call, type Fetch, send, type TransportOptions } from './transport.ts';
import { Turns } from './turns.ts';

export interface Endpoint {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: object;
  readonly query?: object;
  readonly shape: Shape;
  readonly belongs?: Belongs;
  readonly repeatable: Repeatable;
  /** `Idempotency-Key` of the call. */
  readonly idempotencyKey?: string | undefined;
  readonly places?: number;
  readonly extraMs?: number;
  readonly alsoAnswers?: number;
  /** True if the endpoint needs no API key, and so has not its rate limit. */
  readonly open?: boolean;
}

export class Sender {
  /** URL of the service, without trailing slashes. */
  readonly base: string;
  readonly #transport: TransportOptions;
  readonly #credential: Readonly<Record<string, string>>;
  readonly #strict: boolean;
  #lastLimits: Limits = NO_LIMITS;

  /** Throws `TypeError` or `RangeError` for invalid options. */
  constructor(options: PhmClientOptions) {
    assertObject('the options', options, "{ baseUrl: 'https://keys.example', apiKey }");
    const { apiKey, onRequest, onRetry, pace = true, strict = true } = options;
    const { fetch = ownFetch } = options;
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
    this.base = resolveBase(options.baseUrl);
    this.#credential = apiKey === undefined ? {} : { 'X-API-Key': checkApiKey(apiKey) };
  }

  /** Limits from the latest response; all null before the first. */
  get lastLimits(): Limits {
    return this.#lastLimits;
  }

  /** Sends a call. Only the members in `shape` are checked; the service's OpenAPI document describes the others. */
  async send<Answer>(endpoint: Endpoint, options: CallOptions): Promise<Answer> {
    assertCallOptions(options);
    const { signal, requestId } = options;
    const { method, path, body, query = {}, open, idempotencyKey, ...kind } = endpoint;
    const url = new URL(this.base + path);
    for (const [name, value] of Object.entries(query)) {
      for (const one of [value].flat()) {
        if (one !== undefined && one !== null) url.searchParams.append(name, String(one));
      }
    }
    const strict = this.#strict && (body !== undefined || url.search !== '');
    const headers = {
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(strict ? { Prefer: 'handling=strict' } : {}),
      ...(open ? {} : this.#credential),
      ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
    };
    if (this.#transport.fetch === ownFetch) withoutProxy(url);
    const text = body === undefined ? null : JSON.stringify(body);
    const call: Call = { ...kind, method, url, headers, body: text, signal, requestId };
    const transport = open ? { ...this.#transport, turns: null } : this.#transport;
    return (await send(call, transport)) as Answer;
  }
}

/** Looks for the global one at each call. */
const ownFetch: Fetch = (url, init) =>
  globalThis.fetch(url, { ...init, ...withoutProxy(new URL(url)) } as RequestInit);
