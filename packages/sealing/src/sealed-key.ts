/** A sealed key as it travels. */
import { type Check, FormatError, mismatch, number, object } from '../../tlog/src/index.ts';
import { base64Url, bytesOf, decodeBase64Url } from './base64url.ts';
import { MAX_HEADER_BYTES, parseSealHeader, type SealHeader } from './header.ts';
import { MAX_PLAINTEXT_BYTES } from './plaintext.ts';
import { type SealSuite, type SealSuiteName, suiteName, suiteOf, suiteOfIds } from './suites.ts';

/** `enc`, `ciphertext` and `header` are base64url without padding. */
export interface SealedKey {
  readonly suite: SealSuiteName;
  readonly kem_id: number;
  readonly kdf_id: number;
  readonly aead_id: number;
  /** HPKE's encapsulated secret. */
  readonly enc: string;
  /** The sealed plaintext with its tag at the end. */
  readonly ciphertext: string;
  /** Canonical JSON of the header. */
  readonly header: string;
}

/** AES-GCM's tag, which ends the ciphertext (RFC 9180 §7.3, Nt). */
const TAG_BYTES = 16;

const id = number(0, 0xffff, Number.isSafeInteger);
const text: Check<string> = (name, value) => {
  if (typeof value === 'string') return value;
  throw mismatch(name, 'text', value);
};

const membersOf = object<SealedKey>({
  suite: suiteName,
  kem_id: id,
  kdf_id: id,
  aead_id: id,
  enc: text,
  ciphertext: base64Url(TAG_BYTES + 1, TAG_BYTES + MAX_PLAINTEXT_BYTES),
  header: base64Url(2, MAX_HEADER_BYTES),
});

/**
 * Returns a sealed key from parsed JSON. Throws `FormatError` that names the first member which is missing, unknown, or of
 * the wrong form, and if the numbers of the suite differ in name, members and header. It opens nothing.
 */
export function parseSealedKey(json: unknown): SealedKey {
  const sealedKey = membersOf('the sealed key', json);
  readSealedKey(sealedKey);
  return sealedKey;
}

/** Returns what a sealed key states in the open. Nothing of it is authentic before the key opens. Throws `FormatError`. */
export function sealHeaderOf(sealedKey: SealedKey): SealHeader {
  return readSealedKey(sealedKey).header;
}

/** A sealed key in bytes. */
export interface SealedBytes {
  readonly suite: SealSuite;
  readonly enc: Uint8Array;
  readonly ciphertext: Uint8Array;
  readonly aad: Uint8Array;
  readonly header: SealHeader;
}

/** Returns the parts of a sealed key. Throws `FormatError` as `parseSealedKey` does. */
export function readSealedKey(sealedKey: SealedKey): SealedBytes {
  const suite = suiteOf(sealedKey.suite);
  const enc = bytesOf('enc', sealedKey.enc, suite.encBytes, suite.encBytes);
  const ciphertext = decodeBase64Url(sealedKey.ciphertext);
  const aad = decodeBase64Url(sealedKey.header);
  const header = parseSealHeader(aad);
  for (const [name, ids] of [
    ['the sealed key', sealedKey],
    ['the header', header],
  ] as const) {
    if (suiteOfIds(name, ids) === suite) continue;
    throw new FormatError(
      `${name}: expected the numbers of ${suite.name}, got those of another suite`,
    );
  }
  return { suite, enc, ciphertext, aad, header };
}
