/** The service of an exchange: a replacement of `fetch` that answers by the script, in virtual time. */
import assert from 'node:assert/strict';
import {
  type Answer,
  BODIES,
  isObject,
  type Json,
  type JsonObject,
  merge,
  resolved,
} from './exchange-file.ts';
import type { VirtualClock } from './simulated-service.ts';

const MIB = 2 ** 20;

export interface Seen {
  readonly line: string;
  readonly query: Readonly<Record<string, readonly string[]>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json;
  readonly atMs: number;
}

interface Rendered {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly text: string;
}

export class ExchangeService {
  readonly seen: Seen[] = [];
  /** Answers to the next requests. */
  script: Answer[] = [];
  /** Requests beyond the script. */
  unexpected = 0;
  readonly #clock: VirtualClock;
  readonly #sent: Rendered[] = [];
  #made = 0;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  readonly fetch = async (url: string, init: RequestInit): Promise<Response> => {
    assert.equal(init.redirect, 'manual', 'a redirect would be followed');
    const request = this.#note(new URL(url), init);
    const answer = this.script.shift();
    if (answer === undefined) {
      this.unexpected += 1;
      throw brokenConnection();
    }
    const signal = init.signal ?? new AbortController().signal;
    if (answer.after !== undefined) await this.#wait(answer.after * 1_000, signal);
    return this.#respond(answer, request, signal);
  };

  #note(url: URL, { method, headers, body }: RequestInit): Seen {
    const names = [...new Set(url.searchParams.keys())];
    const seen = {
      line: `${method} ${url.pathname}`,
      query: Object.fromEntries(names.map((name) => [name, url.searchParams.getAll(name)])),
      headers: Object.fromEntries(new Headers(headers as Record<string, string>)),
      body: body ? (JSON.parse(String(body)) as Json) : null,
      atMs: this.#clock.nowMs(),
    };
    this.seen.push(seen);
    return seen;
  }

  #wait(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancel = this.#clock.after(ms, resolve);
      signal.addEventListener('abort', () => {
        cancel();
        reject(signal.reason);
      });
    });
  }

  async #respond(answer: Answer, request: Seen, signal: AbortSignal): Promise<Response> {
    const { fault } = answer;
    if (fault === 'refused') throw refusedConnection();
    if (fault === 'broken') throw brokenConnection();
    if (fault === 'silent') await this.#wait(1e9, signal);
    const rendered = this.#rendered(answer, request);
    this.#sent[this.seen.length - 1] = rendered;
    const { status, headers, text } = rendered;
    return new Response(bodyOf(text, answer, signal), { status, headers });
  }

  #rendered(answer: Answer, request: Seen): Rendered {
    const id = request.headers['x-request-id'] ?? '';
    if (answer.repeats !== undefined) {
      const earlier = this.#sent[answer.repeats - 1] ?? assert.fail('no such answer');
      const headers = { ...earlier.headers, ...(answer.echo && { 'x-request-id': id }) };
      return { ...earlier, headers };
    }
    const { status, type, text } = this.#content(answer);
    const headers: Record<string, string> = { 'content-type': type };
    const isOurs = answer.html === undefined;
    const stated = { ...(isOurs && { 'x-request-id': id }), ...answer.headers };
    for (const [name, value] of Object.entries(stated)) {
      if (value !== null) headers[name] = String(resolved(value));
    }
    return { status, headers, text };
  }

  #content(answer: Answer): { status: number; type: string; text: string } {
    const { html, text, problem, status = 200, with: members = {} } = answer;
    if (html !== undefined) return { status: html, type: 'text/html', text: `<h1>${html}</h1>` };
    // The beginning of a body that does not end is always the same.
    const whole = answer.fault === undefined ? text : '';
    if (whole !== undefined)
      return { status, type: 'application/json', text: String(resolved(whole)) };
    if (problem !== undefined) {
      const type = 'application/problem+json; charset=utf-8';
      const body = merge(problemBody(problem, answer.status), members);
      return { status: Number(body.status), type, text: JSON.stringify(resolved(body)) };
    }
    const body = { success: true, ...(resolved(this.#members(answer)) as JsonObject) };
    return { status, type: 'application/json', text: JSON.stringify(body) };
  }

  #members(answer: Answer): JsonObject {
    const { with: members = {}, without = [] } = answer;
    return withMembers(this.#base(answer), members, without);
  }

  #base({
    batch,
    page,
    next = null,
    each = {},
    of = 'generated',
    body,
    number,
  }: Answer): JsonObject {
    const timestamp = BODIES.timestamp ?? null;
    if (page !== undefined) {
      const keys = page.map((one) => merge(numbered(BODIES.info, one), each));
      return { keys, next_cursor: next, timestamp };
    }
    if (batch !== undefined) {
      const numbers = typeof batch === 'number' ? this.#next(batch) : batch;
      const keys = numbers.map((one) => merge(numbered(BODIES[of], one), each));
      return { keys, count: keys.length, timestamp };
    }
    const named = BODIES[body ?? ''];
    assert.ok(isObject(named), `${body} is no body`);
    return number === undefined ? named : numbered(named, number);
  }

  #next(count: number): number[] {
    this.#made += count;
    return Array.from({ length: count }, (_, i) => this.#made - count + i + 1);
  }
}

