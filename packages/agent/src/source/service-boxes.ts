/**
 * The boxes of a PHM key service, through its TypeScript client. A copy counts only with a receipt that verifies against the
 * pinned policy: HPKE does not authenticate a sender, so anyone could seal a key of their own to this recipient.
 */
import { setImmediate as turn } from 'node:timers/promises';
import {
  openSealedKey,
  PhmApiError,
  PhmClient,
  PhmResponseError,
  type RecipientKey,
  SealedKeyError,
} from '../../../../sdk/src/index.ts';
import type { Clock } from '../clock.ts';
import {
  BATCH,
  type CopyState,
  type DeliveryState,
  type Fetched,
  type KeyBoxes,
  type Listing,
  type MakeOrder,
  type OpenedCopy,
  SourceError,
} from './key-boxes.ts';

interface ServiceOptions {
  readonly url: string;
  readonly apiKey: string;
  readonly policy: string;
  /** The name of the service's log in that policy: a receipt of another one does not count. */
  readonly origin: string;
  /** The name under which the service has registered the own public key. */
  readonly recipient: string;
  readonly recipientKey: RecipientKey;
  /** How long a key lives, from the time that its copy states. The service could state a later end each time. */
  readonly lifeMs: number;
  readonly clock: Clock;
  /** Replaces the global `fetch`, for tests. */
  readonly fetch?: typeof fetch;
}

/** Longest wait of the service for a new copy, in seconds. */
const WAIT_S = 30;

/** A listing goes through all copies once, and then waits for new ones. */
const WAITING = 'waiting';

/** These mean that none of the copies is in the box. */
const GONE = ['delivery_gone', 'delivery_not_found'];

type FetchedCopies = Awaited<ReturnType<PhmClient['deliveries']['fetch']>>['deliveries'];

export class ServiceBoxes implements KeyBoxes {
  readonly #client: PhmClient;
  readonly #given: ServiceOptions;
  /** Made by this process: their keys came with the answer, and the service waits for their copies to be fetched. */
  readonly #made = new Set<string>();

  constructor(given: ServiceOptions) {
    const { url: baseUrl, apiKey, fetch } = given;
    this.#client = new PhmClient({ baseUrl, apiKey, ...(fetch && { fetch }) });
    this.#given = given;
  }

  async make(order: MakeOrder, signal: AbortSignal): Promise<readonly OpenedCopy[]> {
    const { ids, size, parties, context, lifeMs } = order;
    const expiresAtMs = this.#given.clock.nowMs() + lifeMs;
    const body = {
      count: ids.length,
      security_level: size,
      seal_to: parties.map(({ recipient }) => ({ recipient })),
      deliver: { ids: [...ids], context, for: `${Math.floor(lifeMs / 1000)}s` },
      include: ['receipt'],
    } as const;
    const answers: unknown[] = [];
    await served(async () => {
      const options = { chunk: ids.length, signal };
      for await (const one of this.#client.generateSealedBatch(body, options)) answers.push(one);
    });
    return this.#openMade(answers, new Set(ids), expiresAtMs);
  }

  async #openMade(
    answers: readonly unknown[],
    ordered: Set<string>,
    expiresAtMs: number,
  ): Promise<OpenedCopy[]> {
    const copies: OpenedCopy[] = [];
    for (const answer of answers) {
      // Without a receipt, or not as it should be: the copy in the box will show it.
      const copy = await this.#open(answer, expiresAtMs).catch(ignoreSealed);
      if (copy === null || !ordered.delete(copy.id)) continue;
      this.#made.add(copy.id);
      copies.push(copy);
    }
    return copies;
  }

  async list(after: string | null, signal: AbortSignal): Promise<Listing> {
    if (after === WAITING) return this.#wait(signal);
    const { state, cursor } = placeOf(after);
    const query = {
      recipient: this.#given.recipient,
      state,
      limit: BATCH,
      ...(cursor && { cursor }),
    };
    const { deliveries, next_cursor: next } = await served(() =>
      this.#client.deliveries.list(query, { signal }),
    );
    const ids = deliveries.map(({ delivery_id: id }) => id);
    if (next !== null) return { ids, cursor: `${state} ${next}`, isEnd: false };
    return state === 'received'
      ? { ids, cursor: 'waiting ', isEnd: false }
      : { ids, cursor: WAITING, isEnd: true };
  }

