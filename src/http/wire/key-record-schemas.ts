/** Schemas of key records: the list of keys, one key, and its revocation. */
import type { Static } from 'typebox';
import { MAX_RECIPIENTS } from '#tlog';
import { KEY_STATUSES, MAX_LABELS, SECURITY_LEVELS } from '../../keys/index.ts';
import { REVOCATION_REASONS, type RevocationReason } from '../../ledger/index.ts';
import { Labels } from './key-end-schemas.ts';
import { KeyIdField } from './key-schemas.ts';
import { BODY_RULES, chosen, oneOf, Success, Timestamp, warnings } from './schemas.ts';
import { Type } from './type.ts';

/** Keys of a page. */
export const MIN_LIMIT = 1;
export const MAX_LIMIT = 100;
export const DEFAULT_LIMIT = 50;

/** Values of the filter `evidence`. */
export const EVIDENCE_FILTERS = ['PASS', 'none'] as const;

const KeyStatusField = oneOf(
  KEY_STATUSES,
  'string',
  'state after SP 800-57 Part 1 §7: active; deactivated by its expiry or by a revocation; compromised by a revocation',
  { title: 'KeyStatus' },
);

const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(
  schema: T,
  description: string,
) => Type.Union([schema, Type.Null()], { description });

const Thumbprint = Type.String({ pattern: '^[A-Za-z0-9+/]{43}=$' });

const KeyInfo = Type.Object(
  {
    key_id: KeyIdField,
    status: KeyStatusField,
    created_at: Timestamp,
    security_level: chosen(SECURITY_LEVELS, 'length of the key in bits'),
    security_strength_bits: orNull(
      Type.Integer({ minimum: 0, maximum: 256 }),
      "the smaller of the level and the generator's security strength; null if the service kept no log then",
    ),
    modulation_type: Type.String({ description: 'modulation type' }),
    source: Type.String({
      description: 'entropy source besides the operating system; os: no other',
    }),
    api_key_id: Type.String({ description: 'the API key that asked for the key' }),
    evidence: orNull(
      Type.Object(
        {
          verdict: oneOf(['PASS'], 'string', 'only a stream that passes the gate gives a key'),
          tests_passed: Type.Integer({ minimum: 0, maximum: 15 }),
          total_tests: Type.Integer({ minimum: 0, maximum: 15 }),
          gate_p_value: Type.Number({ minimum: 0, maximum: 1 }),
        },
        { title: 'KeyEvidence' },
      ),
      'result of the statistical suite; null for a plain key',
    ),
    sealed_to: orNull(
      Thumbprint,
      'thumbprint of the recipient in base64, as in receipts and sealed keys; of the first of several; null for a key that was returned in plaintext',
    ),
    recipients: Type.Array(Thumbprint, {
      maxItems: MAX_RECIPIENTS,
      description:
        'thumbprints of all recipients, in the order of the request; empty for a key that was returned in plaintext',
    }),
    delivery_id: orNull(
      Type.String({ description: 'ID of the delivery that keeps the sealed copies' }),
      'null for a key without a delivery',
    ),
    labels: Labels,
    expires_at: orNull(Timestamp, 'null: never'),
    revoked_at: orNull(Timestamp, 'null: not revoked'),
    revocation_reason: orNull(
      oneOf<RevocationReason>(REVOCATION_REASONS, 'string', 'reason of the revocation'),
      'null: not revoked',
    ),
    receipt_url: orNull(
      Type.String({ description: 'path of the receipt on this server' }),
      'null for a key that was generated without a transparency log',
    ),
  },
  { title: 'KeyInfo', description: 'what the ledger knows about a key; never the key' },
);

export const KeyListQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({
      minimum: MIN_LIMIT,
      maximum: MAX_LIMIT,
      default: DEFAULT_LIMIT,
      description: 'most keys of the page, in decimal digits',
    }),
  ),
  cursor: Type.Optional(Type.String({ description: '`next_cursor` of the page before' })),
  created_after: Type.Optional(
    Type.String({ description: 'date-time with offset: keys of this time or later' }),
  ),
  created_before: Type.Optional(
    Type.String({ description: 'date-time with offset: keys before this time' }),
  ),
  security_level: Type.Optional(chosen(SECURITY_LEVELS, 'keys of this length in bits')),
  source: Type.Optional(Type.String({ description: 'keys with this entropy source' })),
  label: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: MAX_LABELS,
      description: '`name:value`; repeat it for several labels, all of which a key must have',
    }),
  ),
  evidence: Type.Optional(
    oneOf(EVIDENCE_FILTERS, 'string', 'PASS: keys with a validated stream; none: plain keys'),
  ),
  api_key_id: Type.Optional(Type.String({ description: 'keys that this API key asked for' })),
  status: Type.Optional(KeyStatusField),
  expires_before: Type.Optional(
    Type.String({ description: 'date-time with offset: keys that expire before this time' }),
  ),
  revoked: Type.Optional(
    Type.Boolean({ description: 'true: revoked keys, for any reason; false: all others' }),
  ),
});

export const KeyList = Type.Object(
  {
    success: Success,
    keys: Type.Array(KeyInfo, { description: 'newest first; may be fewer than limit' }),
    next_cursor: orNull(
      Type.String(),
      'cursor of the next page; null at the end. A page with fewer keys than limit, even none, can have one: a call reads at most 1,000 records',
    ),
    timestamp: Timestamp,
    warnings,
  },
  { title: 'KeyList' },
);

export const KeyInfoResult = Type.Object(
  { success: Success, key: KeyInfo, timestamp: Timestamp, warnings },
  { title: 'KeyInfoResult' },
);

export const RevokeBody = Type.Object(
  {
    reason: oneOf<RevocationReason>(
      REVOCATION_REASONS,
      'string',
      'key_compromise: others may have the key, it becomes compromised. superseded, cessation_of_use, unspecified: it becomes deactivated',
      { title: 'RevocationReason' },
    ),
  },
  { title: 'RevokeRequest', description: BODY_RULES },
);

export type KeyInfoBody = Static<typeof KeyInfo>;
