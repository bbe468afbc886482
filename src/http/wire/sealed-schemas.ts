/** Schemas of sealed keys and of batches. */
import type { Static, TSchema } from 'typebox';
import { DEFAULT_SUITE, SEAL_SUITES, type SealSuiteName } from '#sealing';
import { MAX_RECIPIENTS } from '#tlog';
import { MAX_BATCH_KEYS, MAX_SEALED_COPIES } from '../../keys/index.ts';
import {
  FACTS,
  type GenerateBody,
  INCLUDABLE,
  KeyIdField,
  orderFields,
  PLAIN_KEY,
  RECEIPT_FIELDS,
  VERDICT,
} from './key-schemas.ts';
import { BODY_RULES, leavable, oneOf, Success, Timestamp, warnings } from './schemas.ts';
import { Type } from './type.ts';

/** Values of `include` on the sealed endpoints: the proof is inside the sealed key. */
const SEALED_INCLUDABLE = ['nist_report', 'receipt'] as const;

/** Longest text that `seal_to` may hold. The longest public key has 2,091 characters. */
const MAX_PUBLIC_KEY_TEXT = 4_096;
export const MAX_RECIPIENT_NAME = 64;

/** Most keys of a batch whose elements include a receipt or a report: a report takes some 20 kB. */
export const MAX_DETAILED_KEYS = 100;

const SUITE = {
  type: 'string',
  enum: SEAL_SUITES.map(({ name }) => name),
  title: 'SealSuite',
};

const SealTo = Type.Object(
  {
    type: leavable(
      oneOf(
        ['phm-recipient/v1'],
        'string',
        'type of a recipient file: the file of `phm recipient new` is a valid seal_to',
      ),
    ),
    suite: leavable(
      Type.Unsafe<SealSuiteName>({
        ...SUITE,
        default: DEFAULT_SUITE,
        description: 'HPKE suite (RFC 9180, draft-ietf-hpke-pq) of public_key',
      }),
    ),
    public_key: leavable(
      Type.String({
        maxLength: MAX_PUBLIC_KEY_TEXT,
        description:
          "the recipient's public key: the KEM's raw serialisation, 1,216 bytes for MLKEM768-X25519 and 1,568 for ML-KEM-1024, in base64url without padding",
      }),
    ),
    recipient: leavable(
      Type.String({
        maxLength: MAX_RECIPIENT_NAME,
        description:
          'name of a recipient that the operator has registered for the account, instead of suite and public_key',
      }),
    ),
  },
  {
    title: 'SealTo',
    description: 'who can open the keys: either public_key, with its suite, or recipient',
  },
);

export type SealToBody = Static<typeof SealTo>;

const SealToAll = Type.Union(
  [
    SealTo,
    Type.Array(SealTo, { minItems: 1, maxItems: MAX_RECIPIENTS, description: 'all different' }),
  ],
  {
    description: 'the recipient, or a list of one to eight; a list of one is the same as that one',
  },
);

export type SealToAllBody = Static<typeof SealToAll>;

const count = (limits = '') =>
  Type.Integer({
    minimum: 1,
    maximum: MAX_BATCH_KEYS,
    description: `number of keys; at most ${MAX_DETAILED_KEYS} with nist_report or receipt in include${limits}`,
  });

const SEALED_LIMIT = `, and with several recipients at most ${MAX_SEALED_COPIES} sealed keys`;

const DELIVERY = {
  context: leavable(
    Type.String({
      maxLength: 44,
      description:
        '32 bytes of your own in base64 (RFC 4648 §4), which every sealed copy and the receipt state: for example a digest of what the key is for',
    }),
  ),
  for: leavable(
    Type.String({
      maxLength: 8,
      default: '1h',
      description:
        'how long the copies are kept: a number and s, m, h or d, from 60s to 7d. They expire with the key at the latest',
    }),
  ),
};

const KEEPS =
  'keeps each sealed copy for its recipient, who fetches it. All recipients must be registered';

/** Most keys of a batch that is delivered: more IDs would not fit into a body. */
const MAX_DELIVERED_KEYS = 500;

const Deliver = Type.Object(
  {
    id: Type.String({
      maxLength: 36,
      description: 'ID of the delivery: a lower-case UUID that the account has not used before',
    }),
    ...DELIVERY,
  },
  { title: 'Deliver', description: KEEPS },
);