  /** Waits for copies that nobody has fetched. Those that this process had made are fetched, so that they wait no more. */
  async #wait(signal: AbortSignal): Promise<Listing> {
    const query = {
      recipient: this.#given.recipient,
      state: 'waiting',
      limit: BATCH,
      wait: WAIT_S,
    } as const;
    const { deliveries } = await served(() => this.#client.deliveries.list(query, { signal }));
    const ids = deliveries.map(({ delivery_id: id }) => id);
    const made = ids.filter((id) => this.#made.delete(id));
    if (made.length > 0) await this.#fetch(made, signal).catch(ignoreUnfit);
    return { ids: ids.filter((id) => !made.includes(id)), cursor: WAITING, isEnd: true };
  }

  async fetch(ids: readonly string[], signal: AbortSignal): Promise<readonly Fetched[]> {
    try {
      const copies = await this.#fetch(ids, signal);
      const results: Fetched[] = [];
      for (const copy of copies) results.push(await this.#result(copy));
      return results;
    } catch (error) {
      if (!isUnfit(error)) throw error;
      return ids.length > 1 ? this.#fetchHalves(ids, signal) : this.#refuse(ids, error, signal);
    }
  }

  /** The client refuses a whole answer for one copy that is not what its delivery states: the others are in the other half. */
  async #fetchHalves(ids: readonly string[], signal: AbortSignal): Promise<readonly Fetched[]> {
    const half = ids.length >> 1;
    const first = await this.fetch(ids.slice(0, half), signal);
    try {
      return [...first, ...(await this.fetch(ids.slice(half), signal))];
    } catch (error) {
      for (const one of first) if (one.kind === 'opened') one.copy.key.fill(0);
      throw error;
    }
  }

  /** A list that the client accepts shows that it is the service that answers, and no other server. */
  async #refuse(
    ids: readonly string[],
    { message: reason }: SourceError,
    signal: AbortSignal,
  ): Promise<readonly Fetched[]> {
    const query = { recipient: this.#given.recipient, limit: 1 };
    await served(() => this.#client.deliveries.list(query, { signal }));
    return ids.map((id) => ({ kind: 'refused', id, reason }));
  }

  async #fetch(ids: readonly string[], signal: AbortSignal): Promise<FetchedCopies> {
    const { recipient } = this.#given;
    const none = ids.map((id) => ({ delivery_id: id, state: 'unknown' as const }));
    return served(() =>
      unlessGone(
        async () => (await this.#client.deliveries.fetch(recipient, ids, { signal })).deliveries,
        none,
      ),
    );
  }

  async #result(copy: FetchedCopies[number]): Promise<Fetched> {
    const { delivery_id: id, state, until, receipt } = copy;
    if (state !== 'received') return { kind: 'gone', id };
    if (receipt === null) return { kind: 'pending', id };
    try {
      const opened = await this.#open(copy, Date.parse(until ?? ''));
      if (opened.id === id) return { kind: 'opened', copy: opened };
      opened.key.fill(0);
      return { kind: 'refused', id, reason: 'it states another delivery' };
    } catch (error) {
      if (!(error instanceof SealedKeyError)) throw error;
      return { kind: 'refused', id, reason: error.message };
    }
  }

  /** Rejects with `SealedKeyError` if anything does not hold. */
  async #open(answer: unknown, expiresAtMs: number): Promise<OpenedCopy> {
    // Opening takes milliseconds of this thread.
    await turn();
    const { policy, origin, recipientKey, lifeMs } = this.#given;
    const opened = await openSealedKey(answer, recipientKey, { policy });
    const { key, opening, header, recipients } = opened;
    opening.fill(0);
    const delivery = 'delivery' in header ? header.delivery : null;
    const endMs = Math.min(expiresAtMs, Date.parse(header.time) + lifeMs);
    const isWhole = delivery !== null && header.service === origin && Number.isFinite(endMs);
    if (isWhole) {
      const { id, context } = delivery;
      const { key_id, key_commitment: commitment } = header;
      const origins = [{ service: origin, key_id, commitment }];
      return { id, key, thumbprints: recipients, context, expiresAtMs: endMs, origins };
    }
    key.fill(0);
    throw new SealedKeyError('The sealed key is of no delivery of this service with an end.', null);
  }

  async remove(ids: readonly string[], signal: AbortSignal): Promise<void> {
    const { recipient } = this.#given;
    for (const id of ids) this.#made.delete(id);
    await served(() =>
      unlessGone(async () => {
        await this.#client.deliveries.remove(recipient, ids, { signal });
      }, undefined),
    );
  }

  async state(id: string, signal: AbortSignal): Promise<DeliveryState | null> {
    const states = async (): Promise<DeliveryState> => {
      const { delivery } = await this.#client.deliveries.state(id, { signal });
      return new Map(delivery.recipients.map((one) => [one.recipient, copyState(one.state)]));
    };
    return served(() => unlessGone(states, null));
  }
}

function copyState(state: string): CopyState {
  return state === 'waiting' || state === 'received' ? state : 'gone';
}

function placeOf(after: string | null): {
  readonly state: 'received' | 'waiting';
  readonly cursor: string;
} {
  const [state = '', cursor = ''] = (after ?? 'received ').split(' ');
  return { state: state === 'received' ? state : 'waiting', cursor };
}

/** Rejects with `SourceError`, whose message is that of the client: it holds no secret. */
async function served<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    throw new SourceError(cause instanceof Error ? cause.message : 'aborted', { cause });
  }
}

/** Reports whether an answer came that is not one to this request. */
function isUnfit(error: unknown): error is SourceError {
  const cause = error instanceof SourceError ? error.cause : null;
  return cause instanceof PhmResponseError && cause.status === 200;
}

function ignoreUnfit(error: unknown): void {
  if (!isUnfit(error)) throw error;
}

async function unlessGone<T>(call: () => Promise<T>, none: T): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof PhmApiError && GONE.includes(error.code)) return none;
    throw error;
  }
}

function ignoreSealed(error: unknown): null {
  if (error instanceof SealedKeyError) return null;
  throw error;
}