/** Merges members, and removes others by their paths. */
function withMembers(
  body: JsonObject,
  members: JsonObject,
  without: readonly string[],
): JsonObject {
  const changed = structuredClone(merge(body, members)) as Record<string, Json>;
  for (const path of without) {
    const names = path.split('/');
    const last = names.pop() ?? '';
    const parent = names.reduce<Json>((one, name) => (one as JsonObject)[name] ?? null, changed);
    Reflect.deleteProperty(parent as object, last);
  }
  return changed;
}

/** Returns a body of the key with this number, which no other number has in common with it. */
function numbered(body: Json | undefined, number: number): JsonObject {
  assert.ok(isObject(body));
  const key_id = `phm_${number}`;
  const padded = (length: number) => Buffer.from(key_id.padEnd(length, '.')).toString('base64url');
  const hex = number.toString(16).padStart(8, '0').repeat(12);
  const over: Record<string, Json> = { key_id };
  if (typeof body.key === 'string') over.key = hex.slice(0, body.key.length);
  if (body.sealed_key) {
    const header = { $base64url: { key_id } };
    over.sealed_key = { enc: padded(1_120), ciphertext: padded(240), header };
  }
  if (body.receipt) over.receipt = { statement: { key_id } };
  if (body.receipt_url) over.receipt_url = `/api/v2/keys/${key_id}/receipt`;
  return merge(body, over);
}

/** A problem document as the service writes it. */
function problemBody(code: string, status: number | undefined): JsonObject {
  return {
    success: false,
    type: `urn:phm:error:${code}`,
    title: 'Title',
    status: status ?? (BODIES.statuses as JsonObject)[code] ?? assert.fail(`no status of ${code}`),
    detail: 'Do something.',
    code,
    help: `docs/errors#${code}`,
    request_id: 'of-the-body',
    timestamp: BODIES.timestamp ?? null,
  };
}

function bodyOf(text: string, { fault, padding_mib }: Answer, signal: AbortSignal) {
  if (fault === undefined && padding_mib === undefined) return text;
  let left = padding_mib ?? 0;
  const spaces = new Uint8Array(MIB).fill(0x20);
  return new ReadableStream<Uint8Array>({
    start: (controller) => {
      if (fault === undefined) return;
      controller.enqueue(new TextEncoder().encode('{"success": true'));
      if (fault === 'half') controller.error(terminated());
      else signal.addEventListener('abort', () => controller.error(signal.reason));
    },
    pull: (controller) => {
      if (fault !== undefined) return;
      left -= 1;
      if (left >= 0) return controller.enqueue(spaces);
      controller.enqueue(new TextEncoder().encode(text));
      controller.close();
    },
  });
}

/** What the `fetch` of Node rejects with if nobody listens. */
function refusedConnection(): TypeError {
  const cause = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:9'), {
    code: 'ECONNREFUSED',
    syscall: 'connect',
  });
  return new TypeError('fetch failed', { cause });
}

/** What it rejects with if the connection ends before the answer. */
function brokenConnection(): TypeError {
  const cause = Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' });
  return new TypeError('fetch failed', { cause });
}

/** What the body errors with if the connection ends within it. */
function terminated(): TypeError {
  const cause = Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' });
  return new TypeError('terminated', { cause });
}
