/** Recipients of sealed keys. */
import { hide } from '../hidden.ts';
import { assertObject } from '../options.ts';
import { plainText } from '../receipt/text.ts';
import {
  encodeBase64Url,
  newRecipient as generate,
  type Recipient,
  type RecipientKey,
  parseRecipient as readRecipient,
  parseRecipientKey as readRecipientKey,
  type SealSuiteName,
} from './formats.ts';
import { withKems } from './kems.ts';

/**
 * Generates the key pair of a recipient. Keep `privateKey` secret: `formatRecipientKey` writes it as a file.
 * `MLKEM768-X25519` is the default suite; `ML-KEM-1024` is for category 5 of NIST.
 */
export async function newRecipient(suite?: SealSuiteName): Promise<RecipientKey> {
  return hide(await withKems((kems) => generate(suite, kems)), 'privateKey');
}

/** Reads the text of a recipient's public file. Throws `Error` with a sentence. */
export function parseRecipient(text: string): Recipient {
  return readRecipient(plainText(text));
}

/** Reads the text of a recipient's secret file. Throws `Error` with a sentence, which never quotes the private key. */
export function parseRecipientKey(text: string): RecipientKey {
  return hide(readRecipientKey(plainText(text)), 'privateKey');
}

/** Returns `seal_to` of a request for a recipient. It has no secret. Throws `TypeError` for anything else, such as text. */
export function sealTo(recipient: Recipient): {
  readonly suite: SealSuiteName;
  readonly public_key: string;
} {
  assertObject('the recipient', recipient, 'the result of newRecipient or parseRecipient');
  const { suite, publicKey } = recipient;
  if (!(publicKey instanceof Uint8Array)) {
    throw new TypeError(
      'the recipient must have its publicKey, as the result of parseRecipient has',
    );
  }
  return { suite, public_key: encodeBase64Url(publicKey) };
}