const DeliverBatch = Type.Object(
  {
    ids: Type.Array(Type.String({ maxLength: 36 }), {
      minItems: 1,
      maxItems: MAX_DELIVERED_KEYS,
      description:
        'IDs of the deliveries, one for each key: lower-case UUIDs that the account has not used before',
    }),
    ...DELIVERY,
  },
  { title: 'DeliverBatch', description: KEEPS },
);

/** The field `deliver` of either endpoint. */
type DeliverBody = Partial<Static<typeof Deliver> & Static<typeof DeliverBatch>>;

/** Returns the schemas of the bodies of sealed and batched requests. */
export function keyBodies(sources: readonly string[], defaultSource: string) {
  const plain = orderFields(sources, defaultSource, INCLUDABLE);
  const sealed = {
    seal_to: SealToAll,
    ...orderFields(sources, defaultSource, SEALED_INCLUDABLE),
  };
  const titled = (title: string) => ({ title, description: BODY_RULES });
  return {
    sealed: Type.Object({ ...sealed, deliver: leavable(Deliver) }, titled('GenerateSealedRequest')),
    batch: Type.Object({ count: count(), ...plain }, titled('GenerateBatchRequest')),
    sealedBatch: Type.Object(
      { count: count(SEALED_LIMIT), ...sealed, deliver: leavable(DeliverBatch) },
      titled('GenerateSealedBatchRequest'),
    ),
  };
}

/** The body of any request for keys. Where the schema of the route lacks one of the last two, it has any value. */
export interface OrderBody extends GenerateBody {
  readonly count?: number;
  readonly seal_to?: SealToAllBody;
  readonly deliver?: DeliverBody | null;
}

const base64Url = (description: string) =>
  Type.String({
    pattern: '^[A-Za-z0-9_-]+$',
    description: `${description}, in base64url without padding`,
  });

export const SealedKey = Type.Object(
  {
    suite: Type.Unsafe<SealSuiteName>(SUITE),
    kem_id: Type.Integer({
      minimum: 0,
      maximum: 65_535,
      description: 'registered number of the KEM',
    }),
    kdf_id: Type.Integer({
      minimum: 0,
      maximum: 65_535,
      description: 'registered number of the KDF',
    }),
    aead_id: Type.Integer({
      minimum: 0,
      maximum: 65_535,
      description: 'registered number of the AEAD',
    }),
    enc: base64Url('encapsulated secret'),
    ciphertext: base64Url('key, hash_proof and opening, encrypted'),
    header: base64Url(
      'canonical JSON of what is bound to the key: key_id, time, thumbprint of the public key, those of all recipients if there are several, key_commitment',
    ),
  },
  { title: 'SealedKey', description: 'a key that only the holder of the private key can open' },
);

const SEALED_KEY = {
  key_id: KeyIdField,
  ...FACTS,
  sealed_key: Type.Optional(SealedKey),
  sealed_keys: Type.Optional(
    Type.Array(SealedKey, {
      minItems: 1,
      maxItems: MAX_RECIPIENTS,
      description:
        'with several recipients or a delivery, instead of sealed_key: one for each, in the order of seal_to',
    }),
  ),
  delivery: Type.Optional(
    Type.Object(
      {
        id: Type.String({ description: 'ID of the delivery' }),
        until: Type.String({
          format: 'date-time',
          description: 'when the copies expire, ISO 8601 with UTC offset',
        }),
      },
      { title: 'KeptDelivery', description: 'with deliver: what the service keeps' },
    ),
  ),
  ...VERDICT,
  ...RECEIPT_FIELDS,
};

export const GeneratedSealedKey = Type.Object(
  { success: Success, ...SEALED_KEY, warnings },
  {
    title: 'GeneratedSealedKey',
    description:
      'The fields of GeneratedKey without key, hash_proof and opening: these are inside sealed_key, or inside each of sealed_keys.',
  },
);

/** Returns the schema of the response to a batch. */
function batchOf<T extends TSchema>(element: T, title: string) {
  return Type.Object(
    {
      success: Success,
      timestamp: Timestamp,
      count: Type.Integer({ minimum: 1, maximum: MAX_BATCH_KEYS, description: 'number of keys' }),
      keys: Type.Array(element, { description: 'the keys' }),
      warnings,
    },
    { title },
  );
}

export const KeyBatch = batchOf(Type.Object(PLAIN_KEY, { title: 'BatchKey' }), 'KeyBatch');

export const SealedKeyBatch = batchOf(
  Type.Object(SEALED_KEY, { title: 'BatchSealedKey' }),
  'SealedKeyBatch',
);
