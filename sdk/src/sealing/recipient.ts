/** Recipients of sealed keys. */
import {
  encodeBase64Url,
  newRecipient as generate,
  type Recipient,
  type RecipientKey,
  type SealSuiteName,
} from './formats.ts';
import { withKems } from './kems.ts';

/**
 * Generates the key pair of a recipient. Keep `privateKey` secret: `formatRecipientKey` writes it as a file.
 * `MLKEM768-X25519` is the default suite; `ML-KEM-1024` is for category 5 of NIST.
 */
export function newRecipient(suite?: SealSuiteName): Promise<RecipientKey> {
  return withKems((kems) => generate(suite, kems));
}

/** Returns `seal_to` of a request for a recipient. It has no secret. */
export function sealTo({ suite, publicKey }: Recipient): {
  readonly suite: SealSuiteName;
  readonly public_key: string;
} {
  return { suite, public_key: encodeBase64Url(publicKey) };
}
