/** Deliveries in SQLite. Changes run within a transaction of the caller. */
import type { SQLInputValue } from 'node:sqlite';
import { setImmediate as turn } from 'node:timers/promises';
import type { Value } from '../column-kinds.ts';
import {
  type Box,
  type BoxedCopy,
  type BoxLimits,
  type BoxNeed,
  boxNeeds,
  type CopyOrder,
  type CopyPage,
  type CopyQuery,
  type CopyState,
  copyStateAfter,
  copyStateAt,
  type DeliveryOrder,
  type DeliveryQuery,
  type DeliveryRecord,
  type DeliveryRefusal,
  EMPTIED_AT_ONCE,
  hasRoom,
  IN_BOX,
  isInBox,
  leastNeeds,
  sweptBy,
  type TakenCopy,
  type WaitingQuery,
  type WithdrawnDeliveries,
} from '../deliveries.ts';
import type { LedgerRow } from '../ledger-row.ts';
import { neededProgram } from '../needed-program.ts';
import type { SqliteConnection } from './connection.ts';
import { insertion } from './insertion.ts';

/** Reads what a box holds. Exported for its tests, which read its plan. */
export const HELD = `SELECT count(*) AS copies, coalesce(sum(size), 0) AS bytes FROM delivery_copies
  WHERE account_id = ? AND recipient = ? AND until_ms > ? AND ${IN_BOX}`;

/** Selects a page of a box. Exported for its tests, which read its plan. */
export const COPY_PAGE = `SELECT delivery_id AS deliveryId, key_id AS keyId, until_ms AS untilMs FROM delivery_copies
  WHERE account_id = ? AND recipient = ? AND state = ? AND ${IN_BOX} AND key_id > ? AND until_ms > ?
  ORDER BY key_id LIMIT ?`;

const EXPIRE = `UPDATE delivery_copies SET state = 'expired', sealed_key = NULL WHERE rowid IN (
  SELECT rowid FROM delivery_copies WHERE account_id = ? AND recipient = ? AND until_ms <= ? AND ${IN_BOX} LIMIT ?)`;

const INSERT_DELIVERY = insertion('INTO deliveries', 'account_id, delivery_id, key_id, until_ms');

const INSERT_COPY = insertion(
  'INTO delivery_copies',
  'account_id, delivery_id, recipient, key_id, state, until_ms, size, sealed_key',
);

const NOTHING = new Uint8Array(0);

/** What decides on new deliveries. */
interface Asked {
  readonly accountId: string;
  readonly deliveryIds: readonly Uint8Array[];
  readonly needs: readonly BoxNeed[];
  readonly limits: BoxLimits;
  readonly nowMs: number;
}

export function findDeliveryRefusal(
  connection: SqliteConnection,
  query: DeliveryQuery,
): DeliveryRefusal | null {
  return refusalOf(connection, { ...query, needs: leastNeeds(query) });
}

function refusalOf(connection: SqliteConnection, asked: Asked): DeliveryRefusal | null {
  const { accountId, deliveryIds, needs, limits, nowMs } = asked;
  const find = 'SELECT 1 FROM deliveries WHERE account_id = ? AND delivery_id = ?';
  const places = [...deliveryIds.keys()].filter(
    (place) => connection.get(find, accountId, deliveryIds[place]) !== undefined,
  );
  if (places.length > 0) return { reason: 'exists', places };
  for (const need of needs) {
    const { name, publicKey } = need.recipient;
    const known = 'SELECT 1 FROM recipients WHERE account_id = ? AND name = ? AND public_key = ?';
    if (!connection.get(known, accountId, name, publicKey)) {
      return { reason: 'unknown_recipient', recipient: name };
    }
    const held = connection.get(HELD, accountId, name, nowMs);
    const { copies, bytes } = held as { copies: number; bytes: number };
    if (!hasRoom({ copies, bytes }, need, limits)) return { reason: 'box_full', recipient: name };
  }
  return null;
}

/**
 * Returns why the deliveries of a request are refused; null if they are not. Removes some expired copies of their boxes, so
 * that these do not grow by copies that nobody fetches.
 */
export function decideDeliveries(
  connection: SqliteConnection,
  accountId: string,
  order: DeliveryOrder,
  nowMs: number,
): DeliveryRefusal | null {
  const needs = boxNeeds(order);
  for (const { recipient, copies } of needs) {
    connection.run(EXPIRE, accountId, recipient.name, nowMs, sweptBy(copies));
  }
  const deliveryIds = order.deliveries.map(({ deliveryId }) => deliveryId);
  return refusalOf(connection, { accountId, deliveryIds, needs, limits: order.limits, nowMs });
}

