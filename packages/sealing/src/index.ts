/**
 * In: a key and its recipient's public key. Out: the key sealed to that recipient; and back.
 * Standard: HPKE (RFC 9180) in base mode, with the KEMs of draft-ietf-hpke-pq.
 *
 * Nothing here reads files, clocks or networks, so that Node and browsers share these files. Cryptography comes from the
 * Web Crypto API. A caller passes other KEMs where that API has none of ours.
 */
export { decodeBase64Url, encodeBase64Url } from './base64url.ts';
export {
  type Copies,
  headerRecipients,
  parseSealHeader,
  SEALED_KEY,
  SEALED_KEY_V2,
  type SealHeader,
  type SealHeaderV1,
  type SealHeaderV2,
  sealHeaderBytes,
} from './header.ts';
export { isUnsupported, type Kems, type Primitives, webCrypto } from './hpke.ts';
export { OpenError, type OpenedKey, open } from './open.ts';
export { readPlaintext, type SealedContent } from './plaintext.ts';
export { publicKeyProblem, thumbprintOf } from './public-key.ts';
export {
  formatRecipient,
  formatRecipientKey,
  newRecipient,
  parseRecipient,
  parseRecipientKey,
  type Recipient,
  type RecipientKey,
} from './recipient.ts';
export { SealError, type Sealed, Sealer, type SealOrder, seal } from './seal.ts';
export { parseSealedKey, type SealedKey, sealHeaderOf } from './sealed-key.ts';
export {
  DEFAULT_SUITE,
  findSuite,
  SEAL_SUITES,
  type SealSuite,
  type SealSuiteName,
} from './suites.ts';
