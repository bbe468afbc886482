/**
 * Principals by API key hash, remembered for a short time so that not every request asks the ledger.
 *
 * The time bounds how long a revoked key is still admitted and how long a change of plan waits to
 * change the rate limit; it is measured on the monotonic clock, which nobody sets back. Unknown keys are not remembered: an issued key is valid at once.
 */
import { AppError } from '../errors.ts';
import type { Principal, Usage } from '../ledger/index.ts';
import type { KeyObserver } from './observer.ts';

const REMEMBERED_MS = 2_000;
const MAX_REMEMBERED = 10_000;

/** Look-ups at a time, so that unknown keys cannot fill the queue that all requests share. */
const MAX_LOOKUPS = 512;

type Lookup = (keyHash: Buffer) => Promise<Principal | undefined>;

interface Entry {
  principal: Promise<Principal | undefined>;
  readonly untilMs: number;
}

export class ApiKeyCache {
  readonly #lookup: Lookup;
  readonly #observer: KeyObserver | undefined;
  readonly #entries = new Map<string, Entry>();
  /** Newest usage seen, by account: it refuses early once a quota is known to be used up. */
  readonly #usage = new Map<string, Usage>();

  #lookups = 0;

  constructor(lookup: Lookup, observer?: KeyObserver) {
    this.#lookup = lookup;
    this.#observer = observer;
  }

  /** Look-ups under way, and how many may be. */
  get load(): { waiting: number; capacity: number } {
    return { waiting: this.#lookups, capacity: MAX_LOOKUPS };
  }

  /** The principal behind an API key's hash; concurrent requests share one look-up. */
  async find(keyHash: Buffer, nowMs: number): Promise<Principal | undefined> {
    const name = keyHash.toString('base64');
    const known = this.#entries.get(name);
    if (known && nowMs < known.untilMs) return known.principal;
    if (this.#lookups >= MAX_LOOKUPS) {
      this.#observer?.refused('lookups');
      throw new AppError('overloaded', { retryAfterSeconds: 1 });
    }
    if (this.#entries.size >= MAX_REMEMBERED) this.#sweep(nowMs);
    this.#lookups += 1;
    const entry: Entry = { principal: this.#lookup(keyHash), untilMs: nowMs + REMEMBERED_MS };
    this.#entries.set(name, entry);
    try {
      const principal = await entry.principal;
      if (!principal) this.#forget(name, entry);
      else this.#usage.set(principal.accountId, principal.usage);
      return principal;
    } catch (error) {
      this.#forget(name, entry);
      throw error;
    } finally {
      this.#lookups -= 1;
    }
  }

  noteUsage(accountId: string, usage: Usage): void {
    this.#usage.set(accountId, usage);
  }

  usageOf(principal: Principal): Usage {
    return this.#usage.get(principal.accountId) ?? principal.usage;
  }

  #forget(name: string, entry: Entry): void {
    if (this.#entries.get(name) === entry) this.#entries.delete(name);
  }

  #sweep(nowMs: number): void {
    for (const [name, entry] of this.#entries) {
      if (nowMs >= entry.untilMs) this.#entries.delete(name);
    }
    if (this.#entries.size >= MAX_REMEMBERED) this.#entries.clear();
    this.#usage.clear();
  }
}