/** Writes the deliveries of new keys, which `decideDeliveries` has admitted in the same transaction. */
export function writeDeliveries(
  connection: SqliteConnection,
  accountId: string,
  keys: readonly LedgerRow[],
  { deliveries, recipients, untilMs }: DeliveryOrder,
): void {
  const rows: Value[][] = [];
  const copies: SQLInputValue[][] = [];
  deliveries.forEach(({ deliveryId, copies: texts }, i) => {
    const { keyId } = keys[i];
    rows.push([accountId, deliveryId, keyId, untilMs]);
    recipients.forEach(({ name }, place) => {
      const text = texts[place];
      copies.push([accountId, deliveryId, name, keyId, 'waiting', untilMs, text.length, text]);
    });
  });
  connection.insert(INSERT_DELIVERY, rows as SQLInputValue[][]);
  connection.insert(INSERT_COPY, copies);
  connection.requireProgram(neededProgram('deliveries', rows));
}

export function listCopies(
  connection: SqliteConnection,
  { accountId, recipient, state, afterKeyId, limit, nowMs }: CopyQuery,
): CopyPage {
  const after = afterKeyId ?? NOTHING;
  const rows = connection.all(COPY_PAGE, accountId, recipient, state, after, nowMs, limit);
  const copies = rows.map((row) => ({ ...(row as unknown as BoxedCopy) }));
  return { copies, next: (copies.length === limit && copies.at(-1)?.keyId) || null };
}

export function haveWaiting(
  connection: SqliteConnection,
  boxes: readonly WaitingQuery[],
  nowMs: number,
): boolean[] {
  return boxes.map(({ accountId, recipient, afterKeyId }) => {
    const after = afterKeyId ?? NOTHING;
    const first = connection.get(COPY_PAGE, accountId, recipient, 'waiting', after, nowMs, 1);
    return first !== undefined;
  });
}

/** Does orders within a transaction, which writes a page even if it changes nothing: its commit then confirms earlier ones. */
export function takeCopies(
  connection: SqliteConnection,
  orders: readonly CopyOrder[],
): (TakenCopy | null)[][] {
  connection.writeUnchanged();
  return orders.map((order) => order.deliveryIds.map((id) => takeCopy(connection, order, id)));
}

interface CopyRow extends BoxedCopy {
  readonly state: CopyState;
  readonly sealedKey: string | null;
}

function takeCopy(
  connection: SqliteConnection,
  { accountId, recipient, action, nowMs }: CopyOrder,
  deliveryId: Uint8Array,
): TakenCopy | null {
  const found = connection.get(
    `SELECT delivery_id AS deliveryId, key_id AS keyId, until_ms AS untilMs, state, sealed_key AS sealedKey
     FROM delivery_copies WHERE account_id = ? AND delivery_id = ? AND recipient = ?`,
    ...[accountId, deliveryId, recipient],
  );
  if (!found) return null;
  const row = found as unknown as CopyRow;
  const state = copyStateAfter(copyStateAt(row.state, row.untilMs, nowMs), action);
  if (state !== row.state) {
    connection.run(
      `UPDATE delivery_copies SET state = ?, sealed_key = CASE WHEN ? THEN sealed_key END,
         received_ms = CASE WHEN ? = 'received' THEN ? ELSE received_ms END
       WHERE account_id = ? AND delivery_id = ? AND recipient = ?`,
      ...[state, isInBox(state) ? 1 : 0, state, nowMs, accountId, deliveryId, recipient],
    );
  }
  return { ...row, state, sealedKey: state === 'received' ? row.sealedKey : null };
}

export function findDelivery(
  connection: SqliteConnection,
  accountId: string,
  deliveryId: Uint8Array,
  nowMs: number,
): DeliveryRecord | null {
  const delivery = connection.get(
    `SELECT delivery_id AS deliveryId, key_id AS keyId, until_ms AS untilMs FROM deliveries
     WHERE account_id = ? AND delivery_id = ?`,
    accountId,
    deliveryId,
  );
  if (!delivery) return null;
  const { untilMs } = delivery as unknown as BoxedCopy;
  const rows = connection.all(
    `SELECT recipient, state, received_ms AS receivedMs FROM delivery_copies
     WHERE account_id = ? AND delivery_id = ? ORDER BY recipient`,
    accountId,
    deliveryId,
  );
  const copies = rows.map(({ recipient, state, receivedMs }) => ({
    recipient: String(recipient),
    state: copyStateAt(state as CopyState, untilMs, nowMs),
    receivedMs: receivedMs as number | null,
  }));
  return { ...(delivery as unknown as BoxedCopy), copies };
}

