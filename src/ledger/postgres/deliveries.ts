/** Deliveries in PostgreSQL. The rules themselves are functions of the newest migration that names them. */
import {
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
  type DeliveryQuery,
  type DeliveryRecord,
  type DeliveryRefusal,
  EMPTIED_AT_ONCE,
  IN_BOX,
  leastNeeds,
  type TakenCopy,
  type WaitingQuery,
  type WithdrawnDeliveries,
} from '../deliveries.ts';
import { neededProgram } from '../needed-program.ts';
import type { MeteredRequest } from '../store.ts';
import { bytea, type PostgresConnection, type Row, toBuffer } from './connection.ts';

const COPY = 'delivery_id AS "deliveryId", key_id AS "keyId", until_ms AS "untilMs"';

/** The clock is read once. */
const NOW_MS = '(SELECT ledger_clock_ms() OFFSET 0)';

/** Selects a page of a box. Exported for its tests, which read its plan. */
export const COPY_PAGE = `SELECT ${COPY} FROM delivery_copies
  WHERE account_id = $1 AND recipient = $2 AND state = $3 AND ${IN_BOX} AND key_id > $4 AND until_ms > ${NOW_MS}
  ORDER BY key_id LIMIT $5`;

const WAITING = `SELECT asked.place
  FROM unnest($1::text[], $2::text[], $3::bytea[]) WITH ORDINALITY AS asked (account_id, recipient, after, place)
  CROSS JOIN LATERAL (
    SELECT FROM delivery_copies AS kept
    WHERE kept.account_id = asked.account_id AND kept.recipient = asked.recipient AND kept.state = 'waiting'
      AND kept.${IN_BOX} AND kept.key_id > asked.after AND kept.until_ms > ${NOW_MS}
    ORDER BY kept.key_id LIMIT 1) AS found`;

const DELIVERY = `SELECT ${COPY}, ${NOW_MS} AS "nowMs", (
    SELECT json_agg(json_build_object('recipient', recipient, 'state', state, 'receivedMs', received_ms)
      ORDER BY recipient COLLATE "C")
    FROM delivery_copies WHERE account_id = $1 AND delivery_id = $2) AS copies
  FROM deliveries WHERE account_id = $1 AND delivery_id = $2`;

const TAKE = `SELECT place, ${COPY}, state, sealed_key AS "sealedKey"
  FROM take_copies_1($1::text[], $2::text[], $3::bytea[], $4::text[])`;

const NOTHING = Buffer.alloc(0);

/** The refusal of a request by `refuse_deliveries`. */
export interface RefusalJson {
  readonly position: number;
  readonly reason: DeliveryRefusal['reason'] | 'group';
  readonly recipient: string | null;
  readonly places: readonly number[] | null;
}

/** Reports whether only earlier requests of the same batch are in the way, which may themselves be refused. */
export function isOfGroup({ reason }: RefusalJson): boolean {
  return reason === 'group';
}

export function toRefusal({ reason, recipient, places }: RefusalJson): DeliveryRefusal {
  if (reason === 'unknown_recipient' || reason === 'box_full') {
    return { reason, recipient: recipient ?? '' };
  }
  return { reason: 'exists', places: places ?? [] };
}

/** The deliveries of a batch in the form of `COMMIT_BATCH`: the parameters from `delivery_rows` on. */
export function deliveryColumns(requests: readonly MeteredRequest[]): unknown[] {
  const deliveries: object[] = [];
  const boxes: object[] = [];
  const copies: object[] = [];
  const texts: string[] = [];
  requests.forEach(({ accountId, keys, delivery }, position) => {
    if (!delivery) return;
    boxes.push(...boxRows(position, accountId, boxNeeds(delivery), delivery.limits));
    delivery.deliveries.forEach(({ deliveryId, copies: sealed }, place) => {
      const { keyId } = keys[place];
      deliveries.push({
        ...{ position, place, account_id: accountId, delivery_id: bytea(deliveryId) },
        ...{ key_id: bytea(keyId), until_ms: delivery.untilMs },
        needs: neededProgram('deliveries', [[accountId, deliveryId, keyId, delivery.untilMs]]),
      });
      delivery.recipients.forEach(({ name: recipient }, i) => {
        copies.push({ position, place, recipient, text_at: texts.push(sealed[i]) });
      });
    });
  });
  return [JSON.stringify(deliveries), JSON.stringify(boxes), JSON.stringify(copies), texts];
}

