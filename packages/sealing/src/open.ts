/** Opens a sealed key with the recipient's private key. */
import { decodeBase64, encodeBase64 } from '../../tlog/src/index.ts';
import { isCommitment, sha256 } from './hash.ts';
import type { SealHeader } from './header.ts';
import { cipherSuite, infoOf, isUnsupported, type Kems, PLATFORM_KEMS } from './hpke.ts';
import { readPlaintext, type SealedContent } from './plaintext.ts';
import type { RecipientKey } from './recipient.ts';
import { readSealedKey, type SealedBytes, type SealedKey } from './sealed-key.ts';

/** The owner of `key` and `opening` MUST wipe them. */
export interface OpenedKey extends SealedContent {
  readonly header: SealHeader;
  /** SHA-256(enc ‖ ciphertext), 32 bytes: `sealed_digest` of the receipt. */
  readonly digest: Uint8Array;
}

/** A sealed key does not open. The message is one sentence that says why. */
export class OpenError extends Error {
  override readonly name = 'OpenError';
}

/**
 * Opens a sealed key and checks its recipient, form, length and commitment. Rejects with `OpenError` if one of them is
 * wrong, with `FormatError` as `parseSealedKey` throws it, and with an error that `isUnsupported` knows if the platform
 * lacks the suite.
 */
export async function open(
  order: { readonly sealedKey: SealedKey; readonly recipientKey: RecipientKey },
  kems: Kems = PLATFORM_KEMS,
): Promise<OpenedKey> {
  const sealed = readSealedKey(order.sealedKey);
  await checkRecipient(sealed, order.recipientKey);
  const plaintext = await openPlaintext(sealed, order.recipientKey, kems);
  const content = readPlaintext(plaintext, sealed.header.security_level / 8);
  plaintext.fill(0);
  if (content === null) {
    throw new OpenError(
      `The sealed content is not a key of ${sealed.header.security_level} bits with its proof and opening.`,
    );
  }
  await checkCommitment(sealed.header, content);
  return { ...content, header: sealed.header, digest: await sha256(sealed.enc, sealed.ciphertext) };
}

async function checkRecipient(
  { suite, header }: SealedBytes,
  recipientKey: RecipientKey,
): Promise<void> {
  if (recipientKey.suite !== suite.name) {
    throw new OpenError(
      `The key is sealed with ${suite.name}, and this recipient key is for ${recipientKey.suite}.`,
    );
  }
  const own = encodeBase64(await sha256(recipientKey.publicKey));
  if (own === header.thumbprint) return;
  throw new OpenError(
    `The key is sealed to another recipient: its thumbprint is ${header.thumbprint}, and yours is ${own}.`,
  );
}

async function openPlaintext(
  { suite, enc, ciphertext, aad, header }: SealedBytes,
  { privateKey }: RecipientKey,
  kems: Kems,
): Promise<Uint8Array> {
  const hpke = cipherSuite(suite.name, kems);
  try {
    const secret = await hpke.DeserializePrivateKey(privateKey);
    const info = infoOf(header.type, await sha256(aad));
    return await hpke.Open(secret, enc, ciphertext, { aad, info });
  } catch (error) {
    if (isUnsupported(error)) throw error;
    throw new OpenError(
      'The sealed key does not open: it or its header was altered, or the private key does not belong to the public key.',
      { cause: error },
    );
  }
}

/**
 * AES-GCM does not commit to its key: one ciphertext can open to two keys under two private keys. The commitment in the
 * header fits only one.
 */
async function checkCommitment(header: SealHeader, content: SealedContent): Promise<void> {
  const commitment = decodeBase64(header.key_commitment);
  const { key, opening } = content;
  if (await isCommitment(commitment, { key, opening, keyId: header.key_id })) return;
  key.fill(0);
  opening.fill(0);
  throw new OpenError(
    'The key inside is not the one of the header: its key_commitment is of another key.',
  );
}
