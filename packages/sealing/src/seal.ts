/** Seals a key to a recipient (RFC 9180 §6.1, base mode, one message). */
import { DeserializeError, EncapError, ValidationError } from 'hpke';
import { encodeBase64 } from '../../tlog/src/index.ts';
import { encodeBase64Url } from './base64url.ts';
import { sha256 } from './hash.ts';
import { SEALED_KEY, type SealHeader, sealHeaderBytes } from './header.ts';
import { cipherSuite, infoOf, type Kems, PLATFORM_KEMS } from './hpke.ts';
import { type SealedContent, writePlaintext } from './plaintext.ts';
import { publicKeyProblem } from './public-key.ts';
import type { Recipient } from './recipient.ts';
import type { SealedKey } from './sealed-key.ts';
import { idsOf, suiteOf } from './suites.ts';

/** The members of the header that the caller knows. */
export type SealFacts = Pick<
  SealHeader,
  'service' | 'key_id' | 'security_level' | 'time' | 'key_commitment'
>;

/** What to seal, and to whom. The caller owns key and opening and MUST wipe them. */
export interface SealOrder extends Recipient, SealedContent {
  readonly header: SealFacts;
}

export interface Sealed {
  readonly sealedKey: SealedKey;
  /** SHA-256 of the recipient's raw public key, 32 bytes. */
  readonly thumbprint: Uint8Array;
  /** SHA-256(enc ‖ ciphertext), 32 bytes. */
  readonly digest: Uint8Array;
}

/** Nothing can be sealed to the public key. The message is one sentence for the caller. */
export class SealError extends Error {
  override readonly name = 'SealError';
}

/**
 * Seals a key. Rejects with `SealError` for a public key that `publicKeyProblem` or the KEM refuses, and with an error that
 * `isUnsupported` knows if the platform lacks the suite.
 */
export async function seal(order: SealOrder, kems: Kems = PLATFORM_KEMS): Promise<Sealed> {
  const suite = suiteOf(order.suite);
  const problem = publicKeyProblem(suite.name, order.publicKey);
  if (problem !== null) throw new SealError(problem);
  const thumbprint = await sha256(order.publicKey);
  const header = {
    type: SEALED_KEY,
    ...order.header,
    ...idsOf(suite),
    thumbprint: encodeBase64(thumbprint),
  } as const;
  const aad = sealHeaderBytes(header);
  const { enc, ciphertext } = await sealPlaintext(order, { aad, info: await infoOf(aad) }, kems);
  return {
    sealedKey: {
      suite: suite.name,
      ...idsOf(suite),
      enc: encodeBase64Url(enc),
      ciphertext: encodeBase64Url(ciphertext),
      header: encodeBase64Url(aad),
    },
    thumbprint,
    digest: await sha256(enc, ciphertext),
  };
}

async function sealPlaintext(
  order: SealOrder,
  bound: { readonly aad: Uint8Array; readonly info: Uint8Array },
  kems: Kems,
): Promise<{ readonly enc: Uint8Array; readonly ciphertext: Uint8Array }> {
  const hpke = cipherSuite(order.suite, kems);
  const plaintext = writePlaintext(order);
  try {
    const publicKey = await hpke.DeserializePublicKey(order.publicKey);
    const { encapsulatedSecret, ciphertext } = await hpke.Seal(publicKey, plaintext, bound);
    return { enc: encapsulatedSecret, ciphertext };
  } catch (error) {
    if (!isRefusedKey(error)) throw error;
    throw new SealError('Nothing can be sealed to this public key: the KEM refuses it.', {
      cause: error,
    });
  } finally {
    plaintext.fill(0);
  }
}

/** RFC 9180 §4, errors of the KEM about a public key. The library names its errors after them. */
function isRefusedKey(error: unknown): boolean {
  return (
    error instanceof DeserializeError ||
    error instanceof EncapError ||
    error instanceof ValidationError
  );
}
