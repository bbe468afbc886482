/** Deliveries: sealed keys that wait at the service for registered recipients. */

import type { CallOptions } from './client-options.ts';
import {
  copiesBelong,
  deliveryBelongs,
  fetchBelongs,
  pageBelongs,
} from './deliveries-belonging.ts';
import { assertObject, checkDeliveryId, checkDeliveryIds, checkRecipientName } from './options.ts';
import type { Endpoint, Sender } from './sender.ts';
import { SHAPES } from './shapes.ts';
import type {
  DeliveryList,
  DeliveryListQuery,
  DeliveryResult,
  FetchResult,
  RemoveResult,
} from './types.ts';

const PATH = '/api/v2/deliveries';

/** What a recipient does with the copies of its box, and what an account sees of its deliveries: `client.deliveries`. */
export class Deliveries {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * Returns a page of the copies for a recipient, oldest first: `next_cursor` is the `cursor` of the next one, and null at the
   * end. With `wait`, an answer without copies comes only after so many seconds: ask again at once.
   */
  async list(query: DeliveryListQuery, options: CallOptions = {}): Promise<DeliveryList> {
    assertObject('the query', query, "{ recipient: 'paris', wait: 30 }");
    checkRecipientName(query.recipient);
    const extraMs = Number(query.wait ?? 0) * 1_000;
    const kind = { shape: SHAPES.deliveries, belongs: pageBelongs(query), extraMs };
    return this.#sender.send(
      { method: 'GET', path: PATH, query, ...kind, repeatable: 'read' },
      options,
    );
  }

  /**
   * Returns the sealed keys of up to 100 copies, with receipts. The service then has their states as `received`. Repeatable.
   * Open each with `openSealedKey`, and remove it when you need it no more. Rejects with `delivery_gone` or
   * `delivery_not_found` if none can be fetched.
   */
  async fetch(
    recipient: string,
    ids: readonly string[],
    options: CallOptions = {},
  ): Promise<FetchResult> {
    const body = { recipient: checkRecipientName(recipient), ids: checkDeliveryIds(ids) };
    const kind = { shape: SHAPES.fetched, belongs: fetchBelongs(ids), places: ids.length };
    return this.#post(`${PATH}/fetch`, body, kind, options);
  }

  /** Removes up to 100 copies from the box of a recipient. A repeated call changes nothing, so the client retries. */
  async remove(
    recipient: string,
    ids: readonly string[],
    options: CallOptions = {},
  ): Promise<RemoveResult> {
    const body = { recipient: checkRecipientName(recipient), ids: checkDeliveryIds(ids) };
    const kind = { shape: SHAPES.copies, belongs: copiesBelong(ids), places: ids.length };
    return this.#post(`${PATH}/remove`, body, kind, options);
  }

  /** Returns the state of a delivery of the account at each of its recipients. */
  async state(id: string, options: CallOptions = {}): Promise<DeliveryResult> {
    const path = `${PATH}/${checkDeliveryId(id)}`;
    const kind = { shape: SHAPES.delivery, belongs: deliveryBelongs(id) };
    return this.#sender.send({ method: 'GET', path, ...kind, repeatable: 'read' }, options);
  }

  #post<Answer>(
    path: string,
    body: object,
    kind: Pick<Endpoint, 'shape' | 'belongs' | 'places'>,
    options: CallOptions,
  ): Promise<Answer> {
    return this.#sender.send({ method: 'POST', path, body, ...kind, repeatable: 'read' }, options);
  }
}
