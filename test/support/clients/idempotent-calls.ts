/**
 * Clients that send requests with an `Idempotency-Key` until each has an outcome, whatever happens to the servers
 * meanwhile, and keep the outcomes.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { encodeBase64Url, newRecipient, type RecipientKey, SEAL_SUITES } from '#sealing';
import type { Json } from '../texts/receipt-by-the-page.ts';

/** One request of a client. Its retries are equal to it. */
export interface Call {
  readonly idempotencyKey: string;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Number of keys. */
  readonly count: number;
  /** Null for plaintext keys. */
  readonly recipient: RecipientKey | null;
}

/** The first final answer to a call. */
export interface Outcome {
  readonly call: Call;
  readonly status: 200 | 409;
  /** The body as it came. */
  readonly text: string;
  readonly keyIds: readonly string[];
  /** The answer of 200 was a replay. */
  readonly replayed: boolean;
  /** Requests that had no answer or another refusal before. */
  readonly retries: number;
}

/** The members of one key in an answer of 200. */
export interface AnsweredKey {
  readonly key_id: string;
  readonly key?: string;
  readonly opening?: string;
  readonly receipt?: { readonly statement: Json; readonly proof: string } | null;
  readonly sealed_key?: Json;
  readonly sealed_keys?: readonly Json[];
}

interface Reply {
  readonly status: number;
  readonly replayed: boolean;
  readonly text: string;
  readonly body: Json;
}

/** Refusals after which the same request is sent again. A server on a slow machine can judge few keys in time, and more later. */
const AGAIN =
  /^(409 idempotency_in_progress|413 batch_too_large|503 (overloaded|ledger_unavailable|entropy_unavailable))$/;

/** Pause before a retry: in all about as long as a server needs to start. */
const RETRY_MS = 25;

/** A call without an outcome after this time fails: longer than the slowest machine takes, and less than the limit of a file. */
const PATIENCE_MS = 1_500_000;

const LEVELS = [128, 256, 384];

/** Returns a new recipient for each suite. */
export function newRecipients(): Promise<RecipientKey[]> {
  return Promise.all(SEAL_SUITES.map(({ name }) => newRecipient(name)));
}

function sealTo({ suite, publicKey }: RecipientKey) {
  return { suite, public_key: encodeBase64Url(publicKey) };
}

/** Returns a call. `fields` are those of the body beside `seal_to` and `count`; `others` are recipients beside the first. */
export function makeCall(
  fields: Readonly<Record<string, unknown>>,
  recipient: RecipientKey | null = null,
  count: number | null = null,
  others: readonly RecipientKey[] = [],
): Call {
  const sealed = recipient ? '/sealed' : '';
  return {
    idempotencyKey: randomUUID(),
    path: `/api/v2/generate${sealed}${count === null ? '' : '/batch'}`,
    body: {
      ...fields,
      ...(recipient && {
        seal_to: others.length === 0 ? sealTo(recipient) : [recipient, ...others].map(sealTo),
      }),
      ...(count !== null && { count }),
    },
    count: count ?? 1,
    recipient,
  };
}

/**
 * Returns calls of every kind: of ten, six have one key and four have 2 to 20; half are sealed, to recipients with both
 * suites; one in twenty is validated; `receiptShare` of them ask for receipts.
 */
export async function mixedCalls(
  count: number,
  random: () => number,
  receiptShare = 0.25,
): Promise<Call[]> {
  const recipients = await newRecipients();
  const below = (bound: number) => Math.floor(random() * bound);
  return Array.from({ length: count }, () => {
    const isValidated = random() < 0.05;
    const recipient = recipients[below(2 * recipients.length)] ?? null;
    const keys = random() < 0.6 ? null : 2 + below(isValidated ? 2 : 19);
    const fields = {
      security_level: LEVELS[below(3)],
      ...(isValidated && { enable_nist_validation: true }),
      ...(random() < receiptShare && { include: ['receipt'] }),
    };
    return makeCall(fields, recipient, keys);
  });
}

/** Sends a call once. Rejects if the connection ends before the answer does. */
export async function sendOnce(
  address: string,
  apiKey: string,
  call: Call,
  signal: AbortSignal | null = null,
): Promise<Reply> {
  const response = await fetch(`${address}${call.path}`, {
    method: 'POST',
    signal,
    headers: {
      'X-API-Key': apiKey,
      'Content-Type': 'application/json',
      'Idempotency-Key': call.idempotencyKey,
    },
    body: JSON.stringify(call.body),
  });
  const text = await response.text();
  const replayed = response.headers.get('idempotent-replayed') === 'true';
  return { status: response.status, replayed, text, body: JSON.parse(text) };
}

