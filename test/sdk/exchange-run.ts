/** Makes the calls of a scripted exchange, and compares what was sent, returned and thrown with the script. */
import assert from 'node:assert/strict';
import { setTimeout as reallyWait, setImmediate } from 'node:timers/promises';
import { inspect } from 'node:util';
import { PhmClient, type PhmClientOptions } from '../../sdk/src/index.ts';
import type { Limit } from '../../sdk/src/limits.ts';
import {
  BODIES,
  type Exchange,
  type Failure,
  isObject,
  type Json,
  type JsonObject,
  resolved,
  type Sent,
  type Step,
} from './exchange-file.ts';
import { ExchangeService, type Seen } from './exchange-service.ts';
import { VirtualClock } from './simulated-service.ts';
import { API_KEY } from './support.ts';

/** Calls that send no API key. */
const OPEN = ['health', 'receipt_by_commitment'];

/** Calls with one request for each batch or page. */
const SEVERAL = ['generate_batch', 'generate_sealed_batch', 'list_keys', 'more'];

/** Seconds by which timers in whole milliseconds may be off. */
const SLACK = 0.005;

/** When virtual time begins. */
const START_MS = Date.parse('2026-02-03T04:05:06Z');

type Options = Record<string, Json>;

type Make = (phm: PhmClient, body: never, options: never) => unknown;

/** The calls that take more than a query. */
const CALLS: Readonly<Record<string, Make>> = {
  generate: (phm, body, options) => phm.generate(body, options),
  generate_sealed: (phm, body, options) => phm.generateSealed(body, options),
  generate_batch: (phm, body, options) => phm.generateBatch(body, options),
  generate_sealed_batch: (phm, body, options) => phm.generateSealedBatch(body, options),
  validate: (phm, body, options) => phm.validate(body, options),
  list_keys: (phm, { labels = {}, ...query }: JsonObject, options) => {
    const label = Object.entries(labels ?? {}).map(([name, value]) => `${name}:${value}`);
    return phm.listKeys({ ...query, ...(label.length > 0 && { label }) }, options);
  },
  get_key: async (phm, { key_id }: JsonObject, options) =>
    (await phm.getKey(key_id as string, options)).key,
  revoke_key: async (phm, { key_id, reason }: JsonObject, options) =>
    (await phm.revokeKey(key_id as string, reason as 'superseded', options)).key,
  receipt: (phm, { key_id }: JsonObject, options) => phm.receipt(key_id as string, options),
  receipt_by_commitment: (phm, { key_id, key_commitment }: JsonObject, options) =>
    phm.receiptByCommitment(key_id as string, key_commitment as string, options),
  'deliveries.list': (phm, query, options) => phm.deliveries.list(query, options),
  'deliveries.fetch': (phm, { recipient, ids }: JsonObject, options) =>
    phm.deliveries.fetch(recipient as string, ids as string[], options),
  'deliveries.remove': (phm, { recipient, ids }: JsonObject, options) =>
    phm.deliveries.remove(recipient as string, ids as string[], options),
  'deliveries.state': async (phm, { delivery_id }: JsonObject, options) =>
    (await phm.deliveries.state(delivery_id as string, options)).delivery,
  health: (phm, _, options) => phm.health(options),
};

/** Returns the call with this Python name, which takes a query. */
function plainRead(call: string): Make {
  const name = call.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return (phm, query, options) => {
    const method = Reflect.get(phm, name) as ((...given: unknown[]) => unknown) | undefined;
    assert.ok(method, `the client has no ${name}`);
    return method.call(phm, query, options);
  };
}

/** Names of the members of an error, by those of the script. */
const MEMBERS: Readonly<Record<string, string>> = {
  outcome_unknown: 'outcomeUnknown',
  retry_after: 'retryAfterSeconds',
  key_ids: 'keyIds',
  max_count: 'maxCount',
  request_id: 'requestId',
  idempotency_key: 'idempotencyKey',
};

/** Runs an exchange, with the time, the timers and the random numbers of this process replaced. */
export async function runExchange(exchange: Exchange): Promise<void> {
  const clock = new VirtualClock();
  const restore = replaceTime(clock, exchange.random ?? 0);
  try {
    await new Run(exchange, clock).all();
  } finally {
    restore();
  }
}

function replaceTime(clock: VirtualClock, random: number): () => void {
  const real = {
    setTimeout: globalThis.setTimeout,
    clearTimeout: globalThis.clearTimeout,
    dateNow: Date.now,
    random: Math.random,
  };
  const now = Object.getOwnPropertyDescriptor(performance, 'now');
  performance.now = () => clock.nowMs();
  Date.now = () => START_MS + clock.nowMs();
  Math.random = () => random;
  const set = (work: () => void, ms: number) => clock.after(ms, work);
  globalThis.setTimeout = set as unknown as typeof setTimeout;
  globalThis.clearTimeout = ((cancel?: () => void) => cancel?.()) as typeof clearTimeout;
  return () => {
    globalThis.setTimeout = real.setTimeout;
    globalThis.clearTimeout = real.clearTimeout;
    Date.now = real.dateNow;
    Math.random = real.random;
    if (now === undefined) Reflect.deleteProperty(performance, 'now');
    else Object.defineProperty(performance, 'now', now);
  };
}

