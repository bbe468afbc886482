/**
 * Caches principals by API key hash, so that not every request needs the ledger.
 *
 * While the ledger answers, no principal older than two seconds is used. So a revoked key is accepted, and a change of
 * plan delayed, for at most two seconds. A key in use is looked up again after one second, while requests use the cached
 * principal. If no answer comes, the principal is used for five more seconds. Ages are measured on the monotonic clock,
 * which cannot be set back. Unknown keys are not cached: an issued key is valid at once.
 */
import { type Principal, tighterUsage, type Usage } from '../../ledger/index.ts';
import type { KeyObserver } from '../observer.ts';
import { ApiKeyLookups, type LookUpAll } from './api-key-lookups.ts';

/** Ages of a cached principal: looked up again; used only if no answer comes; never used. */
const REFRESH_AFTER_MS = 1_000;
const FRESH_MS = 2_000;
const STALE_MS = 7_000;

/** How long a request waits for a look-up before it uses a principal that is not fresh. */
const PATIENCE_MS = 500;

/** The oldest entry is dropped first. A principal that is too old to use still gives its key priority. */
const MAX_REMEMBERED = 20_000;

/** The principal of an API key; undefined if it is unknown or revoked. */
export type Found = Principal | undefined;

interface Entry {
  readonly principal: Principal;
  /** Start of the look-up that found it. */
  readonly sinceMs: number;
}

interface Lookup {
  readonly answer: Promise<Found>;
  /** The same for a cached key, or `late` if it fails or takes too long. */
  inTime?: Promise<Found | 'late'>;
}

export class ApiKeyCache {
  readonly #lookups: ApiKeyLookups;
  readonly #entries = new Map<string, Entry>();
  readonly #inFlight = new Map<string, Lookup>();
  /** Latest known usage by account, and by counter of API keys, for early refusals once a quota is used up. */
  readonly #usage = new Map<string, Usage>();

  constructor(lookUpAll: LookUpAll, observer?: KeyObserver) {
    this.#lookups = new ApiKeyLookups(lookUpAll, observer);
  }

  /** Waiting look-ups and their limit. */
  get load(): { waiting: number; capacity: number } {
    return this.#lookups.load;
  }

  /**
   * Returns the principal for the hash of an API key, as a promise only if the request must wait for a look-up. Concurrent
   * requests share one look-up. Look-ups of keys that are not cached are limited by client address.
   */
  find(keyHash: Uint8Array, address: string, nowMs: number): Found | Promise<Found> {
    const name = nameOf(keyHash);
    const entry = this.#entries.get(name);
    const ageMs = entry ? nowMs - entry.sinceMs : Number.POSITIVE_INFINITY;
    if (entry && ageMs < REFRESH_AFTER_MS) return entry.principal;
    const lookup = this.#inFlight.get(name) ?? this.#begin(name, keyHash, address, nowMs);
    if (!entry || ageMs >= STALE_MS) return lookup.answer;
    lookup.inTime ??= inTime(lookup.answer);
    if (ageMs < FRESH_MS) return entry.principal;
    return lookup.inTime.then((found) => (found === 'late' ? entry.principal : found));
  }

  /** Notes the usage of an account, or of the API key that the usage names. */
  noteUsage(accountId: string, usage: Usage): void {
    const name = usage.counterId === undefined ? accountId : counterName(usage.counterId);
    const seen = this.#usage.get(name);
    this.#usage.set(name, seen ? later(seen, usage) : usage);
  }

  /** Returns the usage of the account, or of the API key's own limit if that leaves less. */
  usageOf({ accountId, usage, rules }: Principal): Usage {
    const ofAccount = this.#usage.get(accountId) ?? usage;
    if (!rules?.monthly) return ofAccount;
    return tighterUsage(
      ofAccount,
      this.#usage.get(counterName(rules.monthly.counterId)) ?? rules.usage,
    );
  }

  #begin(name: string, keyHash: Uint8Array, address: string, sinceMs: number): Lookup {
    const answer = this.#entries.has(name)
      ? this.#lookups.known(keyHash)
      : this.#lookups.unknown(keyHash, address);
    const lookup: Lookup = { answer: this.#note(name, answer, sinceMs) };
    this.#inFlight.set(name, lookup);
    return lookup;
  }

  async #note(name: string, answer: Promise<Found>, sinceMs: number): Promise<Found> {
    try {
      const principal = await answer;
      this.#entries.delete(name);
      if (principal) this.#remember(name, { principal, sinceMs });
      return principal;
    } finally {
      this.#inFlight.delete(name);
    }
  }

  #remember(name: string, entry: Entry): void {
    const [oldest] = this.#entries.size >= MAX_REMEMBERED ? this.#entries.keys() : [];
    if (oldest !== undefined) this.#entries.delete(oldest);
    this.#entries.set(name, entry);
    if (this.#usage.size >= MAX_REMEMBERED) this.#usage.clear();
    const { accountId, usage, rules } = entry.principal;
    this.noteUsage(accountId, usage);
    if (rules?.usage) this.noteUsage(accountId, rules.usage);
  }
}

/** No ID holds a space. */
const counterName = (counterId: string): string => `limit ${counterId}`;

/** Returns a short name for the hash of an API key, one character a byte. */
function nameOf({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString('latin1');
}

/** Returns the later of two usages. A look-up may end after a commit that it missed. Within a month usage only grows. */
function later(seen: Usage, reported: Usage): Usage {
  if (reported.month !== seen.month) return reported;
  return { ...reported, used: Math.max(seen.used, reported.used) };
}

/** Resolves with the answer of a look-up, or with `late`. Never rejects. */
function inTime(answer: Promise<Found>): Promise<Found | 'late'> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, PATIENCE_MS, 'late');
    const settle = (found: Found | 'late') => {
      clearTimeout(timer);
      resolve(found);
    };
    answer.then(settle, () => settle('late'));
  });
}
