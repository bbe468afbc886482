/**
 * Deliveries: sealed copies of a key that the ledger keeps for registered recipients. `test/ledger/deliveries-contract.ts`
 * runs the contract against every store.
 *
 * A request writes its deliveries in the transaction of its keys. Each delivery has one key, and a copy for each recipient of
 * it. The copies of a recipient that wait or are received form its box, which is bounded. A copy that leaves the box loses its
 * sealed key and keeps its state. So does the ID of the delivery: it is unique within the account while the key has a row.
 */

/** States of a copy. The first two are in the box. */
export const COPY_STATES = ['waiting', 'received', 'removed', 'expired', 'revoked'] as const;
export type CopyState = (typeof COPY_STATES)[number];

export const BOX_STATES = ['waiting', 'received'] as const;
type BoxState = (typeof BOX_STATES)[number];

/** What happens to a copy. The end of its recipient, and of a key that must not be released, remove it. */
export const COPY_EVENTS = ['fetch', 'remove', 'expire', 'revoke'] as const;
export type CopyEvent = (typeof COPY_EVENTS)[number];

/** What a recipient may do with its copies. */
export type CopyAction = Extract<CopyEvent, 'fetch' | 'remove'>;

const AFTER: Readonly<Record<CopyEvent, CopyState>> = {
  fetch: 'received',
  remove: 'removed',
  expire: 'expired',
  revoke: 'revoked',
};

/** Returns the state after an event. What has left the box does not change. */
export function copyStateAfter(state: CopyState, event: CopyEvent): CopyState {
  return isInBox(state) ? AFTER[event] : state;
}

export function isInBox(state: CopyState): state is BoxState {
  return (BOX_STATES as readonly CopyState[]).includes(state);
}

/** Matches copies in a box, in the words of the partial indexes of both stores. */
export const IN_BOX: string = `state IN (${BOX_STATES.map((state) => `'${state}'`).join(', ')})`;

/** Returns the state at a time: a copy expires although no upkeep has noted it. */
export function copyStateAt(state: CopyState, untilMs: number, nowMs: number): CopyState {
  return untilMs <= nowMs ? copyStateAfter(state, 'expire') : state;
}

/** Most copies of a box, and most bytes of their sealed keys. */
export interface BoxLimits {
  readonly copies: number;
  readonly bytes: number;
}

/** The limits of a server that sets no others. */
export const BOX_LIMITS: BoxLimits = { copies: 10_000, bytes: 64 * 2 ** 20 };

/**
 * Copies that one transaction ends when boxes are emptied: a box may hold 64 MiB, and an account many boxes. The transaction that removes a
 * recipient or deletes an account ends what has come meanwhile.
 */
export const EMPTIED_AT_ONCE = 500;

/** What a request for keys keeps for its recipients. */
export interface DeliveryOrder {
  /** One for each key of the request, in its order. All IDs differ. */
  readonly deliveries: readonly NewDelivery[];
  /** The recipients, whose copies each delivery has in this order. */
  readonly recipients: readonly DeliveryRecipient[];
  /** The copies expire then. */
  readonly untilMs: number;
  readonly limits: BoxLimits;
}

interface NewDelivery {
  /** A UUID, 16 bytes. */
  readonly deliveryId: Uint8Array;
  /** Sealed keys as JSON texts in ASCII. */
  readonly copies: readonly string[];
}

/** A recipient as the key was sealed to it. Another public key under its name is another recipient. */
interface DeliveryRecipient {
  readonly name: string;
  readonly publicKey: Uint8Array;
}

/** Why a request cannot be delivered. */
export type DeliveryRefusal =
  /** The account has, or had, deliveries with the IDs at these places of the request, from 0. */
  | { readonly reason: 'exists'; readonly places: readonly number[] }
  /** The account has no such recipient, or now one with another public key. */
  | { readonly reason: 'unknown_recipient'; readonly recipient: string }
  /** The box has no room for the copies. */
  | { readonly reason: 'box_full'; readonly recipient: string };

/** Asks whether deliveries could be recorded, before their keys are made. */
export interface DeliveryQuery {
  readonly accountId: string;
  readonly deliveryIds: readonly Uint8Array[];
  readonly recipients: readonly DeliveryRecipient[];
  /** Bytes of one copy at least. */
  readonly copyBytes: number;
  readonly limits: BoxLimits;
  readonly nowMs: number;
}

/** A box of an account. */
export interface Box {
  readonly accountId: string;
  readonly recipient: string;
}