class Run {
  readonly #exchange: Exchange;
  readonly #clock: VirtualClock;
  readonly #service: ExchangeService;
  readonly #phm: PhmClient;
  #iterator: AsyncIterator<object> | undefined;

  constructor(exchange: Exchange, clock: VirtualClock) {
    this.#exchange = exchange;
    this.#clock = clock;
    this.#service = new ExchangeService(clock);
    this.#phm = new PhmClient(optionsOf(exchange.client ?? {}, this.#service));
  }

  async all(): Promise<void> {
    for (const step of this.#exchange.steps) {
      for (let time = 0; time < (step.times ?? 1); time += 1) await this.#step(step);
    }
    const ids = this.#service.seen.map(({ headers }) => headers['x-request-id']);
    assert.equal(new Set(ids).size, ids.length, 'an X-Request-Id was used twice');
    assert.equal(this.#clock.pending, 0, 'a timer is left');
  }

  async #step(step: Step): Promise<void> {
    const service = this.#service;
    const [first, since] = [service.seen.length, this.#clock.nowMs()];
    service.script = [...(step.answers ?? [])];
    const [outcome] = await this.#settle(Promise.allSettled([this.#call(step)]));
    const sent = service.seen.slice(first);
    const failed = outcome.status === 'rejected' ? outcome.reason : undefined;
    const what = failed === undefined ? '' : `: ${inspect(failed)}`;
    assert.equal(service.unexpected, 0, `more was sent than the script has answers for${what}`);
    assert.equal(service.script.length, 0, `answers were not asked for${what}`);
    checkRequests(step, sent);
    if (step.at !== undefined)
      checkTimes(
        step.at,
        sent.map(({ atMs }) => atMs - since),
      );
    if (step.ends !== undefined) checkTimes([step.ends], [this.#clock.nowMs() - since]);
    if (step.limits !== undefined) assert.deepEqual(limitsOf(this.#phm), step.limits);
    if (step.fails) checkFailure(step.fails, failed, sent.at(-1));
    else if (failed !== undefined) throw failed;
    else checkValue(step, (outcome as PromiseFulfilledResult<unknown>).value);
  }

  async #call(step: Step): Promise<unknown> {
    const { call, args = {}, read = Number.POSITIVE_INFINITY } = step;
    if (call === 'more') return this.#take(read);
    const make = CALLS[call] ?? plainRead(call);
    const { request_id, idempotency_key, chunk, ...body } = resolved(args) as JsonObject;
    const options: Options = {};
    if (request_id !== undefined) options.requestId = request_id;
    if (idempotency_key !== undefined) options.idempotencyKey = idempotency_key;
    if (chunk !== undefined) options.chunk = chunk;
    const made = make(this.#phm, body as never, options as never);
    if (!(made instanceof Object && Symbol.asyncIterator in made)) return made;
    this.#iterator = (made as AsyncIterable<object>)[Symbol.asyncIterator]();
    return this.#take(read);
  }

  /** Returns the next items of the iterator that the last call made. */
  async #take(most: number): Promise<object[]> {
    const items: object[] = [];
    while (items.length < most) {
      const { done, value } = (await this.#iterator?.next()) ?? assert.fail('no iterator');
      if (done) break;
      items.push(value);
    }
    return items;
  }

  /** Moves time on whenever nothing else can happen. */
  async #settle<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    promise.then(() => {
      settled = true;
    });
    for (;;) {
      await setImmediate();
      if (settled) return promise;
      // Without a timer, the platform computes something.
      if (!this.#clock.advance()) await reallyWait(1);
    }
  }
}

function optionsOf(client: JsonObject, { fetch }: ExchangeService): PhmClientOptions {
  const { base_path = '', timeout, attempt_timeout, api_key = API_KEY, ...rest } = client;
  const ms = (seconds: Json | undefined) => seconds && Math.round(Number(seconds) * 1_000);
  const options = {
    apiKey: api_key,
    timeoutMs: ms(timeout),
    attemptTimeoutMs: ms(attempt_timeout),
    maxRetries: rest.max_retries,
    pace: rest.pace,
    strict: rest.strict,
  };
  const given = Object.entries(options).filter(([, value]) => (value ?? null) !== null);
  return { baseUrl: `http://keys.example${base_path}`, fetch, ...Object.fromEntries(given) };
}

function limitsOf({ lastLimits: { quota, rate } }: PhmClient): object {
  const one = (limit: Limit | null) =>
    limit && {
      limit: limit.limit,
      remaining: limit.remaining,
      window: limit.windowSeconds,
      reset: limit.resetSeconds,
    };
  return { quota: one(quota), rate: one(rate) };
}

function checkTimes(expected: readonly number[], actualMs: readonly number[]): void {
  const actual = actualMs.map((ms) => ms / 1_000);
  const fits = expected.every((time, i) => Math.abs(time - (actual[i] ?? -1)) <= SLACK);
  assert.ok(fits && actual.length === expected.length, `at ${actual} s, not at ${expected} s`);
}

function checkRequests({ call, args = {}, sends }: Step, sent: readonly Seen[]): void {
  for (const request of sent) checkRequest(request, call, args);
  const [first] = sent;
  if (!SEVERAL.includes(call))
    for (const one of sent) assert.deepEqual(plain(one), first && plain(first));
  if (sends === undefined) return;
  const expected: readonly Sent[] = Array.isArray(sends) ? sends : sent.map(() => sends as Sent);
  assert.equal(expected.length, sent.length, 'another number of requests');
  for (const [i, one] of sent.entries()) checkSent(expected[i] ?? {}, one);
}

/** Returns what is the same in every attempt. */
function plain({ headers, atMs: _, ...request }: Seen): object {
  return { ...request, headers: { ...headers, 'x-request-id': '' } };
}

/** Checks what is true of every request. */
function checkRequest({ headers, body }: Seen, call: string, args: JsonObject): void {
  const id = headers['x-request-id'] ?? '';
  const label = typeof args.request_id === 'string' ? `${args.request_id}.` : '';
  assert.ok(id.startsWith(label), id);
  assert.match(id.slice(label.length), label === '' ? /^[0-9a-f]{32}$|\./ : /^[0-9a-f]{16}$/);
  assert.equal(headers['x-api-key'], OPEN.includes(call) ? undefined : API_KEY);
  assert.equal(headers['accept-encoding'], 'identity');
  assert.equal(headers['content-type'], body === null ? undefined : 'application/json');
}

function checkSent({ line, query, headers = {}, body }: Sent, sent: Seen): void {
  if (line !== undefined) assert.equal(sent.line, line);
  if (query !== undefined) {
    const lists = Object.entries(query).map(([name, value]) => [name, [value].flat()]);
    assert.deepEqual(sent.query, Object.fromEntries(lists));
  }
  if (body !== undefined) assert.deepEqual(sent.body, resolved(body));
  for (const [name, value] of Object.entries(headers)) checkText(sent.headers[name] ?? null, value);
}

/** Compares a text with another one, or with a pattern between slashes. */
function checkText(actual: string | null, expected: string | null): void {
  if (expected?.startsWith('/')) assert.match(actual ?? '', new RegExp(expected.slice(1, -1)));
  else assert.equal(actual, expected);
}

/** Checks an error, and that it shows no secret and no character that acts on a terminal. */
function checkFailure(expected: Failure, error: unknown, last: Seen | undefined): void {
  assert.ok(error instanceof Error, 'the call did not fail');
  const {
    class: name,
    message,
    why: _,
    request_id,
    idempotency_key,
    timeout,
    ...members
  } = expected;
  if (name === 'argument')
    assert.ok(error instanceof TypeError || error instanceof RangeError, String(error));
  else assert.equal(error.name, name, inspect(error));
  const own = error as unknown as Record<string, Json>;
  const words = typeof message === 'object' ? message.typescript : message;
  if (words !== undefined) assert.match(error.message, new RegExp(words, 'u'));
  for (const [member, value] of Object.entries(members)) {
    assert.deepEqual(
      own[MEMBERS[member] ?? member] ?? null,
      value,
      `${member} of ${inspect(error)}`,
    );
  }
  if (timeout !== undefined) assert.equal(own.timeoutMs, Number(timeout) * 1_000);
  checkHeader(own.requestId, request_id, last?.headers['x-request-id']);
  checkHeader(own.idempotencyKey, idempotency_key, last?.headers['idempotency-key']);
  const shown = inspect(error, { depth: 9, showHidden: true, getters: true }) + error.stack;
  for (const secret of [API_KEY, String(BODIES.key).slice(32)]) assert.ok(!shown.includes(secret));
  assert.doesNotMatch(error.message, /[\p{Cc}\p{Cf}\p{Zl}\u3164]|\ufe0f/u);
}

function checkHeader(
  actual: Json | undefined,
  expected: string | null | undefined,
  sent = '',
): void {
  if (expected !== undefined) assert.equal(actual, expected === '$sent' ? sent : expected);
}

function checkValue({ returns, count }: Step, value: unknown): void {
  if (count !== undefined) assert.equal((value as unknown[]).length, count);
  if (returns !== undefined) assertHas(value as Json, resolved(returns as Json), '');
}

/** Asserts that a value has the expected members, and others as well; and that a list has no others. */
function assertHas(value: Json | undefined, expected: Json, at: string): void {
  if (Array.isArray(expected)) {
    assert.equal((value as Json[] | undefined)?.length, expected.length, `the length of ${at}`);
    for (const [i, one] of expected.entries()) assertHas((value as Json[])[i], one, `${at}/${i}`);
  } else if (isObject(expected)) {
    for (const [name, one] of Object.entries(expected)) {
      assertHas((value as JsonObject | undefined)?.[name], one, `${at}/${name}`);
    }
  } else assert.deepEqual(value ?? null, expected, at);
}
