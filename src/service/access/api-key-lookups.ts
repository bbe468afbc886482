/**
 * Gathers look-ups of API keys into batches for the ledger, one batch at a time.
 *
 * Keys that were valid before go first. All other keys wait by client address, and the addresses take turns. So an
 * address that sends invented keys delays mainly its own look-ups. One address can fill half of the places, two can fill
 * two thirds, and so on: only thousands of addresses can fill them all.
 */
import type { Principal } from '../../ledger/index.ts';
import type { KeyObserver } from '../observer.ts';
import { isOwnShare, overloaded } from '../requests/own-share.ts';

/** Limit of waiting look-ups, over all addresses, of keys that are not known to be valid. */
const MAX_WAITING = 8_192;

/** Keys in one batch. Bounds the time that a batch delays the key worker. */
const MAX_BATCH = 256;

/** Places in a batch for keys that were valid before, while others wait too. */
const KNOWN_SHARE = 192;

/** Returns principals in the order of the hashes; undefined for an unknown or revoked key. */
export type LookUpAll = (
  keyHashes: readonly Uint8Array[],
) => Promise<readonly (Principal | undefined)[]>;

interface Waiting {
  readonly keyHash: Uint8Array;
  readonly resolve: (principal: Principal | undefined) => void;
  readonly reject: (error: unknown) => void;
}

export class ApiKeyLookups {
  readonly #lookUpAll: LookUpAll;
  readonly #observer: KeyObserver | undefined;
  #known: Waiting[] = [];
  /** By address, in the order of their turns. */
  readonly #unknown = new Map<string, Waiting[]>();
  #unknownCount = 0;
  #busy = false;

  constructor(lookUpAll: LookUpAll, observer?: KeyObserver) {
    this.#lookUpAll = lookUpAll;
    this.#observer = observer;
  }

  /** Waiting look-ups and their limit, without keys that were valid before. */
  get load(): { waiting: number; capacity: number } {
    return { waiting: this.#unknownCount, capacity: MAX_WAITING };
  }

  /** Looks up a key that was valid before. The number of issued keys bounds these look-ups. */
  known(keyHash: Uint8Array): Promise<Principal | undefined> {
    return this.#wait(keyHash, this.#known);
  }

  /** Looks up any other key. Rejects with `overloaded` if `address` has no free place. */
  async unknown(keyHash: Uint8Array, address: string): Promise<Principal | undefined> {
    const queue = this.#unknown.get(address) ?? [];
    if (queue.length >= MAX_WAITING - this.#unknownCount) {
      const ownShare = isOwnShare({
        capacity: MAX_WAITING,
        others: this.#unknownCount - queue.length,
        hasRoomForOthers: this.#unknownCount < MAX_WAITING,
      });
      this.#observer?.refused('lookups', ownShare);
      throw overloaded(ownShare, 1);
    }
    this.#unknown.set(address, queue);
    this.#unknownCount += 1;
    return this.#wait(keyHash, queue);
  }

  #wait(keyHash: Uint8Array, queue: Waiting[]): Promise<Principal | undefined> {
    return new Promise((resolve, reject) => {
      queue.push({ keyHash, resolve, reject });
      if (!this.#busy) void this.#work();
    });
  }

  /** Sends batch after batch until nothing waits. */
  async #work(): Promise<void> {
    this.#busy = true;
    for (let batch = this.#takeBatch(); batch.length > 0; batch = this.#takeBatch()) {
      try {
        const principals = await this.#lookUpAll(batch.map(({ keyHash }) => keyHash));
        batch.forEach(({ resolve }, i) => {
          resolve(principals[i]);
        });
      } catch (error) {
        // The waiting look-ups would fail too, and have already waited.
        for (const { reject } of [...batch, ...this.#takeAll()]) reject(error);
      }
    }
    this.#busy = false;
  }

  #takeBatch(): Waiting[] {
    const known = this.#known.splice(0, this.#unknownCount > 0 ? KNOWN_SHARE : MAX_BATCH);
    return [...known, ...this.#takeTurns(MAX_BATCH - known.length)];
  }

  #takeAll(): Waiting[] {
    const known = this.#known;
    this.#known = [];
    return [...known, ...this.#takeTurns(this.#unknownCount)];
  }

  /** Takes one look-up of each address in turn, at most `count`. */
  #takeTurns(count: number): Waiting[] {
    const taken: Waiting[] = [];
    for (const [address, queue] of this.#unknown) {
      if (taken.length === count) break;
      const first = queue.shift();
      if (first) taken.push(first);
      this.#unknown.delete(address);
      // Inserted again, the address comes last: this loop reaches it after all others.
      if (queue.length > 0) this.#unknown.set(address, queue);
    }
    this.#unknownCount -= taken.length;
    return taken;
  }
}