export interface CopyQuery extends Box {
  readonly state: BoxState;
  /** Only copies of keys with a higher ID; null: from the oldest on. */
  readonly afterKeyId: Uint8Array | null;
  /** Most copies of the page, at most 1,000. */
  readonly limit: number;
  readonly nowMs: number;
}

/** A copy in a box. */
export interface BoxedCopy {
  readonly deliveryId: Uint8Array;
  readonly keyId: Uint8Array;
  readonly untilMs: number;
}

export interface CopyPage {
  /** Oldest key first. */
  readonly copies: readonly BoxedCopy[];
  /** `afterKeyId` of the next page; null at the end. */
  readonly next: Uint8Array | null;
}

/** Fetches or removes copies of one box. */
export interface CopyOrder extends Box {
  readonly action: CopyAction;
  /** Up to 100, all different. */
  readonly deliveryIds: readonly Uint8Array[];
  readonly nowMs: number;
}

/** A copy after an order. */
export interface TakenCopy extends BoxedCopy {
  readonly state: CopyState;
  /** The sealed key as it was given; null unless the copy is received now. */
  readonly sealedKey: string | null;
}

/** A delivery as its account sees it. */
export interface DeliveryRecord extends BoxedCopy {
  /** In the order of the recipients' names. */
  readonly copies: readonly CopyRecord[];
}

interface CopyRecord {
  readonly recipient: string;
  readonly state: CopyState;
  /** When the copy was fetched first; null if it was not. */
  readonly receivedMs: number | null;
}

/** Copies that must not be released, because their keys must not. */
export interface WithdrawnDeliveries {
  readonly accountId: string;
  readonly deliveryIds: readonly Uint8Array[];
}

/** The part of a store for deliveries. PostgreSQL uses its own clock instead of `nowMs`. */
export interface DeliveryStore {
  /**
   * Returns why a request could not be delivered now; null if it could. The commit decides again. It names every ID that is
   * taken, and else the first recipient that is unknown or whose box is full.
   */
  findDeliveryRefusal(query: DeliveryQuery): Promise<DeliveryRefusal | null>;
  /** Returns a page of a box. */
  listCopies(query: CopyQuery): Promise<CopyPage>;
  /**
   * Does the orders in one transaction, in this order, and resolves when it is durable, also if nothing changes: what it
   * returns may leave the process. Returns a copy for each ID, null for one that the box never had.
   */
  takeCopies(orders: readonly CopyOrder[]): Promise<(TakenCopy | null)[][]>;
  /** Returns null if the account has no such delivery. */
  findDelivery(
    accountId: string,
    deliveryId: Uint8Array,
    nowMs: number,
  ): Promise<DeliveryRecord | null>;
  /** Returns for each box whether a copy waits in it whose key has a higher ID, in the same order. */
  haveWaiting(boxes: readonly WaitingQuery[], nowMs: number): Promise<boolean[]>;
  /** Removes the copies of deliveries whose keys must not be released. */
  withdrawDeliveries(withdrawn: WithdrawnDeliveries): Promise<void>;
}

export type WaitingQuery = Box & Pick<CopyQuery, 'afterKeyId'>;

/** Returns how many expired copies a commit removes from a box to which it adds some. So a box never holds many. */
export function sweptBy(added: number): number {
  return 2 * added + 100;
}

/** What the copies of a request take of each box. */
export interface BoxNeed {
  readonly recipient: DeliveryRecipient;
  readonly copies: number;
  readonly bytes: number;
}

/** Returns the needs of an order, one for each recipient. */
export function boxNeeds({ recipients, deliveries }: DeliveryOrder): BoxNeed[] {
  return recipients.map((recipient, i) => ({
    recipient,
    copies: deliveries.length,
    bytes: deliveries.reduce((sum, { copies }) => sum + (copies[i]?.length ?? 0), 0),
  }));
}

/** Returns the least needs of a query. */
export function leastNeeds({ recipients, deliveryIds, copyBytes }: DeliveryQuery): BoxNeed[] {
  const copies = deliveryIds.length;
  return recipients.map((recipient) => ({ recipient, copies, bytes: copies * copyBytes }));
}

/** Reports whether a box that holds so much has room for more. */
export function hasRoom(
  held: { readonly copies: number; readonly bytes: number },
  need: Pick<BoxNeed, 'copies' | 'bytes'>,
  limits: BoxLimits,
): boolean {
  return held.copies + need.copies <= limits.copies && held.bytes + need.bytes <= limits.bytes;
}