/** Ends copies in a box that the condition matches, within a transaction. */
function endCopies(
  connection: SqliteConnection,
  state: CopyState,
  condition: string,
  ...values: SQLInputValue[]
): void {
  connection.run(
    `UPDATE delivery_copies SET state = ?, sealed_key = NULL WHERE ${condition} AND ${IN_BOX}`,
    state,
    ...values,
  );
}

/** The boxes of an account, or one of them. */
type Boxes = Pick<Box, 'accountId'> & Partial<Box>;

/** Removes copies from boxes, within a transaction: at most `most`, or all. Returns how many it removed. */
export function emptyBoxes(connection: SqliteConnection, boxes: Boxes, most = -1): number {
  const [box, values] = conditionOf(boxes);
  return connection.run(
    `UPDATE delivery_copies SET state = 'removed', sealed_key = NULL WHERE rowid IN (
       SELECT rowid FROM delivery_copies WHERE ${box} AND ${IN_BOX} LIMIT ?)`,
    ...values,
    most,
  );
}

function conditionOf({ accountId, recipient }: Boxes): [string, SQLInputValue[]] {
  return recipient === undefined
    ? ['account_id = ?', [accountId]]
    : ['account_id = ? AND recipient = ?', [accountId, recipient]];
}

/**
 * Removes all copies from boxes, a few in each transaction, so that commits of others come in between. Without copies it
 * writes nothing.
 */
export async function emptyBoxesAhead(connection: SqliteConnection, boxes: Boxes): Promise<void> {
  const [box, values] = conditionOf(boxes);
  const first = `SELECT 1 FROM delivery_copies WHERE ${box} AND ${IN_BOX} LIMIT 1`;
  const hasCopies = (): boolean =>
    connection.guarded(() => connection.get(first, ...values) !== undefined);
  while (hasCopies()) {
    connection.guarded(() =>
      connection.transact(() => emptyBoxes(connection, boxes, EMPTIED_AT_ONCE)),
    );
    await turn();
  }
}

/** Ends the copies of a key that is revoked. */
export function revokeCopies(connection: SqliteConnection, keyId: Uint8Array): void {
  const ofKey =
    '(account_id, delivery_id) IN (SELECT account_id, delivery_id FROM deliveries WHERE key_id = ?)';
  endCopies(connection, 'revoked', ofKey, keyId);
}

export function withdrawDeliveries(
  connection: SqliteConnection,
  { accountId, deliveryIds }: WithdrawnDeliveries,
): void {
  connection.writeUnchanged();
  for (const deliveryId of deliveryIds) {
    endCopies(connection, 'removed', 'account_id = ? AND delivery_id = ?', accountId, deliveryId);
  }
}

/** Removes expired copies, at most `limit` of them, within a transaction. Returns how many it removed. */
export function removeExpiredCopies(
  connection: SqliteConnection,
  nowMs: number,
  limit: number,
): number {
  return connection.run(
    `UPDATE delivery_copies SET state = 'expired', sealed_key = NULL WHERE rowid IN (
       SELECT old.rowid FROM recipients CROSS JOIN delivery_copies AS old
       WHERE old.account_id = recipients.account_id AND old.recipient = recipients.name
         AND old.until_ms <= ? AND old.${IN_BOX} LIMIT ?)`,
    nowMs,
    limit,
  );
}

/** Removes deliveries of pruned keys, at most `limit` of them, within a transaction. Returns how many it removed. */
export function pruneDeliveries(
  connection: SqliteConnection,
  bound: Uint8Array,
  nowMs: number,
  limit: number,
): number {
  const old = `SELECT account_id, delivery_id FROM deliveries WHERE key_id < ? AND until_ms <= ?
    AND NOT EXISTS (SELECT 1 FROM ledger WHERE ledger.key_id = deliveries.key_id) ORDER BY key_id LIMIT ?`;
  const values = [bound, nowMs, limit] as const;
  connection.run(
    `DELETE FROM delivery_copies WHERE (account_id, delivery_id) IN (${old})`,
    ...values,
  );
  return connection.run(
    `DELETE FROM deliveries WHERE (account_id, delivery_id) IN (${old})`,
    ...values,
  );
}
