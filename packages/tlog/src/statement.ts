/** Statements of the PHM key service, whose hashes are the entries of its log, and receipts (docs/receipts.md). */
import { assertInteger, utf8 } from './bytes.ts';
import type { JsonObject } from './canonical.ts';
import { MAX_NOTE_LENGTH } from './note.ts';
import {
  base64,
  base64UpTo,
  type Check,
  keyId,
  list,
  literal,
  mismatch,
  number,
  object,
  origin,
  orNull,
  text,
  time,
  typed,
  unless,
  word,
} from './shape.ts';

// Type aliases, not interfaces: only they fit `JsonValue`.

/** What the service states about one key. */
export type KeyStatement = KeyStatementV1 | KeyStatementV2;

/** Of a key in plaintext, or sealed to one recipient without a delivery. */
export type KeyStatementV1 = StatedFacts & {
  readonly type: typeof KEY_STATEMENT;
  readonly sealed_to: string | null;
  readonly sealed_digest: string | null;
};

/** Of a key that is sealed to several recipients, or delivered. */
export type KeyStatementV2 = StatedFacts & {
  readonly type: typeof KEY_STATEMENT_V2;
  /** In the order of the request. */
  readonly sealed: readonly StatedSeal[];
  readonly delivery: Delivery | null;
};

/** A sealed copy of a key. */
export type StatedSeal = {
  /** SHA-256(enc ‖ ciphertext). */
  readonly digest: string;
  /** Thumbprint of the recipient. */
  readonly to: string;
};

/** How the service keeps the copies of a key for their recipients. */
export type Delivery = {
  /** A UUID in lower case, which the caller chose. */
  readonly id: string;
  /** 32 bytes in base64 that the caller chose; null without. */
  readonly context: string | null;
};

/** Byte strings are base64 (RFC 4648 §4). */
type StatedFacts = {
  /** Origin of the log. */
  readonly service: string;
  readonly key_id: string;
  /** When the key was generated: ISO 8601 with milliseconds and `+00:00`. */
  readonly time: string;
  readonly security_level: number;
  readonly security_strength_bits: number;
  /** HMAC-SHA-256 over `keyCommitmentMessage`, under the opening. */
  readonly key_commitment: string;
  /** Null for a plain key. */
  readonly evidence: KeyEvidence | null;
  readonly modulation: string;
  readonly sources: readonly EntropyCredit[];
  /** SHA-256 over the canonical form of the ledger's row. */
  readonly row_digest: string;
  /** Name, version and digest of the software that generated the key. */
  readonly software: string;
  /** 32 random bytes, which hide the statement behind its hash. */
  readonly salt: string;
};

export type KeyEvidence = {
  /** `sha256:` and 64 hexadecimal digits. */
  readonly digest: string;
  readonly verdict: string;
  readonly tests_passed: number;
  readonly total_tests: number;
};

export type EntropyCredit = { readonly name: string; readonly credit_bits: number };

/** What the service states about one administrative action. */
export type AuditStatement = {
  readonly type: typeof AUDIT_STATEMENT;
  readonly service: string;
  readonly audit_id: string;
  readonly time: string;
  readonly action: string;
  readonly details: JsonObject;
  readonly salt: string;
};

export type Receipt = {
  readonly statement: KeyStatement;
  /** Text of c2sp.org/tlog-proof@v1. */
  readonly proof: string;
};

export const KEY_STATEMENT = 'phm-key-receipt/v1';
export const KEY_STATEMENT_V2 = 'phm-key-receipt/v2';
export const AUDIT_STATEMENT = 'phm-audit/v1';

/** The opening of a commitment has exactly this length: HMAC would pad a shorter key with zeros. */
export const OPENING_BYTES = 32;

const COMMITMENT_LABEL = utf8('phm/key-commitment/v1\0');

const SALT_BYTES = 32;
const DIGEST_BYTES = 32;
const MAX_SOURCES = 32;
/** Longest recipient of a sealed key in a statement of the first type, in bytes. */
const MAX_SEALED_TO_BYTES = 4096;

/** Most recipients of one key. */
export const MAX_RECIPIENTS = 8;

/**
 * Returns the message of a key's commitment: HMAC-SHA-256 over it, under the opening, is
 * `key_commitment`. The key's length is `bits`. The caller wipes the result, which holds the key.
 */
export function keyCommitmentMessage(bits: number, keyId: string, key: Uint8Array): Uint8Array {
  assertInteger('bits', bits, 1, 2 ** 16 - 1);
  if (key.length * 8 !== bits) {
    throw new TypeError(`"key" expected ${bits} bits, got ${key.length * 8}`);
  }
  const id = utf8(keyId);
  const at = COMMITMENT_LABEL.length;
  const message = new Uint8Array(at + 2 + id.length + 1 + key.length);
  message.set(COMMITMENT_LABEL);
  message[at] = bits >> 8;
  message[at + 1] = bits & 0xff;
  message.set(id, at + 2);
  message.set(key, at + 2 + id.length + 1);
  return message;
}