/** Returns the keys in the body of an answer of 200. */
export function keysOf(body: Json): AnsweredKey[] {
  return body.keys ?? [body];
}

/** True if two answers of 200 to this call are equal. A receipt may come later or with a newer checkpoint. */
export function isSameAnswer({ body }: Call, one: string, other: string): boolean {
  if (body.include === undefined) return one === other;
  return withoutReceipts(one) === withoutReceipts(other);
}

function withoutReceipts(text: string): string {
  const body = JSON.parse(text);
  for (const one of [body, ...keysOf(body)]) delete one.receipt;
  return JSON.stringify(body);
}

/** Returns the key IDs of a 409, or null if it is another one. */
export function alreadyMade({ status, body }: Reply): string[] | null {
  if (status !== 409 || body.code !== 'key_already_made') return null;
  return body.key_ids ?? [body.key_id];
}

/** An outcome, or in words why the answer is none; null if the call must be sent again. */
function judge(call: Call, reply: Reply, retries: number): Outcome | string | null {
  const { status, text, replayed, body } = reply;
  const made = alreadyMade(reply);
  if (made && call.recipient === null) {
    return { call, status: 409, text, keyIds: made, replayed, retries };
  }
  if (status === 200) {
    const keyIds = keysOf(body).map(({ key_id: keyId }) => keyId);
    return { call, status, text, keyIds, replayed, retries };
  }
  const name = `${status} ${body?.code}`;
  return AGAIN.test(name) ? null : `${call.path}: ${name}, ${body?.detail}`;
}

export class IdempotentClients {
  readonly outcomes: Outcome[] = [];
  /** Answers that no client should get. */
  readonly wrong: string[] = [];
  /** Requests without an answer. */
  unanswered = 0;
  readonly #apiKey: string;
  readonly #addresses: () => readonly string[];
  #next = 0;

  /** `addresses` returns those of the servers that run now; clients take them in turn. */
  constructor(apiKey: string, addresses: () => readonly string[]) {
    this.#apiKey = apiKey;
    this.#addresses = addresses;
  }

  /** Sends these calls, `clients` at a time, and resolves when each has an outcome. */
  async run(calls: readonly Call[], clients: number): Promise<void> {
    const waiting = [...calls].reverse();
    const client = async () => {
      for (let call = waiting.pop(); call; call = waiting.pop()) await this.#complete(call);
    };
    await Promise.all(Array.from({ length: clients }, client));
  }

  /**
   * Sends `copies` of a call at once, to the servers in turn. One of them may make the keys; the answers to the others
   * must agree with it, or tell the client to try again. Returns the number of copies that got an outcome.
   */
  async race(call: Call, copies: number): Promise<number> {
    const replies = await Promise.all(Array.from({ length: copies }, () => this.#send(call)));
    const judged = replies.map((reply) => reply && judge(call, reply, 0));
    this.wrong.push(...judged.filter((one) => typeof one === 'string'));
    const outcomes = judged.filter((one) => typeof one === 'object' && one !== null);
    const [winner, ...others] = outcomes.filter(
      ({ status, replayed }) => status === 200 && !replayed,
    );
    if (others.length > 0)
      this.wrong.push(`${call.path}: ${others.length + 1} answers with new keys`);
    if (!winner) {
      await this.#complete(call);
      return outcomes.length;
    }
    this.outcomes.push(winner);
    for (const { status, keyIds, text } of outcomes) {
      const isSame =
        status === 200 ? isSameAnswer(call, winner.text, text) : call.recipient === null;
      if (!isSame || keyIds.join() !== winner.keyIds.join()) {
        this.wrong.push(`${call.path}: ${status} disagrees with the first answer`);
      }
    }
    return outcomes.length;
  }

  async #complete(call: Call): Promise<void> {
    const end = Date.now() + PATIENCE_MS;
    for (let retries = 0; Date.now() < end; retries++) {
      const reply = await this.#send(call);
      const judged = reply && judge(call, reply, retries);
      if (typeof judged === 'string') this.wrong.push(judged);
      else if (judged) this.outcomes.push(judged);
      if (judged) return;
      await delay(RETRY_MS);
    }
    this.wrong.push(`${call.path}: no outcome`);
  }

  async #send(call: Call): Promise<Reply | null> {
    const addresses = this.#addresses();
    const address = addresses[this.#next++ % addresses.length];
    if (address === undefined) return null;
    try {
      return await sendOnce(address, this.#apiKey, call);
    } catch {
      this.unanswered += 1;
      return null;
    }
  }
}
