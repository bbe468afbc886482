/**
 * Principals by API key hash, remembered so that not every request asks the ledger.
 *
 * While the ledger answers, no principal older than two seconds is used: that is how long a revoked key is
 * still admitted, and how long a change of plan waits to change the rate limit. A key in use is looked up
 * again after one second, while requests go on with what is remembered. When that answer does not come, the
 * principal serves for five seconds more. Ages are measured on the monotonic clock, which no one sets back.
 * Unknown keys are not remembered: an issued key is valid at once.
 */
import type { Principal, Usage } from '../ledger/index.ts';
import { ApiKeyLookups, type LookUpAll } from './api-key-lookups.ts';
import type { KeyObserver } from './observer.ts';

/** Ages of a remembered principal: looked up again; used only if no answer comes; not used. */
const REFRESH_AFTER_MS = 1_000;
const FRESH_MS = 2_000;
const STALE_MS = 7_000;

/** How long a request waits for a look-up before it makes do with a principal that is not fresh. */
const PATIENCE_MS = 500;

/** The oldest is forgotten first. A principal that is too old to be used still gives its key priority. */
const MAX_REMEMBERED = 20_000;

interface Entry {
  readonly principal: Principal;
  /** When the look-up that found it began. */
  readonly sinceMs: number;
}

interface Lookup {
  readonly answer: Promise<Principal | undefined>;
  /** The same, or `late` after some time or when it fails; for a key that is remembered. */
  inTime?: Promise<Principal | undefined | 'late'>;
}

export class ApiKeyCache {
  readonly #lookups: ApiKeyLookups;
  readonly #entries = new Map<string, Entry>();
  readonly #underWay = new Map<string, Lookup>();
  /** Newest usage seen, by account: it refuses early once a quota is known to be used up. */
  readonly #usage = new Map<string, Usage>();

  constructor(lookUpAll: LookUpAll, observer?: KeyObserver) {
    this.#lookups = new ApiKeyLookups(lookUpAll, observer);
  }

  /** Look-ups that wait, and how many may. */
  get load(): { waiting: number; capacity: number } {
    return this.#lookups.load;
  }

  /**
   * The principal behind an API key's hash; concurrent requests share one look-up. Look-ups of keys that
   * are not remembered are bounded by the client's address.
   */
  async find(keyHash: Uint8Array, address: string, nowMs: number): Promise<Principal | undefined> {
    const name = Buffer.from(keyHash).toString('base64');
    const entry = this.#entries.get(name);
    const ageMs = entry ? nowMs - entry.sinceMs : Number.POSITIVE_INFINITY;
    if (entry && ageMs < REFRESH_AFTER_MS) return entry.principal;
    const lookup = this.#underWay.get(name) ?? this.#begin(name, keyHash, address, nowMs);
    if (!entry || ageMs >= STALE_MS) return lookup.answer;
    lookup.inTime ??= inTime(lookup.answer);
    if (ageMs < FRESH_MS) return entry.principal;
    const found = await lookup.inTime;
    return found === 'late' ? entry.principal : found;
  }

  noteUsage(accountId: string, usage: Usage): void {
    const seen = this.#usage.get(accountId);
    this.#usage.set(accountId, seen ? later(seen, usage) : usage);
  }

  usageOf(principal: Principal): Usage {
    return this.#usage.get(principal.accountId) ?? principal.usage;
  }

  #begin(name: string, keyHash: Uint8Array, address: string, sinceMs: number): Lookup {
    const answer = this.#entries.has(name)
      ? this.#lookups.known(keyHash)
      : this.#lookups.unknown(keyHash, address);
    const lookup: Lookup = { answer: this.#note(name, answer, sinceMs) };
    this.#underWay.set(name, lookup);
    return lookup;
  }

  async #note(
    name: string,
    answer: Promise<Principal | undefined>,
    sinceMs: number,
  ): Promise<Principal | undefined> {
    try {
      const principal = await answer;
      this.#entries.delete(name);
      if (principal) this.#remember(name, { principal, sinceMs });
      return principal;
    } finally {
      this.#underWay.delete(name);
    }
  }

  #remember(name: string, entry: Entry): void {
    const [oldest] = this.#entries.size >= MAX_REMEMBERED ? this.#entries.keys() : [];
    if (oldest !== undefined) this.#entries.delete(oldest);
    this.#entries.set(name, entry);
    if (this.#usage.size >= MAX_REMEMBERED) this.#usage.clear();
    this.noteUsage(entry.principal.accountId, entry.principal.usage);
  }
}

/** What two reports say together: a look-up may end after a commit that it did not see. Within a month use only grows. */
function later(seen: Usage, told: Usage): Usage {
  if (told.month !== seen.month) return told;
  return { ...told, used: Math.max(seen.used, told.used) };
}

/** The answer of a look-up of a remembered key, or `late`. Never rejects. */
function inTime(answer: Promise<Principal | undefined>): Promise<Principal | undefined | 'late'> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, PATIENCE_MS, 'late');
    const settle = (found: Principal | undefined | 'late') => {
      clearTimeout(timer);
      resolve(found);
    };
    answer.then(settle, () => settle('late'));
  });
}