function boxRows(
  position: number,
  accountId: string,
  needs: readonly BoxNeed[],
  limits: BoxLimits,
): object[] {
  return needs.map(({ recipient, copies, bytes }, place) => ({
    ...{ position, place, account_id: accountId },
    ...{ recipient: recipient.name, public_key: bytea(recipient.publicKey), copies, bytes },
    ...{ most_copies: limits.copies, most_bytes: limits.bytes },
  }));
}

/** Removes all copies of an account, or of one of its recipients, a few in each transaction. Without copies it writes nothing. */
export async function emptyBoxesAhead(
  connection: PostgresConnection,
  accountId: string,
  recipient: string | null,
): Promise<void> {
  const first = `SELECT 1 FROM delivery_copies
    WHERE account_id = $1 AND ($2::text IS NULL OR recipient = $2) AND ${IN_BOX} LIMIT 1`;
  const some = 'SELECT empty_boxes_1($1, $2, $3) AS ended';
  while ((await connection.get(first, accountId, recipient)) !== undefined) {
    await connection.changed(some, accountId, recipient, EMPTIED_AT_ONCE);
  }
}

export class PostgresDeliveries {
  readonly #connection: PostgresConnection;

  constructor(connection: PostgresConnection) {
    this.#connection = connection;
  }

  async findRefusal(query: DeliveryQuery): Promise<DeliveryRefusal | null> {
    const { accountId, deliveryIds, limits } = query;
    const deliveries = deliveryIds.map((id, place) => ({
      ...{ position: 0, place, account_id: accountId, delivery_id: bytea(id) },
    }));
    const row = await this.#connection.get(
      `SELECT refuse_deliveries($1, $2, ${NOW_MS}) AS refusals`,
      JSON.stringify(deliveries),
      JSON.stringify(boxRows(0, accountId, leastNeeds(query), limits)),
    );
    const [found] = (row?.refusals as readonly RefusalJson[] | null) ?? [];
    return found ? toRefusal(found) : null;
  }

  async list({ accountId, recipient, state, afterKeyId, limit }: CopyQuery): Promise<CopyPage> {
    const after = afterKeyId ? toBuffer(afterKeyId) : NOTHING;
    const rows = await this.#connection.all(COPY_PAGE, accountId, recipient, state, after, limit);
    const copies = rows as unknown as BoxedCopy[];
    return { copies, next: (copies.length === limit && copies.at(-1)?.keyId) || null };
  }

  async haveWaiting(boxes: readonly WaitingQuery[]): Promise<boolean[]> {
    const rows = await this.#connection.all(
      WAITING,
      boxes.map(({ accountId }) => accountId),
      boxes.map(({ recipient }) => recipient),
      boxes.map(({ afterKeyId }) => (afterKeyId ? toBuffer(afterKeyId) : NOTHING)),
    );
    const found = new Set(rows.map(({ place }) => Number(place)));
    return boxes.map((_, i) => found.has(i + 1));
  }

  async take(orders: readonly CopyOrder[]): Promise<(TakenCopy | null)[][]> {
    const asked = orders.flatMap(({ deliveryIds, ...order }) =>
      deliveryIds.map((deliveryId) => ({ ...order, deliveryId })),
    );
    const rows = await this.#connection.changedRows(
      TAKE,
      asked.map(({ accountId }) => accountId),
      asked.map(({ recipient }) => recipient),
      asked.map(({ deliveryId }) => toBuffer(deliveryId)),
      asked.map(({ action }) => copyStateAfter('waiting', action)),
    );
    const found = new Map(rows.map((row) => [Number(row.place), toTakenCopy(row)]));
    let place = 0;
    return orders.map(({ deliveryIds }) => deliveryIds.map(() => found.get(++place) ?? null));
  }

  async find(accountId: string, deliveryId: Uint8Array): Promise<DeliveryRecord | null> {
    const row = await this.#connection.get(DELIVERY, accountId, toBuffer(deliveryId));
    if (!row) return null;
    const { nowMs, copies, ...delivery } = row;
    const { untilMs } = delivery as unknown as BoxedCopy;
    return {
      ...(delivery as unknown as BoxedCopy),
      copies: ((copies as DeliveryRecord['copies'] | null) ?? []).map((copy) => ({
        ...copy,
        state: copyStateAt(copy.state, untilMs, Number(nowMs)),
      })),
    };
  }

  async withdraw({ accountId, deliveryIds }: WithdrawnDeliveries): Promise<void> {
    const ids = deliveryIds.map(toBuffer);
    await this.#connection.changedRows('SELECT withdraw_deliveries_1($1, $2)', accountId, ids);
  }
}

function toTakenCopy({ place: _, ...row }: Row): TakenCopy {
  const copy = row as unknown as TakenCopy & { readonly state: CopyState };
  return copy.state === 'received' ? copy : { ...copy, sealedKey: null };
}
