/** The header of a sealed key: what is stated about it in the open. HPKE authenticates it as `aad`. */
import {
  base64,
  canonicalJson,
  type Delivery,
  deliveryOrNull,
  FormatError,
  keyId,
  list,
  literal,
  MAX_RECIPIENTS,
  mismatch,
  number,
  object,
  origin,
  orNull,
  recipientsProblem,
  time,
  typed,
  unless,
} from '../../tlog/src/index.ts';
import { equalBytes, utf8 } from './hash.ts';
import { suiteOfIds } from './suites.ts';

export const SEALED_KEY = 'phm-sealed-key/v1';
export const SEALED_KEY_V2 = 'phm-sealed-key/v2';

// Type aliases, not interfaces: only they fit `JsonValue`.

export type SealHeader = SealHeaderV1 | SealHeaderV2;

/** Of a key that is sealed to one recipient, without a delivery. */
export type SealHeaderV1 = SealedFacts & { readonly type: typeof SEALED_KEY };

/** Of one of several sealed copies of a key, or of one for a delivery. */
export type SealHeaderV2 = SealedFacts &
  Copies & {
    readonly type: typeof SEALED_KEY_V2;
  };

/** What binds the sealed copies of a key together: none can be exchanged, and no further reader stays unseen. */
export type Copies = {
  /** Thumbprints of all recipients in base64, in the order of the request. */
  readonly recipients: readonly string[];
  readonly delivery: Delivery | null;
};

type SealedFacts = {
  /** Origin of the service's log, or null without a log. */
  readonly service: string | null;
  readonly key_id: string;
  /** Length of the key in bits. */
  readonly security_level: number;
  /** When the service accepted the request: ISO 8601 with milliseconds and `+00:00`. */
  readonly time: string;
  readonly kem_id: number;
  readonly kdf_id: number;
  readonly aead_id: number;
  /** SHA-256 of the recipient's raw public key, in base64. */
  readonly thumbprint: string;
  /** HMAC-SHA-256 over `keyCommitmentMessage`, under the opening, in base64. */
  readonly key_commitment: string;
};

/** Longest header in bytes. The longest that the service writes has some 1,600: eight recipients, and an origin of 765 bytes. */
export const MAX_HEADER_BYTES = 2048;

const id = number(0, 0xffff, Number.isSafeInteger);

const SEALED_FACTS = {
  service: orNull(origin),
  key_id: keyId,
  security_level: (name: string, value: unknown) => {
    if (value === 128 || value === 256 || value === 384) return value;
    throw mismatch(name, '128, 256 or 384', value);
  },
  time,
  kem_id: id,
  kdf_id: id,
  aead_id: id,
  thumbprint: base64(32),
  key_commitment: base64(32),
};

const headerV2Of = unless(
  object<SealHeaderV2>({
    type: literal(SEALED_KEY_V2),
    ...SEALED_FACTS,
    recipients: list(base64(32), MAX_RECIPIENTS),
    delivery: deliveryOrNull,
  }),
  ({ recipients, delivery, thumbprint }) =>
    recipientsProblem(recipients, delivery) ??
    (recipients.includes(thumbprint) ? undefined : 'does not name its own recipient among all'),
);

const headerOf = typed<SealHeader>({
  [SEALED_KEY]: object<SealHeaderV1>({ type: literal(SEALED_KEY), ...SEALED_FACTS }),
  [SEALED_KEY_V2]: headerV2Of,
});

/** Returns the thumbprints of all recipients that a header names, in the order of the request. */
export function headerRecipients(header: SealHeader): readonly string[] {
  return header.type === SEALED_KEY ? [header.thumbprint] : header.recipients;
}

/** Returns the canonical form (RFC 8785) of a header, which is HPKE's `aad`. */
export function sealHeaderBytes(header: SealHeader): Uint8Array {
  return utf8(canonicalJson(header));
}

/**
 * Returns the header of these bytes. Throws `FormatError` unless they are canonical JSON of exactly the members of a
 * header, with the numbers of a known suite.
 */
export function parseSealHeader(bytes: Uint8Array): SealHeader {
  const header = headerOf('the header', parseJson(bytes));
  suiteOfIds('the header', header);
  if (bytes.length <= MAX_HEADER_BYTES && equalBytes(sealHeaderBytes(header), bytes)) return header;
  throw new FormatError('the header: expected canonical JSON (RFC 8785), got another form of JSON');
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    throw new FormatError('the header: expected JSON, got other text');
  }
}
