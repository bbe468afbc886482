/** The field `deliver`: keeps the sealed copies of keys for their registered recipients. */
import type { JsonObject } from '#tlog';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../clock.ts';
import { AppError, type FieldError } from '../../errors.ts';
import { formatDeliveryId, type KeyDelivery, parseDeliveryId } from '../../keys/index.ts';
import type { DeliveryRefusal } from '../../ledger/index.ts';
import { placeIn, refusedRecipient } from './seal-to.ts';
import type { OrderBody, SealToAllBody } from './sealed-schemas.ts';

/** 32 bytes in canonical base64 (RFC 4648 §4). */
const CONTEXT = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;

const PERIOD = /^([1-9]\d{0,5})([smhd])$/;
const UNITS_MS: Readonly<Record<string, number>> = {
  s: SECOND_MS,
  m: MINUTE_MS,
  h: HOUR_MS,
  d: DAY_MS,
};

/** Bounds and default of `for`. */
const LEAST_MS = MINUTE_MS;
const MOST_MS = 7 * DAY_MS;
const DEFAULT_PERIOD = '1h';

/** Returns the delivery of a request for `count` keys; null without. Throws `invalid_request` with all problems. */
export function readDelivery(body: OrderBody, count: number, isBatch: boolean): KeyDelivery | null {
  const { deliver } = body;
  if (!deliver) return null;
  const fields: FieldError[] = [];
  const refuse = (part: string, message: string) => {
    fields.push({ pointer: `#/deliver/${part}`, message });
  };
  const ids = isBatch ? readIds(deliver.ids, count, refuse) : readId(deliver.id, refuse);
  const context = deliver.context ?? null;
  if (context !== null && !CONTEXT.test(context)) {
    refuse('context', 'must be 32 bytes in base64 (RFC 4648 §4)');
  }
  const forMs = readPeriod(deliver.for ?? DEFAULT_PERIOD);
  if (forMs === undefined) {
    refuse('for', 'must be a number and s, m, h or d, from 60s to 7d, such as 1h');
  }
  fields.push(...unnamed(body.seal_to));
  if (fields.length > 0 || forMs === undefined) throw new AppError('invalid_request', { fields });
  // A copy: the buffer is a part of a larger one, which a message to a worker would copy whole.
  const bytes = context === null ? null : new Uint8Array(Buffer.from(context, 'base64'));
  return { ids, context: bytes, forMs };
}

/** Returns the fields of a delivery that decide what a request asks for, for its hash. */
export function hashedDelivery({ ids, context, forMs }: KeyDelivery): JsonObject {
  return {
    ids: ids.map(formatDeliveryId),
    context: context && Buffer.from(context).toString('base64'),
    for_ms: forMs,
  };
}

type Refuse = (part: string, message: string) => void;

function readId(id: string | null | undefined, refuse: Refuse): Uint8Array[] {
  const parsed = parseDeliveryId(id ?? '');
  if (parsed) return [parsed];
  refuse('id', id ? 'must be a lower-case UUID' : 'is missing: a lower-case UUID');
  return [];
}

function readIds(
  ids: readonly string[] | null | undefined,
  count: number,
  refuse: Refuse,
): Uint8Array[] {
  if (ids?.length !== count) {
    refuse('ids', `must be a list of ${count} lower-case UUIDs, one for each key`);
    return [];
  }
  const seen = new Set<string>();
  return ids.flatMap((id, i) => {
    const parsed = parseDeliveryId(id);
    if (!parsed) refuse(`ids/${i}`, 'must be a lower-case UUID');
    else if (seen.has(id)) refuse(`ids/${i}`, 'must differ from the IDs before it');
    seen.add(id);
    return parsed ?? [];
  });
}

function readPeriod(text: string): number | undefined {
  const [, number, unit = ''] = PERIOD.exec(text) ?? [];
  const ms = Number(number) * (UNITS_MS[unit] ?? Number.NaN);
  return ms >= LEAST_MS && ms <= MOST_MS ? ms : undefined;
}

/** Returns an error for each recipient that is given by its public key: its copies would have no owner. */
function unnamed(sealTo: SealToAllBody | undefined): FieldError[] {
  return [sealTo ?? []].flat().flatMap(({ recipient }, i) => {
    if ((recipient ?? null) !== null) return [];
    const pointer = `#/seal_to${placeIn(sealTo, i)}`;
    const message = 'must name a registered recipient, because "deliver" keeps its copy';
    return [{ pointer, message }];
  });
}

/** Returns the error for keys that cannot be delivered. */
export function undeliverable(refusal: DeliveryRefusal, body: OrderBody): AppError {
  switch (refusal.reason) {
    case 'exists': {
      const isBatch = (body.deliver?.ids ?? null) !== null;
      const fields = refusal.places.map((place) => ({
        pointer: isBatch ? `#/deliver/ids/${place}` : '#/deliver/id',
        message: 'is the ID of an earlier delivery of this account',
      }));
      return new AppError('delivery_exists', { fields });
    }
    case 'unknown_recipient': {
      const place = [body.seal_to ?? []]
        .flat()
        .findIndex(({ recipient }) => recipient === refusal.recipient);
      return refusedRecipient(
        placeIn(body.seal_to, place),
        'is not registered any more, or now with another public key',
      );
    }
    case 'box_full':
      return new AppError('delivery_box_full', {
        detail: `The box of the recipient "${refusal.recipient}" has no room for these copies.`,
      });
  }
}