/**
 * Returns a receipt from parsed JSON. Throws `FormatError` that names the first member which is missing,
 * unknown, or of the wrong form. It verifies nothing.
 */
export function parseReceipt(json: unknown): Receipt {
  return receiptOf('the receipt', json);
}

/** Returns an audit statement from parsed JSON. Throws `FormatError` as `parseReceipt` does. */
export function parseAuditStatement(json: unknown): AuditStatement {
  return auditStatementOf('the statement', json);
}

/** Returns the thumbprints of all recipients that a statement names, in the order of the request. */
export function statedRecipients(statement: KeyStatement): readonly string[] {
  if (statement.type === KEY_STATEMENT_V2) return statement.sealed.map(({ to }) => to);
  return statement.sealed_to === null ? [] : [statement.sealed_to];
}

/** Returns why no key can have these recipients, after "it"; undefined if one can. */
export function recipientsProblem(
  recipients: readonly string[],
  delivery: Delivery | null,
): string | undefined {
  const { length } = recipients;
  const least = delivery === null ? 2 : 1;
  if (length < least || length > MAX_RECIPIENTS) {
    return `names ${length === 1 ? '1 recipient' : `${length} recipients`} instead of ${least} to ${MAX_RECIPIENTS}`;
  }
  return new Set(recipients).size === length ? undefined : 'names one recipient twice';
}

/** Accepts an object of JSON, at most `depth` levels deep. */
function jsonObject(depth: number): Check<JsonObject> {
  return (name, value) => {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (!isObject || !isJson(value, depth)) {
      throw mismatch(name, `a JSON object of at most ${depth} levels`, value);
    }
    return value as JsonObject;
  };
}

function isJson(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return !/\p{Surrogate}/u.test(value);
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object') return typeof value === 'boolean';
  if (value === null) return true;
  return (
    depth > 0 &&
    Object.entries(value).every(([name, one]) => isJson(name, 0) && isJson(one, depth - 1))
  );
}

const printable = text('up to 255 printable ASCII characters', /^[!-~]{1,255}$/);
const count = number(0, 1000, Number.isSafeInteger);

export const deliveryOrNull: Check<Delivery | null> = orNull(
  object<Delivery>({
    id: text(
      'a UUID in lower case',
      /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
    ),
    context: orNull(base64(DIGEST_BYTES)),
  }),
);

const STATED_FACTS = {
  service: origin,
  key_id: keyId,
  time,
  security_level: number(1, 2 ** 16 - 1, Number.isSafeInteger),
  security_strength_bits: number(0, 2 ** 16 - 1, Number.isSafeInteger),
  key_commitment: base64(DIGEST_BYTES),
  evidence: orNull(
    object<KeyEvidence>({
      digest: text('"sha256:" and 64 hexadecimal digits', /^sha256:[0-9a-f]{64}$/),
      verdict: text('PASS or FAIL', /^(?:PASS|FAIL)$/),
      tests_passed: count,
      total_tests: count,
    }),
  ),
  modulation: word,
  sources: list(
    object<EntropyCredit>({ name: word, credit_bits: number(0, 2 ** 32) }),
    MAX_SOURCES,
  ),
  row_digest: base64(DIGEST_BYTES),
  software: printable,
  salt: base64(SALT_BYTES),
};

const statementV1Of = object<KeyStatementV1>({
  type: literal(KEY_STATEMENT),
  ...STATED_FACTS,
  sealed_to: orNull(base64UpTo(MAX_SEALED_TO_BYTES)),
  sealed_digest: orNull(base64(DIGEST_BYTES)),
});

const statementV2Of = unless(
  object<KeyStatementV2>({
    type: literal(KEY_STATEMENT_V2),
    ...STATED_FACTS,
    sealed: list(
      object<StatedSeal>({ digest: base64(DIGEST_BYTES), to: base64(DIGEST_BYTES) }),
      MAX_RECIPIENTS,
    ),
    delivery: deliveryOrNull,
  }),
  (statement) => recipientsProblem(statedRecipients(statement), statement.delivery),
);

const keyStatementOf = typed<KeyStatement>({
  [KEY_STATEMENT]: statementV1Of,
  [KEY_STATEMENT_V2]: statementV2Of,
});

const receiptOf = object<Receipt>({
  statement: keyStatementOf,
  // A proof is a note and at most as much again before it.
  proof: (name, value) => {
    if (typeof value === 'string' && value.length <= 2 * MAX_NOTE_LENGTH) return value;
    throw mismatch(name, 'the text of a c2sp.org/tlog-proof@v1', value);
  },
});

const auditStatementOf = object<AuditStatement>({
  type: literal(AUDIT_STATEMENT),
  service: origin,
  audit_id: printable,
  time,
  action: word,
  details: jsonObject(8),
  salt: base64(SALT_BYTES),
});
