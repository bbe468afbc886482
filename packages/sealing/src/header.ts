/** The header of a sealed key: what is stated about it in the open. HPKE authenticates it as `aad`. */
import {
  base64,
  canonicalJson,
  FormatError,
  keyId,
  literal,
  mismatch,
  number,
  object,
  origin,
  orNull,
  time,
} from '../../tlog/src/index.ts';
import { equalBytes, utf8 } from './hash.ts';
import { suiteOfIds } from './suites.ts';

export const SEALED_KEY = 'phm-sealed-key/v1';

// A type alias, not an interface: only it fits `JsonValue`.
export type SealHeader = {
  readonly type: typeof SEALED_KEY;
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

/** Longest header in bytes. The longest that the service writes has some 800. */
export const MAX_HEADER_BYTES = 2048;

const id = number(0, 0xffff, Number.isSafeInteger);

const headerOf = object<SealHeader>({
  type: literal(SEALED_KEY),
  service: orNull(origin),
  key_id: keyId,
  security_level: (name, value) => {
    if (value === 128 || value === 256 || value === 384) return value;
    throw mismatch(name, '128, 256 or 384', value);
  },
  time,
  kem_id: id,
  kdf_id: id,
  aead_id: id,
  thumbprint: base64(32),
  key_commitment: base64(32),
});

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
