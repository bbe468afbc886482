/**
 * What the agent needs of a key service: it makes keys, and keeps a sealed copy of each in the box of each recipient. An
 * implementation opens the copies of its own box, and gives no key whose receipt does not show who made it for whom.
 */

export const KEY_SIZES = [128, 256, 384] as const;

/** Bits of a key. */
export type KeySize = (typeof KEY_SIZES)[number];

/** Most IDs of one call. */
export const BATCH = 100;

/** A recipient of copies. */
export interface Party {
  /** The name under which the service has registered the public key. */
  readonly recipient: string;
  /** base64 of the thumbprint of the public key, pinned by the configuration. */
  readonly thumbprint: string;
}

export interface MakeOrder {
  /** New random UUIDs in lower case, at most `BATCH`: one key for each. */
  readonly ids: readonly string[];
  readonly size: KeySize;
  readonly parties: readonly Party[];
  /** base64 of 32 bytes, bound to each copy. */
  readonly context: string;
  readonly lifeMs: number;
}

/** The key of one service, as its receipt states it. */
export interface KeyOrigin {
  /** The name of the service's log. */
  readonly service: string;
  readonly key_id: string;
  /** base64 of 32 bytes. */
  readonly commitment: string;
}

/** An opened copy whose receipt was verified. */
export interface OpenedCopy {
  readonly id: string;
  /** The receiver owns these bytes, and wipes them. */
  readonly key: Uint8Array;
  /** Thumbprints of all to whom this key was sealed, as the receipt states them. */
  readonly thumbprints: readonly string[];
  /** As the receipt states it; null if the key was made without one. */
  readonly context: string | null;
  readonly expiresAtMs: number;
  /** One, or those of two services. */
  readonly origins: readonly KeyOrigin[];
}

export type Fetched =
  | { readonly kind: 'opened'; readonly copy: OpenedCopy }
  /** There is no such copy, or no longer. */
  | { readonly kind: 'gone'; readonly id: string }
  /** The receipt is not there yet. */
  | { readonly kind: 'pending'; readonly id: string }
  /** It does not open, or its receipt does not verify. */
  | { readonly kind: 'refused'; readonly id: string; readonly reason: string };

/** A copy in the box of a recipient: `received` once the service has sent it, `gone` if it cannot be had any more. */
export type CopyState = 'waiting' | 'received' | 'gone';

/** The copies of a key, by the names of their recipients. */
export type DeliveryState = ReadonlyMap<string, CopyState>;

export interface Listing {
  /** IDs of copies that the box holds, oldest first. */
  readonly ids: readonly string[];
  /** What a later call gives as `after`. */
  readonly cursor: string | null;
  /** True if nothing follows yet: the next call waits. */
  readonly isEnd: boolean;
}

/** All calls reject with `SourceError`, and when the signal aborts. */
export interface KeyBoxes {
  /**
   * Makes a key for each ID, with a copy in the box of each party. Resolves with those that were opened and whose receipts
   * were verified; others may follow in the box. If it rejects, all of the keys may exist, or none.
   */
  make(order: MakeOrder, signal: AbortSignal): Promise<readonly OpenedCopy[]>;
  /** Lists the own box from a place on. At its end it waits for new copies, but not for ever. */
  list(after: string | null, signal: AbortSignal): Promise<Listing>;
  /** Opens copies of the own box: at most `BATCH`, one result for each. Repeatable. */
  fetch(ids: readonly string[], signal: AbortSignal): Promise<readonly Fetched[]>;
  /** Removes copies from the own box: at most `BATCH`. Those that are gone count as removed. */
  remove(ids: readonly string[], signal: AbortSignal): Promise<void>;
  /** Resolves with the state of a key at all recipients, as the service says it without proof; null if it knows no such key. */
  state(id: string, signal: AbortSignal): Promise<DeliveryState | null>;
}

/** A call that the service did not serve. The message has no secret. */
export class SourceError extends Error {
  override readonly name = 'SourceError';
}
