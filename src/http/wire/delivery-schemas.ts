/** Schemas of deliveries: sealed copies of keys that wait for registered recipients. */
import type { Static, TSchema } from 'typebox';
import { BOX_STATES, COPY_STATES, type CopyState } from '../../ledger/index.ts';
import { KeyIdField } from './key-schemas.ts';
import { Receipt, ReceiptUrl } from './receipt-schemas.ts';
import { BODY_RULES, oneOf, Success, Timestamp, warnings } from './schemas.ts';
import { MAX_RECIPIENT_NAME, SealedKey } from './sealed-schemas.ts';
import { Type } from './type.ts';

export const MAX_PAGE = 1_000;
export const DEFAULT_PAGE = 100;
const MAX_TAKEN = 100;
export const MAX_LIST_WAIT_SECONDS = 30;

const orNull = <T extends TSchema>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description });

const ID = 'ID of the delivery, a lower-case UUID: `deliver.id` of the request for the key';

const DeliveryId = Type.String({
  pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
  description: ID,
});

/** In a path, where another text is an unknown delivery. */
export const AnyDeliveryId = Type.String({ description: ID });

const RecipientName = Type.String({
  minLength: 1,
  maxLength: MAX_RECIPIENT_NAME,
  description: 'name of the recipient, as the operator registered it',
});

const Until = Type.String({
  format: 'date-time',
  description: 'when the copies expire, ISO 8601 with UTC offset',
});

/** The state of a copy for its recipient. `unknown` says nothing: also another recipient or account may have the ID. */
const State = oneOf<CopyState | 'unknown'>(
  [...COPY_STATES, 'unknown'],
  'string',
  'waiting: not fetched yet. received: fetched, and can be fetched again. removed, expired and revoked: gone. unknown: this recipient never had a copy',
  { title: 'CopyState' },
);

export const CopyListQuery = Type.Object({
  recipient: RecipientName,
  state: Type.Optional(
    oneOf(BOX_STATES, 'string', 'copies in this state. Absent: waiting', { default: 'waiting' }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_PAGE,
      default: DEFAULT_PAGE,
      description: 'most copies of the page, in decimal digits',
    }),
  ),
  cursor: Type.Optional(Type.String({ description: '`next_cursor` of the page before' })),
  wait: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_LIST_WAIT_SECONDS,
      description:
        'seconds to wait for a copy if none is waiting, in decimal digits. Absent: none. Only with state waiting',
    }),
  ),
});

const Copy = Type.Object(
  { delivery_id: DeliveryId, key_id: KeyIdField, until: Until },
  { title: 'DeliveredCopy' },
);

export const CopyList = Type.Object(
  {
    success: Success,
    deliveries: Type.Array(Copy, { description: 'the oldest key first' }),
    next_cursor: orNull(Type.String(), 'cursor of the next page; null at the end'),
    timestamp: Timestamp,
    warnings,
  },
  { title: 'DeliveryList' },
);

export const CopiesBody = Type.Object(
  {
    recipient: RecipientName,
    ids: Type.Array(Type.String({ maxLength: 36 }), {
      minItems: 1,
      maxItems: MAX_TAKEN,
      description: `IDs of deliveries, 1 to ${MAX_TAKEN}, all different`,
    }),
  },
  { title: 'DeliveriesRequest', description: BODY_RULES },
);

const FetchedCopy = Type.Object(
  {
    delivery_id: DeliveryId,
    state: State,
    key_id: Type.Optional(KeyIdField),
    until: Type.Optional(Until),
    sealed_key: Type.Optional(SealedKey),
    receipt: Type.Optional(
      orNull(Receipt, 'receipt for the key; null if the log does not give it now: receipt_url'),
    ),
    receipt_url: Type.Optional(ReceiptUrl),
  },
  {
    title: 'FetchedDelivery',
    description:
      'With state received, it has the sealed key. With state unknown, it has no key_id.',
  },
);

export const FetchResult = Type.Object(
  {
    success: Success,
    deliveries: Type.Array(FetchedCopy, { description: 'in the order of ids' }),
    timestamp: Timestamp,
    warnings,
  },
  { title: 'FetchResult' },
);

/** Also a member of problems, for which nothing was fetched. */
export const CopyStates = Type.Array(
  Type.Object({ delivery_id: DeliveryId, state: State }, { title: 'DeliveryCopyState' }),
  { description: 'in the order of ids' },
);

export const RemoveResult = Type.Object(
  { success: Success, deliveries: CopyStates, timestamp: Timestamp, warnings },
  { title: 'RemoveResult' },
);

const StateAtRecipient = Type.Object(
  {
    recipient: RecipientName,
    state: oneOf(COPY_STATES, 'string', 'state of its copy'),
    received_at: orNull(Timestamp, 'when the copy was fetched first; null if it was not'),
  },
  { title: 'StateAtRecipient' },
);

export const DeliveryResult = Type.Object(
  {
    success: Success,
    delivery: Type.Object(
      {
        delivery_id: DeliveryId,
        key_id: KeyIdField,
        until: Until,
        recipients: Type.Array(StateAtRecipient, { description: 'in the order of their names' }),
      },
      { title: 'DeliveryStates' },
    ),
    timestamp: Timestamp,
    warnings,
  },
  { title: 'DeliveryResult' },
);

export type FetchedCopyBody = Static<typeof FetchedCopy>;
export type CopyStateBody = Static<typeof CopyStates>[number];
