/** What shows that an answer about deliveries belongs to its request. */
import { type Belongs, deliveryIn, headerOf, receiptMismatch } from './belonging.ts';
import type {
  DeliveryList,
  DeliveryListQuery,
  DeliveryResult,
  FetchResult,
  RemoveResult,
} from './types.ts';

/** For a page of copies: each once, and no page twice. */
export function pageBelongs({ cursor, limit = 100 }: DeliveryListQuery): Belongs {
  return (answer) => {
    const { deliveries, next_cursor: next } = answer as unknown as DeliveryList;
    const ids = new Set(deliveries.map(({ delivery_id: id }) => id));
    if (ids.size < deliveries.length) return '/deliveries repeats a delivery';
    if (deliveries.length > limit) return '/deliveries has more than limit';
    if (next === null) return undefined;
    return next === cursor ? '/next_cursor is that of this page' : undefined;
  };
}

/** For the states of copies: those of the request, in its order. */
export function copiesBelong(ids: readonly string[]): Belongs {
  return (answer) => {
    const { deliveries } = answer as unknown as RemoveResult;
    if (deliveries.length !== ids.length) return '/deliveries are not those of the request';
    const other = deliveries.findIndex(({ delivery_id: id }, i) => id !== ids[i]);
    return other === -1 ? undefined : `/deliveries/${other} is another delivery`;
  };
}

/** For fetched copies: each received one has its own sealed key, of its own delivery. */
export function fetchBelongs(ids: readonly string[]): Belongs {
  return (answer, headers) => {
    const other = copiesBelong(ids)(answer, headers);
    if (other !== undefined) return other;
    for (const [i, copy] of (answer as unknown as FetchResult).deliveries.entries()) {
      const wrong = copyMismatch(copy);
      if (wrong !== undefined) return `/deliveries/${i}${wrong}`;
    }
    return undefined;
  };
}

function copyMismatch(copy: FetchResult['deliveries'][number]): string | undefined {
  const { delivery_id: id, state, key_id: keyId, sealed_key: sealed, receipt } = copy;
  if ((state === 'received') !== (sealed !== undefined))
    return '/sealed_key does not fit the state';
  if (sealed === undefined) return undefined;
  if (keyId === undefined) return '/key_id is missing';
  const header = headerOf(sealed.header);
  if (header.key_id !== keyId) return '/sealed_key is of another key_id';
  if (deliveryIn(header) !== id) return '/sealed_key is of another delivery';
  return receiptMismatch({ key_id: keyId, receipt, receipt_url: copy.receipt_url });
}

/** For the states of the delivery with this ID. */
export function deliveryBelongs(id: string): Belongs {
  return (answer) => {
    const { delivery } = answer as unknown as DeliveryResult;
    return delivery.delivery_id === id ? undefined : '/delivery is another one';
  };
}
