/** Schemas of receipts: statements about keys, with proofs that the transparency log holds them. */
import type { Static, TSchema } from 'typebox';
import { KEY_STATEMENT, KEY_STATEMENT_V2, MAX_RECIPIENTS } from '#tlog';
import { SECURITY_LEVELS } from '../../keys/index.ts';
import type { LogReceipt } from '../../service/index.ts';
import { BODY_RULES, chosen, leavable, oneOf, Success, Timestamp, warnings } from './schemas.ts';
import { Type } from './type.ts';

/** 32 bytes in base64 (RFC 4648 §4). */
const BASE64_32 = '^[A-Za-z0-9+/]{43}=$';

const bytes32 = (description: string) => Type.String({ pattern: BASE64_32, description });

const orNull = <T extends TSchema>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description });

/** Longest wait for a receipt that a caller can ask for. */
export const MAX_WAIT_SECONDS = 5;

export const ReceiptQuery = Type.Object({
  wait: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_WAIT_SECONDS,
      description:
        'seconds to wait for a receipt that is not ready, in decimal digits; at most once. Absent: none',
    }),
  ),
});

export const KeyId = Type.String({ description: 'identifier of the key: `key_id` of generate' });

/** Who has the key's commitment asks with it for the receipt. */
export const ReceiptBy = Type.Object(
  {
    key_id: Type.String({
      pattern: '^phm_[1-9][0-9]{0,38}$',
      description: 'identifier of the key: `key_id` in the header of the sealed key',
    }),
    key_commitment: Type.String({
      pattern: '^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$',
      description:
        'commitment to the key: `key_commitment` in the header of the sealed key, 32 bytes in base64 (RFC 4648 §4)',
    }),
    wait: leavable(
      Type.Integer({
        minimum: 1,
        maximum: MAX_WAIT_SECONDS,
        description: 'seconds to wait for a receipt that is not ready. Absent: none',
      }),
    ),
  },
  { title: 'ReceiptRequest', description: BODY_RULES },
);

/** The random bytes that open the commitment of a statement. */
export const Opening = bytes32(
  '32 random bytes that open key_commitment; shown once and never stored. Keep them as secret as the key',
);

export const ReceiptUrl = Type.String({
  description: 'path of the receipt on this server, with its base path',
});

const StatementEvidence = Type.Object(
  {
    digest: Type.String({
      pattern: '^sha256:[0-9a-f]{64}$',
      description: 'digest of the p-values, the gate and the version of their definition',
    }),
    verdict: oneOf(['PASS', 'FAIL'], 'string', 'verdict of the gate'),
    tests_passed: Type.Integer({ minimum: 0, maximum: 15 }),
    total_tests: Type.Integer({ minimum: 13, maximum: 15 }),
  },
  { title: 'StatementEvidence' },
);

const StatementSource = Type.Object(
  {
    name: Type.String({ description: 'entropy source of the reseeds before the key' }),
    credit_bits: Type.Number({ minimum: 0, description: 'entropy credited to it' }),
  },
  { title: 'StatementSource' },
);

/** Members of every statement about a key. */
const STATED_FACTS = {
  service: Type.String({ description: 'origin of the transparency log' }),
  key_id: KeyId,
  time: Timestamp,
  security_level: chosen(SECURITY_LEVELS, 'length of the key in bits'),
  security_strength_bits: Type.Integer({ minimum: 0, maximum: 256 }),
  key_commitment: bytes32('HMAC-SHA-256 of the key under the opening'),
  evidence: orNull(StatementEvidence, 'the verdict on a validated key; null for a plain key'),
  modulation: Type.String({ description: 'modulation type' }),
  sources: Type.Array(StatementSource, { maxItems: 32 }),
  row_digest: bytes32('SHA-256 of the record of the key in the ledger'),
  software: Type.String({ description: 'version of the service and digest of its sources' }),
  salt: bytes32('random bytes that keep the entry in the log from revealing the statement'),
};

const KeyStatement = Type.Object(
  {
    type: oneOf([KEY_STATEMENT], 'string', 'type and version of the statement'),
    ...STATED_FACTS,
    sealed_to: orNull(
      bytes32('thumbprint of the recipient'),
      "SHA-256 of the recipient's public key; null if the key was not sealed",
    ),
    sealed_digest: orNull(
      bytes32('digest of the sealed key'),
      'SHA-256 of enc and ciphertext of the sealed key; null if the key was not sealed',
    ),
  },
  {
    title: 'KeyStatement',
    description:
      'What the service asserts about a key. The entry of the log is the SHA-256 digest of its RFC 8785 form.',
  },
);

const StatedSeal = Type.Object(
  {
    digest: bytes32('SHA-256 of enc and ciphertext of the sealed key'),
    to: bytes32("SHA-256 of the recipient's public key"),
  },
  { title: 'StatedSeal' },
);

const Delivery = Type.Object(
  {
    id: Type.String({ description: 'a UUID in lower case' }),
    context: orNull(bytes32('what the caller bound to the key'), 'null: nothing'),
  },
  { title: 'Delivery' },
);

const KeyStatementV2 = Type.Object(
  {
    type: oneOf([KEY_STATEMENT_V2], 'string', 'type and version of the statement'),
    ...STATED_FACTS,
    sealed: Type.Array(StatedSeal, {
      maxItems: MAX_RECIPIENTS,
      description: 'recipients and sealed keys, in the order of the request',
    }),
    delivery: orNull(Delivery, 'null: the service kept no sealed key for its recipient'),
  },
  {
    title: 'KeyStatementV2',
    description: 'What the service asserts about a key that is sealed to several recipients.',
  },
);

export const Receipt = Type.Object(
  {
    statement: Type.Union([KeyStatement, KeyStatementV2]),
    proof: Type.String({
      description:
        'proof that the log holds the statement, as text of c2sp.org/tlog-proof@v1, with the signed checkpoint',
    }),
  },
  { title: 'Receipt' },
);

export type ReceiptBody = Static<typeof Receipt>;

export const ReceiptResult = Type.Object(
  { success: Success, receipt: Receipt, timestamp: Timestamp, warnings },
  { title: 'ReceiptResult' },
);

export const Checkpoint = Type.String({
  title: 'Checkpoint',
  description: 'signed note (c2sp.org/signed-note) with a checkpoint (c2sp.org/tlog-checkpoint)',
});

export const LogPolicy = Type.String({
  title: 'LogPolicy',
  description: 'verifier keys, witnesses and quorum (c2sp.org/tlog-policy)',
});

/** Returns a receipt in the type of its schema. The log has checked the statement against its entry. */
export function receiptBody(receipt: LogReceipt): ReceiptBody {
  return receipt as unknown as ReceiptBody;
}
